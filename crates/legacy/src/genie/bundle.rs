//! Genie's sessions as a bundle: one task and one finished attempt each.
//!
//! Invariant: a session is named for ever by its file and its key there, so it is never taken twice. Sessions are never
//! merged by name; only those of one task of an older Forge share theirs.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use forge_types::{
    AttemptId, Bundle, Millis, OldAttempt, OldProject, OldRun, OldTask, ProjectId, RunReason, RunStatus,
    TaskId, branch_name, name_for,
};

use super::found::Found;
use super::log;
use super::session::{Runner, Session};

/// What the sessions' repository says.
pub struct Repository {
    /// The main checkout.
    pub path: PathBuf,
    pub current_branch: String,
    pub branches: Vec<String>,
    pub branch_prefix: String,
}

impl Repository {
    /// The branch that an older Forge made, or as it would have been called.
    fn branch(&self, session: &Session) -> String {
        let Some(id) = session.attempt else { return self.current_branch.clone() };
        let hex = id.hex();
        let is_its = |branch: &&String| {
            let name = branch.rsplit('/').next().unwrap_or_default();
            let digits = name.split('-').next().unwrap_or_default();
            branch.contains('/') && digits.len() >= 4 && hex.starts_with(digits)
        };
        let usual = || branch_name(&self.branch_prefix, &name_for(&hex, 4, &session.title));
        self.branches.iter().find(is_its).cloned().unwrap_or_else(usual)
    }
}

/// How the report calls a session.
pub(super) fn key(file: &str, session: &Session) -> String {
    format!("{file}#{}", session.key)
}

impl Found {
    /// `known` are the attempts that Forge has already, with their tasks.
    pub fn bundle(
        &self,
        repo: &Repository,
        known: &HashMap<AttemptId, TaskId>,
        project: Option<ProjectId>,
    ) -> Bundle {
        let mut tasks: Vec<OldTask> = Vec::new();
        let mut of_task: HashMap<TaskId, usize> = HashMap::new();
        let mut seen: HashSet<AttemptId> = HashSet::new();
        for (file, session) in &self.sessions {
            // Genie carried its sessions from one file to the next.
            if session.attempt.is_some_and(|id| !seen.insert(id)) {
                continue;
            }
            let known = session.attempt.and_then(|id| known.get(&id).copied());
            let task = known.or(session.task);
            let attempt = self.attempt(repo, file, session, known.is_some());
            match task.and_then(|id| of_task.get(&id)) {
                Some(place) => tasks[*place].attempts.push(attempt),
                None => {
                    of_task.extend(task.map(|id| (id, tasks.len())));
                    tasks.push(self.task(file, session, task, attempt));
                }
            }
        }
        let first = tasks.iter().map(|task| task.created_at).min().unwrap_or(self.at);
        let path = repo.path.to_string_lossy().into_owned();
        let name =
            repo.path.file_name().map_or_else(|| path.clone(), |name| name.to_string_lossy().into_owned());
        let project = OldProject {
            key: path.clone(),
            id: project,
            name,
            git_repo_path: path,
            created_at: first,
            updated_at: self.at,
            tasks,
            ..OldProject::default()
        };
        let source = format!("genie:{}", self.top.display());
        Bundle { source, projects: vec![project], notes: self.notes.clone(), ..Bundle::default() }
    }

    fn task(&self, file: &str, session: &Session, id: Option<TaskId>, attempt: OldAttempt) -> OldTask {
        OldTask {
            key: id.map_or_else(|| key(file, session), |id| format!("task:{id}")),
            id,
            title: session.title.clone(),
            description: session.prompt.clone(),
            status: session.task_status(),
            parent_attempt_key: None,
            created_at: attempt.created_at,
            updated_at: attempt.updated_at,
            images: Vec::new(),
            attempts: vec![attempt],
        }
    }

    fn attempt(&self, repo: &Repository, file: &str, session: &Session, known: bool) -> OldAttempt {
        let created_at = session.created.or(session.last_used).unwrap_or(self.at);
        let updated_at = session.last_used.unwrap_or(created_at).max(created_at);
        let run = || self.run(file, session, created_at, updated_at);
        OldAttempt {
            key: key(file, session),
            id: session.attempt,
            branch: repo.branch(session),
            target_branch: repo.current_branch.clone(),
            is_target_guessed: true,
            executor: session.profile(),
            model: session.model(),
            worktree: None,
            in_place: session.runner == Runner::Genie,
            created_at,
            updated_at,
            // Forge knows the runs of its own attempts better.
            runs: if known { Vec::new() } else { vec![run()] },
            merges: Vec::new(),
            draft: None,
        }
    }

    fn run(&self, file: &str, session: &Session, started_at: Millis, ended_at: Millis) -> OldRun {
        let path = log::find(&self.top, &session.logs);
        let from_log = || path.as_deref().and_then(log::session_id);
        OldRun {
            key: key(file, session),
            id: None,
            reason: RunReason::CodingAgent,
            action: None,
            status: match session {
                session if session.has_completed() => RunStatus::Completed,
                session if session.has_failed() => RunStatus::Failed,
                _ => RunStatus::Killed,
            },
            exit_code: session.exit_code,
            dropped: false,
            session_id: session.resume_id.clone().or_else(from_log),
            prompt: session.prompt.clone(),
            summary: None,
            before_head: None,
            after_head: None,
            started_at,
            completed_at: Some(ended_at),
            log: log::source(path, &session.rest),
        }
    }
}
