//! An agent that speaks the Agent Client Protocol, here a shell script: it works in its worktree, asks people, continues
//! its conversation, and servers may come and go meanwhile.

use forge_tests::{TestForge, git, make_program, text};
use serde_json::{Value, json};

/// Answers each request by what it says. It waits where it is told to until the file `go` exists.
const AGENT: &str = r#"#!/bin/sh
say() { printf '%s\n' "$1"; }
reply() { say "{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":$1}"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s-1\",\"update\":$1}}"; }
words() { update "{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":\"$1\"}}"; }
finish() { reply '{"stopReason":"end_turn","usage":{"inputTokens":10,"outputTokens":2,"totalTokens":12}}'; }
write() { say "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"fs/write_text_file\",\"params\":{\"sessionId\":\"s-1\",\"path\":\"$1\",\"content\":\"by hand\"}}"; }
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case $line in
    *'"initialize"'*) reply '{"protocolVersion":1,"agentCapabilities":{"loadSession":true},"agentInfo":{"name":"Demo"}}' ;;
    *'"session/new"'*) reply '{"sessionId":"s-1"}' ;;
    *'"session/load"'*) words "told before"; reply '{}' ;;
    *'User feedback'*) printf '%s\n' "$line" > feedback.json; words "I see"; finish ;;
    *'write it'*) write "$PWD/new.txt"; read -r answer; words "$(test -e new.txt && echo written)"; finish ;;
    *'write outside'*) write "$PWD/../outside.txt"; read -r answer; printf '%s\n' "$answer" > answer.json; finish ;;
    *'later'*) words "waiting"; while [ ! -e "$TMPDIR/go" ]; do sleep 0.05; done
      write "$PWD/new.txt"; read -r answer; words "$(test -e new.txt && echo written)"; finish ;;
    *'ask first'*) say '{"jsonrpc":"2.0","id":8,"method":"session/request_permission","params":{"sessionId":"s-1","toolCall":{"toolCallId":"c","kind":"execute","title":"make","rawInput":{"command":"make"}},"options":[{"optionId":"a1","kind":"allow_once","name":"Yes"},{"optionId":"r1","kind":"reject_once","name":"No"}]}}'
      read -r answer; case $answer in *'"a1"'*) touch made.txt ;; esac; finish ;;
    *'do nothing'*) words "all done"; reply '{"stopReason":"end_turn"}' ;;
    *'"session/prompt"'*) words "hello again"; finish ;;
  esac
done
"#;

async fn demo() -> (TestForge, String) {
    let forge = TestForge::start().await;
    let file = forge.dir().join("demo-agent");
    make_program(&file, AGENT);
    let variant = |mut options: Value| {
        options["base_command_override"] = json!(file);
        json!({"ACP": options})
    };
    let variants = json!({"GENIE": variant(json!({})), "APPROVALS": variant(json!({"approvals": true}))});
    let profiles = json!({"executors": {"ACP": variants}});
    forge.put("/api/profiles", &profiles).await.data();
    let (project, _) = forge.project("repo").await;
    (forge, project)
}

async fn start(forge: &TestForge, project: &str, profile: &str, prompt: &str) -> String {
    forge.start_with(project, profile, "t", prompt).await.attempt()
}

/// The last state of each entry of an attempt's last run.
async fn told(forge: &TestForge, attempt: &str) -> Vec<Value> {
    let run = forge.settled(attempt).await.pop().unwrap();
    assert_eq!(run["status"], "completed", "{run:#}");
    let path = format!("/api/execution-processes/{}/normalized-logs/ws", text(&run["id"]));
    let mut entries = Vec::new();
    for frame in forge.socket(&path).await.until_closed().await {
        for op in frame["JsonPatch"].as_array().into_iter().flatten() {
            let entry = op["value"]["content"].clone();
            let index: usize = text(&op["path"]).rsplit('/').next().unwrap().parse().unwrap();
            if op["op"] == "add" { entries.push(entry) } else { entries[index] = entry }
        }
    }
    entries
}

fn texts(entries: &[Value]) -> Vec<String> {
    entries.iter().map(|entry| text(&entry["content"])).collect()
}

/// A committed file of the attempt's branch.
async fn committed(forge: &TestForge, attempt: &str, file: &str) -> String {
    let attempt = forge.get(&format!("/api/task-attempts/{attempt}")).await.data();
    git(&forge.dir().join("repo"), &["show", &format!("{}:{file}", text(&attempt["branch"]))])
}

async fn question(forge: &TestForge) -> Value {
    let asked = |pending: &Value| pending.as_array().is_some_and(|pending| !pending.is_empty());
    forge.until("/api/approvals/pending", "the agent asks", asked).await[0].clone()
}

#[tokio::test]
async fn an_agent_has_files_written_and_continues_its_conversation() {
    let (forge, project) = demo().await;
    let attempt = start(&forge, &project, "ACP", "write it").await;
    let entries = told(&forge, &attempt).await;
    assert_eq!(texts(&entries), ["System initialized with agent: Demo", "written"]);
    assert_eq!(committed(&forge, &attempt, "new.txt").await.trim(), "by hand");
    let follow_up = format!("/api/task-attempts/{attempt}/follow-up");
    forge.post(&follow_up, &json!({"prompt": "and more"})).await.data();
    let entries = told(&forge, &attempt).await;
    assert_eq!(
        texts(&entries),
        ["System initialized with agent: Demo", "hello again"],
        "told before is told"
    );
}

#[tokio::test]
async fn nothing_outside_of_the_worktree_is_written() {
    let (forge, project) = demo().await;
    let attempt = start(&forge, &project, "ACP", "write outside").await;
    told(&forge, &attempt).await;
    assert!(committed(&forge, &attempt, "answer.json").await.contains("error"));
    assert!(!forge.worktrees().join("outside.txt").exists());
}

#[tokio::test]
async fn what_an_agent_wanted_while_no_server_lived_is_done_by_the_next() {
    let (mut forge, project) = demo().await;
    let attempt = start(&forge, &project, "ACP", "later").await;
    let run = text(&forge.runs(&attempt).await[0]["id"]);
    let mut log = forge.socket(&format!("/api/execution-processes/{run}/raw-logs/ws")).await;
    while !log.next().await.unwrap().to_string().contains("waiting") {}
    forge.crash();
    std::fs::write(forge.dir().join("go"), "").unwrap();
    forge.up().await;
    let entries = told(&forge, &attempt).await;
    assert_eq!(texts(&entries).last().unwrap(), "waitingwritten");
    assert_eq!(committed(&forge, &attempt, "new.txt").await.trim(), "by hand");
}

#[tokio::test]
async fn a_denial_and_its_reason_reach_the_agent_also_through_another_server() {
    let (mut forge, project) = demo().await;
    let attempt = start(&forge, &project, "ACP:APPROVALS", "ask first").await;
    let asked = question(&forge).await;
    assert_eq!(asked["tool_name"], "execute");
    forge.crash();
    forge.up().await;
    assert_eq!(question(&forge).await["approval_id"], asked["approval_id"]);
    let path = format!("/api/approvals/{}/respond", text(&asked["approval_id"]));
    forge.post(&path, &json!({"approved": false, "comment": "run the tests"})).await.data();
    let entries = told(&forge, &attempt).await;
    let status = &entries[1]["entry_type"]["status"];
    assert_eq!(status, &json!({"status": "denied", "reason": "run the tests"}));
    let rest = ["run the tests", "User feedback: run the tests", "I see"];
    assert_eq!(texts(&entries)[2..], rest);
    assert!(committed(&forge, &attempt, "feedback.json").await.contains("User feedback: run the tests"));
}

#[tokio::test]
async fn an_approval_lets_the_agent_go_on() {
    let (forge, project) = demo().await;
    let attempt = start(&forge, &project, "ACP:APPROVALS", "ask first").await;
    let path = format!("/api/approvals/{}/respond", text(&question(&forge).await["approval_id"]));
    forge.post(&path, &json!({"approved": true})).await.data();
    told(&forge, &attempt).await;
    assert_eq!(committed(&forge, &attempt, "made.txt").await, "");
}

#[tokio::test]
async fn an_end_without_any_sign_of_work_is_told_as_such() {
    let (forge, project) = demo().await;
    let attempt = start(&forge, &project, "ACP", "do nothing").await;
    let entries = told(&forge, &attempt).await;
    assert!(texts(&entries)[2].contains("unverified"), "{entries:#?}");
}

#[tokio::test]
async fn a_command_must_be_named() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let refused = forge.task(&project, "t").agent("ACP").ask().await;
    assert_eq!(refused.status, 422);
    assert!(refused.message().contains("base_command_override: is not set"), "{}", refused.text);
    assert_eq!(forge.get(&format!("/api/tasks?project_id={project}")).await.data(), json!([]));
}
