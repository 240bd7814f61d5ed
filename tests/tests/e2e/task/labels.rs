//! Labels of tasks: told wherever a task is told, given by every way in, refused by one rule.

use forge_tests::{TestForge, err, out, output, text};
use serde_json::json;

#[tokio::test]
async fn a_label_is_told_wherever_its_task_is_and_stays_until_it_is_taken_away() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let mut events = forge.socket("/api/events/ws").await;
    events.next().await.unwrap();
    let body = json!({"project_id": project, "title": "t", "labels": [" ui ", "bug", "UI"]});
    let task = forge.post("/api/tasks", &body).await.data();
    let want = json!(["ui", "bug"]);
    assert_eq!(task["labels"], want);
    let id = text(&task["id"]);
    assert_eq!(forge.get(&format!("/api/tasks/{id}")).await.data()["labels"], want);
    for list in [format!("/api/tasks?project_id={project}"), format!("/api/projects/{project}/tasks")] {
        assert_eq!(forge.get(&list).await.data()[0]["labels"], want, "{list}");
    }
    assert_eq!(events.next().await.unwrap()["data"][0]["value"]["labels"], want);
    let mut tasks = forge.socket(&format!("/api/tasks/stream/ws?project_id={project}")).await;
    assert_eq!(tasks.next().await.unwrap()["JsonPatch"][0]["value"][&id]["labels"], want);
    assert_eq!(forge.tool("get_task", json!({"task_id": id})).await["task"]["labels"], want);

    let path = format!("/api/tasks/{id}");
    for body in [json!({"title": "u"}), json!({"labels": null, "status": "done"})] {
        assert_eq!(forge.put(&path, &body).await.data()["labels"], want, "{body} keeps them");
    }
    let told = forge.tool("update_task", json!({"task_id": id, "labels": ["docs"]})).await;
    assert_eq!(told["task"]["labels"], json!(["docs"]));
    let bare = forge.put(&path, &json!({"labels": []})).await.data();
    assert!(bare.get("labels").is_none(), "a task without labels says nothing of them: {bare}");
    let made = forge.tool("create_task", json!({"project_id": project, "title": "v", "labels": ["x"]})).await;
    let made = forge.get(&format!("/api/tasks/{}", text(&made["task_id"]))).await.data();
    assert_eq!(made["labels"], json!(["x"]));
    let here = json!({"title": "w", "labels": ["here"]});
    let here = forge.post(&format!("/api/projects/{project}/tasks"), &here).await.data();
    assert_eq!(here["labels"], json!(["here"]));
}

#[tokio::test]
async fn what_is_no_label_is_refused_and_changes_nothing() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let body = json!({"project_id": project, "title": "t", "labels": ["kept"]});
    let task = forge.post("/api/tasks", &body).await.data();
    let path = format!("/api/tasks/{}", text(&task["id"]));
    let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    for (labels, value) in [
        (json!([" "]), "\" \""),
        (json!(["a\u{7}b"]), "control"),
        (json!(["x".repeat(51)]), "too long"),
        (json!(many), "'20'"),
    ] {
        let body = json!({"project_id": project, "title": "no", "labels": labels});
        let start = json!({"task": body, "executor_profile_id": "SHELL"});
        for answer in [
            forge.post("/api/tasks", &body).await,
            forge.post("/api/tasks/create-and-start", &start).await,
            forge.put(&path, &json!({"title": "no", "labels": labels})).await,
        ] {
            assert_eq!(answer.status, 422, "{}", answer.text);
            let message = answer.message();
            assert!(message.starts_with("labels: ") && message.contains(value), "{message}");
            assert!(message.contains("allowed: "), "{message}");
        }
    }
    let tasks = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
    assert_eq!(tasks.as_array().unwrap().len(), 1, "{tasks}");
    assert_eq!((&tasks[0]["title"], &tasks[0]["labels"]), (&json!("t"), &json!(["kept"])));
}

#[tokio::test]
async fn labels_are_given_and_shown_on_the_command_line() {
    let forge = TestForge::start().await;
    let (_, repo) = forge.project("repo").await;
    let run = async |args: &[&str]| {
        let mut command = forge.command();
        command.args(args).current_dir(&repo);
        let done = output(command).await;
        let words = out(&done);
        assert!(done.status.success(), "{args:?}: {words}{}", err(&done));
        words
    };
    assert!(!run(&["task", "list"]).await.contains("LABELS"));
    run(&["task", "add", "Fix the login", "-l", "bug", "--label", "ui"]).await;
    assert!(run(&["task", "show", "Fix the login"]).await.contains("labels    bug, ui"));
    let list = run(&["task", "list"]).await;
    assert!(list.contains("LABELS") && list.contains("bug, ui"), "{list}");
    run(&["task", "edit", "Fix the login", "--label", "docs"]).await;
    assert!(run(&["task", "show", "Fix the login"]).await.contains("labels    docs"));
    run(&["task", "edit", "Fix the login", "--label", ""]).await;
    assert!(!run(&["task", "show", "Fix the login"]).await.contains("labels"));

    let file = forge.dir().join("tasks.json");
    std::fs::write(&file, r#"[{"title": "Batched", "prompt": "say done", "labels": ["night"]}]"#).unwrap();
    run(&["batch", file.to_str().unwrap(), "-x", "SCRIPTED"]).await;
    assert!(run(&["task", "show", "Batched"]).await.contains("labels    night"));
}
