//! Looking and steering from the command line: what is listed, how things are named, and how a command ends.

use std::path::Path;
use std::process::Stdio;

use forge_tests::{Terminal, TestForge, output, text};
use serde_json::{Value, json};

/// What a command printed, and the number it ended with.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    #[track_caller]
    pub fn assert(self, code: i32, parts: &[&str]) -> Self {
        let all = format!("{}\n{}", self.out, self.err);
        assert_eq!(self.code, code, "{all}");
        for part in parts {
            assert!(all.contains(part), "{part:?} is missing:\n{all}");
        }
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.code, 0, "{}", self.err);
        serde_json::from_str(&self.out).unwrap_or_else(|_| panic!("no JSON: {}", self.out))
    }
}

/// `forge` with these arguments in a directory, without a terminal.
pub async fn forge(forge: &TestForge, dir: &Path, args: &[&str]) -> Said {
    let mut command = forge.command();
    command.args(args).current_dir(dir).stdin(Stdio::null());
    let output = output(command).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Said { code: output.status.code().unwrap(), out: text(&output.stdout), err: text(&output.stderr) }
}

/// The id of an attempt whose agent has ended.
pub async fn worked(server: &TestForge, project: &str, title: &str, script: &str) -> String {
    let id = text(&server.start_scripted(project, title, script).await["task_attempt"]["id"]);
    server.settled(&id).await;
    id
}

#[tokio::test]
async fn attempts_of_the_repository_are_listed_and_those_of_all_projects_on_demand() {
    let server = TestForge::start().await;
    let (here, repo) = server.project("here").await;
    std::fs::create_dir_all(repo.join(".genie/agents")).unwrap();
    std::fs::write(repo.join(".genie/agents/late.md"), "---\ngenie: {executor: SCRIPTED}\n---\nsay x\n")
        .unwrap();
    let (there, _) = server.project("there").await;
    for n in 0..3 {
        worked(&server, &here, &format!("Task {n}"), "say done").await;
    }
    let failed = worked(&server, &here, "Broken", "fail it broke").await;
    worked(&server, &there, "Elsewhere", "say done").await;

    let list =
        forge(&server, &repo, &["list"]).await.assert(0, &[&failed[..8], "failed", "SCRIPTED", "Broken"]);
    assert!(list.out.contains("forge/") && !list.out.contains("Elsewhere"), "{}", list.out);
    assert!(!list.out.contains('\u{1b}'), "no colours where there is no terminal: {:?}", list.out);
    assert_eq!(list.out.lines().count(), 5, "a head and four attempts: {}", list.out);
    forge(&server, &repo, &["list", "--all"]).await.assert(0, &["PROJECT", "there", "Elsewhere"]);
    forge(&server, server.dir(), &["list"])
        .await
        .assert(0, &["does not belong to a Forge project", "Elsewhere"]);

    let two = forge(&server, &repo, &["list", "--limit", "2"]).await.assert(0, &["Broken", "Task 2"]);
    assert_eq!((two.out.lines().count(), two.err.trim()), (3, "… 2 more; --limit 0 shows all"));
    let only = forge(&server, &repo, &["list", "--status", "failed", "--json"]).await.json();
    assert_eq!((only.as_array().unwrap().len(), &only[0]["id"]), (1, &json!(failed)));
    assert_eq!(only[0]["task_title"], "Broken");
    forge(&server, &repo, &["list", "--status", "odd"])
        .await
        .assert(2, &["'odd'", "allowed: pending, running"]);

    forge(&server, &repo, &["list", "tasks", "--status", "in-review"])
        .await
        .assert(0, &["inreview", "Task 1"]);
    forge(&server, &repo, &["list", "tasks", "--all"]).await.assert(0, &["Elsewhere", "there"]);
    forge(&server, &repo, &["list", "projects"]).await.assert(0, &["here", "there", &repo.to_string_lossy()]);
    let agents = forge(&server, &repo, &["list", "agents", "--json"]).await.json();
    let scripted = agents.as_array().unwrap().iter().find(|agent| agent["executor"] == "SCRIPTED").unwrap();
    assert_eq!(scripted["available"], true);
    assert!(scripted["project_variants"].to_string().contains("LATE"), "{scripted}");
}

#[tokio::test]
async fn an_attempt_is_named_by_id_branch_title_agent_or_as_the_last() {
    let server = TestForge::start().await;
    let (here, repo) = server.project("here").await;
    let (there, _) = server.project("there").await;
    let first = worked(&server, &here, "Fix the login", "say done").await;
    worked(&server, &there, "Fix the login", "say done").await;
    let second = worked(&server, &here, "Greet", "say done").await;
    let third = worked(&server, &there, "Last of all", "say done").await;
    let branch = text(&server.get(&format!("/api/task-attempts/{first}")).await.data()["branch"]);
    let tasks = server.get(&format!("/api/tasks?project_id={here}")).await.data();
    let task = tasks.as_array().unwrap().iter().find(|task| task["title"] == "Greet").unwrap();

    let names = [
        (first.as_str(), &first),
        (&first[..4], &first),
        (&branch, &first),
        (branch.rsplit('/').next().unwrap(), &first),
        ("fix the LOGIN", &first),
        (&text(&task["id"])[..8], &second),
        ("scripted", &second),
        ("@last", &second),
        ("-", &second),
        ("Last of all", &third),
    ];
    for (named, meant) in names {
        let status = forge(&server, &repo, &["status", named, "--json"]).await;
        assert_eq!(status.json()["attempt"]["id"], **meant, "{named}");
    }
    forge(&server, server.dir(), &["status", "Fix the login"])
        .await
        .assert(4, &["matches 2 tasks", "be more specific"]);
    forge(&server, &repo, &["status", "nobody"])
        .await
        .assert(4, &["no attempt matches 'nobody'", "forge list"]);
    server.post("/api/tasks", &json!({"project_id": here, "title": "Only planned"})).await.data();
    forge(&server, &repo, &["stop", "only planned"]).await.assert(4, &["'Only planned' has no attempt yet"]);
}

#[tokio::test]
async fn a_command_ends_with_a_number_that_says_how() {
    let mut server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let attempt = worked(&server, &project, "Nothing", "say done").await;
    forge(&server, &repo, &["list"]).await.assert(0, &[&attempt[..8]]);
    forge(&server, &repo, &["run", "-a", "SCRIPTED", "fail it broke"]).await.assert(1, &["it broke"]);
    forge(&server, &repo, &["list", "--limit", "many"]).await.assert(2, &["invalid value 'many'"]);
    forge(&server, &repo, &["merge", "ffffffff"]).await.assert(4, &["'ffffffff'"]);
    forge(&server, &repo, &["merge", &attempt]).await.assert(5, &["nothing to merge"]);
    server.terminate().await;
    let commands: [&[&str]; 6] =
        [&["list"], &["status"], &["stop", "@last"], &["task", "list"], &["config", "get"], &["usage"]];
    for args in commands {
        forge(&server, &repo, args).await.assert(3, &["no Forge answers at", "forge serve"]);
    }
    forge(&server, &repo, &["config", "path"]).await.assert(0, &["config.json"]);
}

#[tokio::test]
async fn what_runs_is_told_and_stopped_and_what_does_not_is_no_error() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let start = |title: &'static str| server.start_with(&project, "SHELL", title, "sleep 600");
    let first = text(&start("One").await["task_attempt"]["id"]);
    let second = text(&start("Two").await["task_attempt"]["id"]);
    let status =
        forge(&server, &repo, &["status"]).await.assert(0, &[server.base(), "projects  1", "running   2"]);
    assert!(status.out.contains(&first[..8]) && status.out.contains(&second[..8]), "{}", status.out);
    forge(&server, &repo, &["status", "one"])
        .await
        .assert(0, &["status    running (for ", "SHELL", "0 ahead, 0 behind"]);

    forge(&server, &repo, &["stop", "one", "nobody"]).await.assert(4, &["'nobody'"]);
    assert_eq!(server.runs(&first).await[0]["status"], "running", "all are found before any is stopped");
    forge(&server, &repo, &["stop", &first[..6]]).await.assert(0, &["stopped the agent of", &first[..8]]);
    assert_eq!(server.settled(&first).await[0]["status"], "killed");
    forge(&server, &repo, &["stop", &first[..6]]).await.assert(0, &["nothing is running in", &first[..8]]);

    forge(&server, &repo, &["stop", "--all"]).await.assert(2, &["Stop 1 attempt?", "--yes"]);
    assert_eq!(server.runs(&second).await[0]["status"], "running");
    let all = forge(&server, &repo, &["stop", "--all", "--yes", "--json"]).await.json();
    assert_eq!(all, json!([{"attempt_id": second, "stopped": ["agent"], "project": "repo"}]));
    forge(&server, &repo, &["stop", "--all"]).await.assert(0, &["nothing is running"]);
}

#[tokio::test]
async fn a_question_is_shown_with_how_to_answer_it_and_answered() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let started = server.start_with(&project, "SHELL", "Ask", "sleep 600").await;
    let attempt = started.attempt();
    let run = text(&server.runs(&attempt).await[0]["id"]);
    let ask = |command: &str| {
        let body = json!({"tool_name": "Bash", "tool_input": {"command": command}, "session_id": run});
        let server = &server;
        async move { text(&server.post("/api/approvals/create", &body).await.data()["id"]) }
    };
    forge(&server, &repo, &["approve"]).await.assert(0, &["no agent is waiting"]);
    let (first, second) = (ask("rm -rf build").await, ask("git push").await);
    for args in [&["approve"][..], &["status"], &["status", "@last"]] {
        let how = format!("forge approve {}", &first[..8]);
        forge(&server, &repo, args).await.assert(0, &["Bash: rm -rf build", "Bash: git push", &how]);
    }
    forge(&server, &repo, &["approve", &first[..8]]).await.assert(0, &["allowed", "rm -rf build"]);
    forge(&server, &repo, &["approve", "@last", "--deny", "not yet"])
        .await
        .assert(0, &["denied", "git push"]);
    let path = |id: &str| format!("/api/approvals/{id}/status");
    assert_eq!(server.get(&path(&first)).await.body["status"], "approved");
    let denied = server.get(&path(&second)).await.body;
    assert_eq!((&denied["status"], &denied["reason"]), (&json!("denied"), &json!("not yet")));
    forge(&server, &repo, &["approve", "@last"]).await.assert(4, &["is not waiting for an answer"]);
}

#[tokio::test]
async fn a_terminal_gets_colours_and_a_list_that_fits() {
    let server = TestForge::start().await;
    let (project, repo) = server.project("repo").await;
    let title = "A title that is much too long for a terminal of eighty columns and goes on and on";
    let attempt = worked(&server, &project, title, "say done").await;
    let start = |extra: &[(&str, &str)], args: &[&str]| {
        let mut command = server.command();
        command.args(args).current_dir(&repo).env("TERM", "xterm").env_remove("NO_COLOR");
        command.envs(extra.iter().copied());
        Terminal::start(command, 80)
    };
    let mut coloured = start(&[], &["list"]);
    assert!(coloured.ended().await.success());
    let screen = coloured.until("forge/").await;
    assert!(screen.contains("\u{1b}[32mcompleted\u{1b}[0m"), "{screen:?}");
    let mut plain = start(&[("NO_COLOR", "1")], &["list"]);
    assert!(plain.ended().await.success());
    let screen = plain.until("forge/").await;
    assert!(!screen.contains('\u{1b}') && screen.contains(&attempt[..8]), "{screen:?}");
    for line in screen.lines() {
        assert!(line.trim_end().chars().count() <= 80, "too wide: {line:?}");
    }
    // With somebody there, it asks.
    let mut asked = start(&[], &["project", "rm", "repo"]);
    asked.until("[y/N]").await;
    asked.type_line("n");
    assert_eq!(asked.ended().await.code(), Some(1));
    assert_eq!(server.get("/api/projects").await.data().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn naming_and_listing_take_as_many_requests_with_many_projects_as_with_one() {
    let server = TestForge::with(&[], &[("RUST_LOG", "forge_server=debug")]).await;
    let (project, repo) = server.project("p0").await;
    let attempt = worked(&server, &project, "One", "say done").await;
    let commands: [&[&str]; 3] = [&["list"], &["list", "--all"], &["stop", &attempt[..8]]];
    let asked = || server.log().matches("answered").count();
    let mut before = Vec::new();
    for round in 0..2 {
        for (place, args) in commands.iter().enumerate() {
            let start = asked();
            forge(&server, &repo, args).await.assert(0, &[&attempt[..8]]);
            let count = asked() - start;
            assert!(count > 0, "requests are not in the log:\n{}", server.log());
            match round {
                0 => before.push(count),
                _ => assert_eq!(count, before[place], "{args:?}"),
            }
        }
        for n in 0..4 {
            let (more, _) = server.project(&format!("more{round}{n}")).await;
            worked(&server, &more, "More", "say done").await;
        }
    }
}
