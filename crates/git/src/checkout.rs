//! The user's own checkout: its state, and updating it.
//!
//! Invariant: a pull that cannot be finished leaves the checkout exactly as it was. Uncommitted changes are never
//! stashed, and no local commit is left out because the remote once had it.

use forge_types::ConflictOp;

use crate::branch::is_plain;
use crate::command::Git;
use crate::commit::{Untracked, changed_files};
use crate::network::{Credential, without_credentials};
use crate::status::operation_in;
use crate::{GitError, Remote, Repo, fetch};

/// What is in a checkout beside its last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutState {
    pub head: Option<String>,
    /// `None` when HEAD is detached.
    pub branch: Option<String>,
    /// The remote-tracking branch that the current branch follows, when both exist.
    pub upstream: Option<String>,
    /// Tracked files with changes.
    pub changed_count: usize,
    pub untracked_count: usize,
}

pub async fn checkout_state(repo: &Repo) -> Result<CheckoutState, GitError> {
    let args = ["status", "--porcelain=v2", "--branch", "-z", "--no-renames", "-unormal"];
    let bytes = Git::read(repo.main()).args(args).args(["--ignore-submodules=dirty"]).run().await?;
    let mut state =
        CheckoutState { head: None, branch: None, upstream: None, changed_count: 0, untracked_count: 0 };
    let mut upstream_exists = false;
    for line in bytes.split(|byte| *byte == 0) {
        let line = String::from_utf8_lossy(line);
        match line.split_once(' ') {
            Some(("#", header)) => match header.split_once(' ') {
                Some(("branch.oid", oid)) if oid != "(initial)" => state.head = Some(oid.to_owned()),
                Some(("branch.head", name)) if name != "(detached)" => state.branch = Some(name.to_owned()),
                Some(("branch.upstream", name)) => state.upstream = Some(name.to_owned()),
                // Git omits the counts when the upstream is configured but does not exist.
                Some(("branch.ab", _)) => upstream_exists = true,
                _ => {}
            },
            Some(("?", _)) => state.untracked_count += 1,
            Some(("1" | "2" | "u", _)) => state.changed_count += 1,
            _ => {}
        }
    }
    state.upstream = state.upstream.filter(|_| upstream_exists);
    Ok(state)
}

/// The result of a pull. Only in the first case has anything changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// Up to date with this branch of the remote.
    Done { from: String },
    /// Nothing was changed; the reason, and git's output.
    Refused { reason: String, details: String },
}

/// Fetches the current branch from the remote and replays the local commits on top of it.
pub async fn pull_rebase(
    repo: &Repo,
    remote: &Remote,
    credential: Option<&Credential>,
) -> Result<Pulled, GitError> {
    let refused = |reason: String, details: String| Ok(Pulled::Refused { reason, details });
    let Some(branch) = repo.current_branch().await?.filter(|branch| is_plain(branch)) else {
        return refused("no branch is checked out: check one out and pull again".into(), String::new());
    };
    let files = changed_files(repo.main(), Untracked::Ignore).await?;
    if !files.is_empty() {
        let details = files.join("\n");
        return refused(
            "Cannot pull: you have uncommitted changes; commit or stash them first".into(),
            details,
        );
    }
    fetch(repo, remote, credential).await?;
    let upstream = format!("refs/remotes/{}/{branch}", remote.name);
    if repo.resolver().commit(&upstream).await?.is_none() {
        let reason = format!("'{}' has no branch '{branch}': push it first", remote.name);
        return refused(reason, String::new());
    }
    let _writing = repo.writing().await;
    if is_rebasing(repo) {
        return refused("a rebase is in progress: finish or abort it first".into(), String::new());
    }
    let args = ["rebase", "-q", "--no-autostash", "--no-fork-point", "--rebase-merges", &upstream];
    let rebase = Git::write(repo.main()).options(&repo.identity().await?).args(args).answer().await?;
    if rebase.code == 0 {
        return Ok(Pulled::Done { from: format!("{}/{branch}", remote.name) });
    }
    let conflict = is_rebasing(repo);
    if conflict {
        Git::write(repo.main()).args(["rebase", "--abort"]).run_patiently().await?;
    }
    let details = without_credentials(&rebase.stderr);
    match conflict {
        true => refused(format!("Conflicts with {}/{branch}; nothing was changed", remote.name), details),
        false => {
            refused(format!("Cannot rebase onto {}/{branch}; nothing was changed", remote.name), details)
        }
    }
}

fn is_rebasing(repo: &Repo) -> bool {
    operation_in(repo.common_dir()) == Some(ConflictOp::Rebase)
}
