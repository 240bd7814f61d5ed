//! Codex's app server, line by line.
//!
//! Owns the conversation's state: which thread is the agent's own, what streams, which items are open. Invariants:
//! the last `turn/completed` of that thread decides about success, and an agent that ends without one has failed; a
//! question is shown until the log has its answer; notifications of unknown kinds are shown once, every line
//! without a method leaves an entry, and what is remembered is bounded.

mod exec;
mod failures;
mod item;
mod meter;

use std::collections::VecDeque;
use std::path::PathBuf;

use forge_types::{ActionType, EntryType, ErrorType, TodoItem, ToolStatus};
use serde_json::{Value, json};

use super::calls::Calls;
use super::dialogue::{DialectReader, UNRECOGNISED_BYTES, unrecognised};
use super::entries::{LogWriter, plain, with_source};
use super::stream::{Block, TextKind};
use super::{FoldContext, Verdict, cut};
use crate::talk::{FEEDBACK, FEEDBACK_ID, NO_REASON, TIMED_OUT};
use exec::Event;
use failures::Failures;
use item::ItemEntry;
use meter::Meter;

/// Limit for our requests that wait for a reply, for growing texts, and for reasons that wait for their denial.
const MAX_OPEN: usize = 64;
/// Limit for remarks that are not repeated.
const MAX_REMARKS: usize = 32;
const UNFINISHED: &str = "Codex ended before its turn was over";

pub(super) struct Codex {
    worktree: PathBuf,
    thread: Option<String>,
    /// Requests that have no reply yet: id and method.
    requests: VecDeque<(Value, String)>,
    /// Messages to the agent that have no reply yet, by the id of their request.
    messages: VecDeque<(Value, String)>,
    /// Texts that stream, by item.
    growing: VecDeque<(String, Block)>,
    calls: Calls,
    /// Why a question was denied, by question.
    reasons: VecDeque<(String, String)>,
    meter: Meter,
    failures: Failures,
    remarks: VecDeque<String>,
    /// Remarks that came before the model is known, which is always shown first.
    early: Vec<String>,
    /// Whether the agent has printed any line of the protocol.
    began: bool,
}

impl Codex {
    pub fn new(context: &FoldContext) -> Codex {
        Codex {
            worktree: context.worktree.clone(),
            thread: None,
            requests: VecDeque::new(),
            messages: VecDeque::new(),
            growing: VecDeque::new(),
            calls: Calls::new(context),
            reasons: VecDeque::new(),
            meter: Meter::default(),
            failures: Failures::default(),
            remarks: VecDeque::new(),
            early: Vec::new(),
            began: false,
        }
    }
}

impl DialectReader for Codex {
    fn read(&mut self, mut message: Value, line: &[u8], at_ms: i64, log: &mut LogWriter<'_>) {
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        match (message["method"].as_str(), &message["id"]) {
            (Some(method), Value::Null) => self.read_notification(method, &params, line, log),
            (Some(method), id) => self.read_request(method, &id.to_string(), &params, at_ms, log),
            (None, Value::Null) => self.read_exec_line(&message, line, log),
            (None, id) => self.read_reply(id, &message, log),
        }
    }

    /// Reads our requests, so that their replies can be matched; messages; and answers to the agent's requests.
    fn read_input(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        let id = &message["id"];
        let Some(method) = message["method"].as_str() else {
            self.answer(&id.to_string(), &message["result"], log);
            return;
        };
        if id.is_null() {
            return;
        }
        push_bounded(&mut self.requests, (id.clone(), method.to_owned()), MAX_OPEN);
        if method != "turn/steer" {
            return;
        }
        let parts = message["params"]["input"].as_array().into_iter().flatten();
        let text = parts.filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n");
        match id.as_str().and_then(|id| id.strip_prefix(FEEDBACK_ID)) {
            Some(question) => push_bounded(&mut self.reasons, (question.to_owned(), text), MAX_OPEN),
            None => {
                push_bounded(&mut self.messages, (id.clone(), text.clone()), MAX_OPEN);
                log.add(plain(EntryType::UserMessage, text));
            }
        }
    }

    fn finish(&mut self, log: &mut LogWriter<'_>) {
        self.show_remarks(log);
        for (_, mut block) in std::mem::take(&mut self.growing) {
            block.show(log);
            if block.kind() == TextKind::Text {
                log.summarise(block.text());
            }
        }
        // It ended before it could answer.
        log.outcome.unsaid.extend(self.messages.drain(..).map(|(_, text)| text));
        if log.outcome.verdict.is_none() && self.began {
            self.failures.fail(UNFINISHED, &Value::Null, log);
        }
        self.calls.finish(log);
    }
}

impl Codex {
    fn read_reply(&mut self, id: &Value, message: &Value, log: &mut LogWriter<'_>) {
        self.began = true;
        let Some(place) = self.requests.iter().position(|(known, _)| known == id) else { return };
        let Some((_, method)) = self.requests.remove(place) else { return };
        let message_text = self.messages.iter().position(|(known, _)| known == id);
        let message_text = message_text.and_then(|place| self.messages.remove(place));
        if let Some(error) = message.get("error") {
            log.outcome.unsaid.extend(message_text.map(|(_, text)| text));
            self.failures.read_refusal(&method, error, log);
        } else if method.starts_with("thread/") {
            self.introduce(&message["result"], log);
        }
    }

    fn introduce(&mut self, result: &Value, log: &mut LogWriter<'_>) {
        let (thread, model) = (result["thread"]["id"].as_str(), result["model"].as_str().unwrap_or_default());
        if let Some(thread) = thread.filter(|_| self.thread.is_none()) {
            self.thread = Some(thread.to_owned());
            log.outcome.session_id = Some(thread.to_owned());
            self.meter.introduce(thread, model);
        }
        let mut text = format!("model: {model}");
        if let Some(effort) = result["reasoningEffort"].as_str() {
            text += &format!("  reasoning effort: {effort}");
        }
        log.add(plain(EntryType::SystemMessage, text));
        self.show_remarks(log);
    }

    fn is_own(&self, params: &Value) -> bool {
        match (&self.thread, params["threadId"].as_str()) {
            (Some(own), Some(thread)) => own == thread,
            _ => true,
        }
    }

    fn read_notification(&mut self, method: &str, params: &Value, line: &[u8], log: &mut LogWriter<'_>) {
        self.began = true;
        let text = |key: &str| params[key].as_str().unwrap_or_default();
        match method {
            "thread/started" => {
                let thread = &params["thread"];
                if let (Some(id), Some(model)) = (thread["id"].as_str(), thread["model"].as_str()) {
                    self.meter.introduce(id, model);
                }
            }
            "item/started" => {
                self.failures.clear_retry();
                self.open_item(&params["item"], line.len(), log);
            }
            "item/completed" => self.close_item(&params["item"], self.is_own(params), log),
            "item/agentMessage/delta" => self.grow(text("itemId"), TextKind::Text, text("delta"), log),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.grow(text("itemId"), TextKind::Thinking, text("delta"), log);
            }
            "item/reasoning/summaryPartAdded" => {
                if params["summaryIndex"].as_u64().is_some_and(|index| index > 0) {
                    self.grow(text("itemId"), TextKind::Thinking, "\n\n", log);
                }
            }
            "turn/started" => self.meter.begin(text("threadId")),
            "turn/plan/updated" => show_plan(params, log),
            "turn/completed" if self.is_own(params) => self.end_turn(&params["turn"], log),
            "thread/tokenUsage/updated" => {
                self.meter.read(text("threadId"), &params["tokenUsage"], log.outcome);
            }
            "account/rateLimits/updated" => self.failures.note_limits(&params["rateLimits"], log.outcome),
            "error" => self.failures.read_error(params, log),
            "warning" | "guardianWarning" => self.remark(text("message"), log),
            "configWarning" => self.remark(text("summary"), log),
            "model/rerouted" => {
                let text = format!("model: {} (instead of {})", text("toModel"), text("fromModel"));
                self.remark(&text, log);
            }
            "mcpServer/startupStatus/updated" if params["status"] == "failed" => {
                let text = format!("MCP server {} did not start: {}", text("name"), text("error"));
                self.remark(&text, log);
            }
            method if is_ignored(method) => {}
            method => self.show_unknown(method, line, log),
        }
    }

    /// A line that is not a message of the app server: one of `codex exec --json`, or anything else.
    fn read_exec_line(&mut self, message: &Value, line: &[u8], log: &mut LogWriter<'_>) {
        let Some(event) = exec::read(message) else {
            log.add(unrecognised("JSON message", &String::from_utf8_lossy(line)));
            return;
        };
        self.began = true;
        match event {
            Event::Thread(id) => {
                log.add(plain(EntryType::SystemMessage, format!("thread: {id}")));
                log.outcome.session_id.get_or_insert_with(|| id.clone());
                self.thread.get_or_insert(id);
            }
            Event::TurnStarted => {
                log.add(plain(EntryType::SystemMessage, "Turn started".to_owned()));
            }
            Event::Begun(item) => self.open_item(&item, line.len(), log),
            Event::Done(item) => self.close_item(&item, true, log),
            Event::Remark(text) => {
                log.add(plain(error(), text));
            }
            Event::Plan(plan) => show_plan(&plan, log),
            Event::TurnCompleted(used) => {
                log.outcome.spend("", used);
                log.outcome.verdict = Some(Verdict::Success);
                log.add(plain(EntryType::SystemMessage, "Turn completed".to_owned()));
            }
            Event::Error(text) => self.failures.show(&text, log),
            Event::TurnFailed(text) => self.failures.fail(&text, &Value::Null, log),
        }
    }

    fn open_item(&mut self, item: &Value, bytes: usize, log: &mut LogWriter<'_>) {
        for ItemEntry { id, entry } in item::show(item, &self.worktree) {
            if matches!(entry.entry_type, EntryType::ToolUse { .. }) {
                self.calls.open(&id, entry, bytes, log);
            }
        }
    }

    fn close_item(&mut self, item: &Value, own: bool, log: &mut LogWriter<'_>) {
        let id = item["id"].as_str().unwrap_or_default();
        let streamed = self.growing.iter().position(|(known, _)| known == id);
        let streamed =
            streamed.and_then(|place| self.growing.remove(place)).and_then(|(_, block)| block.entry());
        for ItemEntry { id, entry } in item::show(item, &self.worktree) {
            if own && entry.entry_type == EntryType::AssistantMessage {
                log.summarise(&entry.content);
            }
            let call = self.calls.take(&id);
            // A person's decision is more precise than the status `declined`.
            let decided = call.as_ref().is_some_and(|call| {
                let EntryType::ToolUse { status, .. } = &call.entry.entry_type else { return false };
                matches!(status, ToolStatus::Denied { .. } | ToolStatus::TimedOut)
            });
            if !decided {
                log.put(call.map(|call| call.index).or(streamed), entry);
            }
        }
    }

    fn grow(&mut self, item: &str, kind: TextKind, piece: &str, log: &mut LogWriter<'_>) {
        let place = self.growing.iter().position(|(known, _)| known == item);
        if place.is_none() {
            if self.growing.len() == MAX_OPEN
                && let Some((_, mut oldest)) = self.growing.pop_front()
            {
                oldest.show(log);
            }
            self.growing.push_back((item.to_owned(), Block::new(kind)));
        }
        let place = place.unwrap_or(self.growing.len().saturating_sub(1));
        if let Some((_, block)) = self.growing.get_mut(place) {
            // A text that is too long to stream is shown whole when its item is complete.
            let _ = block.grow(piece, log);
        }
    }

    /// A question shows its calls as waiting; a call that was not announced before is added here.
    fn read_request(&mut self, method: &str, key: &str, params: &Value, at_ms: i64, log: &mut LogWriter<'_>) {
        self.began = true;
        let Some(announced) = item::requested_item(method, params) else { return };
        let id = announced["id"].as_str().unwrap_or(key).to_owned();
        if !self.calls.has(&id) {
            let mut announced = announced;
            announced["id"] = id.as_str().into();
            self.open_item(&announced, 0, log);
        }
        let mut part = 0;
        while self.calls.has(&item::part_id(&id, part)) && part < item::MAX_FILES {
            self.calls.mark_waiting(key, &item::part_id(&id, part), at_ms, log);
            part += 1;
        }
    }

    fn answer(&mut self, key: &str, result: &Value, log: &mut LogWriter<'_>) {
        let reason = self.reasons.iter().position(|(question, _)| question == key);
        let reason = reason.and_then(|place| self.reasons.remove(place)).map(|(_, reason)| reason);
        let status = decided_status(result, reason.as_deref());
        let mut tool = None;
        while let Some(call_id) = self.calls.close_request(key) {
            tool = self.calls.mark(&call_id, status.clone(), log).or(tool);
        }
        let Some(tool) = tool else { return };
        match status {
            ToolStatus::Denied { reason: Some(reason) } => {
                log.add(plain(EntryType::UserFeedback { denied_tool: tool }, reason));
            }
            ToolStatus::TimedOut => {
                log.add(plain(error(), format!("Approval timed out for tool {tool}")));
            }
            _ => {}
        }
    }

    fn end_turn(&mut self, turn: &Value, log: &mut LogWriter<'_>) {
        match turn["status"].as_str() {
            Some("completed") => {
                log.outcome.verdict = Some(Verdict::Success);
                log.outcome.limit = None;
            }
            Some("interrupted") => self.failures.fail("Interrupted", &Value::Null, log),
            _ => {
                let error = &turn["error"];
                let text = error["message"].as_str().unwrap_or("the turn failed without a reason");
                self.failures.fail(text, error, log);
            }
        }
    }

    /// Shows a remark that may be repeated only once.
    fn remark(&mut self, text: &str, log: &mut LogWriter<'_>) {
        if !text.is_empty() && !self.remarks.iter().any(|known| known == text) {
            push_bounded(&mut self.remarks, text.to_owned(), MAX_REMARKS);
            self.early.push(text.to_owned());
        }
        if self.thread.is_some() || self.early.len() == MAX_REMARKS {
            self.show_remarks(log);
        }
    }

    fn show_remarks(&mut self, log: &mut LogWriter<'_>) {
        for text in self.early.drain(..) {
            log.add(plain(EntryType::SystemMessage, text));
        }
    }

    fn show_unknown(&mut self, method: &str, line: &[u8], log: &mut LogWriter<'_>) {
        let name = format!("unrecognized {}", cut(method, UNRECOGNISED_BYTES, "…"));
        if !self.remarks.contains(&name) {
            push_bounded(&mut self.remarks, name, MAX_REMARKS);
            log.add(unrecognised("JSON message", &String::from_utf8_lossy(line)));
        }
    }
}

/// The status of a call after the answer to its question.
fn decided_status(result: &Value, sent_reason: Option<&str>) -> ToolStatus {
    let word = ["decision", "action"].iter().find_map(|key| result[*key].as_str());
    let granted = result["permissions"].as_object().is_some_and(|granted| !granted.is_empty());
    if granted || word.is_some_and(|word| word.starts_with("accept") || word.starts_with("approved")) {
        return ToolStatus::Created;
    }
    let reason = sent_reason.or(result["decision"]["denied"]["rejection"].as_str());
    if reason == Some(TIMED_OUT) || word == Some("timed_out") {
        return ToolStatus::TimedOut;
    }
    let reason =
        reason.map(|text| text.strip_prefix(FEEDBACK).unwrap_or(text)).filter(|text| *text != NO_REASON);
    ToolStatus::Denied { reason: reason.map(str::to_owned) }
}

fn show_plan(params: &Value, log: &mut LogWriter<'_>) {
    let todo = |step: &Value| TodoItem {
        content: step["step"].as_str().unwrap_or_default().to_owned(),
        status: match step["status"].as_str() {
            Some("inProgress") => "in_progress".into(),
            Some(status) => status.to_owned(),
            None => "pending".into(),
        },
        priority: None,
    };
    let todos = params["plan"].as_array().into_iter().flatten().map(todo).collect();
    let content = params["explanation"].as_str().filter(|text| !text.is_empty()).unwrap_or("Plan updated");
    let action_type = ActionType::TodoManagement { todos, operation: "update".into() };
    let entry_type =
        EntryType::ToolUse { tool_name: "plan".into(), action_type, status: ToolStatus::Success };
    log.add(with_source(entry_type, content.to_owned(), json!({"explanation": params["explanation"]})));
}

/// Notifications that say nothing about the agent's work, or repeat it.
fn is_ignored(method: &str) -> bool {
    let families = [
        "account/",
        "app/",
        "command/",
        "externalAgentConfig/",
        "fs/",
        "fuzzyFileSearch/",
        "hook/",
        "item/",
        "autoApprovalReview/",
        "mcpServer/",
        "model/",
        "modelProvider/",
        "process/",
        "project/",
        "remoteControl/",
        "skills/",
        "thread/",
        "turn/",
        "windows/",
        "windowsSandbox/",
    ];
    let single = ["deprecationNotice", "serverRequest/resolved"];
    single.contains(&method) || families.iter().any(|family| method.starts_with(family))
}

fn error() -> EntryType {
    EntryType::ErrorMessage { error_type: ErrorType::Other }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(item);
}
