//! The readable log of recorded agents, of the older server's log, and of arbitrary input.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use forge_run::fold::{Dialect, Fold, RunOutcome};
use forge_run::{Kind, Record};
use forge_types::{ApprovalId, EntryPatch, NormalizedEntry, PatchOp};
use pretty_assertions::assert_eq;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::stage::{context, json_of_words};

pub fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

pub fn record(kind: Kind, bytes: impl Into<Vec<u8>>) -> Record {
    Record { kind, at_ms: 1_700_000_000_000, bytes: bytes.into() }
}

/// The list a reader ends up with; fails where a reader would.
pub fn apply(patches: &[EntryPatch]) -> Vec<NormalizedEntry> {
    let mut list: Vec<NormalizedEntry> = Vec::new();
    for patch in patches {
        let entry = patch.entry.clone().expect("only a removal has no entry");
        match patch.op {
            PatchOp::Add => {
                assert_eq!(patch.index, list.len(), "entries are added at the end");
                list.push(entry);
            }
            PatchOp::Replace => list[patch.index] = entry,
        }
    }
    list
}

pub fn patches(dialect: Dialect, records: &[Record]) -> (Vec<EntryPatch>, RunOutcome) {
    let mut fold = Fold::new(dialect, &context(Path::new("/repo")));
    let mut out = Vec::new();
    for record in records {
        fold.push(record, &mut out);
    }
    fold.finish(&mut out);
    (out, fold.outcome().clone())
}

pub fn folded(dialect: Dialect, records: &[Record]) -> (Vec<NormalizedEntry>, RunOutcome) {
    let (patches, outcome) = patches(dialect, records);
    (apply(&patches), outcome)
}

/// A transcript as the journal would hold it: raw stdout lines, or `{"dir", "msg"}` exchanges.
pub fn transcript(file: &Path) -> Vec<Record> {
    let mut records = Vec::new();
    for line in fs::read_to_string(file).unwrap().split_inclusive('\n') {
        let exchange = serde_json::from_str::<Value>(line).ok().filter(|line| line["dir"].is_string());
        let (kind, bytes) = match exchange {
            None => (Kind::Stdout, line.to_owned()),
            Some(line) => match line["dir"].as_str() {
                Some("<") => (Kind::Stdout, format!("{}\n", line["msg"])),
                Some(">") => (Kind::Stdin, format!("{}\n", line["msg"])),
                _ => continue,
            },
        };
        records.push(record(kind, bytes));
    }
    if let Ok(stderr) = fs::read(file.with_extension("stderr")) {
        records.push(record(Kind::Stderr, stderr));
    }
    records
}

fn transcripts() -> Vec<PathBuf> {
    let files = recorded("claude");
    assert!(files.len() >= 14, "transcripts are missing");
    files
}

/// The transcripts of an agent.
pub fn recorded(agent: &str) -> Vec<PathBuf> {
    let files = fs::read_dir(data(agent)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|ext| ext == "jsonl")).collect();
    files.sort();
    files
}

#[test]
fn every_recorded_conversation_reads_well() {
    for file in transcripts() {
        let view = view(Dialect::Claude, &transcript(&file));
        insta::assert_json_snapshot!(file.file_stem().unwrap().to_str().unwrap(), view);
    }
}

/// Everything that a reader gets of a conversation.
pub fn view(dialect: Dialect, records: &[Record]) -> Value {
    let (entries, outcome) = folded(dialect, records);
    let verdict = outcome.verdict.as_ref().map(|verdict| format!("{verdict:?}"));
    json!({
        "entries": entries,
        "session_id": outcome.session_id,
        "summary": outcome.summary,
        "verdict": verdict,
        "tokens": outcome.tokens(),
        "usage": outcome.usage,
        "limit": outcome.limit.as_ref().map(|limit| (limit.reset_at, &limit.message)),
        "session_lost": outcome.session_lost,
        "transcript": outcome.transcript_tail.map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()),
    })
}

/// Frames of an older server's log socket: the raw chunks as records, or the entries a client ended up with.
fn frames(name: &str) -> Vec<Value> {
    let text = fs::read_to_string(data(&format!("older/{name}.jsonl"))).unwrap();
    let frames = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    frames.filter_map(|frame| frame["JsonPatch"].get(0).cloned()).collect()
}

fn older_records(name: &str) -> Vec<Record> {
    let chunk = |patch: Value| {
        let kind = if patch["value"]["type"] == "STDERR" { Kind::Stderr } else { Kind::Stdout };
        record(kind, patch["value"]["content"].as_str().unwrap())
    };
    frames(name).into_iter().map(chunk).collect()
}

fn older_entries(name: &str) -> Vec<Value> {
    let mut list = Vec::new();
    for patch in frames(name) {
        let index: usize =
            patch["path"].as_str().unwrap().strip_prefix("/entries/").unwrap().parse().unwrap();
        let entry = patch["value"]["content"].clone();
        if patch["op"] == "add" { list.insert(index, entry) } else { list[index] = entry }
    }
    list
}

#[test]
fn an_older_log_reads_as_it_did() {
    for (raw, normalized) in [("raw", "normalized"), ("raw_short", "normalized_short")] {
        let (ours, _) = folded(Dialect::Claude, &older_records(raw));
        let older = older_entries(normalized);
        // Standard error is shown when its first line is complete, so it may come later in the list.
        let sorted = |mut list: Vec<Value>| {
            list.sort_by_key(|entry| entry["entry_type"]["type"] != "error_message");
            list
        };
        let ours = sorted(ours.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect());
        let view = |list: &[Value]| {
            let pick = |entry: &Value| {
                let action = entry["entry_type"]["action_type"]["action"].clone();
                json!([entry["entry_type"]["type"], action, entry["content"]])
            };
            list.iter().map(pick).collect::<Vec<_>>()
        };
        assert_eq!(view(&ours), view(&sorted(older)));
        insta::assert_json_snapshot!(format!("older_{raw}"), ours);
    }
}

/// The statuses an entry went through.
pub fn statuses(patches: &[EntryPatch], index: usize) -> Vec<Value> {
    let of_entry = patches.iter().filter(|patch| patch.index == index);
    of_entry
        .map(|patch| serde_json::to_value(&patch.entry).unwrap()["entry_type"]["status"].clone())
        .collect()
}

#[test]
fn a_request_for_permission_is_shown_until_it_is_answered() {
    let pending = |request: &str| {
        json!({
            "status": "pending_approval", "approval_id": ApprovalId::of(context(Path::new("/repo")).run, request),
            "requested_at": "2023-11-14T22:13:20.000Z", "timeout_at": "2023-11-14T23:13:20.000Z",
        })
    };
    let created = json!({"status": "created"});
    let (denied, _) = patches(Dialect::Claude, &transcript(&data("claude/permission_deny.jsonl")));
    let id = "907fd74a-57f4-4c3d-89bd-8e4c69540689";
    let denial = json!({"status": "denied", "reason": "Forge says no"});
    assert_eq!(statuses(&denied, 3), [created.clone(), pending(id), denial]);
    let (allowed, _) = patches(Dialect::Claude, &transcript(&data("claude/permission_allow.jsonl")));
    let shown = statuses(&allowed, 3);
    assert_eq!(shown[1]["status"], "pending_approval");
    assert_eq!([&shown[0], &shown[2], &shown[3]], [&created, &created, &json!({"status": "success"})]);
}

#[test]
fn a_permission_nobody_gave_in_time_is_an_error() {
    let ask = json!({"type": "control_request", "request_id": "r", "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "tool_use_id": "t", "input": {"command": "ls"}}});
    let answer = json!({"type": "control_response", "response": {"request_id": "r", "response": {
        "behavior": "deny", "message": "Approval request timed out"}}});
    let records = [record(Kind::Stdout, format!("{ask}\n")), record(Kind::Stdin, format!("{answer}\n"))];
    let (entries, _) = folded(Dialect::Claude, &records);
    let texts: Vec<_> = entries.iter().map(|entry| entry.content.as_str()).collect();
    assert_eq!(texts, ["`ls`", "Approval timed out for tool Bash"]);
    assert_eq!(
        serde_json::to_value(&entries[0]).unwrap()["entry_type"]["status"],
        json!({"status": "timed_out"})
    );
}

#[test]
fn a_plain_program_in_the_claude_dialect_shows_every_line() {
    let text: String = (0..1000).map(|n| format!("line {n}\n")).collect();
    let (entries, _) = folded(Dialect::Claude, &[record(Kind::Stdout, text)]);
    assert_eq!(entries.len(), 1000);
    assert_eq!(entries[999].content, "line 999");
}

#[test]
fn a_line_that_is_too_long_is_noted_and_the_rest_is_read() {
    let mut bytes = vec![b'{'; 9 << 20];
    bytes.extend_from_slice(b"\nnext\n");
    for dialect in [Dialect::Claude, Dialect::Codex, Dialect::Text] {
        let (entries, _) = folded(dialect, &[record(Kind::Stdout, bytes.clone())]);
        let texts: Vec<_> = entries.iter().map(|entry| entry.content.trim_end()).collect();
        assert_eq!(texts, ["line of 9437184 bytes omitted from the readable log", "next"]);
    }
}

#[test]
fn a_long_streamed_answer_stays_linear() {
    let event = |event: Value| json!({"type": "stream_event", "event": event}).to_string() + "\n";
    let mut text = event(json!({"type": "message_start", "message": {"id": "m"}}));
    text += &event(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}));
    let piece = json!({"type": "content_block_delta", "index": 0, "delta": {"text": "word "}});
    text += &event(piece).repeat(40_000);
    let (patches, outcome) = patches(Dialect::Claude, &[record(Kind::Stdout, text)]);
    let bytes: usize =
        patches.iter().filter_map(|patch| patch.entry.as_ref()).map(|entry| entry.content.len()).sum();
    assert_eq!(apply(&patches)[0].content, "word ".repeat(40_000));
    assert!(bytes < 200_000 * 24, "{bytes} bytes of patches for 200,000 bytes of text");
    assert!(outcome.summary.unwrap().ends_with("..."));
}

/// Cuts `bytes` at the given positions.
pub fn chunks(bytes: &[u8], places: &[prop::sample::Index]) -> Vec<Record> {
    let mut places: Vec<_> = places.iter().map(|place| place.index(bytes.len() + 1)).collect();
    places.extend([0, bytes.len()]);
    places.sort_unstable();
    places.windows(2).map(|pair| record(Kind::Stdout, &bytes[pair[0]..pair[1]])).collect()
}

/// JSON of any shape made of the protocol's own words, so that every reader of a field meets every type.
fn confused_json() -> impl Strategy<Value = Value> {
    let words = [
        "type",
        "subtype",
        "message",
        "content",
        "id",
        "name",
        "input",
        "text",
        "thinking",
        "system",
        "init",
        "assistant",
        "user",
        "result",
        "stream_event",
        "event",
        "index",
        "delta",
        "content_block",
        "content_block_start",
        "tool_use",
        "content_block_delta",
        "message_start",
        "tool_result",
        "tool_use_id",
        "is_error",
        "control_request",
        "request",
        "request_id",
        "can_use_tool",
        "control_response",
        "response",
        "behavior",
        "deny",
        "approval_response",
        "Edit",
        "approval_status",
        "status",
        "denied",
        "timed_out",
        "call_id",
        "usage",
        "session_id",
        "model",
        "Bash",
        "command",
        "file_path",
        "old_string",
        "new_string",
        "MultiEdit",
        "edits",
        "TodoWrite",
        "todos",
        "parent_tool_use_id",
        "errors",
    ];
    json_of_words(&words)
}

/// A line that reaches the reader of its type.
fn confused_line() -> impl Strategy<Value = String> {
    let kinds = [
        "system",
        "assistant",
        "user",
        "result",
        "stream_event",
        "control_request",
        "approval_response",
        "?",
    ];
    (prop::sample::select(kinds.to_vec()), confused_json(), confused_json(), confused_json()).prop_map(
        |(kind, inner, block, rest)| {
            let content = json!([{"type": "tool_use", "id": "id", "name": "Edit", "input": block}, inner]);
            let mut line = match rest {
                Value::Object(line) => line,
                other => [("message".to_owned(), other)].into_iter().collect(),
            };
            line.insert("type".into(), kind.into());
            line.entry("message").or_insert_with(|| json!({"content": content}));
            line.entry("event").or_insert(inner.clone());
            line.entry("request").or_insert_with(|| json!({"subtype": "can_use_tool", "tool_use_id": "id"}));
            Value::Object(line).to_string()
        },
    )
}

fn kinds() -> impl Strategy<Value = Kind> {
    prop::sample::select(vec![Kind::Stdout, Kind::Stderr, Kind::Stdin, Kind::Note])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic_and_the_same_records_give_the_same_patches(
        parts in prop::collection::vec((kinds(), prop::collection::vec(any::<u8>(), 0..80), 0..3000i64), 0..20),
    ) {
        let mut at_ms = 0;
        let records: Vec<_> = parts.into_iter().map(|(kind, bytes, gap)| {
            at_ms += gap;
            Record { kind, at_ms, bytes }
        }).collect();
        for dialect in [Dialect::Claude, Dialect::Codex, Dialect::Text, Dialect::Script] {
            let first = patches(dialect, &records);
            apply(&first.0);
            prop_assert_eq!(first, patches(dialect, &records));
        }
    }

    #[test]
    fn no_protocol_line_panics_and_chunk_boundaries_do_not_matter(
        lines in prop::collection::vec(confused_line(), 1..12),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let bytes = lines.join("\n").into_bytes();
        let whole = folded(Dialect::Claude, &[record(Kind::Stdout, bytes.clone())]);
        prop_assert_eq!(&whole, &folded(Dialect::Claude, &chunks(&bytes, &places)));
        let both = [record(Kind::Stdout, bytes.clone()), record(Kind::Stdin, bytes)];
        folded(Dialect::Claude, &both);
    }

    #[test]
    fn chunk_borders_do_not_change_a_conversation(
        file in prop::sample::select(transcripts()),
        places in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let stdout = transcript(&file).into_iter().filter(|record| record.kind == Kind::Stdout);
        let bytes: Vec<u8> = stdout.flat_map(|record| record.bytes).collect();
        let whole = folded(Dialect::Claude, &[record(Kind::Stdout, bytes.clone())]);
        prop_assert_eq!(whole, folded(Dialect::Claude, &chunks(&bytes, &places)));
    }
}

/// A question of an older version: only the hook names the call.
fn older_question(hooked: bool) -> String {
    let input = json!({"command": "rm -rf build"});
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": input});
    let hook = json!({"subtype": "hook_callback", "callback_id": "tool_approval", "tool_use_id": "toolu_1",
                      "input": {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input}});
    let ask = json!({"subtype": "can_use_tool", "tool_name": "Bash", "input": input});
    let mut lines = vec![json!({"type": "assistant", "message": {"id": "m", "content": [block]}})];
    if hooked {
        lines.push(json!({"type": "control_request", "request_id": "r1", "request": hook}));
    }
    lines.push(json!({"type": "control_request", "request_id": "r2", "request": ask}));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_denied_tool_of_an_older_claude_is_one_entry_and_never_a_success() {
    let deny = json!({"type": "control_response", "response": {"subtype": "success", "request_id": "r2",
        "response": {"behavior": "deny", "message": "not that folder", "interrupt": false}}});
    let end = json!({"type": "result", "subtype": "success", "is_error": false, "result": "ok"});
    for hooked in [true, false] {
        let (entries, _) = folded(
            Dialect::Claude,
            &[
                record(Kind::Stdout, older_question(hooked)),
                record(Kind::Stdin, format!("{deny}\n")),
                record(Kind::Stdout, format!("{end}\n")),
            ],
        );
        let entries: Vec<_> = entries.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect();
        let tools: Vec<_> =
            entries.iter().filter(|entry| entry["entry_type"]["type"] == "tool_use").collect();
        assert_eq!(tools.len(), 1, "hooked: {hooked}: {entries:#?}");
        assert_eq!(tools[0]["entry_type"]["status"]["status"], "denied");
    }
}

#[test]
fn a_denial_that_only_the_result_reports_is_a_denial() {
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "ls"}});
    let lines = [
        json!({"type": "assistant", "message": {"id": "m", "content": [block]}}),
        json!({"type": "result", "is_error": false, "result": "ok",
               "permission_denials": [{"tool_name": "Bash", "tool_use_id": "toolu_1", "tool_input": {}}]}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (entries, _) = folded(Dialect::Claude, &[record(Kind::Stdout, text)]);
    let shown = serde_json::to_value(&entries[0]).unwrap();
    assert_eq!(shown["entry_type"]["status"]["status"], "denied");
}

#[test]
fn amp_shows_its_prompt_its_commands_and_its_usage() {
    let usage = json!({"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": 5});
    let said = |id: &str, block: Value| json!({"type": "assistant", "message": {"id": id, "model": "m", "usage": usage, "content": [block]}});
    let lines = [
        json!({"type": "user", "message": {"content": [{"type": "text", "text": "Fix it"}]}}),
        said("a", json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"cmd": "ls"}})),
        said("a", json!({"type": "text", "text": "Looking."})),
        said("b", json!({"type": "text", "text": "Done."})),
        json!({"type": "result", "is_error": false, "result": "Done."}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (entries, outcome) = folded(Dialect::Amp, &[record(Kind::Stdout, text.clone())]);
    let entries: Vec<_> = entries.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect();
    assert_eq!(entries[0]["entry_type"]["type"], "user_message");
    assert_eq!(entries[2]["entry_type"]["action_type"]["action"], "command_run");
    assert_eq!((outcome.tokens().input_tokens, outcome.tokens().output_tokens), (Some(20), Some(4)));
    let (entries, _) = folded(Dialect::Claude, &[record(Kind::Stdout, text)]);
    assert!(entries.iter().all(|entry| entry.content != "Fix it"), "Claude's readers know the prompt");
}

#[test]
fn a_request_to_log_in_is_shown_once_and_is_in_the_outcome() {
    let words = "Not logged in · Please run /login";
    let lines = [
        json!({"type": "assistant", "message": {"id": "m", "model": "<synthetic>", "content": [{"type": "text", "text": words}]}}),
        json!({"type": "result", "subtype": "success", "is_error": true, "result": words}),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let (entries, outcome) = folded(Dialect::Claude, &[record(Kind::Stdout, text)]);
    let entries: Vec<_> = entries.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect();
    assert_eq!(entries.len(), 1, "{entries:#?}");
    assert_eq!(entries[0]["entry_type"]["error_type"]["type"], "setup_required");
    assert!(outcome.setup_required);
    let stderr = "Error: Authentication required. Please run 'amp login' first.\n";
    for dialect in [Dialect::Amp, Dialect::Codex, Dialect::Acp, Dialect::Cursor] {
        let (entries, outcome) = folded(dialect, &[record(Kind::Stderr, stderr)]);
        let shown = serde_json::to_value(&entries[0]).unwrap();
        assert_eq!(shown["entry_type"]["error_type"]["type"], "setup_required", "{dialect:?}");
        assert!(outcome.setup_required, "{dialect:?}");
    }
    let done = json!({"type": "result", "is_error": false, "result": "ok"});
    let records = [record(Kind::Stderr, stderr), record(Kind::Stdout, format!("{done}\n"))];
    assert!(!folded(Dialect::Claude, &records).1.setup_required, "it came through");
}

#[test]
fn a_request_to_log_in_before_a_working_turn_is_not_why_it_failed() {
    let stderr = record(Kind::Stderr, "mcp server 'x': authentication required\n");
    let said = json!({"type": "assistant", "message": {"id": "m", "model": "m", "content": [{"type": "text", "text": "Looking."}]}});
    let said = record(Kind::Stdout, format!("{said}\n"));
    let end = json!({"type": "result", "is_error": true, "result": "API Error: 500 Overloaded"});
    let end = record(Kind::Stdout, format!("{end}\n"));
    let wants_setup = |records: &[&Record]| {
        let records: Vec<Record> = records.iter().map(|record| (*record).clone()).collect();
        folded(Dialect::Claude, &records).1.setup_required
    };
    assert!(wants_setup(&[&stderr]), "it never came to its turn");
    assert!(wants_setup(&[&said, &stderr]), "the turn broke off there");
    assert!(!wants_setup(&[&stderr, &said]), "it continued");
    assert!(!wants_setup(&[&stderr, &said, &record(Kind::Stderr, "more\n"), &end]), "it continued");
}

#[test]
fn an_agent_that_prints_nothing_counts_as_silent() {
    let greeting = record(Kind::Stdout, "{\"type\":\"system\",\"subtype\":\"init\"}\n");
    for dialect in [Dialect::Claude, Dialect::Amp] {
        for records in [vec![], vec![record(Kind::Stderr, "warning\n")]] {
            let outcome = folded(dialect, &records).1;
            assert_eq!((outcome.silent, outcome.verdict), (true, None), "{dialect:?}");
        }
        assert!(!folded(dialect, std::slice::from_ref(&greeting)).1.silent, "{dialect:?}");
    }
}
