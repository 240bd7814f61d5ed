//! Attempts in the user's own checkout: no branch, no commit, and no cleanup ever touches it.

use forge_tests::{TestForge, eventually, git, read};
use serde_json::json;

#[tokio::test]
async fn an_attempt_without_a_worktree_never_endangers_the_checkout() {
    let forge = TestForge::start().await;
    for whole_project in [false, true] {
        let (project, repo) = forge.project(if whole_project { "one" } else { "other" }).await;
        let beside = forge.start_scripted(&project, "beside", "say done").await;
        forge.settled(&beside.attempt()).await;
        let precious = repo.join("precious.txt");
        std::fs::write(&precious, "uncommitted\n").unwrap();
        let task = forge.task(&project, "chat").prompt("append precious.txt more\nsay done");
        let task = task.with("use_worktree", false).start().await;
        assert_eq!(task["status"], "agent");
        assert_eq!(task["task_attempt"]["container_ref"], repo.to_string_lossy().as_ref());
        forge.settled(&task.attempt()).await;
        let commits = git(&repo, &["rev-list", "--count", "HEAD"]);
        assert_eq!(commits, "1", "nothing is committed in the user's checkout");
        let branches = git(&repo, &["branch", "--format=%(refname:short)"]);
        assert!(branches.lines().all(|name| [&beside.branch(), "main"].contains(&name)), "{branches}");
        let listed = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
        assert_eq!(listed.as_array().unwrap().len(), 1, "chats are not listed: {listed:#}");

        let retired = forge.post(&format!("/api/worktrees/{}/retire", task.attempt()), &json!({})).await;
        assert_eq!(retired.status, 409, "{}", retired.text);
        if whole_project {
            assert_eq!(forge.delete(&format!("/api/projects/{project}")).await.status, 200);
        } else {
            for id in [task.id(), beside.id()] {
                assert_eq!(forge.delete(&format!("/api/tasks/{id}")).await.status, 202);
            }
        }
        // Worktrees go in the background, that of the older attempt last.
        eventually("the other worktree is retired", || !beside.place().exists()).await;
        assert!(read(&precious).starts_with("uncommitted\n"), "{}", forge.log());
    }
}
