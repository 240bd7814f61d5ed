//! What a run executes, as a chain: setup script, then agent, then cleanup script.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ProfileId, RunReason};

/// One step and the step that follows it when this one succeeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ExecutorAction")]
pub struct Action {
    pub typ: ActionKind,
    pub next_action: Option<Box<Action>>,
}

/// The kinds of step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type")]
#[schemars(rename = "ActionStep")]
pub enum ActionKind {
    #[schemars(title = "InitialRequest")]
    CodingAgentInitialRequest { prompt: String, executor_profile_id: ProfileId },
    #[schemars(title = "FollowUpRequest")]
    CodingAgentFollowUpRequest { prompt: String, session_id: String, executor_profile_id: ProfileId },
    #[schemars(title = "ScriptRequest")]
    ScriptRequest { script: String, language: ScriptLanguage, context: ScriptContext },
}

/// The only script language of the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ScriptLanguage {
    Bash,
}

/// Why a script runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ScriptContext {
    SetupScript,
    CleanupScript,
    DevServer,
}

impl Action {
    pub fn script(script: impl Into<String>, context: ScriptContext) -> Self {
        let typ =
            ActionKind::ScriptRequest { script: script.into(), language: ScriptLanguage::Bash, context };
        Self { typ, next_action: None }
    }

    /// A request to an agent: a new conversation, or the next turn of `session_id`.
    pub fn agent(prompt: String, profile: ProfileId, session_id: Option<String>) -> Self {
        let executor_profile_id = profile;
        let typ = match session_id {
            Some(session_id) => {
                ActionKind::CodingAgentFollowUpRequest { prompt, session_id, executor_profile_id }
            }
            None => ActionKind::CodingAgentInitialRequest { prompt, executor_profile_id },
        };
        Self { typ, next_action: None }
    }

    /// The same step followed by `next`.
    pub fn then(mut self, next: Option<Action>) -> Self {
        self.next_action = next.map(Box::new);
        self
    }

    pub fn reason(&self) -> RunReason {
        match &self.typ {
            ActionKind::ScriptRequest { context: ScriptContext::SetupScript, .. } => RunReason::SetupScript,
            ActionKind::ScriptRequest { context: ScriptContext::CleanupScript, .. } => {
                RunReason::CleanupScript
            }
            ActionKind::ScriptRequest { context: ScriptContext::DevServer, .. } => RunReason::DevServer,
            _ => RunReason::CodingAgent,
        }
    }

    /// The agent's profile; scripts have none.
    pub fn profile(&self) -> Option<&ProfileId> {
        match &self.typ {
            ActionKind::CodingAgentInitialRequest { executor_profile_id, .. }
            | ActionKind::CodingAgentFollowUpRequest { executor_profile_id, .. } => Some(executor_profile_id),
            ActionKind::ScriptRequest { .. } => None,
        }
    }

    /// The agent's prompt; scripts have none.
    pub fn prompt(&self) -> Option<&str> {
        match &self.typ {
            ActionKind::CodingAgentInitialRequest { prompt, .. }
            | ActionKind::CodingAgentFollowUpRequest { prompt, .. } => Some(prompt),
            ActionKind::ScriptRequest { .. } => None,
        }
    }
}
