//! What an agent does with its tools: one line for the call, a few for its result, and all details in a question.
//!
//! Invariant: a call is one line (a to-do list has one per item), its result about [`OUTPUT_LINES`] lines at most; a
//! question shows up to [`QUESTION_LINES`] lines of what will be done and says when there are more.

use forge_types::{ActionType, EntryType, ExitStatus, FileChange, NormalizedEntry, TodoItem, ToolStatus};
use serde_json::Value;

use super::{Ink, Line, clean};

const OUTPUT_LINES: usize = 8;
const RESULT_LINES: usize = 4;
const QUESTION_LINES: usize = 200;

/// The call.
pub fn head(entry: &NormalizedEntry) -> Vec<Line> {
    let EntryType::ToolUse { tool_name, action_type, .. } = &entry.entry_type else { return Vec::new() };
    let verb = |verb: &str, object: &str| {
        vec![Line::new(Ink::Cyan, verb).and(Ink::Plain, " ").and(Ink::Plain, object)]
    };
    match action_type {
        ActionType::CommandRun { command, .. } => vec![command_line(command)],
        ActionType::FileRead { path } => verb("read", path),
        ActionType::FileEdit { path, changes } => vec![edit_line(path, changes)],
        ActionType::Search { query } => verb("search", query),
        ActionType::WebFetch { url } => verb("fetch", url),
        ActionType::Tool { tool_name, arguments, .. } => {
            let arguments = arguments.as_ref().filter(|value| !is_empty(value)).map(Value::to_string);
            let line = Line::new(Ink::Cyan, "tool").and(Ink::Plain, " ").and(Ink::Plain, tool_name);
            vec![line.and(Ink::Dim, &arguments.map(|text| format!(" {text}")).unwrap_or_default())]
        }
        ActionType::TaskCreate { description } => verb("delegate", description),
        ActionType::PlanPresentation { plan } => {
            let mut lines = vec![Line::new(Ink::Cyan, "plan")];
            lines.extend(clean(plan).lines().map(|line| Line::new(Ink::Plain, "  ").and(Ink::Plain, line)));
            lines
        }
        ActionType::TodoManagement { todos, .. } => todo_lines(todos),
        ActionType::Other { description } => {
            let name = if description.starts_with(tool_name.as_str()) { "" } else { tool_name };
            verb("use", format!("{name} {description}").trim_start())
        }
    }
}

/// Whether the entry is a list that is shown again when it changes.
pub fn is_list(entry: &NormalizedEntry) -> bool {
    let EntryType::ToolUse { action_type, .. } = &entry.entry_type else { return false };
    matches!(action_type, ActionType::TodoManagement { .. })
}

/// Repeats the call before a result that comes after other lines.
pub fn reminder(head: &[Line]) -> Vec<Line> {
    head.first().map(|line| line.after(Ink::Dim, "↳ ")).into_iter().collect()
}

/// The result.
pub fn result(entry: &NormalizedEntry) -> Vec<Line> {
    let EntryType::ToolUse { action_type, status, .. } = &entry.entry_type else { return Vec::new() };
    let mut lines = Vec::new();
    let mut exit = None;
    match action_type {
        ActionType::CommandRun { result: Some(result), .. } => {
            let mut output = result.output.as_deref().unwrap_or_default();
            if let Some(ExitStatus::ExitCode { code }) = result.exit_status {
                exit = Some(code);
                // Some agents repeat it in the output.
                output = output.strip_prefix(&format!("Exit code {code}")).unwrap_or(output);
            }
            lines.extend(output_lines(output, OUTPUT_LINES));
        }
        ActionType::Tool { result: Some(result), .. } => {
            let text = match &result.value {
                Value::String(text) => text.clone(),
                value => value.to_string(),
            };
            lines.extend(output_lines(&text, RESULT_LINES));
        }
        _ => {}
    }
    lines.extend(match (status, exit) {
        (ToolStatus::Denied { .. }, _) => Some(Line::new(Ink::Yellow, "  denied")),
        (ToolStatus::TimedOut, _) => Some(Line::new(Ink::Yellow, "  nobody answered in time")),
        (_, Some(0)) => Some(Line::new(Ink::Dim, "  exit 0")),
        (_, Some(code)) => Some(Line::new(Ink::Red, &format!("  exit {code}"))),
        (ToolStatus::Failed, None) => Some(Line::new(Ink::Red, "  failed")),
        _ => None,
    });
    lines
}

/// What a person needs to know to allow or deny it.
pub fn question(entry: &NormalizedEntry) -> Vec<Line> {
    let EntryType::ToolUse { tool_name, action_type, .. } = &entry.entry_type else { return Vec::new() };
    let asks = |what: &str| {
        let line = Line::new(Ink::Yellow, "? ").and(Ink::Bold, tool_name);
        vec![line.and(Ink::Plain, " asks to ").and(Ink::Plain, what)]
    };
    let with = |mut lines: Vec<Line>, more: Vec<Line>| {
        lines.extend(more);
        lines
    };
    match action_type {
        ActionType::CommandRun { command, .. } => {
            with(asks("run"), body_lines(command, |line| indented(Ink::Bold, line)))
        }
        ActionType::FileEdit { path, changes } => {
            with(asks(&format!("change {path}")), changes.iter().flat_map(change_lines).collect())
        }
        ActionType::PlanPresentation { plan } => {
            with(asks("carry out this plan"), body_lines(plan, |line| indented(Ink::Plain, line)))
        }
        ActionType::FileRead { path } => asks(&format!("read {path}")),
        ActionType::Search { query } => asks(&format!("search {query}")),
        ActionType::WebFetch { url } => asks(&format!("fetch {url}")),
        ActionType::Tool { arguments: Some(arguments), .. } => {
            let text = serde_json::to_string_pretty(arguments).unwrap_or_default();
            with(asks("be used with"), body_lines(&text, |line| indented(Ink::Plain, line)))
        }
        _ => asks(&format!("continue: {}", entry.content)),
    }
}

fn command_line(command: &str) -> Line {
    let command = clean(command);
    let mut lines = command.trim().lines();
    let line = Line::new(Ink::Cyan, "$ ").and(Ink::Bold, lines.next().unwrap_or_default());
    match lines.count() {
        0 => line,
        1 => line.and(Ink::Dim, " … 1 more line"),
        more => line.and(Ink::Dim, &format!(" … {more} more lines")),
    }
}

fn edit_line(path: &str, changes: &[FileChange]) -> Line {
    let (mut verb, mut added, mut removed, mut target) = ("edit", 0, 0, String::new());
    for change in changes {
        match change {
            FileChange::Write { content } => {
                verb = "write";
                added += content.lines().count();
            }
            FileChange::Delete => verb = "delete",
            FileChange::Rename { new_path } => {
                verb = "rename";
                target = format!(" → {new_path}");
            }
            FileChange::Edit { unified_diff, .. } => {
                let body = || unified_diff.lines().filter(|line| !is_file_line(line));
                added += body().filter(|line| line.starts_with('+')).count();
                removed += body().filter(|line| line.starts_with('-')).count();
            }
        }
    }
    let line = Line::new(Ink::Cyan, verb).and(Ink::Plain, " ").and(Ink::Plain, path).and(Ink::Plain, &target);
    let line = if added > 0 { line.and(Ink::Green, &format!(" +{added}")) } else { line };
    if removed > 0 { line.and(Ink::Red, &format!(" -{removed}")) } else { line }
}

fn is_file_line(line: &str) -> bool {
    line.starts_with("+++ ") || line.starts_with("--- ")
}

fn todo_lines(todos: &[TodoItem]) -> Vec<Line> {
    let mut lines = vec![Line::new(Ink::Cyan, "todo")];
    lines.extend(todos.iter().map(|item| {
        let (mark, ink) = match item.status.as_str() {
            "completed" | "done" => ("  [x] ", Ink::Dim),
            "in_progress" | "inProgress" => ("  [>] ", Ink::Bold),
            _ => ("  [ ] ", Ink::Plain),
        };
        Line::new(ink, mark).and(ink, &item.content)
    }));
    lines
}

fn output_lines(text: &str, most: usize) -> Vec<Line> {
    let text = clean(text);
    let all: Vec<&str> = text.trim_end().lines().skip_while(|line| line.trim().is_empty()).collect();
    let shown = if all.len() == most + 1 { most + 1 } else { most };
    let mut lines: Vec<Line> =
        all.iter().take(shown).map(|line| Line::new(Ink::Dim, &format!("  {line}"))).collect();
    if all.len() > shown {
        lines.push(Line::new(Ink::Dim, &format!("  … {} more lines", all.len() - shown)));
    }
    lines
}

fn change_lines(change: &FileChange) -> Vec<Line> {
    match change {
        FileChange::Write { content } => {
            body_lines(content, |line| indented(Ink::Green, &format!("+{line}")))
        }
        FileChange::Delete => vec![indented(Ink::Red, "delete the file")],
        FileChange::Rename { new_path } => vec![indented(Ink::Plain, &format!("rename it to {new_path}"))],
        FileChange::Edit { unified_diff, .. } => body_lines(unified_diff, |line| {
            let ink = match line.as_bytes().first() {
                _ if is_file_line(line) => Ink::Dim,
                Some(b'+') => Ink::Green,
                Some(b'-') => Ink::Red,
                Some(b'@') => Ink::Cyan,
                _ => Ink::Plain,
            };
            indented(ink, line)
        }),
    }
}

fn body_lines(text: &str, line: impl Fn(&str) -> Line) -> Vec<Line> {
    let text = clean(text);
    let count = text.lines().count();
    let mut lines: Vec<Line> = text.lines().take(QUESTION_LINES).map(line).collect();
    if count > QUESTION_LINES {
        lines.push(indented(Ink::Yellow, &format!("… {} more lines are not shown", count - QUESTION_LINES)));
    }
    lines
}

/// No part of a question is cut off.
fn indented(ink: Ink, text: &str) -> Line {
    Line::new(ink, &format!("    {text}")).whole()
}

fn is_empty(value: &Value) -> bool {
    value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty)
}
