//! What was said and done in an attempt, as text to be read.
//!
//! Invariant: bounded; when there is too much, the oldest goes first. A run that still works is shown as far as it is, and
//! a run that has not begun is named only.

use std::time::Duration;

use forge_store::Dropped;
use forge_types::{AttemptId, Run, RunPhase, RunReason, RunStatus};

use crate::{Error, Forge, Result};

/// A journal that is there is read in less.
const READ_LIMIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub text: String,
    /// Something older was left out.
    pub truncated: bool,
}

impl Forge {
    /// The transcripts of an attempt's runs, oldest first, of all that the last `max_bytes` or somewhat less.
    pub async fn transcript(&self, id: AttemptId, max_bytes: usize) -> Result<Transcript> {
        self.attempt(id).await?;
        let runs = self.0.store.runs(id, Dropped::Hidden).await?;
        let mut parts = Vec::new();
        let mut room = max_bytes;
        let mut truncated = false;
        for run in runs.iter().rev() {
            let text = self.transcript_of(run).await?.unwrap_or_default();
            let part = format!("## {}\n\n{}\n", heading(run), text.trim_end());
            let kept = last_bytes(&part, room);
            truncated |= kept.len() < part.len();
            room -= kept.len();
            parts.push(kept.to_owned());
            if room == 0 || truncated {
                truncated |= parts.len() < runs.len();
                break;
            }
        }
        parts.reverse();
        Ok(Transcript { text: parts.join("\n"), truncated })
    }

    async fn transcript_of(&self, run: &Run) -> Result<Option<String>> {
        match run.phase {
            RunPhase::Queued => Ok(None),
            RunPhase::Parked | RunPhase::Ended => Ok(self.run_output(run).await),
            RunPhase::Live => {
                let now = async { self.entries(run.id).await?.transcript_now().await };
                let late = |_| Error::internal("the run's log cannot be read in time", "time-out");
                tokio::time::timeout(READ_LIMIT, now).await.map_err(late)?
            }
        }
    }
}

fn heading(run: &Run) -> String {
    let what = match run.reason {
        RunReason::SetupScript => "setup script".to_owned(),
        RunReason::CleanupScript => "cleanup script".to_owned(),
        RunReason::DevServer => "dev server".to_owned(),
        RunReason::CodingAgent => run.action.profile().map_or("agent".to_owned(), ToString::to_string),
    };
    let state = match (run.phase, run.status) {
        (RunPhase::Queued, _) => "waits for its turn",
        (RunPhase::Parked, _) => "waits for its provider",
        (_, RunStatus::Running) => "running",
        (_, status) => status.as_str(),
    };
    format!("{what} ({state}, since {})", run.started_at)
}

/// The end of `text`, at most `max_bytes` of it, from the beginning of a line where there is one.
fn last_bytes(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let tail = &text[text.ceil_char_boundary(text.len() - max_bytes)..];
    tail.find('\n').map_or(tail, |at| &tail[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::last_bytes;

    #[test]
    fn the_end_of_a_text_begins_with_a_whole_line() {
        assert_eq!(last_bytes("one\ntwo\n", 8), "one\ntwo\n");
        assert_eq!(last_bytes("one\ntwo\n", 6), "two\n");
        assert_eq!(last_bytes("äöü", 3), "ü");
    }
}
