//! Work that cannot be committed is not called done: it stays where it is, run and card say why, it does not land, and
//! the commit is made when it can be.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use forge_tests::{TestForge, git, text};
use serde_json::{Value, json};

use super::gone::{end, leftover};

/// Leaves work behind and the repository without its objects, as a disk that went away would.
const BREAKS: &str =
    "echo work > result.txt; common=$(git rev-parse --git-common-dir); mv $common/objects $common/away";

/// A project with a cleanup script, which follows every commit of an agent's work.
async fn cleaning_project(forge: &TestForge) -> (String, std::path::PathBuf) {
    let (project, repo) = forge.project("repo").await;
    let scripts = json!({"cleanup_script": "echo cleaned > cleaned.txt"});
    forge.put(&format!("/api/projects/{project}"), &scripts).await.data();
    (project, repo)
}

async fn broken_attempt(forge: &TestForge) -> (String, Value, std::path::PathBuf) {
    let (project, repo) = cleaning_project(forge).await;
    let task = forge.start_with(&project, "SHELL", "t", BREAKS).await;
    let attempt = task.attempt();
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs[0]["status"], "completed", "the agent itself did nothing wrong");
    assert!(!text(&runs[0]["commit_error"]).is_empty(), "{runs:#?}");
    let card = card(forge, &project).await;
    assert_eq!(card["commit_error"], runs[0]["commit_error"]);
    (project, task["task_attempt"].clone(), repo)
}

async fn card(forge: &TestForge, project: &str) -> Value {
    forge.get(&format!("/api/projects/{project}/cards")).await.data()[0].clone()
}

fn mend(repo: &Path) {
    std::fs::rename(repo.join(".git/away"), repo.join(".git/objects")).unwrap();
}

/// The work is committed, and the cleanup script that was to follow it has run.
async fn assert_committed(forge: &TestForge, project: &str, attempt: &Value, repo: &Path) {
    let runs = forge.settled(&text(&attempt["id"])).await;
    assert_eq!(runs[0]["commit_error"], Value::Null);
    let commit = text(&runs[0]["after_head_commit"]);
    assert_eq!(git(repo, &["show", &format!("{commit}:result.txt")]), "work");
    assert_eq!((&runs[1]["run_reason"], &runs[1]["status"]), (&json!("cleanupscript"), &json!("completed")));
    let cleaned = format!("{}:cleaned.txt", text(&attempt["branch"]));
    assert_eq!(git(repo, &["show", &cleaned]), "cleaned");
    assert_eq!(card(forge, project).await["commit_error"], Value::Null);
}

#[tokio::test]
async fn work_that_could_not_be_committed_is_committed_at_the_next_look() {
    let forge = TestForge::start().await;
    let (project, attempt, repo) = broken_attempt(&forge).await;
    mend(&repo);
    let path = format!("/api/task-attempts/{}/branch-status", text(&attempt["id"]));
    let status = forge.get(&path).await.data();
    assert_ne!(status["commits_ahead"], json!(0));
    assert_committed(&forge, &project, &attempt, &repo).await;
}

#[tokio::test]
async fn what_follows_a_late_commit_is_never_forgotten() {
    let forge = TestForge::start().await;
    let (_, attempt, repo) = broken_attempt(&forge).await;
    mend(&repo);
    // The script cannot start beside this one; that is said, not skipped.
    let child = leftover(Path::new(&text(&attempt["worktree_path"])));
    let path = format!("/api/task-attempts/{}/branch-status", text(&attempt["id"]));
    forge.get(&path).await.data();
    let runs = forge.settled(&text(&attempt["id"])).await;
    assert_eq!(runs[0]["commit_error"], Value::Null);
    assert_eq!((&runs[1]["run_reason"], &runs[1]["status"]), (&json!("cleanupscript"), &json!("failed")));
    let log = forge.raw_log(&text(&runs[1]["id"])).await;
    assert!(log.contains(&format!("process {}", child.id())), "{log}");
    end(child);
}

#[tokio::test]
async fn work_with_open_conflicts_still_waits_for_its_commit() {
    let forge = TestForge::start().await;
    let (project, attempt, repo) = broken_attempt(&forge).await;
    mend(&repo);
    let place = text(&attempt["worktree_path"]);
    // As a merge leaves it that has stopped.
    let merging =
        git(Path::new(&place), &["rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD"]);
    std::fs::write(merging, git(&repo, &["rev-parse", "HEAD"])).unwrap();
    let blob = git(&repo, &["rev-parse", "HEAD:README.md"]);
    let stages: String = (1..=3).map(|stage| format!("100644 {blob} {stage}\tconflict.txt\n")).collect();
    let mut index = Command::new("git")
        .args(["-C", &place, "update-index", "--index-info"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    index.stdin.take().unwrap().write_all(stages.as_bytes()).unwrap();
    assert!(index.wait().unwrap().success());
    forge.get(&format!("/api/task-attempts/{}/branch-status", text(&attempt["id"]))).await.data();
    assert_ne!(card(&forge, &project).await["commit_error"], Value::Null);
    let path = format!("/api/task-attempts/{}/merge", text(&attempt["id"]));
    let refused = forge.post(&path, &json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("conflicts are open"), "{}", refused.text);
}

#[tokio::test]
async fn work_that_could_not_be_committed_is_committed_by_the_next_start() {
    let mut forge = TestForge::start().await;
    let (project, attempt, repo) = broken_attempt(&forge).await;
    forge.crash();
    mend(&repo);
    forge.up().await;
    let path = format!("/api/execution-processes?task_attempt_id={}", text(&attempt["id"]));
    forge.until(&path, "it is committed", |runs| runs[0]["commit_error"].is_null()).await;
    assert_committed(&forge, &project, &attempt, &repo).await;
}

#[tokio::test]
async fn an_attempt_with_uncommitted_work_does_not_land_without_it() {
    let forge = TestForge::start().await;
    let (project, attempt, repo) = broken_attempt(&forge).await;
    let path = format!("/api/task-attempts/{}/merge", text(&attempt["id"]));
    let refused = forge.post(&path, &json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.text.contains("is not committed"), "{}", refused.text);
    mend(&repo);
    // The commit comes first, and the cleanup script after it may still be running.
    let path_to_runs = format!("/api/execution-processes?task_attempt_id={}", text(&attempt["id"]));
    while forge.post(&path, &json!({})).await.status != 200 {
        let is_over = |runs: &Value| {
            runs.as_array().is_some_and(|runs| runs.iter().all(|run| run["status"] != "running"))
        };
        forge.until(&path_to_runs, "the cleanup script has ended", is_over).await;
    }
    assert_eq!(card(&forge, &project).await["commit_error"], Value::Null);
    assert_eq!(git(&repo, &["show", "main:result.txt"]), "work");
}

/// Takes the worktree's `.git` away and puts a repository in its place whose filter leaves a witness.
const SWAPS: &str = "mv .git .git-orig; git init -q .; git config filter.ev.clean 'touch ../witness; cat'; \
    echo '* filter=ev' > .gitattributes; echo work > result.txt";

#[tokio::test]
async fn an_agent_that_replaces_its_git_directory_has_nothing_run_and_the_work_is_committed_when_it_is_back()
{
    let forge = TestForge::start().await;
    let (project, repo) = cleaning_project(&forge).await;
    let task = forge.start_with(&project, "SHELL", "t", SWAPS).await;
    let attempt = &task["task_attempt"];
    let runs = forge.settled(&text(&attempt["id"])).await;
    let why = text(&runs[0]["commit_error"]);
    assert!(why.contains("was replaced") && why.contains("put it back"), "{why}");
    let path = std::path::PathBuf::from(text(&attempt["worktree_path"]));
    let status = format!("/api/task-attempts/{}/branch-status", text(&attempt["id"]));
    let refused = forge.get(&status).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.message().contains("was replaced"), "{refused:?}");
    let diff = forge.get(&format!("/api/task-attempts/{}/diff", text(&attempt["id"]))).await;
    assert_eq!(diff.status, 409, "{diff:?}");
    let witness = path.parent().unwrap().join("witness");
    assert!(!witness.exists());
    git(&path, &["status"]);
    git(&path, &["add", "-A"]);
    assert!(witness.exists(), "a plain git runs it");

    std::fs::remove_dir_all(path.join(".git")).unwrap();
    std::fs::rename(path.join(".git-orig"), path.join(".git")).unwrap();
    assert_ne!(forge.get(&status).await.data()["commits_ahead"], json!(0));
    assert_committed(&forge, &project, attempt, &repo).await;
}
