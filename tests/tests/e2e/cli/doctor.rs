//! `forge doctor`: tells what is there and what helps, changes nothing, and never shows a secret.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use forge_tests::{TestForge, err, forge_exe, make_program, out, text};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A machine with nothing but the programs that a test puts there.
struct Machine {
    dir: TempDir,
}

impl Machine {
    fn new() -> Self {
        let machine = Self { dir: tempfile::tempdir().unwrap() };
        for folder in ["bin", "user", "tmp"] {
            std::fs::create_dir(machine.dir.path().join(folder)).unwrap();
        }
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn install(&self, name: &str, body: &str) {
        let file = self.path("bin").join(name);
        make_program(&file, format!("#!/bin/sh\n{body}\n"));
    }

    fn install_git(&self) {
        let path = std::env::var_os("PATH").unwrap();
        let git = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|file| file.exists()).unwrap();
        std::os::unix::fs::symlink(git, self.path("bin/git")).unwrap();
    }

    fn doctor(&self) -> Command {
        let mut command = Command::new(forge_exe());
        command
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("HOME", self.path("user"))
            .env("TMPDIR", self.path("tmp"));
        command
            .env("SHELL", "/bin/false")
            .env("BACKEND_PORT", "0")
            .current_dir(self.dir.path())
            .arg("doctor");
        command
    }
}

fn checks(output: &Output) -> Value {
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let list = report["checks"].as_array().expect("checks").iter();
    let named = list.map(|check| (text(&check["name"]), check.clone())).collect();
    json!({"ok": report["ok"], "checks": Value::Object(named)})
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn programs_are_found_asked_and_judged_without_a_trace() {
    let machine = Machine::new();
    machine.install_git();
    machine.install("claude", ": > \"$HOME/.claude.json\"; echo '2.9.9 (Claude Code)'");
    machine.install("codex", "echo 'codex-cli 0.9.1'");
    machine.install("gemini", "exit 1");
    machine.install("npx", "echo 10.0.0");
    let mut command = machine.doctor();
    let output = command.arg("--json").env("ANTHROPIC_API_KEY", "sk-very-secret").output().unwrap();
    let words = out(&output);
    assert!(output.status.success(), "{words}{}", err(&output));
    let report = checks(&output);
    let check = |name: &str| &report["checks"][name];

    let claude = check("CLAUDE_CODE");
    assert_eq!(
        (&claude["status"], &claude["version"], &claude["found"]),
        (&json!("ok"), &json!("2.9.9"), &json!("path"))
    );
    assert_eq!(
        (&claude["keys"], &claude["protocol"]),
        (&json!(["ANTHROPIC_API_KEY"]), &json!("stream-json"))
    );
    assert!(!words.contains("secret"), "{words}");
    let codex = check("CODEX");
    assert_eq!(
        (&codex["status"], &codex["fix"]),
        (&json!("warning"), &json!("codex login")),
        "nobody has logged in"
    );
    let gemini = check("GEMINI");
    assert_eq!((&gemini["status"], &gemini["fix"]), (&json!("warning"), &gemini["install"]), "it is broken");
    let copilot = check("COPILOT");
    assert_eq!(copilot["found"], "npx");
    assert!(text(&copilot["fix"]).starts_with("npx -y @github/copilot@"), "{copilot}");
    let cursor = check("CURSOR_AGENT");
    assert_eq!((&cursor["status"], &cursor["fix"]), (&json!("missing"), &cursor["install"]));
    assert_eq!(check("tmux")["status"], "missing");
    for name in ["git", "home", "database", "port"] {
        assert_eq!(check(name)["status"], "ok", "{report:#}");
    }
    for name in ["server", "disk (data)", "disk (worktrees)", "sandbox", "file watches"] {
        assert!(check(name)["status"].is_string(), "{name}: {report:#}");
    }
    assert!(is_empty(&machine.path("user")) && is_empty(&machine.path("tmp")), "it left something behind");
}

#[test]
fn a_login_is_seen_by_its_file_and_a_slow_program_is_not_waited_for() {
    let machine = Machine::new();
    machine.install_git();
    machine.install("codex", "echo 'codex-cli 0.9.1'");
    machine.install("claude", "/bin/sleep 600");
    std::fs::create_dir(machine.path("user/.codex")).unwrap();
    std::fs::write(machine.path("user/.codex/auth.json"), "{}").unwrap();
    let output = machine.doctor().output().unwrap();
    let words = out(&output);
    assert!(output.status.success(), "{words}");
    assert!(words.contains("0.9.1, app-server, logged in"), "{words}");
    assert!(words.contains("does not report its version"), "{words}");
    assert!(words.contains("Forge can work here."), "{words}");
}

#[test]
fn without_git_or_a_home_forge_cannot_work() {
    let machine = Machine::new();
    machine.install("apt-get", "");
    let output = machine.doctor().output().unwrap();
    let words = out(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("→ sudo apt-get install git"), "{words}");
    machine.install_git();
    std::fs::write(machine.path("file"), "").unwrap();
    let home = machine.path("file/home");
    let output = machine.doctor().env("FORGE_HOME", home).output().unwrap();
    let words = out(&output);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("FORGE_HOME"), "{words}");
}

#[tokio::test]
async fn a_running_server_is_found() {
    let forge = TestForge::start().await;
    let mut command = forge.command();
    command
        .args(["doctor", "--json"])
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("SHELL", "/bin/false");
    let output = forge_tests::output(command).await;
    let report = checks(&output);
    let server = &report["checks"]["server"];
    assert_eq!((&server["status"], &server["address"]), (&json!("ok"), &json!(forge.base())), "{report:#}");
    assert_eq!(report["checks"]["database"]["status"], "ok");
}
