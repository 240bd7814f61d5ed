//! Attempts in the user's own checkout: no branch, no commit, and no cleanup ever touches it.

use forge_tests::{TestForge, git, text};
use serde_json::json;

#[tokio::test]
async fn an_attempt_without_a_worktree_never_endangers_the_checkout() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    std::fs::write(repo.join("precious.txt"), "uncommitted\n").unwrap();
    let body = json!({
        "task": {"project_id": project, "title": "chat", "description": "append precious.txt more\nsay done"},
        "executor_profile_id": "SCRIPTED", "use_worktree": false,
    });
    let task = forge.post("/api/tasks/create-and-start", &body).await.data();
    assert_eq!(task["status"], "agent");
    let attempt = text(&task["task_attempt"]["id"]);
    assert_eq!(task["task_attempt"]["container_ref"], repo.to_string_lossy().as_ref());
    forge.settled(&attempt).await;
    assert_eq!(
        git(&repo, &["rev-list", "--count", "HEAD"]),
        "1",
        "nothing is committed in the user's checkout"
    );
    assert_eq!(git(&repo, &["branch", "--format=%(refname:short)"]), "main");
    assert_eq!(
        forge.get(&format!("/api/tasks?project_id={project}")).await.data(),
        json!([]),
        "chats are not listed"
    );

    let retired = forge.post(&format!("/api/worktrees/{attempt}/retire"), &json!({})).await;
    assert_eq!(retired.status, 409, "{}", retired.text);
    assert_eq!(forge.delete(&format!("/api/tasks/{}", text(&task["id"]))).await.status, 202);
    assert_eq!(forge.delete(&format!("/api/projects/{project}")).await.status, 200);
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    assert!(std::fs::read_to_string(repo.join("precious.txt")).unwrap().starts_with("uncommitted\n"));
}
