//! How attempts landed: separate rows, rows of pull requests, or columns of the attempt, depending on the version.

use std::collections::HashMap;

use forge_types::{Landing, OldMerge, PrInfo, PrStatus};

use super::super::cell::Record;
use super::super::table::Tables;
use super::{born, changed};

/// By attempt.
pub(super) fn landings(tables: &Tables) -> HashMap<String, Vec<OldMerge>> {
    let mut landings: HashMap<String, Vec<OldMerge>> = HashMap::new();
    for record in tables.rows("merges").iter().chain(tables.rows("pull_requests")) {
        let owner = record.key(&["workspace_id", "task_attempt_id"]);
        if let (Some(owner), Some(key), Some(landing)) = (owner, record.key(&["id"]), landing(record)) {
            landings.entry(owner).or_default().push(OldMerge {
                id: record.id(),
                key,
                target_branch: target(record),
                created_at: born(record),
                landing,
            });
        }
    }
    for record in tables.rows("workspaces") {
        let Some(key) = record.key(&["id"]) else { continue };
        if let Some(landing) = landing(record) {
            landings.entry(key.clone()).or_default().push(OldMerge {
                key: format!("attempt:{key}"),
                id: None,
                target_branch: target(record),
                created_at: changed(record),
                landing,
            });
        }
    }
    landings
}

fn target(record: &Record) -> String {
    let columns = ["target_branch_name", "target_branch", "base_branch"];
    record.words(&columns).unwrap_or_else(|| "main".to_owned())
}

fn landing(record: &Record) -> Option<Landing> {
    if let (Some(url), Some(number)) = (record.words(&["pr_url"]), record.number("pr_number")) {
        let status = match record.text(&["pr_status"]).as_deref() {
            Some("open") => PrStatus::Open,
            Some("merged") => PrStatus::Merged,
            Some("closed") => PrStatus::Closed,
            _ => PrStatus::Unknown,
        };
        let merged_at = record.time(&["pr_merged_at", "merged_at"]);
        let merge_commit_sha = record.words(&["pr_merge_commit_sha", "merge_commit_sha"]);
        return Some(Landing::Pull(PrInfo { number, url, status, merged_at, merge_commit_sha }));
    }
    record.words(&["merge_commit"]).map(|merge_commit| Landing::Direct { merge_commit })
}
