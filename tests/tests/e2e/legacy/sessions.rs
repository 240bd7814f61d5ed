//! `forge sessions`: Genie's sessions come over once and completely, and attempts can be handed back to Genie.

use std::path::{Path, PathBuf};
use std::process::Output;

use forge_tests::{Terminal, TestForge, err, git, output, text, words};
use serde_json::{Value, json};

const OLD: &str = ".genie/state/agents/sessions.json";
const NEW: &str = ".genie/state/tasks.json";
const STATE: &str = ".genie/SESSION-STATE.md";
const ONE: &str = "35a403e3-fe62-4545-bffe-0285dbfa472d";
const TWO: &str = "e84ff7e9-db49-4cdb-8f5b-3c1afd2df94f";
const TASK: &str = "11111111-2222-4333-8444-555555555555";

fn write(top: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = top.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn read(top: &Path, path: &str) -> String {
    std::fs::read_to_string(top.join(path)).unwrap_or_default()
}

async fn sessions(forge: &TestForge, repo: &Path, args: &[&str]) -> Output {
    let mut command = forge.command();
    command.arg("sessions").args(args).current_dir(repo);
    output(command).await
}

async fn import(forge: &TestForge, repo: &Path, args: &[&str]) -> Value {
    let done = sessions(forge, repo, &[&["import", "--json"], args].concat()).await;
    assert!(done.status.success(), "{}", words(&done));
    serde_json::from_slice(&done.stdout).unwrap()
}

fn tally(report: &Value, kind: &str) -> (u64, u64) {
    let tally = &report["projects"][0][kind];
    (tally["new"].as_u64().unwrap(), tally["known"].as_u64().unwrap())
}

/// Every file below a folder with its content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => found.push((path.clone(), std::fs::read(path).unwrap())),
            }
        }
    }
    found.sort();
    found
}

fn first_store() -> Value {
    json!({"version": 1, "agents": {
        "code/fix": {
            "agent": "code/fix", "executor": "claude", "status": "completed", "sessionId": ONE, "exitCode": 0,
            "logFile": ".genie/state/agents/logs/code-fix-1.log", "lastPrompt": "Fix the login",
            "created": "2025-10-01T10:00:00.000Z", "lastUsed": "2025-10-01T11:00:00.000Z", "mood": "good",
        },
        "plan": {"agent": "plan", "status": "running", "created": "2025-10-02T10:00:00.000Z"},
        "version": 2, "executor": "codex",
    }})
}

#[tokio::test]
async fn a_session_becomes_a_task_with_a_finished_attempt_and_its_log() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    write(&repo, OLD, first_store().to_string());
    let log = "plain words\n{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"x\",\"model\":\"m\"}\nthe end";
    write(&repo, ".genie/state/agents/logs/code-fix-1.log", log);
    std::fs::create_dir(repo.join("sub")).unwrap();

    let report = import(&forge, &repo.join("sub"), &[]).await;
    assert_eq!(
        (tally(&report, "tasks"), tally(&report, "attempts"), tally(&report, "runs")),
        ((2, 0), (2, 0), (2, 0))
    );
    let project = text(&report["projects"][0]["id"]);
    let tasks = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
    let task =
        |title: &str| tasks.as_array().unwrap().iter().find(|task| task["title"] == title).unwrap().clone();
    let (fix, plan) = (task("code/fix"), task("plan"));
    assert_eq!(
        (&fix["status"], &plan["status"]),
        (&json!("done"), &json!("cancelled")),
        "nobody works on it now"
    );
    assert_eq!(fix["description"], "Fix the login");
    assert_eq!(fix["created_at"], "2025-10-01T10:00:00.000Z");
    let attempts = forge.get(&format!("/api/task-attempts?task_id={}", text(&fix["id"]))).await.data();
    assert_eq!(
        (&attempts[0]["executor"], &attempts[0]["status"]),
        (&json!("CLAUDE_CODE"), &json!("completed"))
    );
    let runs = forge.runs(&text(&attempts[0]["id"])).await;
    assert_eq!((&runs[0]["status"], &runs[0]["exit_code"]), (&json!("completed"), &json!(0)));
    assert_eq!(runs[0]["completed_at"], "2025-10-01T11:00:00.000Z");
    let told = forge.raw_log(&text(&runs[0]["id"])).await;
    assert!(told.ends_with(&format!("{log}\n")) && told.contains(r#""mood":"good""#), "{told}");
    let other = forge.get(&format!("/api/task-attempts?task_id={}", text(&plan["id"]))).await.data();
    assert_eq!((&other[0]["executor"], &other[0]["status"]), (&json!("CODEX"), &json!("stopped")));
}

#[tokio::test]
async fn a_second_import_and_a_dry_run_change_nothing() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    write(&repo, OLD, first_store().to_string());
    let before = files(&repo.join(".genie"));
    let tried = sessions(&forge, &repo, &["import", "--dry-run"]).await;
    assert!(words(&tried).contains("2 would be new, 0 already imported"), "{}", words(&tried));
    assert_eq!(files(&repo.join(".genie")), before);
    assert_eq!(forge.get("/api/projects").await.data(), json!([]));

    import(&forge, &repo, &[]).await;
    let after = (files(&repo.join(".genie")), forge.get("/api/task-attempts").await.data());
    let again = import(&forge, &repo, &[]).await;
    assert_eq!((tally(&again, "tasks"), tally(&again, "attempts")), ((0, 2), (0, 2)));
    assert_eq!((files(&repo.join(".genie")), forge.get("/api/task-attempts").await.data()), after);
    // The file itself, named from elsewhere, is the same source.
    let store = repo.join(OLD);
    let named = import(&forge, forge.dir(), &[store.to_str().unwrap()]).await;
    assert_eq!(tally(&named, "attempts"), (0, 2));
}

#[tokio::test]
async fn sessions_of_an_older_forge_keep_their_ids_and_share_their_task() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    git(&repo, &["branch", "forge/35a4-fix"]);
    let entry = json!({"agent": "fix", "taskId": TASK, "executor": "CLAUDE_CODE", "executorVariant": "FIX", "status": "completed"});
    write(&repo, NEW, json!({"version": 4, "sessions": {ONE: entry, TWO: entry}}).to_string());
    let named = json!({"agent": "fix", "name": "fix-1", "executorVariant": "FIX", "sessionId": ONE});
    write(&repo, OLD, json!({"version": 3, "sessions": {"fix-1": named}}).to_string());
    let report = import(&forge, &repo, &[]).await;
    assert_eq!((tally(&report, "tasks"), tally(&report, "attempts")), ((1, 0), (2, 0)), "{report:#}");
    let one = forge.get(&format!("/api/task-attempts/{ONE}")).await.data();
    assert_eq!((&one["task_id"], &one["branch"]), (&json!(TASK), &json!("forge/35a4-fix")));
    assert_eq!(forge.get(&format!("/api/task-attempts/{TWO}")).await.data()["task_id"], TASK);
}

#[tokio::test]
async fn the_state_file_gets_the_new_ids_and_copies_are_kept() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let store = first_store().to_string();
    write(&repo, OLD, &store);
    write(&repo, &format!("{OLD}.backup"), "an older copy");
    let state = format!(
        "# State\r\n\r\n### Fix\r\n**Session ID:** `{ONE}`\r\n**Next:** go on\r\n\r\n### Noted only\r\n\
         **Session ID:** `{TWO}`\r\n**Purpose:** Think\r\n**Completed:** 2025-10-03 10:00 UTC\r\n"
    );
    write(&repo, STATE, &state);
    let report = import(&forge, &repo, &[]).await;
    assert_eq!(tally(&report, "attempts"), (3, 0), "one is only in the state file");
    let id = |key: &str| {
        let links = report["attempts"].as_array().unwrap();
        text(&links.iter().find(|link| text(&link["key"]).ends_with(key)).unwrap()["attempt_id"])
    };
    let line = |id: &str| format!("**Attempt ID:** `{id}`\r\n");
    let want = state
        .replace("**Next:**", &(line(&id("#code/fix")) + "**Next:**"))
        .replace("**Purpose:**", &(line(&id(TWO)) + "**Purpose:**"));
    assert_eq!(read(&repo, STATE), want);
    assert_eq!(read(&repo, &format!("{STATE}.backup")), state);
    assert_eq!(read(&repo, &format!("{OLD}.backup")), "an older copy");
    assert_eq!((read(&repo, &format!("{OLD}.backup.1")), read(&repo, OLD)), (store.clone(), store));
    let again = import(&forge, &repo, &[]).await;
    assert_eq!((tally(&again, "attempts"), read(&repo, STATE)), ((0, 3), want));
    assert!(
        !repo.join(format!("{STATE}.backup.1")).exists() && !repo.join(format!("{OLD}.backup.2")).exists()
    );
}

#[tokio::test]
async fn what_is_exported_comes_back_as_links_and_not_as_copies() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let task = forge.start_scripted(&project, "Fix it", &format!("say {}", "x".repeat(300))).await;
    let attempt = task.attempt();
    forge.settled(&attempt).await;
    let printed = sessions(&forge, &repo, &["export"]).await;
    let store: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let entry = &store["sessions"][&attempt];
    assert_eq!((&store["version"], &entry["taskId"]), (&json!(4), &task["id"]));
    assert_eq!((&entry["executor"], &entry["status"]), (&json!("SCRIPTED"), &json!("completed")));
    assert_eq!(text(&entry["lastPrompt"]).chars().count(), 200);
    assert_eq!(
        text(&entry["forgeUrl"]),
        format!(
            "{}/projects/{project}/tasks/{}/attempts/{attempt}?view=diffs",
            forge.base(),
            text(&task["id"])
        )
    );

    let refused = sessions(&forge, &repo, &["export", "--write"]).await;
    assert_eq!(refused.status.code(), Some(2), "{}", words(&refused));
    let kept = json!({"agent": "mine", "note": "kept"});
    write(
        &repo,
        NEW,
        json!({"version": 4, "theme": "dark", "sessions": {"mine": kept, (&attempt): kept}}).to_string(),
    );
    let written = sessions(&forge, &repo, &["export", "--write"]).await;
    assert!(written.status.success(), "{}", words(&written));
    let merged: Value = serde_json::from_str(&read(&repo, NEW)).unwrap();
    assert_eq!((&merged["theme"], &merged["sessions"]["mine"]), (&json!("dark"), &kept));
    assert_eq!(
        (&merged["sessions"][&attempt]["note"], &merged["sessions"][&attempt]["agent"]),
        (&json!("kept"), &json!("mine")),
        "what Genie knows of a session stays"
    );
    assert!(!repo.join(format!("{NEW}.lock")).exists());

    write(&repo, NEW, &printed.stdout);
    let report = import(&forge, &repo, &[]).await;
    assert_eq!((tally(&report, "tasks"), tally(&report, "attempts")), ((0, 1), (0, 1)), "{report:#}");
    assert_eq!(forge.runs(&attempt).await.len(), 1);
    assert_eq!(forge.get("/api/task-attempts").await.data().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_cannot_be_imported_is_said() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let none = sessions(&forge, &repo, &["import"]).await;
    assert_eq!(none.status.code(), Some(4), "{}", words(&none));
    assert!(words(&none).contains("no sessions of Genie"), "{}", words(&none));
    write(&repo, NEW, "");
    let empty = sessions(&forge, &repo, &["import"]).await;
    assert_eq!(empty.status.code(), Some(4), "{}", words(&empty));
    assert!(words(&empty).contains(&format!("{NEW} has none")), "{}", words(&empty));
    write(&repo, NEW, "{ broken");
    let broken = sessions(&forge, &repo, &["import", NEW]).await;
    assert_eq!(broken.status.code(), Some(5), "{}", words(&broken));
    assert!(words(&broken).contains("is not a session store"), "{}", words(&broken));
    let broken = sessions(&forge, &repo, &["import"]).await;
    assert_eq!(broken.status.code(), Some(5), "{}", words(&broken));
    assert!(words(&broken).contains(&format!("{NEW} cannot be read")), "{}", words(&broken));
    assert_eq!(forge.get("/api/projects").await.data(), json!([]), "no empty project is left");
    // A log outside of the repository is not read, whatever a store says.
    write(forge.dir(), "secret.txt", "a secret");
    let entry = json!({"agent": "a", "status": "completed", "logFile": forge.dir().join("secret.txt")});
    write(&repo, NEW, json!({"agents": {"a": entry}}).to_string());
    let report = import(&forge, &repo, &[]).await;
    let runs = forge.runs(&text(&report["attempts"][0]["attempt_id"])).await;
    assert!(!forge.raw_log(&text(&runs[0]["id"])).await.contains("a secret"));
}

#[tokio::test]
async fn a_command_at_a_terminal_tells_of_sessions_once_and_offers_them() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    write(&repo, OLD, first_store().to_string());
    let run = || {
        let mut command = forge.command();
        command.args(["run", "-a", "SCRIPTED", "say hello"]).current_dir(&repo).env("TERM", "xterm");
        command
    };
    let mut first = Terminal::start(run(), 200);
    first.until("2 in .genie/state/agents/sessions.json").await;
    first.until("[y/N]").await;
    first.type_line("y");
    assert!(first.ended().await.success(), "{}", first.screen());
    assert!(first.screen().contains(": 2 new") && first.screen().contains("hello"), "{}", first.screen());
    let mut second = Terminal::start(run(), 200);
    assert!(second.ended().await.success());
    assert!(!second.screen().contains("Genie"), "{}", second.screen());

    // Another content is another matter.
    write(&repo, NEW, json!({"sessions": {ONE: {"agent": "x"}}}).to_string());
    let mut third = Terminal::start(run(), 200);
    third.until("(1 in .genie/state/tasks.json)").await;
    third.type_line("");
    assert!(third.ended().await.success());
    assert_eq!(forge.get("/api/projects").await.data().as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_command_without_a_terminal_imports_by_itself_and_says_so_once() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let store = first_store().to_string();
    write(&repo, OLD, &store);
    let list = async || {
        let mut command = forge.command();
        command.args(["list", "--json"]).current_dir(&repo).stdin(std::process::Stdio::null());
        output(command).await
    };
    let first = list().await;
    let told = err(&first);
    assert!(first.status.success() && told.contains("imported Genie's sessions"), "{told}");
    assert!(told.contains("2 new") && told.contains("is a copy of the store"), "{told}");
    let listed: Value = serde_json::from_slice(&first.stdout).expect("nothing but JSON");
    assert!(listed.to_string().contains("code/fix"), "the command sees what came: {listed:#}");
    assert_eq!((read(&repo, &format!("{OLD}.backup")), read(&repo, OLD)), (store.clone(), store));
    let second = list().await;
    assert_eq!(err(&second), "");

    write(&repo, NEW, "{ broken");
    write(&repo, OLD, "{ broken too");
    let third = list().await;
    assert!(third.status.success(), "never a reason to fail: {}", words(&third));
    assert_eq!(forge.get("/api/task-attempts").await.data().as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn a_session_that_goes_on_after_its_import_is_followed() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let log = ".genie/state/agents/logs/fix-1.log";
    let entry = |status: &str| {
        json!({"agents": {"fix": {"agent": "fix", "executor": "claude", "status": status, "logFile": log,
            "created": "2025-10-01T10:00:00.000Z", "lastUsed": "2025-10-01T11:00:00.000Z"}}})
    };
    write(&repo, OLD, entry("running").to_string());
    write(&repo, log, "one\n");
    let first = import(&forge, &repo, &[]).await;
    let attempt = text(&first["attempts"][0]["attempt_id"]);
    write(&repo, OLD, entry("completed").to_string());
    write(&repo, log, "one\ntwo\n");
    git(&repo, &["switch", "-q", "-c", "elsewhere"]);
    let second = import(&forge, &repo, &[]).await;
    let changed = |kind: &str| second["projects"][0][kind]["changed"].clone();
    assert_eq!((changed("tasks"), changed("attempts"), changed("runs")), (json!(1), Value::Null, json!(1)));
    let task = forge.get(&format!("/api/tasks/{}", text(&first["attempts"][0]["task_id"]))).await.data();
    assert_eq!(task["status"], "done");
    let runs = forge.runs(&attempt).await;
    assert_eq!((&runs[0]["status"], runs.len()), (&json!("completed"), 1));
    assert!(forge.raw_log(&text(&runs[0]["id"])).await.ends_with("one\ntwo\n"));
}

#[tokio::test]
async fn what_genie_knows_of_a_session_comes_back_with_the_export() {
    let forge = TestForge::start().await;
    let repo = forge.repository("repo");
    let entry = json!({"agent": "code/plain", "executor": "CLAUDE_CODE", "executorVariant": "DEFAULT", "mode": "background",
        "model": "sonnet", "preset": "plain", "status": "completed", "taskId": TASK});
    let lost = json!({"agent": "lost", "executor": "SCRIPTED", "status": "completed"});
    write(&repo, NEW, json!({"version": 4, "sessions": {ONE: entry, TWO: lost}}).to_string());
    import(&forge, &repo, &[]).await;
    let attempt = forge.get(&format!("/api/task-attempts/{ONE}")).await.data();
    assert_eq!(attempt["executor_profile_id"]["model"], "sonnet", "a follow-up has the same model");
    let printed = sessions(&forge, &repo, &["export"]).await;
    let store: Value = serde_json::from_slice(&printed.stdout).unwrap();
    for field in ["agent", "mode", "model", "preset", "executorVariant"] {
        assert_eq!(store["sessions"][ONE][field], entry[field], "{field}: {store:#}");
    }

    let follow_up = json!({"prompt": "go on"});
    let lost = forge.post(&format!("/api/task-attempts/{TWO}/follow-up"), &follow_up).await;
    assert_eq!(lost.status, 404, "{}", lost.text);
    let told = lost.message();
    assert!(told.contains("Branch not found: forge/e84f-lost") && told.contains("git branch"), "{told}");
}
