//! Bringing a retired worktree back.
//!
//! Invariant: never onto something that exists. From the trash it is the very directory that was retired; from a keep
//! reference it is built beside its place and moved there when complete. Its branch is created again if it is gone.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forge_types::AttemptId;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

use crate::admin::Draft;
use crate::base::blocking;
use crate::command::Git;
use crate::keep::{self, Meta};
use crate::retire::{ADMIN_DIR, ITEM_FILE, ItemNote, TREE_DIR, copy_dir};
use crate::session::Session;
use crate::snapshot::{from_text, to_text, unescape};
use crate::{GitError, Mark, Owner, Repo, WorktreeBase, admin, mark, spare, trash};

const MAX_LINK_BYTES: u64 = 64 << 10;

/// Where a restored worktree came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    Trash,
    Keep,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    pub path: PathBuf,
    pub source: Source,
    pub branch: Option<String>,
    /// Regenerable caches and sockets that the snapshot left out; empty when it came from the trash.
    pub missing: Vec<String>,
}

/// Puts the owner's newest retired worktree at `path`.
pub async fn restore(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    path: &Path,
) -> Result<Restored, GitError> {
    if std::fs::symlink_metadata(path).is_ok() {
        return Err(GitError::Exists(path.to_owned()));
    }
    base.make()?;
    let real = admin::real_place(path);
    let real_base = std::fs::canonicalize(base.path()).map_err(GitError::io(base.path()))?;
    if real.parent() != Some(&real_base) {
        return Err(GitError::stranger(path, "it lies outside the worktree base directory"));
    }
    if let Some((item, note)) = trash::newest(repo, base, owner)? {
        let meta = read_meta(repo, &note.commit).await?;
        from_trash(repo, base, &item, &note, &real).await?;
        ensure_branch(repo, &meta).await?;
        let branch = meta.branch;
        return Ok(Restored { path: path.to_owned(), source: Source::Trash, branch, missing: Vec::new() });
    }
    let Some((_, commit)) = keep::references(repo, owner).await?.pop() else {
        return Err(GitError::NothingKept(owner.to_string()));
    };
    let meta = read_meta(repo, &commit).await?;
    // What Forge recorded about the snapshot when it made it. An agent may have written what is in it.
    if meta.owner != owner {
        return Err(GitError::stranger(path, format!("its snapshot names {}, not {owner}", meta.owner)));
    }
    from_keep(repo, base, owner, &commit, &meta, &real).await?;
    ensure_branch(repo, &meta).await?;
    let missing = meta.caches.iter().chain(&meta.special).cloned().collect();
    Ok(Restored { path: path.to_owned(), source: Source::Keep, branch: meta.branch, missing })
}

async fn from_trash(
    repo: &Repo,
    base: &WorktreeBase,
    item: &Path,
    note: &ItemNote,
    to: &Path,
) -> Result<(), GitError> {
    let _writing = repo.writing().await;
    let (repo, base, item, to) = (repo.clone(), base.clone(), item.to_owned(), to.to_owned());
    let wanted = note.git_dir.clone();
    let (owner, original) = (note.owner, note.original.clone());
    blocking(move || {
        // A crash while retiring may have left the private directory itself.
        let left = admin::registered(&repo, &original).filter(|dir| belongs(&base, dir, owner));
        let git_dir = match &left {
            Some(dir) => dir.clone(),
            None => {
                Draft::new(&repo, |dir| copy_dir(&item.join(ADMIN_DIR), dir))?.publish(&repo, &wanted, &to)?
            }
        };
        let moved = mark_again(&repo, &base, &git_dir, owner)
            .and_then(|()| forge_os::rename_new(&item.join(TREE_DIR), &to).map_err(GitError::io(&to)));
        if let Err(error) = moved {
            if left.is_none() {
                // Only the copy that was just made is removed.
                let _ = admin::withdraw(&repo, &git_dir).and_then(|()| mark::forget(&base, &git_dir));
            }
            return Err(error);
        }
        admin::connect(&git_dir, &to)?;
        // What is left of the item is a copy of what is in use again.
        let left = std::fs::remove_file(item.join(ITEM_FILE))
            .and_then(|()| std::fs::remove_dir_all(item.join(ADMIN_DIR)))
            .and_then(|()| std::fs::remove_dir(&item));
        left.map_err(GitError::io(&item))
    })
    .await
}

/// Marks a private git directory that is back. Its owner comes from what Forge wrote itself; the rest is for people.
fn mark_again(repo: &Repo, base: &WorktreeBase, git_dir: &Path, owner: Owner) -> Result<(), GitError> {
    mark::make_way(git_dir)?;
    let copy = mark::read_copy(git_dir)?.unwrap_or_else(|| spare::spare_mark(repo, base));
    let repo = repo.path().to_string_lossy().into_owned();
    mark::write(base, git_dir, &Mark { installation: base.installation().to_owned(), owner, repo, ..copy })
}

fn belongs(base: &WorktreeBase, git_dir: &Path, owner: Owner) -> bool {
    mark::read(base, git_dir).is_ok_and(|mark| mark.is_some_and(|mark| mark.owner == owner))
}

pub(crate) async fn read_meta(repo: &Repo, commit: &str) -> Result<Meta, GitError> {
    let text = Git::read(repo.main()).args(["cat-file", "commit", commit]).text().await?;
    let message = text.split_once("\n\n").map_or("", |(_, message)| message);
    serde_json::from_str(message).map_err(|error| {
        let stderr = format!("the keep commit {commit} does not describe a worktree: {error}");
        GitError::Failed { command: "cat-file commit".into(), stderr }
    })
}

/// A branch that was deleted meanwhile is put back where the worktree had it.
async fn ensure_branch(repo: &Repo, meta: &Meta) -> Result<(), GitError> {
    let (Some(branch), Some(head)) = (&meta.branch, &meta.head) else { return Ok(()) };
    let full_ref = format!("refs/heads/{branch}");
    if repo.resolver().commit(&full_ref).await?.is_none() {
        let zero = "0".repeat(head.len());
        Git::write(repo.main()).args(["update-ref", &full_ref, head, &zero]).run_patiently().await?;
    }
    Ok(())
}

async fn from_keep(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    commit: &str,
    meta: &Meta,
    to: &Path,
) -> Result<(), GitError> {
    let Some(wanted) = &meta.git_dir else { return Err(GitError::NothingKept(owner.to_string())) };
    let building = base.trash_dir().join(format!(".building-{}", AttemptId::random().hex()));
    std::fs::create_dir_all(building.join("work")).map_err(GitError::io(&building))?;
    std::fs::create_dir_all(building.join("admin")).map_err(GitError::io(&building))?;
    let built = build(repo, commit, meta, &building).await;
    let placed = match built {
        Ok(()) => place(repo, base, owner, &building, wanted, to).await,
        Err(error) => Err(error),
    };
    // Everything in it was written from the keep commit, which stays.
    let _ = std::fs::remove_dir_all(&building);
    placed
}

/// Writes every file, link and directory of the keep commit below `into`.
async fn build(repo: &Repo, commit: &str, meta: &Meta, into: &Path) -> Result<(), GitError> {
    let args = ["ls-tree", "-r", "-z", "--full-tree", commit, "work/", "admin/"];
    let listing = Git::read(repo.store()).args(args).run().await?;
    let mut session = Session::open(repo.store())?;
    for record in listing.split(|byte| *byte == 0).filter(|record| !record.is_empty()) {
        let Some((mode, oid, path)) = tree_record(record) else { continue };
        let target = into.join(unescape(path));
        let parent = target.parent().unwrap_or(into);
        std::fs::create_dir_all(parent).map_err(GitError::io(parent))?;
        let missing = || GitError::Failed { command: "cat-file".into(), stderr: format!("{oid} is missing") };
        if mode == "120000" {
            let link = session.contents(&oid, MAX_LINK_BYTES).await?.ok_or_else(missing)?;
            let link = std::ffi::OsStr::from_bytes(&link);
            std::os::unix::fs::symlink(link, &target).map_err(GitError::io(&target))?;
            continue;
        }
        let mut file = tokio::fs::File::create_new(&target).await.map_err(GitError::io(&target))?;
        if !session.copy(&oid, &mut file).await? {
            return Err(missing());
        }
        file.shutdown().await.map_err(GitError::io(&target))?;
        set_mode(&target, if mode == "100755" { 0o755 } else { 0o644 })?;
    }
    set_modes(meta, into)
}

fn set_modes(meta: &Meta, into: &Path) -> Result<(), GitError> {
    for (path, mode) in &meta.modes {
        set_mode(&into.join(from_text(path)), *mode)?;
    }
    for (path, _) in &meta.dirs {
        let dir = into.join(from_text(path));
        std::fs::create_dir_all(&dir).map_err(GitError::io(&dir))?;
    }
    normalise_dirs(into)?;
    // Deepest first: a directory may lose the permission to enter it.
    for (path, mode) in meta.dirs.iter().rev() {
        set_mode(&into.join(from_text(path)), *mode)?;
    }
    Ok(())
}

/// Directories are made with the permissions of the process; the snapshot names only those that differ from 755.
fn normalise_dirs(dir: &Path) -> Result<(), GitError> {
    set_mode(dir, 0o755)?;
    for entry in std::fs::read_dir(dir).map_err(GitError::io(dir))?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            normalise_dirs(&entry.path())?;
        }
    }
    Ok(())
}

fn set_mode(path: &Path, mode: u32) -> Result<(), GitError> {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).map_err(GitError::io(path))
}

/// `<mode> <type> <oid>\t<path>`
pub(crate) fn tree_record(record: &[u8]) -> Option<(String, String, &[u8])> {
    let tab = record.iter().position(|byte| *byte == b'\t')?;
    let head = std::str::from_utf8(&record[..tab]).ok()?;
    let mut words = head.split_whitespace();
    let (mode, oid) = (words.next()?, words.nth(1)?);
    Some((mode.to_owned(), oid.to_owned(), &record[tab + 1..]))
}

async fn place(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
    building: &Path,
    wanted: &str,
    to: &Path,
) -> Result<(), GitError> {
    let _writing = repo.writing().await;
    let (repo, base, building, to) = (repo.clone(), base.clone(), building.to_owned(), to.to_owned());
    let wanted = to_text(from_text(wanted).as_os_str().as_bytes());
    blocking(move || {
        let draft = Draft::new(&repo, |dir| copy_dir(&building.join("admin"), dir))?;
        let git_dir = draft.publish(&repo, &wanted, &to)?;
        let settle = || -> Result<(), GitError> {
            mark_again(&repo, &base, &git_dir, owner)?;
            forge_os::rename_new(&building.join("work"), &to).map_err(GitError::io(&to))?;
            admin::connect(&git_dir, &to)
        };
        settle().inspect_err(|_| {
            // Only the copy that was just made is removed.
            let _ = admin::withdraw(&repo, &git_dir).and_then(|()| mark::forget(&base, &git_dir));
        })
    })
    .await
}
