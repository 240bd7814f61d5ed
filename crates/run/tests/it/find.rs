//! Runs outlive the process that launched them and are found again, or found to be gone.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::stage::{Stage, drain, exists, exit_in, exit_of, keeper, kill, runs, text_of, until};
use forge_run::{Exit, ExitReason, Found, Kind, Live, Record, Tail, View, end_leftovers, find};

/// Another process that launches the script and waits to be killed.
fn launcher(stage: &Stage, script: &str) -> Child {
    let mut child = Command::new(keeper())
        .arg("launch")
        .arg(stage.dir())
        .arg(script)
        .stdout(Stdio::piped())
        .spawn()
        .expect("launcher");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("read");
    assert_eq!(line, "launched\n");
    child
}

async fn find_live(stage: &Stage) -> Live {
    match find(&stage.dir()).await {
        Found::Live(live) => live,
        other => panic!("{other:?}"),
    }
}

async fn find_end(stage: &Stage) -> Exit {
    match find(&stage.dir()).await {
        Found::Ended(exit) => exit,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_run_continues_when_its_launcher_is_killed() {
    let stage = Stage::new();
    let go = stage.path("go");
    let script =
        format!("echo before; while [ ! -e {} ]; do sleep 0.01; done; echo after; exit 42", go.display());
    let mut child = launcher(&stage, &script);
    child.kill().expect("kill -9");
    child.wait().expect("wait");
    let live = find_live(&stage).await;
    let mut tail = Tail::new(&stage.dir(), View::Exact, Some(live.progress()));
    let first = tail.next().await.expect("read").expect("batch");
    assert_eq!(text_of(Kind::Stdout, &first), "before\n");
    std::fs::write(go, "").expect("go");
    assert_eq!(text_of(Kind::Stdout, &drain(&mut tail).await), "after\n");
    assert_eq!(exit_of(&live).await.code, Some(42));
}

#[tokio::test]
async fn a_run_whose_state_is_damaged_is_found_by_its_keepers_socket() {
    let stage = Stage::new();
    let launched = stage.launch("echo ready; exec sleep 300").await;
    let (agent, state) = (launched.pid(), stage.dir().join("state.json"));
    drop(launched);
    std::fs::write(&state, "{").expect("damage");
    let live = find_live(&stage).await;
    assert!(runs(agent), "looking ends nothing");
    assert_eq!(live.stop(None).await.expect("stop").reason, ExitReason::Stopped);
    assert!(!runs(agent));
    assert_eq!(find_end(&stage).await.reason, ExitReason::Stopped, "the keeper wrote its state again");
}

#[tokio::test]
async fn re_attaching_again_and_again_reads_without_gap_or_repetition() {
    let stage = Stage::new();
    drop(
        stage
            .launch("i=0; while [ $i -lt 300 ]; do echo line $i; sleep 0.002; i=$((i+1)); done; exit 11")
            .await,
    );
    let mut read: Vec<Record> = Vec::new();
    let mut visits = 0;
    let exit = loop {
        let (progress, end) = match find(&stage.dir()).await {
            Found::Live(live) => (Some(live.progress()), None),
            Found::Ended(exit) => (None, Some(exit)),
            other => panic!("{other:?}"),
        };
        visits += 1;
        let mut tail = Tail::new(&stage.dir(), View::Exact, progress);
        let have = read.iter().filter(|record| record.kind.is_output()).count() as u64;
        assert_eq!(tail.skip_outputs(have).await.expect("skip"), have);
        if let Some(exit) = end {
            read.extend(drain(&mut tail).await);
            break exit;
        }
        read.extend(tail.next().await.expect("read").unwrap_or_default());
        read.retain(|record| record.kind.is_output());
    };
    assert!(visits > 2, "{visits} visits prove nothing");
    let wanted: String = (0..300).map(|number| format!("line {number}\n")).collect();
    assert_eq!(text_of(Kind::Stdout, &read), wanted);
    assert_eq!(exit.code, Some(11));
}

#[tokio::test]
async fn an_end_that_nobody_saw_is_found_later() {
    let stage = Stage::new();
    let go = stage.path("go");
    let mut child =
        launcher(&stage, &format!("while [ ! -e {} ]; do sleep 0.01; done; exit 6", go.display()));
    child.kill().expect("kill -9");
    child.wait().expect("wait");
    let keeper = stage.keeper_pid();
    std::fs::write(go, "").expect("go");
    until(|| stage.state()["phase"] == "ended").await;
    let exit = find_end(&stage).await;
    assert_eq!((exit.code, exit.reason), (Some(6), ExitReason::Exited));
    until(|| !exists(keeper)).await;
}

#[tokio::test]
async fn dropping_every_hold_does_not_disturb_a_run() {
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    let pid = live.pid();
    drop(live);
    for _ in 0..20 {
        let again = find_live(&stage).await;
        assert_eq!(again.pid(), pid);
    }
    assert_eq!(find_live(&stage).await.stop(None).await.expect("stop").reason, ExitReason::Stopped);
}

#[tokio::test]
async fn several_may_watch_one_run() {
    let stage = Stage::new();
    let live = stage.launch("echo hello; exec sleep 300").await;
    let other = find_live(&stage).await;
    let mut tail = Tail::new(&stage.dir(), View::Exact, Some(other.progress()));
    assert_eq!(text_of(Kind::Stdout, &tail.next().await.expect("read").expect("batch")), "hello\n");
    let exit = live.stop(None).await.expect("stop");
    assert_eq!(exit_of(&other).await, exit);
}

#[tokio::test]
async fn progress_reaches_its_end_without_the_handle() {
    let stage = Stage::new();
    let progress = stage.launch("sleep 0.1; exit 8").await.progress();
    assert_eq!(exit_in(progress).await.code, Some(8));
}

#[tokio::test]
async fn a_process_with_the_keepers_pid_is_not_the_keeper() {
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    kill(stage.keeper_pid());
    exit_of(&live).await;
    let mut stranger = Command::new("sleep").arg("300").spawn().expect("stranger");
    for who in ["keeper", "agent"] {
        let mut lie = stage.state();
        (lie["phase"], lie["exit"]) = ("live".into(), serde_json::Value::Null);
        lie[who] = serde_json::json!({ "pid": stranger.id(), "start_time": 1 });
        std::fs::write(stage.dir().join("state.json"), lie.to_string()).expect("write");
        end_leftovers(&stage.dir()).await.expect("nothing to end");
        assert_eq!(find_end(&stage).await.reason, ExitReason::Vanished, "{who}");
        assert!(stranger.try_wait().expect("wait").is_none(), "a stranger was hit as {who}");
    }
    stranger.kill().expect("kill");
    stranger.wait().expect("wait");
}

#[tokio::test]
async fn an_end_that_only_the_journal_has_counts() {
    let stage = Stage::new();
    let live = stage.launch("echo hello; exit 9").await;
    exit_of(&live).await;
    let keeper = stage.keeper_pid();
    until(|| !exists(keeper)).await;
    let mut state = stage.state();
    state["phase"] = "live".into();
    state["exit"] = serde_json::Value::Null;
    std::fs::write(stage.dir().join("state.json"), state.to_string()).expect("write");
    let journal = stage.dir().join("journal");
    let whole = std::fs::read(&journal).expect("journal");
    for place in [0, 17] {
        let mut damaged = whole.clone();
        damaged[place] ^= 8;
        std::fs::write(&journal, damaged).expect("damage");
        assert_eq!(find_end(&stage).await.code, Some(9), "damaged at {place}");
    }
}

#[tokio::test]
async fn a_launch_that_failed_early_counts_as_never_launched_for_good() {
    let stage = Stage::new();
    assert!(matches!(find(&stage.dir()).await, Found::NeverLaunched));
    std::fs::create_dir(stage.dir()).expect("dir");
    let spec = serde_json::to_vec(&stage.spec("echo too late > ran")).expect("json");
    std::fs::write(stage.dir().join("spec.json"), spec).expect("spec");
    assert!(matches!(find(&stage.dir()).await, Found::NeverLaunched));
    let late = Command::new(keeper()).arg("keep").arg(stage.dir()).output().expect("keeper");
    assert!(!late.status.success());
    assert!(matches!(find(&stage.dir()).await, Found::NeverLaunched));
    assert!(!stage.path("ran").exists());
}

#[tokio::test]
async fn ending_leftovers_ends_a_keeper_too() {
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    let keeper = stage.keeper_pid();
    end_leftovers(&stage.path("another")).await.expect("nothing there");
    assert!(exists(live.pid()));
    end_leftovers(&stage.dir()).await.expect("end");
    assert!(!exists(live.pid()));
    until(|| !exists(keeper)).await;
    assert_eq!(exit_of(&live).await.reason, ExitReason::Stopped);
}

#[tokio::test]
async fn a_keeper_whose_directory_was_removed_still_exits() {
    let stage = Stage::new();
    let live = stage.launch("exec sleep 300").await;
    let (keeper, agent) = (stage.keeper_pid(), live.pid());
    std::fs::remove_dir_all(stage.dir()).expect("remove");
    let exit = live.stop(None).await.expect("stop");
    assert_eq!(exit.reason, ExitReason::Stopped);
    until(|| !exists(keeper) && !exists(agent)).await;
}
