//! A git repository.
//!
//! Owns: where the main checkout and the common git directory are, and the lock under which this process changes refs,
//! configuration and worktree entries.
//! Invariant: every `Repo` of one common git directory shares one lock, however it was opened.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, MutexGuard, Semaphore, SemaphorePermit};

use crate::branch::{MergeBases, Resolver};
use crate::command::Git;
use crate::counted::Counted;
use crate::radar::Conflicts;
use crate::tree::{Tree, read_text};
use crate::{GitError, admin, is_object_id};

/// Checkouts at once in one repository: disk and processor limit them, not waiting.
const CHECKOUTS: usize = 4;

#[derive(Clone)]
pub struct Repo(Arc<Shared>);

struct Shared {
    main: Tree,
    store: Tree,
    write: AsyncMutex<()>,
    checkouts: Semaphore,
    resolver: Resolver,
    used: Once,
    conflicts: Conflicts,
    counted: Counted,
    merge_bases: MergeBases,
}

impl std::fmt::Debug for Repo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Repo").field(&self.path()).finish()
    }
}

impl Repo {
    /// Opens the repository that contains `path`; from inside a linked worktree that is the main repository.
    pub async fn open(path: &Path) -> Result<Repo, GitError> {
        if !path.is_dir() {
            return Err(GitError::NoRepository(path.to_owned()));
        }
        let args = ["--path-format=absolute", "--git-common-dir", "--git-dir", "--is-bare-repository"];
        let found = rev_parse(path, &args).await?;
        let [common_dir, git_dir, bare] = found.as_slice() else {
            return Err(GitError::NoRepository(path.to_owned()));
        };
        let real = |dir: &str| std::fs::canonicalize(dir).map_err(GitError::io(Path::new(dir)));
        let (common_dir, git_dir) = (real(common_dir)?, real(git_dir)?);
        let is_own = git_dir == common_dir;
        if !is_own {
            refuse_inner(path, &git_dir, &common_dir)?;
        }
        let main = match bare == "true" {
            true => common_dir.clone(),
            false => main_checkout(path, &common_dir, is_own).await?,
        };
        Ok(Self::shared(main, common_dir))
    }

    fn shared(path: PathBuf, common_dir: PathBuf) -> Repo {
        static OPEN: OnceLock<Mutex<HashMap<PathBuf, Weak<Shared>>>> = OnceLock::new();
        let mut open = OPEN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(shared) = open.get(&common_dir).and_then(Weak::upgrade) {
            return Repo(shared);
        }
        open.retain(|_, shared| shared.strong_count() > 0);
        let store = Tree::main(&common_dir, &common_dir);
        let shared = Arc::new(Shared {
            resolver: Resolver::new(store.clone()),
            write: AsyncMutex::new(()),
            checkouts: Semaphore::new(CHECKOUTS),
            used: Once::new(),
            conflicts: Conflicts::default(),
            counted: Counted::default(),
            merge_bases: MergeBases::default(),
            main: Tree::main(&path, &common_dir),
            store,
        });
        open.insert(common_dir, Arc::downgrade(&shared));
        Repo(shared)
    }

    /// Makes `path` a repository on `main` with an empty first commit.
    pub async fn init(path: &Path) -> Result<Repo, GitError> {
        std::fs::create_dir_all(path).map_err(GitError::io(path))?;
        Git::anywhere(path).args(["init", "-q", "-b", "main"]).run().await?;
        let repo = Self::open(path).await?;
        repo.resolver().forget().await;
        repo.ensure_first_commit().await?;
        Ok(repo)
    }

    /// Whether nothing was ever committed here.
    pub async fn is_empty(&self) -> Result<bool, GitError> {
        let any = Git::read(self.main()).args(["for-each-ref", "--count=1"]).text().await?;
        let head =
            Git::read(self.main()).args(["rev-parse", "-q", "--verify", "HEAD^{commit}"]).answer().await?;
        Ok(any.is_empty() && head.code != 0)
    }

    /// A repository without any commit gets an empty one on its current branch; returns which branch, if one was made.
    pub async fn ensure_first_commit(&self) -> Result<Option<String>, GitError> {
        let _writing = self.writing().await;
        if !self.is_empty().await? {
            return Ok(None);
        }
        let branch = self.current_branch().await?.unwrap_or_else(|| "main".to_owned());
        let identity = self.identity().await?;
        let tree = Git::write(self.main()).args(["mktree"]).input("").text().await?;
        let commit = Git::write(self.main())
            .options(&identity)
            .args(["commit-tree", "--no-gpg-sign", "-m", "Initial commit", &tree])
            .text()
            .await?;
        let reference = format!("refs/heads/{branch}");
        Git::write(self.main()).args(["update-ref", &reference, &commit, ""]).run_patiently().await?;
        Ok(Some(branch))
    }

    /// The real top directory of the main checkout.
    pub fn path(&self) -> &Path {
        self.0.main.path()
    }

    pub(crate) fn conflicts(&self) -> &Conflicts {
        &self.0.conflicts
    }

    pub(crate) fn merge_bases(&self) -> &MergeBases {
        &self.0.merge_bases
    }

    pub(crate) fn counted(&self) -> &Counted {
        &self.0.counted
    }

    /// The real git directory that all worktrees share.
    pub fn common_dir(&self) -> &Path {
        self.0.store.path()
    }

    /// The main checkout; the repository alone when it is bare.
    pub(crate) fn main(&self) -> &Tree {
        &self.0.main
    }

    /// The repository without any checkout.
    pub(crate) fn store(&self) -> &Tree {
        &self.0.store
    }

    /// Runs `work` when this process first uses the repository.
    pub(crate) fn first_use(&self, work: impl FnOnce()) {
        self.0.used.call_once(work);
    }

    /// Branch of the main checkout; `None` when its HEAD is detached.
    pub async fn current_branch(&self) -> Result<Option<String>, GitError> {
        let answer = Git::read(self.main()).args(["symbolic-ref", "-q", "--short", "HEAD"]).answer().await?;
        match answer.code {
            0 => Ok(Some(String::from_utf8_lossy(&answer.stdout).trim().to_owned())),
            1 => Ok(None),
            _ => Err(answer.into_error()),
        }
    }

    /// The commit that `worktree` has checked out.
    pub async fn head_of(&self, worktree: &Path) -> Result<String, GitError> {
        let is_main = std::fs::canonicalize(worktree).is_ok_and(|real| real == self.path());
        let git_dir = if is_main { self.common_dir().to_owned() } else { self.entry(worktree)? };
        let head = read_text(&git_dir.join("HEAD")).unwrap_or_default();
        let head = head.trim();
        // A branch or a commit is known without a process; git resolves whatever else HEAD may contain.
        if let Some(name) = head.strip_prefix("ref: ").or_else(|| is_object_id(head).then_some(head))
            && let Some(commit) = self.resolver().commit(name).await?
        {
            return Ok(commit);
        }
        Git::read(&self.tree(worktree)?).args(["rev-parse", "--verify", "HEAD^{commit}"]).text().await
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
        let known = Git::read(self.main()).args(args).answer().await?;
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

/// A linked worktree belongs to the repository that contains its private git directory, and that repository is neither
/// in the worktree nor in a private git directory: there an agent could have made it.
fn refuse_inner(path: &Path, git_dir: &Path, common_dir: &Path) -> Result<(), GitError> {
    let is_registered = git_dir.parent() == Some(&common_dir.join("worktrees"));
    let is_private = common_dir.ancestors().any(|dir| dir.join("commondir").exists());
    let is_inside = admin::worktree_of(git_dir).is_none_or(|top| common_dir.starts_with(top));
    match is_registered && !is_private && !is_inside {
        true => Ok(()),
        false => {
            let reason = format!("{} leads to {}", git_dir.display(), common_dir.display());
            Err(GitError::Replaced { path: path.to_owned(), reason })
        }
    }
}

async fn main_checkout(path: &Path, common_dir: &Path, own: bool) -> Result<PathBuf, GitError> {
    // The main checkout of a linked worktree has the common directory as `.git`; otherwise there is none.
    let beside = common_dir.parent().filter(|_| common_dir.ends_with(".git"));
    let Some(from) = (if own { Some(path) } else { beside }) else { return Ok(common_dir.to_owned()) };
    match rev_parse(from, &["--show-toplevel"]).await?.first() {
        Some(top) => Ok(PathBuf::from(top)),
        None => Ok(common_dir.to_owned()),
    }
}

pub(crate) async fn rev_parse(dir: &Path, args: &[&str]) -> Result<Vec<String>, GitError> {
    // It runs no hook, but may be asked where they are.
    let answer = Git::anywhere(dir).with_hooks().args(["rev-parse"]).args(args).answer().await?;
    if answer.code != 0 {
        let missing = ["not a git repository", "must be run in a work tree"];
        return match missing.iter().any(|text| answer.stderr.contains(text)) {
            true => Err(GitError::NoRepository(dir.to_owned())),
            false => Err(answer.into_error()),
        };
    }
    Ok(String::from_utf8_lossy(&answer.stdout).lines().map(str::to_owned).collect())
}
