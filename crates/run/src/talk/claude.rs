//! Claude's control requests.
//!
//! Hooks are answered at once ("ask a person"), which makes the agent send a permission request; that is the
//! question that waits. Owns the calls that hooks announced, because older versions leave the call out of the
//! question.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};

use forge_types::ApprovalStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Driver, NO_REASON, Pending, Question, TIMED_OUT};

/// Announced calls without a question yet; there are rarely more than a few.
const MAX_HOOKED: usize = 64;

#[derive(Default)]
pub(super) struct Claude {
    hooks: Hooks,
}

/// The calls that hooks announced: id, tool, and a digest of the input.
#[derive(Default)]
pub(crate) struct Hooks(VecDeque<(String, String, u64)>);

impl Hooks {
    /// Reads a hook's request.
    pub fn note(&mut self, request: &Value) {
        let input = &request["input"];
        let id = request["tool_use_id"].as_str().or(input["tool_use_id"].as_str());
        let (Some(id), Some(tool)) = (id, input["tool_name"].as_str()) else { return };
        if self.0.len() == MAX_HOOKED {
            self.0.pop_front();
        }
        self.0.push_back((id.to_owned(), tool.to_owned(), digest(&input["tool_input"])));
    }

    /// The call that a permission request is about: the one it names, or else the most similar announced one.
    pub fn claim(&mut self, request: &Value) -> Option<String> {
        if let Some(id) = request["tool_use_id"].as_str() {
            self.0.retain(|(known, ..)| known != id);
            return Some(id.to_owned());
        }
        let (tool, input) = (request["tool_name"].as_str()?, digest(&request["input"]));
        let same = self.0.iter().position(|(_, known, digest)| known == tool && *digest == input);
        let place = same.or_else(|| self.0.iter().position(|(_, known, _)| known == tool))?;
        self.0.remove(place).map(|(id, ..)| id)
    }
}

fn digest(input: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    input.to_string().hash(&mut hasher);
    hasher.finish()
}

/// Enough to decide whether a line is relevant, without parsing all of it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    r#type: String,
}

impl Driver for Claude {
    fn read(&mut self, line: &[u8], at_ms: i64, pending: &mut Pending) {
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return };
        if !head.r#type.starts_with("control_") {
            return;
        }
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return };
        let id = message["request_id"].as_str().unwrap_or_default().to_owned();
        match (head.r#type.as_str(), message["request"]["subtype"].as_str()) {
            ("control_cancel_request", _) => pending.withdraw(&id),
            ("control_request", Some("hook_callback")) => {
                self.hooks.note(&message["request"]);
                let decision = json!({"hookEventName": "PreToolUse", "permissionDecision": "ask"});
                pending.send(id.clone(), &response(&id, json!({"hookSpecificOutput": decision})));
            }
            ("control_request", Some("can_use_tool")) => {
                let mut request = message["request"].take();
                pending.ask(Question {
                    key: id,
                    tool_name: request["tool_name"].as_str().unwrap_or("unknown").to_owned(),
                    call_id: self.hooks.claim(&request),
                    tool_input: request["input"].take(),
                    at_ms,
                });
            }
            ("control_request", subtype) => {
                let error = format!("unknown request: {}", subtype.unwrap_or("without subtype"));
                let response = json!({"subtype": "error", "request_id": id, "error": error});
                pending.send(id, &json!({"type": "control_response", "response": response}));
            }
            _ => {}
        }
    }

    fn key_of(&self, line: &[u8]) -> Option<String> {
        let message = serde_json::from_slice::<Value>(line).ok()?;
        (message["type"] == "control_response")
            .then(|| message["response"]["request_id"].as_str().map(str::to_owned))?
    }

    fn note_sent(&mut self, _line: &[u8]) {}

    fn reply(&self, ask: &Question, answer: &ApprovalStatus) -> Value {
        let deny = |message: &str| json!({"behavior": "deny", "message": message, "interrupt": false});
        let decision = match answer {
            ApprovalStatus::Approved => {
                let mut allow = json!({"behavior": "allow", "updatedInput": ask.tool_input});
                if ask.tool_name == "ExitPlanMode" {
                    // An approved plan is carried out without further questions.
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
