//! The journal of a run that another system or a terminal recorded.
//!
//! Invariant: it is written next to its final place and moved there whole, together with the secrets that its
//! readers do not see; it ends with how the run ended, and then looks like the journal of any other run. What was
//! there before, such as the first half of the same log, is replaced.

use std::ffi::OsString;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::{Kind, Writer, seal::seal_now};
use crate::{Exit, Secrets};

/// Contains the directory that the log refers to.
const WORKTREE_FILE: &str = "worktree";

pub struct Adoption {
    dir: PathBuf,
    journal: Writer,
}

impl Adoption {
    /// `worktree` is the directory that the log refers to, if it is known.
    pub fn begin(dir: &Path, worktree: &Path, secrets: &Secrets) -> io::Result<Adoption> {
        let beside = beside(dir);
        remove(&beside)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&beside)?;
        if worktree.is_absolute() {
            fs::write(beside.join(WORKTREE_FILE), worktree.as_os_str().as_encoded_bytes())?;
        }
        secrets.write(&beside)?;
        Ok(Adoption { dir: dir.to_owned(), journal: Writer::create(&beside)? })
    }

    pub fn add(&mut self, kind: Kind, at_ms: i64, text: &str) -> io::Result<()> {
        self.journal.append(kind, at_ms, text.as_bytes())
    }

    pub fn finish(mut self, exit: &Exit) -> io::Result<()> {
        self.journal.append(Kind::End, exit.at_ms, &serde_json::to_vec(exit)?)?;
        self.journal.sync()?;
        let beside = beside(&self.dir);
        seal_now(&beside)?;
        // Readers of the previous log keep reading it.
        remove(&self.dir)?;
        fs::rename(beside, &self.dir)
    }
}

/// Where a journal is written before it replaces another.
fn beside(dir: &Path) -> PathBuf {
    let mut name = dir.as_os_str().to_owned();
    name.push(".adopting");
    name.into()
}

fn remove(dir: &Path) -> io::Result<()> {
    match fs::remove_dir_all(dir) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// The directory that an adopted log refers to, if that is not the current worktree.
pub fn adopted_worktree(dir: &Path) -> Option<PathBuf> {
    let bytes = fs::read(dir.join(WORKTREE_FILE)).ok()?;
    Some(PathBuf::from(OsString::from_vec(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ExitReason, Reader, View};

    #[test]
    fn an_adopted_journal_is_whole_and_replaces_what_was_cut_off() {
        let home = tempfile::tempdir().expect("dir");
        let dir = home.path().join("run");
        let mut cut_off = Adoption::begin(&dir, Path::new(""), &Secrets::default()).expect("begin");
        cut_off.add(Kind::Stdout, 1, "half").expect("add");
        drop(cut_off);

        let long = "a line of a long log\n".repeat(10_000);
        let exit = Exit { code: Some(0), signal: None, reason: ExitReason::Exited, at_ms: 7 };
        let begin = Adoption::begin(&dir, Path::new("/old/tree"), &Secrets::default());
        let mut adoption = begin.expect("begin again");
        adoption.add(Kind::Stdout, 5, &long).expect("add");
        adoption.finish(&exit).expect("finish");

        assert_eq!(adopted_worktree(&dir).as_deref(), Some(Path::new("/old/tree")));
        assert_eq!(fs::read_dir(home.path()).expect("list").count(), 1, "nothing lies beside it");
        let mut records = Vec::new();
        Reader::open(&dir, View::Exact).expect("open").read(usize::MAX, &mut records).expect("read");
        let end = records.pop().expect("an end");
        assert_eq!(
            (end.kind, serde_json::from_slice::<Exit>(&end.bytes).expect("an exit")),
            (Kind::End, exit)
        );
        assert!(records.iter().all(|record| (record.kind, record.at_ms) == (Kind::Stdout, 5)));
        assert_eq!(
            records.iter().flat_map(|record| record.bytes.clone()).collect::<Vec<_>>(),
            long.as_bytes()
        );
    }
    #[test]
    fn a_reader_of_an_adopted_journal_sees_no_secret() {
        let (home, dir) = (tempfile::tempdir().expect("dir"), tempfile::tempdir().expect("dir"));
        Secrets::add(home.path(), [("A_TOKEN".into(), "sk-demo-0123456789".into())]).expect("secrets");
        let dir = dir.path().join("run");
        let secrets = Secrets::read(home.path()).expect("secrets");
        let mut adoption = Adoption::begin(&dir, Path::new(""), &secrets).expect("begin");
        adoption.add(Kind::Stdout, 1, "it is sk-demo-0123456789\n").expect("add");
        let exit = Exit { code: Some(0), signal: None, reason: ExitReason::Exited, at_ms: 7 };
        adoption.finish(&exit).expect("finish");
        let shown = |view| {
            let mut records = Vec::new();
            Reader::open(&dir, view).expect("open").read(usize::MAX, &mut records).expect("read");
            String::from_utf8(records.swap_remove(0).bytes).expect("text")
        };
        assert_eq!(shown(View::Masked), "it is ***\n");
        assert_eq!(shown(View::Exact), "it is sk-demo-0123456789\n");
    }
}
