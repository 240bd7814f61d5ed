//! The log and the changes of the selected attempt.
//!
//! Invariant: one attempt at a time; selecting another ends the streams of the first. Moving past a row opens none.

use std::time::Duration;

use forge_client::{Client, Error, Feed, Step};
use forge_types::wire::{ChangedFile, DiffEntry, ExecutionProcess, PatchOp};
use forge_types::{AttemptId, NormalizedEntry, RunId, RunReason};
use tokio::sync::{mpsc, watch};

use super::load::readable;
use crate::message::{LogNews, Message};

/// A selection must last this long before its streams open.
const GLANCE: Duration = Duration::from_millis(100);
/// Number of latest runs whose logs are read; `forge view` shows all of them.
const RECENT: usize = 8;
const PAUSE: Duration = Duration::from_secs(1);

pub async fn follow(
    api: Client,
    mut wanted: watch::Receiver<Option<AttemptId>>,
    messages: mpsc::Sender<Message>,
) {
    loop {
        let attempt = *wanted.borrow_and_update();
        let shown = async {
            if let Some(attempt) = attempt {
                tokio::time::sleep(GLANCE).await;
                let follower = Follower { api: &api, attempt, messages: &messages };
                tokio::join!(follower.log(), follower.changes());
            }
            // Nothing more comes; what is wanted next decides.
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = shown => {}
            changed = wanted.changed() => if changed.is_err() {
                return;
            },
        }
    }
}

struct Follower<'a> {
    api: &'a Client,
    attempt: AttemptId,
    messages: &'a mpsc::Sender<Message>,
}

impl Follower<'_> {
    async fn say(&self, news: LogNews) {
        // The loop that would hear it has ended.
        let _ = self.messages.send(Message::Log(self.attempt, news)).await;
    }

    /// From the beginning, and again when the server was away at first.
    async fn log(&self) {
        loop {
            match self.runs().await {
                Ok(()) => return self.say(LogNews::Ended).await,
                Err(error) if error.kind.is_away() => tokio::time::sleep(PAUSE).await,
                Err(error) => return self.say(LogNews::Failed(error)).await,
            }
        }
    }

    async fn runs(&self) -> Result<(), Error> {
        let path = format!("/api/execution-processes?task_attempt_id={}", self.attempt);
        let mut runs: Vec<ExecutionProcess> = readable(self.api.get(&path).await?).0;
        runs.retain(|run| run.run_reason == RunReason::CodingAgent);
        let recent = runs.split_off(runs.len().saturating_sub(RECENT));
        self.say(LogNews::Begun(recent.last().map(|run| run.id))).await;
        for (turn, run) in recent.iter().enumerate() {
            self.run(turn, run.id).await?;
        }
        Ok(())
    }

    /// One run, to its end.
    async fn run(&self, turn: usize, run: RunId) -> Result<(), Error> {
        let mut feed = Feed::new(self.api, format!("/api/execution-processes/{run}/normalized-logs"));
        loop {
            match feed.next().await? {
                Step::Changes(changes) => {
                    let entries = changes.iter().filter_map(|change| entry(turn, change)).collect();
                    self.say(LogNews::Entries(entries)).await;
                }
                Step::Lost | Step::Back => {}
                Step::Finished => return Ok(()),
            }
        }
    }

    /// Attempts without a worktree have no changes.
    async fn changes(&self) {
        let path = format!("/api/task-attempts/{}/diff?stats_only=true", self.attempt);
        let mut feed = Feed::without_pages(self.api, path);
        loop {
            match feed.next().await {
                Ok(Step::Changes(changes)) => {
                    self.say(LogNews::Changes(changes.iter().filter_map(file).collect())).await;
                }
                Ok(Step::Lost | Step::Back) => {}
                Ok(Step::Finished) | Err(_) => return,
            }
        }
    }
}

/// The place of an entry, and what is there now.
fn entry(turn: usize, change: &PatchOp) -> Option<((usize, usize), Option<NormalizedEntry>)> {
    let index = change.path.strip_prefix("/entries/")?.parse().ok()?;
    Some(((turn, index), change.content().map(NormalizedEntry::read)))
}

/// The path of a file, and how much of it is changed now.
fn file(change: &PatchOp) -> Option<(String, Option<ChangedFile>)> {
    let path = change.path.strip_prefix("/entries/")?.replace("~1", "/").replace("~0", "~");
    Some((path, change.read().map(|DiffEntry::Diff(diff)| ChangedFile::from(&diff))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_types::EntryType;
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    fn op(op: Value) -> PatchOp {
        serde_json::from_value(op).expect("a change")
    }

    fn added(content: Value) -> PatchOp {
        op(
            json!({"op": "add", "path": "/entries/3", "value": {"type": "NORMALIZED_ENTRY", "content": content}}),
        )
    }

    #[test]
    fn entries_of_every_kind_are_shown_at_their_place() {
        let content = |kind: &str| json!({"timestamp": null, "entry_type": {"type": kind}, "content": "hello", "metadata": null});
        let read = |kind: &str| {
            let (place, entry) = entry(1, &added(content(kind))).expect("an entry");
            assert_eq!(place, (1, 3));
            entry.map(|entry| (entry.entry_type, entry.content))
        };
        assert_eq!(read("thinking"), Some((EntryType::Thinking, "hello".to_owned())));
        let unknown = Some((EntryType::SystemMessage, "hello".to_owned()));
        assert_eq!(read("of_tomorrow"), unknown, "what a newer server sends is still a text");
        let gone = op(json!({"op": "remove", "path": "/entries/3"}));
        assert_eq!(entry(0, &gone), Some(((0, 3), None)));
        assert_eq!(entry(0, &op(json!({"op": "add", "path": "/elsewhere/1", "value": {}}))), None);
    }

    #[test]
    fn a_file_has_its_figures_until_it_is_as_before() {
        let diff = json!({"change": "modified", "oldPath": "a/b.rs", "newPath": "a/b.rs", "oldContent": null,
            "newContent": null, "contentOmitted": true, "additions": 2, "deletions": 1});
        let value = json!({"type": "DIFF", "content": diff});
        let (path, now) =
            file(&op(json!({"op": "add", "path": "/entries/a~1b.rs", "value": value}))).unwrap();
        let figures = now.map(|file| (file.path, file.additions, file.deletions));
        assert_eq!((path.as_str(), figures), ("a/b.rs", Some(("a/b.rs".to_owned(), Some(2), Some(1)))));
        let gone = file(&op(json!({"op": "remove", "path": "/entries/a~1b.rs"})));
        assert_eq!(gone, Some(("a/b.rs".to_owned(), None)));
    }
}
