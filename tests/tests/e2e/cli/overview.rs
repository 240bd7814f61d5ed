//! `forge` alone: how things stand in a repository, and what to do next.

use std::path::Path;
use std::process::{Command, Stdio};

use forge_tests::{Terminal, TestForge, git, output, text, words};

/// `forge` without an argument, as somebody types it who has set no variable.
fn alone(forge: &TestForge, dir: &Path) -> Command {
    let mut command = forge.command();
    command.current_dir(dir).env_remove("PORT").env_remove("CARGO_MANIFEST_DIR").env("TERM", "dumb");
    command
}

async fn shown(command: Command) -> String {
    let mut terminal = Terminal::start(command, 100);
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    terminal.screen()
}

#[tokio::test]
async fn a_repository_without_a_server_is_told_how_to_begin() {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    let repo = forge.repository("repo");
    let mut command = alone(&forge, &repo);
    // Nobody listens there, and no server of this machine is guessed.
    command.env("FORGE_BACKEND_URL", "http://127.0.0.1:9");
    let screen = shown(command).await;
    for part in ["repo on main", "not running", "forge run", "forge serve", "forge demo", "forge help"] {
        assert!(screen.contains(part), "{part:?} is missing: {screen}");
    }
}

#[tokio::test]
async fn a_repository_at_work_shows_its_attempts_and_the_next_step() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let screen = shown(alone(&forge, &repo)).await;
    assert!(screen.contains("none yet; the first run adds it"), "{screen}");
    let run = |script: &str| {
        let mut command = forge.command();
        command.args(["run", "-x", "SCRIPTED", script]).current_dir(&repo);
        output(command)
    };
    run("Greet\nwrite a.txt x\nsay done").await;
    let attempt = text(&forge.get("/api/task-attempts").await.data()[0]["id"])[..8].to_owned();
    let screen = shown(alone(&forge, &repo)).await;
    for part in ["Greet", "completed", &format!("forge diff {attempt}"), &format!("forge merge {attempt}")] {
        assert!(screen.contains(part), "{part:?} is missing: {screen}");
    }
}

#[tokio::test]
async fn without_a_terminal_it_starts_a_server_as_ever() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let ended = output(alone(&forge, &repo)).await;
    assert!(!ended.status.success() && words(&ended).contains("another Forge"), "{}", words(&ended));
}

#[tokio::test]
async fn help_is_a_command_too() {
    let forge = TestForge::start().await;
    for (args, part) in [(&["help"][..], "Usage: forge"), (&["help", "worker", "spawn"], "--workspace")] {
        let mut command = forge.command();
        command.args(args);
        let told = output(command).await;
        assert!(told.status.success() && words(&told).contains(part), "{}", words(&told));
    }
}

#[tokio::test]
async fn a_run_says_what_the_agents_copy_does_not_have() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let run = || {
        let mut command = forge.command();
        command.args(["run", "-x", "SCRIPTED", "say hello"]).current_dir(&repo);
        output(command)
    };
    let told = words(&run().await);
    assert!(!told.contains("the agent's copy") && !told.contains("you are on"), "{told}");
    git(&repo, &["switch", "-q", "-c", "side"]);
    std::fs::write(repo.join("new.txt"), "x").unwrap();
    std::fs::write(repo.join(".gitmodules"), "").unwrap();
    let told = words(&run().await);
    for part in ["you are on side, the agent starts from main", "uncommitted changes", "submodules are empty"]
    {
        assert!(told.contains(part), "{part:?} is missing: {told}");
    }
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_failure_and_the_run_goes_on() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    for args in [&["run", "-b", "-x", "SCRIPTED", "say hello"][..], &["run", "-x", "SCRIPTED", "say hello"]] {
        let mut command = forge.command();
        let mut child = command.args(args).current_dir(&repo).stdout(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended = tokio::task::spawn_blocking(move || child.wait()).await.unwrap().unwrap();
        assert!(ended.success(), "{args:?}: {ended}");
    }
    let attempts = forge.get("/api/task-attempts").await.data();
    assert_eq!(attempts.as_array().unwrap().len(), 2, "{attempts:#}");
}
