//! Secrets in the environment of agents: whoever reads what an agent prints does not see them.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forge_tests::{TestForge, err, git, make_program, out, output, text};
use serde_json::{Value, json};

use crate::dispatch::Field;

const KEY: &str = "sk-demo-0123456789";

/// The files below a folder that hold the secret.
fn holders(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(holders(&path));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).contains(KEY) {
            found.push(path);
        }
    }
    found.sort();
    found
}

async fn printed(forge: &TestForge, repo: &Path, args: &[&str]) -> String {
    let mut command = forge.command();
    command.args(args).current_dir(repo).env("TERM", "dumb");
    let output = output(command).await;
    assert!(output.status.success(), "{args:?}: {}", err(&output));
    out(&output)
}

#[tokio::test]
async fn what_an_agent_prints_of_its_secrets_is_masked_for_every_reader() {
    let mut forge = TestForge::with(&[], &[("DEMO_API_KEY", KEY), ("OTHER_TOKEN", "never-printed")]).await;
    let (project, repo) = forge.project("repo").await;
    let scripts = json!({"setup_script": "echo \"setup $DEMO_API_KEY\""});
    forge.put(&format!("/api/projects/{project}"), &scripts).await.data();
    let mine = forge.dir().join("mine");
    let prompt = format!(
        "printf %s \"$DEMO_API_KEY\" > '{}'; echo \"error $DEMO_API_KEY\" >&2
         printf '{{\"key\":\"%s\"}}\\n' \"$DEMO_API_KEY\"; printf 'half %s' \"${{DEMO_API_KEY%6789}}\"
         while [ ! -e go ]; do sleep 0.02; done; echo 6789; echo \"whole $DEMO_API_KEY\"",
        mine.display()
    );
    let task = forge.start_with(&project, "SHELL", "A title", &prompt).await;
    let (id, place) = (task.attempt(), text(&task["task_attempt"]["worktree_path"]));
    let begun = |runs: &Value| runs.as_array().is_some_and(|runs| runs.len() == 2);
    let runs = forge.until(&format!("/api/execution-processes?task_attempt_id={id}"), "it runs", begun).await;
    let run = text(&runs[1]["id"]);
    let dir = forge.home().join("runs").join(&run);
    forge.until_said(&run, "error ***").await;
    assert_eq!(dir.join("secrets").metadata().unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::write(Path::new(&place).join("go"), "").unwrap();
    forge.settled(&id).await;

    assert_eq!(std::fs::read_to_string(&mine).unwrap(), KEY, "the agent itself had it");
    assert_eq!(
        std::fs::read_to_string(dir.join("secrets")).unwrap(),
        KEY,
        "what was not printed is forgotten"
    );
    let mut before = None;
    for _ in ["now", "after a restart"] {
        let raw = forge.get(&format!("/api/execution-processes/{run}/raw-logs")).await.body;
        let last = forge.get(&format!("/api/execution-processes/{run}/raw-logs?tail=1")).await.body;
        let log = forge.raw_log(&run).await;
        for part in ["error ***\n", "{\"key\":\"***\"}\n", "half ***", "whole ***\n"] {
            assert!(log.contains(part), "{part:?} is missing: {log}");
        }
        let attempt = json!({"attempt_id": id});
        let told = [
            raw.to_string(),
            last.to_string(),
            log,
            forge.raw_log(&text(&runs[0]["id"])).await,
            json!(forge.entries(&run).await).to_string(),
            printed(&forge, &repo, &["logs", &id]).await,
            printed(&forge, &repo, &["view", &id]).await,
            forge.tool("get_attempt_result", attempt.clone()).await.to_string(),
        ];
        for told in &told {
            assert!(told.contains("***") && !told.contains(KEY) && !told.contains(&KEY[..14]), "{told}");
        }
        let holders = holders(&forge.home());
        let known = |path: &&PathBuf| path.ends_with("journal") || path.ends_with("secrets");
        assert_eq!(holders.iter().filter(known).count(), 4, "of the setup script and of the agent");
        assert_eq!(holders.len(), 4, "{holders:?}");
        let logs = told[..5].to_vec();
        assert_eq!(before.get_or_insert_with(|| logs.clone()), &logs, "another server shows the same");
        forge.terminate().await;
        forge.up().await;
    }
}

#[tokio::test]
async fn an_agent_that_prints_no_secret_leaves_none_behind() {
    let forge = TestForge::with(&[], &[("DEMO_API_KEY", KEY)]).await;
    let (project, _) = forge.project("repo").await;
    let task = forge.start_with(&project, "SHELL", "A title", "echo ${#DEMO_API_KEY}").await;
    let runs = forge.settled(&task.attempt()).await;
    assert_eq!(forge.raw_log(&text(&runs[0]["id"])).await, "18\n", "it had one");
    assert_eq!(holders(&forge.home()), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn what_a_worker_prints_of_its_secrets_is_masked_for_every_reader() {
    let script = "echo \"it has $DEMO_API_KEY\"; while [ ! -e \"$FIELD/go\" ]; do sleep 0.02; done; echo done > done.txt";
    let mut field = Field::plough_with(&[("DEMO_API_KEY", KEY)], json!({}), script).await;
    let bead = field.bead("Paint the fence", &[]).await;
    field.switch(json!({"enabled": true})).await;
    let runs = |all: &Value| all[0]["phase"] == "running";
    field.stage.forge.until("/api/workers", "the worker runs", runs).await;
    let says = |pane: &Value| text(&pane["text"]).contains("it has ***");
    for _ in ["now", "after a restart"] {
        let forge = &field.stage.forge;
        let pane = forge.until("/api/workers/repo-1/peek", "it says what it has", says).await;
        let told = [
            pane.to_string(),
            printed(forge, &field.repo, &["worker", "peek", "repo-1"]).await,
            printed(forge, &field.repo, &["worker", "logs", "repo-1"]).await,
            printed(forge, &field.repo, &["worker", "logs", "repo-1", "--json"]).await,
            forge.tool("get_worker", json!({"worker_id": "repo-1"})).await.to_string(),
        ];
        for told in &told {
            assert!(told.contains("***") && !told.contains(KEY) && !told.contains(&KEY[..14]), "{told}");
        }
        let file = forge.home().join("secrets/repo-1/secrets");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        field.stage.forge.terminate().await;
        field.stage.forge.up().await;
    }
    std::fs::write(field.stage.forge.dir().join("go"), "").unwrap();
    let attempts = field.attempts(&field.closed(&bead).await).await;
    let forge = &field.stage.forge;
    let run = text(&forge.runs(&text(&attempts[0]["id"])).await[0]["id"]);
    let log = forge.raw_log(&run).await;
    assert!(log.contains("it has ***\n"), "{log}");
    let entries = json!(forge.entries(&run).await).to_string();
    assert!(entries.contains("it has ***"), "{entries}");
    let runs = forge.home().join("runs");
    let shown = holders(&runs).into_iter().filter(|path| !path.ends_with("secrets")).collect::<Vec<_>>();
    assert!(shown.iter().all(|path| path.ends_with("journal")), "{shown:?}");
    assert_eq!(std::fs::read_to_string(runs.join(&run).join("secrets")).unwrap(), KEY);
}

#[tokio::test]
async fn what_keeps_work_from_its_commit_is_told_without_secrets() {
    let forge = TestForge::with(&[], &[("DEMO_API_KEY", KEY)]).await;
    let (project, repo) = forge.project("repo").await;
    git(&repo, &["config", "filter.demo.clean", "echo \"no way in with $DEMO_API_KEY\" >&2; exit 1"]);
    git(&repo, &["config", "filter.demo.required", "true"]);
    let prompt = "echo '*.txt filter=demo' > .gitattributes; echo work > work.txt";
    let task = forge.start_with(&project, "SHELL", "A title", prompt).await;
    let runs = forge.settled(&task.attempt()).await;
    let why = text(&runs[0]["commit_error"]);
    assert!(why.contains("no way in with ***"), "{why}");
    assert_eq!(holders(&forge.home()), [] as [PathBuf; 0], "neither in the database nor in the server's log");
}

/// Asks whether it may use its secret, and writes down what it was told.
const ASKER: &str = r#"#!/bin/sh
echo '{"type":"system","subtype":"init","session_id":"s","model":"asker"}'
echo '{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"login '"$DEMO_API_KEY"'"},"tool_use_id":"t1"}}'
while read -r line; do
  case "$line" in *'"r1"'*) echo "$line" > ../answer.json; break;; esac
done
echo '{"type":"result","subtype":"success","is_error":false,"result":"ok","session_id":"s"}'
"#;

#[tokio::test]
async fn a_question_shows_no_secret_and_its_answer_keeps_it() {
    let forge = TestForge::with(&[], &[("DEMO_API_KEY", KEY)]).await;
    let (project, _) = forge.project("repo").await;
    let asker = forge.dir().join("asker");
    make_program(&asker, ASKER);
    forge.use_as_claude(asker.to_str().unwrap()).await;
    let task = forge.start_with(&project, "CLAUDE_CODE:APPROVALS", "A title", "go").await;
    let asked = |list: &Value| list.as_array().is_some_and(|list| !list.is_empty());
    let asked = forge.until("/api/approvals/pending", "it asks", asked).await;
    assert!(asked.to_string().contains("login ***") && !asked.to_string().contains(KEY), "{asked}");

    let id = text(&asked[0]["id"]);
    let run = text(&forge.runs(&task.attempt()).await[0]["id"]);
    forge.post(&format!("/api/approvals/{id}/respond"), &json!({"approved": true})).await.data();
    forge.settled(&task.attempt()).await;
    let place = task.place();
    let told = std::fs::read_to_string(place.parent().unwrap().join("answer.json")).unwrap();
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["response"]["response"]["updatedInput"]["command"], format!("login {KEY}"));
    let log = forge.raw_log(&run).await;
    assert!(log.contains("login ***") && !log.contains(KEY), "{log}");
}
