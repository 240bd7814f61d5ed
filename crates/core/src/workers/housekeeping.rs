//! What workers leave behind: status files, logs and rows, for as long as the user wants to keep them.
//!
//! Invariants: nothing of a worker that Forge keeps is touched; what a file said is written down before it goes; files
//! are found by the ids of rows or among status files, never by looking what else lies there.

use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_fleet::status_file::{self, Aged};
use forge_types::{Millis, Worker, WorkerPhase};
use serde_json::json;

use crate::{Error, Forge, Result};

/// All logs of workers that have ended; the oldest go first.
const LOGS_MAX: u64 = 1 << 30;
/// The record of removed files; one more of this size is kept.
const RECORD: &str = "removed.jsonl";
const RECORD_MAX: u64 = 1 << 20;

impl Forge {
    /// Removes what workers that ended long ago left behind.
    pub(crate) async fn tidy_workers(&self) -> Result<()> {
        let days = u64::from(self.settings().fleet.status_keep_days);
        let (age, now) = (Duration::from_secs(days * 86_400), Millis::now());
        let (kept, ended): (Vec<Worker>, Vec<Worker>) =
            self.0.store.workers().await?.into_iter().partition(|worker| worker.phase.is_kept());
        let kept: HashSet<String> = kept.into_iter().map(|worker| worker.id.to_string()).collect();
        let dir = self.fleet().status_dir.clone();
        let logs_dir = self.fleet().logs_dir.clone();
        let over: Vec<String> = ended.iter().map(|worker| worker.id.to_string()).collect();
        let tidy = move || {
            let mut logs: Vec<PathBuf> = over.iter().flat_map(|id| logs_of(&logs_dir, id)).collect();
            // A worker that lives has logs of former lives, too.
            let former = kept.iter().flat_map(|id| logs_of(&logs_dir, id));
            logs.extend(former.filter(|log| log.extension().is_none_or(|end| end != "log")));
            trim_logs(&logs, LOGS_MAX);
            remove_files(&dir, &kept, age, now)
        };
        let removed = tokio::task::spawn_blocking(tidy).await;
        let removed = removed.map_err(|cause| Error::internal("old files cannot be removed", cause))?;
        for worker in removed.map_err(|cause| Error::internal("old status files cannot be removed", cause))? {
            tracing::info!(worker, "the status file of a worker that ended long ago was removed");
        }
        let limit = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        for worker in ended.into_iter().filter(|worker| now.0 - worker.updated_at.0 > limit) {
            if self.is_forgettable(&worker).await? {
                let (dir, id) = (self.fleet().logs_dir.clone(), worker.id.to_string());
                let remove = move || logs_of(&dir, &id).into_iter().try_for_each(fs::remove_file);
                let _ = tokio::task::spawn_blocking(remove).await;
                self.delete_worker(&worker.id).await?;
                tracing::info!(worker = %worker.id, "a worker that ended long ago was forgotten");
            }
        }
        Ok(())
    }

    /// A failure that nobody has seen, and work that is not settled, are waited for.
    async fn is_forgettable(&self, worker: &Worker) -> Result<bool> {
        let alerts = self.0.store.open_alerts().await?;
        let is_unseen =
            alerts.iter().any(|alert| alert.subject == worker.id.as_str() && alert.acknowledged_at.is_none());
        let is_failed = worker.phase == WorkerPhase::Failed;
        Ok(worker.bead.is_none()
            && !(is_failed && is_unseen)
            && self.0.store.leases_of(&worker.id).await?.is_empty())
    }
}

/// Removes the status files of workers that ended long ago, and returns whose.
fn remove_files(dir: &Path, kept: &HashSet<String>, age: Duration, now: Millis) -> io::Result<Vec<String>> {
    if !dir.is_dir() {
        return Ok(Vec::new());
    }
    let mut aged = status_file::aged(dir, age, now)?;
    aged.retain(|Aged(file)| !kept.contains(&file.worker_id));
    if aged.is_empty() {
        return Ok(Vec::new());
    }
    note(dir, &aged, now)?;
    Ok(status_file::remove(aged).into_iter().map(|Aged(file)| file.worker_id).collect())
}

fn note(dir: &Path, aged: &[Aged], now: Millis) -> io::Result<()> {
    let path = dir.join(RECORD);
    if fs::metadata(&path).is_ok_and(|record| record.len() > RECORD_MAX) {
        fs::rename(&path, dir.join(format!("{RECORD}.1")))?;
    }
    let mut record = forge_os::file::open_end(dir, &path)?;
    for Aged(file) in aged {
        let line = json!({"removed_at": now, "worker_id": file.worker_id, "said": file.fields});
        writeln!(record, "{line}")?;
    }
    record.sync_all()
}

/// The log of a worker, and those of its former lives, which have a number at the end.
fn logs_of(dir: &Path, id: &str) -> Vec<PathBuf> {
    let (log, former) = (format!("{id}.log"), format!("{id}.log."));
    let is_its = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == log || name.starts_with(&former)
    };
    let found = fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    found.filter(is_its).collect()
}

/// Keeps the newest logs that fit.
fn trim_logs(logs: &[PathBuf], most: u64) {
    let about = |path: &PathBuf| {
        let about = fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len(), path.clone()))
    };
    let mut found: Vec<_> = logs.iter().filter_map(about).collect();
    found.sort_by_key(|(written_at, ..)| std::cmp::Reverse(*written_at));
    let mut total = 0_u64;
    for (_, size, path) in found {
        total = total.saturating_add(size);
        if total > most
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(%error, log = %path.display(), "an old log cannot be removed");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_ended_go_with_a_record_and_those_of_the_kept_stay() {
        let dir = tempfile::tempdir().unwrap();
        let write = |id: &str, status: &str, at: &str| {
            let body = json!({"worker_id": id, "status": status, "last_update": at, "tasks_completed": 3});
            fs::write(dir.path().join(format!("{id}.json")), body.to_string()).unwrap();
        };
        write("old", "stopped", "2026-01-01T00:00:00Z");
        write("kept", "failed", "2026-01-01T00:00:00Z");
        write("busy", "active", "2026-01-01T00:00:00Z");
        write("new", "stopped", "2026-01-09T00:00:00Z");
        let now = Millis(jiff::civil::date(2026, 1, 10).in_tz("UTC").unwrap().timestamp().as_millisecond());
        let week = Duration::from_secs(7 * 86_400);
        let gone = remove_files(dir.path(), &HashSet::from(["kept".to_owned()]), week, now).unwrap();
        assert_eq!(gone, ["old"]);
        let left = |id: &str| dir.path().join(format!("{id}.json")).exists();
        assert!(!left("old") && left("kept") && left("busy") && left("new"));
        let record = fs::read_to_string(dir.path().join(RECORD)).unwrap();
        assert!(
            record.contains(r#""worker_id":"old""#) && record.contains(r#""tasks_completed":3"#),
            "{record}"
        );
    }

    #[test]
    fn a_worker_has_the_logs_of_its_former_lives_and_no_other_ones() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.log", "a.log.17", "ab.log", "a.logs", "b.log.17"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        let mut found = logs_of(dir.path(), "a");
        found.sort();
        assert_eq!(found, ["a.log", "a.log.17"].map(|name| dir.path().join(name)));
    }

    #[test]
    fn the_newest_logs_that_fit_are_kept() {
        let dir = tempfile::tempdir().unwrap();
        let logs: Vec<PathBuf> = ["a", "b", "c"].map(|name| dir.path().join(name)).to_vec();
        for (age, log) in logs.iter().enumerate() {
            fs::write(log, [0; 10]).unwrap();
            let then = std::time::SystemTime::now() - Duration::from_secs(60 * age as u64);
            fs::File::options().write(true).open(log).unwrap().set_modified(then).unwrap();
        }
        trim_logs(&logs, 25);
        assert_eq!(logs.iter().map(|log| log.exists()).collect::<Vec<_>>(), [true, true, false]);
    }
}
