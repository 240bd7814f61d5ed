//! The contents of changed files.
//!
//! Owns: one `git` process per reader, started on first use.
//! Invariant: at most two files are in memory at a time, none larger than the caller allows; binary and larger files are
//! told without content.

use std::io::Read;
use std::path::{Path, PathBuf};

use forge_types::Diff;

use crate::base::blocking;
use crate::command::Git;
use crate::session::Session;
use crate::{Blob, FileDiff, GitError, Repo};

/// Reads the contents of changed files, one at a time.
pub struct ContentReader {
    git_dir: PathBuf,
    worktree: PathBuf,
    session: Option<Session>,
}

impl ContentReader {
    pub fn new(repo: &Repo, worktree: &Path) -> Self {
        Self { git_dir: repo.common_dir().to_owned(), worktree: worktree.to_owned(), session: None }
    }

    /// Contents are omitted for binary files and for files above `max_bytes`.
    pub async fn load(&mut self, file: &FileDiff, max_bytes: u64) -> Result<Diff, GitError> {
        let mut diff = Diff {
            change: file.change,
            old_path: file.old_path.clone(),
            new_path: file.new_path.clone(),
            old_content: None,
            new_content: None,
            content_omitted: true,
            additions: file.additions,
            deletions: file.deletions,
        };
        let too_large = |blob: &Option<Blob>| blob.as_ref().is_some_and(|blob| blob.size > max_bytes);
        if file.binary || too_large(&file.old) || too_large(&file.new) {
            return Ok(diff);
        }
        let old = self.side(&file.old, file.old_path.as_deref(), max_bytes).await?;
        let mut new = self.side(&file.new, file.new_path.as_deref(), max_bytes).await?;
        // A file may have grown or gone since it was measured: then there is nothing whole to show.
        if (file.old.is_some() && old.is_none()) || (file.new.is_some() && new.is_none()) {
            return Ok(diff);
        }
        let in_worktree = file.new.as_ref().is_some_and(|blob| blob.oid.is_none());
        if let (true, Some(old), Some(bytes), Some(path)) = (in_worktree, &old, &new, &file.new_path)
            && has_crlf(bytes)
            && !has_crlf(old)
        {
            new = Some(self.normalise(path, bytes.clone(), max_bytes).await?);
        }
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        diff.content_omitted = false;
        (diff.old_content, diff.new_content) = (old.map(text), new.map(text));
        Ok(diff)
    }

    async fn side(
        &mut self,
        blob: &Option<Blob>,
        path: Option<&str>,
        max_bytes: u64,
    ) -> Result<Option<Vec<u8>>, GitError> {
        match (blob, path) {
            (Some(Blob { oid: Some(oid), .. }), _) => self.object(oid, max_bytes).await,
            (Some(Blob { oid: None, .. }), Some(path)) => {
                let path = self.worktree.join(path);
                blocking(move || Ok(read_bounded(&path, max_bytes))).await
            }
            _ => Ok(None),
        }
    }

    async fn object(&mut self, oid: &str, max_bytes: u64) -> Result<Option<Vec<u8>>, GitError> {
        let mut session = match self.session.take() {
            Some(session) => session,
            None => Session::open(&self.git_dir)?,
        };
        // After an error the session is not put back, so the next call starts a fresh one.
        let bytes = session.contents(oid, max_bytes).await?;
        self.session = Some(session);
        Ok(bytes)
    }

    /// The content as git would store it, so that a checkout with CRLF line ends does not differ in every line.
    async fn normalise(&mut self, path: &str, bytes: Vec<u8>, max_bytes: u64) -> Result<Vec<u8>, GitError> {
        let args = ["hash-object", "-w", "--path", path, "--stdin"];
        let oid = Git::write(&self.worktree).args(args).input(bytes.clone()).text().await?;
        Ok(self.object(&oid, max_bytes).await?.unwrap_or(bytes))
    }
}

fn has_crlf(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| pair == b"\r\n")
}

/// The file's bytes, or a link's target; `None` when it is gone or too large.
fn read_bounded(path: &Path, max_bytes: u64) -> Option<Vec<u8>> {
    let meta = std::fs::symlink_metadata(path).ok()?;
    if meta.is_symlink() {
        return Some(std::fs::read_link(path).ok()?.into_os_string().into_encoded_bytes());
    }
    if !meta.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(max_bytes + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= max_bytes).then_some(bytes)
}
