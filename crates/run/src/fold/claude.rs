//! Claude's stream-json, line by line.
//!
//! Owns the conversation's state: whether model and billing were shown, what streams, which tool calls are open.
//! Invariants: every stdout line that is not part of the protocol is shown (one system entry each); the `is_error`
//! of the last `result` line decides about success, never its `subtype`; key order and unknown keys do not matter.

use std::path::PathBuf;

use forge_types::{EntryType, ErrorType, INTRODUCTION, Millis, ToolStatus};
use serde_json::{Value, json};

use super::calls::Calls;
use super::dialogue::{DialectReader, unrecognised};
use super::entries::{LogWriter, failure_type, plain, with_source};
use super::spend::Spend;
use super::stream::{Streams, TextKind};
use super::{FoldContext, Limit, Verdict, Window, cut, tool};
use crate::talk::{Hooks, NO_REASON, TIMED_OUT};

/// Claude's error when the conversation to resume does not exist.
const LOST_SESSION: &str = "No conversation found with session ID";
const BILLING: &str = "ANTHROPIC_API_KEY is set: this run is billed to that key and not to a Claude subscription. \
                       Unset the variable if that is not intended.";

pub(super) struct Claude {
    program: Program,
    /// No line of the protocol was read yet.
    silent: bool,
    worktree: PathBuf,
    model: Shown,
    billing: Shown,
    streams: Streams,
    calls: Calls,
    /// Number of messages sent to the agent.
    prompts: usize,
    spend: Spend,
    hooks: Hooks,
    /// When the provider, which refused a call, serves again.
    reset_at: Option<Millis>,
    /// The agent's last text, and its entry.
    last_text: Option<(usize, String)>,
}

/// Whether a message that is shown once per run was shown.
#[derive(PartialEq)]
enum Shown {
    No,
    Yes,
}

/// Which program speaks the dialect.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Program {
    Claude,
    /// Prints the prompts it receives, too.
    Amp,
}

impl Claude {
    pub fn new(context: &FoldContext, program: Program) -> Claude {
        Claude {
            program,
            silent: true,
            worktree: context.worktree.clone(),
            model: Shown::No,
            billing: Shown::No,
            streams: Streams::default(),
            calls: Calls::new(context),
            prompts: 0,
            spend: Spend::default(),
            hooks: Hooks::default(),
            reset_at: None,
            last_text: None,
        }
    }
}

impl DialectReader for Claude {
    fn read(&mut self, mut message: Value, line: &[u8], at_ms: i64, log: &mut LogWriter<'_>) {
        self.silent = false;
        self.note_session(&message, log);
        let parent = take(&mut message, "parent_tool_use_id");
        let parent = parent.as_str();
        match message["type"].as_str() {
            Some("system") => self.read_system(&message, log),
            Some("assistant") => self.read_assistant(&mut message["message"], line.len(), parent, log),
            Some("user") => {
                let content = &message["message"]["content"];
                if self.program == Program::Amp {
                    self.show_message(content, log);
                }
                self.read_user(content, log);
            }
            Some("stream_event") => {
                self.spend.stream(&message["event"], log.outcome);
                self.streams.push(parent, &message["event"], log);
            }
            Some("result") => self.read_result(&message, log),
            Some("rate_limit_event") => self.note_limit(&message["rate_limit_info"], log),
            Some("control_request") => self.read_request(&mut message, line.len(), at_ms, log),
            Some("approval_response") => {
                let status = &message["approval_status"];
                let call_id = message["call_id"].as_str().unwrap_or_default();
                match status["status"].as_str() {
                    Some("denied") => self.deny(call_id, status["reason"].as_str(), log),
                    Some("timed_out") => self.time_out(call_id, log),
                    _ => {}
                }
            }
            // Protocol messages that show nothing about the agent's work.
            Some("control_response" | "control_cancel_request" | "keep_alive" | "tool_progress") => {}
            _ => {
                log.add(unrecognised("JSON message", &String::from_utf8_lossy(line)));
            }
        }
    }

    /// Answers to its permission requests, and messages after the first.
    fn read_input(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        match message["type"].as_str() {
            Some("control_response") => self.answer(&message["response"], log),
            Some("user") => self.read_message(&message["message"]["content"], log),
            _ => {}
        }
    }

    fn finish(&mut self, log: &mut LogWriter<'_>) {
        self.streams.finish(log);
        self.calls.finish(log);
        log.outcome.silent = self.silent;
    }
}

impl Claude {
    /// The first message that names a conversation decides. A failure may name one that does not exist.
    fn note_session(&self, message: &Value, log: &mut LogWriter<'_>) {
        if log.outcome.session_id.is_none()
            && message["is_error"] != true
            && let Some(id) = message["session_id"].as_str()
        {
            log.outcome.session_id = Some(id.to_owned());
        }
    }

    fn introduce(&mut self, model: Option<&str>, log: &mut LogWriter<'_>) {
        if let Some(model) = model.filter(|model| *model != "<synthetic>")
            && self.model == Shown::No
        {
            self.model = Shown::Yes;
            self.spend.introduce(model);
            let text = format!("{INTRODUCTION}model: {model}");
            log.add(plain(EntryType::SystemMessage, text));
        }
    }

    fn read_system(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        match message["subtype"].as_str() {
            Some("init") => {
                self.introduce(message["model"].as_str(), log);
                if message["apiKeySource"] == "ANTHROPIC_API_KEY" && self.billing == Shown::No {
                    self.billing = Shown::Yes;
                    log.add(plain(other_error(), BILLING.to_owned()));
                }
            }
            subtype => {
                let text = format!("System: {}", subtype.unwrap_or("unknown"));
                log.add(plain(EntryType::SystemMessage, text));
            }
        }
    }

    fn read_assistant(
        &mut self,
        message: &mut Value,
        bytes: usize,
        parent: Option<&str>,
        log: &mut LogWriter<'_>,
    ) {
        self.introduce(message["model"].as_str(), log);
        let id = take(message, "id");
        self.spend.note_message(id.as_str().unwrap_or_default(), message);
        let blocks = match take(message, "content") {
            Value::Array(blocks) => blocks,
            Value::String(text) => vec![json!({"type": "text", "text": text})],
            _ => return,
        };
        for block in blocks {
            match block["type"].as_str() {
                Some("text") => self.show_text(TextKind::Text, id.as_str(), block, parent, log),
                Some("thinking") => self.show_text(TextKind::Thinking, id.as_str(), block, parent, log),
                Some("tool_use" | "server_tool_use") => self.call(block, bytes, log),
                // Unreadable by design.
                Some("redacted_thinking") => {}
                _ => {
                    log.add(unrecognised("JSON message", &block.to_string()));
                }
            }
        }
    }

    fn show_text(
        &mut self,
        kind: TextKind,
        message: Option<&str>,
        block: Value,
        parent: Option<&str>,
        log: &mut LogWriter<'_>,
    ) {
        let key = match kind {
            TextKind::Text => "text",
            TextKind::Thinking => "thinking",
        };
        let text = block[key].as_str().unwrap_or_default().to_owned();
        let streamed = self.streams.claim(parent, message, kind);
        if text.is_empty() && streamed.is_none() {
            return;
        }
        // A sub-agent's text is not the run's answer.
        if kind == TextKind::Text && parent.is_none() {
            log.summarise(&text);
        }
        let entry = log.put(streamed, with_source(kind.entry_type(), text.clone(), block));
        self.last_text = Some((entry, text));
    }

    fn call(&mut self, mut block: Value, bytes: usize, log: &mut LogWriter<'_>) {
        let name = block["name"].as_str().unwrap_or("unknown").to_owned();
        let id = block["id"].as_str().unwrap_or_default().to_owned();
        let (action_type, content) = tool::describe(&name, &block["input"], &self.worktree);
        block["tool_call_id"] = Value::from(id.as_str());
        let entry_type = EntryType::ToolUse { tool_name: name, action_type, status: ToolStatus::Created };
        self.calls.open(&id, with_source(entry_type, content, block), bytes, log);
    }

    /// Of the messages to the agent only tool results are shown; readers already know the prompts.
    fn read_user(&mut self, content: &Value, log: &mut LogWriter<'_>) {
        let results = content.as_array().into_iter().flatten().filter(|block| block["type"] == "tool_result");
        for result in results {
            let Some(mut call) = result["tool_use_id"].as_str().and_then(|id| self.calls.take(id)) else {
                continue;
            };
            if let EntryType::ToolUse { action_type, status, .. } = &mut call.entry.entry_type {
                if matches!(status, ToolStatus::Denied { .. } | ToolStatus::TimedOut) {
                    continue;
                }
                let failed = result["is_error"] == true;
                tool::add_result(action_type, &result["content"], failed);
                *status = if failed { ToolStatus::Failed } else { ToolStatus::Success };
            }
            log.replace(call.index, call.entry);
        }
    }

    /// A permission request shows its call as waiting; a call that was not announced before is added here.
    fn read_request(&mut self, message: &mut Value, bytes: usize, at_ms: i64, log: &mut LogWriter<'_>) {
        let mut request = take(message, "request");
        match request["subtype"].as_str() {
            Some("can_use_tool") => {}
            Some("hook_callback") => return self.hooks.note(&request),
            _ => return,
        }
        let request_id = message["request_id"].as_str().unwrap_or_default();
        let named = self.hooks.claim(&request);
        let named =
            named.or_else(|| self.calls.most_similar(request["tool_name"].as_str()?, &request["input"]));
        let call_id = named.unwrap_or_else(|| request_id.to_owned());
        if !self.calls.has(&call_id) {
            let (name, input) = (take(&mut request, "tool_name"), take(&mut request, "input"));
            self.call(json!({"type": "tool_use", "id": call_id, "name": name, "input": input}), bytes, log);
        }
        self.calls.mark_waiting(request_id, &call_id, at_ms, log);
    }

    fn answer(&mut self, response: &Value, log: &mut LogWriter<'_>) {
        let Some(call_id) = response["request_id"].as_str().and_then(|id| self.calls.close_request(id))
        else {
            return;
        };
        let answer = &response["response"];
        match (answer["behavior"].as_str(), answer["message"].as_str()) {
            (Some("deny"), Some(TIMED_OUT)) => self.time_out(&call_id, log),
            (Some("deny"), reason) => self.deny(&call_id, reason, log),
            _ => {
                self.calls.mark(&call_id, ToolStatus::Created, log);
            }
        }
    }

    /// The first message is the run's prompt, which readers already know.
    fn read_message(&mut self, content: &Value, log: &mut LogWriter<'_>) {
        self.prompts += 1;
        if self.prompts > 1 {
            self.show_message(content, log);
        }
    }

    /// Shows a person's message, without tool results.
    fn show_message(&mut self, content: &Value, log: &mut LogWriter<'_>) {
        let text = match content {
            Value::String(text) => text.clone(),
            Value::Array(blocks) => {
                let texts = blocks.iter().filter(|block| block["type"] != "tool_result");
                texts.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
            }
            _ => return,
        };
        if !text.is_empty() {
            log.add(plain(EntryType::UserMessage, text));
        }
    }

    fn note_limit(&mut self, info: &Value, log: &mut LogWriter<'_>) {
        let resets_at = info["resetsAt"].as_i64().map(|seconds| Millis(seconds.saturating_mul(1000)));
        let is_used_up = info["status"] == "rejected";
        if is_used_up {
            self.reset_at = resets_at;
        }
        let name = info["rateLimitType"].as_str().unwrap_or("limit").to_owned();
        if let Some(resets_at) = resets_at {
            let is_long = name.starts_with("seven_day");
            log.outcome.note_window(Window { name, resets_at, is_used_up, is_long });
        }
    }

    fn read_result(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        self.spend.end_turn(message, log.outcome);
        self.note_denials(&message["permission_denials"], log);
        if message["is_error"] != true {
            log.outcome.verdict = Some(Verdict::Success);
            return;
        }
        let text = failure(message);
        let kind = failure_type(&text);
        // A request to log in comes as an answer first; it is shown once, as an error.
        let shown = self.last_text.take().filter(|(_, answer)| kind != other_error() && *answer == text);
        log.put(shown.map(|(entry, _)| entry), plain(kind, text.clone()));
        log.outcome.session_lost |= text.contains(LOST_SESSION);
        log.outcome.limit = self.limit(message, &text);
        log.outcome.verdict = Some(Verdict::Failed { message: cut(&text, super::SUMMARY_BYTES, "...") });
    }

    /// A call that was denied and has no result must not end as if it had run.
    fn note_denials(&mut self, denials: &Value, log: &mut LogWriter<'_>) {
        for denial in denials.as_array().into_iter().flatten() {
            let Some(id) = denial["tool_use_id"].as_str() else { continue };
            if self.calls.is_undecided(id) {
                self.calls.mark(id, ToolStatus::Denied { reason: None }, log);
            }
        }
    }

    /// Older versions report an exhausted plan as `…usage limit reached|<seconds since 1970>`.
    fn limit(&self, result: &Value, text: &str) -> Option<Limit> {
        let reset_at = text.split_once("limit reached|").and_then(|(_, rest)| {
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            digits.parse::<i64>().ok().map(|seconds| Millis(seconds.saturating_mul(1000)))
        });
        let limited = result["api_error_status"] == 429 || reset_at.is_some() || self.reset_at.is_some();
        limited.then(|| Limit {
            reset_at: reset_at.or(self.reset_at),
            message: cut(text, super::SUMMARY_BYTES, "..."),
        })
    }

    fn deny(&mut self, call_id: &str, reason: Option<&str>, log: &mut LogWriter<'_>) {
        let reason = reason.map(str::trim).filter(|reason| !reason.is_empty() && *reason != NO_REASON);
        let status = ToolStatus::Denied { reason: reason.map(str::to_owned) };
        if let (Some(denied_tool), Some(reason)) = (self.calls.mark(call_id, status, log), reason) {
            log.add(plain(EntryType::UserFeedback { denied_tool }, reason.to_owned()));
        }
    }

    fn time_out(&mut self, call_id: &str, log: &mut LogWriter<'_>) {
        if let Some(tool) = self.calls.mark(call_id, ToolStatus::TimedOut, log) {
            log.add(plain(other_error(), format!("Approval timed out for tool {tool}")));
        }
    }
}

/// The value at `key`, whatever the message is; assigning through an index would panic on anything but an object.
fn take(message: &mut Value, key: &str) -> Value {
    message.get_mut(key).map(Value::take).unwrap_or_default()
}

fn other_error() -> EntryType {
    EntryType::ErrorMessage { error_type: ErrorType::Other }
}

fn failure(result: &Value) -> String {
    if result["terminal_reason"].as_str().is_some_and(|reason| reason.starts_with("aborted")) {
        return "Interrupted".into();
    }
    if let Some(text) = result["result"].as_str().filter(|text| !text.trim().is_empty()) {
        return text.to_owned();
    }
    let errors: Vec<_> =
        result["errors"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if !errors.is_empty() {
        return errors.join("\n");
    }
    result["subtype"].as_str().unwrap_or("the agent reported a failure without a reason").to_owned()
}
