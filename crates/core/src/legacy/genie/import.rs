//! Taking Genie's sessions over, and writing into SESSION-STATE.md where they are now.
//!
//! Invariant: the stores are only read. SESSION-STATE.md is changed after everything is in the database, after a copy of it
//! lies beside it, and only by ids.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use forge_git::Repo;
use forge_os::file::{if_any, read, read_text};
use forge_types::{AttemptId, ImportMode, ImportReport, ImportRequest, Millis, TaskId};

use super::bundle::{Found, key};
use super::noted::{self, Link};
use super::place::{MAX_BYTES, read_store, stores, top_of};
use super::session::Session;
use super::{STATE_FILE, replace};
use crate::home::file;
use crate::{Error, Forge, Result};

/// SESSION-STATE.md is a text for people.
const MAX_STATE_BYTES: u64 = 16 << 20;

impl Forge {
    /// Takes over the sessions of a checkout, or of one store file.
    pub(crate) async fn import_genie(&self, request: &ImportRequest) -> Result<ImportReport> {
        let path = request.path.as_deref().ok_or_else(|| {
            Error::invalid("path: say which repository has the sessions, or name the store's file")
        })?;
        let path = std::fs::canonicalize(path).map_err(|error| {
            Error::not_found(format!("path: '{path}' cannot be read on the server's machine: {error}"))
        })?;
        let found = self.find_sessions(&path).await?;
        // The path decides; an old id only names a project that is new here.
        let id = match self.0.store.project_by_path(&found.repo.to_string_lossy()).await? {
            Some(_) => None,
            None => found.sessions.iter().find_map(|(_, session)| session.project),
        };
        let mode = if request.dry_run { ImportMode::DryRun } else { ImportMode::Apply };
        let mut report = self.import(found.bundle(id), mode, request.worktrees).await?;
        report.path = Some(path.to_string_lossy().into_owned());
        if mode == ImportMode::Apply {
            let now = tokio::task::spawn_blocking(move || {
                let notes = settle(&found, &report);
                report.notes.extend(notes);
                report
            });
            report = now.await.map_err(|cause| Error::internal("the import broke off", cause))?;
        }
        Ok(report)
    }

    async fn find_sessions(&self, path: &Path) -> Result<Found> {
        let is_file = path.is_file();
        let repo = self.repo_at(if is_file { path.parent().unwrap_or(path) } else { path }).await?;
        let mut top = top_of(path).unwrap_or_else(|| repo.path()).to_owned();
        let mut files = if is_file { vec![path.to_owned()] } else { stores(&top) };
        // Genie's state is seldom committed: a worktree has it in the main checkout.
        if files.is_empty() && !stores(repo.path()).is_empty() {
            top = repo.path().to_owned();
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
                        strays.map(|key| format!("{name}: '{key}' is no session and was passed over")),
                    );
                    sessions.extend(contents.sessions.into_iter().map(|session| (name.clone(), session)));
                }
                Err(error) if file == path => {
                    return Err(Error::invalid(format!(
                        "path: {} is no session store: {error}",
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
        let known = self.known_attempts(&repo, &mut sessions, &mut notes).await?;
        let written = files.iter().filter_map(|file| file.metadata().ok()?.modified().ok()).max();
        let since = written.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let at =
            since.and_then(|since| i64::try_from(since.as_millis()).ok()).map_or_else(Millis::now, Millis);
        let branches = repo.branches().await?.into_iter().map(|branch| branch.name).collect();
        Ok(Found {
            top,
            repo: repo.path().to_owned(),
            sessions,
            notes,
            current_branch: repo.current_branch().await?.unwrap_or_else(|| "main".to_owned()),
            branches,
            branch_prefix: self.branch_prefix(),
            at,
            known,
        })
    }

    /// The attempts among the sessions that Forge has, with their tasks. Those of other projects need no second home.
    async fn known_attempts(
        &self,
        repo: &Repo,
        sessions: &mut Vec<(String, Session)>,
        notes: &mut Vec<String>,
    ) -> Result<HashMap<AttemptId, TaskId>> {
        let project = self.0.store.project_by_path(&repo.path().to_string_lossy()).await?;
        let (mut known, mut elsewhere) = (HashMap::new(), Vec::new());
        for id in sessions.iter().filter_map(|(_, session)| session.attempt) {
            match self.0.store.attempt(id).await? {
                Some(attempt) if project.as_ref().is_some_and(|here| here.id == attempt.project_id) => {
                    known.insert(id, attempt.task_id);
                }
                Some(_) => elsewhere.push(id),
                None => {}
            }
        }
        notes.extend(elsewhere.iter().map(|id| format!("Attempt {id} is here already, in another project")));
        sessions.retain(|(_, session)| session.attempt.is_none_or(|id| !elsewhere.contains(&id)));
        Ok(known)
    }
}

/// Why nothing is imported: what was found and cannot be used is named.
fn no_sessions(path: &Path, unreadable: &[String], empty: &[String]) -> Error {
    let path = path.display();
    match (unreadable, empty) {
        ([], []) => Error::not_found(format!(
            "path: {path} has no sessions of Genie; looked for .genie/state/tasks.json, \
             .genie/state/agents/sessions.json and {STATE_FILE}"
        )),
        ([], empty) => {
            Error::not_found(format!("path: {path} has no sessions of Genie: {} has none", empty.join(", ")))
        }
        (unreadable, _) => Error::invalid(format!(
            "path: nothing of {path} was imported: {}; mend or move away what cannot be read, then import again",
            unreadable.join("; ")
        )),
    }
}

/// Keeps copies and writes the new ids; what went wrong is reported and takes nothing back.
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

/// Answers where the old text is when there is a new one.
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
        None => file::with_suffix(&path, "backup"),
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
    for copy in names.map(|name| file::with_suffix(path, &name)) {
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
