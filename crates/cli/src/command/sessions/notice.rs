//! The word that a repository has sessions of Genie, said once for each content of its stores.
//!
//! Invariant: only at a terminal, never twice for the same content, and never a reason for a command to fail. What was
//! told is noted in the repository's git folder.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use forge_core::genie;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::command::serve;

/// In the git folder of the main checkout.
const NOTE: &str = "forge-genie-sessions";
/// It has a line for each store.
const MAX_BYTES: u64 = 64 << 10;
/// Who does not answer means no.
const ANSWER_LIMIT_S: i64 = 60;

/// Whether the import is only mentioned, or can be had at once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    Mention,
    Offer,
}

/// Tells of the sessions of the present directory's repository, if they were not told of before.
pub fn tell(manner: Manner) {
    let quiet = !std::io::stderr().is_terminal() || std::env::args_os().any(|arg| arg == "--json");
    if quiet {
        return;
    }
    let Some(found) = std::env::current_dir().ok().and_then(|here| Found::at(&here)) else { return };
    let Some((count, store)) = found.first() else { return };
    let plural = if count == 1 { "a Genie session" } else { "Genie sessions" };
    eprintln!(
        "This repository has {plural} ({count} in {store}); `forge sessions import` {} here",
        if count == 1 { "brings it" } else { "brings them" }
    );
    found.note();
    if manner == Manner::Offer && std::io::stdin().is_terminal() && agrees() {
        match serve::block_on(super::import(Some(&found.top), false)) {
            Ok(report) => super::print(&report),
            Err(error) => eprintln!("forge: nothing was imported: {error:#}"),
        }
    }
}

/// After an import there is nothing to tell any more.
pub fn forget(path: &Path) {
    if let Some(found) = Found::at(path) {
        found.note();
    }
}

/// Stores that were not told of.
struct Found {
    top: PathBuf,
    stores: Vec<PathBuf>,
    /// Sizes and times of the stores.
    content: String,
}

impl Found {
    fn at(dir: &Path) -> Option<Found> {
        // Worktrees are for agents, and have a file in this place.
        let top = dir.ancestors().find(|dir| dir.join(".git").exists())?;
        if !top.join(".git").is_dir() {
            return None;
        }
        let stores = genie::stores(top);
        let content: String = stores.iter().map(|store| fingerprint(store)).collect();
        let known = || {
            let noted = forge_os::file::read(&top.join(".git"), Path::new(NOTE), MAX_BYTES);
            noted.is_ok_and(|known| known == content.as_bytes())
        };
        if stores.is_empty() || known() {
            return None;
        }
        Some(Found { top: top.to_owned(), stores, content })
    }

    /// How many sessions there are in the first store that has any.
    fn first(&self) -> Option<(usize, String)> {
        self.stores.iter().find_map(|store| {
            let count = genie::read_store(&self.top, store).ok()?.sessions.len();
            let name = store.strip_prefix(&self.top).unwrap_or(store).display().to_string();
            (count > 0).then_some((count, name))
        })
    }

    fn note(&self) {
        // A repository that cannot be written to is told of again.
        let note = self.top.join(".git").join(NOTE);
        if !note.is_symlink() {
            let _ = genie::replace(&note, &self.content);
        }
    }
}

fn fingerprint(store: &Path) -> String {
    let Ok(found) = store.metadata() else { return String::new() };
    let at = found.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{} {} {}\n", store.display(), found.len(), at.as_nanos())
}

fn agrees() -> bool {
    eprint!("Import now? [y/N] ");
    let _ = std::io::stderr().flush();
    let stdin = std::io::stdin();
    let limit = Timespec { tv_sec: ANSWER_LIMIT_S, tv_nsec: 0 };
    let waited = poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&limit));
    let mut line = String::new();
    if !matches!(waited, Ok(1..)) || stdin.lock().read_line(&mut line).is_err() {
        eprintln!();
        return false;
    }
    matches!(line.trim().to_lowercase().as_str(), "y" | "yes")
}
