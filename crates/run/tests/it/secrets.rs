//! Secrets of an agent's environment: the agent and its journal have them, its readers do not.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use forge_run::fold::{Dialect, Fold, FoldContext, RunOutcome, Verdict};
use forge_run::{Kind, Record, Secrets, Tail, View, seal};
use forge_types::EntryPatch;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::fold::{apply, record};
use crate::stage::{Stage, context, drain, exit_of, text_of};

const KEY: &str = "sk-demo-0123456789";

fn secrets(value: &str) -> Secrets {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("secrets"), value).unwrap();
    Secrets::read(dir.path()).unwrap()
}

fn patches(dialect: Dialect, value: &str, records: &[Record]) -> (Vec<EntryPatch>, RunOutcome) {
    let mut fold =
        Fold::new(dialect, &FoldContext { secrets: secrets(value), ..context(Path::new("/repo")) });
    let mut out = Vec::new();
    records.iter().for_each(|record| fold.push(record, &mut out));
    fold.finish(&mut out);
    (out, fold.outcome().clone())
}

fn line(message: &Value) -> Record {
    record(Kind::Stdout, format!("{message}\n"))
}

/// Fails if more of the secret is shown than a short prefix.
fn assert_hidden(patches: &[EntryPatch], outcome: &RunOutcome) {
    for patch in patches {
        let shown = serde_json::to_string(patch.entry.as_ref().unwrap()).unwrap();
        assert!(!shown.contains(&KEY[..4]) && !shown.contains("456789"), "{shown}");
    }
    let shown = format!("{outcome:?}");
    assert!(!shown.contains(&KEY[..4]) && !shown.contains("456789"), "{shown}");
}

#[test]
fn colours_inside_a_secret_do_not_reveal_it() {
    let text = format!("\u{1b}[31m{}\u{1b}[0m{}\n", &KEY[..9], &KEY[9..]);
    let (shown, outcome) = patches(Dialect::Text, KEY, &[record(Kind::Stdout, text)]);
    assert_hidden(&shown, &outcome);
}

#[tokio::test]
async fn the_agent_has_its_secret_and_nobody_else_sees_it() {
    let stage = Stage::new();
    let mut spec = stage.spec(
        "printf %s \"$DEMO_API_KEY\" > mine; echo \"whole $DEMO_API_KEY\"; echo \"error $DEMO_API_KEY\" >&2
         printf 'half %s' \"${DEMO_API_KEY%456789}\"; while [ ! -e go ]; do sleep 0.02; done; echo 456789",
    );
    spec.env = vec![("DEMO_API_KEY".into(), KEY.into()), ("NAME".into(), "no secret at all".into())];
    let live = stage.launch_spec(&spec).await;
    let file = stage.dir().join("secrets");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!fs::read_to_string(&file).unwrap().contains("no secret"));

    let mut tail = Tail::new(&stage.dir(), View::Masked, Some(live.progress()));
    let mut seen = Vec::new();
    while !text_of(Kind::Stdout, &seen).contains("half") || text_of(Kind::Stderr, &seen).is_empty() {
        seen.extend(tail.next().await.unwrap().expect("more"));
    }
    assert_eq!(text_of(Kind::Stdout, &seen), "whole ***\nhalf ***");
    fs::write(stage.path("go"), "").unwrap();
    exit_of(&live).await;
    seen.extend(drain(&mut tail).await);
    assert_eq!(text_of(Kind::Stdout, &seen), "whole ***\nhalf ******\n");
    assert_eq!(text_of(Kind::Stderr, &seen), "error ***\n");

    assert_eq!(fs::read_to_string(stage.path("mine")).unwrap(), KEY);
    assert_eq!(text_of(Kind::Stdout, &stage.records()), format!("whole {KEY}\nhalf {KEY}\n"));
    seal(&stage.dir()).await.unwrap();
    assert_eq!(drain(&mut Tail::new(&stage.dir(), View::Masked, None)).await, seen, "as it was while it ran");
}

#[test]
fn a_secret_that_comes_word_by_word_is_never_shown() {
    let event = |event: Value| line(&json!({"type": "stream_event", "event": event, "session_id": "s"}));
    let text = format!("The key is {KEY}, I think.");
    let mut records = vec![
        event(json!({"type": "message_start", "message": {"id": "m"}})),
        event(
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ),
    ];
    // After the first three bytes, which are not masked yet.
    records.extend(text.as_bytes().chunks(3).map(|piece| {
        let piece = std::str::from_utf8(piece).unwrap();
        event(json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": piece}}))
    }));
    let (out, outcome) = patches(Dialect::Claude, KEY, &records);
    assert_hidden(&out, &outcome);
    assert_eq!(outcome.summary.as_deref(), Some("The key is ***, I think."));
    assert_eq!(apply(&out).last().unwrap().content, "The key is ***, I think.");
}

#[test]
fn tool_results_and_cut_texts_are_masked() {
    let call =
        json!({"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": format!("echo {KEY}")}});
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": format!("{KEY}\n")});
    let long = format!("{}{KEY}", "x".repeat(1024 - 25));
    let records = [
        line(&json!({"type": "assistant", "message": {"id": "m", "content": [call]}, "session_id": "s"})),
        line(&json!({"type": "user", "message": {"content": [result]}, "session_id": "s"})),
        // Escaped in a way that a search for the value does not find.
        record(
            Kind::Stdout,
            format!("{{\"type\":\"strange\",\"long\":\"{}\"}}\n", long.replace('k', "\\u006b")),
        ),
        record(Kind::Stdout, format!("no JSON but {KEY}\n")),
        record(Kind::Stderr, format!("error {KEY}\n")),
        record(Kind::Note, format!("stopped: `{KEY}`\n")),
        line(
            &json!({"type": "result", "subtype": "error", "is_error": true, "result": format!("bad {KEY}")}),
        ),
    ];
    let (out, outcome) = patches(Dialect::Claude, KEY, &records);
    assert_hidden(&out, &outcome);
    assert!(serde_json::to_string(&apply(&out)).unwrap().contains("echo ***"));
    assert_eq!(outcome.verdict, Some(Verdict::Failed { message: "bad ***".into() }));
}

#[test]
fn a_secret_that_looks_like_a_number_changes_no_outcome() {
    let result = json!({"type": "result", "subtype": "success", "is_error": false, "duration_ms": 12_345_678,
                        "result": "12345678", "session_id": "s"});
    let (_, outcome) = patches(Dialect::Claude, "12345678", &[line(&result)]);
    assert_eq!(outcome.verdict, Some(Verdict::Success));
}

#[test]
fn plain_text_and_scripts_show_no_secret() {
    let (front, back) = KEY.split_at(7);
    let records = [
        record(Kind::Stdout, format!("one {KEY}\ntwo {front}")),
        record(Kind::Stderr, format!("\u{1b}[31m{front}\u{1b}[0m{back}\n")),
        record(Kind::Stdout, format!("{back}\n")),
    ];
    let (out, outcome) = patches(Dialect::Text, KEY, &records);
    assert_hidden(&out, &outcome);
    assert_eq!(outcome.transcript_tail.as_deref(), Some("one ***\ntwo ***\n***\none ***\ntwo ***"));
    let (out, outcome) = patches(Dialect::Script, KEY, &[records[0].clone(), records[2].clone()]);
    assert_eq!((out.len(), outcome.transcript_tail.as_deref()), (0, Some("one ***\ntwo ******")));
}
