//! Worktrees as a stock: claimed, brought back, put away, adopted, listed.

use std::path::PathBuf;
use std::time::Duration;

use forge_git::{
    Emptied, Filled, Kept, Listed, MarkedTask, Naming, Owner, Restored, TrashItem, Whoami, Worktree,
};
use forge_types::Millis;

use super::{Directory, requests};

requests! {
    /// Makes a worktree at a commit, from a spare where there is one.
    Claim { repo: PathBuf, naming: Naming, commit: String } -> Worktree = |host| {
        forge_git::claim(&host.repo(&repo).await?, &host.base, &naming, &commit).await
    };

    /// Undoes a claim whose owner was never recorded.
    DropClaim { at: Directory, owner: Owner, branch: String, commit: String } -> Option<Kept> = |host| {
        let repo = host.repo(&at.repo).await?;
        forge_git::drop_orphan_claim(&repo, &host.base, owner, &at.path, &branch, &commit).await
    };

    /// Checks the branch out at the directory.
    Ensure { at: Directory, owner: Owner, branch: String, task: Option<MarkedTask> } -> () = |host| {
        let repo = host.repo(&at.repo).await?;
        forge_git::ensure(&repo, &host.base, owner, &branch, &at.path, task.as_ref()).await.map(drop)
    };

    /// Brings the owner's newest retired worktree back.
    Restore { at: Directory, owner: Owner } -> Restored = |host| {
        forge_git::restore(&host.repo(&at.repo).await?, &host.base, owner, &at.path).await
    };

    /// Saves a worktree and moves it to the trash.
    Retire { at: Directory, owner: Owner } -> Kept = |host| {
        forge_git::retire(&host.repo(&at.repo).await?, &host.base, owner, &at.path).await
    };

    /// The same for a worktree whose claim may have been cut off.
    RetireCutOff { at: Directory, owner: Owner } -> Kept = |host| {
        forge_git::retire_cut_off(&host.repo(&at.repo).await?, &host.base, owner, &at.path).await
    };

    /// Makes a worktree of another program the owner's.
    Adopt { at: Directory, owner: Owner, task: Option<MarkedTask>, branch: String, to: PathBuf } -> PathBuf = |host| {
        let (repo, owner) = (host.repo(&at.repo).await?, (owner, task.as_ref()));
        forge_git::adopt(&repo, &host.base, owner, &branch, &at.path, &to).await
    };

    /// Takes the branch from a worktree of another program.
    Release { at: Directory, branch: String } -> () = |host| {
        forge_git::release(&host.repo(&at.repo).await?, &host.base, &branch, &at.path).await
    };

    /// The worktree of another program that is near a path, or on the branch.
    FindStranger { repo: PathBuf, branch: String, near: Option<PathBuf> } -> Option<PathBuf> = |host| {
        let repo = host.repo(&repo).await?;
        Ok(forge_git::strange_worktree(&repo, &host.base, &branch, near.as_deref()))
    };

    /// Whether the worktree there is another program's, or another owner's.
    IsStrangers { at: Directory, owner: Owner } -> bool = |host| {
        Ok(forge_git::is_strange(&host.base, owner, &at.path))
    };

    /// The mark of the worktree that is there.
    Whose { at: Directory } -> Option<Whoami> = |_host| forge_git::whoami(&at.path);

    /// Writes down whose the worktrees of an earlier version are.
    TakeOver {} -> () = |host| forge_git::take_over(&host.base).await;

    List {} -> Vec<Listed> = |host| forge_git::list(&host.base).await;

    /// Bytes that each directory takes.
    Measure { paths: Vec<PathBuf> } -> Vec<u64> = |_host| forge_git::measure(paths).await;

    FreeBytes {} -> u64 = |host| Ok(forge_os::free_bytes(host.base.path()));

    Trash {} -> Vec<TrashItem> = |host| forge_git::trash(&host.base).await;

    EmptyTrash { older_than: Duration, now: Millis } -> Emptied = |host| {
        forge_git::empty_trash(&host.base, older_than, now).await
    };

    /// Makes spare worktrees at a commit, until there are so many.
    FillSpares { repo: PathBuf, commit: String, wanted: usize } -> Filled = |host| {
        host.pool.fill(&host.repo(&repo).await?, &commit, wanted).await
    };

    /// Puts away the spare worktrees that are more.
    TrimSpares { repo: PathBuf, wanted: usize } -> usize = |host| {
        host.pool.trim(&host.repo(&repo).await?, wanted).await
    };
}
