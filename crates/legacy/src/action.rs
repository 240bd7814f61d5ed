//! What an old run executed, in Forge's words.
//!
//! Invariant: every old run becomes one that Forge can show; what cannot be read is made from what is known.

use forge_types::{Action, Executor, OldRun, ProfileId, RunReason, ScriptContext};
use serde_json::Value;

/// An executor in any spelling that other systems used. `None` when Forge has no such agent.
pub fn read_profile(text: &str) -> Option<ProfileId> {
    if let Ok(profile) = text.parse::<ProfileId>() {
        return Some(profile);
    }
    let named = |executor, variant: Option<&str>| {
        Some(ProfileId { variant: variant.map(str::to_owned), ..ProfileId::new(executor) })
    };
    match forge_types::canonical_variant(text).as_str() {
        "CLAUDE_PLAN" => named(Executor::ClaudeCode, Some("PLAN")),
        "CLAUDE_CODE_ROUTER" => named(Executor::ClaudeCode, Some("ROUTER")),
        "SST_OPENCODE" | "CHARM_OPENCODE" | "OPEN_CODE" => named(Executor::Opencode, None),
        "QWEN" => named(Executor::QwenCode, None),
        "GEMINI_CLI" => named(Executor::Gemini, None),
        "GITHUB_COPILOT" => named(Executor::Copilot, None),
        _ => None,
    }
}

/// The action of an old run; `profile` is that of its attempt.
pub fn read_action(old: &OldRun, profile: &ProfileId) -> Action {
    let stored = old.action.as_ref().and_then(|stored| serde_json::from_value::<Action>(stored.clone()).ok());
    if let Some(action) = stored.filter(|action| action.reason() == old.reason) {
        return action;
    }
    let step = old.action.as_ref().map_or(&Value::Null, |action| &action["typ"]);
    let text = |key: &str| step[key].as_str().map(str::to_owned);
    let script = |context| Action::script(text("script").unwrap_or_default(), context);
    match old.reason {
        RunReason::SetupScript => script(ScriptContext::SetupScript),
        RunReason::CleanupScript => script(ScriptContext::CleanupScript),
        RunReason::DevServer => script(ScriptContext::DevServer),
        RunReason::CodingAgent => {
            let prompt = text("prompt").or_else(|| old.prompt.clone()).unwrap_or_default();
            // Later versions call it a config, earlier ones a profile.
            let named = ["executor_config", "executor_profile_id", "profile_variant_label"]
                .iter()
                .find_map(|key| serde_json::from_value::<ProfileId>(step[*key].clone()).ok());
            Action::agent(prompt, named.unwrap_or_else(|| profile.clone()), text("session_id"))
        }
    }
}

/// The profile an attempt worked with, from the action of its first agent run.
pub fn profile_of_runs(runs: &[OldRun]) -> Option<ProfileId> {
    let stored =
        runs.iter().filter(|run| run.reason == RunReason::CodingAgent).filter_map(|run| run.action.as_ref());
    stored
        .filter_map(|stored| serde_json::from_value::<Action>(stored.clone()).ok())
        .find_map(|action| action.profile().cloned())
}

#[cfg(test)]
mod tests {
    use forge_types::{Millis, RunStatus};
    use serde_json::json;

    use super::*;

    fn run(reason: RunReason, action: Value) -> OldRun {
        OldRun {
            key: "k".into(),
            id: None,
            reason,
            action: Some(action),
            status: RunStatus::Completed,
            exit_code: Some(0),
            dropped: false,
            session_id: None,
            prompt: Some("asked".into()),
            summary: None,
            before_head: None,
            after_head: None,
            started_at: Millis(1),
            completed_at: None,
            log: None,
        }
    }

    #[test]
    fn every_age_of_an_action_is_read() {
        let amp = ProfileId::new(Executor::Amp);
        let cases = [
            (
                json!({"typ": {"type": "CodingAgentInitialRequest", "prompt": "p",
                "executor_profile_id": {"executor": "CODEX", "variant": "HIGH"}}, "next_action": null}),
                "CODEX:HIGH",
                "p",
            ),
            (
                json!({"typ": {"type": "CodingAgentInitialRequest", "prompt": "p",
                "profile_variant_label": {"profile": "claude-code", "variant": "plan"}}}),
                "CLAUDE_CODE:plan",
                "p",
            ),
            (
                json!({"typ": {"type": "ReviewRequest", "prompt": "p", "executor_config": {"executor": "GEMINI"}}}),
                "GEMINI",
                "p",
            ),
            (json!({"typ": {"type": "FromTheFuture"}}), "AMP", "asked"),
            (json!(""), "AMP", "asked"),
        ];
        for (stored, profile, prompt) in cases {
            let action = read_action(&run(RunReason::CodingAgent, stored.clone()), &amp);
            let read = action.profile().map(ToString::to_string);
            assert_eq!((read.as_deref(), action.prompt()), (Some(profile), Some(prompt)), "{stored}");
        }
        let script = json!({"typ": {"type": "ScriptRequest", "script": "ls", "language": "Fish", "context": "DevServer"}});
        assert_eq!(
            read_action(&run(RunReason::DevServer, script), &amp),
            Action::script("ls", ScriptContext::DevServer)
        );
    }

    #[test]
    fn agents_are_known_by_the_names_that_others_gave_them() {
        for (text, want) in
            [("claude", "CLAUDE_CODE"), ("claude-plan", "CLAUDE_CODE:PLAN"), ("sst-opencode", "OPENCODE")]
        {
            assert_eq!(read_profile(text).map(|profile| profile.to_string()).as_deref(), Some(want));
        }
        assert_eq!(read_profile("echo"), None);
    }
}
