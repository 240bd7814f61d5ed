//! Rebasing, merging and resolving conflicts through the API: every refusal is clear and changes nothing.

use std::path::PathBuf;

use forge_tests::{Answer, TestForge, commit, git, text};
use serde_json::{Value, json};

/// An attempt whose agent has ended.
struct Done {
    id: String,
    branch: String,
    task: String,
    path: PathBuf,
}

async fn work(forge: &TestForge, project: &str, title: &str, script: &str) -> Done {
    let task = forge.start_scripted(project, title, script).await;
    let attempt = &task["task_attempt"];
    let id = text(&attempt["id"]);
    forge.settled(&id).await;
    let path = PathBuf::from(text(&attempt["worktree_path"]));
    Done { id, branch: text(&attempt["branch"]), task: text(&task["id"]), path }
}

async fn post(forge: &TestForge, done: &Done, verb: &str, body: &Value) -> Answer {
    forge.post(&format!("/api/task-attempts/{}/{verb}", done.id), body).await
}

async fn status(forge: &TestForge, done: &Done) -> Value {
    forge.get(&format!("/api/task-attempts/{}/branch-status", done.id)).await.data()
}

async fn target(forge: &TestForge, done: &Done) -> String {
    text(&forge.get(&format!("/api/task-attempts/{}", done.id)).await.data()["target_branch"])
}

fn assert_refused(answer: &Answer, status: u16, part: &str) {
    assert_eq!(answer.status, status, "{}", answer.text);
    assert!(answer.message().contains(part), "{part} is missing: {}", answer.text);
}

#[tokio::test]
async fn a_branch_status_tells_where_an_attempt_stands() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let done = work(&forge, &project, "stand", "write a.txt one\nsay done").await;
    commit(&repo, "main.txt", "main moved on");
    std::fs::write(done.path.join("a.txt"), "edited").unwrap();
    std::fs::write(done.path.join("new.txt"), "new").unwrap();
    let now = status(&forge, &done).await;
    assert_eq!((&now["commits_ahead"], &now["commits_behind"]), (&json!(1), &json!(1)));
    assert_eq!((&now["uncommitted_count"], &now["untracked_count"]), (&json!(1), &json!(1)));
    assert_eq!((&now["has_uncommitted_changes"], &now["target_branch_name"]), (&json!(true), &json!("main")));
    assert_eq!(text(&now["head_oid"]), git(&repo, &["rev-parse", &done.branch]));
    assert_eq!((&now["is_rebase_in_progress"], &now["conflict_op"]), (&json!(false), &json!(null)));
    assert_eq!((&now["merges"], &now["remote_commits_ahead"]), (&json!([]), &json!(null)));
    assert_eq!(now["no_remote"], json!(true), "there is nowhere to push to");
    git(&repo, &["remote", "add", "origin", "/nowhere"]);
    assert_eq!(status(&forge, &done).await["no_remote"], json!(null));

    // A target that is gone is named.
    git(&repo, &["checkout", "-q", "-b", "trunk"]);
    git(&repo, &["branch", "-q", "-D", "main"]);
    let gone = forge.get(&format!("/api/task-attempts/{}/branch-status", done.id)).await;
    assert_refused(&gone, 404, "Branch not found: main");
    let changed =
        post(&forge, &done, "change-target-branch", &json!({"target_branch": "trunk"})).await.data();
    assert_eq!(changed, json!({"new_target_branch": "trunk", "status": [1, 1]}));
    let unknown = post(&forge, &done, "change-target-branch", &json!({"new_target_branch": "nope"})).await;
    assert_refused(&unknown, 200, "Branch 'nope' does not exist in the repository");
    assert_eq!(target(&forge, &done).await, "trunk");
}

#[tokio::test]
async fn a_merge_takes_the_words_of_an_agent_that_committed_by_itself_and_else_the_tasks() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let subject = || git(&repo, &["log", "-1", "--format=%s", "main"]);
    let script = "echo 1 > one.txt; git add -A; git commit -qm 'Teach the parser tabs'; echo 2 > two.txt";
    let task = forge.start_with(&project, "SHELL", "please do tabs", script).await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    forge.post(&format!("/api/task-attempts/{attempt}/merge"), &json!({})).await.data();
    assert_eq!(subject(), "Teach the parser tabs");
    let done = work(&forge, &project, "please say something", "write a.txt one\nsay All is written").await;
    post(&forge, &done, "merge", &json!({})).await.data();
    assert_eq!(subject(), "Say something");
}

#[tokio::test]
async fn commits_children_and_files_of_an_attempt_are_served() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let done = work(&forge, &project, "files", "write a.txt one\nwrite b.txt two\nsay All is written").await;
    let get = async |rest: &str| forge.get(&format!("/api/task-attempts/{}/{rest}", done.id)).await;
    let head = git(&repo, &["rev-parse", &done.branch]);
    let info = get(&format!("commit-info?sha={head}")).await.data();
    assert_eq!((&info["sha"], &info["subject"]), (&json!(head), &json!("All is written")));
    assert_refused(&get("commit-info").await, 400, "Missing sha param");
    assert_refused(&get("commit-info?sha=HEAD").await, 404, "HEAD");
    let main = git(&repo, &["rev-parse", "main"]);
    let compared = get(&format!("commit-compare?sha={main}")).await.data();
    let expected = json!({"head_oid": head, "target_oid": main, "ahead_from_head": 1, "behind_from_head": 0, "is_linear": true});
    assert_eq!(compared, expected);

    let child = json!({"project_id": project, "title": "child", "parent_task_attempt": done.id});
    let child = forge.post("/api/tasks", &child).await.data();
    let family = get("children").await.data();
    assert_eq!((&family["parent_task"], &family["current_attempt"]["id"]), (&json!(null), &json!(done.id)));
    assert_eq!(family["children"][0]["id"], child["id"]);

    std::fs::write(done.path.join("b.txt"), "not committed").unwrap();
    post(&forge, &done, "delete-file?file_path=a.txt", &json!(null)).await.data();
    assert_eq!(
        git(&done.path, &["log", "-1", "--format=%s", "--name-status"]),
        "Delete file: a.txt\n\nD\ta.txt"
    );
    assert_eq!(git(&done.path, &["status", "--porcelain"]), " M b.txt");
    for (file, code) in [("../x", 422), ("/etc/passwd", 422), (".git/config", 422), ("nothing.txt", 404)] {
        let refused = post(&forge, &done, &format!("delete-file?file_path={file}"), &json!(null)).await;
        assert_refused(&refused, code, file);
    }
    post(&forge, &done, "follow-up", &json!({"prompt": "hang"})).await.data();
    let busy = post(&forge, &done, "delete-file?file_path=b.txt", &json!(null)).await;
    assert_refused(&busy, 409, "still at work");
    assert_refused(&post(&forge, &done, "rebase", &json!(null)).await, 409, "still at work");
    assert_refused(&post(&forge, &done, "merge", &json!(null)).await, 409, "still at work");
    post(&forge, &done, "stop", &json!(null)).await.data();
    assert!(done.path.join("b.txt").exists());
}

#[tokio::test]
async fn a_rebase_changes_the_target_only_when_it_is_complete() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    git(&repo, &["branch", "other"]);
    let done = work(&forge, &project, "clean", "write a.txt one\nsay done").await;
    commit(&repo, "main.txt", "main");
    post(&forge, &done, "rebase", &json!(null)).await.data();
    assert_eq!(status(&forge, &done).await["commits_behind"], 0);
    let unknown = post(&forge, &done, "rebase", &json!({"new_base_branch": "nope"})).await;
    assert_refused(&unknown, 200, "Branch 'nope' does not exist in the repository");
    post(&forge, &done, "rebase", &json!({"base_branch": "other"})).await.data();
    assert_eq!(target(&forge, &done).await, "other");
    assert_eq!(git(&repo, &["log", "--format=%s", &format!("other..{}", done.branch)]), "done");

    // A conflict: the new target is pending until somebody brings the rebase to its end.
    let stuck = work(&forge, &project, "stuck", "write README.md ours\nsay ours").await;
    git(&repo, &["checkout", "-q", "other"]);
    commit(&repo, "README.md", "theirs\n");
    let tip = git(&repo, &["rev-parse", &stuck.branch]);
    let body = json!({"new_base_branch": "other"});
    let stopped = post(&forge, &stuck, "rebase", &body).await;
    assert_eq!((stopped.status, &stopped.body["success"]), (200, &json!(false)));
    let data = &stopped.body["error_data"];
    assert_eq!((&data["type"], &data["op"]), (&json!("merge_conflicts"), &json!("rebase")));
    assert!(text(&data["message"]).contains("Conflicted files: README.md."), "{data}");
    assert_eq!(target(&forge, &stuck).await, "main");
    let now = status(&forge, &stuck).await;
    assert_eq!((&now["conflict_op"], &now["conflicted_files"]), (&json!("rebase"), &json!(["README.md"])));
    assert_eq!((&now["is_rebase_in_progress"], &now["target_branch_name"]), (&json!(true), &json!("main")));
    let again = post(&forge, &stuck, "rebase", &body).await;
    assert_eq!(again.body["error_data"], json!({"type": "rebase_in_progress"}));
    assert_refused(&post(&forge, &stuck, "merge", &json!(null)).await, 409, "rebase is already in progress");

    post(&forge, &stuck, "conflicts/abort", &json!(null)).await.data();
    let now = status(&forge, &stuck).await;
    assert_eq!((&now["is_rebase_in_progress"], &now["target_branch_name"]), (&json!(false), &json!("main")));
    assert_eq!(git(&repo, &["rev-parse", &stuck.branch]), tip);
    post(&forge, &stuck, "conflicts/abort", &json!(null)).await.data();

    // A person finishes it in the worktree.
    post(&forge, &stuck, "rebase", &body).await;
    std::fs::write(stuck.path.join("README.md"), "both\n").unwrap();
    git(&stuck.path, &["add", "-A"]);
    git(&stuck.path, &["-c", "core.editor=true", "rebase", "--continue"]);
    assert_eq!(status(&forge, &stuck).await["target_branch_name"], "other");
    assert_eq!(target(&forge, &stuck).await, "other");
}

#[tokio::test]
async fn an_agent_resolves_a_conflict_and_an_unresolved_one_is_not_wrecked() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let done = work(&forge, &project, "resolve", "write README.md ours\nsay ours").await;
    git(&repo, &["branch", "other"]);
    commit(&repo, "README.md", "theirs\n");
    git(&repo, &["branch", "-f", "other"]);
    assert_refused(&post(&forge, &done, "conflicts/resolve", &json!(null)).await, 409, "no conflict");
    post(&forge, &done, "rebase", &json!({"new_base_branch": "other"})).await;

    // An agent that leaves the conflict open has nothing committed for it, and that is said.
    post(&forge, &done, "follow-up", &json!({"prompt": "say I do not know how"})).await.data();
    let runs = forge.settled(&done.id).await;
    assert_eq!(runs.last().unwrap()["open_conflicts"], json!(["README.md"]));
    let now = status(&forge, &done).await;
    assert_eq!(now["conflicted_files"], json!(["README.md"]), "an open conflict is never committed");
    assert_eq!(now["left_open"], json!(["README.md"]));
    assert_eq!(target(&forge, &done).await, "main");
    let cards = forge.get(&format!("/api/projects/{project}/cards")).await.data();
    assert_eq!(cards[0]["open_conflicts"], json!(["README.md"]), "{cards}");

    // It resolves and stages, but forgets to continue: that is done for it, and the target changes with it.
    let prompt = json!({"prompt": "write README.md both\nrun git add README.md\nsay resolved"});
    post(&forge, &done, "follow-up", &prompt).await.data();
    let runs = forge.settled(&done.id).await;
    let now = status(&forge, &done).await;
    assert_eq!(
        (&now["is_rebase_in_progress"], &now["commits_behind"]),
        (&json!(false), &json!(0)),
        "{runs:#?}"
    );
    assert_eq!(target(&forge, &done).await, "other");
    assert_eq!(runs.last().unwrap()["after_head_commit"], now["head_oid"]);
    assert_eq!(git(&repo, &["show", &format!("{}:README.md", done.branch)]), "both");
    assert_eq!(git(&done.path, &["symbolic-ref", "--short", "HEAD"]), done.branch);
    assert_eq!(now["left_open"], json!(null));
    let cards = forge.get(&format!("/api/projects/{project}/cards")).await.data();
    assert_eq!(cards[0]["open_conflicts"], json!(null), "{cards}");

    // Asked by Forge, it takes both sides and continues by itself.
    git(&repo, &["checkout", "-q", "other"]);
    commit(&repo, "README.md", "theirs again\n");
    post(&forge, &done, "rebase", &json!({})).await;
    let run = post(&forge, &done, "conflicts/resolve", &json!(null)).await.data();
    let prompt = text(&run["executor_action"]["typ"]["prompt"]);
    for part in ["onto 'other'", "- README.md", "git rebase --continue", "Do not abort"] {
        assert!(prompt.contains(part), "{part}: {prompt}");
    }
    forge.settled(&done.id).await;
    let now = status(&forge, &done).await;
    assert_eq!((&now["is_rebase_in_progress"], &now["commits_behind"]), (&json!(false), &json!(0)), "{now}");
    assert_eq!(git(&repo, &["show", &format!("{}:README.md", done.branch)]), "theirs again\nboth");
}

#[tokio::test]
async fn every_merge_that_cannot_be_says_why_and_changes_nothing() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let done = work(&forge, &project, "merge", "write a.txt one\nsay done").await;
    let heads = || git(&repo, &["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads"]);
    let before = heads();
    let refuse = async |part: &str| {
        let refused = post(&forge, &done, "merge", &json!(null)).await;
        assert_refused(&refused, if part.contains("Branch not found") { 404 } else { 409 }, part);
    };
    std::fs::write(done.path.join("more.txt"), "x").unwrap();
    refuse("commit, stash or discard").await;
    std::fs::remove_file(done.path.join("more.txt")).unwrap();

    std::fs::write(repo.join("a.txt"), "in the way").unwrap();
    refuse(&repo.to_string_lossy()).await;
    assert_eq!(std::fs::read_to_string(repo.join("a.txt")).unwrap(), "in the way");
    std::fs::remove_file(repo.join("a.txt")).unwrap();

    git(&repo, &["update-ref", "refs/remotes/origin/release", "main"]);
    post(&forge, &done, "change-target-branch", &json!({"new_target_branch": "release"})).await.data();
    refuse("is a branch of a remote").await;
    git(&repo, &["update-ref", "-d", "refs/remotes/origin/release"]);
    refuse("Branch not found: release").await;
    post(&forge, &done, "change-target-branch", &json!({"new_target_branch": "main"})).await.data();
    assert_eq!(heads(), before);

    commit(&repo, "b.txt", "main moved");
    refuse("Branches diverged: 'main' has 1 commits").await;
    post(&forge, &done, "rebase", &json!(null)).await.data();
    post(&forge, &done, "merge", &json!(null)).await.data();
    let merged = heads();
    refuse("nothing to merge").await;
    assert_eq!(heads(), merged);
    let now = status(&forge, &done).await;
    assert_eq!((&now["merges"][0]["type"], now["merges"].as_array().unwrap().len()), (&json!("direct"), 1));
    assert_eq!(text(&now["merges"][0]["merge_commit"]), git(&repo, &["rev-parse", "main"]));
    let task = forge.get(&format!("/api/tasks/{}", done.task)).await.data();
    assert_eq!(task["status"], "done");
}

#[tokio::test]
async fn an_attempt_in_the_main_checkout_has_no_branch_of_its_own() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let task = forge.task(&project, "here").prompt("say hi").with("use_worktree", false).start().await;
    let id = task.attempt();
    forge.settled(&id).await;
    let status = forge.get(&format!("/api/task-attempts/{id}/branch-status")).await;
    assert_refused(&status, 409, "no branch of its own");
    for verb in ["merge", "rebase", "conflicts/abort", "conflicts/resolve", "delete-file?file_path=README.md"]
    {
        let refused = forge.post(&format!("/api/task-attempts/{id}/{verb}"), &json!(null)).await;
        assert_refused(&refused, 409, "no branch of its own");
    }
}

#[tokio::test]
async fn the_radar_names_the_attempts_that_would_conflict() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let one = work(&forge, &project, "one", "write README.md one\nsay one").await;
    let two = work(&forge, &project, "two", "write README.md two\nsay two").await;
    let apart = work(&forge, &project, "apart", "write apart.txt x\nsay apart").await;
    let path = format!("/api/projects/{project}/conflicts");
    let report = forge.get(&path).await.data();
    assert_eq!(
        (&report["target"], &report["checked"], &report["skipped"]),
        (&json!([]), &json!(3), &json!(0))
    );
    assert_eq!(report["pairs"].as_array().unwrap().len(), 1, "{report:#}");
    assert_eq!(report["pairs"][0]["attempts"], json!([two.id, one.id]));
    assert_eq!(report["pairs"][0]["branches"], json!([two.branch, one.branch]));
    assert_eq!(report["pairs"][0]["files"], json!(["README.md"]));
    assert!(report["checked_at"].is_string());

    post(&forge, &one, "merge", &json!(null)).await.data();
    let report = forge.get(&path).await.data();
    assert_eq!(report["pairs"], json!([]), "what has landed competes no more");
    let expected = json!([{"attempt_id": two.id, "branch": two.branch, "target_branch": "main", "files": ["README.md"]}]);
    assert_eq!((&report["target"], &report["checked"]), (&expected, &json!(2)));
    post(&forge, &apart, "rebase", &json!(null)).await.data();
    assert_eq!(git(&repo, &["log", "--format=%s", &format!("main..{}", apart.branch)]), "apart");
    assert_eq!(forge.get("/api/projects/00000000-0000-4000-8000-000000000000/conflicts").await.status, 404);
}
