//! A run that takes too long or is silent is ended, and the log says why.

use forge_run::{ExitReason, Kind};

use crate::stage::{Stage, exit_of, text_of};

#[tokio::test]
async fn a_run_ends_at_its_time_limit() {
    let stage = Stage::new();
    let mut spec = stage.spec("while :; do echo busy; sleep 0.05; done");
    spec.time_limit_ms = Some(300);
    spec.silence_limit_ms = Some(60_000);
    let live = stage.launch_spec(&spec).await;
    assert_eq!(exit_of(&live).await.reason, ExitReason::TimeLimit);
    assert_eq!(text_of(Kind::Note, &stage.records()), "stopped: time limit of 300 ms reached\n");
}

#[tokio::test]
async fn a_silent_run_ends() {
    let stage = Stage::new();
    let mut spec = stage.spec("echo hello; exec sleep 300");
    spec.silence_limit_ms = Some(300);
    let live = stage.launch_spec(&spec).await;
    assert_eq!(exit_of(&live).await.reason, ExitReason::Silence);
    let records = stage.records();
    assert_eq!(text_of(Kind::Stdout, &records), "hello\n");
    assert_eq!(text_of(Kind::Note, &records), "stopped: no output for 300 ms\n");
}

#[tokio::test]
async fn a_run_within_its_limits_is_left_alone() {
    let stage = Stage::new();
    let mut spec = stage.spec("for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done");
    spec.silence_limit_ms = Some(1000);
    spec.time_limit_ms = Some(60_000);
    let live = stage.launch_spec(&spec).await;
    let exit = exit_of(&live).await;
    assert_eq!((exit.code, exit.reason), (Some(0), ExitReason::Exited));
}
