use pretty_assertions::assert_eq;

use super::*;

const FRESH: &str = include_str!("../../../run/tests/data/claude/fresh.jsonl");
const RESUMED: &str = include_str!("../../../run/tests/data/claude/resume.jsonl");
const CODEX: &str = include_str!("../../tests/data/ledger/codex-exec.jsonl");
const CODEX_RESUMED: &str = include_str!("../../tests/data/ledger/codex-exec-resume.jsonl");
const OPENCODE: &str = include_str!("../../tests/data/ledger/opencode-run.jsonl");

fn read_all(reader: &mut Reader, text: &str) -> Vec<Figure> {
    text.lines().filter_map(|line| reader.read(line)).collect()
}

fn used(input: i64, output: i64, cache_read: i64) -> Usage {
    Usage { input_tokens: input, output_tokens: output, cache_read_tokens: cache_read, ..Usage::default() }
}

fn sums(found: &[Figure]) -> Vec<(&str, Usage)> {
    let sums = found.iter().filter_map(|found| match found {
        Figure::Sum(calls) => Some(calls),
        _ => None,
    });
    sums.flatten().map(|call| (call.model.as_str(), call.usage)).collect()
}

#[test]
fn a_message_has_one_key_in_all_of_its_lines_and_the_result_sums_up() {
    let found = read_all(&mut Reader::default(), FRESH);
    let keys = found.iter().filter_map(|found| match found {
        Figure::Call(call) => Some((call.key.as_str(), call.usage)),
        _ => None,
    });
    let [first, again, last] = keys.collect::<Vec<_>>().try_into().unwrap();
    assert!(first == again && first.0 != last.0 && first.1 == used(234, 1, 1000), "{first:?} {last:?}");
    let Some(Figure::Sum(calls)) = found.last() else { panic!("{found:?}") };
    let cost = Usage { cost_microusd: Some(6140), ..used(468, 112, 2000) };
    assert_eq!((calls.len(), calls[0].usage, calls[0].latency_ms), (1, cost, Some(1803)));
    assert_eq!(calls[0].at.unwrap().to_string(), "2026-11-15T19:55:12.443Z");
}

#[test]
fn a_new_process_of_a_session_begins_at_nothing_and_a_further_turn_does_not() {
    let mut reader = Reader::default();
    let found = [read_all(&mut reader, FRESH), read_all(&mut reader, RESUMED)].concat();
    let cost = Usage { cost_microusd: Some(6140), ..used(468, 112, 2000) };
    assert_eq!(sums(&found), [("claude-opus-4-8[1m]", cost), ("claude-opus-4-8", cost)]);

    let turn = |usage: i64, total: i64, haiku: i64| {
        format!(
            r#"{{"type":"result","session_id":"s","usage":{{"input_tokens":{usage}}},"modelUsage":{{"opus":{{"inputTokens":{total}}},"haiku":{{"inputTokens":{haiku}}}}}}}"#
        )
    };
    let mut reader = Reader::default();
    let lines = [turn(100, 100, 5), turn(40, 140, 5), turn(200, 200, 9), "noise".to_owned()];
    let found = read_all(&mut reader, &lines.join("\n"));
    let input = |model, tokens| (model, used(tokens, 0, 0));
    assert_eq!(
        sums(&found),
        [input("haiku", 5), input("opus", 100), input("opus", 40), input("haiku", 9), input("opus", 200)]
    );
}

#[test]
fn a_turn_that_failed_before_its_first_call_takes_nothing_back() {
    let mut reader = Reader::default();
    let line = r#"{"type":"result","session_id":"s","is_error":true,"usage":{"input_tokens":0},"modelUsage":{},"total_cost_usd":0}"#;
    assert_eq!(reader.read(line), None);
}

#[test]
fn codex_tells_totals_of_a_thread_and_opencode_steps() {
    let mut reader = Reader::default();
    let found = [read_all(&mut reader, CODEX), read_all(&mut Reader::default(), CODEX_RESUMED)].concat();
    let [Figure::Total(first), Figure::Total(second)] = &found[..] else { panic!("{found:?}") };
    assert_eq!(first.usage, Usage { reasoning_tokens: 14, ..used(468, 112, 2000) });
    assert_eq!(second.usage.since(first.usage), first.usage, "the same again was added");
    assert!(first.session == second.session && first.key != second.key);

    let rollout = r#"{"timestamp":"2026-11-16T10:00:00Z","type":"session_meta","payload":{"id":"c","cwd":"/w"}}
{"timestamp":"2026-11-16T10:00:01Z","type":"turn_context","payload":{"model":"gpt-5-codex"}}
{"timestamp":"2026-11-16T10:00:02Z","type":"event_msg","payload":{"type":"token_count","info":null}}
{"timestamp":"2026-11-16T10:00:03Z","type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":2}}}}"#;
    let found = read_all(&mut Reader::default(), rollout);
    let [Figure::Total(call)] = &found[..] else { panic!("{found:?}") };
    assert_eq!((call.model.as_str(), call.usage), ("gpt-5-codex", used(6, 2, 4)));
    assert_eq!(call.at.unwrap().to_string(), "2026-11-16T10:00:03.000Z");

    let found = read_all(&mut Reader::default(), OPENCODE);
    let [Figure::Call(first), Figure::Call(second)] = &found[..] else { panic!("{found:?}") };
    let step = Usage { reasoning_tokens: 7, cost_microusd: Some(1842), ..used(234, 56, 1000) };
    assert_eq!((first.usage, second.usage), (step, step));
    assert_ne!(first.key, second.key);
}

#[test]
fn events_are_read_as_json_and_as_words() {
    let lines = r#"{"timestamp":"2026-11-16T10:00:00Z","worker_id":"a","event":"api_call","latency_ms":900}
{"timestamp":"2026-11-16T10:00:01Z","worker_id":"a","event":"cost_incurred","task_id":"bd-1","amount":0.25,"currency":"USD","tokens":{"input":10,"output":3}}
{"timestamp":"2026-11-16T10:00:02Z","worker_id":"a","event":"task_completed","task_id":"bd-1","tokens_used":{"input":10,"output":3}}
2026-11-16T11:00:00Z level=info worker_id=a event=cost_incurred task_id=bd-2 amount=0.5 currency=EUR tokens_in=7 tokens_out=1
2026-11-16T11:00:00Z level=info worker_id=a event=task_completed task_id=bd-3 tokens_in=8 tokens_out=2
2026-11-16T11:00:00Z this is a sentence"#;
    let found = read_all(&mut Reader::default(), lines);
    let short = found.iter().map(|found| match found {
        Figure::Call(call) => (call.bead.as_deref().unwrap(), call.usage, call.latency_ms),
        other => panic!("{other:?}"),
    });
    let dollars = Usage { cost_microusd: Some(250_000), ..used(10, 3, 0) };
    assert_eq!(
        short.collect::<Vec<_>>(),
        [("bd-1", dollars, Some(900)), ("bd-2", used(7, 1, 0), None), ("bd-3", used(8, 2, 0), None)]
    );
}

#[test]
fn names_of_other_providers_are_understood() {
    let line = r#"{"type":"assistant","session_id":"s","message":{"id":"m","model":"deepseek","usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_cache_hit_tokens":4}},"bead_id":"bd-9"}"#;
    let Some(Figure::Call(call)) = Reader::default().read(line) else { panic!() };
    assert_eq!((call.usage, call.bead.as_deref()), (used(6, 2, 4), Some("bd-9")));
}
