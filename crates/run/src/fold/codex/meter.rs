//! The usage that Codex reports.
//!
//! Owns the totals of each thread: the agent's own and those of its sub-agents. Invariant: a thread that continues
//! an earlier one starts with the totals of that one, which do not count here. Everything reported before the first
//! turn is such a total; otherwise the first report counts by its last call, and every later one by what was added
//! since.

use std::collections::VecDeque;

use forge_types::Usage;
use serde_json::Value;

use super::super::RunOutcome;

const MAX_THREADS: usize = 64;

#[derive(Default)]
pub(super) struct Meter(VecDeque<Thread>);

struct Thread {
    id: String,
    model: String,
    /// Whether one of its turns has begun in this run.
    began: bool,
    /// The total before the run; `None` until the first report.
    before: Option<Usage>,
    counted: Usage,
}

impl Meter {
    pub fn introduce(&mut self, thread: &str, model: &str) {
        if let Some(thread) = self.0.iter_mut().find(|known| known.id == thread) {
            thread.model = model.to_owned();
            return;
        }
        if self.0.len() == MAX_THREADS {
            // The oldest sub-agent is dropped; the agent's own thread comes first and stays.
            self.0.remove(1);
        }
        let (id, model) = (thread.to_owned(), model.to_owned());
        self.0.push_back(Thread { id, model, began: false, before: None, counted: Usage::default() });
    }

    /// A turn of the thread has begun.
    pub fn begin(&mut self, thread: &str) {
        if let Some(thread) = self.thread(thread) {
            thread.began = true;
        }
    }

    /// The thread with that name; an unknown one uses the agent's own model.
    fn thread(&mut self, name: &str) -> Option<&mut Thread> {
        if !self.0.iter().any(|known| known.id == name) {
            let model = self.0.front().map(|own| own.model.clone()).unwrap_or_default();
            self.introduce(name, &model);
        }
        self.0.iter_mut().find(|known| known.id == name)
    }

    /// Reads a report of a thread's usage.
    pub fn read(&mut self, thread: &str, report: &Value, outcome: &mut RunOutcome) {
        let Some(thread) = self.thread(thread) else { return };
        let total = usage(&report["total"]);
        if !thread.began {
            thread.before = Some(total);
            return;
        }
        let before = *thread.before.get_or_insert_with(|| total.since(usage(&report["last"])));
        let used = total.since(before);
        outcome.spend(&thread.model, used.since(thread.counted));
        thread.counted = used;
    }
}

fn usage(counts: &Value) -> Usage {
    let count = |key: &str| counts[key].as_i64().unwrap_or(0).max(0);
    let (read, written) = (count("cachedInputTokens"), count("cacheWriteInputTokens"));
    Usage {
        input_tokens: count("inputTokens").saturating_sub(read).saturating_sub(written).max(0),
        output_tokens: count("outputTokens"),
        cache_read_tokens: read,
        cache_write_tokens: written,
        reasoning_tokens: count("reasoningOutputTokens"),
        cost_microusd: None,
    }
}
