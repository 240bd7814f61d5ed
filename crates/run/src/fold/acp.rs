//! The Agent Client Protocol, line by line, in both directions.
//!
//! Owns the conversation's state: what was asked of the agent, which text it is writing, which tool calls are open.
//! Invariants: what an agent replays when it continues a conversation is not shown again; the reply to the last
//! prompt decides about success, and an end without any sign of work is never called success; unknown messages are
//! shown, one system entry each.

mod call;
mod failure;
mod spend;

use std::path::PathBuf;

use forge_types::{ActionType, EntryType, ErrorType, INTRODUCTION, ToolStatus};
use serde_json::{Value, json};

use super::calls::Calls;
use super::dialogue::{DialectReader, UNRECOGNISED_BYTES, unrecognised};
use super::entries::{LogWriter, plain};
use super::setup::answer_wants_setup;
use super::stream::{Block, TextKind};
use super::{FoldContext, Limit, SUMMARY_BYTES, Verdict, cut, tool};
use crate::talk::acp::{Meaning, Offers, answer_key};
use failure::Failure;
use spend::Spend;

/// Our requests that wait for a reply; there is rarely more than one.
const MAX_REQUESTS: usize = 16;
const UNVERIFIED: &str = "The agent reported that it is done, but it used no tool and reported no model usage: \
                          whether it did anything is unverified.";
/// How a failure begins that is reported as if it were an answer. After real work only a more specific text counts.
const ERROR_ANSWER: &str = "Error: ";
const FAILURE_ANSWERS: [&str; 2] =
    ["Error: Failed to get response from the AI model", "Error: Authentication failed with provider"];
const UNFINISHED: &str = "The agent ended before it had finished its turn.";
const NO_HISTORY: &str =
    "The agent cannot continue an earlier conversation: this one begins without its history.";

pub(super) struct Acp {
    worktree: PathBuf,
    requests: Vec<(u64, SentRequest)>,
    agent: String,
    turn: Turn,
    permissions: Permissions,
    /// The text that the agent is writing, and the id of its message.
    open_text: Option<(Option<String>, Block)>,
    calls: Calls,
    offers: Offers,
    plan: Option<usize>,
    commands_shown: bool,
    mode_shown: bool,
    /// The last error reported with the session's title, which is repeated.
    shown_error: Option<String>,
    prompts: usize,
    tools: usize,
    spend: Spend,
}

/// What was asked of the agent.
#[derive(Clone, Debug, PartialEq)]
enum SentRequest {
    Initialize,
    NewSession,
    LoadSession(String),
    Choice,
    Prompt,
}

/// The phase of the conversation.
#[derive(PartialEq)]
enum Turn {
    Opening,
    /// The agent may replay the old conversation.
    Replaying,
    Prompted,
}

/// Whether a person is asked for permissions, or they are granted at once.
#[derive(PartialEq)]
enum Permissions {
    Asked,
    Granted,
}

impl Acp {
    pub fn new(context: &FoldContext) -> Acp {
        Acp {
            worktree: context.worktree.clone(),
            requests: Vec::new(),
            agent: String::new(),
            turn: Turn::Opening,
            permissions: Permissions::Asked,
            open_text: None,
            calls: Calls::new(context),
            offers: Offers::default(),
            plan: None,
            commands_shown: false,
            mode_shown: false,
            shown_error: None,
            prompts: 0,
            tools: 0,
            spend: Spend::default(),
        }
    }
}

impl DialectReader for Acp {
    fn read(&mut self, mut message: Value, line: &[u8], at_ms: i64, log: &mut LogWriter<'_>) {
        let mut params = message.get_mut("params").map(Value::take).unwrap_or_default();
        match message["method"].as_str() {
            Some("session/update") => {
                let update = params.get_mut("update").map(Value::take).unwrap_or_default();
                self.read_update(update, log);
            }
            Some("session/request_permission") => {
                self.read_question(&answer_key(&message["id"]), params, at_ms, log);
            }
            // Its other requests are answered, and their effect shows in its tool calls.
            Some(_) if !message["id"].is_null() => {}
            // An extension of the agent's maker.
            Some(method) if method.starts_with('_') => {}
            None if message["id"].is_u64() => self.read_reply(&message, at_ms, log),
            _ => {
                log.add(unrecognised("message", &String::from_utf8_lossy(line)));
            }
        }
    }

    fn read_input(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        let params = &message["params"];
        let request = match message["method"].as_str() {
            Some("initialize") => SentRequest::Initialize,
            Some("session/new") => {
                self.read_forge_note(params, log);
                SentRequest::NewSession
            }
            Some("session/load") => {
                self.read_forge_note(params, log);
                self.turn = Turn::Replaying;
                self.spend.continue_session();
                SentRequest::LoadSession(params["sessionId"].as_str().unwrap_or_default().to_owned())
            }
            Some("session/prompt") => {
                self.read_prompt(params, log);
                SentRequest::Prompt
            }
            Some(_) => SentRequest::Choice,
            None => return self.read_answer(message, log),
        };
        if let Some(id) = message["id"].as_u64() {
            if self.requests.len() == MAX_REQUESTS {
                self.requests.remove(0);
            }
            self.requests.push((id, request));
        }
    }

    fn finish(&mut self, log: &mut LogWriter<'_>) {
        self.finish_text(log);
        if log.outcome.verdict.is_none() {
            log.outcome.verdict = Some(Verdict::Failed { message: UNFINISHED.into() });
        }
        self.calls.finish(log);
    }
}

impl Acp {
    /// What Forge noted in the request for readers of the log.
    fn read_forge_note(&mut self, params: &Value, log: &mut LogWriter<'_>) {
        let note = &params["_meta"]["forge"];
        if note["permissions"] == "granted" {
            self.permissions = Permissions::Granted;
        }
        if note["insteadOf"].is_string() {
            log.outcome.session_lost = true;
            log.add(plain(EntryType::SystemMessage, NO_HISTORY.into()));
        }
    }

    /// The first prompt is the run's own, which readers already know.
    fn read_prompt(&mut self, params: &Value, log: &mut LogWriter<'_>) {
        self.turn = Turn::Prompted;
        self.prompts += 1;
        self.finish_text(log);
        if self.prompts > 1 {
            let blocks = params["prompt"].as_array().into_iter().flatten();
            let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
            log.add(plain(EntryType::UserMessage, texts.join("\n")));
        }
    }

    /// The answer to a permission request. Its meaning follows from the options that were offered.
    fn read_answer(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        let key = answer_key(&message["id"]);
        let Some(call_id) = self.calls.close_request(&key) else { return };
        let result = &message["result"];
        let note = &result["_meta"]["forge"];
        let option = result["outcome"]["optionId"].as_str();
        let meaning = option.and_then(|option| self.offers.meaning(&key, option));
        self.offers.forget(&key);
        if meaning == Some(Meaning::Allow) {
            self.calls.mark(&call_id, ToolStatus::Created, log);
        } else if note["timedOut"] == true {
            if let Some(tool) = self.calls.mark(&call_id, ToolStatus::TimedOut, log) {
                log.add(plain(error(ErrorType::Other), format!("Approval timed out for tool {tool}")));
            }
        } else {
            let reason = note["reason"].as_str().map(str::to_owned);
            let status = ToolStatus::Denied { reason: reason.clone() };
            if let (Some(denied_tool), Some(reason)) = (self.calls.mark(&call_id, status, log), reason) {
                log.add(plain(EntryType::UserFeedback { denied_tool }, reason));
            }
        }
    }

    fn read_reply(&mut self, message: &Value, at_ms: i64, log: &mut LogWriter<'_>) {
        let id = message["id"].as_u64();
        let Some(at) = self.requests.iter().position(|(known, _)| Some(*known) == id) else { return };
        let (_, request) = self.requests.remove(at);
        if !message["error"].is_null() {
            let failure = Failure::from_rpc(&message["error"], at_ms);
            log.outcome.session_lost |=
                matches!(request, SentRequest::LoadSession(_)) && !failure.wants_login;
            self.fail(failure, None, log);
            return;
        }
        let result = &message["result"];
        match request {
            SentRequest::Initialize => {
                let about = &result["agentInfo"];
                let text = |key: &str| about[key].as_str().unwrap_or_default();
                let name = if text("title").is_empty() { text("name") } else { text("title") };
                self.agent = format!("{name} {}", text("version")).trim().to_owned();
                self.spend.introduce(text("name"));
            }
            SentRequest::NewSession => self.begin(result["sessionId"].as_str(), result, log),
            SentRequest::LoadSession(session) => self.begin(Some(&session), result, log),
            SentRequest::Choice => {}
            SentRequest::Prompt => self.end_turn(result, at_ms, log),
        }
    }

    fn begin(&mut self, session: Option<&str>, result: &Value, log: &mut LogWriter<'_>) {
        log.outcome.session_id = session.filter(|session| !session.is_empty()).map(str::to_owned);
        self.spend.note_model(result);
        let model = self.spend.model();
        let text = match (model.is_empty(), self.agent.is_empty()) {
            (false, _) => format!("{INTRODUCTION}model: {model}"),
            (true, false) => format!("{INTRODUCTION}agent: {}", self.agent),
            (true, true) => return,
        };
        log.add(plain(EntryType::SystemMessage, text));
    }

    fn read_update(&mut self, mut update: Value, log: &mut LogWriter<'_>) {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default().to_owned();
        if self.turn == Turn::Replaying {
            if kind == "usage_update" {
                self.spend.note_past_cost(&update);
            }
            return;
        }
        match kind.as_str() {
            "agent_message_chunk" => {
                self.spend.note_call(&update["_meta"]["usage"], log.outcome);
                self.append_text(TextKind::Text, &update, log);
            }
            "agent_thought_chunk" => self.append_text(TextKind::Thinking, &update, log),
            "tool_call" | "tool_call_update" => {
                self.tools += 1;
                if kind == "tool_call" || update["status"] == "completed" || update["status"] == "failed" {
                    self.finish_text(log);
                }
                self.show_call(&mut update, log);
            }
            "plan" => self.show_plan(&update["entries"], log),
            "usage_update" => {
                self.finish_text(log);
                self.spend.note_cost(&update, log.outcome);
            }
            "config_option_update" => self.spend.note_model(&update),
            "available_commands_update" => {
                if !std::mem::replace(&mut self.commands_shown, true) {
                    let commands = update["availableCommands"].as_array().into_iter().flatten();
                    let names: Vec<_> = commands.filter_map(|command| command["name"].as_str()).collect();
                    let text = format!("Available commands: {}", names.join(", "));
                    log.add(plain(EntryType::SystemMessage, cut(&text, UNRECOGNISED_BYTES, "…")));
                }
            }
            "current_mode_update" => {
                if !std::mem::replace(&mut self.mode_shown, true) {
                    let mode = update["currentModeId"].as_str().unwrap_or("unknown");
                    log.add(plain(EntryType::SystemMessage, format!("Current mode: {mode}")));
                }
            }
            // Our own message, between texts of the agent.
            "user_message_chunk" => {
                self.finish_text(log);
            }
            // The session's title, or an error for which an adapter has no other place.
            "session_info_update" => {
                let reported = &update["_meta"]["codex"]["error"];
                if let Some(text) =
                    reported.as_str().or(reported["message"].as_str()).filter(|text| !text.is_empty())
                    && self.shown_error.as_deref() != Some(text)
                {
                    self.finish_text(log);
                    log.add(plain(error(ErrorType::Other), text.to_owned()));
                    self.shown_error = Some(text.to_owned());
                }
            }
            _ => {
                log.add(unrecognised("update", &update.to_string()));
            }
        }
    }

    fn append_text(&mut self, kind: TextKind, update: &Value, log: &mut LogWriter<'_>) {
        let piece = content_text(&update["content"]);
        if piece.is_empty() {
            return;
        }
        let message = update["messageId"].as_str().map(str::to_owned);
        if let Some((open, block)) = &mut self.open_text
            && *open == message
            && block.kind() == kind
            && block.grow(&piece, log)
        {
            return;
        }
        self.finish_text(log);
        let mut block = Block::new(kind);
        block.grow(&piece, log);
        self.open_text = Some((message, block));
    }

    /// Completes the text that the agent was writing, and returns its entry.
    fn finish_text(&mut self, log: &mut LogWriter<'_>) -> Option<usize> {
        let (_, mut block) = self.open_text.take()?;
        block.show(log);
        if block.kind() == TextKind::Text {
            log.summarise(block.text());
        }
        block.entry()
    }

    fn show_call(&mut self, update: &mut Value, log: &mut LogWriter<'_>) {
        let id = update["toolCallId"].as_str().unwrap_or_default().to_owned();
        let before = self.calls.get(&id).map(|call| &call.entry);
        let (entry, bytes) = call::describe(&id, update, before, &self.worktree);
        self.calls.open(&id, entry, bytes, log);
    }

    fn show_plan(&mut self, entries: &Value, log: &mut LogWriter<'_>) {
        self.finish_text(log);
        let todos = entries.as_array().into_iter().flatten().map(tool::todo).collect();
        let action_type = ActionType::TodoManagement { todos, operation: "update".into() };
        let status = ToolStatus::Success;
        let entry_type = EntryType::ToolUse { tool_name: "plan".into(), action_type, status };
        self.plan = Some(log.put(self.plan, plain(entry_type, "TODO list updated".into())));
    }

    /// A permission request shows its call as waiting; a call that was not announced before is added here.
    fn read_question(&mut self, key: &str, mut params: Value, at_ms: i64, log: &mut LogWriter<'_>) {
        self.finish_text(log);
        self.tools += 1;
        self.offers.note(key, &params);
        let mut call = params.get_mut("toolCall").map(Value::take).unwrap_or_default();
        if !call.is_object() {
            call = json!({});
        }
        if call["toolCallId"].as_str().is_none() {
            call["toolCallId"] = json!(key);
        }
        self.show_call(&mut call, log);
        if self.permissions == Permissions::Asked {
            let call_id = call["toolCallId"].as_str().unwrap_or_default();
            self.calls.mark_waiting(key, call_id, at_ms, log);
        }
    }

    fn end_turn(&mut self, result: &Value, at_ms: i64, log: &mut LogWriter<'_>) {
        let last_text = self.open_text.as_ref().map(|(_, block)| block.text().to_owned());
        let last_entry = self.finish_text(log);
        self.spend.end_turn(result, log.outcome);
        let problem = match result["stopReason"].as_str() {
            Some("end_turn") => None,
            Some("cancelled") => Some("Interrupted".to_owned()),
            Some("refusal") => Some("The model refused to continue.".to_owned()),
            Some("max_tokens") => Some("The model reached its limit of tokens.".to_owned()),
            Some("max_turn_requests") => {
                Some("The agent reached its limit of model calls in one turn.".to_owned())
            }
            Some(other) => Some(format!("The agent stopped for an unknown reason: {other}")),
            None => Some("The agent ended its turn without a reason.".to_owned()),
        };
        if let Some(message) = problem {
            self.fail(Failure { message, limit: None, wants_login: false }, None, log);
            return;
        }
        log.outcome.limit = None;
        let worked = self.tools > 0 || log.outcome.usage.values().any(|usage| !usage.is_zero());
        // Some agents report a provider's refusal in their own words, as if it were the answer.
        let answered = last_text.map(|text| Failure::from_text(&text, at_ms));
        let answered = answered.filter(|failure| match worked {
            true => FAILURE_ANSWERS.iter().any(|start| failure.message.starts_with(start)),
            false => {
                failure.limit.is_some()
                    || failure.message.starts_with(ERROR_ANSWER)
                    || answer_wants_setup(&failure.message)
            }
        });
        if let Some(failure) = answered {
            // A request to log in is shown once, as an error.
            let entry = last_entry.filter(|_| failure.wants_login);
            self.fail(failure, entry, log);
            return;
        }
        if worked {
            log.outcome.verdict = Some(Verdict::Success);
            return;
        }
        log.outcome.verdict = Some(Verdict::Unverified);
        log.add(plain(EntryType::SystemMessage, UNVERIFIED.into()));
    }

    /// `shown_at` is the entry that already shows the failure, as if it were an answer.
    fn fail(&mut self, failure: Failure, shown_at: Option<usize>, log: &mut LogWriter<'_>) {
        self.finish_text(log);
        let kind = if failure.wants_login { ErrorType::SetupRequired } else { ErrorType::Other };
        log.put(shown_at, plain(error(kind), failure.message.clone()));
        let message = cut(&failure.message, SUMMARY_BYTES, "...");
        log.outcome.limit = failure.limit.map(|reset_at| Limit { reset_at, message: message.clone() });
        log.outcome.verdict = Some(Verdict::Failed { message });
    }
}

/// The text of a content block; other kinds are shown by their name.
fn content_text(content: &Value) -> String {
    match content["type"].as_str() {
        Some("text") | None => content["text"].as_str().unwrap_or_default().to_owned(),
        Some("resource_link") => content["uri"].as_str().unwrap_or_default().to_owned(),
        Some("resource") => {
            let resource = &content["resource"];
            resource["text"].as_str().or(resource["uri"].as_str()).unwrap_or_default().to_owned()
        }
        Some(kind) => format!("[{kind}]"),
    }
}

fn error(error_type: ErrorType) -> EntryType {
    EntryType::ErrorMessage { error_type }
}
