//! Who may speak to the server.

use forge_tests::TestForge;
use reqwest::Method;
use serde_json::json;

/// The head of a WebSocket request.
const UPGRADE: [(&str, &str); 4] = [
    ("connection", "upgrade"),
    ("upgrade", "websocket"),
    ("sec-websocket-version", "13"),
    ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
];

#[tokio::test]
async fn a_web_page_of_another_origin_cannot_drive_the_api() {
    let forge = TestForge::start().await;
    for (name, value) in [("origin", "https://evil.example"), ("host", "evil.example")] {
        let answer = forge.send_with(Method::GET, "/api/projects", None, &[(name, value)]).await;
        assert_eq!(answer.status, 403, "{name}: {}", answer.text);
        assert_eq!(answer.body["success"], false);
        let body = json!({"name": "x", "git_repo_path": "/", "use_existing_repo": true});
        let answer = forge.send_with(Method::POST, "/api/projects", Some(&body), &[(name, value)]).await;
        assert_eq!(answer.status, 403);
    }
    let same = forge.base().to_owned();
    let answer = forge.send_with(Method::GET, "/api/projects", None, &[("origin", &same)]).await;
    assert_eq!(answer.status, 200, "the board's own origin is welcome");
    let upgrade = [
        ("connection", "upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("origin", "https://evil.example"),
    ];
    let path = "/api/tasks/stream/ws?project_id=00000000-0000-0000-0000-000000000000";
    assert_eq!(forge.send_with(Method::GET, path, None, &upgrade).await.status, 403);
}

#[tokio::test]
async fn a_token_is_asked_for_when_it_is_required_and_never_returned() {
    let forge = TestForge::with(&["--require-token"], &[]).await;
    assert_eq!(forge.get("/health").await.status, 200);
    let refused = forge.get("/api/projects").await;
    assert_eq!(refused.status, 401, "{}", refused.text);
    let token = std::fs::read_to_string(forge.home().join("token")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(forge.home().join("token")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
    let bearer = format!("Bearer {}", token.trim());
    let welcome = forge.send_with(Method::GET, "/api/projects", None, &[("authorization", &bearer)]).await;
    assert_eq!(welcome.status, 200);
    let wrong = forge.send_with(Method::GET, "/api/projects", None, &[("authorization", "Bearer x")]).await;
    assert_eq!(wrong.status, 401);
    assert!(!forge.log().contains(token.trim()), "the token is in the log");
}

#[tokio::test]
async fn errors_carry_the_envelope_whatever_they_are() {
    let forge = TestForge::start().await;
    let nobody = "00000000-0000-0000-0000-000000000000";
    let cases = [
        (Method::GET, "/api/does-not-exist".to_owned(), 404),
        (Method::PATCH, format!("/api/tasks/{nobody}"), 405),
        (Method::GET, "/api/tasks/not-a-uuid".to_owned(), 400),
        (Method::GET, "/api/tasks".to_owned(), 400),
        (Method::GET, format!("/api/task-attempts/{nobody}"), 404),
        (Method::GET, format!("/api/execution-processes/{nobody}/raw-logs/ws"), 404),
    ];
    for (method, path, status) in cases {
        let headers = if path.ends_with("/ws") { &UPGRADE[..] } else { &[] };
        let answer = forge.send_with(method, &path, None, headers).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text);
        let keys: Vec<&String> = answer.body.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["data", "error_data", "message", "success"], "{path}");
        assert!(!answer.message().is_empty(), "{path}");
    }
    let wrong = forge.post("/api/tasks", &json!({"project_id": 5, "title": "x"})).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.message().contains("project_id"), "{}", wrong.text);
}
