//! Making worktrees and assigning them to an owner.
//!
//! Owns: the three steps of every worktree: detached spare, marked and moved to its name, put on its branch. Invariant:
//! the caller undoes a failed step with [`give_back`]; a spare is never deleted.

use std::path::{Path, PathBuf};

use forge_types::AttemptId;

use crate::admin::Draft;
use crate::base::{Spare, blocking};
use crate::command::{Git, GitVersion, Haste, check_git};
use crate::tree::Tree;
use crate::{GitError, Mark, Owner, Repo, WorktreeBase, admin, mark};

/// How HEAD of a new worktree gets its branch.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attach {
    /// The branch must not exist yet.
    Create,
    /// The branch exists and points at the checked out commit.
    Existing,
}

/// Whether the user's hooks run in a new worktree.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hooks {
    /// It begins at a commit that the user chose, and may need what they do.
    Run,
    /// It is brought back with what an agent left in it, which the user's hooks must not treat as the user's own.
    Off,
}

/// Why a branch could not be attached.
pub(crate) enum AttachFailure {
    Taken,
    Other(GitError),
}

/// A fresh detached worktree at `commit`, marked as a spare and held by the caller.
pub(crate) async fn make(
    repo: &Repo,
    base: &WorktreeBase,
    commit: &str,
    hooks: Hooks,
    haste: Haste,
) -> Result<Spare, GitError> {
    let dir = base.spare_dir();
    std::fs::create_dir_all(&dir).map_err(GitError::io(&dir))?;
    let dir = std::fs::canonicalize(&dir).map_err(GitError::io(&dir))?;
    let path = dir.join(&AttemptId::random().hex()[..12]);
    base.hold(&path);
    let made = fill_in(repo, base, commit, &path, hooks, haste).await;
    if made.is_err() {
        base.let_go(&path);
    }
    made
}

async fn fill_in(
    repo: &Repo,
    base: &WorktreeBase,
    commit: &str,
    path: &Path,
    hooks: Hooks,
    haste: Haste,
) -> Result<Spare, GitError> {
    let git_dir = register(repo, base, commit, path).await?;
    let _permit = repo.checking_out().await;
    let tree = repo.linked(path, git_dir.clone());
    if let Err(error) = check_out(repo, &tree, Some("-f"), commit, hooks, haste).await {
        drop_empty(repo, base, path, &git_dir);
        return Err(error);
    }
    Ok(Spare { path: path.to_owned(), git_dir, commit: commit.to_owned() })
}

/// Brings a spare to `commit`. Only the user's own hooks run, and none that is in the worktree itself.
pub(crate) async fn check_out(
    repo: &Repo,
    tree: &Tree,
    force: Option<&str>,
    commit: &str,
    hooks: Hooks,
    haste: Haste,
) -> Result<(), GitError> {
    let mut checkout = Git::write(tree);
    if hooks == Hooks::Run {
        let folder = ["rev-parse", "--path-format=absolute", "--git-path", "hooks"];
        let folder = Git::read(repo.main()).with_hooks().args(folder).text().await?;
        checkout = checkout.with_hooks().option(format!("core.hooksPath={folder}"));
    }
    let checkout = checkout.args(["checkout", "-q"]).args(force).args(["--detach", commit, "--"]);
    checkout.haste(haste).time_limit(std::time::Duration::from_secs(1800)).run_patiently().await.map(drop)
}

/// An empty worktree at `commit` that git knows. `git worktree add` writes its entry file by file, and every git that
/// lists the worktrees meanwhile, also the user's own, dies of it. So Forge writes the entry of a common repository
/// itself, in one piece, and leaves the uncommon ones, whose entries contain more, to git.
async fn register(repo: &Repo, base: &WorktreeBase, commit: &str, path: &Path) -> Result<PathBuf, GitError> {
    let _writing = repo.writing().await;
    let mark = spare_mark(repo, base);
    if !is_common(repo) {
        Git::write(repo.main())
            .option("worktree.useRelativePaths=false")
            .args(["worktree", "add", "--detach", "--no-checkout", "-q", "--"])
            .args([path.as_os_str(), commit.as_ref()])
            .run_patiently()
            .await?;
        let git_dir = repo.entry(path)?;
        mark::write(base, &git_dir, &mark)?;
        return Ok(git_dir);
    }
    let (repo, base, path, head) = (repo.clone(), base.clone(), path.to_owned(), format!("{commit}\n"));
    blocking(move || {
        std::fs::create_dir(&path).map_err(GitError::io(&path))?;
        let draft = Draft::new(&repo, |dir| {
            std::fs::create_dir(dir).map_err(GitError::io(dir))?;
            admin::write_whole(&dir.join("HEAD"), head.as_bytes())?;
            admin::write_whole(&dir.join("commondir"), b"../..\n")?;
            mark::write_copy(dir, &mark)
        })?;
        let wanted = path.file_name().unwrap_or_default().to_string_lossy();
        let git_dir = draft.publish(&repo, &wanted, &path)?;
        mark::write(&base, &git_dir, &mark)?;
        Ok(git_dir)
    })
    .await
}

/// Removes a worktree in which nothing was checked out; one that contains a single file is left for later.
fn drop_empty(repo: &Repo, base: &WorktreeBase, path: &Path, git_dir: &Path) {
    let empty = std::fs::read_dir(path)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| entry.file_name() == ".git")));
    if empty && std::fs::remove_file(path.join(".git")).is_ok() && std::fs::remove_dir(path).is_ok() {
        let _ = admin::withdraw(repo, git_dir).and_then(|()| mark::forget(base, git_dir));
    }
}

/// Whether a worktree's entry is no more than HEAD and the two pointers: references as files, one configuration for all
/// worktrees, no sparse checkout to inherit, no permissions of its own.
fn is_common(repo: &Repo) -> bool {
    let Ok(config) = std::fs::read_to_string(repo.common_dir().join("config")) else { return false };
    let config = config.to_ascii_lowercase();
    let special = ["worktreeconfig", "refstorage", "sparsecheckout", "sharedrepository"];
    !special.iter().any(|name| config.contains(name))
        && !repo.common_dir().join("info/sparse-checkout").exists()
}

pub(crate) fn spare_mark(repo: &Repo, base: &WorktreeBase) -> Mark {
    Mark {
        installation: base.installation().to_owned(),
        owner: Owner::Spare,
        branch: None,
        repo: repo.path().to_string_lossy().into_owned(),
        task: None,
    }
}

/// Marks the spare and moves it to `to`; `Exists` when something is already there.
pub(crate) fn settle(base: &WorktreeBase, spare: &Spare, mark: &Mark, to: &Path) -> Result<(), GitError> {
    mark::write(base, &spare.git_dir, mark)?;
    match forge_os::rename_new(&spare.path, to) {
        Ok(()) => admin::connect(&spare.git_dir, to),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(GitError::Exists(to.to_owned()))
        }
        Err(error) => Err(GitError::io(to)(error)),
    }
}

/// Puts the settled worktree on `branch`: one git process where git can do both steps at once.
pub(crate) async fn attach(
    tree: &Tree,
    branch: &str,
    commit: &str,
    how: Attach,
) -> Result<(), AttachFailure> {
    const SYMREF_UPDATE: GitVersion = GitVersion { major: 2, minor: 46, patch: 0 };
    let version = check_git().await.map_err(AttachFailure::Other)?;
    let full_ref = format!("refs/heads/{branch}");
    let together = version >= SYMREF_UPDATE;
    let mut input = Vec::new();
    if how == Attach::Create {
        input.extend_from_slice(format!("create {full_ref}\0{commit}\0").as_bytes());
    }
    if together {
        input.extend_from_slice(format!("symref-update HEAD\0{full_ref}\0oid\0{commit}\0").as_bytes());
    }
    if !input.is_empty() {
        let update = Git::write(tree).args(["update-ref", "-z", "--stdin"]).input(input);
        update.run_patiently().await.map_err(|error| match error {
            GitError::Failed { stderr, .. } if stderr.contains("reference already exists") => {
                AttachFailure::Taken
            }
            other => AttachFailure::Other(other),
        })?;
    }
    if !together {
        let point = Git::write(tree).args(["symbolic-ref", "HEAD", &full_ref]);
        if let Err(error) = point.run_patiently().await {
            if how == Attach::Create {
                remove_branch(tree, branch, commit).await;
            }
            return Err(AttachFailure::Other(error));
        }
    }
    Ok(())
}

/// Undoes `attach` with `Attach::Create`.
pub(crate) async fn detach(tree: &Tree, branch: &str, commit: &str) {
    let head = Git::write(tree).args(["update-ref", "--no-deref", "HEAD", commit]);
    if let Err(error) = head.run_patiently().await {
        tracing::warn!(worktree = %tree.path().display(), %error, "could not detach an unfinished worktree");
        return;
    }
    remove_branch(tree, branch, commit).await;
}

async fn remove_branch(tree: &Tree, branch: &str, commit: &str) {
    let full_ref = format!("refs/heads/{branch}");
    let remove = Git::write(tree).args(["update-ref", "-d", &full_ref, commit]);
    if let Err(error) = remove.run_patiently().await {
        tracing::warn!(branch, %error, "could not remove the branch of an unfinished start");
    }
}

/// Turns a settled or unsettled worktree back into a ready spare.
pub(crate) fn give_back(repo: &Repo, base: &WorktreeBase, spare: Spare, now_at: &Path) {
    let back = || -> Result<(), GitError> {
        if now_at != spare.path && std::fs::symlink_metadata(now_at).is_ok() {
            forge_os::rename_new(now_at, &spare.path).map_err(GitError::io(&spare.path))?;
            admin::connect(&spare.git_dir, &spare.path)?;
        }
        mark::write(base, &spare.git_dir, &spare_mark(repo, base))
    };
    match back() {
        Ok(()) => base.put_spare(repo, spare),
        Err(error) => {
            base.let_go(&spare.path);
            tracing::warn!(path = %now_at.display(), %error, "could not give a spare worktree back");
        }
    }
}
