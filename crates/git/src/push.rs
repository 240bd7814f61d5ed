//! Publishing an attempt's branch.
//!
//! Invariant: nothing on the remote is ever overwritten except what this installation itself pushed there: a branch
//! whose history was rewritten replaces exactly the commit recorded in `refs/forge/pushed/…`, and anything else is
//! refused.

use std::path::Path;

use crate::branch::is_plain;
use crate::command::Git;
use crate::commit::{Untracked, changed_files};
use crate::network::{Credential, connect, explain};
use crate::{GitError, Remote, Repo};

/// Pushes `branch` under its own name, makes it follow the remote one, and returns the commit that is there now.
pub async fn push(
    repo: &Repo,
    worktree: &Path,
    branch: &str,
    remote: &Remote,
    credential: Option<&Credential>,
) -> Result<String, GitError> {
    let missing = || GitError::BranchMissing(branch.to_owned());
    if !is_plain(branch) {
        return Err(missing());
    }
    if worktree.exists() {
        let files = changed_files(&repo.tree(worktree)?, Untracked::Ignore).await?;
        if !files.is_empty() {
            return Err(GitError::Dirty { path: worktree.to_owned(), files });
        }
    }
    let tip = repo.resolver().commit(&format!("refs/heads/{branch}")).await?.ok_or_else(missing)?;
    let note = format!("refs/forge/pushed/{}/{branch}", remote.name);
    let pushed = repo.resolver().commit(&note).await?;
    let mut args: Vec<String> =
        ["push", "--porcelain", "--no-follow-tags", "--receive-pack=git-receive-pack"]
            .map(str::to_owned)
            .into();
    if let Some(pushed) = pushed
        && !is_ancestor(repo, &pushed, &tip).await?
    {
        args.push(format!("--force-with-lease=refs/heads/{branch}:{pushed}"));
    }
    args.extend(["--".into(), remote.name.clone(), format!("{tip}:refs/heads/{branch}")]);
    // The pre-push hook uploads the files of git-lfs.
    let push = Git::write(repo.main()).with_hooks().args(&args);
    let answer = connect(push, repo, remote, credential)?.answer().await?;
    if answer.code != 0 {
        return Err(explain(answer, remote, branch));
    }
    record(repo, branch, remote, &note, &tip).await?;
    Ok(tip)
}

/// Records what was pushed and which branch it follows from now on.
async fn record(repo: &Repo, branch: &str, remote: &Remote, note: &str, tip: &str) -> Result<(), GitError> {
    let _writing = repo.writing().await;
    Git::write(repo.main()).args(["update-ref", note, tip]).run_patiently().await?;
    let follows = [("remote", remote.name.clone()), ("merge", format!("refs/heads/{branch}"))];
    for (key, value) in follows {
        let key = format!("branch.{branch}.{key}");
        Git::write(repo.main()).args(["config", "--replace-all", &key, &value]).run_patiently().await?;
    }
    Ok(())
}

async fn is_ancestor(repo: &Repo, old: &str, new: &str) -> Result<bool, GitError> {
    let answer = Git::read(repo.main()).args(["merge-base", "--is-ancestor", old, new]).answer().await?;
    match answer.code {
        0 => Ok(true),
        1 => Ok(false),
        _ => Err(answer.into_error()),
    }
}
