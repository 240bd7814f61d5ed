//! From an issue to a task to a pull request that closes it.

use forge_tests::{Dialect, text};
use serde_json::json;

use crate::publish::Published;

#[tokio::test]
async fn an_issue_becomes_one_task_and_its_pull_request_closes_it() {
    for dialect in [Dialect::Github, Dialect::Gitlab, Dialect::Gitea] {
        let world = Published::with_token(dialect).await;
        world.host.add_issue(7, "It is broken", "write fix.txt x\nsay fixed", &["bug", "Bug", "a\nb"]);
        let path = format!("/api/projects/{}/tasks/from-issue", world.project);
        let made = world.forge.post(&path, &json!({"number": 7})).await.data();
        assert_eq!(made["title"], "[ISSUE] #7-It is broken", "{dialect:?}");
        assert!(text(&made["description"]).starts_with("write fix.txt x\nsay fixed\n\nhttp://"), "{made}");
        assert_eq!((&made["status"], &made["task_attempt"]), (&json!("todo"), &json!(null)));
        assert_eq!(made["issue"]["number"], 7);
        assert_eq!(made["labels"], json!(["bug"]), "{dialect:?}: those that can be labels of tasks");
        let comments = world.host.comments();
        assert_eq!(comments.len(), 1, "{dialect:?}");
        assert!(comments[0].0 == 7 && comments[0].1.contains(&text(&made["id"])), "{comments:?}");

        let url = text(&made["issue"]["url"]);
        let body = json!({"url": url, "start": true, "executor_profile_id": "SHELL", "auto_pr": false});
        let started = world.forge.post(&path, &body).await.data();
        assert_eq!(started["id"], made["id"], "{dialect:?}: the same issue is the same task");
        let attempt = text(&started["task_attempt"]["id"]);
        assert!(!attempt.is_empty(), "a start that was not asked for before can be had");
        world.forge.settled(&attempt).await;
        let third = world.forge.post(&path, &body).await.data();
        assert_eq!(third["task_attempt"]["id"], attempt.as_str(), "and it starts only once");
        assert_eq!(world.host.comments().len(), 1);

        let follow = json!({"prompt": "echo x > fix.txt"});
        world.forge.post(&format!("/api/task-attempts/{attempt}/follow-up"), &follow).await.data();
        world.forge.settled(&attempt).await;
        world.act(&started["task_attempt"], "pr", &json!({"title": "Fix", "body": "Repaired."})).await.data();
        assert_eq!(world.host.pull(1).1, "Repaired.\n\nCloses #7", "{dialect:?}");
    }
}

#[tokio::test]
async fn what_is_no_issue_of_the_project_makes_no_task() {
    let world = Published::with_token(Dialect::Github).await;
    world.host.add_issue(7, "It is broken", "", &[]);
    let path = format!("/api/projects/{}/tasks/from-issue", world.project);
    let cases = [
        (json!({}), 422, "number"),
        (json!({"number": -1}), 422, "number"),
        (json!({"number": 8}), 404, "#8"),
        (json!({"url": "https://github.com/acme/widgets/issues/7"}), 422, "url"),
        (json!({"number": 7, "start": true, "executor_profile_id": "SHELL:NOPE"}), 422, "NOPE"),
        (
            json!({"number": 7, "start": true, "executor_profile_id": "SHELL", "base_branch": "nope"}),
            422,
            "base_branch",
        ),
    ];
    for (body, status, word) in cases {
        let answer = world.forge.post(&path, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        assert!(answer.message().contains(word), "{}", answer.text);
    }
    let tasks = world.forge.get(&format!("/api/tasks?project_id={}", world.project)).await.data();
    assert_eq!(tasks, json!([]));
    assert!(world.host.comments().is_empty());

    world.host.forbid_writing();
    let answer = world.forge.post(&path, &json!({"number": 7})).await;
    assert!(answer.message().contains("no comment"), "a comment that fails is a warning: {}", answer.text);
    assert_eq!(answer.data()["title"], "[ISSUE] #7-It is broken");
}
