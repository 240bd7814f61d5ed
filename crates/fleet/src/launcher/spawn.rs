//! Starts one worker, completely or not at all.

use std::collections::BTreeMap;

use forge_types::Millis;

use super::answer::{self, Answer, Output};
use super::call::{Call, Called};
use super::{LauncherError, SpawnRequest, WorkerHandle, WorkerLauncher, read_table};
use crate::process::Identity;
use crate::tmux::{Session, WORKER_OPTION, check_name};
use crate::worker::WorkerId;

pub(super) async fn spawn(
    launcher: &WorkerLauncher,
    request: &SpawnRequest,
) -> Result<WorkerHandle, LauncherError> {
    let worker_id = WorkerId::new(&request.worker_id)?;
    let mut before = admit(launcher, request).await?;
    let mut first = None;
    if before.is_empty() {
        // The launcher starts the tmux server, which then has its variables for all sessions. Others wait until it has
        // them no longer.
        let turn = launcher.first.lock().await;
        before = admit(launcher, request).await?;
        first = before.is_empty().then_some(turn);
    }
    let variables = request.variables(launcher.status_dir.as_deref());
    // What is withheld from sessions is for this one alone, and its launcher has to see to it.
    let passed_on = || variables.keys().filter(|name| !request.withheld.contains(name));
    launcher.tmux.pass_on(passed_on()).await?;
    let spawned = launch(launcher, request, &worker_id, &variables, &before).await;
    if before.is_empty() {
        let restored = launcher.tmux.restore_environment(variables.keys(), &request.withheld).await;
        if let Err(error) = restored.and(launcher.tmux.pass_on(passed_on()).await) {
            tracing::warn!(%error, "variables of a worker stay in the tmux server's environment");
        }
    }
    drop(first);
    match spawned {
        Ok(handle) => Ok(handle),
        Err(error) => {
            remove_half_made(launcher, request, &before).await;
            Err(error)
        }
    }
}

/// Checks that the worker may be started, and returns the existing sessions.
async fn admit(launcher: &WorkerLauncher, request: &SpawnRequest) -> Result<Vec<Session>, LauncherError> {
    let config = &request.config;
    check_name(&config.session_name)?;
    if !config.workspace.is_dir() {
        return Err(LauncherError::NoWorkspace { path: config.workspace.clone() });
    }
    launcher.tmux.version().await?;
    launcher.tmux.make_socket_dir()?;
    let sessions = launcher.tmux.list().await?;
    if sessions.iter().any(|session| session.name == config.session_name) {
        return Err(LauncherError::SessionExists { session_name: config.session_name.clone() });
    }
    let twin = sessions.iter().find(|s| s.worker_id.as_deref() == Some(request.worker_id.as_str()));
    match twin {
        Some(twin) => Err(LauncherError::WorkerExists {
            worker_id: WorkerId::new(&request.worker_id)?,
            session_name: twin.name.clone(),
        }),
        None => Ok(sessions),
    }
}

/// A new tmux server numbers its sessions from the start again, so the id is not enough.
fn is_same(old: &Session, new: &Session) -> bool {
    let is_alike = old.name == new.name || old.pane_pid == new.pane_pid;
    (&old.id, old.created_at) == (&new.id, new.created_at) && is_alike
}

async fn launch(
    launcher: &WorkerLauncher,
    request: &SpawnRequest,
    worker_id: &WorkerId,
    variables: &BTreeMap<String, String>,
    before: &[Session],
) -> Result<WorkerHandle, LauncherError> {
    let config = &request.config;
    let call = Call {
        launcher: &config.launcher,
        arguments: config.arguments(),
        variables,
        withheld: &request.withheld,
        workspace: &config.workspace,
        tmux: &launcher.tmux,
        timeout: config.timeout(),
    };
    let answer = judge(&call.run().await?, &config.session_name)?;
    let session_name = answer.session.clone().unwrap_or_else(|| config.session_name.clone());
    let Some(session) = launcher.tmux.find(&session_name).await? else {
        return Err(LauncherError::SessionCreationFailed { session_name });
    };
    if before.iter().any(|old| is_same(old, &session)) {
        return Err(LauncherError::SessionExists { session_name });
    }
    launcher.tmux.set_option(&session_name, WORKER_OPTION, worker_id.as_str()).await?;
    let Some(process) = agent_in(&session, answer.pid).await else {
        return Err(LauncherError::SessionCreationFailed { session_name });
    };
    Ok(WorkerHandle {
        id: worker_id.clone(),
        session: Session { worker_id: Some(worker_id.to_string()), ..session },
        process,
        model: Some(answer.model.unwrap_or_else(|| config.model.clone())),
        message: answer.message,
        bead_id: answer.bead_id.or_else(|| config.bead_id.clone()),
        bead_title: answer.bead_title,
        started_at: Millis::now(),
    })
}

/// What it reported, or why it failed.
pub(super) fn judge(called: &Called, session_name: &str) -> Result<Answer, LauncherError> {
    let failed = |message: String| Err(LauncherError::LauncherFailed { message });
    let output = answer::parse(&called.stdout);
    let reported = match &output {
        Output::Json(answer) => answer.error.clone(),
        _ => None,
    };
    if !called.status.success() {
        let complaint = called.stderr.trim();
        return failed(match reported {
            // Many print the same twice.
            Some(error) if !complaint.contains(&error) => format!("{error}\n{complaint}").trim().to_owned(),
            _ if !complaint.is_empty() => complaint.to_owned(),
            _ => format!("it exited with {} and printed nothing on standard error", called.status),
        });
    }
    if let Some(error) = reported {
        return failed(error);
    }
    match output {
        Output::Json(answer) => Ok(answer),
        Output::Name(name) => Ok(Answer { session: Some(name), ..Answer::default() }),
        Output::Nothing => Ok(Answer { session: Some(session_name.to_owned()), ..Answer::default() }),
        Output::Text(text) => failed(format!(
            "it printed neither a JSON object nor a session name, but:\n{text}\n\
             `forge launcher check` explains what is expected"
        )),
    }
}

/// The process the launcher named if it is one of the pane's, else the pane's own.
async fn agent_in(session: &Session, named: Option<u32>) -> Option<Identity> {
    let table = read_table().await;
    let pane = table.tree(session.pane_pid);
    let found = pane.iter().find(|entry| Some(entry.identity.pid) == named).or(pane.first())?;
    Some(found.identity)
}

/// Ends the session of a launch that failed, if that launch made it.
async fn remove_half_made(launcher: &WorkerLauncher, request: &SpawnRequest, before: &[Session]) {
    let name = &request.config.session_name;
    let Ok(Some(session)) = launcher.tmux.find(name).await else { return };
    let ours = session.worker_id.as_deref().is_none_or(|id| id == request.worker_id.as_str());
    if !ours || before.iter().any(|old| old.id == session.id) {
        return;
    }
    if let Err(error) = super::stop::end(&launcher.tmux, &session).await {
        tracing::warn!(%error, session = name, "a half-made session is left");
    }
}
