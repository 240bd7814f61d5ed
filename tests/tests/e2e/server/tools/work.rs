//! What tools do, beyond the way from a task to its merge that the official clients go.

use std::path::PathBuf;

use forge_tests::{Dialect, TestForge, commit, text};
use serde_json::{Value, json};

use crate::publish::Published;

struct Work {
    id: String,
    place: PathBuf,
}

/// An attempt whose agent has ended.
async fn work(forge: &TestForge, project: &str, title: &str, script: &str) -> Work {
    let task = forge.start_scripted(project, title, script).await;
    let id = task.attempt();
    forge.settled(&id).await;
    Work { id, place: task.place() }
}

#[tokio::test]
async fn a_draft_is_kept_until_it_is_queued_and_then_sent() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let attempt = json!({"attempt_id": work(&forge, &project, "Draft", "say done").await.id});
    let with = |key: &str, value: Value| {
        let mut arguments = attempt.clone();
        arguments[key] = value;
        arguments
    };
    let saved = forge.tool("save_draft", with("content", json!("say from the draft"))).await;
    assert_eq!((&saved["draft"]["queued"], &saved["attempt_id"]), (&json!(false), &attempt["attempt_id"]));
    let kept = forge.tool("get_draft", attempt.clone()).await;
    assert_eq!(kept["draft"]["prompt"], "say from the draft");
    assert_eq!(forge.tool("list_processes", attempt.clone()).await["count"], 1, "nothing was sent");

    forge.tool("set_draft_queue", with("queue", json!(true))).await;
    let waited = forge.tool("wait_for_attempt", attempt.clone()).await;
    assert_eq!(waited["final_message"], "from the draft", "{waited:#}");
    assert_eq!(forge.tool("get_draft", attempt.clone()).await["draft"]["prompt"], "");

    forge.tool("save_draft", with("content", json!("say never"))).await;
    assert_eq!(forge.tool("delete_draft", attempt.clone()).await["deleted"], true);
    let nothing = forge.refused_tool("set_draft_queue", with("queue", json!(true))).await;
    assert!(nothing.contains("No draft to queue"), "{nothing}");
}

#[tokio::test]
async fn processes_are_told_and_stopped_one_by_one() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let script = json!({"project_id": project, "dev_script": "sleep 600"});
    forge.tool("update_project", script).await;
    let attempt = json!({"attempt_id": work(&forge, &project, "Serve", "say done").await.id});
    forge.tool("start_dev_server", attempt.clone()).await;
    let told = forge.tool("list_processes", attempt).await;
    let reasons: Vec<String> =
        told["processes"].as_array().unwrap().iter().map(|run| text(&run["run_reason"])).collect();
    assert_eq!(reasons, ["codingagent", "devserver"]);
    let process = json!({"process_id": told["processes"][1]["id"]});
    assert_eq!(forge.tool("get_process", process.clone()).await["process"]["status"], "running");
    let stopped = forge.tool("stop_process", process.clone()).await;
    assert_eq!(stopped["process"]["status"], "killed", "{stopped:#}");
    let again = forge.refused_tool("stop_process", process).await;
    assert!(again.contains("is not running"), "{again}");
    let agent = forge.tool("get_process", json!({"process_id": told["processes"][0]["id"]})).await;
    assert_eq!(agent["process"]["final_message"], "done");
    let nobody = forge.refused_tool("get_process", json!({"process_id": project})).await;
    assert!(nobody.contains("list_processes lists them"), "{nobody}");
}

#[tokio::test]
async fn conflicts_are_foreseen_told_and_given_to_the_agent() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let mine = work(&forge, &project, "Mine", "write a.txt mine\nsay done").await;
    let yours = work(&forge, &project, "Yours", "write a.txt yours\nsay done").await;
    let radar = forge.tool("list_conflicts", json!({"project_id": project})).await;
    assert_eq!((&radar["target"], &radar["pairs"][0]["files"]), (&json!([]), &json!(["a.txt"])), "{radar:#}");

    commit(&repo, "a.txt", "theirs\n");
    let attempt = json!({"attempt_id": mine.id});
    let stuck = forge.refused_tool("rebase_task_attempt", attempt.clone()).await;
    assert!(stuck.contains("resolve_conflicts") && stuck.contains("abort_conflicts"), "{stuck}");
    let status = forge.tool("get_branch_status", attempt.clone()).await;
    assert_eq!(status["conflicted_files"], json!(["a.txt"]), "{status:#}");
    let told = forge.tool("resolve_conflicts", attempt.clone()).await;
    forge.tool("wait_for_attempt", attempt.clone()).await;
    let process = forge.tool("get_process", json!({"process_id": told["process_id"]})).await;
    assert!(text(&process["process"]["prompt"]).contains("- a.txt"), "{process:#}");
    forge.tool("abort_conflicts", attempt).await;
    let none = forge.refused_tool("resolve_conflicts", json!({"attempt_id": yours.id})).await;
    assert!(none.contains("no conflict to resolve"), "{none}");
}

#[tokio::test]
async fn a_worktree_that_was_put_away_comes_back_whole() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let work = work(&forge, &project, "Away", "write a.txt one\nsay done").await;
    std::fs::write(work.place.join("notes.txt"), "not committed").unwrap();
    forge.post(&format!("/api/worktrees/{}/retire", work.id), &json!({})).await.data();
    let attempt = json!({"attempt_id": work.id});
    let away = forge.refused_tool("get_branch_status", attempt.clone()).await;
    assert!(away.contains("restore_worktree"), "{away}");
    let diff = forge.tool("get_attempt_diff", attempt.clone()).await;
    assert_eq!(diff["committed_only"], true, "{diff:#}");
    assert!(text(&diff["diff"]).contains("+one") && !text(&diff["diff"]).contains("notes.txt"), "{diff:#}");
    let stat = &forge.tool("get_attempt_result", attempt.clone()).await["diff_stat"];
    assert_eq!((&stat["files_changed"], &stat["files"][0]["path"]), (&json!(1), &json!("a.txt")), "{stat:#}");
    assert!(!work.place.exists(), "who looks brings nothing back");
    let restored = forge.tool("restore_worktree", attempt.clone()).await;
    assert_eq!(restored["path"], json!(work.place));
    assert_eq!(std::fs::read_to_string(work.place.join("notes.txt")).unwrap(), "not committed");
    assert_eq!(forge.tool("get_branch_status", attempt.clone()).await["untracked_count"], 1);
    let twice = forge.refused_tool("restore_worktree", attempt).await;
    assert!(twice.contains("is there already"), "{twice}");
}

#[tokio::test]
async fn an_issue_is_taken_up_published_and_followed() {
    let world = Published::with_token(Dialect::Github).await;
    world.host.add_issue(7, "It is broken", "write fix.txt x\nsay fixed", &[]);
    let issue = json!({"project_id": world.project, "number": 7, "start": true, "executor": "scripted"});
    let made = world.forge.tool("create_task_from_issue", issue.clone()).await;
    assert_eq!((&made["title"], &made["issue"]["number"]), (&json!("[ISSUE] #7-It is broken"), &json!(7)));
    let again = world.forge.tool("create_task_from_issue", issue).await;
    assert_eq!((&again["task_id"], &again["attempt_id"]), (&made["task_id"], &made["attempt_id"]));

    let attempt = json!({"attempt_id": made["attempt_id"]});
    world.forge.tool("wait_for_attempt", attempt.clone()).await;
    assert_eq!(world.forge.tool("get_pr_status", attempt.clone()).await["count"], 0);
    let opened = world.forge.tool("create_pr", attempt.clone()).await;
    let status = world.forge.tool("get_pr_status", attempt).await;
    let pull = &status["pull_requests"][0];
    assert_eq!((&pull["pr_url"], &pull["status"]), (&opened["pr_url"], &json!("open")), "{status:#}");

    let loose = json!({"project_id": world.project, "number": 7, "variant": "PLAN"});
    let loose = world.forge.refused_tool("create_task_from_issue", loose).await;
    assert!(loose.starts_with("variant: 'PLAN'"), "{loose}");
}

#[tokio::test]
async fn what_there_is_to_work_with_is_told_by_name() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let profiles = forge.tool("list_profiles", json!({"project_id": project})).await;
    let claude =
        profiles["executors"].as_array().unwrap().iter().find(|one| one["executor"] == "CLAUDE_CODE");
    let variants = &claude.expect("Claude Code")["variants"];
    assert!(variants.as_array().unwrap().contains(&json!("PLAN")), "{variants}");

    forge.post("/api/forge/agents", &json!({"project_id": project, "agent_type": "wish"})).await.data();
    let agents = forge.tool("list_agents", json!({"project_id": project})).await;
    assert_eq!((&agents["count"], &agents["agents"][0]["agent_type"]), (&json!(1), &json!("wish")));

    let parent = work(&forge, &project, "Parent", "say done").await;
    let child = json!({"project_id": project, "title": "Child", "description": "say done", "executor": "SCRIPTED",
        "base_branch": "main", "parent_task_attempt": parent.id});
    let child = forge.tool("create_task_and_start", child).await;
    let family = forge.tool("get_children", json!({"attempt_id": parent.id})).await;
    assert_eq!(
        (&family["count"], &family["children"][0]["id"]),
        (&json!(1), &child["task_id"]),
        "{family:#}"
    );
    forge.tool("wait_for_attempt", json!({"attempt_id": child["attempt_id"]})).await;

    let wrong = forge.refused_tool("get_usage", json!({"group_by": "moon"})).await;
    assert!(wrong.starts_with("group_by: 'moon'") && wrong.contains("project, executor"), "{wrong}");
}

#[tokio::test]
async fn an_address_that_names_nothing_is_an_error_of_the_protocol() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let templates = forge.ask_mcp("resources/templates/list", json!({})).await;
    let listed = templates["result"]["resourceTemplates"].as_array().unwrap();
    let uris: Vec<String> = listed.iter().map(|template| text(&template["uriTemplate"])).collect();
    assert_eq!(
        uris,
        ["forge://attempt/{id}/logs", "forge://attempt/{id}/diff", "forge://project/{id}/tasks"]
    );
    let tasks =
        forge.ask_mcp("resources/read", json!({"uri": format!("forge://project/{project}/tasks")})).await;
    assert!(text(&tasks["result"]["contents"][0]["text"]).contains(&project), "{tasks:#}");
    for (uri, words) in [
        (format!("forge://attempt/{project}/logs"), "not found"),
        (format!("forge://project/{project}/moon"), "allowed: forge://attempt/<id>/logs"),
        ("file:///etc/passwd".to_owned(), "matches nothing"),
    ] {
        let answer = forge.ask_mcp("resources/read", json!({"uri": uri})).await;
        assert_eq!(answer["result"], Value::Null, "{uri}");
        assert!(text(&answer["error"]["message"]).contains(words), "{uri}: {answer:#}");
    }
    let unknown = forge.ask_mcp("tools/call", json!({"name": "fly"})).await;
    assert!(text(&unknown["error"]["message"]).contains("'fly'"), "{unknown:#}");
}
