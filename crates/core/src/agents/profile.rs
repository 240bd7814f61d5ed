//! Profiles: what the variants of each executor are, for everybody and for one project.
//!
//! Owns: `profiles.json` in Forge's home. Invariant: what is in force is what the file holds, and the versions it
//! replaced are kept beside it, the newest [`VERSIONS`] of them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use forge_run::agents::{Agents, Options, ProfileError, Profiles};
use forge_types::{ProfileId, Project, ProjectId};
use serde_json::{Value, json};

use crate::home::file;
use crate::{Error, Forge, Result};

const VERSIONS: usize = 5;

impl Forge {
    /// The variant that `id` names in a project, under its canonical name.
    pub(crate) async fn find_profile(
        &self,
        id: &ProfileId,
        project: &Project,
    ) -> Result<(ProfileId, Options)> {
        let path = Path::new(&project.git_repo_path);
        let agents = self.project_agents(path).await?;
        match self.find_among(id, &agents) {
            // A file that was written a moment ago counts: before a name is refused, the files are asked.
            Err(ProfileError::UnknownVariant { .. }) => {
                let agents = self.read_project_agents(path).await?;
                self.find_among(id, &agents).map_err(|error| match &agents.problems[..] {
                    [] => error.into(),
                    unused => Error::from(error)
                        .reworded(|message| format!("{message}; not used: {}", beginning(unused))),
                })
            }
            found => Ok(found?),
        }
    }

    fn find_among(
        &self,
        id: &ProfileId,
        agents: &Agents,
    ) -> std::result::Result<(ProfileId, Options), ProfileError> {
        self.0.agents.profiles.read().unwrap_or_else(PoisonError::into_inner).find(id, agents)
    }

    /// `{"executors": …}`: the built-in profiles with the user's own and, on top, those of a project; `problems` are files
    /// of the project that are not used, and why.
    pub async fn profiles(&self, project: Option<ProjectId>) -> Result<Value> {
        let agents = match project {
            Some(id) => Some(self.project_agents(Path::new(&self.project(id).await?.git_repo_path)).await?),
            None => None,
        };
        let profiles = self.0.agents.profiles.read().unwrap_or_else(PoisonError::into_inner);
        let Some(agents) = agents else { return Ok(profiles.to_json()) };
        let mut all = profiles.with(&agents).to_json();
        if !agents.problems.is_empty() {
            all["problems"] = json!(agents.problems);
        }
        Ok(all)
    }

    /// The agents a project describes: from memory, after the first time.
    async fn project_agents(&self, project: &Path) -> Result<Arc<Agents>> {
        match self.0.agents.roster.known(project) {
            Some(agents) => Ok(agents),
            None => self.read_project_agents(project).await,
        }
    }

    async fn read_project_agents(&self, project: &Path) -> Result<Arc<Agents>> {
        let (roster, project) = (self.0.agents.roster.clone(), project.to_owned());
        let read = tokio::task::spawn_blocking(move || roster.read(&project)).await;
        read.map_err(|cause| Error::internal("cannot read the agents of the project", cause))
    }

    /// Reads the agents of projects again when their files change, until the server stops.
    pub(crate) async fn watch_agent_files(&self) {
        self.0.agents.roster.keep_fresh().await;
    }

    pub fn profiles_path(&self) -> PathBuf {
        path(&self.0.config.home)
    }

    /// Checks and stores the user's profiles; they are in force at once and after a restart.
    pub async fn save_profiles(&self, json: &str) -> Result<()> {
        let profiles = Profiles::built_in().merged_with(json);
        let profiles = profiles.map_err(|error| Error::refused(error.to_string()))?;
        let forge = self.clone();
        let save = move || {
            let _turn = forge.0.agents.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let (path, text) = (forge.profiles_path(), format!("{:#}\n", profiles.to_json()));
            let failed = |cause| {
                Error::refused(format!("Failed to save profiles: cannot write {}: {cause}", path.display()))
            };
            file::keep_version(&path, VERSIONS).map_err(failed)?;
            file::replace(&path, text.as_bytes(), file::PRIVATE).map_err(failed)?;
            *forge.0.agents.profiles.write().unwrap_or_else(PoisonError::into_inner) = profiles;
            Ok(())
        };
        let saved = tokio::task::spawn_blocking(save).await;
        saved.map_err(|cause| Error::internal("cannot save the profiles", cause))?
    }
}

/// The first few, and how many more there are.
fn beginning(problems: &[String]) -> String {
    const FEW: usize = 3;
    let shown = problems.iter().take(FEW).map(String::as_str).collect::<Vec<_>>().join("; ");
    match problems.len().saturating_sub(FEW) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

fn path(home: &Path) -> PathBuf {
    home.join("profiles.json")
}

/// The stored profiles; the built-in ones where there are none or they cannot be read.
pub(crate) fn load(home: &Path) -> Profiles {
    let (path, built_in) = (path(home), Profiles::built_in());
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return built_in,
        Err(error) => {
            tracing::error!(path = %path.display(), %error, "profiles cannot be read; the built-in ones are used");
            return built_in;
        }
    };
    match built_in.merged_with(&text) {
        Ok(profiles) => profiles,
        Err(error) => {
            tracing::error!(path = %path.display(), %error, "profiles are not valid; the built-in ones are used");
            built_in
        }
    }
}
