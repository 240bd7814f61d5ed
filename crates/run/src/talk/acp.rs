//! The Agent Client Protocol, version 1: JSON-RPC lines in both directions.
//!
//! Owns the order of a run's requests (initialize, a session, the settings of the profile, the prompt) and the
//! answers to the agent's requests. Invariants: each request is sent when the previous one was answered, so the
//! journal shows which is due; a permission is chosen by the kind of its option; the reason of a denial, for which
//! the protocol has no field, is noted in the answer's `_meta` and becomes the next prompt; every other request of
//! the agent is refused, never left open.

mod offer;

use std::path::PathBuf;

use forge_types::ApprovalStatus;
use serde::Deserialize;
use serde_json::{Value, json};

use super::file_request::{FileRequest, Operation};
use super::{Driver, Pending, Question};
pub(crate) use offer::{Meaning, Offers};

const INITIALIZE: u64 = 1;
const SESSION: u64 = 2;
/// The request whose reply ends the turn.
pub(crate) const PROMPT: u64 = 3;
/// The first of the settings made between the session and the prompt.
const FIRST_CHOICE: u64 = 10;
/// The first of the prompts that carry a person's feedback after a denial.
const FIRST_FEEDBACK: u64 = 100;
/// More requests than this at once are refused.
const MAX_ACTS: usize = 64;
const METHOD_NOT_FOUND: i64 = -32601;
const BUSY: i64 = -32603;

/// Everything a run sends, known when it is planned.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    pub worktree: PathBuf,
    pub prompt: String,
    /// The conversation to continue.
    pub session: Option<String>,
    pub permissions: Permissions,
    /// Set in the session, for agents that take no argument for it.
    pub model: Option<String>,
    pub mode: Option<String>,
    pub replay: Replay,
}

/// Who answers the agent's requests for permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permissions {
    Granted,
    Asked,
}

/// When an agent that continues a conversation replays the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    BeforeReply,
    /// Also after it: one more exchange must pass before the prompt, or old and new would be mixed.
    AfterReply,
}

/// The first line of every conversation. The agent handles files itself, so that it continues when no server runs;
/// if it asks for them nevertheless, it is served.
pub(crate) fn initialize() -> String {
    let params = json!({
        "protocolVersion": 1,
        "clientCapabilities": {"fs": {"readTextFile": false, "writeTextFile": false}, "terminal": false},
        "clientInfo": {"name": "forge", "title": "Forge", "version": env!("CARGO_PKG_VERSION")},
    });
    request(INITIALIZE, "initialize", params).to_string()
}

/// The key of the answer to the agent's request `id`.
pub(crate) fn answer_key(id: &Value) -> String {
    format!("answer {id}")
}

/// The name of the tool that a permission request is about, as the log shows it.
pub(crate) fn tool_name(call: &Value) -> String {
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let kind = text(&call["kind"]).filter(|kind| kind != "other");
    text(&call["_meta"]["toolName"])
        .or(kind)
        .or_else(|| text(&call["title"]))
        .unwrap_or_else(|| "tool".into())
}

pub(super) struct Acp {
    opening: Opening,
    session: Option<String>,
    /// Settings that are still to be made, the next one last.
    choices: Vec<(&'static str, Value)>,
    next_choice: u64,
    offers: Offers,
    /// What people wrote when they denied something, for the next prompt.
    feedback: Vec<String>,
    next_feedback: u64,
    cancelled: bool,
}

/// Enough to decide whether a line is relevant, without parsing all of it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    id: Option<Value>,
}

impl Acp {
    pub fn new(opening: Opening) -> Acp {
        Acp {
            opening,
            session: None,
            choices: Vec::new(),
            next_choice: FIRST_CHOICE,
            offers: Offers::default(),
            feedback: Vec::new(),
            next_feedback: FIRST_FEEDBACK,
            cancelled: false,
        }
    }

    fn read_reply(&mut self, id: u64, reply: &Value, pending: &mut Pending) {
        if !reply["error"].is_null() {
            // The log contains its message; without a result there is no way to continue.
            pending.over = true;
            return;
        }
        let result = &reply["result"];
        match id {
            INITIALIZE => self.open_session(result, pending),
            SESSION => {
                let session = result["sessionId"].as_str().map(str::to_owned);
                self.session = session.or_else(|| self.opening.session.clone());
                self.choices = self.choices_in(result);
                self.continue_opening(pending);
            }
            id if id == PROMPT || id >= FIRST_FEEDBACK => self.end_turn(pending),
            _ => self.continue_opening(pending),
        }
    }

    fn open_session(&mut self, result: &Value, pending: &mut Pending) {
        let mut params = json!({"cwd": self.opening.worktree, "mcpServers": []});
        let granted = self.opening.permissions == Permissions::Granted;
        // For readers of the log, who do not know the profile.
        let mut note = json!({"permissions": if granted { "granted" } else { "asked" }});
        let method = match &self.opening.session {
            Some(session) if result["agentCapabilities"]["loadSession"] == true => {
                params["sessionId"] = json!(session);
                "session/load"
            }
            Some(session) => {
                note["insteadOf"] = json!(session);
                "session/new"
            }
            None => "session/new",
        };
        params["_meta"] = json!({"forge": note});
        self.send(SESSION, method, params, pending);
    }

    /// The requests that apply the profile's settings to the session, the first one last.
    fn choices_in(&self, result: &Value) -> Vec<(&'static str, Value)> {
        let session = json!(self.session);
        let configured = |category: &str| {
            let options = result["configOptions"].as_array().into_iter().flatten();
            let mut named =
                options.filter(|option| option["category"] == category || option["id"] == category);
            named.find_map(|option| option["id"].as_str())
        };
        let choose = |category: &str, method: &'static str, key: &str, value: &str| match configured(category)
        {
            Some(config) => {
                let params = json!({"sessionId": session, "configId": config, "value": value});
                ("session/set_config_option", params)
            }
            None => (method, json!({"sessionId": session, key: value})),
        };
        let mut choices = Vec::new();
        let current = result["modes"]["currentModeId"].as_str();
        let is_late = self.opening.session.is_some() && self.opening.replay == Replay::AfterReply;
        if let Some(mode) = &self.opening.mode {
            choices.push(choose("mode", "session/set_mode", "modeId", mode));
        } else if is_late && let Some(mode) = current {
            choices.push(("session/set_mode", json!({"sessionId": session, "modeId": mode})));
        }
        if let Some(model) = &self.opening.model {
            choices.push(choose("model", "session/set_model", "modelId", model));
        }
        choices
    }

    fn continue_opening(&mut self, pending: &mut Pending) {
        if self.cancelled {
            pending.over = true;
            return;
        }
        match self.choices.pop() {
            Some((method, params)) => {
                let id = self.next_choice;
                self.next_choice += 1;
                self.send(id, method, params, pending);
            }
            None => self.prompt(PROMPT, &self.opening.prompt, pending),
        }
    }

    fn end_turn(&mut self, pending: &mut Pending) {
        if self.feedback.is_empty() || self.cancelled {
            pending.over = true;
            return;
        }
        let text = format!("User feedback: {}", std::mem::take(&mut self.feedback).join("\n"));
        let id = self.next_feedback;
        self.next_feedback += 1;
        self.prompt(id, &text, pending);
    }

    fn prompt(&self, id: u64, text: &str, pending: &mut Pending) {
        let prompt = json!([{"type": "text", "text": text}]);
        self.send(id, "session/prompt", json!({"sessionId": self.session, "prompt": prompt}), pending);
    }

    fn send(&self, id: u64, method: &str, params: Value, pending: &mut Pending) {
        pending.send(request_key(id), &request(id, method, params));
    }

    fn read_request(&mut self, method: &str, id: Value, params: Value, at_ms: i64, pending: &mut Pending) {
        let key = answer_key(&id);
        let path = || params["path"].as_str().map(PathBuf::from);
        let operation = match method {
            "session/request_permission" => return self.read_question(key, id, params, at_ms, pending),
            "fs/read_text_file" => path().map(|path| Operation::Read {
                path,
                line: params["line"].as_u64(),
                limit: params["limit"].as_u64(),
            }),
            "fs/write_text_file" => path()
                .zip(params["content"].as_str().map(str::to_owned))
                .map(|(path, content)| Operation::Write { path, content }),
            _ => None,
        };
        match operation {
            Some(operation) if pending.acts.len() < MAX_ACTS => {
                let worktree = self.opening.worktree.clone();
                pending.act(FileRequest { key, id, worktree, operation });
            }
            Some(_) => {
                pending.send(key, &error_reply(&id, BUSY, "too many requests at once; wait for an answer"))
            }
            None => {
                let message = format!("Method not found: {method}");
                pending.send(key, &error_reply(&id, METHOD_NOT_FOUND, &message));
            }
        }
    }

    fn read_question(
        &mut self,
        key: String,
        id: Value,
        mut params: Value,
        at_ms: i64,
        pending: &mut Pending,
    ) {
        self.offers.note(&key, &params);
        if self.opening.permissions == Permissions::Granted {
            // Once is enough, since every question is answered; "always" may be stored in a file of the user.
            let picked = self.offers.pick(&key, ["allow_once", "allow_always"]);
            pending.send(key, &permission_reply(&id, picked));
            return;
        }
        let mut call = params.get_mut("toolCall").map(Value::take).unwrap_or_default();
        let tool_name = tool_name(&call);
        let call_id = call["toolCallId"].as_str().map(str::to_owned);
        let raw = call.get_mut("rawInput").map(Value::take).filter(|raw| !raw.is_null());
        let tool_input = raw.unwrap_or_else(|| json!({"title": call["title"], "content": call["content"]}));
        pending.ask(Question { key, tool_name, tool_input, call_id, at_ms });
    }
}

impl Driver for Acp {
    fn read(&mut self, line: &[u8], at_ms: i64, pending: &mut Pending) {
        let Ok(Head { method, id: Some(id) }) = serde_json::from_slice::<Head>(line) else { return };
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return };
        match method {
            Some(method) => {
                let params = message.get_mut("params").map(Value::take).unwrap_or_default();
                self.read_request(&method, id, params, at_ms, pending);
            }
            None => {
                if let Some(id) = id.as_u64() {
                    self.read_reply(id, &message, pending);
                }
            }
        }
    }

    fn key_of(&self, line: &[u8]) -> Option<String> {
        let Head { method, id: Some(id) } = serde_json::from_slice::<Head>(line).ok()? else { return None };
        match method {
            Some(_) => id.as_u64().map(request_key),
            None => Some(answer_key(&id)),
        }
    }

    fn note_sent(&mut self, line: &[u8]) {
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return };
        match (head.method.as_deref(), head.id) {
            (Some("session/cancel"), _) => self.cancelled = true,
            (None, Some(id)) => {
                self.offers.forget(&answer_key(&id));
                let message = serde_json::from_slice::<Value>(line).unwrap_or_default();
                if let Some(reason) = message["result"]["_meta"]["forge"]["reason"].as_str() {
                    self.feedback.push(reason.to_owned());
                }
            }
            _ => {}
        }
    }

    fn reply(&self, ask: &Question, answer: &ApprovalStatus) -> Value {
        let id = ask.key.strip_prefix("answer ").and_then(|id| serde_json::from_str(id).ok());
        let id: Value = id.unwrap_or_default();
        let reject = || permission_reply(&id, self.offers.pick(&ask.key, ["reject_once", "reject_always"]));
        match answer {
            ApprovalStatus::Approved => {
                permission_reply(&id, self.offers.pick(&ask.key, ["allow_once", "allow_always"]))
            }
            ApprovalStatus::Denied { reason } => {
                let mut reply = reject();
                if let Some(reason) = reason.as_deref().map(str::trim).filter(|reason| !reason.is_empty()) {
                    reply["result"]["_meta"] = json!({"forge": {"reason": reason}});
                }
                reply
            }
            ApprovalStatus::TimedOut | ApprovalStatus::Pending => {
                let mut reply = reject();
                reply["result"]["_meta"] = json!({"forge": {"timedOut": true}});
                reply
            }
        }
    }

    /// The protocol has no message for it before the turn ends.
    fn message(&self, _text: &str) -> Option<Value> {
        None
    }

    fn interrupt(&self) -> Option<Value> {
        let session = self.session.as_ref()?;
        Some(json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}))
    }
}

fn request_key(id: u64) -> String {
    format!("request {id}")
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn error_reply(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}

/// The answer to a permission request; without a suitable option, the request counts as cancelled.
fn permission_reply(id: &Value, option: Option<&str>) -> Value {
    let outcome = match option {
        Some(option) => json!({"outcome": "selected", "optionId": option}),
        None => json!({"outcome": "cancelled"}),
    };
    json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": outcome}})
}

#[cfg(test)]
mod tests;
