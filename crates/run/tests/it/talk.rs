//! Input reaches the agent, is recorded, and cannot block anybody.

use std::os::unix::net::UnixStream;

use forge_run::{Cue, Kind, OrderError, StdinPlan};

use crate::stage::{Stage, exit_of, text_of};

fn duplex(first: &[&str], close_on: Option<&str>) -> StdinPlan {
    let first = first.iter().map(|line| (*line).to_owned()).collect();
    StdinPlan::Duplex { first, close_on: close_on.map(|kind| Cue::Type(kind.to_owned())) }
}

#[tokio::test]
async fn a_fed_agent_reads_everything_and_then_the_end() {
    let stage = Stage::new();
    let text = "what to do\n".repeat(300_000);
    let mut spec = stage.spec("wc -c");
    spec.stdin = StdinPlan::Feed { text: text.clone() };
    let live = stage.launch_spec(&spec).await;
    exit_of(&live).await;
    let records = stage.records();
    assert_eq!(text_of(Kind::Stdout, &records).trim(), text.len().to_string());
    assert!(text_of(Kind::Stdin, &records) == text);
}

#[tokio::test]
async fn a_closed_stdin_is_empty() {
    let stage = Stage::new();
    let live = stage.launch("cat; echo end").await;
    exit_of(&live).await;
    assert_eq!(text_of(Kind::Stdout, &stage.records()), "end\n");
}

#[tokio::test]
async fn lines_are_sent_and_recorded_in_order() {
    let stage = Stage::new();
    let mut spec = stage.spec("cat");
    spec.stdin = duplex(&["first"], None);
    let live = stage.launch_spec(&spec).await;
    live.send("second").await.expect("send");
    live.send("third").await.expect("send");
    live.close_stdin().await.expect("close");
    assert_eq!(exit_of(&live).await.code, Some(0));
    let records = stage.records();
    assert_eq!(text_of(Kind::Stdin, &records), "first\nsecond\nthird\n");
    assert_eq!(text_of(Kind::Stdout, &records), "first\nsecond\nthird\n");
    assert!(matches!(live.send("fourth").await, Err(OrderError::Ended)));
}

#[tokio::test]
async fn the_last_line_closes_stdin_without_any_server() {
    let stage = Stage::new();
    let mut spec = stage.spec("cat");
    spec.stdin = duplex(&["hello", r#"{"type":"other"}"#, r#"{"is":1,"type":"result"}"#], Some("result"));
    let live = stage.launch_spec(&spec).await;
    assert_eq!(exit_of(&live).await.code, Some(0));
}

#[tokio::test]
async fn input_for_an_agent_that_does_not_read_is_bounded() {
    let stage = Stage::new();
    let mut spec = stage.spec("exec sleep 300");
    spec.stdin = duplex(&[], None);
    let live = stage.launch_spec(&spec).await;
    let line = "x".repeat(400_000);
    let mut refusal = None;
    for _ in 0..5 {
        if let Err(e) = live.send(&line).await {
            refusal = Some(e);
            break;
        }
    }
    assert!(matches!(refusal, Some(OrderError::Refused { .. })), "{refusal:?}");
    live.stop(None).await.expect("stop");
}

#[tokio::test]
async fn a_client_that_never_reads_blocks_nobody() {
    let stage = Stage::new();
    let mut spec = stage.spec("read go; i=0; while [ $i -lt 40000 ]; do echo $i; i=$((i+1)); done");
    spec.stdin = duplex(&[], None);
    let live = stage.launch_spec(&spec).await;
    let idle = UnixStream::connect(stage.dir().join("sock")).expect("connect");
    live.send("go").await.expect("send");
    assert_eq!(exit_of(&live).await.code, Some(0));
    assert_eq!(text_of(Kind::Stdout, &stage.records()).lines().count(), 40_000);
    drop(idle);
}

#[tokio::test]
async fn nonsense_on_the_socket_harms_only_its_sender() {
    use std::io::{Read, Write};
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    let mut rude = UnixStream::connect(stage.dir().join("sock")).expect("connect");
    rude.write_all(b"what?\n").expect("write");
    let mut rest = Vec::new();
    rude.read_to_end(&mut rest).expect("it is shown the door");
    live.stop(None).await.expect("stop");
}
