//! What boards are sent beside the events, so that they ask for nothing that changed.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use forge_types::wire::{EventFrame, WireEvent};
use serde_json::{Value, json};

use crate::streams::{Client, connect, next, serve};
use crate::world::{World, assert_fault};

const BOARD: &str = "/api/events/ws?view=board";

/// A new task whose agent, the shell, runs `script`, and its attempt.
async fn start(world: &World, project: &str, script: &str) -> (String, String) {
    let body = json!({
        "task": {"project_id": project, "title": "t", "description": script},
        "executor_profile_id": "SHELL", "base_branch": "main",
    });
    let (status, body) = world.ask("POST", "/api/tasks/create-and-start", Some(body)).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&body["data"]["id"]), text(&body["data"]["task_attempt"]["id"]))
}

/// The first frame for which `pick` has an answer; every frame is one of the wire's.
async fn find<T>(client: &mut Client, mut pick: impl FnMut(&EventFrame) -> Option<T>) -> T {
    loop {
        let frame: EventFrame = serde_json::from_value(next(client).await).unwrap();
        if let Some(found) = pick(&frame) {
            return found;
        }
    }
}

/// Until the card of the task says that its agent is done.
async fn done(client: &mut Client, task: &str) -> Value {
    let card = |frame: &EventFrame| match &frame.event {
        WireEvent::Card(change) if change.task_id.to_string() == task => {
            Some(serde_json::to_value(&change.card).unwrap())
        }
        _ => None,
    };
    loop {
        let card = find(client, card).await;
        if card["status"] == "completed" {
            return card;
        }
    }
}

#[tokio::test]
async fn a_board_is_sent_tasks_without_descriptions_and_cards_and_attempts_as_they_are() {
    let world = World::new().await;
    let project = world.project().await;
    let (address, _server) = serve(&world).await;
    let (mut one, mut other) = (connect(&address, BOARD).await, connect(&address, BOARD).await);
    for client in [&mut one, &mut other] {
        assert_eq!(next(client).await["event"], "hello");
    }
    let (task, attempt) = start(&world, &project, "echo one > one.txt").await;
    for client in [&mut one, &mut other] {
        let of_attempt = find(client, |frame| match &frame.event {
            WireEvent::Card(change) => {
                Some(change.attempts.iter().map(|each| each.id.to_string()).collect::<Vec<_>>())
            }
            _ => None,
        });
        assert_eq!(of_attempt.await, vec![attempt.clone()]);
        let described = find(client, |frame| match &frame.event {
            WireEvent::Patch(patch) if patch[0].path == format!("/tasks/{task}") => patch[0].value.clone(),
            _ => None,
        });
        assert_eq!(described.await["description"], Value::Null);
        let shown = done(client, &task).await;
        assert_eq!((&shown["files_changed"], &shown["additions"]), (&json!(1), &json!(1)));
        let (_, cards) = world.get(&format!("/api/projects/{project}/cards")).await;
        assert_eq!(cards["data"], json!([shown]));
    }
    world.ask("DELETE", &format!("/api/tasks/{task}"), None).await;
    find(&mut one, |frame| match &frame.event {
        WireEvent::Patch(patch) if patch[0].path == format!("/tasks/{task}") => {
            patch[0].value.is_none().then_some(())
        }
        _ => None,
    })
    .await;
    world.close().await;
}

#[tokio::test]
async fn a_board_that_comes_back_is_sent_the_cards_that_changed_meanwhile() {
    let world = World::new().await;
    let project = world.project().await;
    let (address, _server) = serve(&world).await;
    let mut client = connect(&address, BOARD).await;
    let left_at = next(&mut client).await["seq"].as_i64().unwrap();
    let (task, _) = start(&world, &project, "true").await;
    done(&mut client, &task).await;
    drop(client);
    let mut client = connect(&address, &format!("{BOARD}&after={left_at}")).await;
    assert_eq!(next(&mut client).await["seq"], left_at);
    done(&mut client, &task).await;
    let wrong = world.get("/api/events/ws?view=wall").await;
    assert!(wrong.0.is_client_error(), "{wrong:?}");
    world.close().await;
}

#[tokio::test]
async fn every_board_sees_how_branches_are_after_a_merge() {
    let world = World::new().await;
    let project = world.project().await;
    let (address, _server) = serve(&world).await;
    let mut client = connect(&address, BOARD).await;
    let mut attempts = Vec::new();
    for words in ["one", "two"] {
        let (task, attempt) = start(&world, &project, &format!("echo {words} > same.txt")).await;
        done(&mut client, &task).await;
        let (_, status) = world.get(&format!("/api/task-attempts/{attempt}/branch-status")).await;
        assert_eq!((&status["data"]["commits_behind"], &status["data"]["merges"]), (&json!(0), &json!([])));
        attempts.push(attempt);
    }
    let conflicts = format!("/api/projects/{project}/conflicts");
    assert_eq!(world.get(&conflicts).await.1["data"]["target"], json!([]));
    let merge = format!("/api/task-attempts/{}/merge", attempts[0]);
    let merged = world.ask("POST", &merge, Some(json!({}))).await;
    assert_eq!(merged.0, StatusCode::OK, "{merged:?}");
    let mut other = connect(&address, BOARD).await;
    // A look in the middle of the merge shows the middle of it, so each of the three may come more than once.
    let [mut is_merged, mut is_behind, mut is_in_conflict] = [false; 3];
    find(&mut client, |frame| {
        match &frame.event {
            WireEvent::Branch(change) if change.attempt_id.to_string() == attempts[0] => {
                is_merged = change.status.merges.len() == 1;
            }
            WireEvent::Branch(change) if change.attempt_id.to_string() == attempts[1] => {
                is_behind = change.status.commits_behind == Some(1);
            }
            WireEvent::Conflicts(change) => {
                let who: Vec<_> = change.report.target.iter().map(|one| one.attempt_id.to_string()).collect();
                is_in_conflict = who == attempts[1..];
            }
            _ => {}
        }
        (is_merged && is_behind && is_in_conflict).then_some(())
    })
    .await;
    // Somebody commits in a terminal.
    let (_, shown) = world.get(&format!("/api/projects/{project}")).await;
    let path = shown["data"]["git_repo_path"].as_str().unwrap();
    let who = ["-c", "user.name=t", "-c", "user.email=t@t"];
    world.git_in(path, &[&who[..], &["commit", "-q", "--allow-empty", "-m", "by hand"]].concat());
    find(&mut other, |frame| match &frame.event {
        WireEvent::Branch(change) if change.attempt_id.to_string() == attempts[1] => {
            (change.status.commits_behind == Some(2)).then_some(())
        }
        _ => None,
    })
    .await;
    world.close().await;
}

#[tokio::test]
async fn a_board_sees_that_beads_changed() {
    let world = World::new().await;
    let project = world.project().await;
    let (_, shown) = world.get(&format!("/api/projects/{project}")).await;
    let folder = std::path::Path::new(shown["data"]["git_repo_path"].as_str().unwrap()).join(".beads");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("issues.jsonl"), "").unwrap();
    let (address, _server) = serve(&world).await;
    let mut client = connect(&address, BOARD).await;
    next(&mut client).await;
    let (status, listed) = world.get(&format!("/api/beads?project_id={project}")).await;
    assert_eq!((status, &listed["data"]), (StatusCode::OK, &json!([])), "{listed}");
    let body = json!({"project_id": project, "title": "a bead"});
    let made = world.ask("POST", "/api/beads", Some(body)).await;
    assert_eq!(made.0, StatusCode::OK, "{made:?}");
    let changed = find(&mut client, |frame| match &frame.event {
        WireEvent::Beads(project) => Some(project.to_string()),
        _ => None,
    });
    assert_eq!(changed.await, project);
    world.close().await;
}

#[tokio::test]
async fn a_snapshot_comes_over_http_without_descriptions_and_compressed_where_that_is_asked_for() {
    let world = World::new().await;
    let project = world.project().await;
    let body = json!({"project_id": project, "title": "t", "description": "words ".repeat(500)});
    let (_, made) = world.ask("POST", "/api/tasks", Some(body)).await;
    let task = made["data"]["id"].as_str().unwrap();
    let path = format!("/api/tasks/stream?project_id={project}");
    let (_, whole) = world.get(&path).await;
    let (_, brief) = world.get(&format!("{path}&brief=true")).await;
    let first = |page: &Value| page["data"]["frames"][0]["JsonPatch"][0]["value"][task].clone();
    assert_eq!(first(&whole)["description"], made["data"]["description"]);
    let mut same = first(&whole);
    same["description"] = Value::Null;
    assert_eq!((first(&brief), &brief["data"]["finished"]), (same, &json!(false)));
    assert_fault(&world.get(&format!("{path}&brief=perhaps")).await, 400, "brief");
    for (path, encoding) in [(path, Some("gzip")), (format!("/api/tasks/{}", crate::world::UNKNOWN), None)] {
        let request =
            Request::get(path).header(header::HOST, "localhost:8887").header("accept-encoding", "gzip");
        let response = world.send(request.body(Body::empty()).unwrap()).await;
        let header = response.headers().get("content-encoding").map(|value| value.to_str().unwrap());
        assert_eq!(header, encoding);
    }
    world.close().await;
}
