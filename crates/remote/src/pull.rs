//! Objects of code hosts, in one form for all of them.

use forge_types::{Millis, PrStatus};
use serde_json::Value;

/// A pull request; GitLab calls it a merge request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    pub number: i64,
    pub url: String,
    pub status: PrStatus,
    pub head: String,
    pub base: String,
    pub merged_at: Option<Millis>,
    pub merge_commit: Option<String>,
    pub updated_at: Option<Millis>,
}

pub struct NewPullRequest<'a> {
    pub title: &'a str,
    pub body: &'a str,
    pub head: &'a str,
    pub base: &'a str,
}

/// The most recently changed pull requests of a repository.
#[derive(Debug)]
pub enum Listing {
    /// Nothing changed since the listing with this tag.
    Unchanged,
    Changed {
        pulls: Vec<PullRequest>,
        etag: Option<String>,
        /// Older pull requests exist that are not in the list.
        cut: bool,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    pub number: i64,
    pub title: String,
    pub body: String,
    pub url: String,
    pub labels: Vec<String>,
}

/// The time in a field, when there is one.
pub(crate) fn time(value: &Value) -> Option<Millis> {
    serde_json::from_value(value.clone()).ok()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The names in a list of labels, which are texts or objects with a name.
pub(crate) fn labels(value: &Value) -> Vec<String> {
    let labels = value.as_array().into_iter().flatten();
    labels.filter_map(|label| label.as_str().or(label["name"].as_str())).map(str::to_owned).collect()
}
