//! What a run's agent or script is started with.
//!
//! Invariant: a profile is checked by planning a run with it, so that what passes the check can be started.

use forge_run::agents::{self, LaunchContext, Plan};
use forge_run::talk::ConversationPlan;
use forge_types::{Action, ActionKind, ProfileId, Project};

use crate::worktree::host::Directory;
use crate::worktree::workplace::Workplace;
use crate::{Forge, Result};

impl Forge {
    /// The profile with its canonical variant, once the variant and the program are known to exist.
    pub(crate) async fn check_profile(
        &self,
        asked: &ProfileId,
        project: &Project,
        at: &Directory,
    ) -> Result<ProfileId> {
        let (profile, options) = self.find_profile(asked, project).await?;
        let path_env = std::env::var_os("PATH").unwrap_or_default();
        let place =
            LaunchContext { worktree: at.local_path(), forge_exe: &self.0.config.exe, path_env: &path_env };
        agents::plan(profile.executor, &options, agents::Request::New { prompt: "" }, &place)?;
        Ok(profile)
    }

    pub(super) async fn plan(&self, action: &Action, workplace: &Workplace) -> Result<Plan> {
        let path_env = std::env::var_os("PATH").unwrap_or_default();
        let worktree = workplace.directory.local_path();
        let place = LaunchContext { worktree, forge_exe: &self.0.config.exe, path_env: &path_env };
        let (request, profile) = match asked(action) {
            Asked::Agent(request, profile) => (request, profile),
            Asked::ConversationPlan(script) => return Ok(agents::plan_script(script, &place)?),
        };
        let (profile, options) = self.find_profile(profile, &workplace.project).await?;
        Ok(agents::plan(profile.executor, &options, request, &place)?)
    }

    /// How the conversation of a run goes on that another server launched.
    pub(crate) async fn script_of(&self, action: &Action, workplace: &Workplace) -> Option<ConversationPlan> {
        let Asked::Agent(request, profile) = asked(action) else { return None };
        let (profile, options) = self.find_profile(profile, &workplace.project).await.ok()?;
        agents::script(profile.executor, &options, request, workplace.directory.local_path())
    }
}

/// What a run is for.
enum Asked<'a> {
    Agent(agents::Request<'a>, &'a ProfileId),
    ConversationPlan(&'a str),
}

fn asked(action: &Action) -> Asked<'_> {
    match &action.typ {
        ActionKind::ScriptRequest { script, .. } => Asked::ConversationPlan(script),
        ActionKind::CodingAgentInitialRequest { prompt, executor_profile_id } => {
            Asked::Agent(agents::Request::New { prompt }, executor_profile_id)
        }
        ActionKind::CodingAgentFollowUpRequest { prompt, session_id, executor_profile_id } => {
            Asked::Agent(agents::Request::Resume { prompt, session_id }, executor_profile_id)
        }
    }
}
