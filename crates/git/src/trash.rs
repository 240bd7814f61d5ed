//! The trash: retired worktrees that are still directories.
//!
//! Invariant: an item is deleted only when it is this installation's, old enough, and its keep commit is complete and
//! contains every file of it with the same size. Everything else stays and is reported with the reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_types::Millis;
use serde::{Deserialize, Serialize};

use crate::base::{blocking, disk_use};
use crate::command::Git;
use crate::restore::tree_record;
use crate::retire::{ITEM_FILE, ItemNote, TREE_DIR};
use crate::snapshot::{Kind, escape, walk};
use crate::{GitError, Owner, Repo, WorktreeBase};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrashItem {
    pub owner: Owner,
    /// The item in the trash.
    pub path: PathBuf,
    /// Where the worktree was.
    pub original: PathBuf,
    pub repo: PathBuf,
    pub bytes: u64,
    pub retired_at: Millis,
    pub reference: String,
}

/// What a call of [`empty_trash`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Emptied {
    pub deleted: Vec<PathBuf>,
    /// Bytes that were freed.
    pub bytes: u64,
    /// Items old enough that had to stay, and why.
    pub left: Vec<(PathBuf, String)>,
}

/// This installation's items, newest first.
fn items(base: &WorktreeBase) -> Result<Vec<(PathBuf, ItemNote)>, GitError> {
    let dir = base.trash_dir();
    let entries = match std::fs::read_dir(&dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(GitError::io(&dir)(error)),
    };
    let mut found = Vec::new();
    for path in entries.flatten().map(|entry| entry.path()) {
        let Ok(bytes) = std::fs::read(path.join(ITEM_FILE)) else { continue };
        let Ok(note) = serde_json::from_slice::<ItemNote>(&bytes) else { continue };
        if note.installation == base.installation() && path.join(TREE_DIR).is_dir() {
            found.push((path, note));
        }
    }
    found.sort_by_key(|(_, note)| std::cmp::Reverse(note.retired_at_ms));
    Ok(found)
}

pub(crate) fn newest(
    repo: &Repo,
    base: &WorktreeBase,
    owner: Owner,
) -> Result<Option<(PathBuf, ItemNote)>, GitError> {
    let is_it = |note: &ItemNote| note.owner == owner && note.repo == repo.path();
    Ok(items(base)?.into_iter().find(|(_, note)| is_it(note)))
}

/// This installation's trash items, newest first.
pub async fn trash(base: &WorktreeBase) -> Result<Vec<TrashItem>, GitError> {
    let base = base.clone();
    blocking(move || {
        let items = items(&base)?.into_iter().map(|(path, note)| TrashItem {
            owner: note.owner,
            bytes: disk_use(&path),
            path,
            original: note.original,
            repo: note.repo,
            retired_at: Millis(note.retired_at_ms),
            reference: note.reference,
        });
        Ok(items.collect())
    })
    .await
}

/// Deletes items retired more than `older_than` before `now` whose keep reference verifies; the rest stay.
pub async fn empty_trash(
    base: &WorktreeBase,
    older_than: Duration,
    now: Millis,
) -> Result<Emptied, GitError> {
    let mut emptied = Emptied::default();
    let newest_ms = now.0.saturating_sub(i64::try_from(older_than.as_millis()).unwrap_or(i64::MAX));
    for (path, note) in items(base)? {
        if note.retired_at_ms > newest_ms {
            continue;
        }
        match verify(&path, &note).await {
            Ok(()) => {
                let (item, bytes) = (path.clone(), disk_use(&path));
                blocking(move || std::fs::remove_dir_all(&item).map_err(GitError::io(&item))).await?;
                emptied.bytes += bytes;
                emptied.deleted.push(path);
            }
            Err(reason) => emptied.left.push((path, reason)),
        }
    }
    Ok(emptied)
}

/// Proves that the keep commit contains everything in the item.
async fn verify(item: &Path, note: &ItemNote) -> Result<(), String> {
    let text = |error: GitError| error.to_string();
    let repo = Repo::open(&note.repo).await.map_err(text)?;
    if repo.resolver().commit(&note.reference).await.map_err(text)?.as_deref() != Some(&note.commit) {
        return Err(format!("{} no longer points at its snapshot", note.reference));
    }
    let args = ["ls-tree", "-r", "-z", "--full-tree", &note.commit, "work/", "admin/"];
    let listing = Git::read(repo.store()).args(args).run().await.map_err(text)?;
    let records: Vec<_> =
        listing.split(|byte| *byte == 0).filter(|r| !r.is_empty()).filter_map(tree_record).collect();
    let oids = records.iter().map(|(_, oid, _)| oid.as_str()).collect::<Vec<_>>().join("\n");
    let check = Git::read(repo.store()).args(["cat-file", "--batch-check=%(objectsize)"]).input(oids);
    let sizes = check.text().await.map_err(text)?;
    let mut kept = BTreeMap::new();
    for ((_, oid, path), size) in records.iter().zip(sizes.lines()) {
        let size: u64 = size.parse().map_err(|_| format!("object {oid} of the snapshot is missing"))?;
        if let Some(path) = path.strip_prefix(b"work/") {
            kept.insert(path.to_vec(), size);
        }
    }
    let meta = crate::restore::read_meta(&repo, &note.commit).await.map_err(text)?;
    let tree = item.join(TREE_DIR);
    // Only the caches that the snapshot names may be skipped; a new one would be entered and found missing.
    let skipped: Vec<PathBuf> = meta.caches.iter().map(|path| crate::snapshot::from_text(path)).collect();
    let found = blocking(move || walk(&tree, &|dir| !skipped.iter().any(|cache| cache == dir))).await;
    for entry in found.map_err(text)?.entries {
        let size = kept.get(&escape(&entry.path));
        let same = match entry.kind {
            Kind::File => size == Some(&entry.size),
            Kind::Link => size.is_some(),
            Kind::Dir | Kind::Special => true,
        };
        if !same {
            return Err(format!("{} is not in the snapshot as it is in the trash", entry.path.display()));
        }
    }
    Ok(())
}
