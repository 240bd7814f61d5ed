//! Claiming a worktree: a name, a branch and a directory for one attempt or errand.
//!
//! Invariant: a claim is whole or absent. On failure the branch and its configuration are removed again and the
//! directory is a spare for the next claim. Branch and directory always have the same hex digits of the owner's id, and
//! the branch configuration holds the full id.

use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_types::{AttemptId, ErrandId, branch_name, name_for};
use serde::{Deserialize, Serialize};

use crate::base::{Spare, blocking};
use crate::command::{Git, Haste};
use crate::spare::{self, Attach, AttachFailure, Hooks};
use crate::tree::Tree;
use crate::{GitError, Mark, MarkedTask, Owner, Repo, WorktreeBase, config};

const HEX_DIGITS: usize = 32;
/// Of a branch, in the configuration.
const KEY: &str = "forgeAttempt";

/// Who the worktree is for and what it is called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Naming {
    Attempt { id: AttemptId, task: MarkedTask, prefix: String },
    Errand { id: ErrandId },
}

impl Naming {
    pub fn owner(&self) -> Owner {
        match self {
            Naming::Attempt { id, .. } => Owner::Attempt(*id),
            Naming::Errand { id } => Owner::Errand(*id),
        }
    }

    fn task(&self) -> Option<&MarkedTask> {
        match self {
            Naming::Attempt { task, .. } => Some(task),
            Naming::Errand { .. } => None,
        }
    }

    /// Directory and branch that use `digits` hex digits; an errand's branch always shows four more.
    fn names(&self, digits: usize) -> (String, String) {
        match self {
            Naming::Attempt { id, task, prefix } => {
                let name = name_for(&id.hex(), digits, &task.title);
                let branch = branch_name(prefix, &name);
                (name, branch)
            }
            Naming::Errand { id } => {
                let hex = id.hex();
                let long = (digits + 4).min(HEX_DIGITS);
                (format!("run-{}", &hex[..digits]), format!("run/{}", &hex[..long]))
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub path: PathBuf,
    pub name: String,
    pub branch: String,
    pub head: String,
    /// What did not work but does not stop the start, such as a submodule that could not be fetched.
    pub warnings: Vec<String>,
}

/// Claims a worktree at `commit`, from a warm spare when there is one.
pub async fn claim(
    repo: &Repo,
    base: &WorktreeBase,
    naming: &Naming,
    commit: &str,
) -> Result<Worktree, GitError> {
    let commit = full_commit(repo, commit).await?;
    base.make()?;
    let real_base = std::fs::canonicalize(base.path()).map_err(GitError::io(base.path()))?;
    let spare = match base.take_spare(repo, &commit) {
        Some(spare) => spare,
        None => spare::make(repo, base, &commit, Hooks::Run, Haste::Now).await?,
    };
    let (name, branch) = match take_name(repo, base, naming, &spare, &real_base).await {
        Ok(names) => names,
        Err(error) => {
            spare::give_back(repo, base, spare.clone(), &spare.path);
            return Err(error);
        }
    };
    let real = real_base.join(&name);
    let tree = repo.linked(&real, spare.git_dir.clone());
    if let Err(error) = record(repo, &branch, naming.owner()).await {
        spare::detach(&tree, &branch, &commit).await;
        spare::give_back(repo, base, spare, &real);
        return Err(error);
    }
    base.let_go(&spare.path);
    let warnings = update_submodules(repo, &tree).await;
    Ok(Worktree { path: base.path().join(&name), name, branch, head: commit, warnings })
}

/// Moves the spare to the first free name and puts it on a new branch.
async fn take_name(
    repo: &Repo,
    base: &WorktreeBase,
    naming: &Naming,
    spare: &Spare,
    real_base: &Path,
) -> Result<(String, String), GitError> {
    for digits in 4..=HEX_DIGITS {
        let (name, branch) = naming.names(digits);
        let to = real_base.join(&name);
        if std::fs::symlink_metadata(&to).is_ok() {
            continue;
        }
        let mark = Mark {
            installation: base.installation().to_owned(),
            owner: naming.owner(),
            branch: Some(branch.clone()),
            repo: repo.path().to_string_lossy().into_owned(),
            task: naming.task().cloned(),
        };
        match spare::settle(base, spare, &mark, &to) {
            Ok(()) => {}
            Err(GitError::Exists(_)) => continue,
            Err(error) => return Err(unsettle(spare, &to, error)),
        }
        let tree = repo.linked(&to, spare.git_dir.clone());
        match spare::attach(&tree, &branch, &spare.commit, Attach::Create).await {
            Ok(()) => return Ok((name, branch)),
            Err(AttachFailure::Taken) => move_back(spare, &to)?,
            Err(AttachFailure::Other(error)) => return Err(unsettle(spare, &to, error)),
        }
    }
    let (name, branch) = naming.names(HEX_DIGITS);
    Err(GitError::Busy(format!("every name up to '{name}' (branch '{branch}') is taken: rename one of them")))
}

fn move_back(spare: &Spare, from: &Path) -> Result<(), GitError> {
    forge_os::rename_new(from, &spare.path).map_err(GitError::io(&spare.path))?;
    crate::admin::connect(&spare.git_dir, &spare.path)
}

/// Moves back because of `error`, which stays the error to report.
fn unsettle(spare: &Spare, from: &Path, error: GitError) -> GitError {
    if std::fs::symlink_metadata(&spare.path).is_err()
        && let Err(second) = move_back(spare, from)
    {
        tracing::warn!(path = %from.display(), error = %second, "could not move an unfinished worktree back");
    }
    error
}

/// Writes the owner's full id into the branch's configuration.
pub(crate) async fn record(repo: &Repo, branch: &str, owner: Owner) -> Result<(), GitError> {
    let _writing = repo.writing().await;
    let (of, name, id) = (repo.clone(), branch.to_owned(), owner.to_string());
    if !blocking(move || config::append(&of, "branch", &name, KEY, &id)).await? {
        let key = config_key(branch);
        Git::write(repo.main()).args(["config", "--local", &key, &owner.to_string()]).run_patiently().await?;
    }
    Ok(())
}

/// The branch that is checked out at `dir` and the id of the owner that its configuration names, if there is one.
pub async fn recorded(dir: &Path) -> Result<Option<(String, String)>, GitError> {
    let branch = Git::anywhere(dir).args(["symbolic-ref", "-q", "--short", "HEAD"]).answer().await?;
    if branch.code != 0 {
        return Ok(None);
    }
    let branch = String::from_utf8_lossy(&branch.stdout).trim().to_owned();
    let id = Git::anywhere(dir).args(["config", "--get", &config_key(&branch)]).answer().await?;
    let id = String::from_utf8_lossy(&id.stdout).trim().to_owned();
    Ok((!id.is_empty()).then_some((branch, id)))
}

pub(crate) fn config_key(branch: &str) -> String {
    format!("branch.{branch}.{KEY}")
}

async fn full_commit(repo: &Repo, commit: &str) -> Result<String, GitError> {
    let is_full = matches!(commit.len(), 40 | 64) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    if is_full {
        return Ok(commit.to_owned());
    }
    let found = if crate::branch::is_plain(commit) { repo.resolver().commit(commit).await? } else { None };
    found.ok_or_else(|| GitError::BranchMissing(commit.to_owned()))
}

/// Fills in submodules where the main checkout has them; a failure is a warning.
pub(crate) async fn update_submodules(repo: &Repo, tree: &Tree) -> Vec<String> {
    let wanted = tree.path().join(".gitmodules").is_file() && repo.common_dir().join("modules").is_dir();
    if !wanted {
        return Vec::new();
    }
    let args = ["submodule", "update", "--init", "--recursive", "--quiet"];
    let update = Git::write(tree).args(args).time_limit(Duration::from_secs(600));
    match update.run_patiently().await {
        Ok(_) => Vec::new(),
        Err(error) => vec![format!("submodules are not complete: {error}")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_and_branch_grow_together() {
        let id: AttemptId = "a1b2c3d4-0000-4000-8000-000000000000".parse().expect("an id");
        let task = MarkedTask { id: forge_types::TaskId::random(), title: "Fix it".into() };
        let naming = Naming::Attempt { id, task, prefix: "forge".into() };
        assert_eq!(naming.names(4), ("a1b2-fix-it".into(), "forge/a1b2-fix-it".into()));
        assert_eq!(naming.names(5), ("a1b2c-fix-it".into(), "forge/a1b2c-fix-it".into()));
        let errand = Naming::Errand { id: "a1b2c3d4-e5f6-4000-8000-000000000000".parse().expect("an id") };
        assert_eq!(errand.names(4), ("run-a1b2".into(), "run/a1b2c3d4".into()));
        assert_eq!(errand.names(5), ("run-a1b2c".into(), "run/a1b2c3d4e".into()));
    }
}
