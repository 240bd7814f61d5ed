//! What an agent prints is in its journal: all of it, in order, readable at once and forever.

use std::fs;

use forge_run::{ExitReason, Kind, Reader, Record, StdinPlan, Tail, View, seal};

use crate::stage::{Stage, bytes_of, drain, exit_of, text_of};

#[tokio::test]
async fn both_streams_are_recorded_and_the_end_comes_last() {
    let stage = Stage::new();
    let live = stage.launch("echo out; echo err >&2; exit 7").await;
    let exit = exit_of(&live).await;
    assert_eq!((exit.code, exit.signal, &exit.reason), (Some(7), None, &ExitReason::Exited));
    let records = stage.records();
    assert_eq!(text_of(Kind::Stdout, &records), "out\n");
    assert_eq!(text_of(Kind::Stderr, &records), "err\n");
    let last = records.last().expect("records");
    assert_eq!(last.kind, Kind::End);
    assert_eq!(serde_json::from_slice::<forge_run::Exit>(&last.bytes).expect("json"), exit);
    assert!(records.windows(2).all(|pair| pair[0].at_ms <= pair[1].at_ms));
}

#[tokio::test]
async fn ten_megabytes_of_anything_come_through_byte_for_byte() {
    let stage = Stage::new();
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    let bytes: Vec<u8> = (0..10 << 20).map(|_| next()).collect();
    fs::write(stage.path("data"), &bytes).expect("data");
    let live = stage.launch("cat data").await;
    let mut tail = Tail::new(&stage.dir(), View::Exact, Some(live.progress()));
    let records = drain(&mut tail).await;
    assert!(bytes_of(Kind::Stdout, &records) == bytes, "the output differs");
    assert!(records.iter().all(|record| record.bytes.len() <= 64 * 1024));
    assert_eq!(records.last().map(|record| record.kind), Some(Kind::End));
}

#[tokio::test]
async fn no_record_splits_a_character() {
    let stage = Stage::new();
    let text = "aé€🙂".repeat(60_000);
    fs::write(stage.path("data"), &text).expect("data");
    // The second command prints single bytes of one character with pauses between them.
    let live =
        stage.launch(r"cat data; for b in '\360' '\237' '\231' '\202'; do printf $b; sleep 0.02; done").await;
    exit_of(&live).await;
    let records = stage.records();
    for record in &records {
        std::str::from_utf8(&record.bytes).expect("whole characters");
    }
    assert!(text_of(Kind::Stdout, &records) == format!("{text}🙂"));
}

#[tokio::test]
async fn a_character_that_never_ends_is_recorded_anyway() {
    let stage = Stage::new();
    let live = stage.launch(r"printf 'a\360\237'").await;
    exit_of(&live).await;
    assert_eq!(bytes_of(Kind::Stdout, &stage.records()), b"a\xF0\x9F");
}

#[tokio::test]
async fn output_is_seen_while_the_agent_waits() {
    let stage = Stage::new();
    let mut spec = stage.spec("echo one; read line; echo two");
    spec.stdin = StdinPlan::Duplex { first: Vec::new(), close_on: None };
    let live = stage.launch_spec(&spec).await;
    let mut tail = Tail::new(&stage.dir(), View::Exact, Some(live.progress()));
    let first = tail.next().await.expect("read").expect("a batch");
    assert_eq!(text_of(Kind::Stdout, &first), "one\n");
    live.send("go").await.expect("send");
    let rest = drain(&mut tail).await;
    assert_eq!(text_of(Kind::Stdout, &rest), "two\n");
    assert_eq!(rest.last().map(|record| record.kind), Some(Kind::End));
}

#[tokio::test]
async fn a_dropped_wait_loses_no_record() {
    let stage = Stage::new();
    let live = stage.launch("for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.01; done").await;
    let mut tail = Tail::new(&stage.dir(), View::Exact, Some(live.progress()));
    let mut records = Vec::new();
    loop {
        match tokio::time::timeout(std::time::Duration::from_micros(300), tail.next()).await {
            Ok(Ok(Some(batch))) => records.extend(batch),
            Ok(Ok(None)) => break,
            Ok(Err(e)) => panic!("{e}"),
            Err(_) => {}
        }
    }
    assert_eq!(text_of(Kind::Stdout, &records), "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
}

#[tokio::test]
async fn numbers_count_what_is_shown_and_nothing_else() {
    let stage = Stage::new();
    let mut spec = stage.spec("read a; echo $a; read b; echo $b >&2; exit 0");
    spec.stdin = StdinPlan::Duplex { first: vec!["x".into()], close_on: None };
    let live = stage.launch_spec(&spec).await;
    let mut tail = Tail::new(&stage.dir(), View::Exact, Some(live.progress()));
    let mut seen = Vec::new();
    while !seen.iter().any(|record: &Record| record.kind == Kind::Stdout) {
        seen.extend(tail.next().await.expect("read").expect("batch"));
    }
    live.send("y").await.expect("send");
    exit_of(&live).await;
    let mut later = Tail::new(&stage.dir(), View::Exact, None);
    assert_eq!(later.skip_outputs(1).await.expect("skip"), 1);
    let rest = drain(&mut later).await;
    let shown: Vec<_> = rest.iter().filter(|record| record.kind.is_output()).collect();
    assert_eq!(shown.len(), 1);
    assert_eq!((shown[0].kind, shown[0].bytes.as_slice()), (Kind::Stderr, b"y\n".as_slice()));
}

#[tokio::test]
async fn sealing_keeps_every_record_and_open_readers() {
    let stage = Stage::new();
    let live = stage.launch("seq -f 'line %.0f' 20000").await;
    live_then_sealed(&stage, &live).await;
}

#[tokio::test]
async fn a_small_journal_is_not_sealed() {
    let stage = Stage::new();
    let live = stage.launch("echo small").await;
    exit_of(&live).await;
    let before = stage.records();
    seal(&stage.dir()).await.expect("seal");
    assert!(stage.dir().join("journal").exists());
    assert_eq!(stage.records(), before);
}

async fn live_then_sealed(stage: &Stage, live: &forge_run::Live) {
    exit_of(live).await;
    let before = stage.records();
    let mut open = Reader::open(&stage.dir(), View::Exact).expect("open");
    let mut read = Vec::new();
    open.read(1, &mut read).expect("read");
    seal(&stage.dir()).await.expect("seal");
    assert!(!stage.dir().join("journal").exists());
    open.read(usize::MAX, &mut read).expect("read on");
    assert_eq!(read, before);
    assert_eq!(stage.records(), before);
    assert_eq!(drain(&mut Tail::new(&stage.dir(), View::Exact, None)).await, before);
    seal(&stage.dir()).await.expect("sealing again changes nothing");
    assert_eq!(stage.records(), before);
}

#[tokio::test]
async fn a_run_that_has_not_ended_is_not_sealed() {
    let stage = Stage::new();
    let live = stage.launch("sleep 60").await;
    seal(&stage.dir()).await.expect_err("still going on");
    live.stop(None).await.expect("stop");
    seal(&stage.dir()).await.expect("now it is over");
}
