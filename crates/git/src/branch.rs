//! Branches and their relations.
//!
//! Owns: looking names up, listing, counting commits between two tips.
//! Invariant: a name given by a user is only ever used inside a full ref, after the characters with a meaning in
//! revisions are ruled out, so `main~3` or `--all` is an unknown branch and nothing else.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use forge_types::{BranchInfo, Millis};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::command::Git;
use crate::history::is_object_id;
use crate::session::Session;
use crate::tree::Tree;
use crate::{GitError, Repo};

/// A branch is a file below its prefix, and no part of a path may be longer than 255 bytes.
pub const PREFIX_MAX_BYTES: usize = 100;

const MERGE_BASES_KEPT: usize = 1_000;
const IDLE_LIMIT: Duration = Duration::from_secs(60);

/// Where a branch is and what it points at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BranchTip {
    pub full_ref: String,
    pub commit: String,
}

/// Looks refs up without starting a process each time.
pub(crate) struct Resolver {
    store: Tree,
    open: Arc<Mutex<Option<(Session, Instant)>>>,
}

impl Resolver {
    pub fn new(store: Tree) -> Self {
        Self { store, open: Arc::default() }
    }

    /// Ends the session, which may know another repository that was at this place before.
    pub async fn forget(&self) {
        *self.open.lock().await = None;
    }

    /// The commit a full ref or object id leads to.
    pub async fn commit(&self, name: &str) -> Result<Option<String>, GitError> {
        let mut open = self.open.lock().await;
        let question = format!("{name}^{{commit}}");
        // Taken out while it is used: a caller that gives up in between must not leave its answer to the next one.
        if let Some((mut session, _)) = open.take()
            && let Ok(info) = session.info(&question).await
        {
            *open = Some((session, Instant::now()));
            return Ok(info.map(|info| info.oid));
        }
        // A session may have died since its last use: try a fresh one.
        let mut session = Session::open(&self.store)?;
        let info = session.info(&question).await?;
        *open = Some((session, Instant::now()));
        tokio::spawn(close_when_idle(Arc::downgrade(&self.open)));
        Ok(info.map(|info| info.oid))
    }
}

async fn close_when_idle(open: std::sync::Weak<Mutex<Option<(Session, Instant)>>>) {
    loop {
        tokio::time::sleep(IDLE_LIMIT / 4).await;
        let Some(open) = open.upgrade() else { return };
        let mut open = open.lock().await;
        match open.as_ref() {
            Some((_, used)) if used.elapsed() < IDLE_LIMIT => {}
            _ => {
                *open = None;
                return;
            }
        }
    }
}

impl Repo {
    /// A local branch, else the remote-tracking branch of that name (`origin/x`, or `x` on some remote).
    pub async fn resolve_branch(&self, name: &str) -> Result<Option<BranchTip>, GitError> {
        if !is_plain(name) {
            return Ok(None);
        }
        for place in ["refs/heads", "refs/remotes", "refs/remotes/origin"] {
            let full_ref = format!("{place}/{name}");
            if let Some(commit) = self.resolver().commit(&full_ref).await? {
                return Ok(Some(BranchTip { full_ref, commit }));
            }
        }
        let pattern = format!("refs/remotes/*/{name}");
        let args = ["for-each-ref", "--count=1", "--format=%(refname) %(objectname)", &pattern];
        let found = Git::read(self.main()).args(args).text().await?;
        Ok(found
            .split_once(' ')
            .map(|(full_ref, commit)| BranchTip { full_ref: full_ref.to_owned(), commit: commit.to_owned() }))
    }

    /// The current branch first, then by newest commit.
    pub async fn branches(&self) -> Result<Vec<BranchInfo>, GitError> {
        let format = "--format=%(refname)%00%(HEAD)%00%(committerdate:unix)%00%(symref)";
        let args = ["for-each-ref", format, "--sort=-committerdate", "refs/heads", "refs/remotes"];
        let text = Git::read(self.main()).args(args).text().await?;
        let mut branches: Vec<BranchInfo> = text.lines().filter_map(read_branch).collect();
        branches.sort_by_key(|branch| !branch.is_current);
        Ok(branches)
    }

    /// Where every branch points to, as one text: the same text means that none has moved.
    pub async fn tips(&self) -> Result<String, GitError> {
        let args = ["for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/remotes"];
        Git::read(self.main()).args(args).text().await
    }

    /// Empty, or one path component under which git allows branches, and of a length that leaves room for their names.
    pub async fn valid_branch_prefix(prefix: &str) -> Result<bool, GitError> {
        if prefix.is_empty() {
            return Ok(true);
        }
        if prefix.contains('/') || prefix.len() > PREFIX_MAX_BYTES || !is_plain(prefix) {
            return Ok(false);
        }
        let name = format!("{prefix}/x");
        let check = Git::anywhere(std::path::Path::new("/")).args(["check-ref-format", "--branch", &name]);
        Ok(check.answer().await?.code == 0)
    }
}

fn read_branch(line: &str) -> Option<BranchInfo> {
    let mut fields = line.split('\0');
    let (full_ref, head, date) = (fields.next()?, fields.next()?, fields.next()?);
    let (name, is_remote) = match full_ref.strip_prefix("refs/heads/") {
        Some(name) => (name, false),
        None => (full_ref.strip_prefix("refs/remotes/")?, true),
    };
    if is_remote && name.ends_with("/HEAD") {
        return None;
    }
    let last_commit_date = Millis(date.parse::<i64>().unwrap_or(0) * 1000);
    Some(BranchInfo { name: name.to_owned(), is_current: head == "*", is_remote, last_commit_date })
}

/// Whether a name can only mean itself inside a full ref.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '/'])
        && !name.ends_with('/')
        && !name.contains("..")
        && !name.contains("@{")
        && !name.chars().any(|c| c.is_control() || " ~^:?*[\\".contains(c))
}

/// A commit or branch given by a caller, which must not be read as an option.
pub(crate) fn revision(text: &str) -> Result<&str, GitError> {
    match text.is_empty() || text.starts_with('-') {
        true => Err(GitError::BranchMissing(text.to_owned())),
        false => Ok(text),
    }
}

/// The merge bases of pairs of commits, which never change.
#[derive(Default)]
pub(crate) struct MergeBases(std::sync::Mutex<HashMap<(String, String), String>>);

impl MergeBases {
    fn lock(&self) -> MutexGuard<'_, HashMap<(String, String), String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The best common ancestor, or `None` for unrelated histories. That of two object ids is looked for once.
pub async fn merge_base(repo: &Repo, a: &str, b: &str) -> Result<Option<String>, GitError> {
    let pair = (a.to_owned(), b.to_owned());
    if let Some(known) = repo.merge_bases().lock().get(&pair) {
        return Ok(Some(known.clone()));
    }
    let answer = Git::read(repo.main()).args(["merge-base", revision(a)?, revision(b)?]).answer().await?;
    match answer.code {
        0 => {
            let base = String::from_utf8_lossy(&answer.stdout).trim().to_owned();
            if is_object_id(a) && is_object_id(b) {
                let mut known = repo.merge_bases().lock();
                if known.len() >= MERGE_BASES_KEPT {
                    known.clear();
                }
                known.insert(pair, base.clone());
            }
            Ok(Some(base))
        }
        // A shallow repository may learn of one.
        1 => Ok(None),
        _ => Err(answer.into_error()),
    }
}

/// Commits of `a` that `b` lacks, and of `b` that `a` lacks.
pub async fn ahead_behind(repo: &Repo, a: &str, b: &str) -> Result<(u32, u32), GitError> {
    let range = format!("{}...{}", revision(a)?, revision(b)?);
    let args = ["rev-list", "--left-right", "--count", &range, "--"];
    let text = Git::read(repo.main()).args(args).text().await?;
    let mut counts = text.split_whitespace().map(|count| count.parse().unwrap_or(0));
    Ok((counts.next().unwrap_or(0), counts.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn revisions_and_options_are_no_branch_names() {
        for name in ["main~3", "main^", "a..b", "@{-1}", "--all", "a b", "x:y", "a\nb", ""] {
            assert!(!is_plain(name), "{name:?}");
        }
        for name in ["main", "forge/35a4-x", "feature/ünï", "origin/main", "a1b2-"] {
            assert!(is_plain(name), "{name:?}");
        }
    }
}
