//! One session of Genie, as any of its four stores has it.
//!
//! Invariant: a field that is missing or of an unexpected type is none; what has no place in Forge is kept in `rest`.

use forge_types::{AttemptId, Executor, Millis, ProjectId, TaskId, TaskStatus};
use serde_json::{Map, Value};
use uuid::Uuid;

/// Only sessions that Genie ran itself, in the user's checkout, have one of these.
const OF_OWN_RUNS: [&str; 6] = ["logFile", "runnerPid", "executorPid", "exitCode", "startTime", "signal"];

/// Who ran the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Runner {
    /// Genie, in the checkout (stores V1 and V2).
    Genie,
    /// An older Forge, in a worktree (stores V3 and V4).
    Forge,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// By what its store calls it.
    pub key: String,
    /// The persona that worked.
    pub agent: Option<String>,
    pub(super) runner: Runner,
    pub(super) title: String,
    pub(super) executor: Option<String>,
    pub(super) variant: Option<String>,
    pub(super) status: String,
    pub(super) attempt: Option<AttemptId>,
    pub(super) task: Option<TaskId>,
    pub(super) project: Option<ProjectId>,
    /// The agent program's own id of the conversation.
    pub(super) resume_id: Option<String>,
    pub(super) created: Option<Millis>,
    pub(super) last_used: Option<Millis>,
    pub(super) prompt: Option<String>,
    /// Names of the log: as the entry says, and as Genie forms it.
    pub(super) logs: Vec<String>,
    pub(super) exit_code: Option<i32>,
    /// What Forge has no place for.
    pub rest: Map<String, Value>,
}

impl Session {
    /// Reads an entry; `by_agent` says that the store has one per agent, under the agent's name.
    pub(super) fn read(key: &str, mut entry: Map<String, Value>, by_agent: bool) -> Self {
        let own_run = OF_OWN_RUNS.iter().any(|field| entry.contains_key(*field));
        let mut text = |field: &str| take_text(&mut entry, field);
        let agent = text("agent").or_else(|| by_agent.then(|| key.to_owned()));
        let name = text("name");
        let session_id = text("sessionId");
        let (task, project) = (text("taskId"), text("projectId"));
        let (executor, variant) = (text("executor"), text("executorVariant"));
        let (status, prompt, log_file) = (text("status"), text("lastPrompt"), text("logFile"));
        let (created, last_used) = (take_time(&mut entry, "created"), take_time(&mut entry, "lastUsed"));
        let exit_code = entry.remove("exitCode").and_then(|code| i32::try_from(code.as_i64()?).ok());
        let key_id = full_id(key);
        let same = session_id.as_deref() == Some(key);
        let runner = if own_run || by_agent || same { Runner::Genie } else { Runner::Forge };
        let session_uuid = session_id.as_deref().and_then(full_id);
        let (attempt, resume_id) = match runner {
            Runner::Genie => (None, session_id.or_else(|| key_id.map(|_| key.to_owned()))),
            Runner::Forge if key_id.is_some() => (key_id, session_id),
            // The name of a variant is known only of sessions that went through Forge, whose id this then is.
            Runner::Forge if variant.is_some() => (session_uuid, None),
            Runner::Forge => (session_uuid, session_id),
        };
        let began = entry.get("startTime").and_then(Value::as_i64).or(created.map(|at| at.0));
        let formed = agent.as_ref().zip(began).map(|(agent, began)| {
            format!(".genie/state/agents/logs/{}-{began}.log", agent.replace('/', "-"))
        });
        let title = name.or_else(|| agent.clone()).unwrap_or_else(|| key.to_owned());
        Self {
            key: key.to_owned(),
            agent,
            runner,
            title,
            executor,
            variant,
            status: status.unwrap_or_default(),
            attempt: attempt.map(AttemptId),
            task: task.as_deref().and_then(full_id).map(TaskId),
            project: project.as_deref().and_then(full_id).map(ProjectId),
            resume_id,
            created,
            last_used,
            prompt,
            logs: log_file.into_iter().chain(formed).collect(),
            exit_code,
            rest: entry,
        }
    }

    /// `EXECUTOR` or `EXECUTOR:VARIANT`, as Forge calls them; Genie's defaults where nothing is said.
    pub(super) fn profile(&self) -> String {
        let usual = match self.runner {
            Runner::Genie => Executor::Codex,
            Runner::Forge => Executor::Opencode,
        };
        let named = self.executor.as_deref();
        let executor = match named.map(str::parse::<Executor>) {
            Some(Ok(executor)) => executor.to_string(),
            Some(Err(unknown)) => unknown.0,
            None => usual.to_string(),
        };
        match &self.variant {
            Some(variant) => format!("{executor}:{variant}"),
            None => executor,
        }
    }

    /// The model that was asked for; `default` is none.
    pub(super) fn model(&self) -> Option<String> {
        let model = self.rest.get("model").and_then(Value::as_str).map(str::trim);
        model.filter(|model| !model.is_empty() && *model != "default").map(str::to_owned)
    }

    pub(super) fn has_completed(&self) -> bool {
        matches!(self.status.as_str(), "completed" | "success" | "done")
    }

    pub(super) fn has_failed(&self) -> bool {
        matches!(self.status.as_str(), "failed" | "error" | "timeout")
    }

    /// Nobody works on it any more, whatever the store says.
    pub(super) fn task_status(&self) -> TaskStatus {
        if self.has_completed() { TaskStatus::Done } else { TaskStatus::Cancelled }
    }

    /// Every id by which texts may speak of it.
    pub(super) fn ids(&self) -> Vec<String> {
        let known = [Some(self.key.clone()), self.resume_id.clone(), self.attempt.map(|id| id.to_string())];
        let mut ids: Vec<String> =
            known.into_iter().flatten().filter_map(|id| full_id(&id)).map(|id| id.to_string()).collect();
        ids.sort();
        ids.dedup();
        ids
    }
}

/// An id in its usual spelling.
pub(super) fn full_id(text: &str) -> Option<Uuid> {
    if text.len() == 36 { Uuid::try_parse(text).ok() } else { None }
}

fn take_text(entry: &mut Map<String, Value>, field: &str) -> Option<String> {
    match entry.get(field) {
        Some(Value::String(text)) if !text.trim().is_empty() => {
            let text = text.clone();
            entry.remove(field);
            Some(text)
        }
        Some(Value::Null | Value::String(_)) => {
            entry.remove(field);
            None
        }
        // Of another type: it stays among the rest.
        _ => None,
    }
}

fn take_time(entry: &mut Map<String, Value>, field: &str) -> Option<Millis> {
    let at = read_time(entry.get(field)?)?;
    entry.remove(field);
    Some(at)
}

fn read_time(value: &Value) -> Option<Millis> {
    match value {
        Value::Number(number) => number.as_i64().map(Millis),
        value => serde_json::from_value(value.clone()).ok(),
    }
}
