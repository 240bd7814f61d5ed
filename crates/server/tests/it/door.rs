//! Nobody comes in who should not.

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use forge_server::Door;

use crate::world::{World, assert_fault, door, read};

fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

#[tokio::test]
async fn only_known_names_of_the_server_are_answered() {
    let world = World::with(Door { allowed_hosts: vec!["forge.example".into()], ..door() }).await;
    for host in
        ["localhost", "localhost:1", "127.0.0.1:8887", "[::1]:8887", "LOCALHOST:8887", "forge.example:99"]
    {
        let response = world.send(request("GET", "/api/health", &[("host", host)])).await;
        assert_eq!(response.status(), StatusCode::OK, "{host}");
    }
    for host in ["evil.example", "localhost.evil.example:8887", "10.0.0.1:8887", "forge.example.evil"] {
        for path in ["/api/projects", "/", "/api/nothing"] {
            let answer = read(world.send(request("GET", path, &[("host", host)])).await).await;
            assert_fault(&answer, 403, &format!("Host: '{host}'"));
        }
    }
    world.close().await;
}

#[tokio::test]
async fn a_page_of_another_origin_can_do_nothing() {
    let world = World::new().await;
    for origin in ["http://evil.example", "http://localhost:3000", "null", "https://localhost:8887.evil"] {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
            let headers = [("host", "localhost:8887"), ("origin", origin), ("content-type", "text/plain")];
            let response = world.send(request(method, "/api/projects", &headers)).await;
            assert!(response.headers().get(header::ACCESS_CONTROL_ALLOW_ORIGIN).is_none());
            assert_fault(&read(response).await, 403, "Origin: ");
        }
        let upgrade = [
            ("host", "localhost:8887"),
            ("origin", origin),
            ("connection", "upgrade"),
            ("upgrade", "websocket"),
            ("sec-websocket-version", "13"),
            ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ];
        let answer = read(world.send(request("GET", "/api/tasks/stream/ws", &upgrade)).await).await;
        assert_fault(&answer, 403, "Origin: ");
    }
    let own = [("host", "localhost:8887"), ("origin", "http://localhost:8887")];
    assert_eq!(world.send(request("GET", "/api/projects", &own)).await.status(), StatusCode::OK);
    world.close().await;
}

#[tokio::test]
async fn a_configured_origin_is_told_that_it_may() {
    let origin = "https://board.example";
    let world = World::with(Door { allowed_origins: vec![format!("{origin}/")], ..door() }).await;
    let headers = [("host", "localhost:8887"), ("origin", origin)];
    for (method, status) in [("GET", StatusCode::OK), ("OPTIONS", StatusCode::NO_CONTENT)] {
        let response = world.send(request(method, "/api/projects", &headers)).await;
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()[header::ACCESS_CONTROL_ALLOW_ORIGIN], origin);
        assert_eq!(response.headers()[header::VARY], "origin");
    }
    world.close().await;
}

#[tokio::test]
async fn what_an_answer_depends_on_besides_is_told_to_other_origins_too() {
    let origin = "https://board.example";
    let world = World::with(Door { allowed_origins: vec![origin.into()], ..door() }).await;
    let vary = async |headers: &[(&str, &str)]| {
        // A file of the board, if it is in this build.
        let response = world.send(request("GET", "/theme.js", headers)).await;
        let told = response.headers().get_all(header::VARY).into_iter();
        told.map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let host = ("host", "localhost:8887");
    let mut expected = vary(&[host]).await;
    expected.push("origin".into());
    assert_eq!(vary(&[host, ("origin", origin)]).await, expected);
    world.close().await;
}

#[tokio::test]
async fn with_a_token_only_health_and_login_are_open() {
    let world = World::with(Door { token: Some("s3cret".into()), ..door() }).await;
    let host = ("host", "localhost:8887");
    for path in ["/api/projects", "/", "/api/events", "/api/nothing", "/assets/a.js"] {
        assert_fault(&read(world.send(request("GET", path, &[host])).await).await, 401, "Bearer");
    }
    // A browser is told in words how to get in, on whatever page it asks for; the API speaks as always.
    let browser = ("accept", "text/html,application/xhtml+xml");
    for path in ["/", "/projects/a/tasks/b"] {
        let page = world.send(request("GET", path, &[host, browser])).await;
        assert_eq!(page.status(), StatusCode::UNAUTHORIZED, "{path}");
        let words = axum::body::to_bytes(page.into_body(), 1 << 16).await.unwrap();
        let words = String::from_utf8_lossy(&words);
        assert!(
            words.contains("login link") && words.contains("<h1>") && !words.contains("s3cret"),
            "{words}"
        );
    }
    assert_fault(
        &read(world.send(request("GET", "/api/projects", &[host, browser])).await).await,
        401,
        "Bearer",
    );
    for wrong in ["Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"] {
        let response = world.send(request("GET", "/api/projects", &[host, ("authorization", wrong)])).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{wrong}");
    }
    for path in ["/health", "/api/health", "/plain.css"] {
        assert_eq!(world.send(request("GET", path, &[host])).await.status(), StatusCode::OK);
    }
    let right = [host, ("authorization", "Bearer s3cret")];
    assert_eq!(world.send(request("GET", "/api/projects", &right)).await.status(), StatusCode::OK);
    world.close().await;
}

#[tokio::test]
async fn a_login_code_opens_one_session_once() {
    let door = Door { token: Some("s3cret".into()), login_code: Some("once".into()), ..door() };
    let world = World::with(door).await;
    let host = ("host", "localhost:8887");
    let wrong = read(world.send(request("GET", "/login?code=twice", &[host])).await).await;
    assert_fault(&wrong, 403, "code");
    assert_fault(&read(world.send(request("GET", "/login", &[host])).await).await, 400, "code");

    let response = world.send(request("GET", "/login?code=once", &[host])).await;
    assert_eq!(response.status(), StatusCode::SEE_OTHER);
    assert_eq!(response.headers()[header::LOCATION], "/");
    let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap().to_owned();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"), "{cookie}");
    assert!(!cookie.contains("s3cret") && !cookie.contains("once"), "{cookie}");

    let pair = cookie.split(';').next().unwrap();
    let session = [host, ("cookie", &*format!("other=1; {pair}"))];
    assert_eq!(world.send(request("GET", "/api/projects", &session)).await.status(), StatusCode::OK);
    let forged = [host, ("cookie", "forge_session=")];
    assert_eq!(world.send(request("GET", "/api/projects", &forged)).await.status(), StatusCode::UNAUTHORIZED);
    let again = read(world.send(request("GET", "/login?code=once", &[host])).await).await;
    assert_fault(&again, 403, "already used");
    world.close().await;
}

#[tokio::test]
async fn every_answer_carries_the_security_headers_and_an_id() {
    let world = World::new().await;
    for (path, host) in [("/", "localhost"), ("/api/nothing", "localhost"), ("/", "evil.example")] {
        let response = world.send(request("GET", path, &[("host", host)])).await;
        let headers = response.headers();
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert_eq!(headers["referrer-policy"], "no-referrer");
        assert_eq!(headers["x-frame-options"], "DENY");
        assert!(headers["content-security-policy"].to_str().unwrap().contains("frame-ancestors 'none'"));
        assert_eq!(headers["x-request-id"].len(), 36);
    }
    world.close().await;
}
