//! A git repository.
//!
//! Owns: where the main checkout and the common git directory are, and the lock under which this process changes refs,
//! configuration and worktree entries.
//! Invariant: every `Repo` of one common git directory shares one lock, however it was opened.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard, Semaphore, SemaphorePermit};

use crate::branch::Resolver;
use crate::command::Git;
use crate::{GitError, admin};

/// Checkouts at once in one repository: they are bound by disk and processor, not by waiting.
const CHECKOUTS: usize = 4;

#[derive(Clone)]
pub struct Repo(Arc<Shared>);

struct Shared {
    path: PathBuf,
    common_dir: PathBuf,
    write: AsyncMutex<()>,
    checkouts: Semaphore,
    resolver: Resolver,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Repo").field(&self.0.path).finish()
    }
}

impl Repo {
    /// Opens the repository that holds `path`; from inside a linked worktree that is the main repository.
    pub async fn open(path: &Path) -> Result<Repo, GitError> {
        if !path.is_dir() {
            return Err(GitError::NoRepository(path.to_owned()));
        }
        let found =
            rev_parse(path, &["--path-format=absolute", "--git-common-dir", "--is-bare-repository"]).await?;
        let [common_dir, bare] = found.as_slice() else {
            return Err(GitError::NoRepository(path.to_owned()));
        };
        let common_dir = std::fs::canonicalize(common_dir).map_err(GitError::io(Path::new(common_dir)))?;
        let main = if bare == "true" { common_dir.clone() } else { main_checkout(path, &common_dir).await? };
        Ok(Self::shared(main, common_dir))
    }

    fn shared(path: PathBuf, common_dir: PathBuf) -> Repo {
        static OPEN: OnceLock<Mutex<HashMap<PathBuf, Weak<Shared>>>> = OnceLock::new();
        let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = open.get(&common_dir).and_then(Weak::upgrade) {
            return Repo(shared);
        }
        open.retain(|_, shared| shared.strong_count() > 0);
        let shared = Arc::new(Shared {
            resolver: Resolver::new(common_dir.clone()),
            write: AsyncMutex::new(()),
            checkouts: Semaphore::new(CHECKOUTS),
            path,
            common_dir: common_dir.clone(),
        });
        open.insert(common_dir, Arc::downgrade(&shared));
        Repo(shared)
    }

    /// Makes `path` a repository on `main` with an empty first commit.
    pub async fn init(path: &Path) -> Result<Repo, GitError> {
        std::fs::create_dir_all(path).map_err(GitError::io(path))?;
        Git::write(path).args(["init", "-q", "-b", "main"]).run().await?;
        let repo = Self::open(path).await?;
        repo.resolver().forget().await;
        repo.ensure_first_commit().await?;
        Ok(repo)
    }

    /// Whether nothing was ever committed here.
    pub async fn is_empty(&self) -> Result<bool, GitError> {
        let any = Git::read(self.path()).args(["for-each-ref", "--count=1"]).text().await?;
        let head =
            Git::read(self.path()).args(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).answer().await?;
        Ok(any.is_empty() && head.code != 0)
    }

    /// A repository without any commit gets an empty one on the branch that it is on; answers which, if one was made.
    pub async fn ensure_first_commit(&self) -> Result<Option<String>, GitError> {
        let _writing = self.writing().await;
        if !self.is_empty().await? {
            return Ok(None);
        }
        let branch = self.current_branch().await?.unwrap_or_else(|| "main".to_owned());
        let identity = self.identity().await?;
        let tree = Git::write(self.path()).args(["mktree"]).input("").text().await?;
        let commit = Git::write(self.path())
            .options(&identity)
            .args(["commit-tree", "--no-gpg-sign", "-m", "Initial commit", &tree])
            .text()
            .await?;
        let reference = format!("refs/heads/{branch}");
        Git::write(self.path()).args(["update-ref", &reference, &commit, ""]).run_patiently().await?;
        Ok(Some(branch))
    }

    /// The real top directory of the main checkout.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// The real git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.0.common_dir
    }

    /// Branch of the main checkout; `None` when its HEAD is detached.
    pub async fn current_branch(&self) -> Result<Option<String>, GitError> {
        let answer = Git::read(self.path()).args(["symbolic-ref", "-q", "--short", "HEAD"]).answer().await?;
        match answer.code {
            0 => Ok(Some(String::from_utf8_lossy(&answer.stdout).trim().to_owned())),
            1 => Ok(None),
            _ => Err(answer.into_error()),
        }
    }

    /// The commit that `worktree` has checked out.
    pub async fn head_of(&self, worktree: &Path) -> Result<String, GitError> {
        let git_dir = admin::private_dir(worktree).unwrap_or_else(|| worktree.join(".git"));
        let head = tokio::fs::read_to_string(git_dir.join("HEAD")).await.unwrap_or_default();
        // A branch is known without a process; whatever else HEAD may say, git knows how to read it.
        if let Some(branch) = head.trim().strip_prefix("ref: ")
            && let Some(commit) = self.resolver().commit(branch).await?
        {
            return Ok(commit);
        }
        Git::read(worktree).args(["rev-parse", "--verify", "HEAD^{commit}"]).text().await
    }

    pub(crate) fn resolver(&self) -> &Resolver {
        &self.0.resolver
    }

    /// Held while refs, configuration or worktree entries change.
    pub(crate) async fn writing(&self) -> MutexGuard<'_, ()> {
        self.0.write.lock().await
    }

    pub(crate) async fn checking_out(&self) -> Option<SemaphorePermit<'_>> {
        // Closed never happens; without a permit the checkout merely runs unbounded.
        self.0.checkouts.acquire().await.ok()
    }

    /// Options that give a commit an identity when the user has configured none.
    pub(crate) async fn identity(&self) -> Result<Vec<String>, GitError> {
        let args = ["config", "-z", "--get-regexp", r"^user\.(name|email)$"];
        let known = Git::read(self.path()).args(args).answer().await?;
        let known = String::from_utf8_lossy(&known.stdout).into_owned();
        let mut options = Vec::new();
        for (key, value) in [("user.name", "Forge"), ("user.email", "forge@localhost")] {
            // The last value counts, and an empty one counts as none.
            let values = known.split('\0').filter_map(|record| record.split_once('\n'));
            let last = values.rev().find(|(name, _)| *name == key);
            if last.is_none_or(|(_, value)| value.trim().is_empty()) {
                options.push(format!("{key}={value}"));
            }
        }
        Ok(options)
    }
}

async fn main_checkout(path: &Path, common_dir: &Path) -> Result<PathBuf, GitError> {
    let git_dir = rev_parse(path, &["--path-format=absolute", "--git-dir"]).await?;
    let own =
        git_dir.first().is_some_and(|dir| std::fs::canonicalize(dir).is_ok_and(|dir| dir == common_dir));
    // The main checkout of a linked worktree holds the common directory as `.git`; otherwise there is none.
    let beside = common_dir.parent().filter(|_| common_dir.ends_with(".git"));
    let Some(from) = (if own { Some(path) } else { beside }) else { return Ok(common_dir.to_owned()) };
    match rev_parse(from, &["--show-toplevel"]).await?.first() {
        Some(top) => Ok(PathBuf::from(top)),
        None => Ok(common_dir.to_owned()),
    }
}

pub(crate) async fn rev_parse(dir: &Path, args: &[&str]) -> Result<Vec<String>, GitError> {
    let answer = Git::read(dir).args(["rev-parse"]).args(args).answer().await?;
    if answer.code != 0 {
        let missing = ["not a git repository", "must be run in a work tree"];
        return match missing.iter().any(|text| answer.stderr.contains(text)) {
            true => Err(GitError::NoRepository(dir.to_owned())),
            false => Err(answer.into_error()),
        };
    }
    Ok(String::from_utf8_lossy(&answer.stdout).lines().map(str::to_owned).collect())
}
