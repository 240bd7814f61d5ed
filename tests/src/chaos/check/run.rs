//! One run: its log, byte for byte, and its exit code, against what its agent wrote down.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use serde_json::Value;

use crate::chaos::table::Promise;
use crate::chaos::witness::{LONGEST_WRITE, Witness};
use crate::chaos::world::Stage;
use crate::{PATIENCE, text};

/// A run as it is reported.
pub struct Row {
    pub id: String,
    pub attempt: String,
    pub status: String,
    pub exit_code: Option<i64>,
    pub prompt: String,
}

impl Row {
    pub fn of(attempt: &str, run: &Value) -> Row {
        Row {
            id: text(&run["id"]),
            attempt: attempt.to_owned(),
            status: text(&run["status"]),
            exit_code: run["exit_code"].as_i64(),
            prompt: text(&run["executor_action"]["typ"]["prompt"]),
        }
    }
}

/// What can be asked of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// Nobody was killed: every byte.
    Whole,
    /// The agent was killed or stopped: every byte that got into the pipe.
    UpToTheEnd,
    /// The keeper was killed: a beginning.
    Beginning,
}

/// What a run wrote, as it is reported.
#[derive(Default)]
struct Log {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

pub async fn compare(stage: &Stage<'_>, row: &Row) {
    let server = stage.server;
    let witness = Witness::of(&stage.root, &row.id);
    let (claim, stopped) = {
        let mut ledger = stage.ledger();
        let stopped = ledger.of(&row.attempt).is_none_or(|known| known.stopped);
        let claim = if ledger.killed_keepers.contains(&row.id) {
            Claim::Beginning
        } else if ledger.killed_agents.contains(&row.id) || row.status == "killed" {
            Claim::UpToTheEnd
        } else {
            Claim::Whole
        };
        (claim, stopped)
    };
    if row.status == "killed" && !stopped {
        server.broke(Promise::Wrong, format!("run {} is stopped, and nobody asked for that", row.id));
    }
    let Some(log) = read(stage, &row.id).await else {
        return server.broke(Promise::Stuck, format!("the log of run {} has no end", row.id));
    };
    server.tally().runs += 1;
    if !witness.has_begun() {
        if claim == Claim::Whole {
            let words = String::from_utf8_lossy(&log.stderr).into_owned();
            server
                .broke(Promise::Wrong, format!("run {} is {} and never began: {words}", row.id, row.status));
        }
        return;
    }
    exits(stage, row, &witness, claim);
    for (name, reported) in [("stdout", &log.stdout), ("stderr", &log.stderr)] {
        let copy = witness.bytes(name);
        server.tally().bytes += reported.len();
        let missing = copy.len().checked_sub(reported.len()).filter(|_| copy.starts_with(reported));
        let holds = match claim {
            Claim::Whole => missing == Some(0),
            Claim::UpToTheEnd => missing.is_some_and(|missing| missing <= LONGEST_WRITE),
            Claim::Beginning => missing.is_some(),
        };
        if !holds {
            let (reported, written) = (reported.len(), copy.len());
            let what = format!(
                "{name} of run {} ({}): {reported} bytes reported, {written} written",
                row.id, row.status
            );
            server.broke(Promise::Lost, format!("{what}; {claim:?} was promised"));
        }
    }
    decided(stage, row, &log);
}

fn exits(stage: &Stage<'_>, row: &Row, witness: &Witness, claim: Claim) {
    let exit = witness.exit();
    let holds = match (claim, row.status.as_str()) {
        (_, "killed") => row.exit_code.is_none(),
        (Claim::Whole, _) => row.exit_code.is_some() && row.exit_code == exit,
        (Claim::UpToTheEnd, _) => row.exit_code == Some(-1) || row.exit_code == exit,
        (Claim::Beginning, _) => row.exit_code.is_none_or(|code| code == -1 || Some(code) == exit),
    };
    let fits = row.status != "completed" || row.exit_code == Some(0);
    if !holds || !fits {
        let (status, code) = (&row.status, row.exit_code);
        let what = format!("run {} is {status} with {code:?}; its agent says {exit:?}", row.id);
        stage.server.broke(Promise::Wrong, what);
    }
}

/// An agent that asked and came to its end got the decision.
fn decided(stage: &Stage<'_>, row: &Row, log: &Log) {
    let Some(approved) = stage.ledger().decisions.get(&row.id).copied() else { return };
    let word = if approved { "allow" } else { "deny" };
    let said = String::from_utf8_lossy(&log.stdout).replace('\\', "");
    let reported = said.matches("was told").count();
    let right = said.contains(&format!(r#"was told {{"behavior":"{word}""#));
    if row.status == "completed" && (reported != 1 || !right) {
        let what = format!("run {} was to get {word}; it says so {reported} times, or otherwise", row.id);
        stage.server.broke(Promise::Wrong, what);
    }
}

/// How Forge begins what it says itself in the log of a run whose keeper was killed.
const REMARKS: [&str; 2] = ["The process that kept this run's log", "This run no longer has a keeper"];

/// The whole log, page by page, without what Forge remarks itself; `None` when it does not end.
async fn read(stage: &Stage<'_>, run: &str) -> Option<Log> {
    let (mut log, mut after, begun) = (Log::default(), 0, Instant::now());
    while begun.elapsed() < PATIENCE {
        let path = format!("/api/execution-processes/{run}/raw-logs?after={after}");
        let page = stage.server.read(&path).await?;
        for frame in page["frames"].as_array().into_iter().flatten() {
            after = frame["seq"].as_i64().unwrap_or(after);
            for op in frame["JsonPatch"].as_array().into_iter().flatten() {
                let (kind, content) = (&op["value"]["type"], text(&op["value"]["content"]));
                let exact = op["value"]["bytes"].as_str().and_then(|bytes| BASE64.decode(bytes).ok());
                let bytes = exact.unwrap_or_else(|| content.clone().into_bytes());
                match kind.as_str() {
                    _ if REMARKS.iter().any(|remark| content.starts_with(remark)) => {}
                    Some("STDOUT") => log.stdout.extend(bytes),
                    _ => log.stderr.extend(bytes),
                }
            }
        }
        if page["finished"] == true {
            return Some(log);
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    None
}
