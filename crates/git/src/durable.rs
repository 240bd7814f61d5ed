//! Syncing a landing to the disk.
//!
//! Git by itself syncs packs, but neither single objects nor branches: a power cut soon after could lose the work of a
//! merge that was reported as done. Invariant: a branch moves to a landing only after every object that the landing
//! adds is on the disk, and the move itself is on the disk before it is reported.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::base::blocking;
use crate::command::Git;
use crate::{GitError, Repo};

/// Has git sync the objects and branches that one call writes.
pub(crate) const OPTION: &str = "core.fsync=loose-object,reference";
/// Files that are synced at once share disk flushes: many files take a third of the time of one after the other, or
/// less.
const THREADS: usize = 16;

/// Syncs the objects of `commit` that `previous` lacks, as far as they are separate files.
pub(crate) async fn sync_objects(repo: &Repo, previous: &str, commit: &str) -> Result<(), GitError> {
    let args = ["rev-list", "--objects", "--no-object-names", commit, "--not", previous];
    let ids = Git::read(repo.main()).args(args).text().await?;
    let objects = repo.common_dir().join("objects");
    blocking(move || {
        let ids = ids.lines().filter(|id| id.is_ascii() && id.len() > 2);
        let paths: Vec<PathBuf> = ids.map(|id| objects.join(&id[..2]).join(&id[2..])).collect();
        let share = paths.len().div_ceil(THREADS).max(1);
        std::thread::scope(|scope| {
            let parts: Vec<_> = paths
                .chunks(share)
                .map(|part| scope.spawn(|| part.iter().try_for_each(|path| sync(path))))
                .collect();
            parts.into_iter().try_for_each(|part| match part.join() {
                Ok(synced) => synced,
                Err(panic) => std::panic::resume_unwind(panic),
            })
        })
    })
    .await
}

fn sync(path: &Path) -> Result<(), GitError> {
    match File::open(path).and_then(|file| file.sync_all()) {
        // In a pack, which was synced when it was made.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        other => other.map_err(GitError::io(path)),
    }
}
