//! Codex's app server: JSON-RPC, one message per line.
//!
//! Owns the position in the conversation (thread, turn) and what the open questions are about. Our requests are
//! numbered, the agent's have ids of its own, so their keys differ. Invariants: each request of the agent is
//! answered, an unknown one with an error; what is remembered is bounded; a reason is sent before the denial it
//! belongs to, since only the denial shows in the log that the question was answered.

use std::collections::VecDeque;

use forge_types::ApprovalStatus;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Driver, Due, NO_REASON, Pending, Question, TIMED_OUT};

/// Ids of the requests that begin every conversation; `initialize` is among the first lines of stdin.
const INITIALIZE: u64 = 1;
const THREAD: u64 = 2;
const TURN: u64 = 3;

/// The id of a request that explains a denial begins with this.
pub(crate) const FEEDBACK_ID: &str = "feedback:";
/// And its text begins with this.
pub(crate) const FEEDBACK: &str = "User feedback: ";

const MAX_QUESTIONS: usize = 64;
const MAX_CHANGES: usize = 32;
/// Questions about larger changes do not include the diffs.
const MAX_CHANGE_BYTES: usize = 256 << 10;
/// The JSON-RPC code for an unknown request.
const METHOD_NOT_FOUND: i64 = -32601;

/// How a conversation begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// The thread to continue.
    pub resume: Option<String>,
    pub prompt: String,
    /// Directory, sandbox, model and the like, as parameters of `thread/start`.
    pub settings: Map<String, Value>,
}

pub(super) struct Codex {
    opening: Opening,
    thread: Option<String>,
    /// The current turn.
    turn: Option<String>,
    next_id: u64,
    questions: VecDeque<AnswerPlan>,
    /// File changes by item, because the question about them does not repeat them.
    changes: VecDeque<(String, Value)>,
    /// The ids of the reasons that were sent.
    sent_reasons: VecDeque<String>,
}

/// What is needed to answer a request of the agent.
struct AnswerPlan {
    key: String,
    shape: AnswerShape,
    thread: String,
    turn: String,
}

/// The shape of an answer.
#[derive(Clone, Copy)]
enum AnswerShape {
    Decision,
    /// The shape of older versions.
    Review,
    Permissions,
    Elicitation,
}

/// Enough to decide whether a line is relevant, without parsing all of it.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    method: Option<String>,
    #[serde(default)]
    id: Value,
}

impl Codex {
    pub(super) fn new(opening: Opening) -> Codex {
        Codex {
            opening,
            thread: None,
            turn: None,
            next_id: TURN + 1,
            questions: VecDeque::new(),
            changes: VecDeque::new(),
            sent_reasons: VecDeque::new(),
        }
    }

    fn read_reply(&mut self, id: &Value, message: &Value, pending: &mut Pending) {
        let failed = message.get("error").is_some();
        let result = &message["result"];
        match id.as_u64() {
            Some(INITIALIZE | THREAD | TURN) if failed => pending.over = true,
            Some(INITIALIZE) => {
                let method = "initialized";
                pending.send(method, &json!({"method": method}));
                self.open_thread(pending);
            }
            Some(THREAD) => {
                let Some(thread) = result["thread"]["id"].as_str() else {
                    pending.over = true;
                    return;
                };
                self.thread = Some(thread.to_owned());
                let params = json!({"threadId": thread, "input": text(&self.opening.prompt)});
                pending.send(request_key(&TURN.into()), &request(TURN, "turn/start", params));
            }
            Some(TURN) => self.turn = result["turn"]["id"].as_str().map(str::to_owned),
            _ => {}
        }
    }

    fn open_thread(&self, pending: &mut Pending) {
        let mut params = self.opening.settings.clone();
        let method = match &self.opening.resume {
            None => "thread/start",
            Some(thread) => {
                params.insert("threadId".into(), thread.as_str().into());
                // The log of the earlier run contains them.
                params.insert("excludeTurns".into(), true.into());
                "thread/fork"
            }
        };
        pending.send(request_key(&THREAD.into()), &request(THREAD, method, params.into()));
    }

    fn read_notification(&mut self, method: &str, params: &mut Value, pending: &mut Pending) {
        let ours = params["threadId"].as_str() == self.thread.as_deref();
        match method {
            "turn/started" if ours => self.turn = params["turn"]["id"].as_str().map(str::to_owned),
            "turn/completed" if ours => {
                self.turn = None;
                pending.over = true;
            }
            "item/started" if params["item"]["type"] == "fileChange" => {
                let item = params["item"]["id"].as_str().unwrap_or_default().to_owned();
                self.note_changes(item, params["item"]["changes"].take());
            }
            "item/fileChange/patchUpdated" => {
                let item = params["itemId"].as_str().unwrap_or_default().to_owned();
                self.note_changes(item, params["changes"].take());
            }
            "serverRequest/resolved" => pending.withdraw(&params["requestId"].to_string()),
            _ => {}
        }
    }

    fn note_changes(&mut self, item: String, mut changes: Value) {
        let sizes = changes
            .as_array()
            .into_iter()
            .flatten()
            .map(|change| change["diff"].as_str().map_or(0, str::len));
        if sizes.sum::<usize>() > MAX_CHANGE_BYTES {
            for change in changes.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
                change.remove("diff");
            }
        }
        self.changes.retain(|(known, _)| *known != item);
        push_bounded(&mut self.changes, (item, changes), MAX_CHANGES);
    }

    fn read_request(
        &mut self,
        id: &Value,
        method: &str,
        params: &mut Value,
        at_ms: i64,
        pending: &mut Pending,
    ) {
        let key = id.to_string();
        let field = |name: &str| params[name].as_str().map(str::to_owned);
        let call_id = field("itemId").or_else(|| field("callId"));
        let (thread, turn) = (field("threadId"), field("turnId").or_else(|| self.turn.clone()));
        let input = |names: &[&str]| {
            let given = names.iter().filter(|name| !params[**name].is_null());
            Value::Object(given.map(|name| ((*name).to_owned(), params[*name].clone())).collect())
        };
        let (shape, tool_name, tool_input) = match method {
            "item/commandExecution/requestApproval" => (
                AnswerShape::Decision,
                "bash",
                input(&["command", "cwd", "reason", "networkApprovalContext"]),
            ),
            "item/fileChange/requestApproval" => {
                let mut input = input(&["reason", "grantRoot"]);
                let known = self.changes.iter().find(|(item, _)| Some(item) == call_id.as_ref());
                input["changes"] = known.map(|(_, changes)| changes.clone()).unwrap_or_default();
                (AnswerShape::Decision, "edit", input)
            }
            "execCommandApproval" => (AnswerShape::Review, "bash", input(&["command", "cwd", "reason"])),
            "applyPatchApproval" => {
                (AnswerShape::Review, "edit", input(&["fileChanges", "reason", "grantRoot"]))
            }
            "item/permissions/requestApproval" => {
                (AnswerShape::Permissions, "permissions", input(&["permissions", "cwd", "reason"]))
            }
            // A shape without fields asks for a yes, as for the use of a tool.
            "mcpServer/elicitation/request" if is_plain_question(params) => {
                (AnswerShape::Elicitation, "mcp", input(&["serverName", "message", "_meta"]))
            }
            _ => {
                let message = format!("Forge does not support {method}");
                let error = json!({"code": METHOD_NOT_FOUND, "message": message});
                pending.send(key, &json!({"id": id, "error": error}));
                return;
            }
        };
        let question = AnswerPlan {
            key: key.clone(),
            shape,
            thread: thread.unwrap_or_default(),
            turn: turn.unwrap_or_default(),
        };
        push_bounded(&mut self.questions, question, MAX_QUESTIONS);
        pending.ask(Question { key, tool_name: tool_name.to_owned(), tool_input, call_id, at_ms });
    }

    fn question(&self, key: &str) -> Option<&AnswerPlan> {
        self.questions.iter().rfind(|question| question.key == key)
    }
}

impl Driver for Codex {
    fn read(&mut self, line: &[u8], at_ms: i64, pending: &mut Pending) {
        let Ok(head) = serde_json::from_slice::<Head>(line) else { return };
        let relevant = match head.method.as_deref() {
            None => !head.id.is_null(),
            Some(_) if !head.id.is_null() => true,
            Some("turn/started" | "turn/completed" | "item/started") => true,
            Some("item/fileChange/patchUpdated" | "serverRequest/resolved") => true,
            Some(_) => false,
        };
        if !relevant {
            return;
        }
        let Ok(mut message) = serde_json::from_slice::<Value>(line) else { return };
        let mut params = message.get_mut("params").map(Value::take).unwrap_or_default();
        if !params.is_object() {
            params = json!({});
        }
        match head.method.as_deref() {
            None => self.read_reply(&head.id, &message, pending),
            Some(method) if head.id.is_null() => self.read_notification(method, &mut params, pending),
            Some(method) => self.read_request(&head.id, method, &mut params, at_ms, pending),
        }
    }

    fn key_of(&self, line: &[u8]) -> Option<String> {
        let Head { method, id } = serde_json::from_slice(line).ok()?;
        match (method, id) {
            (Some(method), Value::Null) => Some(method),
            (Some(_), id) => Some(request_key(&id)),
            (None, Value::Null) => None,
            (None, id) => Some(id.to_string()),
        }
    }

    fn note_sent(&mut self, line: &[u8]) {
        let Ok(Head { method: Some(_), id }) = serde_json::from_slice(line) else { return };
        if let Some(id) = id.as_u64() {
            self.next_id = self.next_id.max(id.saturating_add(1));
        } else if let Some(id) = id.as_str().filter(|id| id.starts_with(FEEDBACK_ID)) {
            push_bounded(&mut self.sent_reasons, id.to_owned(), MAX_QUESTIONS);
        }
    }

    fn explain(&self, ask: &Question, answer: &ApprovalStatus) -> Option<Due> {
        let question =
            self.question(&ask.key).filter(|question| !matches!(question.shape, AnswerShape::Review))?;
        let message = match answer {
            ApprovalStatus::Approved => return None,
            ApprovalStatus::Denied { reason } => format!("{FEEDBACK}{}", non_empty(reason.as_deref())?),
            ApprovalStatus::TimedOut | ApprovalStatus::Pending => TIMED_OUT.to_owned(),
        };
        let id = format!("{FEEDBACK_ID}{}", ask.key);
        if question.turn.is_empty() || self.sent_reasons.contains(&id) {
            return None;
        }
        let line = steer(id.as_str().into(), &question.thread, &question.turn, &message);
        Some(Due { key: request_key(&id.into()), line: line.to_string() })
    }

    fn reply(&self, ask: &Question, answer: &ApprovalStatus) -> Value {
        let allowed = matches!(answer, ApprovalStatus::Approved);
        let either = |yes: &str, no: &str| Value::from(if allowed { yes } else { no });
        let result = match self.question(&ask.key).map(|question| question.shape) {
            Some(AnswerShape::Decision) | None => json!({"decision": either("accept", "decline")}),
            Some(AnswerShape::Review) => json!({"decision": match answer {
                ApprovalStatus::Approved => json!("approved"),
                ApprovalStatus::Denied { reason } => {
                    json!({"denied": {"rejection": non_empty(reason.as_deref()).unwrap_or(NO_REASON)}})
                }
                ApprovalStatus::TimedOut | ApprovalStatus::Pending => json!("timed_out"),
            }}),
            Some(AnswerShape::Permissions) => {
                let granted = if allowed { ask.tool_input["permissions"].clone() } else { json!({}) };
                json!({"permissions": granted, "scope": "turn"})
            }
            Some(AnswerShape::Elicitation) => {
                let content = if allowed { json!({}) } else { Value::Null };
                json!({"action": either("accept", "decline"), "content": content})
            }
        };
        let id = serde_json::from_str::<Value>(&ask.key).unwrap_or_default();
        json!({"id": id, "result": result})
    }

    fn message(&self, text: &str) -> Option<Value> {
        Some(steer(self.next_id.into(), self.thread.as_deref()?, self.turn.as_deref()?, text))
    }

    fn interrupt(&self) -> Option<Value> {
        let params = json!({"threadId": self.thread.as_deref()?, "turnId": self.turn.as_deref()?});
        Some(request(self.next_id, "turn/interrupt", params))
    }
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({"id": id, "method": method, "params": params})
}

fn request_key(id: &Value) -> String {
    format!("request {id}")
}

fn steer(id: Value, thread: &str, turn: &str, message: &str) -> Value {
    let params = json!({"threadId": thread, "expectedTurnId": turn, "input": text(message)});
    json!({"id": id, "method": "turn/steer", "params": params})
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

/// The reason, if there is one.
fn non_empty(reason: Option<&str>) -> Option<&str> {
    reason.map(str::trim).filter(|reason| !reason.is_empty())
}

fn is_plain_question(params: &Value) -> bool {
    let fields = params["requestedSchema"]["properties"].as_object();
    params["mode"] == "form" && fields.is_none_or(Map::is_empty)
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}
