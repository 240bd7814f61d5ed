//! `GET /api/agents`: the agent programs of this machine, as `forge doctor` judges them, looked for once for everybody.

use std::path::Path;

use forge_tests::{TestForge, make_program, text};
use serde_json::{Value, json};
use tempfile::TempDir;

fn install(dir: &Path, name: &str, body: &str) {
    let file = dir.join(name);
    make_program(&file, format!("#!/bin/sh\n{body}\n"));
}

/// A server on a machine where `codex` notes each time it is asked, and what git and a shell need is there.
async fn forge(machine: &TempDir) -> TestForge {
    let bin = machine.path().join("bin");
    std::fs::create_dir(&bin).unwrap();
    let asked = machine.path().join("asked");
    install(&bin, "codex", &format!("echo asked >> '{}'; echo codex-cli 0.9.1", asked.display()));
    install(&bin, "claude", "echo '2.9.9 (Claude Code)'");
    install(&bin, "gemini", "exit 1");
    let path = std::env::var_os("PATH").unwrap();
    for name in ["git", "sh"] {
        let real = std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.exists()).unwrap();
        std::os::unix::fs::symlink(real, bin.join(name)).unwrap();
    }
    let home = machine.path().to_str().unwrap();
    let env = [
        ("PATH", bin.to_str().unwrap()),
        ("HOME", home),
        ("SHELL", "/bin/false"),
        ("ANTHROPIC_API_KEY", "sk-very-secret"),
        ("OPENAI_API_KEY", ""),
        ("CODEX_API_KEY", ""),
        ("CODEX_HOME", ""),
        ("GEMINI_API_KEY", ""),
    ];
    TestForge::with(&[], &env).await
}

fn agent<'a>(agents: &'a Value, executor: &str) -> &'a Value {
    agents.as_array().unwrap().iter().find(|agent| agent["executor"] == executor).expect(executor)
}

#[tokio::test]
async fn agents_are_told_with_what_keeps_them_from_working_and_no_secret() {
    let machine = tempfile::tempdir().unwrap();
    let forge = forge(&machine).await;
    let agents = forge.get("/api/agents").await.data();
    let order: Vec<String> =
        agents.as_array().unwrap().iter().map(|agent| text(&agent["executor"])).collect();
    assert_eq!(
        order,
        "CLAUDE_CODE AMP GEMINI CODEX OPENCODE CURSOR_AGENT QWEN_CODE COPILOT DROID SHELL SCRIPTED"
            .split(' ')
            .collect::<Vec<_>>()
    );
    let claude = agent(&agents, "CLAUDE_CODE");
    assert_eq!(
        (&claude["name"], &claude["found"], &claude["version"], &claude["keys"], &claude["ready"]),
        (&json!("Claude Code"), &json!("path"), &json!("2.9.9"), &json!(["ANTHROPIC_API_KEY"]), &json!(true))
    );
    assert!(text(&claude["path"]).ends_with("/bin/claude"), "{claude}");
    let codex = agent(&agents, "CODEX");
    assert_eq!(
        (&codex["version"], &codex["logged_in"], &codex["ready"], &codex["log_in"]),
        (&json!("0.9.1"), &json!(false), &json!(false), &json!("codex login"))
    );
    let gemini = agent(&agents, "GEMINI");
    assert_eq!(
        (&gemini["found"], &gemini["version"], &gemini["ready"]),
        (&json!("path"), &json!(null), &json!(false)),
        "it is broken"
    );
    let cursor = agent(&agents, "CURSOR_AGENT");
    assert_eq!(
        (&cursor["found"], &cursor["log_in"], &cursor["ready"]),
        (&json!(null), &json!(null), &json!(false))
    );
    assert!(text(&cursor["install"]).contains("cursor.com/install"));
    let states =
        ["CLAUDE_CODE", "CODEX", "GEMINI", "CURSOR_AGENT"].map(|name| text(&agent(&agents, name)["state"]));
    assert_eq!(states, ["ready", "not_logged_in", "not_working", "not_installed"]);
    for built_in in ["SHELL", "SCRIPTED"] {
        let told = agent(&agents, built_in);
        assert_eq!((&told["found"], &told["ready"]), (&json!("built_in"), &json!(true)), "{told}");
    }
    assert!(!agents.to_string().contains("secret"));
}

#[tokio::test]
async fn a_crowd_shares_one_look_and_only_who_asks_anew_causes_another() {
    let machine = tempfile::tempdir().unwrap();
    let forge = forge(&machine).await;
    let asked = || std::fs::read_to_string(machine.path().join("asked")).unwrap_or_default().lines().count();
    let crowd = (0..8).map(|_| forge.get("/api/agents"));
    for answer in futures_util::future::join_all(crowd).await {
        assert_eq!(agent(&answer.data(), "CODEX")["version"], "0.9.1");
    }
    assert_eq!(asked(), 1, "eight callers, one look");
    let login = machine.path().join(".codex");
    std::fs::create_dir(&login).unwrap();
    std::fs::write(login.join("auth.json"), "{}").unwrap();
    assert_eq!(agent(&forge.get("/api/agents").await.data(), "CODEX")["logged_in"], false, "as kept");
    let anew = forge.get("/api/agents?fresh=true").await.data();
    assert_eq!(
        (&agent(&anew, "CODEX")["logged_in"], &agent(&anew, "CODEX")["ready"]),
        (&json!(true), &json!(true))
    );
    assert_eq!(agent(&forge.get("/api/agents").await.data(), "CODEX")["logged_in"], true);
    assert_eq!(asked(), 2);
    assert!(forge.get("/api/agents?fresh=maybe").await.message().contains("fresh: 'maybe'"));
}

#[tokio::test]
async fn acp_is_offered_once_a_profile_names_its_command_and_refused_clearly_before() {
    let machine = tempfile::tempdir().unwrap();
    let forge = forge(&machine).await;
    let (project, _) = forge.project("repo").await;
    let refused = forge.task(&project, "t").agent("ACP").ask().await;
    assert!((400..500).contains(&refused.status), "{}", refused.body);
    assert!(refused.message().starts_with("base_command_override: is not set"), "{}", refused.message());
    assert!(refused.message().contains("choose another agent"), "{}", refused.message());
    let is_told = |agents: &Value| agents.as_array().unwrap().iter().any(|agent| agent["executor"] == "ACP");
    assert!(!is_told(&forge.get("/api/agents").await.data()));
    let profiles =
        json!({"executors": {"ACP": {"DEFAULT": {"ACP": {"base_command_override": "sh -c true"}}}}});
    forge.put("/api/profiles", &profiles).await.data();
    let agents = forge.get("/api/agents").await.data();
    assert_eq!(agent(&agents, "ACP")["state"], "ready", "at once, although the survey is kept");
}

#[tokio::test]
async fn an_agent_that_wants_a_login_says_so_once_on_its_run_and_on_the_card() {
    let machine = tempfile::tempdir().unwrap();
    let forge = forge(&machine).await;
    let words = "Not logged in · Please run /login";
    let said = json!({"type": "assistant", "message": {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": words}]}});
    let end = json!({"type": "result", "subtype": "success", "is_error": true, "result": words});
    install(&machine.path().join("bin"), "claude", &format!("echo '{said}'; echo '{end}'; exit 1"));
    let (project, _) = forge.project("repo").await;
    let started = forge.start_with(&project, "CLAUDE_CODE", "t", "do it").await;
    let runs = forge.settled(&started.attempt()).await;
    assert_eq!(
        (&runs[0]["status"], &runs[0]["setup_required"]),
        (&json!("failed"), &json!(true)),
        "{runs:#?}"
    );
    let entries = forge.entries(&text(&runs[0]["id"])).await;
    let told: Vec<&Value> = entries.iter().filter(|entry| entry["content"] == words).collect();
    assert_eq!(told.len(), 1, "{entries:#?}");
    assert_eq!(told[0]["entry_type"]["error_type"]["type"], "setup_required");
    let cards = forge.get(&format!("/api/projects/{project}/cards")).await.data();
    assert_eq!(cards[0]["setup_required"], true, "{cards}");
}
