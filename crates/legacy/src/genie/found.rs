//! The sessions of a checkout, and writing into SESSION-STATE.md where they are now.
//!
//! Invariant: the stores are only read. SESSION-STATE.md is changed after everything is in the database, after a copy of it
//! is beside it, and only by ids.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use forge_os::file::{if_any, read, read_text};
use forge_os::with_suffix;
use forge_types::{AttemptId, ImportReport, Millis, ProjectId};

use super::bundle::key;
use super::noted::{self, Link};
use super::place::{MAX_BYTES, read_store, stores, top_of};
use super::session::Session;
use super::{STATE_FILE, replace};
use crate::LegacyError;

/// SESSION-STATE.md is a text for people.
const MAX_STATE_BYTES: u64 = 16 << 20;

/// The sessions that were found.
pub struct Found {
    /// Checkout with the `.genie` folder.
    pub(super) top: PathBuf,
    /// Each with the name of its file below the checkout.
    pub(super) sessions: Vec<(String, Session)>,
    pub(super) notes: Vec<String>,
    /// When a session has no time.
    pub(super) at: Millis,
}

impl Found {
    /// Reads the sessions of the checkout around `path`, or of that one store file. `main` is the main checkout.
    pub fn read(path: &Path, main: &Path) -> Result<Self, LegacyError> {
        let is_file = path.is_file();
        let mut top = top_of(path).unwrap_or(main).to_owned();
        let mut files = if is_file { vec![path.to_owned()] } else { stores(&top) };
        // Genie's state is seldom committed: a worktree has it in the main checkout.
        if files.is_empty() && !stores(main).is_empty() {
            top = main.to_owned();
            files = stores(&top);
        }
        let mut notes = Vec::new();
        let (mut empty, mut unreadable) = (Vec::new(), Vec::new());
        let mut sessions: Vec<(String, Session)> = Vec::new();
        for file in &files {
            let name = file.strip_prefix(&top).unwrap_or(file).to_string_lossy().into_owned();
            let root = if is_file { path.parent().unwrap_or(path) } else { &top };
            match read_store(root, file) {
                Ok(contents) => {
                    if contents.sessions.is_empty() {
                        empty.push(name.clone());
                    }
                    let strays = contents.strays.iter();
                    notes.extend(
                        strays.map(|key| format!("{name}: '{key}' is not a session and was skipped")),
                    );
                    sessions.extend(contents.sessions.into_iter().map(|session| (name.clone(), session)));
                }
                Err(error) if file == path => {
                    return Err(LegacyError::Invalid(format!(
                        "path: {} is not a session store: {error}",
                        file.display()
                    )));
                }
                Err(error) => unreadable.push(format!("{name} cannot be read: {error}")),
            }
        }
        if !is_file {
            let text = read_state(&top).unwrap_or_else(|error| {
                unreadable.push(error.to_string());
                None
            });
            let noted = text.map(|text| noted::sessions(&text)).unwrap_or_default();
            let known: Vec<String> = sessions.iter().flat_map(|(_, session)| session.ids()).collect();
            let new = noted.into_iter().filter(|session| !known.contains(&session.key));
            sessions.extend(new.map(|session| (STATE_FILE.to_owned(), session)));
        }
        if sessions.is_empty() {
            return Err(no_sessions(path, &unreadable, &empty));
        }
        notes.append(&mut unreadable);
        let written = files.iter().filter_map(|file| file.metadata().ok()?.modified().ok()).max();
        let since = written.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        let at =
            since.and_then(|since| i64::try_from(since.as_millis()).ok()).map_or_else(Millis::now, Millis);
        Ok(Self { top, sessions, notes, at })
    }

    /// The id that an older Forge had for the project.
    pub fn project(&self) -> Option<ProjectId> {
        self.sessions.iter().find_map(|(_, session)| session.project)
    }

    /// The attempts of an older Forge among the sessions.
    pub fn attempts(&self) -> Vec<AttemptId> {
        self.sessions.iter().filter_map(|(_, session)| session.attempt).collect()
    }

    /// Leaves out the attempts that Forge has in another project: they need no second home.
    pub fn leave_out(&mut self, elsewhere: &[AttemptId]) {
        let notes = elsewhere.iter().map(|id| format!("Attempt {id} is here already, in another project"));
        self.notes.extend(notes);
        self.sessions.retain(|(_, session)| session.attempt.is_none_or(|id| !elsewhere.contains(&id)));
    }

    /// Keeps copies and writes the new ids; what went wrong is returned and undoes nothing.
    pub fn settle(&self, report: &ImportReport) -> Vec<String> {
        settle(self, report)
    }
}

/// Why nothing is imported: what was found and cannot be used is named.
fn no_sessions(path: &Path, unreadable: &[String], empty: &[String]) -> LegacyError {
    let path = path.display();
    match (unreadable, empty) {
        ([], []) => LegacyError::NotFound(format!(
            "path: {path} has no sessions of Genie; looked for .genie/state/tasks.json, \
             .genie/state/agents/sessions.json and {STATE_FILE}"
        )),
        ([], empty) => LegacyError::NotFound(format!(
            "path: {path} has no sessions of Genie: {} has none",
            empty.join(", ")
        )),
        (unreadable, _) => LegacyError::Invalid(format!(
            "path: nothing of {path} was imported: {}; mend or move away what cannot be read, then import again",
            unreadable.join("; ")
        )),
    }
}

fn settle(found: &Found, report: &ImportReport) -> Vec<String> {
    let mut notes = Vec::new();
    if report.has_news() {
        let mut names: Vec<&str> = found.sessions.iter().map(|(file, _)| file.as_str()).collect();
        names.dedup();
        for store in names.into_iter().filter(|name| *name != STATE_FILE).map(|name| found.top.join(name)) {
            match keep_copy(&found.top, &store) {
                Ok(Some(copy)) => notes.push(format!("{} is a copy of the store", copy.display())),
                Ok(None) => {}
                Err(error) => notes.push(format!("No copy of {} could be made: {error}", store.display())),
            }
        }
    }
    match note_attempts(found, report) {
        Ok(Some(copy)) => notes
            .push(format!("{STATE_FILE} has the ids of the attempts now; {} is what it was", copy.display())),
        Ok(None) => {}
        Err(error) => notes.push(format!("{STATE_FILE} was left as it is: {error}")),
    }
    notes
}

/// Returns where the old text is when there is a new one.
fn note_attempts(found: &Found, report: &ImportReport) -> std::io::Result<Option<PathBuf>> {
    let Some(text) = read_state(&found.top)? else { return Ok(None) };
    let attempts: HashMap<&str, String> =
        report.attempts.iter().map(|link| (link.key.as_str(), link.attempt_id.to_string())).collect();
    let link = |(file, session): &(String, Session)| {
        let attempt = attempts.get(key(file, session).as_str())?.clone();
        Some(Link { ids: session.ids(), attempt })
    };
    let links: Vec<Link> = found.sessions.iter().filter_map(link).collect();
    let changed = noted::with_attempts(&text, &links);
    if changed == text {
        return Ok(None);
    }
    let path = found.top.join(STATE_FILE);
    let copy = match keep_copy(&found.top, &path)? {
        Some(copy) => copy,
        None => with_suffix(&path, "backup"),
    };
    replace(&path, &changed)?;
    Ok(Some(copy))
}

/// The text, when there is one.
fn read_state(top: &Path) -> std::io::Result<Option<String>> {
    Ok(if_any(read_text(top, Path::new(STATE_FILE), MAX_STATE_BYTES))?)
}

/// Copies a file to `<name>.backup`, or `.backup.1` and so on; `None` when there is a copy like it already.
fn keep_copy(top: &Path, path: &Path) -> std::io::Result<Option<PathBuf>> {
    const MAX_COPIES: usize = 1000;
    let bytes = read(top, path, MAX_BYTES)?;
    let names = std::iter::once("backup".to_owned()).chain((1..MAX_COPIES).map(|n| format!("backup.{n}")));
    for copy in names.map(|name| with_suffix(path, &name)) {
        match if_any(read(top, &copy, MAX_BYTES))? {
            Some(old) if old == bytes => return Ok(None),
            Some(_) => {}
            None => {
                replace(&copy, &bytes)?;
                return Ok(Some(copy));
            }
        }
    }
    Err(std::io::Error::other(format!("there are {MAX_COPIES} copies already; remove some")))
}
