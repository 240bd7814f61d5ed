//! Questions of agents, asked at the terminal of `forge run`.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use forge_tests::{Terminal, TestForge, make_program, out, output, text};
use serde_json::{Value, json};

/// Asks whether it may remove a folder, and writes down what it was told.
const ASKER: &str = r#"#!/bin/sh
echo '{"type":"system","subtype":"init","session_id":"s","model":"asker"}'
echo '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"rm -rf build"},"tool_use_id":"t1"}}'
while read -r line; do
  case "$line" in *'"r1"'*) echo "$line" > answer.json; break;; esac
done
echo '{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"I was answered."}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}'
"#;

async fn asking_forge() -> (TestForge, PathBuf) {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let asker = forge.dir().join("asker");
    make_program(&asker, ASKER);
    forge.use_as_claude(asker.to_str().unwrap()).await;
    (forge, repo)
}

fn run(forge: &TestForge, repo: &PathBuf, more: &[&str]) -> Command {
    let mut command = forge.command();
    command.args(["run", "-a", "CLAUDE_CODE:APPROVALS", "go"]).args(more).current_dir(repo);
    // A terminal without a status, which would be written between the words.
    command.env("TERM", "dumb");
    command
}

/// What the agent of the only attempt was told.
async fn told(forge: &TestForge) -> Value {
    let attempt = forge.get("/api/task-attempts").await.data()[0].clone();
    assert_eq!(attempt["status"], "completed");
    let file = PathBuf::from(text(&attempt["worktree_path"])).join("answer.json");
    let answer: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    answer["response"]["response"].clone()
}

#[tokio::test]
async fn a_yes_at_the_terminal_lets_the_agent_go_on() {
    let (forge, repo) = asking_forge().await;
    let mut terminal = Terminal::start(run(&forge, &repo, &[]), 80);
    let screen = terminal.until("[s]top: ").await;
    assert!(screen.contains("rm -rf build"), "{screen}");
    terminal.type_line("what?");
    terminal.type_line("y");
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    assert!(terminal.screen().contains("I was answered."), "{}", terminal.screen());
    assert_eq!(told(&forge).await["behavior"], "allow");
}

#[tokio::test]
async fn a_no_takes_its_reason_along() {
    let (forge, repo) = asking_forge().await;
    let mut terminal = Terminal::start(run(&forge, &repo, &[]), 80);
    terminal.until("[s]top: ").await;
    terminal.type_line("n");
    terminal.until("why not?").await;
    terminal.type_line("keep the build");
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    let told = told(&forge).await;
    assert_eq!((&told["behavior"], &told["message"]), (&json!("deny"), &json!("keep the build")));
    assert!(terminal.screen().contains("denied"), "{}", terminal.screen());
}

#[tokio::test]
async fn a_stop_instead_of_an_answer_stops_the_run() {
    let (forge, repo) = asking_forge().await;
    let mut terminal = Terminal::start(run(&forge, &repo, &[]), 80);
    terminal.until("[s]top: ").await;
    terminal.type_line("s");
    assert_eq!(terminal.ended().await.code(), Some(130), "{}", terminal.screen());
    assert_eq!(forge.get("/api/task-attempts").await.data()[0]["status"], "stopped");
}

#[tokio::test]
async fn an_answer_from_elsewhere_ends_the_question_at_the_terminal() {
    let (forge, repo) = asking_forge().await;
    let mut terminal = Terminal::start(run(&forge, &repo, &[]), 80);
    terminal.until("[s]top: ").await;
    answer_pending(&forge).await;
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    assert!(terminal.screen().contains("answered elsewhere"), "{}", terminal.screen());
}

#[tokio::test]
async fn without_a_terminal_it_says_how_to_answer_and_waits() {
    let (forge, repo) = asking_forge().await;
    let mut command = run(&forge, &repo, &[]);
    command.stdin(Stdio::null());
    let (output, approval) = tokio::join!(output(command), answer_pending(&forge));
    let words = out(&output);
    assert!(output.status.success(), "{words}");
    let respond = format!("curl -s {}/api/approvals/{}/respond", forge.base(), approval);
    assert!(words.contains(&respond), "{words}");
}

#[tokio::test]
async fn yes_to_all_asks_nobody() {
    let (forge, repo) = asking_forge().await;
    let mut terminal = Terminal::start(run(&forge, &repo, &["--yes"]), 80);
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    assert!(!terminal.screen().contains("allow?"), "{}", terminal.screen());
    assert_eq!(told(&forge).await["behavior"], "allow");
}

async fn answer_pending(forge: &TestForge) -> String {
    let waits = |list: &Value| !list.as_array().unwrap().is_empty();
    let pending = forge.until("/api/approvals/pending", "the agent asks", waits).await;
    let id = text(&pending[0]["id"]);
    forge.post(&format!("/api/approvals/{id}/respond"), &json!({"approved": true})).await.data();
    id
}
