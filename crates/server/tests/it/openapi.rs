//! The description of the API is true: it is consistent, and real responses match it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::World;

/// Every `$ref` below `value`.
fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|below| references(below, found));
        }
        Value::Array(items) => items.iter().for_each(|below| references(below, found)),
        _ => {}
    }
}

fn operations(document: &Value) -> impl Iterator<Item = (&String, &String, &Value)> {
    let paths = document["paths"].as_object().unwrap().iter();
    paths.flat_map(|(path, methods)| {
        methods.as_object().unwrap().iter().map(move |(method, operation)| (path, method, operation))
    })
}

#[tokio::test]
async fn the_document_is_sound_in_itself() {
    let world = World::new().await;
    let (_, document) = world.get("/api/openapi.json").await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut ids = BTreeSet::new();
    for (path, method, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        assert!(ids.insert(id), "{method} {path}: {id} is not unique");
        let in_path: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let declared = operation["parameters"].as_array().unwrap().iter();
        let declared =
            declared.filter(|parameter| parameter["in"] == "path" && parameter["required"] == true);
        let declared: BTreeSet<&str> =
            declared.map(|parameter| parameter["name"].as_str().unwrap()).collect();
        assert_eq!(in_path, declared, "{method} {path}");
        let responses = operation["responses"].as_object().unwrap();
        assert!(responses.keys().any(|status| status.starts_with(['1', '2', '3'])), "{method} {path}");
        assert!(
            ["401", "403", "500"].iter().all(|status| responses.contains_key(*status)),
            "{method} {path}"
        );
        for (what, part) in [("summary", &operation["summary"]), ("group", &operation["tags"][0])] {
            assert!(part.as_str().is_some_and(|words| !words.is_empty()), "{method} {path} has no {what}");
        }
        for (status, response) in responses {
            let json = &response["content"]["application/json"];
            let codes = &json["schema"]["allOf"][1]["properties"]["error_code"]["enum"];
            match status.starts_with(['4', '5']) {
                true => {
                    assert!(!codes.as_array().unwrap().is_empty(), "{method} {path}: {status} has no code")
                }
                false => assert!(json.is_null() || !json["example"].is_null(), "{method} {path}: no example"),
            }
        }
        for (media, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
            assert!(!content["example"].is_null(), "{method} {path}: no example of {media}");
        }
        if operation.get("requestBody").is_some() {
            assert!(responses.contains_key("422") || responses.contains_key("413"), "{method} {path}");
        }
    }
    let mut found = Vec::new();
    references(&document, &mut found);
    assert!(found.len() > 100);
    for reference in found {
        let pointer = reference.strip_prefix('#').expect("a reference into the document");
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    let schemes = &document["components"]["securitySchemes"];
    assert_eq!(
        (&schemes["token"]["scheme"], &schemes["session"]["in"]),
        (&json!("bearer"), &json!("cookie"))
    );
    world.close().await;
}

/// What in `value` does not match `schema`; keys that the schema does not name count too.
pub(crate) fn check(document: &Value, schema: &Value, value: &Value, at: &str, faults: &mut Vec<String>) {
    let mut names = BTreeSet::new();
    check_known(document, schema, value, at, faults, &mut names);
    if let (Value::Object(fields), false) = (value, names.is_empty()) {
        faults.extend(
            fields.keys().filter(|key| !names.contains(*key)).map(|key| format!("{at}.{key}: not described")),
        );
    }
}

fn check_known(
    document: &Value,
    schema: &Value,
    value: &Value,
    at: &str,
    faults: &mut Vec<String>,
    names: &mut BTreeSet<String>,
) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = document.pointer(&reference[1..]).unwrap();
        return check_known(document, target, value, at, faults, names);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        check_known(document, part, value, at, faults, names);
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let tried = choices.iter().map(|choice| {
            let mut faults = Vec::new();
            check(document, choice, value, at, &mut faults);
            faults
        });
        faults.extend(tried.min_by_key(Vec::len).unwrap());
        return;
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        faults.push(format!("{at}: {value} is none of {words:?}"));
    }
    if let Some(word) = schema.get("const")
        && word != value
    {
        faults.push(format!("{at}: {value} is not {word}"));
    }
    if let Some(below) = schema.get("additionalProperties") {
        for (name, value) in value.as_object().into_iter().flatten() {
            check(document, below, value, &format!("{at}.{name}"), faults);
        }
    }
    let fits = match schema["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    if !fits {
        faults.push(format!("{at}: {value} is no {}", schema["type"]));
    }
    for (name, below) in schema["properties"].as_object().into_iter().flatten() {
        names.insert(name.clone());
        match value.get(name) {
            Some(value) => check(document, below, value, &format!("{at}.{name}"), faults),
            None if schema["required"].as_array().unwrap().contains(&json!(name)) => {
                faults.push(format!("{at}.{name}: missing"));
            }
            None => {}
        }
    }
    for item in value.as_array().into_iter().flatten() {
        check(document, &schema["items"], item, &format!("{at}[]"), faults);
    }
}

#[tokio::test]
async fn real_answers_are_as_described() {
    let world = World::new().await;
    let (_, document) = world.get("/api/openapi.json").await;
    let project = world.project().await;
    let ask = async |method: &str, route: &str, path: &str, body: Option<Value>| {
        let (status, answer) = world.ask(method, path, body).await;
        assert_eq!(status.as_u16() / 100, 2, "{method} {path}: {answer}");
        let operation = &document["paths"][route][method.to_ascii_lowercase()];
        let schema = &operation["responses"][status.as_str()]["content"]["application/json"]["schema"];
        assert!(schema.is_object(), "{method} {route} describes no {status}");
        let mut faults = Vec::new();
        // Where a rule may refuse it, the other form is that of a failure.
        let schema = schema["anyOf"].get(0).unwrap_or(schema);
        // The envelope's own `data` is any; the route's is in the second part.
        let (schema, value) = match schema["allOf"].as_array() {
            Some(parts) => (&parts[1]["properties"]["data"], &answer["data"]),
            None => (schema, &answer),
        };
        check(&document, schema, value, "$", &mut faults);
        assert!(faults.is_empty(), "{method} {route}: {faults:#?}\n{answer:#}");
        answer["data"].clone()
    };
    let start = json!({"task": {"project_id": project, "title": "t", "description": "true"}, "executor_profile_id": "SHELL"});
    let route = "/api/tasks/create-and-start";
    let task = ask("POST", route, route, Some(start)).await;
    let attempt = task["task_attempt"]["id"].as_str().unwrap().to_owned();
    let task = task["id"].as_str().unwrap().to_owned();
    let place = world.get(&format!("/api/task-attempts/{attempt}")).await.1["data"]["worktree_path"].clone();
    let place = place.as_str().unwrap();
    let tag = json!({"tag_name": "t", "content": "c"});
    let template = json!({"title": "t", "template_name": "n"});
    let question = json!({"tool_name": "Bash", "tool_input": {}, "session_id": "s"});
    let errand = json!({"project_id": project, "prompt": "true", "executor_profile_id": "SHELL"});
    let approval = ask("POST", "/api/approvals/create", "/api/approvals/create", Some(question)).await;
    let approval = approval["id"].as_str().unwrap();
    ask("POST", "/api/tags", "/api/tags", Some(tag)).await;
    ask("POST", "/api/templates", "/api/templates", Some(template)).await;
    ask("POST", "/api/execution-runs", "/api/execution-runs", Some(errand)).await;
    let draft = "/api/task-attempts/{attempt_id}/draft";
    let path = format!("/api/task-attempts/{attempt}/draft?type=follow_up");
    ask("PUT", draft, &path, Some(json!({"prompt": "p"}))).await;
    for (route, path) in [
        ("/health", "/health"),
        ("/api/health", "/api/health"),
        ("/api/routes", "/api/routes"),
        ("/api/forge/auth-required", "/api/forge/auth-required"),
        ("/api/projects", "/api/projects"),
        ("/api/projects/{project_id}", &format!("/api/projects/{project}")),
        ("/api/projects/{project_id}/branches", &format!("/api/projects/{project}/branches")),
        ("/api/projects/{project_id}/tasks", &format!("/api/projects/{project}/tasks")),
        ("/api/tasks", &format!("/api/tasks?project_id={project}")),
        ("/api/tasks/{task_id}", &format!("/api/tasks/{task}")),
        ("/api/task-attempts", "/api/task-attempts"),
        ("/api/task-attempts/{attempt_id}", &format!("/api/task-attempts/{attempt}")),
        (draft, &path),
        ("/api/execution-processes", &format!("/api/execution-processes?task_attempt_id={attempt}")),
        ("/api/execution-runs", "/api/execution-runs"),
        ("/api/tags", "/api/tags"),
        ("/api/templates", "/api/templates"),
        (
            "/api/filesystem/directory",
            &format!("/api/filesystem/directory?path={}", world.dir.path().display()),
        ),
        (
            "/api/filesystem/git-repos",
            &format!("/api/filesystem/git-repos?path={}", world.dir.path().display()),
        ),
        ("/api/containers/info", &format!("/api/containers/info?ref={place}")),
        ("/api/approvals/pending", "/api/approvals/pending"),
        ("/api/approvals/{approval_id}/status", &format!("/api/approvals/{approval}/status")),
        ("/api/profiles", "/api/profiles"),
        ("/api/worktrees", "/api/worktrees"),
        ("/api/projects/{project_id}/conflicts", &format!("/api/projects/{project}/conflicts")),
        ("/api/projects/{project_id}/search", &format!("/api/projects/{project}/search?q=readme")),
        (
            "/api/task-attempts/{attempt_id}/branch-status",
            &format!("/api/task-attempts/{attempt}/branch-status"),
        ),
        ("/api/task-attempts/{attempt_id}/children", &format!("/api/task-attempts/{attempt}/children")),
        ("/api/images/task/{task_id}", &format!("/api/images/task/{task}")),
        ("/api/forge/config", "/api/forge/config"),
        ("/api/forge/projects/{project_id}/settings", &format!("/api/forge/projects/{project}/settings")),
        ("/api/forge/agents", &format!("/api/forge/agents?project_id={project}")),
        ("/api/forge/omni/status", "/api/forge/omni/status"),
        ("/api/forge/omni/notifications", "/api/forge/omni/notifications"),
        (
            "/api/forge/master-genie/{attempt_id}/neurons",
            &format!("/api/forge/master-genie/{attempt}/neurons"),
        ),
        ("/api/forge/neurons/{attempt_id}/subtasks", &format!("/api/forge/neurons/{attempt}/subtasks")),
        ("/api/info", "/api/info"),
        ("/api/agents", "/api/agents"),
        ("/api/config", "/api/config"),
    ] {
        ask("GET", route, path, None).await;
    }
    world.close().await;
}

#[tokio::test]
async fn the_page_for_people_shows_every_route_and_needs_nothing_from_elsewhere() {
    let world = World::new().await;
    let request = axum::http::Request::builder().uri("/docs").header("host", "localhost");
    let response = world.send(request.body(axum::body::Body::empty()).unwrap()).await;
    let page = axum::body::to_bytes(response.into_body(), 4 << 20).await.unwrap();
    let page = String::from_utf8(page.to_vec()).unwrap();
    for route in forge_server::routes() {
        let (method, class) = (route.method, route.method.to_ascii_lowercase());
        let line = format!("<code><b class=\"{class}\">{method}</b>{}</code>", route.path);
        assert!(page.contains(&line), "{line}");
    }
    assert!(
        !page.contains("=\"http") && !page.contains("<script"),
        "examples aside, no address of another server"
    );
    world.close().await;
}
