//! Reads token use from what agents write: the log of a worker, and the transcripts that agent programs keep.
//!
//! Owns the dialects, and reading on from the last position. Invariants: a line has the same key whenever it is read,
//! so a file that is read again counts nothing twice; half a line is left for the next time; missing facts are not
//! guessed.

mod claude;
mod codex;
mod event;
mod opencode;
pub mod tail;
pub mod transcript;

use forge_types::{Executor, Millis, ModelUsage, Usage};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// What an agent used at one time.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Identifies the call.
    pub key: String,
    /// The conversation it belongs to.
    pub session: String,
    /// Empty when the line does not name it.
    pub model: String,
    pub usage: Usage,
    pub at: Option<Millis>,
    pub latency_ms: Option<i64>,
    pub bead: Option<String>,
    /// Whose dialect it is.
    pub program: Option<Executor>,
}

/// The token use in a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Figure {
    /// One call. If its key occurs again, the last one counts.
    Call(Call),
    /// The sum of a session since its last sum, by model. It replaces the calls that it sums up.
    Sum(Vec<Call>),
    /// What the session used from its beginning.
    Total(Call),
}

/// A reader of one file, line by line. It is stored with the position up to which the file was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Reader {
    /// The newest time in a line.
    clock: Option<Millis>,
    /// The session of lines that name none.
    session: String,
    model: String,
    /// The last sum of the session.
    summed: ModelUsage,
    /// The duration of the call whose cost comes next.
    latency_ms: Option<i64>,
}

impl Reader {
    pub fn read(&mut self, line: &str) -> Option<Figure> {
        let line = line.trim();
        let fields = match line.starts_with('{') {
            true => serde_json::from_str(line).ok()?,
            false => event::fields(line)?,
        };
        let at = moment(&fields["timestamp"]);
        self.clock = at.or(self.clock);
        let found = match fields["type"].as_str() {
            Some("system" | "assistant" | "result") => claude::read(self, &fields, line),
            Some("thread.started" | "turn.completed" | "session_meta" | "turn_context" | "event_msg") => {
                codex::read(self, &fields)
            }
            Some("step_finish") => opencode::read(&fields),
            _ => event::read(self, &fields, line),
        };
        let clock = self.clock;
        let date = |call: Call| Call { at: call.at.or(clock), ..call };
        found.map(|found| match found {
            Figure::Call(call) => Figure::Call(date(call)),
            Figure::Total(call) => Figure::Total(date(call)),
            Figure::Sum(calls) => Figure::Sum(calls.into_iter().map(date).collect()),
        })
    }

    /// Lines from here on are about this session.
    fn enter(&mut self, session: &str) {
        if self.session != session {
            self.session = session.to_owned();
            self.summed.clear();
        }
    }
}

/// A time as programs write it: RFC 3339, or milliseconds.
fn moment(value: &Value) -> Option<Millis> {
    match value {
        Value::String(text) => text.parse::<jiff::Timestamp>().ok().map(|at| Millis(at.as_millisecond())),
        Value::Number(ms) => ms.as_i64().map(Millis),
        _ => None,
    }
}

/// A key for a line that has no id.
fn digest(line: &str) -> String {
    let digest = Sha256::digest(line.as_bytes());
    digest.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
