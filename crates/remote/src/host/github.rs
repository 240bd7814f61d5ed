//! GitHub and GitHub Enterprise. Gitea is the same for everything but lists.

use forge_types::PrStatus;
use reqwest::Url;
use serde_json::{Value, json};

use super::Host;
use crate::pull::{labels, text, time};
use crate::{Issue, NewPullRequest, PullRequest, RemoteError};

pub(super) const ACCEPT: &str = "application/vnd.github+json";

pub(super) fn parts<'a>(host: &'a Host, rest: &[&'a str]) -> Vec<&'a str> {
    let mut parts = vec!["repos"];
    parts.extend(host.path.split('/'));
    parts.extend(rest);
    parts
}

pub(super) fn creation(host: &Host, new: &NewPullRequest<'_>) -> Result<(Url, Value), RemoteError> {
    let body = json!({"title": new.title, "body": new.body, "head": new.head, "base": new.base});
    Ok((host.url(&parts(host, &["pulls"]), &[])?, body))
}

pub(super) fn from_branch(host: &Host, branch: &str) -> Result<Url, RemoteError> {
    let owner = host.path.split('/').next().unwrap_or_default();
    let head = format!("{owner}:{branch}");
    host.url(&parts(host, &["pulls"]), &[("state", "all"), ("head", &head), ("per_page", "100")])
}

pub(super) fn latest(host: &Host) -> Result<Url, RemoteError> {
    let query = [("state", "all"), ("sort", "updated"), ("direction", "desc"), ("per_page", "100")];
    host.url(&parts(host, &["pulls"]), &query)
}

pub(super) fn one(host: &Host, kind: &str, number: i64) -> Result<Url, RemoteError> {
    host.url(&parts(host, &[kind, &number.to_string()]), &[])
}

pub(super) fn pull(value: &Value) -> Option<PullRequest> {
    let merged_at = time(&value["merged_at"]);
    let status = match value["state"].as_str() {
        _ if merged_at.is_some() || value["merged"] == true => PrStatus::Merged,
        Some("open") => PrStatus::Open,
        Some("closed") => PrStatus::Closed,
        _ => PrStatus::Unknown,
    };
    // Before the merge this names a trial merge that is on no branch.
    let merge_commit = value["merge_commit_sha"].as_str().filter(|_| status == PrStatus::Merged);
    Some(PullRequest {
        number: value["number"].as_i64()?,
        url: text(&value["html_url"]),
        status,
        head: text(&value["head"]["ref"]),
        base: text(&value["base"]["ref"]),
        merged_at,
        merge_commit: merge_commit.map(str::to_owned),
        updated_at: time(&value["updated_at"]),
    })
}

pub(super) fn issue(value: &Value) -> Option<Issue> {
    Some(Issue {
        number: value["number"].as_i64()?,
        title: text(&value["title"]),
        body: text(&value["body"]),
        url: text(&value["html_url"]),
        labels: labels(&value["labels"]),
    })
}
