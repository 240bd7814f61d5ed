//! Codex's app server, line by line.
//!
//! Owns the conversation's state: which thread is the agent's own, what streams, which items are open. Invariants:
//! the last `turn/completed` of that thread decides about success, and an agent that ends without one has failed; a
//! question is shown until the log has its answer; notifications of unknown kinds are shown once, every line
//! without a method leaves an entry, and what is remembered is bounded.

mod exec;
mod item;
mod meter;
mod trouble;

use std::collections::VecDeque;
use std::path::PathBuf;

use forge_types::{ActionType, EntryType, ErrorType, TodoItem, ToolStatus};
use serde_json::{Value, json};

use super::calls::Calls;
use super::dialogue::{Story, UNRECOGNISED_BYTES, unrecognised};
use super::entries::{Page, plain, sourced};
use super::stream::{Block, Speech};
use super::{Lens, Verdict, cut};
use crate::talk::{FEEDBACK, FEEDBACK_ID, NO_REASON, TIMED_OUT};
use exec::Event;
use item::Shown;
use meter::Meter;
use trouble::Trouble;

/// Limit for our requests that wait for a reply, for growing texts, and for reasons that wait for their denial.
const MAX_OPEN: usize = 64;
/// Limit for remarks that are not repeated.
const MAX_REMARKS: usize = 32;
const BROKEN_OFF: &str = "Codex ended before its turn was over";

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
    trouble: Trouble,
    remarks: VecDeque<String>,
    /// Remarks that came before the model is known, which is always shown first.
    early: Vec<String>,
    /// Whether the agent has printed any line of the protocol.
    began: bool,
}

impl Codex {
    pub fn new(lens: &Lens) -> Codex {
        Codex {
            worktree: lens.worktree.clone(),
            thread: None,
            requests: VecDeque::new(),
            messages: VecDeque::new(),
            growing: VecDeque::new(),
            calls: Calls::new(lens),
            reasons: VecDeque::new(),
            meter: Meter::default(),
            trouble: Trouble::default(),
            remarks: VecDeque::new(),
            early: Vec::new(),
            began: false,
        }
    }
}

impl Story for Codex {
    fn read(&mut self, mut message: Value, line: &[u8], at_ms: i64, page: &mut Page<'_>) {
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        match (message["method"].as_str(), &message["id"]) {
            (Some(method), Value::Null) => self.read_notification(method, &params, line, page),
            (Some(method), id) => self.read_request(method, &id.to_string(), &params, at_ms, page),
            (None, Value::Null) => self.read_plainly(&message, line, page),
            (None, id) => self.read_reply(id, &message, page),
        }
    }

    /// Reads our requests, so that their replies can be matched; messages; and answers to the agent's requests.
    fn hear(&mut self, message: &Value, page: &mut Page<'_>) {
        let id = &message["id"];
        let Some(method) = message["method"].as_str() else {
            self.answer(&id.to_string(), &message["result"], page);
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
                page.add(plain(EntryType::UserMessage, text));
            }
        }
    }

    fn finish(&mut self, page: &mut Page<'_>) {
        self.show_remarks(page);
        for (_, mut block) in std::mem::take(&mut self.growing) {
            block.show(page);
            if block.speech() == Speech::Text {
                page.summarise(block.text());
            }
        }
        // It ended before it could answer.
        page.outcome.unsaid.extend(self.messages.drain(..).map(|(_, text)| text));
        if page.outcome.verdict.is_none() && self.began {
            self.trouble.fail(BROKEN_OFF, &Value::Null, page);
        }
        self.calls.finish(page);
    }
}

impl Codex {
    fn read_reply(&mut self, id: &Value, message: &Value, page: &mut Page<'_>) {
        self.began = true;
        let Some(place) = self.requests.iter().position(|(known, _)| known == id) else { return };
        let Some((_, method)) = self.requests.remove(place) else { return };
        let told = self.messages.iter().position(|(known, _)| known == id);
        let told = told.and_then(|place| self.messages.remove(place));
        if let Some(error) = message.get("error") {
            page.outcome.unsaid.extend(told.map(|(_, text)| text));
            self.trouble.refuse(&method, error, page);
        } else if method.starts_with("thread/") {
            self.introduce(&message["result"], page);
        }
    }

    fn introduce(&mut self, result: &Value, page: &mut Page<'_>) {
        let (thread, model) = (result["thread"]["id"].as_str(), result["model"].as_str().unwrap_or_default());
        if let Some(thread) = thread.filter(|_| self.thread.is_none()) {
            self.thread = Some(thread.to_owned());
            page.outcome.session_id = Some(thread.to_owned());
            self.meter.introduce(thread, model);
        }
        let mut text = format!("model: {model}");
        if let Some(effort) = result["reasoningEffort"].as_str() {
            text += &format!("  reasoning effort: {effort}");
        }
        page.add(plain(EntryType::SystemMessage, text));
        self.show_remarks(page);
    }

    fn is_own(&self, params: &Value) -> bool {
        match (&self.thread, params["threadId"].as_str()) {
            (Some(own), Some(thread)) => own == thread,
            _ => true,
        }
    }

    fn read_notification(&mut self, method: &str, params: &Value, line: &[u8], page: &mut Page<'_>) {
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
                self.trouble.pass();
                self.open_item(&params["item"], line.len(), page);
            }
            "item/completed" => self.close_item(&params["item"], self.is_own(params), page),
            "item/agentMessage/delta" => self.grow(text("itemId"), Speech::Text, text("delta"), page),
            "item/reasoning/summaryTextDelta" | "item/reasoning/textDelta" => {
                self.grow(text("itemId"), Speech::Thinking, text("delta"), page);
            }
            "item/reasoning/summaryPartAdded" => {
                if params["summaryIndex"].as_u64().is_some_and(|index| index > 0) {
                    self.grow(text("itemId"), Speech::Thinking, "\n\n", page);
                }
            }
            "turn/started" => self.meter.begin(text("threadId")),
            "turn/plan/updated" => show_plan(params, page),
            "turn/completed" if self.is_own(params) => self.end_turn(&params["turn"], page),
            "thread/tokenUsage/updated" => {
                self.meter.read(text("threadId"), &params["tokenUsage"], page.outcome);
            }
            "account/rateLimits/updated" => self.trouble.note_limits(&params["rateLimits"], page.outcome),
            "error" => self.trouble.read(params, page),
            "warning" | "guardianWarning" => self.remark(text("message"), page),
            "configWarning" => self.remark(text("summary"), page),
            "model/rerouted" => {
                let text = format!("model: {} (instead of {})", text("toModel"), text("fromModel"));
                self.remark(&text, page);
            }
            "mcpServer/startupStatus/updated" if params["status"] == "failed" => {
                let text = format!("MCP server {} did not start: {}", text("name"), text("error"));
                self.remark(&text, page);
            }
            method if is_harmless(method) => {}
            method => self.remark_unknown(method, line, page),
        }
    }

    /// A line that is not a message of the app server: one of `codex exec --json`, or anything else.
    fn read_plainly(&mut self, message: &Value, line: &[u8], page: &mut Page<'_>) {
        let Some(event) = exec::read(message) else {
            page.add(unrecognised("JSON message", &String::from_utf8_lossy(line)));
            return;
        };
        self.began = true;
        match event {
            Event::Thread(id) => {
                page.add(plain(EntryType::SystemMessage, format!("thread: {id}")));
                page.outcome.session_id.get_or_insert_with(|| id.clone());
                self.thread.get_or_insert(id);
            }
            Event::TurnStarted => {
                page.add(plain(EntryType::SystemMessage, "Turn started".to_owned()));
            }
            Event::Begun(item) => self.open_item(&item, line.len(), page),
            Event::Done(item) => self.close_item(&item, true, page),
            Event::Remark(text) => {
                page.add(plain(error(), text));
            }
            Event::Plan(plan) => show_plan(&plan, page),
            Event::TurnCompleted(used) => {
                page.outcome.spend("", used);
                page.outcome.verdict = Some(Verdict::Success);
                page.add(plain(EntryType::SystemMessage, "Turn completed".to_owned()));
            }
            Event::Error(text) => self.trouble.show(&text, page),
            Event::TurnFailed(text) => self.trouble.fail(&text, &Value::Null, page),
        }
    }

    fn open_item(&mut self, item: &Value, bytes: usize, page: &mut Page<'_>) {
        for Shown { id, entry } in item::show(item, &self.worktree) {
            if matches!(entry.entry_type, EntryType::ToolUse { .. }) {
                self.calls.open(&id, entry, bytes, page);
            }
        }
    }

    fn close_item(&mut self, item: &Value, own: bool, page: &mut Page<'_>) {
        let id = item["id"].as_str().unwrap_or_default();
        let streamed = self.growing.iter().position(|(known, _)| known == id);
        let streamed =
            streamed.and_then(|place| self.growing.remove(place)).and_then(|(_, block)| block.entry());
        for Shown { id, entry } in item::show(item, &self.worktree) {
            if own && entry.entry_type == EntryType::AssistantMessage {
                page.summarise(&entry.content);
            }
            let call = self.calls.take(&id);
            // A person's decision is more precise than the status `declined`.
            let decided = call.as_ref().is_some_and(|call| {
                let EntryType::ToolUse { status, .. } = &call.entry.entry_type else { return false };
                matches!(status, ToolStatus::Denied { .. } | ToolStatus::TimedOut)
            });
            if !decided {
                page.put(call.map(|call| call.index).or(streamed), entry);
            }
        }
    }

    fn grow(&mut self, item: &str, speech: Speech, piece: &str, page: &mut Page<'_>) {
        let place = self.growing.iter().position(|(known, _)| known == item);
        if place.is_none() {
            if self.growing.len() == MAX_OPEN
                && let Some((_, mut oldest)) = self.growing.pop_front()
            {
                oldest.show(page);
            }
            self.growing.push_back((item.to_owned(), Block::new(speech)));
        }
        let place = place.unwrap_or(self.growing.len().saturating_sub(1));
        if let Some((_, block)) = self.growing.get_mut(place) {
            // A text that is too long to stream is shown whole when its item is complete.
            let _ = block.grow(piece, page);
        }
    }

    /// A question shows its calls as waiting; a call that was not announced before is added here.
    fn read_request(&mut self, method: &str, key: &str, params: &Value, at_ms: i64, page: &mut Page<'_>) {
        self.began = true;
        let Some(announced) = item::asked(method, params) else { return };
        let id = announced["id"].as_str().unwrap_or(key).to_owned();
        if !self.calls.has(&id) {
            let mut announced = announced;
            announced["id"] = id.as_str().into();
            self.open_item(&announced, 0, page);
        }
        let mut part = 0;
        while self.calls.has(&item::part_id(&id, part)) && part < item::MAX_FILES {
            self.calls.ask(key, &item::part_id(&id, part), at_ms, page);
            part += 1;
        }
    }

    fn answer(&mut self, key: &str, result: &Value, page: &mut Page<'_>) {
        let told = self.reasons.iter().position(|(question, _)| question == key);
        let told = told.and_then(|place| self.reasons.remove(place)).map(|(_, reason)| reason);
        let status = decided(result, told.as_deref());
        let mut tool = None;
        while let Some(call_id) = self.calls.answered(key) {
            tool = self.calls.mark(&call_id, status.clone(), page).or(tool);
        }
        let Some(tool) = tool else { return };
        match status {
            ToolStatus::Denied { reason: Some(reason) } => {
                page.add(plain(EntryType::UserFeedback { denied_tool: tool }, reason));
            }
            ToolStatus::TimedOut => {
                page.add(plain(error(), format!("Approval timed out for tool {tool}")));
            }
            _ => {}
        }
    }

    fn end_turn(&mut self, turn: &Value, page: &mut Page<'_>) {
        match turn["status"].as_str() {
            Some("completed") => {
                page.outcome.verdict = Some(Verdict::Success);
                page.outcome.limit = None;
            }
            Some("interrupted") => self.trouble.fail("Interrupted", &Value::Null, page),
            _ => {
                let error = &turn["error"];
                let text = error["message"].as_str().unwrap_or("the turn failed without a reason");
                self.trouble.fail(text, error, page);
            }
        }
    }

    /// Shows a remark that may be repeated only once.
    fn remark(&mut self, text: &str, page: &mut Page<'_>) {
        if !text.is_empty() && !self.remarks.iter().any(|known| known == text) {
            push_bounded(&mut self.remarks, text.to_owned(), MAX_REMARKS);
            self.early.push(text.to_owned());
        }
        if self.thread.is_some() || self.early.len() == MAX_REMARKS {
            self.show_remarks(page);
        }
    }

    fn show_remarks(&mut self, page: &mut Page<'_>) {
        for text in self.early.drain(..) {
            page.add(plain(EntryType::SystemMessage, text));
        }
    }

    fn remark_unknown(&mut self, method: &str, line: &[u8], page: &mut Page<'_>) {
        let name = format!("unrecognized {}", cut(method, UNRECOGNISED_BYTES, "…"));
        if !self.remarks.contains(&name) {
            push_bounded(&mut self.remarks, name, MAX_REMARKS);
            page.add(unrecognised("JSON message", &String::from_utf8_lossy(line)));
        }
    }
}

/// The status of a call after the answer to its question.
fn decided(result: &Value, told: Option<&str>) -> ToolStatus {
    let word = ["decision", "action"].iter().find_map(|key| result[*key].as_str());
    let granted = result["permissions"].as_object().is_some_and(|granted| !granted.is_empty());
    if granted || word.is_some_and(|word| word.starts_with("accept") || word.starts_with("approved")) {
        return ToolStatus::Created;
    }
    let told = told.or(result["decision"]["denied"]["rejection"].as_str());
    if told == Some(TIMED_OUT) || word == Some("timed_out") {
        return ToolStatus::TimedOut;
    }
    let reason =
        told.map(|told| told.strip_prefix(FEEDBACK).unwrap_or(told)).filter(|told| *told != NO_REASON);
    ToolStatus::Denied { reason: reason.map(str::to_owned) }
}

fn show_plan(params: &Value, page: &mut Page<'_>) {
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
    page.add(sourced(entry_type, content.to_owned(), json!({"explanation": params["explanation"]})));
}

/// Notifications that say nothing about the agent's work, or repeat it.
fn is_harmless(method: &str) -> bool {
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
