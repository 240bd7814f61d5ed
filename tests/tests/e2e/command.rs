//! `forge run`: a task from the command line, told as it happens, with the run's own exit code.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use forge_tests::{Terminal, TestForge, git, output, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

fn run(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.arg("run").args(args).current_dir(repo).stdin(Stdio::null());
    command
}

fn words(output: &Output) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

fn lines(output: &Output) -> Vec<Value> {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

#[tokio::test]
async fn a_run_is_told_from_the_prompt_to_what_came_of_it_and_can_be_continued() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    std::fs::create_dir(repo.join("sub")).unwrap();
    let prompt =
        "think Where to begin?\nsay I begin.\nwrite a.txt one\\ntwo\\n\nrun echo out; exit 3\nsay All done.";
    let first = output(run(&forge, &repo.join("sub"), &["-a", "SCRIPTED", prompt])).await;
    let told = words(&first);
    assert!(first.status.success(), "{told}");
    for part in [
        "new project repo",
        "SCRIPTED on forge/",
        "· model: scripted",
        "~ Where to begin?",
        "\nI begin.\n",
        "write a.txt +2",
        "$ echo out; exit 3\n  out\n  exit 3\n",
        "\nAll done.\n",
        "completed in ",
        "1 file +2 -0",
    ] {
        assert!(told.contains(part), "{part:?} is missing:\n{told}");
    }
    assert!(!told.contains('\u{1b}'), "no colours where there is no terminal: {told:?}");

    let attempts = forge.get("/api/task-attempts").await.data();
    let (id, branch) = (text(&attempts[0]["id"]), text(&attempts[0]["branch"]));
    assert_eq!(attempts[0]["status"], "completed");
    let more = output(run(&forge, &repo, &["--follow", &id[..6], "write b.txt three"])).await;
    assert!(more.status.success(), "{}", words(&more));
    assert!(
        words(&more).contains("write b.txt +1") && words(&more).contains("2 files +3 -0"),
        "{}",
        words(&more)
    );
    assert_eq!(git(&repo, &["rev-list", "--count", &format!("main..{branch}")]), "2");
    assert_eq!(forge.get("/api/projects").await.data().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn scripts_around_the_agent_are_told_too() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let scripts = json!({"setup_script": "echo setting up", "cleanup_script": "echo cleaning up; exit 4"});
    forge.put(&format!("/api/projects/{project}"), &scripts).await.data();
    let done = output(run(&forge, &repo, &["-a", "SHELL", "echo working\necho more > new.txt"])).await;
    let told = words(&done);
    for part in ["setup script\n  setting up\n\nworking\n", "cleanup script\n  cleaning up\n  exit 4\n"] {
        assert!(told.contains(part), "{part:?} is missing:\n{told}");
    }
    assert!(done.status.success(), "the agent completed: {told}");
}

#[tokio::test]
async fn a_failed_run_and_a_refused_one_exit_with_1() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let failed = output(run(&forge, &repo, &["-a", "SCRIPTED", "fail it broke"])).await;
    assert_eq!(failed.status.code(), Some(1), "{}", words(&failed));
    assert!(
        words(&failed).contains("! it broke") && words(&failed).contains("failed in "),
        "{}",
        words(&failed)
    );
    for (args, reason) in [
        (&["-a", "NOBODY", "x"][..], "unknown executor 'NOBODY'"),
        (&["-a", "CLAUDE_CODE:NOPE", "x"], "unknown variant NOPE"),
        (&["-a", "SCRIPTED", "-b", "nowhere", "x"], "Branch not found: nowhere"),
        (&["-a", "SCRIPTED", " "], "the prompt is empty"),
        (&["--follow", "ffffffff", "x"], "no attempt has an id"),
        (&["-a", "SCRIPTED", "-p", "/", "x"], "is not in a git repository"),
    ] {
        let refused = output(run(&forge, &repo, args)).await;
        assert_eq!(refused.status.code(), Some(1), "{args:?}");
        assert!(words(&refused).contains(reason), "{args:?}: {}", words(&refused));
    }
    assert_eq!(
        forge.get("/api/task-attempts").await.data().as_array().unwrap().len(),
        1,
        "nothing was created"
    );
}

#[tokio::test]
async fn ctrl_c_stops_the_run_and_waits_for_its_end() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let mut terminal =
        Terminal::start(run_at(&forge, &repo, &["-a", "SHELL", "echo at work; sleep 600"]), 80);
    terminal.until("at work").await;
    signal(terminal.pid(), Signal::INT);
    assert_eq!(terminal.ended().await.code(), Some(130), "{}", terminal.screen());
    assert!(terminal.screen().contains("stopped"), "{}", terminal.screen());
    assert_eq!(forge.get("/api/task-attempts").await.data()[0]["status"], "stopped");
}

fn run_at(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.arg("run").args(args).current_dir(repo).env("TERM", "xterm").env_remove("NO_COLOR");
    command
}

#[tokio::test]
async fn json_has_an_object_a_line_and_nothing_else() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let done = output(run(&forge, &repo, &["--json", "-a", "SCRIPTED", "say hello\nwrite a.txt x"])).await;
    let lines = lines(&done);
    assert_eq!(lines[0]["type"], "attempt");
    let said = lines.iter().find(|line| line["entry"]["entry_type"]["type"] == "assistant_message").unwrap();
    assert_eq!((&said["type"], &said["op"]), (&json!("entry"), &json!("add")));
    assert_eq!(said["entry"]["content"], "hello");
    let end = lines.last().unwrap();
    assert_eq!((&end["type"], &end["status"]), (&json!("end"), &json!("completed")));
    assert_eq!(end["changes"]["files"], 1);
    assert_eq!(end["attempt"]["id"], lines[0]["attempt"]["id"]);
}

#[tokio::test]
async fn without_a_server_it_says_how_to_start_one_or_serves_for_itself() {
    let mut forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let both = output(run(&forge, &repo, &["--standalone", "-a", "SCRIPTED", "say x"])).await;
    assert!(words(&both).contains("another Forge"), "{}", words(&both));
    forge.terminate().await;
    let none = output(run(&forge, &repo, &["-a", "SCRIPTED", "say x"])).await;
    assert_eq!(none.status.code(), Some(1));
    let told = words(&none);
    assert!(told.contains("forge serve") && told.contains("--standalone"), "{told}");
    let alone =
        output(run(&forge, &repo, &["--standalone", "-a", "SCRIPTED", "say alone\nwrite a.txt x"])).await;
    assert!(alone.status.success(), "{}", words(&alone));
    assert!(
        words(&alone).contains("alone") && words(&alone).contains("git merge --squash"),
        "{}",
        words(&alone)
    );
    forge.up().await;
    assert_eq!(
        forge.get("/api/task-attempts").await.data()[0]["status"],
        "completed",
        "the next server has it"
    );
}
