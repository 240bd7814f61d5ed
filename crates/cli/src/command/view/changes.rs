//! The files of an attempt as they change.
//!
//! Invariant: a file is told when its figures are others than were told before, also over a reconnection; at the end
//! everything that the attempt changed has been told.

use std::collections::HashMap;

use anyhow::Result;
use serde_json::{Value, json};

use super::reader::Life;
use crate::client::Client;
use crate::command::diff::{self, Figures};
use crate::process::Process;
use crate::reference::Attempt;
use crate::terminal;
use crate::watch::{Feed, Step};

/// Tells changes until the attempt ends; answers the run that counts.
pub async fn follow(client: &Client, attempt: &Attempt, json: bool) -> Result<Option<Process>> {
    let mut told = Told { json, files: HashMap::new() };
    let path = format!("/api/task-attempts/{}/diff?stats_only=true", attempt.id);
    let mut feed = Feed::without_pages(client, path);
    let mut ended = std::pin::pin!(end_of(client, &attempt.id));
    loop {
        tokio::select! {
            step = feed.next() => match step? {
                Step::Changes(changes) => changes.iter().try_for_each(|change| told.take(change))?,
                Step::Lost => eprintln!("forge: the server went away; waiting for it"),
                Step::Back => eprintln!("forge: the server is back"),
                // What has landed changes no more.
                Step::Finished => return ended.await,
            },
            last = &mut ended => {
                let last = last?;
                for file in diff::figures(client, &attempt.id).await?.files {
                    told.put(file)?;
                }
                return Ok(last);
            }
        }
    }
}

async fn end_of(client: &Client, attempt: &str) -> Result<Option<Process>> {
    let mut life = Life::of(client, attempt);
    loop {
        let runs = Process::list(client, attempt).await?;
        if !life.goes_on(&runs).await? {
            return Ok(runs.into_iter().rfind(Process::is_agent));
        }
    }
}

struct Told {
    json: bool,
    files: HashMap<String, Figures>,
}

impl Told {
    fn take(&mut self, change: &Value) -> Result<()> {
        let diff = &change["value"]["content"];
        if diff.is_null() {
            let key =
                change["path"].as_str().and_then(|path| path.strip_prefix("/entries/")).unwrap_or_default();
            return self.remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        let path = diff["newPath"].as_str().or(diff["oldPath"].as_str()).unwrap_or_default().to_owned();
        self.put(Figures {
            path,
            additions: diff["additions"].as_u64(),
            deletions: diff["deletions"].as_u64(),
        })
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
