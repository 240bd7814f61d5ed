//! Single commits: their details, and where a branch left another.
//!
//! Invariant: a commit named by a caller is an object id and nothing else; no other name is looked up.

use std::collections::HashSet;

use forge_types::{CommitInfo, Millis};

use crate::branch::{BranchTip, revision};
use crate::command::Git;
use crate::{GitError, Repo, merge_base};

const COMMIT_FORMAT: &str = "--format=%H%x00%an%x00%ct%x00%s";

fn read_commit(line: &str) -> Option<CommitInfo> {
    let [sha, author, seconds, subject] = line.splitn(4, '\0').collect::<Vec<_>>()[..] else { return None };
    let committed_at = Millis(seconds.parse::<i64>().unwrap_or(0) * 1000);
    Some(CommitInfo {
        sha: sha.to_owned(),
        subject: subject.to_owned(),
        author: author.to_owned(),
        committed_at,
    })
}

impl Repo {
    /// The commit with this (perhaps abbreviated) object id.
    pub async fn commit_info(&self, sha: &str) -> Result<Option<CommitInfo>, GitError> {
        if !is_object_id(sha) {
            return Ok(None);
        }
        let Some(oid) = self.resolver().commit(sha).await? else { return Ok(None) };
        let args = ["show", "-s", "--no-show-signature", COMMIT_FORMAT, &oid, "--"];
        Ok(read_commit(&Git::read(self.main()).args(args).text().await?))
    }

    /// The newest `max` commits that `tip` has and `base` has not, newest first.
    pub async fn commits_since(
        &self,
        base: &str,
        tip: &str,
        max: usize,
    ) -> Result<Vec<CommitInfo>, GitError> {
        let (range, count) =
            (format!("{}..{}", revision(base)?, revision(tip)?), format!("--max-count={max}"));
        let args = ["log", "--no-show-signature", COMMIT_FORMAT, &count, &range, "--"];
        let text = Git::read(self.main()).args(args).text().await?;
        Ok(text.lines().filter_map(read_commit).collect())
    }

    /// The messages of the newest `max` commits that `tip` has and `base` has not, merges aside.
    pub async fn messages_since(&self, base: &str, tip: &str, max: usize) -> Result<Vec<String>, GitError> {
        let (range, count) =
            (format!("{}..{}", revision(base)?, revision(tip)?), format!("--max-count={max}"));
        let args = ["log", "--no-merges", "--no-show-signature", "--format=%B%x00", &count, &range, "--"];
        let text = Git::read(self.main()).args(args).text().await?;
        let messages = text.split('\0').map(str::trim).filter(|message| !message.is_empty());
        Ok(messages.map(str::to_owned).collect())
    }

    /// Whether the repository contains a commit with this object id.
    pub async fn has_commit(&self, sha: &str) -> Result<bool, GitError> {
        Ok(is_object_id(sha) && self.resolver().commit(sha).await?.is_some())
    }

    /// The local branches whose commits are all part of `commit`.
    pub async fn branches_in(&self, commit: &str) -> Result<HashSet<String>, GitError> {
        let merged = format!("--merged={}", revision(commit)?);
        let args = ["for-each-ref", "--format=%(refname)", &merged, "refs/heads"];
        let text = Git::read(self.main()).args(args).text().await?;
        Ok(text.lines().filter_map(|line| line.strip_prefix("refs/heads/")).map(str::to_owned).collect())
    }

    /// Whether the name is that of a branch that only a remote has.
    pub async fn is_remote(&self, branch: &str) -> Result<bool, GitError> {
        let found = self.resolve_branch(branch).await?;
        Ok(found.is_some_and(|tip| tip.full_ref.starts_with("refs/remotes/")))
    }

    /// Where the remote-tracking branch of the same name is.
    pub async fn remote_tip(&self, branch: &str) -> Result<Option<String>, GitError> {
        if !crate::branch::is_plain(branch) {
            return Ok(None);
        }
        let pattern = format!("refs/remotes/*/{branch}");
        let args = ["for-each-ref", "--count=1", "--format=%(objectname)", &pattern];
        let oid = Git::read(self.main()).args(args).text().await?;
        Ok(Some(oid).filter(|oid| !oid.is_empty()))
    }
}

/// Whether the text can only be an object id.
pub fn is_object_id(text: &str) -> bool {
    (4..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The commit at which `tip` left `base`, even if `base` was rewritten since; `None` for unrelated histories.
pub(crate) async fn fork_point(repo: &Repo, base: &BranchTip, tip: &str) -> Result<Option<String>, GitError> {
    let plain = merge_base(repo, &base.commit, tip).await?;
    let args = ["merge-base", "--fork-point", &base.full_ref, revision(tip)?];
    let answer = Git::read(repo.main()).args(args).answer().await?;
    let forked = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
    // A base that once held the whole branch (merged, then reverted) would leave nothing of the branch.
    let forked = Some(forked).filter(|commit| answer.code == 0 && !commit.is_empty() && commit != tip);
    Ok(forked.or(plain))
}

#[cfg(test)]
mod tests {
    use super::is_object_id;

    #[test]
    fn only_object_ids_name_a_commit() {
        for sha in ["83d8", "83d869c4014685d016aac94dfc47e903a059bbbd"] {
            assert!(is_object_id(sha), "{sha}");
        }
        for sha in ["", "83d", "HEAD", "main", "--all", "83d869c4^", "83d8..84d8", ":/fix"] {
            assert!(!is_object_id(sha), "{sha}");
        }
    }
}
