//! `forge batch`: many tasks from a file, side by side.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use forge_tests::{Proxy, Terminal, TestForge, Treatment, await_file, err, out, output, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

fn batch(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.arg("batch").args(args).current_dir(repo).stdin(Stdio::null());
    command
}

/// Twenty scripted tasks; the seventh fails.
fn twenty() -> String {
    let task = |number: usize| match number {
        7 => format!("Task {number}\nfail on purpose"),
        _ => format!("Task {number}\nwrite {number}.txt one\\ntwo\\n\nsay done"),
    };
    (1..=20).map(task).collect::<Vec<_>>().join("\n---\n")
}

#[tokio::test]
async fn twenty_tasks_work_side_by_side_and_are_summed_up() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    std::fs::write(forge.dir().join("tasks.md"), twenty()).unwrap();
    let done = output(batch(&forge, &repo, &["../tasks.md", "-x", "SCRIPTED"])).await;
    assert_eq!(done.status.code(), Some(1), "one failed: {}", err(&done));
    let told = out(&done);
    assert_eq!(told.lines().filter(|line| line.starts_with("started ")).count(), 20, "{told}");
    assert_eq!(told.lines().filter(|line| line.starts_with("completed ")).count(), 19, "{told}");
    assert!(err(&done).contains("new project repo") && !told.contains('\u{1b}'), "{told}");
    let table: Vec<&str> = told.lines().skip_while(|line| !line.starts_with("ID ")).skip(1).collect();
    assert_eq!(table.len(), 20, "{told}");
    for (row, number) in table.iter().zip(1..) {
        let (how, files) = if number == 7 { ("failed", "no changes") } else { ("completed", "1 file +2 -0") };
        assert!(
            row.ends_with(&format!("Task {number}")) && row.contains(how) && row.contains(files),
            "{row}"
        );
    }
    let attempts = forge.get("/api/task-attempts").await.data();
    let known: BTreeSet<String> =
        attempts.as_array().unwrap().iter().map(|attempt| text(&attempt["id"])[..8].to_owned()).collect();
    let shown: BTreeSet<String> = table.iter().map(|row| row[..8].to_owned()).collect();
    assert_eq!(shown, known);
}

#[tokio::test]
async fn no_more_work_at_a_time_than_allowed_and_json_tells_what_came_of_them() {
    let forge = TestForge::start().await;
    let (_, repo) = forge.project("repo").await;
    // Each finds the marks of those that are at work beside it.
    let script = format!(
        "m={}/marks; mkdir -p $m; touch $m/$$; ls $m | wc -l >> $m.log; sleep 0.2; rm $m/$$",
        forge.dir().display()
    );
    let tasks: Vec<Value> = (1..=6)
        .map(|number| json!({"title": format!("T{number}"), "prompt": script, "labels": ["x"]}))
        .collect();
    std::fs::write(repo.join("tasks.json"), json!(tasks).to_string()).unwrap();
    let done = output(batch(&forge, &repo, &["tasks.json", "--jobs", "2", "-x", "SHELL", "--json"])).await;
    assert!(done.status.success(), "{}{}", out(&done), err(&done));
    let ends: Vec<Value> = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!(ends.len(), 6);
    for (end, number) in ends.iter().zip(1..) {
        assert_eq!(
            (&end["title"], &end["status"]),
            (&json!(format!("T{number}")), &json!("completed")),
            "{end}"
        );
        assert_eq!((&end["labels"], &end["files_changed"]), (&json!(["x"]), &json!(0)), "{end}");
    }
    let marks = std::fs::read_to_string(forge.dir().join("marks.log")).unwrap();
    let most = marks.lines().map(|line| line.trim().parse::<usize>().unwrap()).max();
    assert!(marks.lines().count() == 6 && most <= Some(2), "{marks}");
}

#[tokio::test]
async fn a_file_with_mistakes_starts_nothing_and_a_dry_run_creates_nothing() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    std::fs::write(forge.dir().join("plan.yaml"), "- title: A\n  executor: CODEX\n- B\n").unwrap();
    let plan = output(batch(&forge, &repo, &["../plan.yaml", "--dry-run", "--json"])).await;
    let plan: Value = serde_json::from_slice(&plan.stdout).unwrap();
    assert_eq!(
        (&plan[0]["executor_profile_id"]["executor"], &plan[1]["title"]),
        (&json!("CODEX"), &json!("B"))
    );
    assert_eq!(forge.get("/api/projects").await.data(), json!([]), "not even the project");

    let (_, repo) = forge.project("other").await;
    let cases = [
        ("a.json", r#"["fine", {"title": 3}, {"titel": "x"}]"#, &["task 2: title: 3", "task 3: 'titel'"][..]),
        (
            "b.json",
            r#"["fine", {"title": "x", "base": "nowhere"}, {"title": "y", "executor": "CLAUDE_CODE:NOPE"}]"#,
            &["task 2: base: there is no branch 'nowhere'", "task 3: CLAUDE_CODE has no variant 'NOPE'"],
        ),
        ("c.md", "fine\n---\n\n---\nfine", &["line 3: the task is empty"]),
    ];
    for (name, content, mistakes) in cases {
        std::fs::write(repo.join(name), content).unwrap();
        let refused = output(batch(&forge, &repo, &[name, "-x", "SCRIPTED"])).await;
        assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
        for mistake in mistakes {
            assert!(err(&refused).contains(mistake), "{mistake:?} is missing: {}", err(&refused));
        }
    }
    assert_eq!(forge.get("/api/task-attempts").await.data(), json!([]));
}

#[tokio::test]
async fn leaving_says_what_goes_on_and_what_was_not_started() {
    let forge = TestForge::start().await;
    let (_, repo) = forge.project("repo").await;
    let script = await_file("go");
    let tasks = json!([{"title": "First", "prompt": script}, {"title": "Second", "prompt": script}]);
    std::fs::write(repo.join("tasks.json"), tasks.to_string()).unwrap();
    let mut command = batch(&forge, &repo, &["tasks.json", "--jobs", "1", "-x", "SHELL"]);
    command.env("TERM", "xterm");
    let mut terminal = Terminal::start(command, 100);
    terminal.until("working").await;
    signal(terminal.pid(), Signal::INT);
    assert_eq!(terminal.ended().await.code(), Some(130), "{}", terminal.screen());
    let attempts = forge.get("/api/task-attempts").await.data();
    assert_eq!(attempts.as_array().unwrap().len(), 1);
    assert_eq!(attempts[0]["status"], "running");
    let screen = terminal.screen();
    for part in [
        "1 still running",
        &format!("forge view --follow {}", &text(&attempts[0]["id"])[..8]),
        "not started:",
        "Second (task 2)",
    ] {
        assert!(screen.contains(part), "{part:?} is missing:\n{screen}");
    }
}

#[tokio::test]
async fn a_batch_goes_on_where_streams_are_blocked() {
    let forge = TestForge::start().await;
    let (_, repo) = forge.project("repo").await;
    std::fs::write(repo.join("tasks.txt"), "A\nsay a\n---\nB\nsay b\n").unwrap();
    for events in [Treatment::Passes, Treatment::Refused] {
        let proxy = Proxy::start(forge.base(), Treatment::Refused, events).await;
        let mut command = batch(&forge, &repo, &["tasks.txt", "-x", "SCRIPTED"]);
        command.env("FORGE_BACKEND_URL", proxy.base());
        let done = output(command).await;
        assert!(done.status.success(), "{events:?}: {}{}", out(&done), err(&done));
        assert!(err(&done).contains("WebSockets do not get through"), "{}", err(&done));
    }
}
