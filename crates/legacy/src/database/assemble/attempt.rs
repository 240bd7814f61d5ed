//! Attempts and workspaces, each with its processes.

use std::collections::HashMap;
use std::path::PathBuf;

use forge_types::{OldAttempt, OldMerge, OldRun, RunReason, RunStatus};
use serde_json::Value;

use super::super::cell::Record;
use super::super::logs::Logs;
use super::super::table::Tables;
use super::landing::landings;
use super::{born, changed};

/// Columns that refer to an attempt, by their names over time.
const OWNER: [&str; 3] = ["workspace_id", "task_attempt_id", "attempt_id"];

pub(super) struct Attempts {
    of_tasks: HashMap<String, Vec<OldAttempt>>,
    /// Those without a task: repository, title, attempt.
    lone: Vec<(Option<String>, String, OldAttempt)>,
}

/// Everything that is looked up for an attempt.
struct Sources<'t> {
    tables: &'t Tables,
    logs: &'t Logs,
    sessions: HashMap<String, Vec<&'t Record>>,
    runs: HashMap<String, Vec<&'t Record>>,
    turns: HashMap<String, Vec<&'t Record>>,
    states: HashMap<String, Vec<&'t Record>>,
    repos: HashMap<String, Vec<&'t Record>>,
    drafts: HashMap<String, Vec<&'t Record>>,
    scratch: HashMap<String, Vec<&'t Record>>,
    places: HashMap<String, Vec<&'t Record>>,
    landings: HashMap<String, Vec<OldMerge>>,
}

impl Attempts {
    pub(super) fn read(tables: &Tables, logs: &Logs, notes: &mut Vec<String>) -> Attempts {
        let mut sources = Sources {
            tables,
            logs,
            sessions: tables.by("sessions", &OWNER),
            runs: tables.by("execution_processes", &["session_id", "task_attempt_id"]),
            turns: tables.by("coding_agent_turns", &["execution_process_id"]),
            states: tables.by("execution_process_repo_states", &["execution_process_id"]),
            repos: tables.by("workspace_repos", &OWNER),
            drafts: tables.by("drafts", &OWNER),
            scratch: tables.by("scratch", &["id"]),
            places: tables.by("forge_task_attempt_config", &OWNER),
            landings: landings(tables),
        };
        let mut attempts = Attempts { of_tasks: HashMap::new(), lone: Vec::new() };
        let tasks = tables.by("tasks", &["id"]);
        for record in tables.rows("workspaces") {
            let Some(attempt) = sources.attempt(record, notes) else { continue };
            match record.key(&["task_id"]).filter(|task| tasks.contains_key(task)) {
                Some(task) => attempts.of_tasks.entry(task).or_default().push(attempt),
                None => {
                    let repo =
                        sources.repos.get(&attempt.key).and_then(|repos| repos.first()?.key(&["repo_id"]));
                    let title = record.words(&["name"]).unwrap_or_else(|| attempt.branch.clone());
                    attempts.lone.push((repo, title, attempt));
                }
            }
        }
        attempts
    }

    pub(super) fn of_task(&mut self, task: &str) -> Vec<OldAttempt> {
        self.of_tasks.remove(task).unwrap_or_default()
    }

    /// Attempts that belong to no task.
    pub(super) fn rest(self) -> Vec<(Option<String>, String, OldAttempt)> {
        self.lone
    }
}

impl Sources<'_> {
    fn attempt(&mut self, record: &Record, notes: &mut Vec<String>) -> Option<OldAttempt> {
        let key = record.key(&["id"])?;
        let none = Vec::new();
        let sessions = self.sessions.get(&key).unwrap_or(&none);
        // Without sessions the processes belong to the attempt itself.
        let owners: Vec<String> = match sessions.as_slice() {
            [] => vec![key.clone()],
            sessions => sessions.iter().filter_map(|session| session.key(&["id"])).collect(),
        };
        let mut runs = Vec::new();
        for owner in &owners {
            for run in self.runs.get(owner).into_iter().flatten() {
                runs.extend(self.run(run, owner, notes));
            }
        }
        runs.sort_by_key(|run| run.started_at);
        let repo = self.repos.get(&key).and_then(|repos| repos.first().copied());
        let executor =
            record.words(&["executor"]).or_else(|| sessions.iter().find_map(|s| s.words(&["executor"])));
        let target = repo.and_then(|repo| repo.words(&["target_branch"]));
        let is_in_place = |config: &&Record| config.number("use_worktree") == Some(0);
        let in_place = self.places.get(&key).is_some_and(|configs| configs.iter().any(is_in_place));
        let draft = owners.iter().chain([&key]).find_map(|owner| self.draft(owner));
        Some(OldAttempt {
            id: record.id(),
            branch: record.words(&["branch"]).unwrap_or_default(),
            target_branch: target
                .or_else(|| record.words(&["target_branch", "base_branch"]))
                .unwrap_or_else(|| "main".to_owned()),
            is_target_guessed: false,
            executor: executor.unwrap_or_default(),
            model: None,
            worktree: record.words(&["container_ref", "worktree_path"]).map(PathBuf::from),
            in_place,
            created_at: born(record),
            updated_at: changed(record),
            runs,
            merges: self.landings.remove(&key).unwrap_or_default(),
            draft,
            key,
        })
    }

    fn draft(&self, owner: &str) -> Option<String> {
        let stored = self.drafts.get(owner).into_iter().flatten();
        let follow_up = |draft: &&&Record| draft.text(&["draft_type"]).is_none_or(|kind| kind == "follow_up");
        if let Some(text) = stored.filter(follow_up).find_map(|draft| draft.words(&["prompt"])) {
            return Some(text);
        }
        let scratch = self.scratch.get(owner).into_iter().flatten();
        scratch
            .filter_map(|scratch| serde_json::from_str::<Value>(&scratch.text(&["payload"])?).ok())
            .find_map(|payload| match payload["type"].as_str() {
                Some("DRAFT_FOLLOW_UP") => Some(payload["data"]["message"].as_str()?.to_owned()),
                _ => None,
            })
    }

    fn run(&self, record: &Record, owner: &str, notes: &mut Vec<String>) -> Option<OldRun> {
        let key = record.key(&["id"])?;
        let turn = self.turns.get(&key).and_then(|turns| turns.first().copied());
        let state = self.states.get(&key).and_then(|states| states.first().copied()).unwrap_or(record);
        let action = record.text(&["executor_action"]).and_then(|text| serde_json::from_str(&text).ok());
        let reason = record.text(&["run_reason", "process_type"]).unwrap_or_default();
        let status = record.text(&["status"]).unwrap_or_default();
        Some(OldRun {
            id: record.id(),
            reason: read_reason(&key, &reason, action.as_ref(), notes),
            action,
            status: status.parse().unwrap_or_else(|_| {
                notes.push(format!(
                    "Process {key}: its status '{status}' is not known here; it is now 'failed'"
                ));
                RunStatus::Failed
            }),
            exit_code: record.number("exit_code").and_then(|code| code.try_into().ok()),
            dropped: record.is_set("dropped"),
            session_id: turn.and_then(|turn| turn.words(&["agent_session_id", "session_id"])),
            prompt: turn.and_then(|turn| turn.words(&["prompt"])),
            summary: turn.and_then(|turn| turn.words(&["summary"])),
            before_head: state.words(&["before_head_commit"]),
            after_head: state.words(&["after_head_commit"]),
            started_at: record.time(&["started_at", "created_at"]).unwrap_or_default(),
            completed_at: record.time(&["completed_at"]),
            log: self.logs.of(self.tables, &key, Some(owner)),
            key,
        })
    }
}

fn read_reason(key: &str, text: &str, action: Option<&Value>, notes: &mut Vec<String>) -> RunReason {
    text.parse().unwrap_or_else(|_| {
        let has_script = action.is_some_and(|action| action["typ"]["script"].is_string());
        let reason = if has_script { RunReason::CleanupScript } else { RunReason::CodingAgent };
        notes.push(format!(
            "Process {key}: its reason '{text}' is not known here; it is now '{}'",
            reason.as_str()
        ));
        reason
    })
}
