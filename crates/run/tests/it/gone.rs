//! A keeper that dies takes its agent along, and the log says so.

use std::fs::{self, OpenOptions};
use std::io::Write;

use forge_run::{ExitReason, Found, Kind, Record, Tail, View, find};
use rustix::process::Signal;

use crate::stage::{Stage, drain, exit_of, kill, runs, signal, text_of, until};

/// An agent with a child that leaves its session; the child's pid is in `escaped`.
const SCRIPT: &str = "echo hello; \
    setsid sh -c 'sh -c \"echo \\$\\$ > escaped; exec sleep 300\" &' >/dev/null 2>&1 </dev/null; exec sleep 300";

fn notes(records: &[Record]) -> Vec<String> {
    let notes = records.iter().filter(|record| record.kind == Kind::Note);
    notes.map(|record| String::from_utf8(record.bytes.clone()).expect("text")).collect()
}

fn farewell(keeper: u32) -> String {
    format!(
        "The process that kept this run's log (pid {keeper}) was killed or crashed; its agent was ended with it.\n"
    )
}

#[tokio::test]
async fn everything_of_a_run_has_ended_when_its_killed_keeper_is_reported() {
    let stage = Stage::new();
    let live = stage.launch(SCRIPT).await;
    let mut tail = Tail::new(&stage.dir(), View::Exact, Some(live.progress()));
    let (escaped, keeper) = (stage.pid_in("escaped").await, stage.keeper_pid());
    kill(keeper);
    let exit = exit_of(&live).await;
    assert!(!runs(live.pid()) && !runs(escaped), "a process of the run still runs");
    assert_eq!((exit.code, &exit.reason), (None, &ExitReason::Vanished));
    let followed = drain(&mut tail).await;
    assert_eq!(text_of(Kind::Stdout, &followed), "hello\n");
    assert_eq!(notes(&followed), [farewell(keeper)]);
    assert_eq!(followed.last().map(|record| record.kind), Some(Kind::End));
    // Looking again finds the same end, and adds nothing.
    assert!(matches!(find(&stage.dir()).await, Found::Ended(again) if again == exit));
    assert_eq!(stage.records(), followed);
}

#[tokio::test]
async fn a_run_whose_keeper_died_while_nobody_looked_is_ended_when_it_is_found() {
    let stage = Stage::new();
    let live = stage.launch(SCRIPT).await;
    let (agent, escaped, keeper) = (live.pid(), stage.pid_in("escaped").await, stage.keeper_pid());
    // The process that launched it is gone as well.
    signal(keeper, Signal::STOP);
    drop(live);
    kill(keeper);
    until(|| !runs(keeper)).await;
    let Found::Ended(exit) = find(&stage.dir()).await else { panic!("no end") };
    assert_eq!(exit.reason, ExitReason::Vanished);
    assert!(!runs(agent) && !runs(escaped), "a process of the run still runs");
    assert_eq!(notes(&stage.records()), [farewell(keeper)]);
}

#[tokio::test]
async fn a_stop_ends_what_a_killed_keeper_left() {
    let stage = Stage::new();
    let live = stage.launch(SCRIPT).await;
    let escaped = stage.pid_in("escaped").await;
    kill(stage.keeper_pid());
    assert_eq!(live.stop(None).await.expect("stop").reason, ExitReason::Vanished);
    assert!(!runs(live.pid()) && !runs(escaped), "a process of the run still runs");
}

#[tokio::test]
async fn the_end_is_recorded_once_behind_what_the_kill_tore() {
    let stage = Stage::new();
    let live = stage.launch("echo hello; exec sleep 300").await;
    let Found::Live(other) = find(&stage.dir()).await else { panic!("no run") };
    let mut tails = [&live, &other].map(|live| Tail::new(&stage.dir(), View::Exact, Some(live.progress())));
    let first = tails[0].next().await.expect("read").expect("records");
    assert_eq!(text_of(Kind::Stdout, &first), "hello\n");
    let keeper = stage.keeper_pid();
    signal(keeper, Signal::STOP);
    let journal = stage.dir().join("journal");
    let whole = fs::metadata(&journal).expect("journal").len();
    // A header that announces 100 bytes, followed by only ten.
    let torn = [&[100, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 1][..], b"ten bytes!"].concat();
    OpenOptions::new().append(true).open(&journal).and_then(|mut file| file.write_all(&torn)).expect("tear");
    kill(keeper);
    let damage = format!("26 bytes of this log are damaged at byte {whole} and were skipped\n");
    let rest = drain(&mut tails[0]).await;
    assert_eq!(notes(&rest), [damage, farewell(keeper)]);
    let all = [first, rest].concat();
    assert_eq!(drain(&mut tails[1]).await, all, "another that watched");
    assert_eq!(stage.records(), all, "one that comes later");
}

#[tokio::test]
async fn a_keeper_that_hangs_is_not_taken_for_gone() {
    let stage = Stage::new();
    let live = stage.launch("while [ ! -e go ]; do sleep 0.01; done; exit 3").await;
    let keeper = stage.keeper_pid();
    signal(keeper, Signal::STOP);
    let Found::Live(again) = find(&stage.dir()).await else { panic!("taken for gone") };
    assert_eq!(again.progress().borrow().exit, None);
    signal(keeper, Signal::CONT);
    fs::write(stage.path("go"), "").expect("go");
    for live in [live, again] {
        assert_eq!(exit_of(&live).await.code, Some(3));
    }
}

#[tokio::test]
async fn the_system_kills_an_agent_before_its_keeper_when_memory_runs_out() {
    let score = |who: &str| -> i32 {
        let text = fs::read_to_string(format!("/proc/{who}/oom_score_adj")).expect("a score");
        text.trim().parse().expect("a number")
    };
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    assert_eq!(score(&stage.keeper_pid().to_string()), score("self"), "a keeper is as it was started");
    assert!(score(&live.pid().to_string()) > score("self"));
    live.stop(None).await.expect("stop");
}
