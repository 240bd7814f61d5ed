//! `forge resume`: more words for the agent of an attempt.

use std::path::Path;
use std::process::{Command, Stdio};

use forge_tests::{TestForge, git, output, text, words};
use serde_json::{Value, json};

fn resume(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.arg("resume").args(args).current_dir(repo).stdin(Stdio::null());
    command
}

/// A repository with an attempt that has ended: its project and the attempt.
async fn worked(forge: &TestForge) -> (std::path::PathBuf, Value) {
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "First", "write a.txt x").await;
    forge.settled(&task.attempt()).await;
    (repo, task["task_attempt"].clone())
}

#[tokio::test]
async fn an_attempt_goes_on_whatever_it_is_called() {
    let forge = TestForge::start().await;
    let (repo, attempt) = worked(&forge).await;
    let (id, branch) = (text(&attempt["id"]), text(&attempt["branch"]));
    let names = [&id[..6], "-", "@last", &branch, "scripted"];
    for (turn, name) in names.iter().enumerate() {
        let more = output(resume(&forge, &repo, &[name, &format!("write {turn}.txt y")])).await;
        let told = words(&more);
        assert!(more.status.success(), "{name}: {told}");
        assert!(told.contains(&format!("write {turn}.txt +1")), "{name}: {told}");
        assert!(told.contains(&format!("{} files +", turn + 2)), "{name}: {told}");
        assert!(told.contains(&format!("forge merge {}", &id[..8])), "{name}: {told}");
    }
    assert_eq!(forge.get("/api/task-attempts").await.data().as_array().unwrap().len(), 1);
    assert_eq!(git(&repo, &["rev-list", "--count", &format!("main..{branch}")]), "6");
    let old = output({
        let mut command = forge.command();
        command.args(["run", "--follow", &id[..6], "say as before"]).current_dir(&repo);
        command
    });
    assert!(words(&old.await).contains("\nas before\n"), "the older way works too");
}

#[tokio::test]
async fn what_cannot_go_on_is_told_by_the_exit_code() {
    let forge = TestForge::start().await;
    let (repo, _) = worked(&forge).await;
    for (args, code, reason) in [
        (&["ffffffff", "x"][..], 4, "no attempt matches 'ffffffff'"),
        (&["-", "-x", "SHELL", "x"], 2, "uses SCRIPTED; you can choose another variant"),
        (&["-", "-x", "SCRIPTED:NOPE", "x"], 2, "unknown variant NOPE"),
        (&["-", " "], 2, "the prompt is empty"),
    ] {
        let refused = output(resume(&forge, &repo, args)).await;
        assert!(words(&refused).contains(reason), "{args:?}: {}", words(&refused));
        assert_eq!(refused.status.code(), Some(code), "{args:?}");
    }
}

#[tokio::test]
async fn it_can_go_on_in_the_background_and_afresh() {
    let forge = TestForge::start().await;
    let (repo, attempt) = worked(&forge).await;
    let id = text(&attempt["id"]);
    std::fs::write(repo.join("more.md"), "say told afresh").unwrap();
    let told = output(resume(&forge, &repo, &["@last", "-f", "more.md", "--fresh", "-b", "--json"])).await;
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["attempt"]["id"], id.as_str());
    let runs = forge.settled(&id).await;
    assert_eq!((runs.len(), &runs[1]["id"]), (2, &told["execution_process_id"]));
    let action = &runs[1]["executor_action"]["typ"];
    assert!(text(&action["prompt"]).contains("write a.txt x"), "it hears what was said before: {action:#}");
    assert_eq!(action.get("session_id").unwrap_or(&json!(null)), &json!(null));
}
