//! Claude's control requests.
//!
//! Owns nothing: each request carries all that its answer needs. Hooks are answered at once ("ask a person"), which makes
//! the agent ask for permission; that is the question which waits.

use forge_types::ApprovalStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Ask, Desk, Driver, NO_REASON, TIMED_OUT};

pub(super) struct Claude;

/// Enough to see whether a line concerns us, without building it in memory.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    r#type: String,
}

impl Driver for Claude {
    fn take(&mut self, line: &[u8], at_ms: i64, desk: &mut Desk) {
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return };
        if !head.r#type.starts_with("control_") {
            return;
        }
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return };
        let id = message["request_id"].as_str().unwrap_or_default().to_owned();
        match (head.r#type.as_str(), message["request"]["subtype"].as_str()) {
            ("control_cancel_request", _) => desk.withdraw(&id),
            ("control_request", Some("hook_callback")) => {
                let decision = json!({"hookEventName": "PreToolUse", "permissionDecision": "ask"});
                desk.say(id.clone(), &response(&id, json!({"hookSpecificOutput": decision})));
            }
            ("control_request", Some("can_use_tool")) => {
                let mut request = message["request"].take();
                desk.ask(Ask {
                    key: id,
                    tool_name: request["tool_name"].as_str().unwrap_or("unknown").to_owned(),
                    call_id: request["tool_use_id"].as_str().map(str::to_owned),
                    tool_input: request["input"].take(),
                    at_ms,
                });
            }
            ("control_request", subtype) => {
                let error = format!("unknown request: {}", subtype.unwrap_or("without subtype"));
                let response = json!({"subtype": "error", "request_id": id, "error": error});
                desk.say(id, &json!({"type": "control_response", "response": response}));
            }
            _ => {}
        }
    }

    fn key_of(&self, line: &[u8]) -> Option<String> {
        let message = serde_json::from_slice::<Value>(line).ok()?;
        (message["type"] == "control_response")
            .then(|| message["response"]["request_id"].as_str().map(str::to_owned))?
    }

    fn note_said(&mut self, _line: &[u8]) {}

    fn reply(&self, ask: &Ask, answer: &ApprovalStatus) -> Value {
        let deny = |message: &str| json!({"behavior": "deny", "message": message, "interrupt": false});
        let decision = match answer {
            ApprovalStatus::Approved => {
                let mut allow = json!({"behavior": "allow", "updatedInput": ask.tool_input});
                if ask.tool_name == "ExitPlanMode" {
                    // A plan that was approved is carried out without further questions.
                    allow["updatedPermissions"] =
                        json!([{"type": "setMode", "mode": "bypassPermissions", "destination": "session"}]);
                }
                allow
            }
            ApprovalStatus::Denied { reason } => {
                let reason = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
                deny(reason.unwrap_or(NO_REASON))
            }
            ApprovalStatus::TimedOut | ApprovalStatus::Pending => deny(TIMED_OUT),
        };
        response(&ask.key, decision)
    }

    fn message(&self, text: &str) -> Option<Value> {
        Some(json!({"type": "user", "message": {"role": "user", "content": text}}))
    }

    fn interrupt(&self) -> Option<Value> {
        let request = json!({"subtype": "interrupt"});
        Some(json!({"type": "control_request", "request_id": "forge-interrupt", "request": request}))
    }
}

fn response(id: &str, response: Value) -> Value {
    let response = json!({"subtype": "success", "request_id": id, "response": response});
    json!({"type": "control_response", "response": response})
}
