//! Who may speak to the server.

use std::io::{Read, Write};
use std::net::UdpSocket;
use std::os::unix::process::CommandExt;
use std::process::Command;

use forge_client::Method;
use forge_tests::{TestForge, client, err, out, output};
use serde_json::{Value, json};

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
async fn whoever_uploads_without_a_token_is_told_so_after_the_last_byte() {
    let forge = TestForge::with(&["--require-token"], &[]).await;
    let address = forge.base().trim_start_matches("http://").to_owned();
    let told = tokio::task::spawn_blocking(move || {
        let mut stream = std::net::TcpStream::connect(&address).unwrap();
        let body = vec![b'x'; 8 << 20];
        let head = format!(
            "POST /api/images/upload HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(&body).expect("nobody hangs up");
        let mut answer = [0; 64];
        let count = stream.read(&mut answer).unwrap();
        String::from_utf8_lossy(&answer[..count]).into_owned()
    });
    let told = told.await.unwrap();
    assert!(told.starts_with("HTTP/1.1 401"), "{told}");
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
        let all = ["data", "error_code", "error_data", "field", "hint", "message", "success"];
        assert_eq!(keys, all, "{path}");
        assert!(!answer.message().is_empty(), "{path}");
    }
    let wrong = forge.post("/api/tasks", &json!({"project_id": 5, "title": "x"})).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.message().contains("project_id"), "{}", wrong.text);
}

/// What another user of this machine is answered.
async fn ask_as_nobody(host: &str, port: &str, path: &str, body: &Value) -> String {
    const NOBODY: u32 = 65534;
    let body = body.to_string();
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json"
    );
    let request = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let mut command = Command::new("bash");
    command.args(["-c", r#"exec 3<>"/dev/tcp/$1/$2" && printf %s "$3" >&3 && cat <&3"#, "bash", host, port]);
    command.arg(request).current_dir("/").uid(NOBODY).gid(NOBODY);
    out(&output(command).await)
}

#[tokio::test]
#[cfg_attr(not(is_root), ignore = "only root can act as another user")]
async fn another_user_of_the_machine_cannot_start_anything() {
    for (bind, from) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "127.0.0.1")] {
        let mut forge = TestForge::with(&["--host", bind], &[]).await;
        let port = forge.base().rsplit(':').next().unwrap().to_owned();
        let shown = if from.contains(':') { format!("[{from}]") } else { from.to_owned() };
        forge.reach(format!("http://{shown}:{port}"));
        let (project, _) = forge.project("shop").await;
        let start = forge.task(&project, "x").prompt("say hello").body();
        let path = "/api/tasks/create-and-start";
        assert_eq!(forge.post(path, &start).await.status, 200, "{from} on {bind}: the user");
        let answer = ask_as_nobody(from, &port, path, &start).await;
        assert!(answer.starts_with("HTTP/1.1 401 "), "{from} on {bind}: {answer}");
        let tasks = forge.get(&format!("/api/tasks?project_id={project}")).await.data();
        assert_eq!(tasks.as_array().unwrap().len(), 1);
    }
}

/// Genie starts the server like this, and never sends a token.
#[tokio::test]
async fn on_every_address_the_user_needs_no_token_over_loopback_and_all_others_do() {
    let env = [("HOST", "0.0.0.0"), ("PORT", "0"), ("FORGE_PORT", "0"), ("BACKEND_PORT", "0")];
    let forge = TestForge::with(&[], &env).await;
    let (project, _) = forge.project("shop").await;
    let started = forge.start_scripted(&project, "Say hello", "say hello").await;
    assert_eq!(started["project_id"], json!(project), "{started:?}");
    // The user's own browser may be led here by a name that points to loopback.
    let rebound = forge.send_with(Method::GET, "/api/projects", None, &[("host", "evil.example")]).await;
    assert_eq!(rebound.status, 403, "{}", rebound.text);

    // Sends nothing: it only finds the address with which this machine would.
    let probe =
        UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect("192.0.2.1:9").map(|()| socket));
    let Some(address) =
        probe.and_then(|socket| socket.local_addr()).ok().filter(|own| !own.ip().is_loopback())
    else {
        return println!("not tried: this machine has no address but loopback");
    };
    let url = forge.base().replacen("127.0.0.1", &address.ip().to_string(), 1) + "/api/projects";
    let ask = |token: Option<String>| {
        let request = client().build().unwrap().get(&url);
        async {
            token.into_iter().fold(request, |request, token| request.bearer_auth(token)).send().await.unwrap()
        }
    };
    assert_eq!(ask(None).await.status(), 401);
    let token = std::fs::read_to_string(forge.home().join("token")).unwrap();
    assert_eq!(ask(Some(token.trim().to_owned())).await.status(), 200);
}

#[tokio::test]
async fn a_token_that_can_be_guessed_is_refused_on_an_open_address() {
    let forge = TestForge::start().await;
    let mut command = forge.command();
    command.env("FORGE_HOME", forge.dir().join("other")).env("FORGE_TOKEN", "short");
    command.args(["serve", "--host", "0.0.0.0", "--port", "0"]);
    let refused = output(command).await;
    let words = err(&refused);
    assert!(!refused.status.success());
    for word in ["FORGE_TOKEN", "5 characters", "at least 16", "openssl rand -hex 32"] {
        assert!(words.contains(word), "'{words}' does not say '{word}'");
    }
}
