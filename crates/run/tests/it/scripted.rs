//! The scripted agent, end to end: a prompt in, files and a readable log out.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use forge_run::agents::scripted_agent;
use forge_run::fold::{Dialect, Fold, RunOutcome, Verdict};
use forge_run::{Kind, Record};
use forge_types::{EntryPatch, PatchOp};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stage::context;

struct Worked {
    dir: TempDir,
    code: ExitCode,
    entries: Vec<Value>,
    outcome: RunOutcome,
    raw: String,
}

fn work_in(dir: TempDir, prompt: &str) -> Worked {
    let mut raw = Vec::new();
    let code = scripted_agent(prompt.as_bytes(), &mut raw, dir.path());
    let mut fold = Fold::new(Dialect::Claude, &context(dir.path()));
    let mut out: Vec<EntryPatch> = Vec::new();
    fold.push(&Record { kind: Kind::Stdout, at_ms: 0, bytes: raw.clone() }, &mut out);
    fold.finish(&mut out);
    let mut entries = Vec::new();
    for patch in out {
        let entry = serde_json::to_value(patch.entry).unwrap();
        if patch.op == PatchOp::Add { entries.push(entry) } else { entries[patch.index] = entry }
    }
    Worked { dir, code, entries, outcome: fold.outcome().clone(), raw: String::from_utf8(raw).unwrap() }
}

fn work(prompt: &str) -> Worked {
    work_in(tempfile::tempdir().unwrap(), prompt)
}

impl Worked {
    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.dir.path().join(path)).unwrap()
    }

    fn tool(&self, index: usize) -> &Value {
        &self.entries[index]["entry_type"]
    }
}

#[test]
fn directives_are_carried_out_in_order() {
    let done = work(
        "think hmm\nsay hello\nwrite src/a.txt one\\ntwo\\n\nappend src/a.txt three\nrun cat src/a.txt; exit 3\n\
         this line is no directive\ndelete src/a.txt",
    );
    assert_eq!(done.code, ExitCode::SUCCESS);
    let contents: Vec<_> = done.entries.iter().map(|entry| entry["content"].as_str().unwrap()).collect();
    assert_eq!(
        contents,
        [
            "System initialized with model: scripted",
            "hmm",
            "hello",
            "`src/a.txt`",
            "`src/a.txt`",
            "`cat src/a.txt; exit 3`",
            "this line is no directive",
            "`rm src/a.txt`"
        ]
    );
    assert_eq!(done.tool(3)["status"]["status"], "success");
    assert_eq!(
        done.tool(5)["action_type"]["result"],
        json!({"exit_status": {"type": "exit_code", "code": 3}, "output": "Exit code 3\none\ntwo\nthree"})
    );
    assert_eq!(done.tool(5)["status"]["status"], "failed");
    assert!(!done.dir.path().join("src/a.txt").exists());
    assert_eq!(done.outcome.verdict, Some(Verdict::Success));
    assert_eq!(done.outcome.summary.as_deref(), Some("this line is no directive"));
    assert_eq!(done.outcome.tokens().output_tokens, Some(5));
    assert!(done.outcome.session_id.unwrap().starts_with("scripted-"));
}

#[test]
fn a_prompt_without_directives_changes_nothing() {
    let done = work("Add a login page\n\nUse OAuth");
    assert_eq!(fs::read_dir(done.dir.path()).unwrap().count(), 0);
    assert_eq!(done.entries[1]["content"], "I was asked: Add a login page");
    assert_eq!(done.outcome.verdict, Some(Verdict::Success));
}

#[test]
fn a_review_comment_changes_the_line_it_quotes() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("greet.py"), "import sys\n\n\nprint(\"Hello\")").unwrap();
    let comment = |line: usize, quoted: &str, text: &str| {
        format!("{line}. `greet.py`, line {line}:\n\n   ```\n   {quoted}\n   ```\n\n   {text}\n\n")
    };
    let review = "Please address these 3 review comments on your changes:\n\n".to_owned()
        + &comment(1, "import sys", "run only what is needed")
        + &comment(4, "print(\"Hello\")", "\"Hello\" should be \"Good morning\"")
        + &comment(9, "gone()", "Why?");
    let done = work_in(dir, &review);
    assert_eq!(
        done.read("greet.py"),
        "import sys  # run only what is needed\n\n\nprint(\"Good morning\")",
        "what a comment says is no directive"
    );
    assert_eq!(done.tool(2)["action_type"]["action"], "file_edit");
    assert_eq!(fs::read_dir(done.dir.path()).unwrap().count(), 1);
    assert!(done.outcome.summary.unwrap().contains("greet.py, line 9"));
}

#[test]
fn nothing_outside_the_directory_is_touched() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    fs::write(&secret, "keep").unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(outside.path(), dir.path().join("door")).unwrap();
    std::os::unix::fs::symlink(&secret, dir.path().join("window")).unwrap();
    let absolute = secret.display();
    let done = work_in(
        dir,
        &format!(
            "write {absolute} x\nwrite ../x x\ndelete {absolute}\nwrite door/new x\nappend window x\ndelete door/secret"
        ),
    );
    for index in 1..=6 {
        assert_eq!(done.tool(index)["status"]["status"], "failed", "{}", done.entries[index]);
    }
    assert_eq!(fs::read_to_string(&secret).unwrap(), "keep");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);
    assert!(!Path::new(done.dir.path()).parent().unwrap().join("x").exists());
}

#[test]
fn failures_and_crashes_differ() {
    let failed = work("say trying\nfail no such luck\nsay never");
    assert_eq!(failed.code, ExitCode::FAILURE);
    assert_eq!(failed.outcome.verdict, Some(Verdict::Failed { message: "no such luck".into() }));
    assert_eq!(failed.outcome.summary.as_deref(), Some("trying"));
    let crashed = work("exit 7\nsay never");
    assert_eq!((crashed.code, crashed.outcome.verdict), (ExitCode::from(7), None));
    let ended = work("exit 0\nsay never");
    assert_eq!((ended.code, ended.outcome.verdict), (ExitCode::SUCCESS, Some(Verdict::Success)));
}

#[test]
fn raw_lines_have_the_size_asked_for() {
    let done = work("lines 500 40");
    let lines: Vec<_> = done.raw.lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(lines.len(), 500);
    assert!(lines.iter().all(|line| line.len() == 40));
    assert_eq!(done.entries.len(), 501);
}

#[test]
fn an_edit_replaces_a_unique_text_and_a_todo_list_is_shown_as_one() {
    let done = work(
        "write a.py one = 1\\ntwo = 2\\n\nedit a.py two = 2 => two = 1 + one\\nthree = 3\nedit a.py = => :=\n\
         edit a.py nothing here\ntodo *plan; >write it ; ; test",
    );
    assert_eq!(done.read("a.py"), "one = 1\ntwo = 1 + one\nthree = 3\n");
    let edited = done.tool(2);
    assert_eq!(
        (&edited["action_type"]["action"], &edited["status"]["status"]),
        (&json!("file_edit"), &json!("success"))
    );
    assert_eq!(done.tool(3)["status"]["status"], "failed", "it occurs more than once");
    assert_eq!(done.entries[4]["content"], "edit a.py nothing here");
    let todos = done.tool(5)["action_type"]["todos"].as_array().unwrap();
    let shown: Vec<_> = todos
        .iter()
        .map(|todo| (todo["content"].as_str().unwrap(), todo["status"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [("plan", "completed"), ("write it", "in_progress"), ("test", "pending")]);
}
