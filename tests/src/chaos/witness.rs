//! What an agent of the tale writes down about itself, in a folder that Forge knows nothing of.
//!
//! Invariant: a byte is in the copy before it goes to the pipe, and a file is noted after it is written. So what Forge
//! recorded is the copy, or a beginning of it where somebody was killed, and what is noted was there.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use super::process::Identity;

/// The most that an agent writes in one go; a kill can fall between the copy and the pipe.
pub const LONGEST_WRITE: usize = 4096;

/// The folder of one run.
#[derive(Clone)]
pub struct Witness {
    pub run: String,
    dir: PathBuf,
}

impl Witness {
    pub fn of(root: &Path, run: &str) -> Self {
        Self { run: run.to_owned(), dir: root.join("runs").join(run) }
    }

    /// Everyone who ever began.
    pub fn all(root: &Path) -> Vec<Witness> {
        let entries = std::fs::read_dir(root.join("runs")).into_iter().flatten().flatten();
        entries.map(|entry| Self::of(root, &entry.file_name().to_string_lossy())).collect()
    }

    /// Called by the agent before anything else. What it answers is the lock of the directory, held while it is open.
    pub fn begin(&self, root: &Path, token: &str) -> std::io::Result<File> {
        std::fs::create_dir_all(self.dir.join("files"))?;
        std::fs::create_dir_all(root.join("locks"))?;
        self.note_process(Identity::own())?;
        self.append("token", token.as_bytes())?;
        let place = std::env::current_dir()?;
        let name = place.file_name().unwrap_or_default();
        let path = root.join("locks").join(name);
        let mut lock = OpenOptions::new().create(true).append(true).open(&path)?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            let others = std::fs::read_to_string(path).unwrap_or_default();
            let other = others.lines().last().unwrap_or("nobody");
            self.note_odd(&format!("another agent is at work in {}, that of run {other}", place.display()))?;
        } else {
            writeln!(lock, "{}", self.run)?;
        }
        Ok(lock)
    }

    pub fn note_process(&self, process: Identity) -> std::io::Result<()> {
        self.append("processes", format!("{} {}\n", process.pid, process.start_time).as_bytes())
    }

    /// Something that must never happen.
    pub fn note_odd(&self, words: &str) -> std::io::Result<()> {
        self.append("odd", format!("{words}\n").as_bytes())
    }

    pub fn note_file(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        let part = self.dir.join("part");
        std::fs::write(&part, bytes)?;
        std::fs::rename(part, self.dir.join("files").join(name))
    }

    pub fn note_exit(&self, code: i32) -> std::io::Result<()> {
        self.append("exit", code.to_string().as_bytes())
    }

    pub fn append(&self, name: &str, bytes: &[u8]) -> std::io::Result<()> {
        OpenOptions::new().create(true).append(true).open(self.dir.join(name))?.write_all(bytes)
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.dir.join(name)).unwrap_or_default()
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&self.bytes(name)).into_owned()
    }

    pub fn has_begun(&self) -> bool {
        self.dir.exists()
    }

    /// The agent itself first, then what it started in a session of its own. Two agents would both be there.
    pub fn processes(&self) -> Vec<Identity> {
        let line = |line: &str| {
            let (pid, start_time) = line.split_once(' ')?;
            Some(Identity { pid: pid.parse().ok()?, start_time: start_time.parse().ok()? })
        };
        self.text("processes").lines().filter_map(line).collect()
    }

    pub fn exit(&self) -> Option<i64> {
        self.text("exit").parse().ok()
    }

    /// What it was asked to do, once for each time it began.
    pub fn tokens(&self) -> Vec<String> {
        self.text("token").split_whitespace().map(str::to_owned).collect()
    }

    pub fn odd(&self) -> Vec<String> {
        self.text("odd").lines().map(str::to_owned).collect()
    }

    /// Copies of the files that it wrote into its worktree.
    pub fn files(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.dir.join("files")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    /// What it got over its standard input more than once.
    pub fn heard_twice(&self) -> Vec<String> {
        let (mut once, mut twice) = (BTreeSet::new(), Vec::new());
        for line in self.text("heard").lines() {
            let Ok(message) = serde_json::from_str::<Value>(line) else { continue };
            let what = match message["type"].as_str() {
                Some("control_response") => message["response"]["request_id"].to_string(),
                Some("user") => message["message"]["content"].to_string(),
                _ => continue,
            };
            if !once.insert(what.clone()) {
                twice.push(what);
            }
        }
        twice
    }
}
