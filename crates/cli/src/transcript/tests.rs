//! Whole transcripts, as shown on a screen.

use forge_types::{
    ActionType, CommandResult, ErrorType, ExitStatus, FileChange, TodoItem, ToolResult, ToolResultKind,
};
use serde_json::json;

use super::*;

fn entry(entry_type: EntryType, content: &str) -> NormalizedEntry {
    NormalizedEntry { timestamp: None, entry_type, content: content.to_owned(), metadata: None }
}

fn say(text: &str) -> NormalizedEntry {
    entry(EntryType::AssistantMessage, text)
}

fn call(tool: &str, action_type: ActionType, status: ToolStatus) -> NormalizedEntry {
    entry(EntryType::ToolUse { tool_name: tool.to_owned(), action_type, status }, "")
}

fn bash(command: &str, output: Option<(&str, i32)>) -> NormalizedEntry {
    let result = output.map(|(output, code)| CommandResult {
        exit_status: Some(ExitStatus::ExitCode { code }),
        output: Some(output.to_owned()),
    });
    let status = match output {
        None => ToolStatus::Created,
        Some((_, 0)) => ToolStatus::Success,
        Some(_) => ToolStatus::Failed,
    };
    call("Bash", ActionType::CommandRun { command: command.to_owned(), result }, status)
}

fn edit(path: &str, changes: Vec<FileChange>) -> NormalizedEntry {
    call("Edit", ActionType::FileEdit { path: path.to_owned(), changes }, ToolStatus::Success)
}

fn screen(width: usize, colours: Colours, changes: &[(usize, NormalizedEntry)]) -> String {
    let mut transcript = Transcript::new(Page { width, colours });
    let mut out: String = changes.iter().map(|(index, entry)| transcript.take(*index, entry)).collect();
    out.push_str(&transcript.pause());
    out
}

#[test]
fn every_kind_of_entry_has_its_form() {
    let diff = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1,2 +1,3 @@\n-old\n+new\n+newer\n same\n";
    let todo = |content: &str, status: &str| TodoItem {
        content: content.to_owned(),
        status: status.to_owned(),
        priority: None,
    };
    let tool = ActionType::Tool {
        tool_name: "mcp:db:query".to_owned(),
        arguments: Some(json!({"table": "users"})),
        result: Some(ToolResult { r#type: ToolResultKind::Markdown, value: json!("3 rows\na\nb\nc\nd\ne") }),
    };
    let todos = vec![todo("Read", "completed"), todo("Write", "in_progress"), todo("Test", "pending")];
    let changes = [
        entry(EntryType::SystemMessage, "System initialized with model: opus"),
        entry(EntryType::Thinking, "The README greets nobody yet, so that is where I begin."),
        say("I will have a look at the project first, then change the greeting in it.\n\n- one\n- two\n"),
        bash("ls -la\nwc -l *", Some(("total 0\nREADME.md\n", 0))),
        bash("cargo test", Some(("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11", 101))),
        call("Read", ActionType::FileRead { path: "README.md".into() }, ToolStatus::Success),
        call("Read", ActionType::FileRead { path: "missing".into() }, ToolStatus::Failed),
        edit("src/main.rs", vec![FileChange::Edit { unified_diff: diff.into(), has_line_numbers: true }]),
        edit("new.txt", vec![FileChange::Write { content: "a\nb\n".into() }]),
        edit("old.txt", vec![FileChange::Delete]),
        edit("a.txt", vec![FileChange::Rename { new_path: "b.txt".into() }]),
        call("Grep", ActionType::Search { query: "fn main".into() }, ToolStatus::Success),
        call("WebFetch", ActionType::WebFetch { url: "https://example.org".into() }, ToolStatus::Success),
        call("mcp", tool, ToolStatus::Success),
        call(
            "TodoWrite",
            ActionType::TodoManagement { todos, operation: "write".into() },
            ToolStatus::Success,
        ),
        call("Task", ActionType::TaskCreate { description: "Look around".into() }, ToolStatus::Success),
        call(
            "ExitPlanMode",
            ActionType::PlanPresentation { plan: "1. this\n2. that".into() },
            ToolStatus::Success,
        ),
        call("LS", ActionType::Other { description: "LS: `.`".into() }, ToolStatus::Success),
        call(
            "Bash",
            ActionType::CommandRun { command: "rm -rf /".into(), result: None },
            ToolStatus::Denied { reason: Some("no".into()) },
        ),
        entry(EntryType::UserFeedback { denied_tool: "Bash".into() }, "use trash instead"),
        entry(EntryType::ErrorMessage { error_type: ErrorType::Other }, "API error: 500"),
        say("Done."),
    ];
    let changes: Vec<_> = changes.into_iter().enumerate().collect();
    insta::assert_snapshot!("every_kind", screen(60, Colours::Off, &changes));
    insta::assert_snapshot!("every_kind_in_colour", screen(60, Colours::On, &changes).replace('\u{1b}', "<"));
}

#[test]
fn text_that_grows_is_printed_once() {
    let changes = [
        (0, say("Hel")),
        (0, say("Hello the")),
        (0, say("Hello there, this is a text")),
        (0, say("Hello there, this is a text that grows.")),
        (0, say("Hello there, this is a text that grows.")),
    ];
    assert_eq!(screen(20, Colours::Off, &changes), "Hello there, this is\na text that grows.\n");
}

#[test]
fn a_result_that_comes_late_names_its_call() {
    let changes = [
        (0, bash("make one", None)),
        (1, bash("make two", None)),
        (0, bash("make one", Some(("built one", 0)))),
        (1, bash("make two", Some(("no rule", 2)))),
        (2, bash("make three", None)),
        (2, bash("make three", Some(("built three", 0)))),
    ];
    insta::assert_snapshot!(screen(60, Colours::Off, &changes), @r"
    $ make one
    $ make two
    ↳ $ make one
      built one
      exit 0
    ↳ $ make two
      no rule
      exit 2
    $ make three
      built three
      exit 0
    ");
}

#[test]
fn a_call_that_waits_for_a_person_prints_nothing_new() {
    let waiting = ToolStatus::PendingApproval {
        approval_id: "x".into(),
        requested_at: "t".into(),
        timeout_at: "t".into(),
    };
    let command = ActionType::CommandRun { command: "rm x".into(), result: None };
    let changes = [
        (0, call("Bash", command.clone(), ToolStatus::Created)),
        (0, call("Bash", command.clone(), waiting)),
        (0, call("Bash", command, ToolStatus::Created)),
        (0, bash("rm x", Some(("", 0)))),
    ];
    assert_eq!(screen(60, Colours::Off, &changes), "$ rm x\n  exit 0\n");
}

#[test]
fn a_call_described_better_at_its_end_is_printed_again() {
    let early = edit("", Vec::new());
    let EntryType::ToolUse { tool_name, action_type, .. } = early.entry_type else { panic!("no call") };
    let changes = [
        (0, call(&tool_name, action_type, ToolStatus::Created)),
        (0, edit("a.txt", vec![FileChange::Write { content: "x".into() }])),
    ];
    assert_eq!(screen(60, Colours::Off, &changes), "edit \nwrite a.txt +1\n");
}

#[test]
fn agents_cannot_move_the_cursor() {
    let changes = [
        (0, say("\u{1b}[2J\u{1b}[Hhacked\u{7}")),
        (1, bash("printf '\u{1b}[1A'\u{8}", Some(("\u{1b}]0;title\u{7}out\u{1b}[5A", 0)))),
        (2, entry(EntryType::ErrorMessage { error_type: ErrorType::Other }, "\u{9b}2Jbad")),
    ];
    let screen = screen(60, Colours::Off, &changes);
    assert!(screen.chars().all(|c| c == '\n' || !c.is_control()), "{screen:?}");
    assert_eq!(screen, "hacked\n\n$ printf ''\n  out\n  exit 0\n\n! bad\n");
}

#[test]
fn a_question_shows_everything_that_will_be_done() {
    let long = format!("echo {}\nrm -rf build", "x".repeat(80));
    let mut lines = question(&bash(&long, None));
    let diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n";
    lines.extend(question(&edit(
        "a",
        vec![FileChange::Edit { unified_diff: diff.into(), has_line_numbers: false }],
    )));
    let mut out = String::new();
    lines.iter().for_each(|line| line.put(Page { width: 40, colours: Colours::Off }, &mut out));
    insta::assert_snapshot!(out, @r"
    ? Bash asks to run
        echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
        rm -rf build
    ? Edit asks to change a
        --- a/a
        +++ b/a
        @@ -1 +1 @@
        -x
        +y
    ");
}

#[test]
fn memory_does_not_grow_with_the_log() {
    let mut transcript = Transcript::new(Page { width: 80, colours: Colours::Off });
    for index in 0..10_000 {
        transcript.take(index, &say("word"));
    }
    assert_eq!(transcript.shown.len(), REMEMBERED);
}
