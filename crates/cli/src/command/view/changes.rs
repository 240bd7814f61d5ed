//! The files of an attempt as they change.
//!
//! Invariant: a file is printed whenever its figures differ from the last ones printed, even across a reconnection; at
//! the end everything that the attempt changed has been printed.

use std::collections::HashMap;

use anyhow::Result;
use forge_types::wire::{ChangedFile, DiffEntry, PatchOp};
use forge_types::{Attempt, AttemptId};
use serde_json::json;

use super::reader::Life;
use crate::client::Client;
use crate::command::diff::{self, Figures};
use crate::process::Process;
use crate::terminal;
use crate::watch::{Feed, Step};

/// Prints changes until the attempt ends; returns the run that counts.
pub async fn follow(client: &Client, attempt: &Attempt, json: bool) -> Result<Option<Process>> {
    let mut printed = Printed { json, files: HashMap::new() };
    let path = format!("/api/task-attempts/{}/diff?stats_only=true", attempt.id);
    let mut feed = Feed::without_pages(client, path);
    let mut ended = std::pin::pin!(end_of(client, attempt.id));
    loop {
        tokio::select! {
            step = feed.next() => match step? {
                Step::Changes(changes) => changes.iter().try_for_each(|change| printed.take(change))?,
                Step::Lost => eprintln!("forge: the server went away; waiting for it"),
                Step::Back => eprintln!("forge: the server is back"),
                // After landing, nothing changes any more.
                Step::Finished => return ended.await,
            },
            last = &mut ended => {
                let last = last?;
                for file in diff::figures(client, attempt.id).await?.files {
                    printed.put(file.into())?;
                }
                return Ok(last);
            }
        }
    }
}

async fn end_of(client: &Client, attempt: AttemptId) -> Result<Option<Process>> {
    let mut life = Life::of(client, attempt);
    loop {
        let runs = Process::list(client, attempt).await?;
        if !life.continues(&runs).await? {
            return Ok(runs.into_iter().rfind(Process::is_agent));
        }
    }
}

/// The last printed figures of each file.
struct Printed {
    json: bool,
    files: HashMap<String, Figures>,
}

impl Printed {
    fn take(&mut self, change: &PatchOp) -> Result<()> {
        match change.read() {
            Some(DiffEntry::Diff(diff)) => self.put(ChangedFile::from(&diff).into()),
            None => {
                let key = change.path.strip_prefix("/entries/").unwrap_or_default();
                self.remove(&key.replace("~1", "/").replace("~0", "~"))
            }
        }
    }

    fn put(&mut self, file: Figures) -> Result<()> {
        if self.files.get(&file.path) == Some(&file) {
            return Ok(());
        }
        match self.json {
            true => {
                let Figures { path, additions, deletions } = &file;
                let line =
                    json!({"type": "file", "path": path, "additions": additions, "deletions": deletions});
                terminal::write(&format!("{line}\n"))?;
            }
            false => diff::print_figures(&file)?,
        }
        self.files.insert(file.path.clone(), file);
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<()> {
        if self.files.remove(path).is_none() {
            return Ok(());
        }
        match self.json {
            true => terminal::write(&format!("{}\n", json!({"type": "unchanged", "path": path}))),
            false => diff::print_unchanged(path),
        }
    }
}
