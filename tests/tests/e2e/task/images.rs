//! Pictures reach the agent: in its worktree, named by their absolute path in its prompt, and never in a commit.

use std::path::PathBuf;

use forge_client::Method;
use forge_tests::{TestForge, git, text};
use serde_json::{Value, json};

async fn upload(forge: &TestForge, path: &str, content: &str) -> Value {
    let body = format!(
        "--B\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a.png\"\r\n\r\n{content}\r\n--B--\r\n"
    );
    let request = forge.client().request(Method::POST, path);
    let request = request.header("content-type", "multipart/form-data; boundary=B").body(body);
    let text = request.send().await.unwrap().text().await.unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["data"].clone()
}

#[tokio::test]
async fn an_agent_finds_the_images_of_its_task() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let image = upload(&forge, "/api/images/upload", "pixels").await;
    let path = text(&image["file_path"]);
    let script = format!("cat {path}\ntouch work.txt\n# ![shot]({path})");
    let task = forge.task(&project, "t").agent("SHELL").prompt(&script);
    let task = task.task("image_ids", json!([image["id"]])).start().await;
    let attempt = task.attempt();
    let place = text(&task["task_attempt"]["worktree_path"]);
    let runs = forge.settled(&attempt).await;
    assert!(forge.raw_log(&text(&runs[0]["id"])).await.contains("pixels"));
    let prompt = text(&runs[0]["executor_action"]["typ"]["prompt"]);
    assert!(prompt.contains(&format!("![shot]({place}/{path})")), "{prompt}");
    let place = PathBuf::from(place);
    assert_eq!(std::fs::read_to_string(place.join(".forge-images/.gitignore")).unwrap(), "*\n");
    assert_eq!(git(&place, &["show", "--name-only", "--format=", "HEAD"]), "work.txt");

    let late = upload(&forge, "/api/images/upload", "late pixels").await;
    let follow_up = json!({"prompt": format!("cat {}", text(&late["file_path"])), "image_ids": [late["id"]]});
    forge.post(&format!("/api/task-attempts/{attempt}/follow-up"), &follow_up).await.data();
    let runs = forge.settled(&attempt).await;
    assert!(forge.raw_log(&text(&runs[1]["id"])).await.contains("late pixels"));
    let shown = forge.get(&format!("/api/images/task/{}", text(&task["id"]))).await.data();
    assert_eq!(shown.as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn an_image_for_a_task_reaches_an_agent_at_work() {
    let forge = TestForge::start().await;
    let (project, _) = forge.project("repo").await;
    let wait = "while ! cat .forge-images/*.png 2>/dev/null; do sleep 0.05; done";
    let task = forge.start_with(&project, "SHELL", "t", wait).await;
    upload(&forge, &format!("/api/images/task/{}/upload", text(&task["id"])), "in time").await;
    let runs = forge.settled(&task.attempt()).await;
    assert!(forge.raw_log(&text(&runs[0]["id"])).await.contains("in time"));
}

#[tokio::test]
async fn an_image_uploaded_just_before_a_restart_survives_it() {
    let mut forge = TestForge::start().await;
    let image = upload(&forge, "/api/images/upload", "pixels").await;
    forge.terminate().await;
    forge.up().await;
    let file = forge.get(&format!("/api/images/{}/file", text(&image["id"]))).await;
    assert_eq!((file.status, file.text.as_str()), (200, "pixels"));
}
