//! `forge run --direct`: an agent in the foreground, without server, worktree or database.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forge_tests::{Terminal, TestForge, make_program, output, signal, words};
use rustix::process::Signal;
use serde_json::json;

fn direct(forge: &TestForge, dir: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.arg("run").args(args).current_dir(dir).stdin(Stdio::null());
    command
}

/// A home without a server, and a directory that is no repository.
async fn without_server() -> (TestForge, PathBuf) {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    std::fs::remove_dir_all(forge.home()).unwrap();
    let dir = forge.dir().join("plain");
    std::fs::create_dir(&dir).unwrap();
    (forge, dir)
}

/// A program of that name in a folder of its own, which is then the PATH before all others.
fn put_program(forge: &TestForge, name: &str, script: &str) -> String {
    let folder = forge.dir().join("bin");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join(name);
    make_program(&file, script);
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[tokio::test]
async fn a_shell_and_the_scripted_agent_work_where_one_stands() {
    let (forge, dir) = without_server().await;
    let script = "pwd; echo made > here.txt; exit 7";
    let done = output(direct(&forge, &dir, &["--direct", "-x", "SHELL", script])).await;
    assert_eq!(done.status.code(), Some(7), "{}", words(&done));
    assert!(words(&done).contains("/plain\n") && dir.join("here.txt").exists(), "{}", words(&done));
    let done = output(direct(&forge, &dir, &["--direct", "-x", "SCRIPTED", "write too.txt x"])).await;
    assert!(done.status.success() && dir.join("too.txt").exists(), "{}", words(&done));
    let killed = output(direct(&forge, &dir, &["--direct", "-x", "SHELL", "kill -TERM $$"])).await;
    assert_eq!(killed.status.code(), Some(128 + 15), "{}", words(&killed));
    assert!(!forge.home().exists(), "nothing was kept anywhere");
}

#[tokio::test]
async fn the_agents_own_program_has_the_terminal_and_its_prompt() {
    let (forge, dir) = without_server().await;
    let show = "#!/bin/sh\ntest -t 0 && test -t 1 && echo at a terminal\nfor a in \"$@\"; do echo \"<$a>\"; done\nexit 4\n";
    let path = put_program(&forge, "claude", show);
    for flags in [&["--direct"][..], &["-x", "legacy"]] {
        let mut command =
            direct(&forge, &dir, &[flags, &["-y", "-m", "small", "--", "-v is broken"]].concat());
        command.env("PATH", &path);
        let mut terminal = Terminal::start(command, 80);
        assert_eq!(terminal.ended().await.code(), Some(4), "{}", terminal.screen());
        let screen = terminal.screen().replace('\r', "");
        let args = "<--dangerously-skip-permissions>\n<--model>\n<small>\n<-->\n<-v is broken>\n";
        assert_eq!(screen, format!("at a terminal\n{args}"), "{flags:?}");
    }
}

#[tokio::test]
async fn the_agent_of_the_settings_and_of_the_project_are_known_without_a_server() {
    let (forge, _) = without_server().await;
    let repo = forge.repository("repo");
    std::fs::create_dir_all(forge.home()).unwrap();
    let settings = json!({"executor_profile": {"executor": "SCRIPTED"}});
    std::fs::write(forge.home().join("config.json"), settings.to_string()).unwrap();
    std::fs::create_dir_all(repo.join(".genie/agents")).unwrap();
    let agent = "---\nname: greeter\ngenie:\n  executor: SCRIPTED\n---\n\nsay greetings from the file\n";
    std::fs::write(repo.join(".genie/agents/greeter.md"), agent).unwrap();
    let usual = output(direct(&forge, &repo, &["--direct", "say plain"])).await;
    assert!(words(&usual).contains("plain") && !words(&usual).contains("greetings"), "{}", words(&usual));
    let named = output(direct(&forge, &repo, &["--direct", "-a", "greeter", "say plain"])).await;
    assert!(words(&named).contains("greetings from the file"), "{}", words(&named));
}

#[tokio::test]
async fn what_has_no_foreground_is_refused_with_what_has() {
    let (forge, dir) = without_server().await;
    let refused = output(direct(&forge, &dir, &["--direct", "-x", "ACP", "x"])).await;
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        words(&refused).contains("ACP cannot be run directly; these can: CLAUDE_CODE, CODEX"),
        "{}",
        words(&refused)
    );
    let both = output(direct(&forge, &dir, &["--direct", "--background", "x"])).await;
    assert_eq!(both.status.code(), Some(2), "{}", words(&both));
}

#[tokio::test]
async fn ctrl_c_is_the_agents_and_not_forges() {
    let (forge, dir) = without_server().await;
    let script = "trap 'echo heard it; exit 9' INT; trap 'echo told to end; exit 8' TERM; echo ready; while :; do sleep 0.05; done";
    let mut terminal = Terminal::start(direct(&forge, &dir, &["--direct", "-x", "SHELL", script]), 80);
    terminal.until("ready").await;
    // A terminal tells both of them; here only forge is told, which must not end before its agent.
    signal(terminal.pid(), Signal::INT);
    signal(terminal.pid(), Signal::TERM);
    assert_eq!(terminal.ended().await.code(), Some(8), "{}", terminal.screen());
    assert!(terminal.screen().contains("told to end"), "an end is passed on: {}", terminal.screen());
}
