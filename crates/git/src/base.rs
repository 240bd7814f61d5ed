//! Where the worktrees of one installation live.
//!
//! Owns: the layout `<base>/<name>`, `<base>/.forge-spare/…`, `<base>/.forge-trash/…`, `<base>/.forge-owners/…` (one file
//! system, so that moves are renames) and the list of spares that are ready to be claimed.
//! Invariant: a spare handed out is no longer in the list. Several installations may share a base.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{GitError, Mark, Repo, admin, mark};

const SPARE_DIR: &str = ".forge-spare";
const TRASH_DIR: &str = ".forge-trash";
const OWNERS_DIR: &str = ".forge-owners";

#[derive(Clone)]
pub struct WorktreeBase(Arc<Inner>);

struct Inner {
    path: PathBuf,
    installation: String,
    spares: Mutex<HashMap<PathBuf, Vec<Spare>>>,
    /// Spares that some call of this process is working on.
    busy: Mutex<HashSet<PathBuf>>,
}

/// A detached worktree that nobody has claimed.
#[derive(Clone, Debug)]
pub(crate) struct Spare {
    pub path: PathBuf,
    pub git_dir: PathBuf,
    pub commit: String,
}

impl WorktreeBase {
    pub fn new(base: PathBuf, installation: String) -> Self {
        Self(Arc::new(Inner { path: base, installation, spares: Mutex::default(), busy: Mutex::default() }))
    }

    pub fn path(&self) -> &Path {
        &self.0.path
    }

    pub fn installation(&self) -> &str {
        &self.0.installation
    }

    pub(crate) fn spare_dir(&self) -> PathBuf {
        self.0.path.join(SPARE_DIR)
    }

    pub(crate) fn trash_dir(&self) -> PathBuf {
        self.0.path.join(TRASH_DIR)
    }

    pub(crate) fn owners_dir(&self) -> PathBuf {
        self.0.path.join(OWNERS_DIR)
    }

    fn busy(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.0.busy.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on nobody else of this process may take the spare at `path`.
    pub(crate) fn hold(&self, path: &Path) {
        self.busy().insert(path.to_owned());
    }

    pub(crate) fn let_go(&self, path: &Path) {
        self.busy().remove(path);
    }

    pub(crate) fn is_held(&self, path: &Path) -> bool {
        self.busy().contains(path)
    }

    fn spares(&self) -> MutexGuard<'_, HashMap<PathBuf, Vec<Spare>>> {
        self.0.spares.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A ready spare of `repo` at `commit`; one that vanished meanwhile is forgotten.
    pub(crate) fn take_spare(&self, repo: &Repo, commit: &str) -> Option<Spare> {
        let mut spares = self.spares();
        let ready = spares.get_mut(repo.common_dir())?;
        while let Some(at) = ready.iter().position(|spare| spare.commit == commit) {
            let spare = ready.swap_remove(at);
            if admin::private_dir(&spare.path).is_some() {
                self.hold(&spare.path);
                return Some(spare);
            }
        }
        None
    }

    pub(crate) fn take_other_spare(&self, repo: &Repo, commit: &str) -> Option<Spare> {
        let mut spares = self.spares();
        let ready = spares.get_mut(repo.common_dir())?;
        let at = ready.iter().position(|spare| spare.commit != commit)?;
        let spare = ready.swap_remove(at);
        self.hold(&spare.path);
        Some(spare)
    }

    pub(crate) fn put_spare(&self, repo: &Repo, spare: Spare) {
        self.let_go(&spare.path);
        self.spares().entry(repo.common_dir().to_owned()).or_default().push(spare);
    }

    pub(crate) fn spare_paths(&self, repo: &Repo) -> Vec<PathBuf> {
        let spares = self.spares();
        spares.get(repo.common_dir()).into_iter().flatten().map(|spare| spare.path.clone()).collect()
    }
}

/// A directory in the base, whoever made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub path: PathBuf,
    /// `None` for a stranger's directory.
    pub mark: Option<Mark>,
}

/// Every worktree directory in the base, strangers included; nothing is touched.
pub async fn list(base: &WorktreeBase) -> Result<Vec<Listed>, GitError> {
    let base = base.clone();
    let work = move || {
        let mut found = directories(base.path())?;
        found.retain(|path| ![SPARE_DIR, TRASH_DIR, OWNERS_DIR].iter().any(|own| path.ends_with(own)));
        found.extend(directories(&base.spare_dir())?);
        let listed = found.into_iter().map(|path| {
            let mark =
                admin::private_dir(&path).and_then(|git_dir| mark::read(&base, &git_dir).ok().flatten());
            Listed { path, mark }
        });
        Ok(listed.collect())
    };
    blocking(work).await
}

/// Bytes that each of the directories takes on disk, in the same order. Every file is looked at.
pub async fn measure(dirs: Vec<PathBuf>) -> Result<Vec<u64>, GitError> {
    blocking(move || Ok(dirs.iter().map(|dir| disk_use(dir)).collect())).await
}

fn directories(dir: &Path) -> Result<Vec<PathBuf>, GitError> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(GitError::io(dir)(error)),
    };
    let is_dir = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    let mut found: Vec<PathBuf> = entries.flatten().filter(is_dir).map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

/// Bytes that the files below `dir` take on disk; unreadable parts count as nothing.
pub(crate) fn disk_use(dir: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let mut bytes = 0;
    let mut open = vec![dir.to_owned()];
    while let Some(dir) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&dir) else { continue };
        for entry in entries.flatten() {
            let Ok(meta) = entry.metadata() else { continue };
            bytes += meta.blocks() * 512;
            if meta.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

/// Runs file-system work away from the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(GitError::Busy(format!("file work was cut short: {error}"))),
    }
}
