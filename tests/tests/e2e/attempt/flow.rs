//! A task runs as an agent in its own worktree and its work is committed.

use forge_tests::{TestForge, await_file, git, patches, text};
use serde_json::json;

#[tokio::test]
async fn a_started_task_works_in_its_own_worktree_and_its_work_is_committed() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "Say: hello!", "write hello.txt hi\nsay Done with it.").await;
    let attempt = &task["task_attempt"];
    let id = text(&attempt["id"]);

    let name = format!("{}-say-hello", &id[..4]);
    assert_eq!(attempt["branch"], format!("forge/{name}"));
    assert_eq!(attempt["worktree_path"], forge.worktrees().join(&name).to_string_lossy().as_ref());
    assert_eq!(task["task"]["id"], task["id"]);
    assert_eq!(task["attempts"][0]["id"], attempt["id"]);
    assert_eq!((&task["status"], &task["attempt_count"]), (&json!("inprogress"), &json!(1)));

    let runs = forge.settled(&id).await;
    assert_eq!((runs.len(), &runs[0]["status"], &runs[0]["exit_code"]), (1, &json!("completed"), &json!(0)));
    let branch = text(&attempt["branch"]);
    assert_eq!(text(&runs[0]["after_head_commit"]), git(&repo, &["rev-parse", &branch]));
    assert_eq!(text(&runs[0]["before_head_commit"]), git(&repo, &["rev-parse", "main"]));
    assert_eq!(git(&repo, &["log", "-1", "--format=%s", &branch]), "Done with it.");
    assert_eq!(git(&repo, &["show", &format!("{branch}:hello.txt")]), "hi");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "", "the user's checkout is untouched");

    let task = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
    assert_eq!(task["status"], "inreview");
    let attempt = forge.get(&format!("/api/task-attempts/{id}")).await.data();
    assert_eq!((&attempt["status"], &attempt["task"]["title"]), (&json!("completed"), &json!("Say: hello!")));
}

#[tokio::test]
async fn the_streams_tell_the_same_story_live_late_and_resumed() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let gate = await_file("../go");
    let script = format!("say one\nrun {gate}\nstderr trouble\nlines 2000 100\nwrite a.txt x\nsay two");
    let task = forge.start_scripted(&project, "streams", &script).await;
    let run = text(&forge.runs(&task.attempt()).await[0]["id"]);

    for kind in ["raw-logs", "normalized-logs"] {
        let path = format!("/api/execution-processes/{run}/{kind}/ws");
        let mut live = forge.socket(&path).await;
        // The first of the two was there before the rest was said.
        std::fs::write(forge.worktrees().join("go"), "").unwrap();
        let live_frames = live.until_closed().await;
        assert_eq!(live.closed, Some(1000), "{kind} closes normally");
        assert_eq!(live_frames.last(), Some(&json!({"finished": true})));
        let late = forge.socket(&path).await.until_closed().await;
        let told = patches(&late);
        assert_eq!(patches(&live_frames), told, "{kind}: live and replay differ");

        let numbered = forge.socket(&format!("{path}?after=0")).await.until_closed().await;
        let mut count = 0;
        for frame in &numbered {
            count += frame["JsonPatch"].as_array().map_or(1, Vec::len);
            assert_eq!(frame["seq"], count, "{kind}: a frame has the number of its last patch");
        }
        assert_eq!(patches(&numbered), told);
        let resumed = forge.socket(&format!("{path}?after=3")).await.until_closed().await;
        assert_eq!(patches(&resumed), told[3..], "{kind}: resuming after 3 gives the rest");
        assert_eq!(resumed.last(), numbered.last());
    }
    let raw = forge.socket(&format!("/api/execution-processes/{run}/raw-logs/ws")).await.until_closed().await;
    // The other stream may come between two parts of a line.
    let stdout = patches(&raw).into_iter().filter(|op| op["value"]["type"] == "STDOUT");
    let stdout: String = stdout.map(|op| text(&op["value"]["content"])).collect();
    assert_eq!(
        stdout.lines().filter(|line| line.len() == 99 || line.len() == 100).count(),
        2000,
        "no line is lost"
    );
}

#[tokio::test]
async fn the_board_sees_a_task_change_and_go() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let mut socket = forge.socket(&format!("/api/tasks/stream/ws?project_id={project}")).await;
    let snapshot = socket.next().await.unwrap();
    assert_eq!(snapshot, json!({"JsonPatch": [{"op": "replace", "path": "/tasks", "value": {}}]}));

    let task = forge.post("/api/tasks", &json!({"project_id": project, "title": "t"})).await.data();
    let path = format!("/tasks/{}", text(&task["id"]));
    let op = |frame: serde_json::Value| frame["JsonPatch"][0].clone();
    let added = op(socket.next().await.unwrap());
    assert_eq!((&added["op"], &added["path"]), (&json!("add"), &json!(path)));
    assert_eq!(added["value"]["attempt_count"], 0);

    forge.put(&format!("/api{path}"), &json!({"status": "in-review"})).await.data();
    let replaced = op(socket.next().await.unwrap());
    assert_eq!((&replaced["op"], &replaced["value"]["status"]), (&json!("replace"), &json!("inreview")));

    assert_eq!(forge.delete(&format!("/api{path}")).await.status, 202);
    assert_eq!(op(socket.next().await.unwrap()), json!({"op": "remove", "path": path}));
}

#[tokio::test]
async fn a_follow_up_resumes_and_a_replacement_rewinds() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "first", "write a.txt one\nsay first").await;
    let attempt = task.attempt();
    let branch = task.branch();
    forge.settled(&attempt).await;

    let path = format!("/api/task-attempts/{attempt}/follow-up");
    let run = forge.post(&path, &json!({"prompt": "write b.txt two\nsay second"})).await.data();
    assert_eq!(run["executor_action"]["typ"]["type"], "CodingAgentFollowUpRequest");
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs.len(), 2);
    assert_eq!(git(&repo, &["log", "--format=%s", &format!("main..{branch}")]), "second\nfirst");

    let body = json!({"process_id": runs[1]["id"], "prompt": "write c.txt three\nsay third"});
    let replaced = forge.post(&format!("/api/task-attempts/{attempt}/replace-process"), &body).await.data();
    assert_eq!((&replaced["deleted_count"], &replaced["git_reset_applied"]), (&json!(1), &json!(true)));
    let runs = forge.settled(&attempt).await;
    assert_eq!(runs.len(), 2, "the replaced run is hidden");
    assert_eq!(git(&repo, &["log", "--format=%s", &format!("main..{branch}")]), "third\nfirst");
    let all = format!("/api/execution-processes?task_attempt_id={attempt}&show_soft_deleted=true");
    assert_eq!(forge.get(&all).await.data().as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_merge_lands_one_commit_on_a_clean_target_only() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "Please land this", "write a.txt one\nsay done").await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let merge = format!("/api/task-attempts/{attempt}/merge");

    std::fs::write(repo.join("README.md"), "the user is editing\n").unwrap();
    let refused = forge.post(&merge, &json!({})).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    assert!(refused.message().contains("uncommitted changes"), "{}", refused.text);
    assert_eq!(std::fs::read_to_string(repo.join("README.md")).unwrap(), "the user is editing\n");
    assert_eq!(git(&repo, &["rev-list", "--count", "main"]), "1");

    git(&repo, &["checkout", "-q", "README.md"]);
    forge.post(&merge, &json!({})).await.data();
    assert_eq!(git(&repo, &["log", "-1", "--format=%s", "main"]), "Land this");
    assert_eq!(std::fs::read_to_string(repo.join("a.txt")).unwrap().trim(), "one");
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    let task = forge.get(&format!("/api/tasks/{}", text(&task["id"]))).await.data();
    assert_eq!(task["status"], "done");
    assert_eq!(forge.post(&merge, &json!({})).await.status, 409, "merging twice is refused");
}

#[tokio::test]
async fn an_errand_runs_without_a_task() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let body = json!({"project_id": project, "prompt": "write e.txt x\nsay done", "executor_profile_id": "SCRIPTED"});
    let started = forge.post("/api/execution-runs", &body).await.data();
    let id = text(&started["execution_run"]["id"]);
    let branch = format!("run/{}", &id.replace('-', "")[..8]);
    assert_eq!(started["execution_run"]["branch"], branch);
    let path = format!("/api/execution-runs/{id}/processes");
    let runs = forge.until(&path, "the errand has ended", |runs| runs[0]["status"] == "completed").await;
    assert_eq!(runs[0]["execution_run_id"], id);
    assert_eq!(
        git(&repo, &["rev-parse", &branch]),
        git(&repo, &["rev-parse", "main"]),
        "errands are not committed"
    );
    let frames = forge.socket(&format!("/api/execution-runs/{id}/logs/ws")).await.until_closed().await;
    assert!(frames[0]["Stdout"].is_string(), "{frames:?}");
    assert_eq!(frames.last(), Some(&json!({"finished": true})));
}
