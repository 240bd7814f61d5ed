//! Gitea and Forgejo: GitHub's objects, but lists cannot be filtered by branch and are shorter.

use reqwest::Url;

use super::{Host, github};
use crate::RemoteError;

/// The largest page that servers return by default.
pub(super) const PAGE: usize = 50;
/// How many pages are searched for a branch, most recently changed first.
const PAGES: usize = 4;

fn page(host: &Host, number: usize) -> Result<Url, RemoteError> {
    let (page, limit) = (number.to_string(), PAGE.to_string());
    let query = [("state", "all"), ("sort", "recentupdate"), ("limit", limit.as_str()), ("page", &page)];
    host.url(&github::parts(host, &["pulls"]), &query)
}

pub(super) fn pages(host: &Host) -> Result<Vec<Url>, RemoteError> {
    (1..=PAGES).map(|number| page(host, number)).collect()
}

pub(super) fn latest(host: &Host) -> Result<Url, RemoteError> {
    page(host, 1)
}
