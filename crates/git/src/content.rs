//! The contents of changed files.
//!
//! Owns: one `git` process per reader, started on first use, for contents that are not in a file that can be read
//! directly. Invariant: only the batch that the caller asked for is in memory, and no file of it is larger than the
//! caller allows; binary and larger files are reported without content.

use std::path::{Path, PathBuf};

use forge_types::{Diff, DiffChange, is_lock_file};

use crate::base::blocking;
use crate::command::Git;
use crate::loose::{self, Loose};
use crate::session::Session;
use crate::{Blob, FileDiff, GitError, Repo};

/// How much of a file git reads to determine whether it is text.
const BINARY_LOOK_BYTES: usize = 8000;

/// Reads the contents of changed files, a batch at a time.
pub struct ContentReader {
    repo: Repo,
    worktree: PathBuf,
    session: Option<Session>,
}

/// Where the content of one side is.
enum Source {
    /// In the worktree.
    File(String),
    Object(String),
    Nowhere,
}

impl FileDiff {
    /// The change without its contents.
    pub fn outline(&self) -> Diff {
        Diff {
            change: self.change,
            old_path: self.old_path.clone(),
            new_path: self.new_path.clone(),
            old_content: None,
            new_content: None,
            content_omitted: true,
            additions: self.additions,
            deletions: self.deletions,
            lock_file: is_lock_file(self.key()),
        }
    }

    fn fits(&self, max_bytes: u64) -> bool {
        let size = |blob: &Option<Blob>| blob.as_ref().and_then(|blob| blob.size);
        let small = |blob: &Option<Blob>| size(blob).is_none_or(|size| size <= max_bytes);
        !self.binary && small(&self.old) && small(&self.new)
    }
}

impl ContentReader {
    pub fn new(repo: &Repo, worktree: &Path) -> Self {
        Self { repo: repo.clone(), worktree: worktree.to_owned(), session: None }
    }

    /// Contents are omitted for binary files and for files above `max_bytes`.
    pub async fn load(&mut self, files: &[FileDiff], max_bytes: u64) -> Result<Vec<Diff>, GitError> {
        let fitting = files.iter().filter(|file| file.fits(max_bytes));
        let sources: Vec<Source> = fitting.flat_map(|file| self.sources(file)).collect();
        let mut sides = self.read(sources, max_bytes).await?.into_iter();
        let mut diffs = Vec::with_capacity(files.len());
        for file in files {
            let mut diff = file.outline();
            if file.fits(max_bytes) {
                let mut side = |blob: &Option<Blob>| blob.as_ref().and_then(|_| sides.next().flatten());
                let (old, new) = (side(&file.old), side(&file.new));
                self.fill(file, &mut diff, old, new, max_bytes).await?;
            }
            diffs.push(diff);
        }
        Ok(diffs)
    }

    /// Where the sides of a file are, the old one first.
    fn sources(&self, file: &FileDiff) -> impl Iterator<Item = Source> {
        let key = file.key().to_owned();
        [&file.old, &file.new].into_iter().flatten().map(move |blob| match (blob.modified, &blob.oid) {
            (Some(_), _) => Source::File(key.clone()),
            (None, Some(oid)) => Source::Object(oid.clone()),
            (None, None) => Source::Nowhere,
        })
    }

    /// The contents in the order of `sources`; `None` for what is gone or too large. What can be read from a file is;
    /// git supplies the rest.
    async fn read(&mut self, sources: Vec<Source>, max_bytes: u64) -> Result<Vec<Option<Vec<u8>>>, GitError> {
        let (objects, worktree) = (self.repo.common_dir().join("objects"), self.worktree.clone());
        let (mut found, packed) = blocking(move || {
            let mut packed = Vec::new();
            let mut found = Vec::with_capacity(sources.len());
            for (at, source) in sources.into_iter().enumerate() {
                found.push(match source {
                    Source::Nowhere => None,
                    Source::File(key) => read_bounded(&worktree, Path::new(&key), max_bytes),
                    Source::Object(oid) => match loose::read(&objects, &oid, max_bytes) {
                        Some(Loose::Contents(bytes)) => Some(bytes),
                        Some(Loose::TooLarge) => None,
                        None => {
                            packed.push((at, oid));
                            None
                        }
                    },
                });
            }
            Ok((found, packed))
        })
        .await?;
        if !packed.is_empty() {
            let oids: Vec<&str> = packed.iter().map(|(_, oid)| oid.as_str()).collect();
            let mut session = self.session()?;
            let contents = session.contents_of(&oids, max_bytes).await?;
            self.session = Some(session);
            for ((at, _), bytes) in packed.iter().zip(contents) {
                found[*at] = bytes;
            }
        }
        Ok(found)
    }

    async fn fill(
        &mut self,
        file: &FileDiff,
        diff: &mut Diff,
        old: Option<Vec<u8>>,
        mut new: Option<Vec<u8>>,
        max_bytes: u64,
    ) -> Result<(), GitError> {
        // A file may have grown or disappeared since it was measured: then there is nothing whole to show.
        let gone = (file.old.is_some() && old.is_none()) || (file.new.is_some() && new.is_none());
        if gone || [&old, &new].into_iter().flatten().any(|bytes| is_binary(bytes)) {
            return Ok(());
        }
        if let (Some(blob), Some(old), Some(bytes)) = (&file.new, &old, &new)
            && blob.modified.is_some()
            && has_crlf(bytes)
            && !has_crlf(old)
        {
            new = Some(self.normalise(file, blob, bytes.clone(), max_bytes).await?);
        }
        if diff.change == DiffChange::Modified && file.mode_changed && old == new {
            diff.change = DiffChange::PermissionChange;
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        diff.content_omitted = false;
        (diff.old_content, diff.new_content) = (old.map(text), new.map(text));
        Ok(())
    }

    /// Taken out while it is used: after an error it is not put back, and the next call starts a fresh one.
    fn session(&mut self) -> Result<Session, GitError> {
        match self.session.take() {
            Some(session) => Ok(session),
            None => Session::open(self.repo.store()),
        }
    }

    async fn object(&mut self, oid: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, GitError> {
        let mut session = self.session()?;
        let bytes = session.contents(oid, max_bytes).await?;
        self.session = Some(session);
        Ok(bytes)
    }

    /// The content as git stores it, so that a checkout with CRLF line ends does not differ in every line.
    async fn normalise(
        &mut self,
        file: &FileDiff,
        blob: &Blob,
        bytes: Vec<u8>,
        max_bytes: u64,
    ) -> Result<Vec<u8>, GitError> {
        if let Some(oid) = &blob.oid
            && let Some(stored) = self.object(oid, max_bytes).await?
        {
            return Ok(stored);
        }
        let args = ["hash-object", "-w", "--path", file.key(), "--stdin"];
        let oid = Git::write(&self.repo.tree(&self.worktree)?).args(args).input(bytes.clone()).text().await?;
        Ok(self.object(&oid, max_bytes).await?.unwrap_or(bytes))
    }
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.iter().take(BINARY_LOOK_BYTES).any(|byte| *byte == 0)
}

fn has_crlf(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

/// The file's bytes, or a link's target; `None` when it is gone, too large or no longer a file of the worktree: an
/// agent may be running there.
fn read_bounded(worktree: &Path, file: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    match std::fs::read_link(worktree.join(file)) {
        Ok(target) => Some(target.into_os_string().into_encoded_bytes()),
        Err(_) => forge_os::file::read(worktree, file, max_bytes).ok(),
    }
}
