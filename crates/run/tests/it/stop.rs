//! Stopping a run ends all its processes and no other.

use std::process::Command;

use forge_run::{ExitReason, Found, Kind, StdinPlan, find};

use crate::stage::{Stage, exists, exit_of, keeper, text_of, until};

#[tokio::test]
async fn a_sleeper_dies_of_the_first_signal() {
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    let pid = live.pid();
    let exit = live.stop(None).await.expect("stop");
    assert_eq!((exit.code, exit.signal, exit.reason), (None, Some(2), ExitReason::Stopped));
    assert!(!exists(pid));
}

#[tokio::test]
async fn a_resister_is_killed() {
    let stage = Stage::new();
    let live = stage.launch("trap '' INT TERM; echo ready; while :; do sleep 300; done").await;
    until(|| !stage.records().is_empty()).await;
    let exit = live.stop(None).await.expect("stop");
    assert_eq!((exit.code, exit.signal, exit.reason), (None, Some(9), ExitReason::Stopped));
    assert!(!exists(live.pid()));
}

#[tokio::test]
async fn a_process_that_needs_the_second_signal_can_clean_up() {
    let stage = Stage::new();
    let script = "trap '' INT; trap 'echo bye; exit 5' TERM; echo ready; while :; do sleep 0.1; done";
    let live = stage.launch(script).await;
    until(|| !stage.records().is_empty()).await;
    let exit = live.stop(None).await.expect("stop");
    assert_eq!((exit.code, exit.reason), (Some(5), ExitReason::Stopped));
    assert_eq!(text_of(Kind::Stdout, &stage.records()), "ready\nbye\n");
}

#[tokio::test]
async fn whoever_made_a_session_of_its_own_is_gone_too() {
    let stage = Stage::new();
    // Forks twice and leads a new session: it has left its parent, its group, its session and its pipes.
    let script = "setsid sh -c 'sh -c \"echo \\$\\$ > escaped; exec sleep 300\" &' >/dev/null 2>&1 </dev/null; \
                  exec sleep 300";
    let live = stage.launch(script).await;
    let escaped = stage.pid_in("escaped").await;
    let mut stranger = Command::new("sleep").arg("300").spawn().expect("stranger");
    live.stop(None).await.expect("stop");
    assert!(!exists(escaped), "the escapee lives");
    assert!(!exists(live.pid()));
    assert!(stranger.try_wait().expect("wait").is_none(), "a stranger was hit");
    stranger.kill().expect("kill");
    stranger.wait().expect("wait");
}

#[tokio::test]
async fn what_an_agent_leaves_behind_ends_with_it() {
    let stage = Stage::new();
    // The child keeps the pipes open and would print something much later.
    let live = stage.launch("(sleep 300; echo late) & echo $! > left; echo done; exit 3").await;
    let exit = exit_of(&live).await;
    assert_eq!((exit.code, exit.reason), (Some(3), ExitReason::Exited));
    assert_eq!(text_of(Kind::Stdout, &stage.records()), "done\n");
    let left = stage.pid_in("left").await;
    until(|| !exists(left)).await;
    let keeper = stage.keeper_pid();
    until(|| !exists(keeper)).await;
}

#[tokio::test]
async fn an_agent_may_follow_the_request_of_its_own_protocol() {
    let stage = Stage::new();
    let mut spec = stage.spec("trap '' INT; read line; echo \"got $line\"; exit 7");
    spec.stdin = StdinPlan::Duplex { first: Vec::new(), close_on: None };
    let live = stage.launch_spec(&spec).await;
    let exit = live.stop(Some("please stop")).await.expect("stop");
    assert_eq!((exit.code, exit.reason), (Some(7), ExitReason::Stopped));
    let records = stage.records();
    assert_eq!(text_of(Kind::Stdout, &records), "got please stop\n");
    assert_eq!(text_of(Kind::Stdin, &records), "please stop\n");
}

#[tokio::test]
async fn the_log_says_why_a_run_was_stopped_before_anything_happens_to_it() {
    let stage = Stage::new();
    let mut spec = stage.spec("read line; echo \"got $line\"");
    spec.stdin = StdinPlan::Duplex { first: Vec::new(), close_on: None };
    let live = stage.launch_spec(&spec).await;
    live.note("by the way").await.expect("note");
    live.stop_because(Some("please stop"), Some("stopped: too dear")).await.expect("stop");
    let records = stage.records();
    assert_eq!(text_of(Kind::Note, &records), "by the way\nstopped: too dear\n");
    let kinds: Vec<Kind> = records.iter().map(|record| record.kind).collect();
    assert_eq!(kinds[..3], [Kind::Note, Kind::Note, Kind::Stdin]);
}

#[tokio::test]
async fn an_agent_that_ignores_its_protocol_is_interrupted() {
    let stage = Stage::new();
    let mut spec = stage.spec("exec sleep 300");
    spec.stdin = StdinPlan::Duplex { first: Vec::new(), close_on: None };
    let live = stage.launch_spec(&spec).await;
    let exit = live.stop(Some("please stop")).await.expect("stop");
    assert_eq!((exit.signal, exit.reason), (Some(2), ExitReason::Stopped));
}

#[tokio::test]
async fn stopping_what_has_ended_answers_how_it_ended() {
    let stage = Stage::new();
    let live = stage.launch("exit 4").await;
    exit_of(&live).await;
    let exit = live.stop(None).await.expect("stop");
    assert_eq!((exit.code, exit.reason), (Some(4), ExitReason::Exited));
}

#[tokio::test]
async fn a_terminated_keeper_stops_its_run() {
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    let keeper = rustix::process::Pid::from_raw(stage.keeper_pid() as i32).expect("pid");
    for signal in [rustix::process::Signal::HUP, rustix::process::Signal::INT] {
        rustix::process::kill_process(keeper, signal).expect("kill");
    }
    rustix::process::kill_process(keeper, rustix::process::Signal::TERM).expect("kill");
    let exit = exit_of(&live).await;
    assert_eq!((exit.signal, exit.reason), (Some(2), ExitReason::Stopped));
}

#[tokio::test]
async fn agents_of_a_server_that_ignores_interrupts_can_be_interrupted() {
    let stage = Stage::new();
    // The way a shell starts a server in the background.
    let mut server = Command::new("/bin/sh")
        .args(["-c", "trap '' INT QUIT HUP; exec \"$0\" launch \"$1\" 'exec sleep 300'"])
        .arg(keeper())
        .arg(stage.dir())
        .spawn()
        .expect("server");
    until(|| stage.dir().join("state.json").exists() && stage.state()["phase"] == "live").await;
    let Found::Live(live) = find(&stage.dir()).await else { panic!("live") };
    let exit = live.stop(None).await.expect("stop");
    assert_eq!((exit.signal, exit.reason), (Some(2), ExitReason::Stopped));
    server.kill().expect("kill");
    server.wait().expect("wait");
}
