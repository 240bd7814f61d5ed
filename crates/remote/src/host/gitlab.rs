//! GitLab: pull requests are merge requests, and a project is one encoded part of the path.

use forge_types::PrStatus;
use reqwest::Url;
use serde_json::{Value, json};

use super::Host;
use crate::pull::{labels, text, time};
use crate::{Issue, NewPullRequest, PullRequest, RemoteError};

fn list(host: &Host, query: &[(&str, &str)]) -> Result<Url, RemoteError> {
    host.url(&["projects", &host.path, "merge_requests"], query)
}

pub(super) fn creation(host: &Host, new: &NewPullRequest<'_>) -> Result<(Url, Value), RemoteError> {
    let body = json!({
        "title": new.title,
        "description": new.body,
        "source_branch": new.head,
        "target_branch": new.base,
    });
    Ok((list(host, &[])?, body))
}

pub(super) fn from_branch(host: &Host, branch: &str) -> Result<Url, RemoteError> {
    list(host, &[("state", "all"), ("source_branch", branch), ("per_page", "100")])
}

pub(super) fn latest(host: &Host) -> Result<Url, RemoteError> {
    list(host, &[("state", "all"), ("order_by", "updated_at"), ("sort", "desc"), ("per_page", "100")])
}

pub(super) fn one(host: &Host, kind: &str, number: i64) -> Result<Url, RemoteError> {
    host.url(&["projects", &host.path, kind, &number.to_string()], &[])
}

pub(super) fn pull(value: &Value) -> Option<PullRequest> {
    let status = match value["state"].as_str() {
        Some("opened" | "locked") => PrStatus::Open,
        Some("merged") => PrStatus::Merged,
        Some("closed") => PrStatus::Closed,
        _ => PrStatus::Unknown,
    };
    // A fast-forward makes no commit: then the head is what landed.
    let keys = ["merge_commit_sha", "squash_commit_sha", "sha"];
    let commit = keys.iter().find_map(|key| value[*key].as_str()).filter(|_| status == PrStatus::Merged);
    Some(PullRequest {
        number: value["iid"].as_i64()?,
        url: text(&value["web_url"]),
        status,
        head: text(&value["source_branch"]),
        base: text(&value["target_branch"]),
        merged_at: time(&value["merged_at"]),
        merge_commit: commit.map(str::to_owned),
        updated_at: time(&value["updated_at"]),
    })
}

pub(super) fn issue(value: &Value) -> Option<Issue> {
    Some(Issue {
        number: value["iid"].as_i64()?,
        title: text(&value["title"]),
        body: text(&value["description"]),
        url: text(&value["web_url"]),
        labels: labels(&value["labels"]),
    })
}
