//! The Cursor agent's lines.
//!
//! Owns what streams and which tool calls are open. Invariants: the chunks of an answer become one entry; a
//! completed tool call replaces the entry of its start; lines that are not part of the dialect are shown, one
//! system entry each.

use std::path::PathBuf;

use forge_types::{
    ActionType, CommandResult, EntryType, ErrorType, ExitStatus, FileChange, INTRODUCTION, NormalizedEntry,
    ToolResult, ToolResultKind, ToolStatus,
};
use serde_json::{Value, json};

use super::calls::Calls;
use super::dialogue::{DialectReader, unrecognised};
use super::entries::{LogWriter, failure_type, plain, with_source};
use super::stream::{Block, TextKind};
use super::tool::{in_backticks, relative, todo};
use super::{FoldContext, SUMMARY_BYTES, Verdict, cut, diff};
use crate::lines::clean;

const LOGIN: &str = "cursor-agent login";

pub(super) struct Cursor {
    worktree: PathBuf,
    introduced: bool,
    open_text: Option<Block>,
    calls: Calls,
}

impl Cursor {
    pub fn new(context: &FoldContext) -> Cursor {
        Cursor {
            worktree: context.worktree.clone(),
            introduced: false,
            open_text: None,
            calls: Calls::new(context),
        }
    }
}

impl DialectReader for Cursor {
    fn read(&mut self, message: Value, line: &[u8], _at_ms: i64, log: &mut LogWriter<'_>) {
        if log.outcome.session_id.is_none()
            && let Some(id) = message["session_id"].as_str()
        {
            log.outcome.session_id = Some(id.to_owned());
        }
        match message["type"].as_str() {
            Some("system") => self.introduce(&message, log),
            Some("assistant") => self.append_text(TextKind::Text, &message, log),
            Some("thinking") => self.append_text(TextKind::Thinking, &message, log),
            Some("tool_call") => self.call(&message, line.len(), log),
            Some("result") => self.read_result(&message, log),
            // The prompt, which readers already know.
            Some("user") => {}
            _ => {
                log.add(unrecognised("JSON message", &String::from_utf8_lossy(line)));
            }
        }
    }

    /// It receives its prompt and nothing else.
    fn read_input(&mut self, _message: &Value, _log: &mut LogWriter<'_>) {}

    fn finish(&mut self, log: &mut LogWriter<'_>) {
        self.finish_text(log);
        self.calls.finish(log);
    }
}

/// Whether standard error asks the user to log in.
pub(super) fn asks_for_login(stderr: &[u8]) -> bool {
    String::from_utf8_lossy(stderr).contains(LOGIN)
}

/// The entry that asks the user to log in.
pub(super) fn login_entry(stderr: &[u8]) -> NormalizedEntry {
    let lines: Vec<_> = stderr.split(|byte| *byte == b'\n').map(clean).collect();
    let error_type = ErrorType::SetupRequired;
    plain(EntryType::ErrorMessage { error_type }, lines.join("\n").trim().to_owned())
}

impl Cursor {
    fn introduce(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        if let Some(model) = message["model"].as_str()
            && !std::mem::replace(&mut self.introduced, true)
        {
            let text = format!("{INTRODUCTION}model: {model}");
            log.add(plain(EntryType::SystemMessage, text));
        }
    }

    fn append_text(&mut self, kind: TextKind, message: &Value, log: &mut LogWriter<'_>) {
        let blocks = message["message"]["content"].as_array().into_iter().flatten();
        let mut piece: String = blocks.filter_map(|block| block["text"].as_str()).collect();
        piece.push_str(message["text"].as_str().unwrap_or_default());
        if piece.is_empty() {
            return;
        }
        if let Some(block) = &mut self.open_text
            && block.kind() == kind
            && block.grow(&piece, log)
        {
            return;
        }
        self.finish_text(log);
        let mut block = Block::new(kind);
        block.grow(&piece, log);
        self.open_text = Some(block);
    }

    fn finish_text(&mut self, log: &mut LogWriter<'_>) {
        if let Some(mut block) = self.open_text.take() {
            block.show(log);
            if block.kind() == TextKind::Text {
                log.summarise(block.text());
            }
        }
    }

    fn call(&mut self, message: &Value, bytes: usize, log: &mut LogWriter<'_>) {
        self.finish_text(log);
        let id = message["call_id"].as_str().unwrap_or_default();
        let Some((name, call)) = message["tool_call"].as_object().and_then(|calls| calls.iter().next())
        else {
            return;
        };
        let completed = message["subtype"] == "completed";
        let failure = &call["result"]["failure"];
        let failed = completed && (!failure.is_null() || !call["result"]["error"].is_null());
        let status = match (completed, failed) {
            (false, _) => ToolStatus::Created,
            (true, false) => ToolStatus::Success,
            (true, true) => ToolStatus::Failed,
        };
        let (action_type, content) = self.action(name, call, completed, failed);
        let tool_name = name.strip_suffix("ToolCall").unwrap_or(name).to_owned();
        let entry_type = EntryType::ToolUse { tool_name, action_type, status };
        let entry = with_source(entry_type, content, json!({"tool_call_id": id}));
        self.calls.open(id, entry, bytes, log);
    }

    fn action(&self, name: &str, call: &Value, completed: bool, failed: bool) -> (ActionType, String) {
        let (args, result) = (&call["args"], &call["result"]);
        let known = self.known_action(name, args, result, completed, failed);
        known.unwrap_or_else(|| {
            let shown = match (name, args["providerIdentifier"].as_str(), args["toolName"].as_str()) {
                ("mcpToolCall", Some(server), Some(tool)) => format!("mcp:{server}:{tool}"),
                _ => name.strip_suffix("ToolCall").unwrap_or(name).to_owned(),
            };
            let arguments = Some(args.clone()).filter(|args| !args.is_null());
            let json = Some(result).filter(|result| completed && !result.is_null());
            let result = json.map(|value| ToolResult { r#type: ToolResultKind::Json, value: value.clone() });
            (ActionType::Tool { tool_name: shown.clone(), arguments, result }, shown)
        })
    }

    fn known_action(
        &self,
        name: &str,
        args: &Value,
        result: &Value,
        completed: bool,
        failed: bool,
    ) -> Option<(ActionType, String)> {
        let text = |key: &str| args[key].as_str().map(str::to_owned);
        let path = || args["path"].as_str().map(|path| relative(path, &self.worktree));
        let edited = |path: String, changes: Vec<FileChange>| {
            let content = in_backticks(&path);
            Some((ActionType::FileEdit { path, changes }, content))
        };
        match name {
            "shellToolCall" => {
                let command = text("command")?;
                let result = completed.then(|| command_result(result, failed));
                let content = in_backticks(&command);
                Some((ActionType::CommandRun { command, result }, content))
            }
            "readToolCall" => {
                let path = path()?;
                let content = in_backticks(&path);
                Some((ActionType::FileRead { path }, content))
            }
            "writeToolCall" => {
                let content = text("fileText").or_else(|| text("contents")).unwrap_or_default();
                edited(path()?, vec![FileChange::Write { content }])
            }
            "editToolCall" => {
                let path = path()?;
                let changes = changes(&path, args, result);
                edited(path, changes)
            }
            "deleteToolCall" => edited(path()?, vec![FileChange::Delete]),
            "lsToolCall" => {
                let description = format!("List: {}", in_backticks(&path()?));
                Some((ActionType::Other { description: description.clone() }, description))
            }
            "globToolCall" | "grepToolCall" | "semSearchToolCall" => {
                let query = text("globPattern").or_else(|| text("pattern")).or_else(|| text("query"))?;
                let content = in_backticks(&query);
                Some((ActionType::Search { query }, content))
            }
            "updateTodosToolCall" => {
                let todos = args["todos"].as_array()?.iter().map(todo).collect();
                let operation = "write".into();
                Some((ActionType::TodoManagement { todos, operation }, "TODO list updated".into()))
            }
            _ => None,
        }
    }

    fn read_result(&mut self, message: &Value, log: &mut LogWriter<'_>) {
        self.finish_text(log);
        if message["is_error"] != true {
            log.outcome.verdict = Some(Verdict::Success);
            return;
        }
        let reason = message["result"].as_str().filter(|text| !text.trim().is_empty());
        let text = reason.unwrap_or("the agent reported a failure without a reason").to_owned();
        log.add(plain(failure_type(&text), text.clone()));
        log.outcome.verdict = Some(Verdict::Failed { message: cut(&text, SUMMARY_BYTES, "...") });
    }
}

fn command_result(result: &Value, failed: bool) -> CommandResult {
    let details = if failed { &result["failure"] } else { &result["success"] };
    let text = |key: &str| details[key].as_str().filter(|text| !text.is_empty());
    let outputs: Vec<_> = [text("stdout"), text("stderr")].into_iter().flatten().collect();
    let code = details["exitCode"].as_i64().and_then(|code| i32::try_from(code).ok());
    let exit_status = match code {
        Some(code) => ExitStatus::ExitCode { code },
        None => ExitStatus::Success { success: !failed },
    };
    CommandResult { exit_status: Some(exit_status), output: Some(outputs.join("\n")) }
}

/// The replaced text, from the arguments or from the completed call.
fn changes(path: &str, args: &Value, result: &Value) -> Vec<FileChange> {
    if let Some(shown) = result["success"]["diffString"].as_str() {
        let unified_diff = format!("--- a/{path}\n+++ b/{path}\n{}\n", shown.trim_end());
        return vec![FileChange::Edit { unified_diff, has_line_numbers: false }];
    }
    let edits = ["applyPatch", "strReplace", "multiStrReplace"].iter().map(|key| &args[*key]);
    let mut changes = Vec::new();
    for edit in edits {
        let many = edit["edits"].as_array().map_or(std::slice::from_ref(edit), Vec::as_slice);
        for edit in many {
            let text = |key: &str| edit[key].as_str();
            if let (Some(old), Some(new)) = (text("oldText"), text("newText")) {
                changes.push(diff::edit(path, old, new));
            }
        }
    }
    changes
}

#[cfg(test)]
mod tests;
