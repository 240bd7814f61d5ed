//! Genie's sessions in a repository, imported by the first command that finds them.
//!
//! Invariant: once for each content of the stores, and a command never fails because of it. At a terminal it asks the
//! user; without one it imports them and reports it on standard error, so that standard output stays the command's own.
//! What was reported is noted in the repository's git folder.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use forge_legacy::genie;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::client::{Kind, kind_of};
use crate::command::serve;

/// In the git folder of the main checkout.
const NOTE: &str = "forge-genie-sessions";
/// The note has a line for each store.
const MAX_BYTES: u64 = 64 << 10;
/// No answer within this time means no.
const ANSWER_LIMIT_S: i64 = 60;

/// How to import.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Ask,
    /// Somebody reads the output but cannot answer.
    Mention,
    /// Nobody reads the output.
    Take,
}

impl Manner {
    fn here() -> Option<Manner> {
        let wants_json = std::env::args_os().any(|arg| arg == "--json");
        match (std::io::stdin().is_terminal(), std::io::stderr().is_terminal()) {
            (false, false) => Some(Manner::Take),
            (true, true) if !wants_json => Some(Manner::Ask),
            (false, true) if !wants_json => Some(Manner::Mention),
            _ => None,
        }
    }
}

/// Imports the sessions of the current directory's repository, or mentions them, unless that was done before.
pub fn offer() {
    if let Some((manner, found)) = look() {
        // Errors are already reported.
        let _ = serve::block_on(async {
            found.offer(manner).await;
            Ok(())
        });
    }
}

/// The same for a command that already has a runtime.
pub async fn offer_now() {
    if let Some((manner, found)) = look() {
        found.offer(manner).await;
    }
}

fn look() -> Option<(Manner, Found)> {
    let manner = Manner::here()?;
    Some((manner, Found::at(&std::env::current_dir().ok()?)?))
}

/// After an import there is nothing left to offer.
pub fn mark_imported(path: &Path) {
    if let Some(found) = Found::at(path) {
        found.note();
    }
}

/// Stores that were not mentioned yet.
struct Found {
    top: PathBuf,
    stores: Vec<PathBuf>,
    /// Sizes and times of the stores.
    content: String,
}

impl Found {
    async fn offer(&self, manner: Manner) {
        let Some((count, store)) = self.first() else { return };
        if manner == Manner::Take {
            return self.take().await;
        }
        let plural = if count == 1 { "a Genie session" } else { "Genie sessions" };
        eprintln!(
            "This repository has {plural} ({count} in {store}); `forge sessions import` {}",
            if count == 1 { "imports it" } else { "imports them" }
        );
        self.note();
        if manner == Manner::Ask && agrees() {
            match super::import(Some(&self.top), false).await {
                Ok(report) => super::print(&report),
                Err(error) => eprintln!("forge: nothing was imported: {error:#}"),
            }
        }
    }

    async fn take(&self) {
        match super::import(Some(&self.top), false).await {
            Ok(report) if report.has_news() => {
                let (new, changed) = report.projects.iter().fold((0, 0), |(new, changed), project| {
                    (new + project.attempts.new, changed + project.tasks.changed)
                });
                eprintln!(
                    "forge: imported Genie's sessions of this repository: {new} new, {changed} changed"
                );
                super::print_remarks(&report);
            }
            Ok(_) => {}
            // The next command may find a server.
            Err(error) if kind_of(&error).is_some_and(Kind::is_away) => {}
            Err(error) => {
                self.note();
                eprintln!("forge: Genie's sessions of this repository were not imported: {error:#}");
            }
        }
    }

    fn at(dir: &Path) -> Option<Found> {
        // Worktrees are for agents; there `.git` is a file.
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
        // If the repository is not writable, it is mentioned again.
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
