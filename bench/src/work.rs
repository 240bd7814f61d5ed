//! The bench's own ground: a temporary directory, git repositories in it, the mark of the run.
//!
//! Both sides get repositories of the same content, never the same repository.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tokio::process::Command;
use uuid::Uuid;

pub struct Work {
    /// Mark of every process of this run, see `processes::MARK`.
    pub run: String,
    /// Smaller counts, for a look rather than a figure.
    pub size: Size,
    pub forge: PathBuf,
    temp: tempfile::TempDir,
    out: PathBuf,
    started: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    Full,
    Quick,
}

impl Work {
    pub fn new(size: Size, forge: PathBuf, out: PathBuf) -> Result<Work> {
        std::fs::create_dir_all(&out)?;
        let started = u64::try_from(crate::fake::now_ns() / 1_000_000_000)?;
        let temp = tempfile::Builder::new().prefix("forge-bench-").tempdir()?;
        Ok(Work { run: Uuid::new_v4().to_string(), size, forge, temp, out, started })
    }

    /// `full` in a full run, `quick` in a quick one.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        match self.size {
            Size::Full => full,
            Size::Quick => quick,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    pub fn dir(&self, name: &str) -> Result<PathBuf> {
        let path = self.path(name);
        std::fs::create_dir_all(&path)?;
        Ok(path)
    }

    pub fn log(&self, name: &str) -> PathBuf {
        self.out.join(format!("{}-{name}.log", self.started))
    }

    pub fn result(&self) -> PathBuf {
        self.out.join(format!("{}.json", self.started))
    }

    /// A repository with one commit of `files` small files on `main`.
    pub async fn repository(&self, files: usize) -> Result<PathBuf> {
        let path = self.dir(&format!("repo-{}", Uuid::new_v4()))?;
        git(&path, &["init", "-q", "-b", "main"]).await?;
        for (key, value) in [("user.name", "Bench"), ("user.email", "bench@localhost"), ("gc.auto", "0")] {
            git(&path, &["config", key, value]).await?;
        }
        for number in 0..files {
            let file = path.join(file_name(number));
            if number % 100 == 0 {
                std::fs::create_dir_all(file.with_file_name(""))?;
            }
            std::fs::write(file, format!("line of file {number}\n").repeat(20))?;
        }
        git(&path, &["add", "-A"]).await?;
        git(&path, &["commit", "-q", "--allow-empty", "-m", "start"]).await?;
        Ok(path)
    }
}

/// Where a file of a bench repository lies.
pub fn file_name(number: usize) -> String {
    format!("src/{}/file-{number}.txt", number / 100)
}

/// Runs git and returns its trimmed output.
pub async fn git(repository: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new("git").arg("-C").arg(repository).args(args).output().await?;
    if !output.status.success() {
        bail!("git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
