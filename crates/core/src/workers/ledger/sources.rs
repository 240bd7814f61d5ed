//! The files that say what a worker used, and how far each was read.
//!
//! Invariant: a transcript is a worker's only if the conversation began in its life, in its folder, and is counted nowhere else.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use forge_fleet::ledger::tail::{self, Identity, Place};
use forge_fleet::ledger::transcript::{self, Transcript};
use forge_store::{CallSource, LogPlace};
use forge_types::{Millis, Worker};
use serde::Deserialize;

use crate::{Error, Forge, Result};

/// A file that says what a worker used.
pub(super) struct Source {
    pub path: PathBuf,
    pub identity: Identity,
    pub kind: CallSource,
    pub place: Place,
}

impl Source {
    /// The place as it is stored.
    pub fn stored(&self, worker: &Worker) -> Result<LogPlace> {
        let body = serde_json::to_string(&self.place);
        let body = body.map_err(|cause| Error::internal("a place in a log cannot be written", cause))?;
        let Identity { device, inode } = self.identity;
        Ok(LogPlace { device, inode, worker: worker.id.clone(), path: self.path.clone(), body })
    }
}

impl Forge {
    /// The worker's log, and those that it was before it was moved aside.
    pub(super) async fn logs_of(&self, worker: &Worker) -> Result<Vec<Source>> {
        let (dir, log) = (self.fleet().logs_dir.clone(), self.fleet().log_of(&worker.id));
        let older = format!("{}.log.", worker.id);
        let found = blocking(move || {
            let mut found = Vec::new();
            for path in list(&dir)? {
                let is_log = path == log;
                let is_older =
                    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&older));
                if (is_log || is_older)
                    && let Some(identity) = tail::identify(&path)?
                {
                    found.push((is_log, path, identity));
                }
            }
            // Older ones first.
            found.sort_by_key(|(is_log, ..)| *is_log);
            Ok(found)
        });
        let found = found.await?;
        let places = self.0.store.log_places(&worker.id).await?;
        let mut sources = Vec::new();
        for (is_log, path, identity) in found {
            let place = place_of(&places, identity);
            if is_log || place.is_some() {
                let (kind, place) = (CallSource::Log, place.unwrap_or_default());
                sources.push(Source { path, identity, kind, place });
            }
        }
        Ok(sources)
    }

    /// Conversations of the worker's agent that are counted nowhere else.
    pub(super) async fn transcripts_of(&self, worker: &Worker) -> Result<Vec<Source>> {
        let Some(since) = worker.started_at else { return Ok(Vec::new()) };
        let until = if worker.phase.is_kept() { Millis::now() } else { worker.updated_at };
        let env = worker.config.get("env").and_then(|env| BTreeMap::deserialize(env).ok());
        let (workspace, env) = (worker.workspace.clone(), env.unwrap_or_default());
        let places = self.0.store.log_places(&worker.id).await?;
        // One that was begun before a restart may go on after it.
        let known: Vec<PathBuf> = places.iter().map(|place| place.path.clone()).collect();
        let found = blocking(move || {
            let mut found = Vec::new();
            for transcript in transcript::find(&workspace, &env, since, &known) {
                found.extend(tail::identify(&transcript.path)?.map(|identity| (transcript, identity)));
            }
            Ok(found)
        });
        let mut sources = Vec::new();
        for (Transcript { path, session, began_at }, identity) in found.await? {
            let owner = self.0.store.log_owner(identity.device, identity.inode).await?;
            let is_ours = owner.as_ref().map_or(began_at <= until, |owner| *owner == worker.id);
            if !is_ours || self.0.store.is_counted_elsewhere(&session).await? {
                continue;
            }
            let (kind, place) = (CallSource::Transcript, place_of(&places, identity).unwrap_or_default());
            sources.push(Source { path, identity, kind, place });
        }
        Ok(sources)
    }
}

/// How far a file was read. A place that cannot be understood is the beginning, from where nothing counts twice.
fn place_of(places: &[LogPlace], identity: Identity) -> Option<Place> {
    let of_file = |place: &&LogPlace| (place.device, place.inode) == (identity.device, identity.inode);
    places.iter().find(of_file).map(|place| serde_json::from_str(&place.body).unwrap_or_default())
}

fn list(dir: &Path) -> io::Result<Vec<PathBuf>> {
    match std::fs::read_dir(dir) {
        Ok(entries) => entries.map(|entry| Ok(entry?.path())).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

pub(super) async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T> {
    const WHAT: &str = "what a worker wrote cannot be read";
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|cause| Error::internal(WHAT, cause))?.map_err(|cause| Error::internal(WHAT, cause))
}
