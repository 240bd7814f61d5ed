//! The Agent Client Protocol, line by line, in both directions.
//!
//! Owns the conversation's state: what was asked of the agent, which text it is writing, which tool calls are open.
//! Invariants: what an agent replays when it continues a conversation is not shown again; the reply to the last
//! prompt decides about success, and an end without any sign of work is never called success; unknown messages are
//! shown, one system entry each.

mod call;
mod spend;
mod trouble;

use std::path::PathBuf;

use forge_types::{ActionType, EntryType, ErrorType, ToolStatus};
use serde_json::{Value, json};

use super::calls::Calls;
use super::dialogue::{Story, UNRECOGNISED_BYTES, unrecognised};
use super::entries::{Page, plain};
use super::setup::is_told_as_answer;
use super::stream::{Block, Speech};
use super::{Lens, Limit, SUMMARY_BYTES, Verdict, cut, tool};
use crate::talk::acp::{Meaning, Offers, answer_key};
use spend::Spend;
use trouble::Trouble;

/// Our requests that wait for a reply; there is rarely more than one.
const MAX_ASKED: usize = 16;
const UNVERIFIED: &str = "The agent said that it is done, but it used no tool and reported no use of a model: \
                          whether it did anything is unverified.";
/// How a failure begins that is reported as if it were an answer. After real work only a more specific text counts.
const TOLD_ERROR: &str = "Error: ";
const TOLD_FAILURES: [&str; 2] =
    ["Error: Failed to get response from the AI model", "Error: Authentication failed with provider"];
const UNFINISHED: &str = "The agent ended before it had finished its turn.";
const NO_HISTORY: &str =
    "The agent cannot continue an earlier conversation: this one begins without its history.";

pub(super) struct Acp {
    worktree: PathBuf,
    asked: Vec<(u64, Asked)>,
    agent: String,
    turn: Turn,
    permissions: Permissions,
    /// The text that the agent is writing, and the id of its message.
    speech: Option<(Option<String>, Block)>,
    calls: Calls,
    offers: Offers,
    plan: Option<usize>,
    commands_told: bool,
    mode_told: bool,
    /// The last error reported with the session's title, which is repeated.
    told_error: Option<String>,
    prompts: usize,
    tools: usize,
    spend: Spend,
}

/// What was asked of the agent.
#[derive(Clone, Debug, PartialEq)]
enum Asked {
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
    pub fn new(lens: &Lens) -> Acp {
        Acp {
            worktree: lens.worktree.clone(),
            asked: Vec::new(),
            agent: String::new(),
            turn: Turn::Opening,
            permissions: Permissions::Asked,
            speech: None,
            calls: Calls::new(lens),
            offers: Offers::default(),
            plan: None,
            commands_told: false,
            mode_told: false,
            told_error: None,
            prompts: 0,
            tools: 0,
            spend: Spend::default(),
        }
    }
}

impl Story for Acp {
    fn read(&mut self, mut message: Value, line: &[u8], at_ms: i64, page: &mut Page<'_>) {
        let mut params = message.get_mut("params").map(Value::take).unwrap_or_default();
        match message["method"].as_str() {
            Some("session/update") => {
                let update = params.get_mut("update").map(Value::take).unwrap_or_default();
                self.read_update(update, page);
            }
            Some("session/request_permission") => {
                self.read_question(&answer_key(&message["id"]), params, at_ms, page);
            }
            // Its other requests are answered, and their effect shows in its tool calls.
            Some(_) if !message["id"].is_null() => {}
            // An extension of the agent's maker.
            Some(method) if method.starts_with('_') => {}
            None if message["id"].is_u64() => self.read_reply(&message, at_ms, page),
            _ => {
                page.add(unrecognised("message", &String::from_utf8_lossy(line)));
            }
        }
    }

    fn hear(&mut self, message: &Value, page: &mut Page<'_>) {
        let params = &message["params"];
        let asked = match message["method"].as_str() {
            Some("initialize") => Asked::Initialize,
            Some("session/new") => {
                self.note_terms(params, page);
                Asked::NewSession
            }
            Some("session/load") => {
                self.note_terms(params, page);
                self.turn = Turn::Replaying;
                self.spend.continue_session();
                Asked::LoadSession(params["sessionId"].as_str().unwrap_or_default().to_owned())
            }
            Some("session/prompt") => {
                self.hear_prompt(params, page);
                Asked::Prompt
            }
            Some(_) => Asked::Choice,
            None => return self.hear_answer(message, page),
        };
        if let Some(id) = message["id"].as_u64() {
            if self.asked.len() == MAX_ASKED {
                self.asked.remove(0);
            }
            self.asked.push((id, asked));
        }
    }

    fn finish(&mut self, page: &mut Page<'_>) {
        self.hush(page);
        if page.outcome.verdict.is_none() {
            page.outcome.verdict = Some(Verdict::Failed { message: UNFINISHED.into() });
        }
        self.calls.finish(page);
    }
}

impl Acp {
    /// What Forge noted in the request for readers of the log.
    fn note_terms(&mut self, params: &Value, page: &mut Page<'_>) {
        let terms = &params["_meta"]["forge"];
        if terms["permissions"] == "granted" {
            self.permissions = Permissions::Granted;
        }
        if terms["insteadOf"].is_string() {
            page.outcome.session_lost = true;
            page.add(plain(EntryType::SystemMessage, NO_HISTORY.into()));
        }
    }

    /// The first prompt is the run's own, which readers already know.
    fn hear_prompt(&mut self, params: &Value, page: &mut Page<'_>) {
        self.turn = Turn::Prompted;
        self.prompts += 1;
        self.hush(page);
        if self.prompts > 1 {
            let blocks = params["prompt"].as_array().into_iter().flatten();
            let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
            page.add(plain(EntryType::UserMessage, texts.join("\n")));
        }
    }

    /// The answer to a permission request. Its meaning follows from the options that were offered.
    fn hear_answer(&mut self, message: &Value, page: &mut Page<'_>) {
        let key = answer_key(&message["id"]);
        let Some(call_id) = self.calls.answered(&key) else { return };
        let result = &message["result"];
        let note = &result["_meta"]["forge"];
        let option = result["outcome"]["optionId"].as_str();
        let meaning = option.and_then(|option| self.offers.meaning(&key, option));
        self.offers.forget(&key);
        if meaning == Some(Meaning::Allow) {
            self.calls.mark(&call_id, ToolStatus::Created, page);
        } else if note["timedOut"] == true {
            if let Some(tool) = self.calls.mark(&call_id, ToolStatus::TimedOut, page) {
                page.add(plain(error(ErrorType::Other), format!("Approval timed out for tool {tool}")));
            }
        } else {
            let reason = note["reason"].as_str().map(str::to_owned);
            let status = ToolStatus::Denied { reason: reason.clone() };
            if let (Some(denied_tool), Some(reason)) = (self.calls.mark(&call_id, status, page), reason) {
                page.add(plain(EntryType::UserFeedback { denied_tool }, reason));
            }
        }
    }

    fn read_reply(&mut self, message: &Value, at_ms: i64, page: &mut Page<'_>) {
        let id = message["id"].as_u64();
        let Some(at) = self.asked.iter().position(|(asked, _)| Some(*asked) == id) else { return };
        let (_, asked) = self.asked.remove(at);
        if !message["error"].is_null() {
            let trouble = Trouble::of(&message["error"], at_ms);
            page.outcome.session_lost |= matches!(asked, Asked::LoadSession(_)) && !trouble.wants_login;
            self.fail(trouble, None, page);
            return;
        }
        let result = &message["result"];
        match asked {
            Asked::Initialize => {
                let about = &result["agentInfo"];
                let text = |key: &str| about[key].as_str().unwrap_or_default();
                let name = if text("title").is_empty() { text("name") } else { text("title") };
                self.agent = format!("{name} {}", text("version")).trim().to_owned();
                self.spend.introduce(text("name"));
            }
            Asked::NewSession => self.begin(result["sessionId"].as_str(), result, page),
            Asked::LoadSession(session) => self.begin(Some(&session), result, page),
            Asked::Choice => {}
            Asked::Prompt => self.end_turn(result, at_ms, page),
        }
    }

    fn begin(&mut self, session: Option<&str>, result: &Value, page: &mut Page<'_>) {
        page.outcome.session_id = session.filter(|session| !session.is_empty()).map(str::to_owned);
        self.spend.note_model(result);
        let model = self.spend.model();
        let text = match (model.is_empty(), self.agent.is_empty()) {
            (false, _) => format!("System initialized with model: {model}"),
            (true, false) => format!("System initialized with agent: {}", self.agent),
            (true, true) => return,
        };
        page.add(plain(EntryType::SystemMessage, text));
    }

    fn read_update(&mut self, mut update: Value, page: &mut Page<'_>) {
        let kind = update["sessionUpdate"].as_str().unwrap_or_default().to_owned();
        if self.turn == Turn::Replaying {
            if kind == "usage_update" {
                self.spend.note_past_cost(&update);
            }
            return;
        }
        match kind.as_str() {
            "agent_message_chunk" => {
                self.spend.note_call(&update["_meta"]["usage"], page.outcome);
                self.say(Speech::Text, &update, page);
            }
            "agent_thought_chunk" => self.say(Speech::Thinking, &update, page),
            "tool_call" | "tool_call_update" => {
                self.tools += 1;
                if kind == "tool_call" || update["status"] == "completed" || update["status"] == "failed" {
                    self.hush(page);
                }
                self.show_call(&mut update, page);
            }
            "plan" => self.show_plan(&update["entries"], page),
            "usage_update" => {
                self.hush(page);
                self.spend.note_cost(&update, page.outcome);
            }
            "config_option_update" => self.spend.note_model(&update),
            "available_commands_update" => {
                if !std::mem::replace(&mut self.commands_told, true) {
                    let commands = update["availableCommands"].as_array().into_iter().flatten();
                    let names: Vec<_> = commands.filter_map(|command| command["name"].as_str()).collect();
                    let text = format!("Available commands: {}", names.join(", "));
                    page.add(plain(EntryType::SystemMessage, cut(&text, UNRECOGNISED_BYTES, "…")));
                }
            }
            "current_mode_update" => {
                if !std::mem::replace(&mut self.mode_told, true) {
                    let mode = update["currentModeId"].as_str().unwrap_or("unknown");
                    page.add(plain(EntryType::SystemMessage, format!("Current mode: {mode}")));
                }
            }
            // Our own message, between texts of the agent.
            "user_message_chunk" => {
                self.hush(page);
            }
            // The session's title, or an error for which an adapter has no other place.
            "session_info_update" => {
                let told = &update["_meta"]["codex"]["error"];
                if let Some(text) = told.as_str().or(told["message"].as_str()).filter(|text| !text.is_empty())
                    && self.told_error.as_deref() != Some(text)
                {
                    self.hush(page);
                    page.add(plain(error(ErrorType::Other), text.to_owned()));
                    self.told_error = Some(text.to_owned());
                }
            }
            _ => {
                page.add(unrecognised("update", &update.to_string()));
            }
        }
    }

    fn say(&mut self, speech: Speech, update: &Value, page: &mut Page<'_>) {
        let piece = spoken(&update["content"]);
        if piece.is_empty() {
            return;
        }
        let message = update["messageId"].as_str().map(str::to_owned);
        if let Some((open, block)) = &mut self.speech
            && *open == message
            && block.speech() == speech
            && block.grow(&piece, page)
        {
            return;
        }
        self.hush(page);
        let mut block = Block::new(speech);
        block.grow(&piece, page);
        self.speech = Some((message, block));
    }

    /// Completes the text that the agent was writing, and returns its entry.
    fn hush(&mut self, page: &mut Page<'_>) -> Option<usize> {
        let (_, mut block) = self.speech.take()?;
        block.show(page);
        if block.speech() == Speech::Text {
            page.summarise(block.text());
        }
        block.entry()
    }

    fn show_call(&mut self, update: &mut Value, page: &mut Page<'_>) {
        let id = update["toolCallId"].as_str().unwrap_or_default().to_owned();
        let before = self.calls.get(&id).map(|call| &call.entry);
        let (entry, bytes) = call::describe(&id, update, before, &self.worktree);
        self.calls.open(&id, entry, bytes, page);
    }

    fn show_plan(&mut self, entries: &Value, page: &mut Page<'_>) {
        self.hush(page);
        let todos = entries.as_array().into_iter().flatten().map(tool::todo).collect();
        let action_type = ActionType::TodoManagement { todos, operation: "update".into() };
        let status = ToolStatus::Success;
        let entry_type = EntryType::ToolUse { tool_name: "plan".into(), action_type, status };
        self.plan = Some(page.put(self.plan, plain(entry_type, "TODO list updated".into())));
    }

    /// A permission request shows its call as waiting; a call that was not announced before is added here.
    fn read_question(&mut self, key: &str, mut params: Value, at_ms: i64, page: &mut Page<'_>) {
        self.hush(page);
        self.tools += 1;
        self.offers.note(key, &params);
        let mut call = params.get_mut("toolCall").map(Value::take).unwrap_or_default();
        if !call.is_object() {
            call = json!({});
        }
        if call["toolCallId"].as_str().is_none() {
            call["toolCallId"] = json!(key);
        }
        self.show_call(&mut call, page);
        if self.permissions == Permissions::Asked {
            let call_id = call["toolCallId"].as_str().unwrap_or_default();
            self.calls.ask(key, call_id, at_ms, page);
        }
    }

    fn end_turn(&mut self, result: &Value, at_ms: i64, page: &mut Page<'_>) {
        let last_words = self.speech.as_ref().map(|(_, block)| block.text().to_owned());
        let last_entry = self.hush(page);
        self.spend.settle(result, page.outcome);
        let failure = match result["stopReason"].as_str() {
            Some("end_turn") => None,
            Some("cancelled") => Some("Interrupted".to_owned()),
            Some("refusal") => Some("The model refused to go on.".to_owned()),
            Some("max_tokens") => Some("The model reached its limit of tokens.".to_owned()),
            Some("max_turn_requests") => {
                Some("The agent reached its limit of model calls in one turn.".to_owned())
            }
            Some(other) => Some(format!("The agent stopped for a reason that is not known: {other}")),
            None => Some("The agent ended its turn without a reason.".to_owned()),
        };
        if let Some(message) = failure {
            self.fail(Trouble { message, limit: None, wants_login: false }, None, page);
            return;
        }
        page.outcome.limit = None;
        let worked = self.tools > 0 || page.outcome.usage.values().any(|usage| !usage.is_zero());
        // Some agents report a provider's refusal in their own words, as if it were the answer.
        let told = last_words.map(|words| Trouble::in_words(&words, at_ms));
        let told = told.filter(|told| match worked {
            true => TOLD_FAILURES.iter().any(|words| told.message.starts_with(words)),
            false => {
                told.limit.is_some()
                    || told.message.starts_with(TOLD_ERROR)
                    || is_told_as_answer(&told.message)
            }
        });
        if let Some(trouble) = told {
            // A request to log in is shown once, as an error.
            let entry = last_entry.filter(|_| trouble.wants_login);
            self.fail(trouble, entry, page);
            return;
        }
        if worked {
            page.outcome.verdict = Some(Verdict::Success);
            return;
        }
        page.outcome.verdict = Some(Verdict::Unverified);
        page.add(plain(EntryType::SystemMessage, UNVERIFIED.into()));
    }

    /// `told_at` is the entry that already shows the failure, as if it were an answer.
    fn fail(&mut self, trouble: Trouble, told_at: Option<usize>, page: &mut Page<'_>) {
        self.hush(page);
        let kind = if trouble.wants_login { ErrorType::SetupRequired } else { ErrorType::Other };
        page.put(told_at, plain(error(kind), trouble.message.clone()));
        let message = cut(&trouble.message, SUMMARY_BYTES, "...");
        page.outcome.limit = trouble.limit.map(|reset_at| Limit { reset_at, message: message.clone() });
        page.outcome.verdict = Some(Verdict::Failed { message });
    }
}

/// The text of a content block; other kinds are shown by their name.
fn spoken(content: &Value) -> String {
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
