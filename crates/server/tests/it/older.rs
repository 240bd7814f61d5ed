//! Bodies that only older clients send. What a wrong value is called in the message is what the route reads.

use serde_json::json;

use crate::world::{UNKNOWN, World, assert_fault};

#[tokio::test]
async fn every_route_knows_the_older_names_of_its_fields() {
    let world = World::new().await;
    let attempt = format!("/api/task-attempts/{UNKNOWN}");
    let project = format!("/api/projects/{UNKNOWN}");
    for (method, path, field) in [
        ("POST", format!("{attempt}/follow-up"), "follow_up_prompt"),
        ("POST", format!("/api/execution-runs/{UNKNOWN}/follow-up"), "follow_up_prompt"),
        ("POST", format!("{attempt}/change-target-branch"), "target_branch"),
        ("POST", format!("{attempt}/rebase"), "base_branch"),
        ("POST", format!("{attempt}/pr"), "description"),
        ("POST", format!("{attempt}/open-editor"), "file"),
        ("POST", format!("{project}/open-editor"), "file"),
        ("POST", format!("{attempt}/draft?type=follow_up"), "content"),
        ("PUT", format!("{attempt}/draft?type=follow_up"), "content"),
        ("POST", format!("{attempt}/draft/queue?type=follow_up"), "execute"),
        ("POST", "/api/projects".to_owned(), "repo_path"),
        ("PUT", project.clone(), "repo_path"),
    ] {
        let answer = world.ask(method, &path, Some(json!({field: [5]}))).await;
        assert_fault(&answer, 422, &format!("{field}: invalid type: sequence"));
    }
    for path in ["/api/tasks/create-and-start".to_owned(), format!("{project}/tasks/create-and-start")] {
        let flat = json!({"project_id": UNKNOWN, "title": [5], "executor_profile_id": "SHELL"});
        assert_fault(&world.ask("POST", &path, Some(flat)).await, 422, "title: invalid type: sequence");
    }
}
