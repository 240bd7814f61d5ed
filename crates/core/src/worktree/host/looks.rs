//! Looking into a directory. Invariant: nothing changes there.

use forge_git::{Counting, FileDiff, Patch, PatchScope, WorktreeStatus};
use forge_run::{DirectoryOwner, Leftover};
use forge_types::{ConflictOp, RunId};

use super::{Directory, requests};

requests! {
    /// Whether the directory is there, with a checkout or without.
    Exists { at: Directory } -> bool = |_host| Ok(at.path.exists());

    /// Whether there is a checkout in it.
    IsThere { at: Directory } -> bool = |_host| Ok(at.path.join(".git").exists());

    /// The commit that is checked out.
    Head { at: Directory } -> String = |host| host.repo(&at.repo).await?.head_of(&at.path).await;

    /// The operation that is stopped there; none where there is no checkout.
    Operation { at: Directory } -> Option<ConflictOp> = |host| {
        forge_git::operation(&host.repo(&at.repo).await?, &at.path)
    };

    Status { at: Directory } -> WorktreeStatus = |host| {
        forge_git::status(&host.repo(&at.repo).await?, &at.path).await
    };

    /// Whether anything is uncommitted.
    IsDirty { at: Directory } -> bool = |host| {
        forge_git::is_dirty(&host.repo(&at.repo).await?, &at.path).await
    };

    /// The files that differ from a commit, untracked ones included.
    Changes { at: Directory, base: String, counting: Counting } -> Vec<FileDiff> = |host| {
        forge_git::diff_worktree(&host.repo(&at.repo).await?, &at.path, &base, counting).await
    };

    /// The same as a patch.
    PatchOf { at: Directory, base: String, scope: PatchScope } -> Patch = |host| {
        forge_git::patch_worktree(&host.repo(&at.repo).await?, &at.path, &base, &scope).await
    };

    ReadFile { at: Directory, file: String, max_bytes: u64 } -> Vec<u8> = |_host| {
        forge_git::read_worktree_file(&at.path, &file, max_bytes).await
    };

    /// Processes in the directory that belong to none of the allowed runs.
    Leftovers { at: Directory, whose: DirectoryOwner, allowed: Vec<RunId> } -> Vec<Leftover> = |_host| {
        Ok(forge_run::leftovers_in(&at.path, whose, allowed).await)
    };
}
