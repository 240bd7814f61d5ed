//! What every test needs: a run directory, a spec for a script, and ways to check the result.

use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_run::fold::FoldContext;
use forge_run::{Exit, Kind, Live, Progress, Reader, Record, Secrets, Spec, StdinPlan, Tail, View};
use proptest::prelude::*;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tokio::sync::watch;

const PATIENCE: Duration = Duration::from_secs(20);

/// The view of a run's log in tests; its id is fixed, and so are the ids derived from it.
pub fn context(worktree: &Path) -> FoldContext {
    let run = "11111111-2222-4333-8444-555555555555".parse().expect("an id");
    FoldContext { run, worktree: worktree.to_owned(), answer_ms: 3_600_000, secrets: Secrets::default() }
}

/// Any JSON whose keys and texts are these words, so that it gets deep into the code that reads them.
pub fn json_of_words(words: &[&'static str]) -> impl Strategy<Value = Value> + use<> {
    let word = prop::sample::select(words.to_vec()).prop_map(str::to_owned);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(word.clone(), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

pub struct Stage {
    temp: tempfile::TempDir,
}

impl Stage {
    pub fn new() -> Stage {
        Stage { temp: tempfile::tempdir().expect("temp dir") }
    }

    /// The run directory; `launch` makes it.
    pub fn dir(&self) -> PathBuf {
        self.path("run")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// A spec for a script that runs beside the run directory.
    pub fn spec(&self, script: &str) -> Spec {
        Spec {
            program: "/bin/sh".into(),
            args: vec!["-c".into(), script.into()],
            cwd: self.temp.path().to_owned(),
            env: Vec::new(),
            env_remove: Vec::new(),
            stdin: StdinPlan::Closed,
            time_limit_ms: None,
            silence_limit_ms: None,
        }
    }

    pub async fn launch(&self, script: &str) -> Live {
        self.launch_spec(&self.spec(script)).await
    }

    pub async fn launch_spec(&self, spec: &Spec) -> Live {
        forge_run::launch(&keeper(), &self.dir(), spec).await.expect("launch")
    }

    pub fn records(&self) -> Vec<Record> {
        records(&self.dir())
    }

    pub fn state(&self) -> serde_json::Value {
        let text = std::fs::read(self.dir().join("state.json")).expect("state.json");
        serde_json::from_slice(&text).expect("json")
    }

    pub fn keeper_pid(&self) -> u32 {
        self.state()["keeper"]["pid"].as_u64().expect("pid") as u32
    }

    /// Waits until the script has written a pid to this file.
    pub async fn pid_in(&self, name: &str) -> u32 {
        let path = self.path(name);
        let read = || std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        until(|| read().is_some()).await;
        read().expect("pid")
    }
}

/// The example binary of this package, built together with the tests.
pub fn keeper() -> PathBuf {
    let mut path = std::env::current_exe().expect("test binary");
    path.pop();
    path.pop();
    let path = path.join("examples/keep");
    assert!(path.exists(), "{} is missing: cargo build -p forge-run --example keep", path.display());
    path
}

pub fn records(dir: &Path) -> Vec<Record> {
    let mut reader = Reader::open(dir, View::Exact).expect("journal");
    let mut records = Vec::new();
    loop {
        let before = records.len();
        reader.read(1 << 20, &mut records).expect("read");
        if records.len() == before {
            return records;
        }
    }
}

pub fn bytes_of(kind: Kind, records: &[Record]) -> Vec<u8> {
    records.iter().filter(|record| record.kind == kind).flat_map(|record| record.bytes.clone()).collect()
}

pub fn text_of(kind: Kind, records: &[Record]) -> String {
    String::from_utf8(bytes_of(kind, records)).expect("utf-8")
}

pub async fn exit_of(live: &Live) -> Exit {
    exit_in(live.progress()).await
}

pub async fn exit_in(mut progress: watch::Receiver<Progress>) -> Exit {
    let ended =
        tokio::time::timeout(PATIENCE, progress.wait_for(|now| now.exit.is_some())).await.expect("in time");
    ended.expect("progress ends with an exit").exit.clone().expect("exit")
}

/// Everything that a tail returns until it ends.
pub async fn drain(tail: &mut Tail) -> Vec<Record> {
    let mut records = Vec::new();
    while let Some(batch) = tokio::time::timeout(PATIENCE, tail.next()).await.expect("in time").expect("read")
    {
        assert!(!batch.is_empty());
        records.extend(batch);
    }
    records
}

/// Waits, within bounds, until a condition is true.
pub async fn until(mut is_true: impl FnMut() -> bool) {
    let end = tokio::time::Instant::now() + PATIENCE;
    while !is_true() {
        assert!(tokio::time::Instant::now() < end, "did not come true in time");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub fn kill(pid: u32) {
    signal(pid, Signal::KILL);
}

pub fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).expect("pid"), signal).expect("signal");
}

/// Whether such a process can still do anything.
pub fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['Z', 'X']))
}

/// Whether there is such a process; one that is dead but not reaped counts too.
pub fn exists(pid: u32) -> bool {
    let pid = rustix::process::Pid::from_raw(pid as i32).expect("pid");
    rustix::process::test_kill_process(pid).is_ok()
}
