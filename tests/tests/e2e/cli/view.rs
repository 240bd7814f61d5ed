//! `forge view`, `forge logs` and `forge diff`: what an attempt did and does, from the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use forge_tests::{
    Proxy, Terminal, TestForge, Treatment, await_file, err, git, out, output, signal, text, until_exists,
};
use rustix::process::Signal;
use serde_json::{Value, json};

fn forge(forge: &TestForge, repo: &Path, args: &[&str]) -> Command {
    let mut command = forge.command();
    command.args(args).current_dir(repo).stdin(Stdio::null()).env("TERM", "xterm");
    for key in ["FORGE_PAGER", "PAGER", "NO_COLOR"] {
        command.env_remove(key);
    }
    command
}

async fn start(forge: &TestForge, project: &str, script: &str) -> (String, PathBuf) {
    let task = forge.start_with(project, "SHELL", "A title", script).await;
    (task.attempt(), task.place())
}

#[tokio::test]
async fn a_transcript_tells_all_runs_so_far_and_says_when_there_will_be_more() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let scripts = json!({"setup_script": "echo setting up", "cleanup_script": "echo cleaning up"});
    server.put(&format!("/api/projects/{project}"), &scripts).await.data();
    let script = format!("echo working; {}; echo more > new.txt", await_file("go"));
    let (id, place) = start(&server, &project, &script).await;
    let path = format!("/api/execution-processes?task_attempt_id={id}");
    let begun = |runs: &Value| runs.as_array().is_some_and(|runs| runs.len() == 2);
    let runs = server.until(&path, "the agent runs", begun).await;
    server.until_said(&text(&runs[1]["id"]), "working").await;
    let early = output(forge(&server, &repo, &["view", &id[..8]])).await;
    assert!(early.status.success(), "{}", err(&early));
    for part in [
        "A title\nSHELL on forge/",
        " · running\n",
        &format!("/attempts/{id}\n"),
        "setup script\n  setting up\n\nworking\n",
    ] {
        assert!(out(&early).contains(part), "{part:?} is missing:\n{}", out(&early));
    }
    assert!(!out(&early).contains("cleaning up") && !out(&early).contains('\u{1b}'), "{}", out(&early));
    assert!(err(&early).contains(&format!("forge view --follow {}", &id[..8])), "{}", err(&early));

    std::fs::write(place.join("go"), "").unwrap();
    let followed = output(forge(&server, &repo, &["view", "--follow"])).await;
    assert!(followed.status.success(), "{}", err(&followed));
    assert!(out(&followed).contains("cleanup script\n  cleaning up\n\ncompleted\n"), "{}", out(&followed));
    let late = output(forge(&server, &repo, &["view", "A title", "--json"])).await;
    let lines: Vec<Value> = out(&late).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&lines[0]["type"], &lines[0]["attempt"]["id"]), (&json!("attempt"), &json!(id)));
    assert!(
        lines.iter().any(|line| line["type"] == "output" && line["content"] == "cleaning up\n"),
        "{lines:#?}"
    );
    assert_eq!(err(&late), "", "an attempt that has ended needs no remark");
}

#[tokio::test]
async fn following_goes_on_over_a_crash_of_the_server_without_gap_or_repetition() {
    let mut server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let script = format!(
        "for i in 1 2 3; do echo line $i; done; {}; for i in 4 5 6; do echo line $i; done; touch away; {}; \
         for i in 7 8 9; do echo line $i; done; exit 3",
        await_file("one"),
        await_file("two")
    );
    let (id, place) = start(&server, &project, &script).await;
    let proxy = Proxy::start(server.base(), Treatment::Passes, Treatment::Passes).await;
    let mut command = forge(&server, &repo, &["view", &id, "-F"]);
    command.env("FORGE_BACKEND_URL", proxy.base());
    let mut terminal = Terminal::start(command, 80);
    terminal.until("line 3").await;
    server.crash();
    terminal.until("the server went away").await;
    std::fs::write(place.join("one"), "").unwrap();
    until_exists(&place.join("away")).await;
    server.up().await;
    proxy.aim(server.base());
    terminal.until("line 6").await;
    std::fs::write(place.join("two"), "").unwrap();
    assert_eq!(terminal.ended().await.code(), Some(1), "as the agent ended: {}", terminal.screen());
    let screen = terminal.screen();
    let told: Vec<&str> = screen.lines().filter_map(|row| row.strip_prefix("line ")).map(str::trim).collect();
    assert_eq!(told, ["1", "2", "3", "4", "5", "6", "7", "8", "9"], "{screen}");
    assert_eq!(proxy.refused(), 0);
}

#[tokio::test]
async fn following_stays_for_a_prompt_that_waits_in_the_queue() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let task =
        server.start_scripted(&project, "queue", &format!("say first\nrun {}", await_file("go"))).await;
    let (id, place) = (task.attempt(), text(&task["task_attempt"]["worktree_path"]));
    let draft = format!("/api/task-attempts/{id}/draft?type=follow_up");
    let saved = server.put(&draft, &json!({"prompt": "say second"})).await.data();
    let queue = json!({"queued": true, "expected_version": saved["version"]});
    server.post(&format!("/api/task-attempts/{id}/draft/queue?type=follow_up"), &queue).await.data();
    let terminal = Terminal::start(forge(&server, &repo, &["view", "-F"]), 80);
    terminal.until("first").await;
    std::fs::write(Path::new(&place).join("go"), "").unwrap();
    terminal.until("second").await;
    terminal.until("completed").await;
}

#[tokio::test]
async fn the_last_word_of_an_agent_that_falls_silent_is_shown() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    server.start_scripted(&project, "silent", "say alpha omega\nhang").await;
    Terminal::start(forge(&server, &repo, &["view", "-F"]), 80).until("alpha omega").await;
}

#[tokio::test]
async fn ctrl_c_leaves_the_agent_at_work_and_says_so() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let (id, place) = start(&server, &project, &format!("echo at work; {}", await_file("go"))).await;
    for flags in [&["view", "-F"][..], &["view", "-F", "--raw"], &["logs", "-F"]] {
        let mut terminal = Terminal::start(forge(&server, &repo, flags), 80);
        terminal.until("at work").await;
        signal(terminal.pid(), Signal::INT);
        assert_eq!(terminal.ended().await.code(), Some(130), "{flags:?}: {}", terminal.screen());
        assert!(terminal.screen().contains("the agent continues"), "{}", terminal.screen());
    }
    assert_eq!(server.runs(&id).await[0]["status"], "running");
    std::fs::write(place.join("go"), "").unwrap();
    assert_eq!(server.settled(&id).await[0]["status"], "completed");
}

#[tokio::test]
async fn raw_logs_are_the_bytes_that_were_written() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let scripts = json!({"setup_script": "echo the setup"});
    server.put(&format!("/api/projects/{project}"), &scripts).await.data();
    let (id, _) = start(&server, &project, "printf 'a\\033[31mb\\377\\n'; sleep 0.1; echo oops >&2").await;
    let runs = server.settled(&id).await;
    let wrote = b"a\x1b[31mb\xff\noops\n";
    let agent = output(forge(&server, &repo, &["logs"])).await;
    assert_eq!(agent.stdout, wrote, "{}", err(&agent));
    let all = output(forge(&server, &repo, &["view", "--raw"])).await;
    assert_eq!(all.stdout, [b"the setup\n", &wrote[..]].concat());
    let run = text(&runs[0]["id"]);
    for named in ["setup", &run[..6]] {
        let setup = output(forge(&server, &repo, &["logs", &id, "--process", named])).await;
        assert_eq!(out(&setup), "the setup\n", "{named}");
    }
    let none = output(forge(&server, &repo, &["logs", "-p", "dev"])).await;
    assert_eq!(none.status.code(), Some(4), "{}", err(&none));
    assert!(err(&none).contains(&format!("{} (setup script)", &run[..8])), "{}", err(&none));
}

#[tokio::test]
async fn a_diff_can_be_applied_counted_and_paged() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let script = "echo '# changed' > README.md; printf 'one\\ntwo\\n' > new.txt";
    let (id, place) = start(&server, &project, script).await;
    server.settled(&id).await;
    std::fs::write(place.join("loose.txt"), "not committed\n").unwrap();
    let patch = output(forge(&server, &repo, &["diff"])).await;
    assert!(!out(&patch).contains('\u{1b}'), "no colours for programs");
    std::fs::write(server.dir().join("patch"), &patch.stdout).unwrap();
    git(&repo, &["apply", "--index", "../patch"]);
    assert_eq!(git(&repo, &["show", ":new.txt"]), "one\ntwo");
    assert_eq!(git(&repo, &["show", ":loose.txt"]), "not committed");
    let names = output(forge(&server, &repo, &["diff", &id, "--name-only"])).await;
    assert_eq!(out(&names), "README.md\nloose.txt\nnew.txt\n");
    let stat = output(forge(&server, &repo, &["diff", "--stat"])).await;
    assert!(
        out(&stat).contains("+1    -1  README.md\n") && out(&stat).ends_with("3 files +4 -1\n"),
        "{}",
        out(&stat)
    );
    let json = output(forge(&server, &repo, &["view", "--diff", "--json"])).await;
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["files_changed"], &json["diff"]), (&json!(3), &json!(out(&patch))));

    let mut paged = forge(&server, &repo, &["diff"]);
    paged.env("FORGE_PAGER", "sed 's/^/paged: /'");
    let mut terminal = Terminal::start(paged, 80);
    terminal.until("paged: \u{1b}[32m+two").await;
    assert!(terminal.ended().await.success());
    let mut missing = forge(&server, &repo, &["diff"]);
    missing.env("PAGER", "no-such-pager");
    Terminal::start(missing, 80).until("\u{1b}[32m+two").await;
}

#[tokio::test]
async fn changed_files_are_told_as_they_change_until_the_attempt_ends() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let script = format!("echo one > a.txt; {}; echo two >> a.txt; echo x > b.txt", await_file("go"));
    let (_, place) = start(&server, &project, &script).await;
    let mut terminal = Terminal::start(forge(&server, &repo, &["view", "--diff", "-F"]), 80);
    terminal.until("a.txt").await;
    std::fs::write(place.join("go"), "").unwrap();
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    let plain =
        terminal.screen().replace("\u{1b}[32m", "").replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
    for row in ["+1    -0  a.txt", "+2    -0  a.txt", "+1    -0  b.txt"] {
        assert!(plain.contains(row), "{row} is missing:\n{plain}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_said_with_its_own_exit_code() {
    let mut server = TestForge::start().await;
    let (_, repo) = server.project("repo").await;
    for command in ["view", "logs", "diff"] {
        let none = output(forge(&server, &repo, &[command])).await;
        assert_eq!(none.status.code(), Some(4), "{}", err(&none));
        assert!(err(&none).contains("repo has no attempt yet"), "{}", err(&none));
    }
    server.terminate().await;
    let away = output(forge(&server, &repo, &["view"])).await;
    assert_eq!(away.status.code(), Some(3), "{}", err(&away));
}
