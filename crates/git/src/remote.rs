//! The remotes of a repository: which one counts for a branch, and what they have.
//!
//! Invariant: a fetch only moves remote-tracking branches; no local branch, no checkout and no tag changes.

use crate::branch::is_plain;
use crate::command::Git;
use crate::network::{Credential, connect, explain};
use crate::{GitError, Repo};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    pub name: String,
    /// Where pushes go, after every URL rewriting in git's configuration.
    pub url: String,
}

/// The remote for work that is to land on `target`: the one that it follows, else `origin`, else the only one.
pub async fn remote_for(repo: &Repo, target: &str) -> Result<Remote, GitError> {
    let names = Git::read(repo.main()).args(["remote"]).text().await?;
    let names: Vec<&str> = names.lines().collect();
    let none = || GitError::NoRemote(repo.path().to_owned());
    let followed = match is_plain(target) {
        true => {
            let key = format!("branch.{target}.remote");
            Git::read(repo.main()).args(["config", "--get", &key]).answer().await?
        }
        false => return Err(GitError::BranchMissing(target.to_owned())),
    };
    let followed = String::from_utf8_lossy(&followed.stdout).trim().to_owned();
    let prefix = |name: &&&str| target.strip_prefix(**name).is_some_and(|rest| rest.starts_with('/'));
    let name = names
        .iter()
        .find(|name| **name == followed)
        .or_else(|| names.iter().find(prefix))
        .or_else(|| names.iter().find(|name| **name == "origin"))
        .or_else(|| names.first().filter(|_| names.len() == 1))
        .ok_or_else(none)?;
    let url = Git::read(repo.main()).args(["remote", "get-url", "--push", "--", name]).text().await?;
    Ok(Remote { name: (*name).to_owned(), url: url.lines().next().unwrap_or_default().to_owned() })
}

impl Remote {
    /// The name of a branch on the remote: `origin/main` is its `main`.
    pub fn strip<'a>(&self, branch: &'a str) -> &'a str {
        let rest = branch.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix('/'));
        rest.unwrap_or(branch)
    }
}

/// Updates the remote-tracking branches.
pub async fn fetch(repo: &Repo, remote: &Remote, credential: Option<&Credential>) -> Result<(), GitError> {
    let args = ["fetch", "-q", "--no-tags", "--no-write-fetch-head", "--upload-pack=git-upload-pack", "--"];
    let fetch = connect(Git::write(repo.main()).args(args).args([&remote.name]), repo, remote, credential)?;
    let answer = fetch.answer().await?;
    if answer.code == 0 { Ok(()) } else { Err(explain(answer, remote, "its branches")) }
}
