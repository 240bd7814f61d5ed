//! Where the worktrees of one installation live.
//!
//! Owns: the layout `<base>/<name>`, `<base>/.forge-spare/…`, `<base>/.forge-trash/…`, `<base>/.forge-owners/…` (one
//! file system, so that moves are renames) and the list of spares that are ready to be claimed.
//! Invariant: a spare handed out is no longer in the list. Several installations of one user may share a base; nobody
//! else can change it or read its contents.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use forge_os::private::{Others, Untrusted, look_private, take_private};
use serde::{Deserialize, Serialize};

use crate::{GitError, Mark, Repo, admin, mark};

const SPARE_DIR: &str = ".forge-spare";
const TRASH_DIR: &str = ".forge-trash";
const OWNERS_DIR: &str = ".forge-owners";
/// Folders of these names are Forge's, in a place where everybody can create folders.
const OWN_NAMES: [&str; 2] = ["automagik-forge", "automagik-forge-dev"];

/// The default place of worktrees.
pub fn usual_base() -> PathBuf {
    let parent = if cfg!(target_os = "linux") { PathBuf::from("/var/tmp") } else { std::env::temp_dir() };
    parent.join(OWN_NAMES[usize::from(cfg!(debug_assertions))]).join("worktrees")
}

/// Why the base cannot be one, as far as can be determined without making it.
pub fn look_at_base(path: &Path) -> Result<(), Untrusted> {
    own_folders(path).try_for_each(|(folder, others)| look_private(folder, others))
}

/// The base and first, where that is Forge's too, the folder above it: whoever can change that one can swap the base.
fn own_folders(base: &Path) -> impl Iterator<Item = (&Path, Others)> {
    let is_own =
        |above: &&Path| above.file_name().is_some_and(|name| OWN_NAMES.iter().any(|own| name == *own));
    base.parent()
        .filter(is_own)
        .map(|above| (above, Others::Read))
        .into_iter()
        .chain([(base, Others::Nothing)])
}

#[derive(Clone)]
pub struct WorktreeBase(Arc<Inner>);

struct Inner {
    path: PathBuf,
    installation: String,
    spares: Mutex<HashMap<PathBuf, Vec<Spare>>>,
    /// Spares that a call of this process is working on.
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

    /// Makes the base where there is none, and proves that it is nobody else's. It may disappear at any time, as files
    /// below `/var/tmp` do, and somebody else may put another one there.
    pub fn make(&self) -> Result<(), GitError> {
        for (folder, others) in own_folders(self.path()) {
            if let Some(mode) = take_private(folder, others)? {
                let (folder, mode) = (folder.display(), format!("{mode:o}"));
                tracing::warn!(%folder, mode, "this folder of worktrees was open to other users and is closed now");
            }
        }
        Ok(())
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

    /// A ready spare of `repo` that is not at `commit`.
    pub(crate) fn take_other_spare(&self, repo: &Repo, commit: &str) -> Option<Spare> {
        self.take_spare_if(repo, |spare| spare.commit != commit)
    }

    pub(crate) fn take_any_spare(&self, repo: &Repo) -> Option<Spare> {
        self.take_spare_if(repo, |_| true)
    }

    fn take_spare_if(&self, repo: &Repo, wanted: impl Fn(&Spare) -> bool) -> Option<Spare> {
        let mut spares = self.spares();
        let ready = spares.get_mut(repo.common_dir())?;
        let at = ready.iter().position(wanted)?;
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// Bytes that each of the directories takes on disk, in the same order. Every file is examined.
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

/// Bytes that the files below `dir` take on disk; unreadable parts count as zero.
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
        Err(error) => Err(GitError::Busy(format!("file work was interrupted: {error}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    fn base(path: &Path) -> WorktreeBase {
        WorktreeBase::new(path.to_owned(), "installation".to_owned())
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn an_open_base_of_this_user_is_closed_and_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("automagik-forge/worktrees");
        std::fs::create_dir_all(path.join("attempt")).unwrap();
        for folder in [path.parent().unwrap(), &path] {
            std::fs::set_permissions(folder, Permissions::from_mode(0o777)).unwrap();
        }
        look_at_base(&path).unwrap();
        base(&path).make().unwrap();
        assert_eq!((mode(path.parent().unwrap()), mode(&path)), (0o755, 0o700));
        assert!(path.join("attempt").is_dir());
    }

    #[test]
    fn a_base_below_a_planted_link_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        symlink(&elsewhere, dir.path().join("automagik-forge")).unwrap();
        let path = dir.path().join("automagik-forge/worktrees");
        let error = base(&path).make().unwrap_err().to_string();
        assert!(error.contains("automagik-forge is a link"), "{error}");
        assert!(look_at_base(&path).is_err() && !elsewhere.join("worktrees").exists());
    }

    #[test]
    fn a_base_in_a_folder_that_another_user_planted_is_refused() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not tried: only root can give a folder to another user");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("automagik-forge-dev/worktrees");
        std::fs::create_dir_all(&path).unwrap();
        std::os::unix::fs::chown(path.parent().unwrap(), Some(65534), Some(65534)).unwrap();
        let error = base(&path).make().unwrap_err().to_string();
        assert!(error.contains("automagik-forge-dev belongs to user 65534"), "{error}");
        assert!(look_at_base(&path).is_err());
    }
}
