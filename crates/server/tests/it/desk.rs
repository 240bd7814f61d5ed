//! Drafts, tags, templates, folders and questions, without an agent.

use axum::http::StatusCode;
use pretty_assertions::assert_eq;
use serde_json::{Value, json};

use crate::world::{UNKNOWN, World, assert_fault};

fn id(value: &Value) -> String {
    value["id"].as_str().unwrap().to_owned()
}

/// An attempt whose agent has ended.
async fn attempt(world: &World) -> String {
    let project = world.project().await;
    let body = json!({"task": {"project_id": project, "title": "t", "description": "true"}, "executor_profile_id": "SHELL"});
    let (_, body) = world.ask("POST", "/api/tasks/create-and-start", Some(body)).await;
    let attempt = id(&body["data"]["task_attempt"]);
    ended(world, &attempt, 1).await;
    attempt
}

async fn ended(world: &World, attempt: &str, count: usize) -> Vec<Value> {
    let path = format!("/api/execution-processes?task_attempt_id={attempt}");
    for _ in 0..1000 {
        let runs = world.get(&path).await.1["data"].as_array().unwrap().clone();
        if runs.len() >= count && runs.iter().all(|run| run["status"] != "running") {
            return runs;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("{attempt} does not come to its end");
}

#[tokio::test]
async fn a_draft_is_saved_in_parts_and_every_change_counts() {
    let world = World::new().await;
    let path = format!("/api/task-attempts/{}/draft?type=follow_up", attempt(&world).await);
    let (_, empty) = world.get(&path).await;
    assert_eq!((&empty["data"]["prompt"], &empty["data"]["version"]), (&json!(""), &json!(0)));
    let saved =
        async |method: &str, body: Value| world.ask(method, &path, Some(body)).await.1["data"].clone();
    let first = saved("PUT", json!({"prompt": "a", "variant": "PLAN"})).await;
    assert_eq!((&first["version"], &first["queued"]), (&json!(1), &json!(false)));
    let second = saved("POST", json!("b")).await;
    assert_eq!(
        (&second["prompt"], &second["variant"], &second["version"]),
        (&json!("b"), &json!("PLAN"), &json!(2))
    );
    let third = saved("POST", json!({"content": "c", "variant": null, "version": 2})).await;
    assert_eq!(
        (&third["prompt"], &third["variant"], &third["version"]),
        (&json!("c"), &json!("PLAN"), &json!(3))
    );
    assert_eq!(saved("PUT", json!({"prompt": "c"})).await["version"], 3, "no change, no new version");
    assert_fault(
        &world.ask("PUT", &path, Some(json!({"prompt": "d", "version": 2}))).await,
        409,
        "version 3",
    );
    assert_eq!(world.ask("DELETE", &path, None).await.0, StatusCode::OK);
    assert_eq!(world.get(&path).await.1["data"]["version"], 0);
    world.close().await;
}

#[tokio::test]
async fn a_draft_that_makes_no_sense_is_refused_with_its_field() {
    let world = World::new().await;
    let attempt = attempt(&world).await;
    let base = format!("/api/task-attempts/{attempt}/draft");
    let put =
        async |kind: &str, body: Value| world.ask("PUT", &format!("{base}?type={kind}"), Some(body)).await;
    assert_fault(&put("other", json!({})).await, 400, "follow_up, retry");
    assert_fault(&world.get(&base).await, 400, "type");
    assert_fault(&put("follow_up", json!({"prompt": 3})).await, 422, "prompt");
    assert_fault(&put("follow_up", json!([1])).await, 422, "");
    assert_fault(&put("follow_up", json!({"image_ids": [UNKNOWN]})).await, 404, "image_ids");
    assert_fault(&put("retry", json!({"prompt": "x"})).await, 422, "retry_process_id");
    let stranger = json!({"prompt": "x", "retry_process_id": UNKNOWN});
    assert_fault(&put("retry", stranger).await, 422, "Process not found");
    let queue = async |query: &str, body: Value| {
        world.ask("POST", &format!("{base}/queue?{query}"), Some(body)).await
    };
    assert_fault(&queue("type=follow_up", json!({"queued": true})).await, 409, "No draft to queue");
    assert_fault(&queue("type=follow_up", json!({})).await, 422, "queued");
    assert_fault(&queue("type=retry", json!({"queued": true})).await, 422, "follow_up");
    put("follow_up", json!({"prompt": " \n"})).await;
    let (_, blank) = queue("type=follow_up", json!({"queued": true})).await;
    assert_eq!(blank["data"]["queued"], false, "there is nothing to send");
    let expected = json!({"queued": true, "expected_queued": true});
    assert_fault(&queue("type=follow_up", expected).await, 409, "not queued");
    let expected = json!({"queued": true, "expected_version": 9});
    assert_fault(&queue("type=follow_up", expected).await, 409, "version 1");
    assert_fault(&world.get(&format!("/api/task-attempts/{UNKNOWN}/draft?type=retry")).await, 404, UNKNOWN);
    world.close().await;
}

#[tokio::test]
async fn a_draft_queued_while_nothing_runs_is_sent_at_once() {
    let world = World::new().await;
    let attempt = attempt(&world).await;
    let path = format!("/api/task-attempts/{attempt}/draft/queue?type=follow_up");
    let body = json!({"execute": true, "prompt": "echo from the draft"});
    let (status, draft) = world.ask("POST", &path, Some(body)).await;
    assert_eq!(status, StatusCode::OK, "{draft}");
    assert_eq!((&draft["data"]["prompt"], &draft["data"]["queued"]), (&json!(""), &json!(false)));
    let runs = ended(&world, &attempt, 2).await;
    assert_eq!(runs.len(), 2);
    assert_eq!(runs[1]["executor_action"]["typ"]["prompt"], "echo from the draft");
    world.close().await;
}

#[tokio::test]
async fn a_draft_that_cannot_be_sent_is_the_users_again() {
    let world = World::new().await;
    let attempt = attempt(&world).await;
    let path = format!("/api/task-attempts/{attempt}/draft");
    let body = json!({"prompt": "x", "variant": "NO_SUCH"});
    world.ask("PUT", &format!("{path}?type=follow_up"), Some(body)).await;
    let queue = format!("{path}/queue?type=follow_up");
    assert_fault(&world.ask("POST", &queue, Some(json!({"queued": true}))).await, 422, "NO_SUCH");
    let (_, draft) = world.get(&format!("{path}?type=follow_up")).await;
    assert_eq!(
        (&draft["data"]["prompt"], &draft["data"]["queued"], &draft["data"]["sending"]),
        (&json!("x"), &json!(false), &json!(false))
    );
    world.close().await;
}

#[tokio::test]
async fn tags_are_one_word_and_found_by_any_part_of_it() {
    let world = World::new().await;
    let create = async |name: &str, content: &str| {
        world.ask("POST", "/api/tags", Some(json!({"tag_name": name, "content": content}))).await
    };
    assert_fault(&create("two words", "x").await, 422, "two words");
    assert_fault(&create("empty", " ").await, 422, "content");
    let (_, zebra) = create("Zebra", "z").await;
    create("ant", "a").await;
    let names = async |path: &str| {
        let (_, body) = world.get(path).await;
        body["data"].as_array().unwrap().iter().map(|tag| tag["tag_name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names("/api/tags?search=EBR").await, ["Zebra"]);
    assert_eq!(names("/api/tags").await.len(), 2);
    let path = format!("/api/tags/{}", id(&zebra["data"]));
    assert_fault(&world.ask("PUT", &path, Some(json!({"tag_name": "a b"}))).await, 422, "tag_name");
    let (_, updated) = world.ask("PUT", &path, Some(json!({"content": "new"}))).await;
    assert_eq!((&updated["data"]["tag_name"], &updated["data"]["content"]), (&json!("Zebra"), &json!("new")));
    assert_eq!(world.get(&path).await.1["data"], updated["data"]);
    assert_eq!(world.ask("DELETE", &path, None).await.0, StatusCode::OK);
    assert_fault(&world.get(&path).await, 404, "Tag not found");
    assert_fault(&world.ask("DELETE", &path, None).await, 404, "Tag not found");
    world.close().await;
}

#[tokio::test]
async fn templates_belong_to_a_project_or_to_all() {
    let world = World::new().await;
    let project = world.project().await;
    let create = async |body: Value| world.ask("POST", "/api/templates", Some(body)).await;
    let (_, global) = create(json!({"title": "T", "template_name": "b"})).await;
    let (_, own) =
        create(json!({"title": "T", "template_name": "a", "project_id": project, "description": "d"})).await;
    let stranger = json!({"title": "T", "template_name": "a", "project_id": UNKNOWN});
    assert_fault(&create(stranger).await, 404, "project_id");
    assert_fault(&create(json!({"title": "T", "template_name": ""})).await, 422, "template_name");
    for (query, want) in [
        ("", json!([own["data"], global["data"]])),
        ("?global=true", json!([global["data"]])),
        (&format!("?project_id={project}"), json!([own["data"]])),
    ] {
        assert_eq!(world.get(&format!("/api/templates{query}")).await.1["data"], want, "{query}");
    }
    let both = format!("/api/templates?global=true&project_id={project}");
    assert_fault(&world.get(&both).await, 400, "not both");
    let path = format!("/api/templates/{}", id(&own["data"]));
    let (_, updated) = world.ask("PUT", &path, Some(json!({"title": "U"}))).await;
    assert_eq!((&updated["data"]["title"], &updated["data"]["description"]), (&json!("U"), &json!("d")));
    let (_, cleared) = world.ask("PUT", &path, Some(json!({"description": null}))).await;
    assert_eq!(cleared["data"]["description"], Value::Null);
    world.ask("DELETE", &format!("/api/projects/{project}"), None).await;
    assert_fault(&world.get(&path).await, 404, "Template not found");
    world.close().await;
}

#[tokio::test]
async fn a_path_leads_to_the_attempt_that_works_there() {
    let world = World::new().await;
    let attempt = attempt(&world).await;
    let (_, shown) = world.get(&format!("/api/task-attempts/{attempt}")).await;
    let place = shown["data"]["worktree_path"].as_str().unwrap();
    let inside = format!("{place}/src");
    std::fs::create_dir(&inside).unwrap();
    for path in [place, &inside, &format!("{place}/"), &format!("{place}/not/there")] {
        let (_, found) = world.get(&format!("/api/containers/info?ref={path}")).await;
        assert_eq!(found["data"]["attempt_id"], json!(attempt), "{path}");
    }
    let above = std::path::Path::new(place).parent().unwrap().display().to_string();
    for path in ["/nope", &above, "relative"] {
        assert_fault(&world.get(&format!("/api/containers/info?ref={path}")).await, 404, path);
    }
    assert_fault(&world.get("/api/containers/info").await, 400, "ref");
    world.close().await;
}

#[tokio::test]
async fn a_question_is_answered_once_in_either_form() {
    let world = World::new().await;
    let body = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "nobody"});
    let ask = async || {
        let (_, body) = world.ask("POST", "/api/approvals/create", Some(body.clone())).await;
        assert_eq!(body["id"], body["data"]["id"], "both forms at once: {body}");
        id(&body)
    };
    let (first, second) = (ask().await, ask().await);
    let (_, pending) = world.get("/api/approvals/pending").await;
    assert_eq!(pending["data"].as_array().unwrap().len(), 2);
    assert_eq!(pending["data"][0]["execution_process_id"], Value::Null);

    let native = json!({"execution_process_id": UNKNOWN, "status": {"status": "denied", "reason": "no"}});
    let path = format!("/api/approvals/{first}/respond");
    let wrong = json!({"execution_process_id": UNKNOWN, "status": {"status": "pending"}});
    assert_fault(&world.ask("POST", &path, Some(wrong)).await, 422, "approved, denied");
    let answer = world.ask("POST", &path, Some(native.clone())).await;
    assert_eq!(answer, (StatusCode::OK, json!({"status": "denied", "reason": "no"})));
    assert_fault(&world.ask("POST", &path, Some(native.clone())).await, 409, "it is denied");
    let (_, status) = world.get(&format!("/api/approvals/{first}/status")).await;
    assert_eq!((&status["status"], &status["data"]["reason"]), (&json!("denied"), &json!("no")));

    let waiting = format!("/api/approvals/{second}/status?wait=60");
    let path = format!("/api/approvals/{second}/respond");
    let answer = async {
        tokio::task::yield_now().await;
        world.ask("POST", &path, Some(json!({"approved": true}))).await
    };
    let (heard, (_, answer)) = tokio::join!(world.get(&waiting), answer);
    assert_eq!((&answer["success"], &answer["data"]), (&json!(true), &json!({"status": "approved"})));
    assert_eq!(heard.1["status"], "approved", "who waits hears the answer");
    assert_eq!(world.get("/api/approvals/pending").await.1["data"], json!([]));
    for unknown in [UNKNOWN, "not-an-id"] {
        let path = format!("/api/approvals/{unknown}/respond");
        assert_fault(&world.ask("POST", &path, Some(native.clone())).await, 404, unknown);
    }
    world.close().await;
}
