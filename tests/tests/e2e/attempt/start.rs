//! A start that is refused leaves nothing behind.

use forge_tests::{Answer, TestForge, git, make_program, text};
use serde_json::{Value, json};
use sqlx::Connection;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};

async fn refused(forge: &TestForge, project: &str, start: Value) -> String {
    let mut body = json!({"task": {"project_id": project, "title": "never"}});
    body.as_object_mut().unwrap().extend(start.as_object().unwrap().clone());
    let answer = forge.post("/api/tasks/create-and-start", &body).await;
    assert_eq!(answer.status, 422, "{}", answer.text);
    assert_eq!(answer.body["success"], false);
    answer.message().to_owned()
}

#[tokio::test]
async fn a_refused_start_names_the_field_and_leaves_no_row_no_branch_no_directory() {
    let forge = TestForge::with(&["--spares", "0"], &[]).await;
    let (project, repo) = forge.project("repo").await;
    let branch = json!({"executor_profile_id": "SCRIPTED", "base_branch": "nope"});
    let message = refused(&forge, &project, branch).await;
    assert!(message.contains("base_branch") && message.contains("nope"), "{message}");

    let variant = json!({"executor_profile_id": {"executor": "CLAUDE_CODE", "variant": "code-x"}});
    let message = refused(&forge, &project, variant).await;
    assert!(message.contains("variant") && message.contains("APPROVALS, GENIE, PLAN"), "{message}");

    let executor = json!({"executor_profile_id": {"executor": "NOPE"}});
    let message = refused(&forge, &project, executor).await;
    assert!(message.contains("executor_profile_id") && message.contains("CLAUDE_CODE"), "{message}");

    let program = json!({"executor_profile_id": {"executor": "CURSOR_AGENT"}});
    let message = refused(&forge, &project, program).await;
    assert!(message.contains("Executable `cursor-agent` not found in PATH"), "{message}");

    let tasks = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
    assert_eq!(tasks, json!([]));
    assert_eq!(git(&repo, &["branch", "--format=%(refname:short)"]), "main");
    let left: Vec<_> =
        std::fs::read_dir(forge.worktrees()).unwrap().flatten().map(|entry| entry.path()).collect();
    assert!(left.iter().all(|path| path.file_name().unwrap().to_string_lossy().starts_with('.')), "{left:?}");
    assert_eq!(git(&repo, &["worktree", "list"]).lines().count(), 1);
}

/// Starts a task with an agent that is there and cannot be started.
async fn start_broken(forge: &TestForge) -> Answer {
    let (project, _) = forge.project("repo").await;
    let broken = forge.dir().join("broken-agent");
    make_program(&broken, "#!/no/such/interpreter\n");
    forge.use_as_claude(broken.to_str().unwrap()).await;
    forge.task(&project, "t").agent("CLAUDE_CODE").ask().await
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_leaves_complete_rows_and_a_reason() {
    let forge = TestForge::start().await;
    let answer = start_broken(&forge).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert!(!answer.message().is_empty(), "the reason is told: {}", answer.text);
    let task = answer.data();
    assert_eq!(
        (&task["has_in_progress_attempt"], &task["last_attempt_failed"]),
        (&json!(false), &json!(true))
    );
    assert_eq!(task["status"], "inreview");
    let runs = forge.runs(task["task_attempt"]["id"].as_str().unwrap()).await;
    assert_eq!(runs[0]["status"], "failed");
    let log = forge.raw_log(runs[0]["id"].as_str().unwrap()).await;
    assert!(log.contains("Failed to start execution"), "{log}");
}

#[tokio::test]
async fn a_failed_start_that_the_database_refused_to_record_is_recorded_later() {
    let forge = TestForge::start().await;
    let database = SqliteConnectOptions::new().filename(forge.home().join("db.sqlite"));
    let mut database = SqliteConnection::connect_with(&database).await.unwrap();
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON runs BEGIN SELECT RAISE(ABORT, 'not now'); END";
    sqlx::query(refuse).execute(&mut database).await.unwrap();
    let answer = start_broken(&forge).await;
    let attempt = text(&answer.body["data"]["task_attempt"]["id"]);
    assert!(!answer.message().is_empty(), "the reason is told all the same: {}", answer.text);
    assert_eq!(forge.runs(&attempt).await[0]["status"], "running", "nobody could write its end");
    sqlx::query("DROP TRIGGER refuse").execute(&mut database).await.unwrap();
    assert_eq!(forge.settled(&attempt).await[0]["status"], "failed");
}

#[tokio::test]
async fn a_hundred_starts_at_once_all_succeed() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let starts = (0..100).map(|n| {
        let (forge, project) = (&forge, &project);
        async move {
            forge.start_scripted(project, "same title", &format!("write n{n}.txt {n}\nsay made {n}")).await
        }
    });
    let tasks = futures_util::future::join_all(starts).await;
    for (n, task) in tasks.iter().enumerate() {
        let attempt = &task["task_attempt"];
        let runs = forge.settled(attempt["id"].as_str().unwrap()).await;
        assert_eq!(runs[0]["status"], "completed", "start {n}: {runs:?}");
        let branch = attempt["branch"].as_str().unwrap();
        assert_eq!(git(&repo, &["log", "-1", "--format=%s", branch]), format!("made {n}"));
        assert_eq!(git(&repo, &["show", &format!("{branch}:n{n}.txt")]), n.to_string());
    }
}
