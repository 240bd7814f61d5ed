//! Agents that a project describes in its `.genie` folder, and the user's own profiles.

use std::path::Path;

use forge_tests::{Answer, TestForge, text};
use serde_json::json;

fn write(repo: &Path, path: &str, content: &str) {
    let path = repo.join(".genie").join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn agent(words: &str) -> String {
    format!("---\nname: hello-you\ngenie:\n  executor: SCRIPTED\n---\n\nsay {words}\n")
}

async fn start(forge: &TestForge, project: &str, variant: &str) -> Answer {
    let task = forge.task(project, "say title").prompt("say description\n");
    task.with("executor_profile_id", json!({"executor": "SCRIPTED", "variant": variant})).ask().await
}

async fn said(forge: &TestForge, attempt: &str) -> String {
    let runs = forge.settled(attempt).await;
    forge.raw_log(&text(&runs.last().unwrap()["id"])).await
}

#[tokio::test]
async fn a_projects_agents_are_started_by_every_name_and_only_there() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("demo").await;
    let (other, _) = forge.project("other").await;
    write(&repo, "code/AGENTS.md", "say common\n");
    write(&repo, "code/agents/hello.md", &agent("first"));
    write(&repo, "agents/broken.md", "---\nname: [\n---\n");

    for variant in ["CODE_HELLO-YOU", "hello you", "DEMO_CODE_HELLO_YOU"] {
        let started = start(&forge, &project, variant).await.data();
        assert_eq!(started["executor"], "SCRIPTED:CODE_HELLO_YOU");
        let attempt = text(&started["task_attempt"]["id"]);
        let log = said(&forge, &attempt).await;
        assert!(log.contains("description") && log.contains("common") && log.contains("first"), "{log}");
        // A follow-up stays the same agent.
        forge
            .post(&format!("/api/task-attempts/{attempt}/follow-up"), &json!({"prompt": "say more\n"}))
            .await
            .data();
        let log = said(&forge, &attempt).await;
        assert!(log.contains("more") && log.contains("first"), "{log}");
    }
    // What was written a moment ago counts.
    write(&repo, "agents/late.md", "---\ngenie: {executor: SCRIPTED}\n---\nsay late\n");
    let started = start(&forge, &project, "late").await.data();
    assert!(said(&forge, &text(&started["task_attempt"]["id"])).await.contains("late"));
    assert!(forge.log().contains("broken.md: front matter"), "{}", forge.log());

    let refused = start(&forge, &other, "CODE_HELLO_YOU").await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    assert!(refused.message().contains("CODE_HELLO_YOU") && refused.message().contains("known: GENIE"));
    assert_eq!(forge.get(&format!("/api/tasks?project_id={other}")).await.data(), json!([]));
}

#[tokio::test]
async fn an_edited_added_or_removed_agent_is_noticed() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("demo").await;
    let path = format!("/api/forge/projects/{project}/profiles");
    let before = forge.get(&path).await.data();
    assert!(before["executors"]["SCRIPTED"]["GENIE"].is_object());
    assert!(before["executors"]["SCRIPTED"].get("HELLO_YOU").is_none());

    let words = |wanted: &'static str| {
        move |profiles: &serde_json::Value| {
            let words = &profiles["executors"]["SCRIPTED"]["HELLO_YOU"]["SCRIPTED"]["append_prompt"];
            words.as_str().is_some_and(|words| words.contains(wanted))
        }
    };
    // The folder did not exist when the project was first looked at.
    write(&repo, "agents/deep/hello.md", &agent("first"));
    forge.until(&path, "the new agent is listed", words("first")).await;
    write(&repo, "agents/deep/hello.md", &agent("second"));
    forge.until(&path, "the edited agent is listed", words("second")).await;
    let started = start(&forge, &project, "HELLO_YOU").await.data();
    assert!(said(&forge, &text(&started["task_attempt"]["id"])).await.contains("second"));
    let content = text(&forge.get(&format!("/api/profiles?project_id={project}")).await.data()["content"]);
    assert!(content.contains("HELLO_YOU"));
    assert!(!text(&forge.get("/api/profiles").await.data()["content"]).contains("HELLO_YOU"));

    // A folder that is replaced as a whole is another folder under the same name.
    std::fs::remove_dir_all(repo.join(".genie")).unwrap();
    forge.until(&path, "the agent is gone", |p| p["executors"]["SCRIPTED"].get("HELLO_YOU").is_none()).await;
    write(&repo, "agents/deep/hello.md", &agent("third"));
    forge.until(&path, "it is back", words("third")).await;
    write(&repo, "agents/deep/hello.md", &agent("fourth"));
    forge.until(&path, "it is still watched", words("fourth")).await;
}

#[tokio::test]
async fn profiles_survive_a_restart_and_what_they_replaced_is_kept() {
    let mut forge = TestForge::start().await;
    let named = |name: &str| json!({"executors": {"SHELL": {name: {"SHELL": {"append_prompt": " x"}}}}});
    for name in ["one", "two"] {
        assert_eq!(
            forge.put("/api/profiles", &named(name)).await.data(),
            "Executor profiles updated successfully"
        );
    }
    let bad = forge.put("/api/profiles", &named("__hidden")).await;
    assert_eq!((bad.status, &bad.body["success"]), (200, &json!(false)), "{}", bad.text);
    forge.crash();
    forge.up().await;
    let content = text(&forge.get("/api/profiles").await.data()["content"]);
    assert!(
        content.contains("\"TWO\"") && !content.contains("\"ONE\""),
        "a save replaces the user's own profiles"
    );
    let kept = std::fs::read_to_string(forge.home().join("profiles.json.1")).unwrap();
    assert!(kept.contains("\"ONE\""));
}
