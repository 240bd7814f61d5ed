//! The machine that holds worktrees, and everything Forge asks of it.
//!
//! Owns every look into a directory that runs work in and every change of one: no other module calls git there.
//! Invariant: a request, its answer and its error are plain data, which the compiler checks, so that they can travel to
//! another machine. There is one host, this machine, and it is called directly. What lasts (a watch, a reader, a living
//! run) is a stream and opened by a method of its own.

mod looks;
mod runs;
mod stock;
mod work;

use std::fmt;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use forge_git::{ContentReader, Credential, GitError, Pool, Remote, Repo, Watch, Worktree, WorktreeBase};
use forge_types::{Attempt, Errand, Project};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub(crate) use looks::{
    Changes, Exists, Head, IsDirty, IsThere, Leftovers, Operation, PatchOf, ReadFile, Status,
};
pub(crate) use stock::{
    Adopt, Claim, DropClaim, EmptyTrash, Ensure, FillSpares, FindStranger, FreeBytes, IsStrangers, List,
    Measure, Release, Restore, Retire, RetireCutOff, TakeOver, Trash, TrimSpares, Whose,
};
pub(crate) use work::{Abort, Commit, CopyFiles, DeleteFile, Merge, PutImages, Rebase, Reset};

use crate::Forge;
use crate::project::Repositories;

/// A directory that runs work in: a worktree of Forge, or the user's checkout.
///
/// Rooms pass it on; only `worktree` and `run` look at its path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Directory {
    /// The repository that it belongs to.
    repo: PathBuf,
    path: PathBuf,
}

impl Directory {
    pub(in crate::worktree) fn new(repo: impl Into<PathBuf>, path: impl Into<PathBuf>) -> Self {
        Self { repo: repo.into(), path: path.into() }
    }

    pub(crate) fn of_attempt(project: &Project, attempt: &Attempt) -> Self {
        let repo = &project.git_repo_path;
        Self::new(repo, attempt.container_ref.as_deref().unwrap_or(repo))
    }

    pub(crate) fn of_errand(project: &Project, errand: &Errand) -> Self {
        let repo = &project.git_repo_path;
        Self::new(repo, errand.container_ref.as_deref().unwrap_or(repo))
    }

    /// The worktree that an attempt has; none where none was recorded, never the user's checkout in its place.
    pub(crate) fn recorded_of_attempt(project: &Project, attempt: &Attempt) -> Option<Self> {
        attempt.container_ref.as_ref().map(|path| Self::new(&project.git_repo_path, path))
    }

    /// The same for an errand.
    pub(crate) fn recorded_of_errand(project: &Project, errand: &Errand) -> Option<Self> {
        errand.container_ref.as_ref().map(|path| Self::new(&project.git_repo_path, path))
    }

    /// The user's own checkout of the project.
    pub(crate) fn checkout(project: &Project) -> Self {
        Self::new(&project.git_repo_path, &project.git_repo_path)
    }

    /// The worktree that was just claimed in the project.
    pub(crate) fn claimed(project: &Project, worktree: &Worktree) -> Self {
        Self::new(&project.git_repo_path, &worktree.path)
    }

    /// For the rooms `worktree` and `run` alone.
    pub(crate) fn local_path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

/// Something that a host does, as plain data.
pub(crate) trait Request: Serialize + DeserializeOwned + Send {
    type Answer: Serialize + DeserializeOwned + Send;

    fn carry_out(self, host: &Machine) -> impl Future<Output = Result<Self::Answer, GitError>> + Send;
}

/// Declares requests: what each carries, what it answers, and how this machine carries it out.
macro_rules! requests {
    ($(
        $(#[$doc:meta])*
        $name:ident { $($field:ident: $type:ty),* $(,)? } -> $answer:ty = |$host:ident| $body:expr;
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, serde::Serialize, serde::Deserialize)]
        pub(crate) struct $name {
            $(pub(crate) $field: $type,)*
        }

        impl $crate::worktree::host::Request for $name {
            type Answer = $answer;

            async fn carry_out(
                self,
                $host: &$crate::worktree::host::Machine,
            ) -> Result<$answer, forge_git::GitError> {
                let Self { $($field),* } = self;
                $body
            }
        }
    )*};
}
use requests;

/// A host. Copies are the same one.
#[derive(Clone)]
pub(crate) struct Host(Arc<Machine>);

/// This machine.
pub(crate) struct Machine {
    pub(crate) base: WorktreeBase,
    pub(crate) pool: Pool,
    pub(crate) repos: Arc<Repositories>,
    /// The program that keeps runs, and the folder of their logs.
    pub(crate) exe: PathBuf,
    pub(crate) logs: PathBuf,
}

impl Machine {
    async fn repo(&self, path: &Path) -> Result<Repo, GitError> {
        self.repos.at(path).await
    }
}

impl Host {
    pub(crate) fn new(machine: Machine) -> Self {
        Self(Arc::new(machine))
    }

    pub(crate) fn base(&self) -> &Path {
        self.0.base.path()
    }

    /// Whose worktrees this host makes.
    pub(crate) fn installation(&self) -> &str {
        self.0.base.installation()
    }

    pub(crate) async fn ask<R: Request>(&self, request: R) -> Result<R::Answer, GitError> {
        request.carry_out(&self.0).await
    }

    /// Publishes a branch. Credentials do not travel: this machine has them.
    pub(crate) async fn push(
        &self,
        at: &Directory,
        branch: &str,
        remote: &Remote,
        credential: Option<&Credential>,
    ) -> Result<String, GitError> {
        forge_git::push(&self.0.repo(&at.repo).await?, &at.path, branch, remote, credential).await
    }

    /// Wakes its holder at every change in the directory.
    pub(crate) async fn watch(&self, at: &Directory) -> Result<Watch, GitError> {
        let path = at.path.clone();
        let watching = tokio::task::spawn_blocking(move || forge_git::watch(&path)).await;
        let cut_off = |cause| GitError::Io { path: at.path.clone(), source: std::io::Error::other(cause) };
        watching.map_err(cut_off)?
    }

    /// Reads changed files, a batch at a time.
    pub(crate) async fn contents(&self, at: &Directory) -> Result<ContentReader, GitError> {
        Ok(ContentReader::new(&self.0.repo(&at.repo).await?, &at.path))
    }
}

impl Forge {
    /// Asks the host that has the worktrees.
    pub(crate) async fn ask<R: Request>(&self, request: R) -> Result<R::Answer, GitError> {
        self.0.worktrees.host().ask(request).await
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

    use super::*;

    /// As if it came from another machine.
    fn sent<T: Serialize + DeserializeOwned>(value: &T) -> T {
        serde_json::from_slice(&serde_json::to_vec(value).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn a_request_that_travelled_does_the_same_and_so_does_its_answer() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("repo");
        let repo = Repo::init(&path).await.unwrap();
        std::fs::write(path.join("a.txt"), "1\n").unwrap();
        let base = WorktreeBase::new(dir.path().join("base"), "here".to_owned());
        let pool = Pool::new(base.clone(), 0);
        let (exe, logs) = (PathBuf::from("forge"), dir.path().join("runs"));
        let host = Host::new(Machine { base, pool, repos: Arc::default(), exe, logs });
        let at = Directory::new(repo.path(), repo.path());

        let here = host.ask(Status { at: at.clone() }).await.unwrap();
        let there = host.ask(sent(&Status { at: at.clone() })).await.unwrap();
        assert_eq!((here.untracked, &sent(&here)), (1, &there));

        let missing = || ReadFile { at: at.clone(), file: "b.txt".to_owned(), max_bytes: 9 };
        let here = host.ask(missing()).await.unwrap_err();
        let there = sent(&host.ask(sent(&missing())).await.unwrap_err());
        assert!(matches!(there, GitError::FileMissing { .. }));
        assert_eq!(here.to_string(), there.to_string());
    }
}
