//! Stopping a worker ends all of its processes and nothing else; its status file is corrected.

use std::fs;
use std::time::Duration;

use forge_fleet::launcher::{Grace, LauncherError};
use forge_fleet::process::{Identity, Table, Work};
use forge_fleet::worker::WorkerStatus;
use serde_json::json;

use crate::fixture::{Fixture, LONG, content_of, good_launcher, until};

fn patient(exit_command: Option<&str>) -> Grace {
    Grace { exit_command: exit_command.map(str::to_owned), patience: LONG }
}

#[tokio::test]
async fn a_worker_that_leaves_when_asked_is_not_killed() {
    let fixture = Fixture::new();
    let launcher = fixture.launcher();
    let bystander = fixture.session("w-alph", "sleep 600").await;
    let handle = launcher.spawn(fixture.request("alpha", &good_launcher("exec sleep 600"))).await.unwrap();
    fs::write(
        fixture.status_dir().join("alpha.json"),
        json!({"worker_id": "alpha", "status": "active", "own": 1}).to_string(),
    )
    .unwrap();
    let stopped = launcher.stop_with(&handle.id, &patient(None)).await.unwrap();
    assert!(stopped.graceful && stopped.killed.is_empty() && stopped.left.is_empty(), "{stopped:?}");
    assert_eq!(fixture.tmux.list().await.unwrap(), [bystander]);
    // It was stopped, it did not crash.
    assert_eq!(launcher.check_status(&handle.id).await.unwrap(), WorkerStatus::Stopped);
    let file = forge_fleet::status_file::find(&fixture.status_dir(), &handle.id).unwrap();
    assert_eq!(file.fields["own"], json!(1));
    assert!(matches!(launcher.stop(&handle.id).await, Err(LauncherError::NoWorker { .. })));
}

#[tokio::test]
async fn a_worker_can_be_asked_by_its_own_word() {
    let fixture = Fixture::new();
    let agent = r#"trap : INT; while read -r line; do [ "$line" = /exit ] && exit 0; done"#;
    let handle = fixture.launcher().spawn(fixture.request("a", &good_launcher(agent))).await.unwrap();
    let stopped = fixture.launcher().stop_with(&handle.id, &patient(Some("/exit"))).await.unwrap();
    assert!(stopped.graceful && stopped.killed.is_empty(), "{stopped:?}");
}

#[tokio::test]
async fn a_worker_that_ignores_everything_is_ended_with_its_whole_tree() {
    let fixture = Fixture::new();
    let pids = fixture.dir.path().join("pids");
    // A child that ignores hang-ups, and an orphan.
    let agent = r#"trap "" INT HUP TERM; sleep 600 & a=$!; (sleep 601 & echo $! >"$DIR/stray");
        echo $$ $a $(cat "$DIR/stray") >"$DIR/pids"; while :; do sleep 1; done"#;
    let mut request = fixture.request("a", &good_launcher(agent));
    request.config = request.config.with_env("DIR", fixture.dir.path().display().to_string());
    let handle = fixture.launcher().spawn(request).await.unwrap();
    let pids: Vec<u32> = content_of(&pids).await.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    let members: Vec<Identity> = pids.iter().map(|pid| Identity::of(*pid).unwrap()).collect();
    let grace = Grace { exit_command: None, patience: Duration::from_millis(50) };
    let stopped = fixture.launcher().stop_with(&handle.id, &grace).await.unwrap();
    assert!(!stopped.graceful && stopped.left.is_empty(), "{stopped:?}");
    for member in members {
        assert!(stopped.killed.contains(&member), "{member:?} of {stopped:?}");
        assert!(!member.is_alive());
    }
    assert_eq!(fixture.tmux.list().await.unwrap(), []);
}

#[tokio::test]
async fn an_agent_that_is_gone_is_a_failure_also_when_its_shell_lives() {
    let fixture = Fixture::new();
    let launcher = fixture.launcher();
    // The way of a launcher that types its agent into a shell.
    let text = "#!/bin/sh\ntmux new-session -d -s \"$1\" 'exec bash --norc'\n\
                tmux send-keys -t \"=$1:\" 'sleep 600' Enter\necho \"$1\"\n";
    let handle = launcher.spawn(fixture.request("a", text)).await.unwrap();
    let pane = handle.session.pane_pid;
    let agent = async || match Table::read().work(pane) {
        Work::Agent(agent) if agent.pid != pane => Some(agent),
        _ => None,
    };
    let agent = until("the agent", agent).await;
    fs::write(fixture.status_dir().join("a.json"), r#"{"status": "active"}"#).unwrap();
    assert_eq!(launcher.check_status(&handle.id).await.unwrap(), WorkerStatus::Active);
    agent.signal(forge_fleet::process::Signal::KILL);
    until("the shell to be alone", async || (Table::read().work(pane) == Work::IdleShell).then_some(()))
        .await;
    assert_eq!(launcher.check_status(&handle.id).await.unwrap(), WorkerStatus::Failed);

    launcher.stop_with(&handle.id, &Grace::none()).await.unwrap();
    fs::write(fixture.status_dir().join("a.json"), r#"{"status": "active"}"#).unwrap();
    assert_eq!(launcher.check_status(&handle.id).await.unwrap(), WorkerStatus::Failed);
}
