//! `forge import`: everything another system knew, once, without a change to the source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;

use forge_tests::{TestForge, err, git, output, text, words};
use serde_json::{Value, json};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, SqliteConnection};

const AUTOMAGIK: &str = include_str!("import/automagik.sql");
const VIBE_2025: &str = include_str!("import/vibe_2025.sql");
const VIBE_2026: &str = include_str!("import/vibe_2026.sql");

const TASK: &str = "00000000-0000-4000-8000-000000000011";
const ATTEMPT: &str = "00000000-0000-4000-8000-00000000a021";
const SECOND: &str = "00000000-0000-4000-8000-00000000a022";

/// An agent that needs no program and no provider.
const AS_SCRIPTED: &str = "UPDATE task_attempts SET executor = 'SCRIPTED';
  UPDATE execution_processes SET executor_action = replace(executor_action, 'CLAUDE_CODE', 'SCRIPTED')";

/// Another system's data: a folder with a database of the given age.
struct Source {
    folder: PathBuf,
    repo: PathBuf,
    old_worktree: PathBuf,
}

impl Source {
    async fn make(forge: &TestForge, sql: &str) -> Self {
        let repo = forge.repository("website");
        let folder = forge.dir().join("other");
        std::fs::create_dir_all(folder.join("images")).unwrap();
        std::fs::write(folder.join("images/old-shot.png"), b"\x89PNG").unwrap();
        let source = Self { old_worktree: forge.dir().join("old-worktree"), folder, repo };
        let mut conn = source.connect().await;
        let sql = sql.replace("{repo}", source.repo.to_str().unwrap());
        let sql = sql.replace("{old}", source.old_worktree.to_str().unwrap());
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
        source
    }

    fn database(&self) -> PathBuf {
        self.folder.join("db.sqlite")
    }

    async fn connect(&self) -> SqliteConnection {
        let options = SqliteConnectOptions::new().filename(self.database()).create_if_missing(true);
        options.connect().await.unwrap()
    }

    async fn run(&self, sql: &str) {
        let mut conn = self.connect().await;
        sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    }

    /// Every file of the source and what is in it.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        contents(&self.folder)
    }
}

fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(contents(&path)),
            false => {
                files.insert(path.clone(), std::fs::read(&path).unwrap());
            }
        }
    }
    files
}

async fn import(forge: &TestForge, system: &str, source: &Source, more: &[&str]) -> Output {
    let mut command = forge.command();
    command.env("FORGE_BACKEND_URL", forge.base()).args(["import", system]).arg(&source.folder).args(more);
    output(command).await
}

async fn report(forge: &TestForge, system: &str, source: &Source, more: &[&str]) -> Value {
    let done = import(forge, system, source, &[&["--json"], more].concat()).await;
    assert!(done.status.success(), "{}", err(&done));
    serde_json::from_slice(&done.stdout).expect("JSON")
}

#[tokio::test]
async fn a_database_of_automagik_forge_comes_over_whole_and_only_once() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    let before = source.files();

    let first = import(&forge, "automagik-forge", &source, &[]).await;
    let told = words(&first);
    assert!(first.status.success(), "{told}");
    for part in
        ["Website  2", "tags: 1", "left out  image 'gone.png'", "Imported; the source was not modified"]
    {
        assert!(told.contains(part), "{part:?} is missing:\n{told}");
    }

    let projects = forge.get("/api/projects").await.data();
    assert_eq!(projects[0]["id"], "00000000-0000-4000-8000-000000000001");
    assert_eq!(projects[0]["created_at"], "2025-06-17T20:08:15.631Z");
    assert_eq!(
        (&projects[0]["setup_script"], &projects[0]["copy_files"]),
        (&json!("echo setup"), &json!(".env"))
    );
    let task = forge.get(&format!("/api/tasks/{TASK}")).await.data();
    assert_eq!((&task["title"], &task["status"]), (&json!("Fix the login"), &json!("inreview")));
    assert_eq!(task["updated_at"], "2025-06-20T08:00:00.000Z");
    let child = forge.get("/api/tasks/00000000-0000-4000-8000-000000000010").await.data();
    assert_eq!(child["parent_task_attempt"], ATTEMPT);

    let images = forge.get(&format!("/api/images/task/{TASK}")).await.data();
    assert_eq!(images[0]["id"], "00000000-0000-4000-8000-000000000051");
    let shown = format!("See ![shot]({})", text(&images[0]["file_path"]));
    assert_eq!(text(&task["description"]), shown, "the description shows the image where it is now");

    let attempt = forge.get(&format!("/api/task-attempts/{ATTEMPT}")).await.data();
    assert_eq!(
        (&attempt["branch"], &attempt["status"]),
        (&json!("forge/a021-fix-the-login"), &json!("completed"))
    );
    let runs = forge.runs(ATTEMPT).await;
    assert_eq!(runs[1]["id"], "00000000-0000-4000-8000-000000000032");
    assert_eq!(runs[1]["started_at"], "2025-06-19T08:01:03.000Z");
    assert_eq!(forge.raw_log(&text(&runs[0]["id"])).await, "setup\n");
    let entries = forge.entries(&text(&runs[1]["id"])).await;
    let said = entries.iter().any(|entry| entry["content"] == "The login works.");
    assert!(said, "a log in pieces is read as one: {entries:#?}");

    let killed = forge.runs(SECOND).await;
    assert_eq!(killed[0]["status"], "killed", "its process is gone");
    let draft = forge.get(&format!("/api/task-attempts/{SECOND}/draft?type=follow_up")).await.data();
    assert_eq!((&draft["prompt"], &draft["queued"]), (&json!("and then this"), &json!(false)));

    let again = import(&forge, "automagik-forge", &source, &[]).await;
    assert!(words(&again).contains("Nothing new: Forge already has all of it"), "{}", words(&again));
    assert_eq!(forge.get("/api/task-attempts").await.data().as_array().unwrap().len(), 2);
    assert!(source.files() == before, "the source is as it was, with nothing beside it");
}

/// Nobody knows the environment of an old run; the server's is what Forge has.
#[tokio::test]
async fn an_old_log_shows_no_secret_of_the_server() {
    let forge =
        TestForge::with(&[], &[("DEMO_TOKEN", "login works"), ("OTHER_TOKEN", "never-printed")]).await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    report(&forge, "automagik-forge", &source, &[]).await;
    let runs = forge.runs(ATTEMPT).await;
    let run = text(&runs[1]["id"]);
    let (log, entries) = (forge.raw_log(&run).await, json!(forge.entries(&run).await).to_string());
    for told in [&log, &entries] {
        assert!(told.contains("The ***.") && !told.contains("login works"), "{told}");
    }
    assert!(!json!(runs).to_string().contains("login works"), "{runs:?}");
    let kept = forge.home().join("runs").join(&run).join("secrets");
    assert_eq!(
        std::fs::read_to_string(kept).unwrap(),
        "login works",
        "what the log does not show is not kept"
    );
}

#[tokio::test]
async fn a_dry_run_tells_the_same_and_changes_nothing() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    let (ours, theirs) = (contents(&forge.home()), source.files());
    let mut tried = report(&forge, "automagik-forge", &source, &["--dry-run"]).await;
    let logs = |path: &Path| path.extension().is_some_and(|end| end == "log");
    let kept = |files: BTreeMap<PathBuf, Vec<u8>>| {
        files.into_iter().filter(|(path, _)| !logs(path)).collect::<BTreeMap<_, _>>()
    };
    assert!(kept(contents(&forge.home())) == kept(ours), "nothing of Forge changed");
    assert!(source.files() == theirs, "nothing of the source changed");
    assert_eq!(forge.get("/api/projects").await.data(), json!([]));

    let done = report(&forge, "automagik-forge", &source, &[]).await;
    assert_eq!((&tried["dry_run"], &done["dry_run"]), (&json!(true), &json!(false)));
    tried["dry_run"] = json!(false);
    assert_eq!(tried, done, "a dry run tells what the import then does");
}

#[tokio::test]
async fn work_goes_on_in_a_worktree_of_forges_own() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    for branch in ["forge/a021-fix-the-login", "forge/a022-fix-the-login"] {
        git(&source.repo, &["branch", branch]);
    }
    source.run(AS_SCRIPTED).await;
    let old = source.old_worktree.to_str().unwrap();
    git(&source.repo, &["worktree", "add", old, "forge/a021-fix-the-login"]);
    std::fs::write(source.old_worktree.join("unsaved.txt"), "work").unwrap();
    import(&forge, "automagik-forge", &source, &[]).await;

    let listed = forge.get("/api/worktrees").await.data();
    assert_eq!(listed["worktrees"], json!([]), "the old worktree is not Forge's");
    let retired = forge.post(&format!("/api/worktrees/{ATTEMPT}/retire"), &json!({})).await;
    assert_eq!(retired.status, 409, "{}", retired.text);
    let shown = forge.get(&format!("/api/task-attempts/{ATTEMPT}")).await.data();
    assert_eq!((&shown["worktree_deleted"], &shown["container_ref"]), (&json!(false), &json!(old)));
    let branch = forge.get(&format!("/api/task-attempts/{ATTEMPT}/branch-status")).await.data();
    assert_eq!(branch["untracked_count"], 1, "uncommitted work is seen");

    let follow_up = json!({"prompt": "write more.txt more"});
    forge.post(&format!("/api/task-attempts/{SECOND}/follow-up"), &follow_up).await.data();
    let runs = forge.settled(SECOND).await;
    assert_eq!(runs.last().unwrap()["status"], "completed", "{runs:#?}");
    assert_eq!(git(&source.repo, &["show", "forge/a022-fix-the-login:more.txt"]).trim(), "more");
    let place = text(&forge.get(&format!("/api/task-attempts/{SECOND}")).await.data()["container_ref"]);
    assert!(Path::new(&place).starts_with(forge.worktrees().canonicalize().unwrap()), "{place}");

    let busy = forge.post(&format!("/api/task-attempts/{ATTEMPT}/follow-up"), &follow_up).await;
    let told = busy.message();
    assert!(busy.status == 409 && told.contains(old) && told.contains("forge worktree adopt"), "{told}");
    let merged = forge.post(&format!("/api/task-attempts/{ATTEMPT}/merge"), &json!({})).await;
    assert_eq!(merged.status, 409, "{}", merged.text);
    let released = worktree(&forge, "release", ATTEMPT).await;
    assert_eq!(released.status.code(), Some(5), "{}", words(&released));
    assert!(words(&released).contains("1 untracked"), "{}", words(&released));
    assert_eq!(std::fs::read_to_string(source.old_worktree.join("unsaved.txt")).unwrap(), "work");

    let adopted = worktree(&forge, "adopt", ATTEMPT).await;
    assert!(adopted.status.success() && words(&adopted).contains("moved from"), "{}", words(&adopted));
    let place = text(&forge.get(&format!("/api/task-attempts/{ATTEMPT}")).await.data()["container_ref"]);
    assert!(Path::new(&place).starts_with(forge.worktrees()), "{place}");
    assert_eq!(std::fs::read_to_string(Path::new(&place).join("unsaved.txt")).unwrap(), "work");
    let goes_on = json!({"prompt": "write next.txt next"});
    forge.post(&format!("/api/task-attempts/{ATTEMPT}/follow-up"), &goes_on).await.data();
    let runs = forge.settled(ATTEMPT).await;
    assert_eq!(runs.last().unwrap()["status"], "completed", "{runs:#?}");
    assert_eq!(git(&source.repo, &["show", "forge/a021-fix-the-login:unsaved.txt"]), "work");
}

async fn worktree(forge: &TestForge, verb: &str, attempt: &str) -> Output {
    let mut command = forge.command();
    command.env("FORGE_BACKEND_URL", forge.base()).args(["worktree", verb, attempt]);
    output(command).await
}

#[tokio::test]
async fn old_worktrees_become_forges_where_they_are_when_the_import_is_told_so() {
    let forge = TestForge::start().await;
    let mut source = Source::make(&forge, AUTOMAGIK).await;
    // The other server had the same folder for its worktrees.
    std::fs::create_dir_all(forge.worktrees()).unwrap();
    let place = forge.worktrees().canonicalize().unwrap().join("a021-old");
    source.old_worktree = place.clone();
    source.run(&format!("UPDATE task_attempts SET container_ref = '{}'", place.display())).await;
    git(&source.repo, &["worktree", "add", "-b", "forge/a021-fix-the-login", place.to_str().unwrap()]);
    std::fs::write(place.join("unsaved.txt"), "work").unwrap();
    let left = report(&forge, "automagik-forge", &source, &[]).await;
    let notes = left["notes"].to_string();
    assert!(
        notes.contains("a021-old with 1 uncommitted files is still the worktree of automagik-forge"),
        "{notes}"
    );

    let done = report(&forge, "automagik-forge", &source, &["--worktrees", "adopt"]).await;
    assert!(done["notes"].to_string().contains("1 worktrees of automagik-forge become Forge's"), "{done:#}");
    let listed = forge.get("/api/worktrees").await.data();
    assert_eq!(
        (&listed["worktrees"][0]["attempt_id"], &listed["worktrees"][0]["standing"]),
        (&json!(ATTEMPT), &json!("in_use"))
    );
    assert_eq!(std::fs::read_to_string(place.join("unsaved.txt")).unwrap(), "work");
    assert!(forge.post(&format!("/api/worktrees/{ATTEMPT}/retire"), &json!({})).await.status < 300);
}

#[tokio::test]
async fn a_clean_old_worktree_lets_go_of_its_branch_and_stays() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    source.run(AS_SCRIPTED).await;
    let old = source.old_worktree.to_str().unwrap();
    git(&source.repo, &["worktree", "add", "-b", "forge/a021-fix-the-login", old]);
    report(&forge, "automagik-forge", &source, &[]).await;
    let released = worktree(&forge, "release", ATTEMPT).await;
    assert!(released.status.success(), "{}", words(&released));
    let goes_on = json!({"prompt": "write next.txt next"});
    forge.post(&format!("/api/task-attempts/{ATTEMPT}/follow-up"), &goes_on).await.data();
    let runs = forge.settled(ATTEMPT).await;
    assert_eq!(runs.last().unwrap()["status"], "completed", "{runs:#?}");
    assert_eq!(git(&source.repo, &["show", "forge/a021-fix-the-login:next.txt"]), "next");
    assert_eq!(git(&source.old_worktree, &["branch", "--show-current"]), "");
    assert!(!source.old_worktree.join("next.txt").exists());
}

#[tokio::test]
async fn the_next_import_takes_what_changed_there_and_leaves_what_changed_here() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    let run = "00000000-0000-4000-8000-000000000033";
    let child = "00000000-0000-4000-8000-000000000010";
    source
        .run(
            "UPDATE tasks SET status = 'inprogress' WHERE title = 'Fix the login';
             INSERT INTO execution_process_logs VALUES (X'00000000000040008000000000000033',
               '{\"Stdout\":\"half\\n\"}' || char(10), 20, '')",
        )
        .await;
    let first = report(&forge, "automagik-forge", &source, &[]).await;
    assert!(first["notes"].to_string().contains("is at work in automagik-forge"), "{first:#}");
    let status = |task: Value| text(&task["status"]);
    assert_eq!(
        status(forge.get(&format!("/api/tasks/{TASK}")).await.data()),
        "inreview",
        "nobody is at work"
    );
    assert_eq!(forge.raw_log(run).await, "half\n");
    let again = import(&forge, "automagik-forge", &source, &[]).await;
    assert!(words(&again).contains("Nothing new"), "{}", words(&again));

    let mine = json!({"title": "Mine"});
    forge.put(&format!("/api/tasks/{child}"), &mine).await.data();
    source
        .run(
            "UPDATE tasks SET status = 'done', description = 'Now ![shot](.forge-images/old-shot.png)'
               WHERE title = 'Fix the login';
             UPDATE tasks SET title = 'Theirs' WHERE title = 'Came from it';
             UPDATE task_attempts SET target_branch = 'trunk' WHERE executor = 'SCRIPTED';
             UPDATE execution_processes SET status = 'completed', exit_code = 0, after_head_commit = 'def',
               completed_at = '2025-06-19T08:09:00+00:00' WHERE status = 'running';
             UPDATE execution_process_logs SET logs = logs || '{\"Stdout\":\"whole\\n\"}' || char(10), byte_size = 41
               WHERE byte_size = 20",
        )
        .await;
    let tried = report(&forge, "automagik-forge", &source, &["--dry-run"]).await;
    let done = report(&forge, "automagik-forge", &source, &[]).await;
    let project = &done["projects"][0];
    assert_eq!(&tried["projects"][0], project, "a dry run tells the same");
    for (kind, changed) in
        [("tasks", json!(1)), ("attempts", json!(1)), ("runs", json!(1)), ("images", json!(0))]
    {
        assert_eq!(
            (&project[kind]["new"], &project[kind]["changed"]),
            (&json!(0), &changed),
            "{kind}: {project:#}"
        );
    }
    let task = forge.get(&format!("/api/tasks/{TASK}")).await.data();
    assert_eq!(status(task.clone()), "done");
    assert!(
        !text(&task["description"]).contains("old-shot.png"),
        "the image keeps the name it has here: {task}"
    );
    let runs = forge.runs(SECOND).await;
    assert_eq!(
        (&runs[0]["status"], &runs[0]["exit_code"], &runs[0]["after_head_commit"]),
        (&json!("completed"), &json!(0), &json!("def"))
    );
    assert_eq!(runs[0]["completed_at"], "2025-06-19T08:09:00.000Z");
    assert_eq!(forge.raw_log(run).await, "half\nwhole\n");
    let attempt = forge.get(&format!("/api/task-attempts/{SECOND}")).await.data();
    assert_eq!(attempt["target_branch"], "trunk");
    assert_eq!(forge.get(&format!("/api/tasks/{child}")).await.data()["title"], "Mine");
    assert!(
        done["notes"].to_string().contains("Task 'Mine' changed here and in automagik-forge"),
        "{done:#}"
    );

    let last = report(&forge, "automagik-forge", &source, &[]).await;
    assert_eq!(last["projects"][0]["tasks"], json!({"new": 0, "changed": 0, "known": 2, "skipped": 0}));
    assert_eq!(last["projects"][0]["runs"], json!({"new": 0, "changed": 0, "known": 3, "skipped": 0}));
}

#[tokio::test]
async fn an_image_that_comes_late_and_the_agents_of_a_project_come_too() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    source
        .run(
            "UPDATE tasks SET description = 'See ![gone](.forge-images/gone.png)' WHERE title = 'Fix the login';
             CREATE TABLE forge_agents (id BLOB PRIMARY KEY, project_id BLOB NOT NULL, agent_type TEXT NOT NULL,
               task_id BLOB NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL);
             INSERT INTO tasks VALUES (X'00000000000040008000000000000019', X'00000000000040008000000000000001', 'Genie',
               NULL, 'agent', NULL, '2025-06-18 08:00:00', '2025-06-18 08:00:00', NULL);
             INSERT INTO forge_agents VALUES (X'00000000000040008000000000000091', X'00000000000040008000000000000001',
               'master', X'00000000000040008000000000000019', '2025-06-18 08:00:00', '2025-06-18 08:00:00')",
        )
        .await;
    let first = report(&forge, "automagik-forge", &source, &[]).await;
    assert_eq!(first["projects"][0]["agents"], json!({"new": 1, "changed": 0, "known": 0, "skipped": 0}));
    let project = text(&first["projects"][0]["id"]);
    let agents = forge.get(&format!("/api/forge/agents?project_id={project}")).await.data();
    assert_eq!(
        (&agents[0]["agent_type"], &agents[0]["task_id"]),
        (&json!("master"), &json!("00000000-0000-4000-8000-000000000019"))
    );
    let master = json!({"project_id": project, "agent_type": "master"});
    assert_eq!(
        forge.post("/api/forge/agents", &master).await.data()["id"],
        agents[0]["id"],
        "no second master"
    );

    std::fs::write(source.folder.join("images/gone.png"), b"\x89PNG late").unwrap();
    let second = report(&forge, "automagik-forge", &source, &[]).await;
    assert_eq!(second["projects"][0]["images"], json!({"new": 1, "changed": 0, "known": 1, "skipped": 0}));
    assert_eq!(second["projects"][0]["agents"], json!({"new": 0, "changed": 0, "known": 1, "skipped": 0}));
    let images = forge.get(&format!("/api/images/task/{TASK}")).await.data();
    let task = forge.get(&format!("/api/tasks/{TASK}")).await.data();
    assert_eq!(text(&task["description"]), format!("See ![gone]({})", text(&images[1]["file_path"])));
    let third = report(&forge, "automagik-forge", &source, &[]).await;
    assert_eq!(third["projects"][0]["images"], json!({"new": 0, "changed": 0, "known": 2, "skipped": 0}));
}

#[tokio::test]
async fn logs_speak_of_the_old_worktree_and_may_hold_any_bytes() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    let file = source.old_worktree.join("src/login.rs");
    let call = json!({"type": "assistant", "message": {"id": "m2", "role": "assistant", "content": [
        {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": file}}]}});
    let line = json!({"Stdout": format!("{call}\n")}).to_string();
    let mut conn = source.connect().await;
    sqlx::query("UPDATE execution_process_logs SET logs = logs || $1 || char(10) WHERE byte_size = 200")
        .bind(line)
        .execute(&mut conn)
        .await
        .unwrap();
    conn.close().await.unwrap();
    source
        .run(
            "INSERT INTO execution_process_logs VALUES (X'00000000000040008000000000000033',
               CAST(X'6361660A63616FFF0A' AS TEXT), 9, '')",
        )
        .await;
    report(&forge, "automagik-forge", &source, &[]).await;
    let entries = forge.entries("00000000-0000-4000-8000-000000000032").await;
    let read = entries.iter().find(|entry| entry["entry_type"]["tool_name"] == "Read");
    assert_eq!(read.expect("the call")["entry_type"]["action_type"]["path"], "src/login.rs", "{entries:#?}");
    let log = forge.raw_log("00000000-0000-4000-8000-000000000033").await;
    assert!(log.contains("caf\ncao\u{fffd}\n") && log.contains("not UTF-8 text"), "{log}");
}

#[tokio::test]
async fn a_project_that_is_here_gets_the_tasks_and_its_board_sees_them_come() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    let body = json!({"name": "Mine", "git_repo_path": source.repo, "use_existing_repo": true});
    let project = text(&forge.post("/api/projects", &body).await.data()["id"]);
    let mut board = forge.socket(&format!("/api/tasks/stream/ws?project_id={project}")).await;
    let done = report(&forge, "automagik-forge", &source, &[]).await;
    assert_eq!(
        (&done["projects"][0]["id"], &done["projects"][0]["standing"]),
        (&json!(project), &json!("merged"))
    );
    loop {
        let frame = board.next().await.expect("the board hears of the task").to_string();
        if frame.contains("Fix the login") {
            break;
        }
    }

    assert_eq!(forge.delete(&format!("/api/tasks/{TASK}")).await.status, 202);
    let again = report(&forge, "automagik-forge", &source, &[]).await;
    assert_eq!(again["projects"][0]["tasks"], json!({"new": 0, "changed": 0, "known": 1, "skipped": 1}));
    assert_eq!(again["skipped"][0]["reason"], "it was imported before and deleted here since");
    assert_eq!(forge.get(&format!("/api/tasks/{TASK}")).await.status, 404);
}

#[tokio::test]
async fn workspaces_and_sessions_are_read_while_their_server_writes() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, VIBE_2026).await;
    let processes = source.folder.join("sessions/00/00000000-0000-4000-8000-000000000061/processes");
    std::fs::create_dir_all(&processes).unwrap();
    let log = "{\"Stdout\":\"from a file\\n\"}\n";
    std::fs::write(processes.join("00000000-0000-4000-8000-000000000032.jsonl"), log).unwrap();
    let before = source.files();
    let done = report(&forge, "vibe-kanban", &source, &[]).await;
    assert!(source.files() == before, "no log and no index appear beside the database");

    let project = &done["projects"][0];
    assert_eq!((&project["tasks"]["new"], &project["runs"]["new"]), (&json!(2), &json!(2)));
    let notes = done["notes"].to_string();
    assert!(notes.contains("left out: /other") && notes.contains("'archivescript'"), "{notes}");
    let attempt = "00000000-0000-4000-8000-000000000021";
    let shown = forge.get(&format!("/api/task-attempts/{attempt}")).await.data();
    assert_eq!((&shown["executor"], &shown["target_branch"]), (&json!("CODEX"), &json!("trunk")));
    let runs = forge.runs(attempt).await;
    assert_eq!(forge.raw_log(&text(&runs[0]["id"])).await, "first\nsecond\n");
    assert_eq!(forge.raw_log(&text(&runs[1]["id"])).await, "from a file\n");
    let tasks = forge.get(&format!("/api/projects/{}/tasks", text(&project["id"]))).await.data();
    let titles: Vec<_> = tasks.as_array().unwrap().iter().map(|task| text(&task["title"])).collect();
    assert!(titles.contains(&"A lone workspace".to_owned()), "{titles:?}");

    // A server that runs keeps its newest rows in the log beside the database.
    let mut server = source.connect().await;
    let late = "INSERT INTO tasks VALUES (X'00000000000040008000000000000012', X'00000000000040008000000000000001', 'Late', NULL,
       'todo', NULL, '2026-01-05 08:00:00', '2026-01-05 08:00:00')";
    sqlx::raw_sql(late).execute(&mut server).await.unwrap();
    let names: Vec<_> = source.files().into_keys().collect();
    let more = report(&forge, "vibe-kanban", &source, &[]).await;
    assert_eq!(more["projects"][0]["tasks"]["new"], 1);
    assert_eq!(source.files().into_keys().collect::<Vec<_>>(), names);

    // What a server that was killed left: a log without its index.
    let copy =
        Source { folder: forge.dir().join("copy"), repo: source.repo.clone(), old_worktree: "".into() };
    std::fs::create_dir(&copy.folder).unwrap();
    for name in ["db.sqlite", "db.sqlite-wal"] {
        std::fs::copy(source.folder.join(name), copy.folder.join(name)).unwrap();
    }
    let before = copy.files();
    let all = report(&forge, "vibe-kanban", &copy, &["--dry-run"]).await;
    assert_eq!(all["projects"][0]["tasks"]["known"], 3, "with what only the log holds");
    assert!(copy.files() == before, "and nothing beside it");
    server.close().await.unwrap();
}

#[tokio::test]
async fn the_first_schema_is_read_and_what_is_strange_is_said() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, VIBE_2025).await;
    let done = report(&forge, "vibe-kanban", &source, &[]).await;
    let notes = done["notes"].to_string();
    for part in
        ["'blocked' is not known", "Agent 'echo' is not known", "no git repository at /nowhere/at/all"]
    {
        assert!(notes.contains(part), "{part:?} is missing: {notes}");
    }
    assert_eq!((&done["templates"]["new"], &done["projects"][0]["templates"]["new"]), (&json!(1), &json!(1)));
    let attempt = "00000000-0000-4000-8000-000000000021";
    let runs = forge.runs(attempt).await;
    assert_eq!((&runs[0]["run_reason"], &runs[0]["exit_code"]), (&json!("setupscript"), &json!(2)));
    let log = forge.raw_log(&text(&runs[0]["id"])).await;
    assert!(log.contains("printed\n") && log.contains("complained\n"), "{log}");
    let tasks = forge.get(&format!("/api/projects/{}/tasks", text(&done["projects"][0]["id"]))).await.data();
    assert_eq!(tasks[0]["has_merged_attempt"], true);
}

#[tokio::test]
async fn what_cannot_be_imported_is_told_with_the_reason() {
    let forge = TestForge::start().await;
    let source = Source::make(&forge, AUTOMAGIK).await;
    let wrong = import(&forge, "automagik-forge", &source, &["--project", "Nope"]).await;
    assert!(!wrong.status.success() && words(&wrong).contains("it has: Website"), "{}", words(&wrong));
    std::fs::write(source.database(), "no database").unwrap();
    let broken = import(&forge, "automagik-forge", &source, &[]).await;
    assert!(words(&broken).contains("it is not an SQLite database"), "{}", words(&broken));
    std::fs::remove_file(source.database()).unwrap();
    let missing = import(&forge, "automagik-forge", &source, &[]).await;
    assert!(words(&missing).contains("there is no database at"), "{}", words(&missing));
    let ours = forge
        .post("/api/import", &json!({"kind": "vibe-kanban", "path": forge.home().join("db.sqlite")}))
        .await;
    assert!(ours.status == 422 && ours.message().contains("Forge itself"), "{}", ours.text);
    let kind = forge.post("/api/import", &json!({"kind": "jira"})).await;
    assert!(
        kind.status == 422 && kind.message().contains("allowed: vibe-kanban, automagik-forge"),
        "{}",
        kind.text
    );
}
