//! Changing what is in a directory. The caller holds it, or is the run whose turn it is.

use std::io;
use std::path::PathBuf;

use forge_git::{BranchTip, Committed, CopyWarning, GitError, Kept, Merged, Owner, Rebased};
use forge_types::Image;

use super::{Directory, requests};
use crate::worktree::images::copy_all;

requests! {
    /// Commits all work, and continues a rebase whose conflicts are resolved.
    Commit { at: Directory, branch: String, message: String } -> Committed = |host| {
        forge_git::commit_work(&host.repo(&at.repo).await?, &at.path, &branch, &message).await
    };

    /// Puts the branch on its target as one commit.
    Merge { at: Directory, branch: String, target: String, message: String } -> Merged = |host| {
        forge_git::squash_merge(&host.repo(&at.repo).await?, &at.path, &branch, &target, &message).await
    };

    /// Replays what the branch has since `old` onto `new`.
    Rebase { at: Directory, branch: String, old: BranchTip, new: BranchTip } -> Rebased = |host| {
        forge_git::rebase(&host.repo(&at.repo).await?, &at.path, &branch, &old, &new).await
    };

    /// Gives up the operation that is stopped there.
    Abort { at: Directory, owner: Owner, branch: String } -> () = |host| {
        forge_git::abort(&host.repo(&at.repo).await?, &at.path, owner, &branch).await.map(drop)
    };

    /// Deletes a file and commits exactly that.
    DeleteFile { at: Directory, owner: Owner, branch: String, file: String } -> () = |host| {
        forge_git::delete_file(&host.repo(&at.repo).await?, &at.path, owner, &branch, &file).await.map(drop)
    };

    /// Resets the branch and the files to a commit; what was there is kept.
    Reset { at: Directory, owner: Owner, branch: String, commit: String } -> Option<Kept> = |host| {
        forge_git::reset_hard(&host.repo(&at.repo).await?, &at.path, owner, &branch, &commit).await
    };

    /// Copies images that the host has in a folder of its own.
    PutImages { at: Directory, from: PathBuf, images: Vec<Image> } -> () = |_host| {
        let path = at.path.clone();
        let copied = tokio::task::spawn_blocking(move || copy_all(&from, &at.path, &images)).await;
        let copied = copied.unwrap_or_else(|cause| Err(io::Error::other(cause)));
        copied.map_err(|source| GitError::Io { path, source })
    };

    /// Copies files of the checkout that git does not know.
    CopyFiles { at: Directory, spec: String } -> Vec<CopyWarning> = |_host| {
        forge_git::copy_files(&at.repo, &at.path, &spec).await
    };
}
