//! A repository, a worktree base and a few helpers to work with them.

use std::path::{Path, PathBuf};
use std::process::Command;

use forge_git::{MarkedTask, Naming, Owner, Repo, Worktree, WorktreeBase, claim};
use forge_types::{AttemptId, TaskId};
use tempfile::TempDir;

pub struct Fixture {
    pub dir: TempDir,
    pub repo: Repo,
    pub base: WorktreeBase,
}

impl Fixture {
    /// A repository with one commit of three files on `main`.
    pub async fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("project");
        std::fs::create_dir(&path).unwrap();
        git(&path, &["init", "-q", "-b", "main"]);
        git(&path, &["config", "user.name", "Tester"]);
        git(&path, &["config", "user.email", "tester@example.com"]);
        git(&path, &["config", "core.autocrlf", "false"]);
        write(&path.join("a.txt"), "one\ntwo\nthree\n");
        write(&path.join("dir/b.txt"), "b\n");
        write(&path.join(".gitignore"), "*.log\nnode_modules/\nignored/\n");
        git(&path, &["add", "-A"]);
        git(&path, &["commit", "-q", "-m", "first"]);
        let repo = Repo::open(&path).await.unwrap();
        let base = base(&dir.path().join("worktrees"), "here");
        Self { dir, repo, base }
    }

    pub fn project(&self) -> PathBuf {
        self.repo.path().to_owned()
    }

    pub fn head(&self) -> String {
        git(self.repo.path(), &["rev-parse", "HEAD"])
    }

    pub async fn start(&self, title: &str) -> (AttemptId, Worktree) {
        let id = AttemptId::random();
        let worktree = self.claim(id, title).await.unwrap();
        (id, worktree)
    }

    pub async fn claim(&self, id: AttemptId, title: &str) -> Result<Worktree, forge_git::GitError> {
        claim(&self.repo, &self.base, &naming(id, title), &self.head()).await
    }
}

pub fn base(path: &Path, installation: &str) -> WorktreeBase {
    WorktreeBase::new(path.to_owned(), installation.to_owned())
}

pub fn naming(id: AttemptId, title: &str) -> Naming {
    let task = MarkedTask { id: TaskId::random(), title: title.to_owned() };
    Naming::Attempt { id, task, prefix: "forge".to_owned() }
}

pub fn owner(id: AttemptId) -> Owner {
    Owner::Attempt(id)
}

/// Runs git and returns its trimmed output; the test fails when git fails.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let (code, text) = try_git(dir, args);
    assert_eq!(code, 0, "git {args:?} in {}: {text}", dir.display());
    text
}

pub fn try_git(dir: &Path, args: &[&str]) -> (i32, String) {
    let out = Command::new("git").arg("-C").arg(dir).args(args).output().unwrap();
    let mut text = String::from_utf8_lossy(&out.stdout).into_owned();
    if !out.status.success() {
        text.push_str(&String::from_utf8_lossy(&out.stderr));
    }
    (out.status.code().unwrap_or(-1), text.trim_end().to_owned())
}

pub fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

pub fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
}
