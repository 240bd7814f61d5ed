//! `forge run --direct`: the agent's own program in the foreground, for a person at the terminal.
//!
//! Needs no server, database or worktree. Invariant: the agent and its variant are those a server would choose,
//! and the exit code is the program's.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};
use forge_run::agents::{Agents, ForegroundError, LaunchContext, Profiles, plan_foreground};

use super::agent::Choice;
use crate::exit::Misused;
use crate::reference::NotFound;
use crate::settings::{self, Env};

pub async fn run(choice: &Choice, prompt: &str, yes: bool) -> Result<ExitCode> {
    let here = std::env::current_dir().context("the current directory does not exist")?;
    let home = settings::home(Env::load())?;
    let root = match forge_git::Repo::open(&here).await {
        Ok(repo) => repo.path().to_owned(),
        Err(_) => here.clone(),
    };
    let agents = Agents::of(&root);
    let profiles = stored_profiles(&home)?;
    let known = serde_json::from_value(profiles.with(&agents).to_json())?;
    let profile = choice.find_in(&known, forge_core::read_settings(&home).executor_profile)?;
    let (profile, options) = profiles.find(&profile, &agents).map_err(|error| NotFound(error.to_string()))?;
    let exe = std::env::current_exe().context("cannot find this program's own path")?;
    let path_env = std::env::var_os("PATH").unwrap_or_default();
    let place = LaunchContext { worktree: &here, forge_exe: &exe, path_env: &path_env };
    let planned = plan_foreground(profile.executor, &options, prompt, yes, &place);
    let foreground = planned.map_err(|error| match error {
        ForegroundError::NoForm { .. } => Misused(format!("--direct: {error}")).into(),
        ForegroundError::Plan(error) => anyhow::Error::from(error),
    })?;
    let code = foreground.attend(&here).await.with_context(|| format!("cannot run {}", profile.executor))?;
    Ok(ExitCode::from(code))
}

fn stored_profiles(home: &Path) -> Result<Profiles> {
    let path = home.join("profiles.json");
    match std::fs::read_to_string(&path) {
        Ok(text) => Profiles::built_in()
            .merged_with(&text)
            .with_context(|| format!("{} is not valid", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Profiles::built_in()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}
