//! `forge run`: a task from the command line, told as it happens, with the run's own exit code.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use forge_tests::{Dialect, Terminal, TestForge, await_file, out, output, signal, text, words};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::publish::Published;

fn run(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.arg("run").args(args).current_dir(repo).stdin(Stdio::null());
    command
}

/// What a command printed, everywhere.
pub fn lines(output: &Output) -> Vec<Value> {
    let text = out(output);
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}")))
        .collect()
}

/// The only attempt there is.
async fn attempt(forge: &TestForge) -> Value {
    let attempts = forge.get("/api/task-attempts").await.data();
    assert_eq!(attempts.as_array().unwrap().len(), 1, "{attempts:#}");
    attempts[0].clone()
}

#[tokio::test]
async fn a_run_is_told_from_the_prompt_to_what_came_of_it() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    std::fs::create_dir(repo.join("sub")).unwrap();
    let prompt =
        "think Where to begin?\nsay I begin.\nwrite a.txt one\\ntwo\\n\nrun echo out; exit 3\nsay All done.";
    let first = output(run(&forge, &repo.join("sub"), &["-x", "SCRIPTED", prompt])).await;
    let told = words(&first);
    assert!(first.status.success(), "{told}");
    for part in [
        "new project repo",
        "SCRIPTED on forge/",
        "· model: scripted",
        "~ Where to begin?",
        "\nI begin.\n",
        "write a.txt +2",
        "$ echo out; exit 3\n  out\n  exit 3\n",
        "\nAll done.\n",
        "completed in ",
        "1 file +2 -0",
    ] {
        assert!(told.contains(part), "{part:?} is missing:\n{told}");
    }
    assert!(!told.contains('\u{1b}'), "no colours where there is no terminal: {told:?}");

    let attempt = attempt(&forge).await;
    assert_eq!(attempt["status"], "completed");
    let id = &text(&attempt["id"])[..8];
    for next in ["merge", "diff", "resume"] {
        assert!(told.contains(&format!("forge {next} {id}")), "{next} is missing:\n{told}");
    }
}

#[tokio::test]
async fn scripts_around_the_agent_are_told_too() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let scripts = json!({"setup_script": "echo setting up", "cleanup_script": "echo cleaning up; exit 4"});
    forge.put(&format!("/api/projects/{project}"), &scripts).await.data();
    let done = output(run(&forge, &repo, &["-x", "SHELL", "echo working\necho more > new.txt"])).await;
    let told = words(&done);
    for part in ["setup script\n  setting up\n\nworking\n", "cleanup script\n  cleaning up\n  exit 4\n"] {
        assert!(told.contains(part), "{part:?} is missing:\n{told}");
    }
    assert!(done.status.success(), "the agent completed: {told}");
}

#[tokio::test]
async fn the_exit_code_says_what_went_wrong() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let failed = output(run(&forge, &repo, &["-x", "SCRIPTED", "fail it broke"])).await;
    assert_eq!(failed.status.code(), Some(1), "{}", words(&failed));
    assert!(
        words(&failed).contains("! it broke") && words(&failed).contains("failed in "),
        "{}",
        words(&failed)
    );
    for (args, code, reason) in [
        (&["-x", "NOBODY", "x"][..], 2, "--executor: unknown executor 'NOBODY'"),
        (&["-a", "aprovals", "x"], 4, "no agent is called 'aprovals'; the nearest names: APPROVALS"),
        (&["-x", "CLAUDE_CODE:NOPE", "x"], 2, "--executor: unknown variant NOPE"),
        (&["-x", "SCRIPTED", "--base", "nowhere", "x"], 4, "--base: Branch not found: nowhere"),
        (&["-x", "SCRIPTED", "--max-cost", "0", "x"], 2, "--max-cost: "),
        (&["-x", "CURSOR_AGENT", "x"], 5, "install it with `curl https://cursor.com/install"),
        (&["-x", "SCRIPTED", " "], 2, "the prompt is empty"),
        (&["-x", "SCRIPTED", "-f", "missing.md"], 4, "--file: cannot read missing.md"),
        (&["--issue", "7", "and more"], 2, "the prompt comes from the issue"),
        (&["-x", "SCRIPTED", "-p", "/", "x"], 4, "is not in a git repository"),
        (&["-x", "SCRIPTED", "-p", "nobody", "x"], 4, "no project matches 'nobody'"),
    ] {
        let refused = output(run(&forge, &repo, args)).await;
        assert!(words(&refused).contains(reason), "{args:?}: {}", words(&refused));
        assert_eq!(refused.status.code(), Some(code), "{args:?}: {}", words(&refused));
    }
    attempt(&forge).await;
}

#[tokio::test]
async fn a_prompt_comes_from_the_command_line_a_file_or_a_pipe_at_any_length() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let long = format!("say begin\n{}\nsay end of it", "say more\n".repeat(150_000));
    std::fs::write(repo.join("task.md"), &long).unwrap();
    let from_file = output(run(&forge, &repo, &["-x", "SCRIPTED", "-b", "-f", "task.md"])).await;
    assert!(from_file.status.success(), "{}", words(&from_file));
    let task = text(&attempt(&forge).await["task_id"]);
    let task = forge.get(&format!("/api/tasks/{task}")).await.data();
    assert!(text(&task["description"]).ends_with("say end of it"), "1.3 MB are taken whole");

    for args in [&["-x", "SCRIPTED", "-"][..], &["-x", "SCRIPTED"]] {
        std::fs::write(repo.join("short.md"), "say from a pipe").unwrap();
        let mut command = run(&forge, &repo, args);
        command.stdin(std::fs::File::open(repo.join("short.md")).unwrap());
        let piped = output(command).await;
        assert!(words(&piped).contains("\nfrom a pipe\n"), "{}", words(&piped));
    }
    std::fs::write(repo.join("task.md"), "x".repeat(3 << 20)).unwrap();
    let refused = output(run(&forge, &repo, &["-x", "SCRIPTED", "-f", "task.md"])).await;
    assert_eq!(refused.status.code(), Some(2));
    assert!(words(&refused).contains("3145730 bytes"), "{}", words(&refused));
}

#[tokio::test]
async fn an_agent_is_chosen_by_name_and_told_its_model() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    std::fs::create_dir_all(repo.join(".genie/agents")).unwrap();
    let agent = "---\nname: greeter\ngenie:\n  executor: SCRIPTED\n---\n\nsay greetings from the file\n";
    std::fs::write(repo.join(".genie/agents/greeter.md"), agent).unwrap();
    let done = output(run(&forge, &repo, &["--agent", "greeter", "-m", "some-model", "say hello"])).await;
    assert!(words(&done).contains("greetings from the file"), "{}", words(&done));
    let profile = json!({"executor": "SCRIPTED", "variant": "GREETER", "model": "some-model"});
    assert_eq!(attempt(&forge).await["executor_profile_id"], profile);
}

#[tokio::test]
async fn a_run_takes_its_limits_and_its_place_along() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let args =
        ["-x", "SCRIPTED", "--no-worktree", "--max-cost", "2.5", "--title", "Named", "write here.txt x"];
    let done = output(run(&forge, &repo, &args)).await;
    assert!(done.status.success(), "{}", words(&done));
    let attempt = attempt(&forge).await;
    assert_eq!((&attempt["use_worktree"], &attempt["max_cost_usd"]), (&json!(false), &json!(2.5)));
    assert!(repo.join("here.txt").exists(), "it worked in the repository itself");
    let task = forge.get(&format!("/api/tasks/{}", text(&attempt["task_id"]))).await.data();
    assert_eq!(task["title"], "Named");
}

#[tokio::test]
async fn an_issue_is_worked_on_once() {
    let world = Published::with_token(Dialect::Github).await;
    world.host.add_issue(7, "It is broken", "write fix.txt x\nsay fixed", &[]);
    let first = output(run(&world.forge, &world.repo, &["-x", "SCRIPTED", "--issue", "7"])).await;
    assert!(first.status.success() && words(&first).contains("\nfixed\n"), "{}", words(&first));
    let id = text(&attempt(&world.forge).await["id"]);
    let again = output(run(&world.forge, &world.repo, &["-x", "SCRIPTED", "--issue", "7"])).await;
    assert_eq!(again.status.code(), Some(2));
    assert!(words(&again).contains(&format!("forge resume {}", &id[..8])), "{}", words(&again));
    attempt(&world.forge).await;
}

#[tokio::test]
async fn in_the_background_it_says_where_the_run_is_and_leaves_it() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let done = output(run(&forge, &repo, &["-b", "-x", "SCRIPTED", "sleep 600000"])).await;
    let attempt = attempt(&forge).await;
    assert_eq!((done.status.code(), &attempt["status"]), (Some(0), &json!("running")), "{}", words(&done));
    let [project, task, id] = ["project_id", "task_id", "id"].map(|key| text(&attempt[key]));
    let page = format!("{}/projects/{project}/tasks/{task}/attempts/{id}?view=diffs", forge.base());
    for part in [page.clone(), format!("forge view {}", &id[..8]), format!("forge stop {}", &id[..8])] {
        assert!(words(&done).contains(&part), "{part:?} is missing:\n{}", words(&done));
    }
    let told = output(run(&forge, &repo, &["--background", "--json", "-x", "SCRIPTED", "say x"])).await;
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let other = text(&told["attempt"]["id"]);
    assert!(text(&told["url"]).contains(&other), "{told:#}");
    assert_eq!(told["execution_process_id"], forge.runs(&other).await[0]["id"]);
}

#[tokio::test]
async fn the_last_word_of_an_agent_that_falls_silent_is_shown() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let script = ["-x", "SCRIPTED", "Greet\nsay alpha omega\nhang"];
    // The status row may stand between the words for a moment.
    Terminal::start(run_at(&forge, &repo, &script), 80).until("omega").await;
}

#[tokio::test]
async fn ctrl_c_leaves_the_agent_at_work_and_says_how_to_come_back() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let script = ["-x", "SHELL", "echo at work; sleep 600"];
    let mut terminal = Terminal::start(run_at(&forge, &repo, &script), 80);
    terminal.until("at work").await;
    signal(terminal.pid(), Signal::INT);
    assert_eq!(terminal.ended().await.code(), Some(130), "{}", terminal.screen());
    let attempt = attempt(&forge).await;
    assert_eq!(attempt["status"], "running", "it goes on");
    let id = &text(&attempt["id"])[..8];
    for way in ["view", "resume", "stop"] {
        assert!(terminal.screen().contains(&format!("forge {way} {id}")), "{}", terminal.screen());
    }
}

#[tokio::test]
async fn a_signal_to_end_is_obeyed_at_once_and_stops_nothing() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    for end in [Signal::TERM, Signal::HUP] {
        let script = ["-x", "SHELL", "echo at work; sleep 600"];
        let mut terminal = Terminal::start(run_at(&forge, &repo, &script), 80);
        terminal.until("at work").await;
        signal(terminal.pid(), end);
        assert_eq!(terminal.ended().await.code(), Some(130), "{}", terminal.screen());
        let attempts = forge.get("/api/task-attempts").await.data();
        assert_eq!(attempts[0]["status"], "running");
    }
}

#[tokio::test]
async fn without_a_terminal_ctrl_c_asks_nobody_and_stops_nothing() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let mut command = run(&forge, &repo, &["--json", "-x", "SHELL", "echo at work; sleep 600"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(told.any(|line| line.unwrap().contains("at work")), "the agent is told of");
    signal(child.id(), Signal::INT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(attempt(&forge).await["status"], "running");
}

#[tokio::test]
async fn a_terminal_has_a_status_below_the_transcript_and_nothing_else_has() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let script = format!("say hello\nwrite a.txt x\nrun {}\nsay bye", await_file("../go"));
    let script = ["-x", "SCRIPTED", &script];
    let mut terminal = Terminal::start(run_at(&forge, &repo, &script), 60);
    // It stands where the transcript goes on: written, and the cursor put back to the row's beginning.
    terminal.until("1 file +1 -0 · Ctrl-C leaves it running\u{1b}[0m\r").await;
    std::fs::write(forge.worktrees().join("go"), "").unwrap();
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    let screen = terminal.screen();
    let (_, after) = screen.rsplit_once("Ctrl-C leaves it running").unwrap();
    let (before, _) = after.split_once("completed").unwrap();
    assert!(before.contains("\u{1b}[J"), "it is taken back before the end is told: {after:?}");
    let piped = output(run(&forge, &repo, &script)).await;
    assert!(!words(&piped).contains("leaves it running"), "{}", words(&piped));
}

fn run_at(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.arg("run").args(args).current_dir(repo).env("TERM", "xterm").env_remove("NO_COLOR");
    command
}

#[tokio::test]
async fn json_has_an_object_a_line_and_nothing_else() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let done = output(run(&forge, &repo, &["--json", "-x", "SCRIPTED", "say hello\nwrite a.txt x"])).await;
    let lines = lines(&done);
    assert_eq!(lines[0]["type"], "attempt");
    let said = lines.iter().find(|line| line["entry"]["entry_type"]["type"] == "assistant_message").unwrap();
    assert_eq!((&said["type"], &said["op"]), (&json!("entry"), &json!("add")));
    assert_eq!(said["entry"]["content"], "hello");
    let end = lines.last().unwrap();
    assert_eq!((&end["type"], &end["status"]), (&json!("end"), &json!("completed")));
    assert_eq!(end["changes"]["files"], 1);
    assert_eq!(end["attempt"]["id"], lines[0]["attempt"]["id"]);
}

#[tokio::test]
async fn a_run_can_bring_its_own_server_for_its_time() {
    let mut forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let both = output(run(&forge, &repo, &["--standalone", "-x", "SCRIPTED", "say x"])).await;
    assert!(words(&both).contains("another Forge"), "{}", words(&both));
    forge.terminate().await;
    let alone =
        output(run(&forge, &repo, &["--standalone", "-x", "SCRIPTED", "say alone\nwrite a.txt x"])).await;
    assert!(alone.status.success(), "{}", words(&alone));
    assert!(
        words(&alone).contains("alone") && words(&alone).contains("git merge --squash"),
        "{}",
        words(&alone)
    );
    assert_eq!(forge.background_pid(), None, "no other server was started");
    forge.up().await;
    assert_eq!(attempt(&forge).await["status"], "completed", "the next server has it");
}
