//! Nobody gets in who should not.

use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use forge_server::{Door, OpenTo, Peer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use crate::streams::{close_code, next};
use crate::world::{STRANGER, USER, World, assert_fault, door, read};

const HOST: (&str, &str) = ("host", "localhost:8887");

fn request(method: &str, path: &str, headers: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

/// Everybody needs the token.
fn locked() -> Door {
    Door { open_to: OpenTo::Nobody, token: Some("s3cret".into()), ..door() }
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
async fn a_configured_origin_is_allowed() {
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
async fn other_origins_also_see_what_else_a_response_depends_on() {
    let origin = "https://board.example";
    let world = World::with(Door { allowed_origins: vec![origin.into()], ..door() }).await;
    let vary = async |headers: &[(&str, &str)]| {
        // A file of the board, if it is in this build.
        let response = world.send(request("GET", "/theme.js", headers)).await;
        let vary = response.headers().get_all(header::VARY).into_iter();
        vary.map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let host = ("host", "localhost:8887");
    let mut expected = vary(&[host]).await;
    expected.push("origin".into());
    assert_eq!(vary(&[host, ("origin", origin)]).await, expected);
    world.close().await;
}

#[tokio::test]
async fn with_a_token_only_health_and_login_are_open() {
    let world = World::with(locked()).await;
    let host = ("host", "localhost:8887");
    for path in ["/api/projects", "/", "/api/events", "/api/nothing", "/assets/a.js"] {
        assert_fault(&read(world.send(request("GET", path, &[host])).await).await, 401, "Bearer");
    }
    // A browser gets a page that explains how to log in, whatever it requests; the API responds as always.
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
    let world = World::with(Door { login_code: Some("once".into()), ..locked() }).await;
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
    // Cookies go to every port of a host.
    assert!(cookie.starts_with("forge_session_8887="), "{cookie}");

    let pair = cookie.split(';').next().unwrap();
    let session = [host, ("cookie", &*format!("other=1; forge_session_8887=of-another-port; {pair}"))];
    assert_eq!(world.send(request("GET", "/api/projects", &session)).await.status(), StatusCode::OK);
    let forged = [host, ("cookie", "forge_session_8887=")];
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

#[tokio::test]
async fn without_a_token_loopback_is_open_to_the_user_alone() {
    let world = World::with(Door { token: Some("s3cret".into()), ..door() }).await;
    let right = ("authorization", "Bearer s3cret");
    let wrong = ("authorization", "Bearer of a client that always sends one");
    for (peer, headers, status) in [
        (USER, &[HOST][..], 200),
        (USER, &[HOST, wrong], 200),
        (STRANGER, &[HOST], 401),
        (STRANGER, &[HOST, wrong], 401),
        (STRANGER, &[HOST, right], 200),
    ] {
        let response = world.send_from(peer, request("GET", "/api/projects", headers)).await;
        assert_eq!(response.status(), status, "{peer:?} {headers:?}");
    }
    world.close().await;
    // Where there is no token, nothing lets others in.
    let world = World::new().await;
    let answer = read(world.send_from(STRANGER, request("GET", "/api/projects", &[HOST, right])).await).await;
    assert_fault(&answer, 401, "open to the user that runs it alone");
    // A request without a peer is a stranger's.
    let answer = world.send_from(Peer::default(), request("GET", "/api/projects", &[HOST])).await;
    assert_eq!(answer.status(), StatusCode::UNAUTHORIZED);
    world.close().await;
}

#[tokio::test]
async fn on_an_open_address_a_rebound_name_gets_nothing_from_the_users_browser() {
    let bind = ([0, 0, 0, 0], 8887).into();
    let world = World::with(Door { bind, token: Some("s3cret".into()), ..door() }).await;
    let elsewhere = Peer { address: [192, 168, 0, 9].into(), is_user: false };
    let rebound = [("host", "evil.example:8887"), ("origin", "http://evil.example:8887")];
    for (method, path) in [("GET", "/api/projects"), ("POST", "/api/tasks/create-and-start"), ("GET", "/")] {
        let answer = read(world.send_from(USER, request(method, path, &rebound)).await).await;
        assert_fault(&answer, 403, "Host: 'evil.example:8887'");
        assert_eq!(world.send_from(elsewhere, request(method, path, &rebound)).await.status(), 401);
    }
    for (peer, host, status) in [
        (USER, "localhost:8887", 200),
        (USER, "127.0.0.1:8887", 200),
        (elsewhere, "192.168.0.2:8887", 401),
        (elsewhere, "localhost:8887", 401),
        (STRANGER, "localhost:8887", 401),
    ] {
        let response = world.send_from(peer, request("GET", "/api/projects", &[("host", host)])).await;
        assert_eq!(response.status(), status, "{peer:?} {host}");
    }
    // Whoever has the token may use any name for this machine.
    for peer in [USER, elsewhere] {
        let headers = [("host", "my-machine.lan"), ("authorization", "Bearer s3cret")];
        assert_eq!(world.send_from(peer, request("GET", "/api/projects", &headers)).await.status(), 200);
    }
    world.close().await;
}

#[tokio::test]
async fn without_tokens_everybody_comes_in_but_no_foreign_page() {
    let bind = ([0, 0, 0, 0], 8887).into();
    let world = World::with(Door { bind, open_to: OpenTo::Everybody, ..door() }).await;
    let elsewhere = Peer { address: [192, 168, 0, 9].into(), is_user: false };
    for (host, status) in [("192.168.0.2:8887", 200), ("evil.example", 403)] {
        let response = world.send_from(elsewhere, request("GET", "/api/projects", &[("host", host)])).await;
        assert_eq!(response.status(), status, "{host}");
    }
    world.close().await;
}

#[tokio::test]
async fn what_a_foreign_page_embeds_is_refused_and_what_it_links_to_is_not() {
    let friend = "https://board.example";
    let world = World::with(Door { allowed_origins: vec![friend.into()], ..door() }).await;
    let image = [("sec-fetch-mode", "no-cors"), ("sec-fetch-dest", "image")];
    let link = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "document")];
    let frame = [("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe")];
    for (method, path, site, kind, is_served) in [
        ("GET", "/api/filesystem/git-repos", "cross-site", image, false),
        // Another port of this host.
        ("GET", "/api/filesystem/git-repos", "same-site", image, false),
        ("GET", "/api/projects", "cross-site", link, false),
        ("GET", "/docs", "cross-site", image, false),
        ("GET", "/docs", "cross-site", frame, false),
        ("POST", "/docs", "cross-site", link, false),
        ("GET", "/docs", "cross-site", link, true),
        ("GET", "/docs", "same-site", link, true),
        ("GET", "/api/projects", "none", link, true),
        ("GET", "/api/projects", "same-origin", image, true),
    ] {
        let headers = [HOST, ("sec-fetch-site", site), kind[0], kind[1]];
        let response = world.send(request(method, path, &headers)).await;
        let refused = response.status() == StatusCode::FORBIDDEN;
        assert_eq!(!refused, is_served, "{method} {path} {headers:?}: {}", response.status());
    }
    let cors = [HOST, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "cors"), ("origin", friend)];
    for (method, status) in [("OPTIONS", 204), ("GET", 200)] {
        assert_eq!(world.send(request(method, "/api/projects", &cors)).await.status(), status);
    }
    world.close().await;
}

#[tokio::test]
async fn after_ten_wrong_secrets_an_address_has_to_wait() {
    let world =
        World::with(Door { token: Some("s3cret".into()), login_code: Some("once".into()), ..door() }).await;
    let from = |n: u8| Peer { address: [192, 168, 0, n].into(), is_user: false };
    let wrong: [(&str, &[(&str, &str)]); 3] = [
        ("/api/projects", &[HOST, ("authorization", "Bearer wrong")]),
        ("/api/projects", &[HOST, ("cookie", "forge_session_8887=wrong")]),
        ("/login?code=wrong", &[HOST]),
    ];
    let tries = wrong.iter().chain(std::iter::repeat_n(&wrong[0], 8));
    for (path, headers) in tries.take(10) {
        let status = world.send_from(from(1), request("GET", path, headers)).await.status();
        assert!([StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN].contains(&status), "{status}");
    }
    let right = [HOST, ("authorization", "Bearer s3cret")];
    for (path, headers) in
        [wrong[0], wrong[1], wrong[2], ("/api/projects", &right), ("/login?code=once", &[HOST])]
    {
        let response = world.send_from(from(1), request("GET", path, headers)).await;
        let wait: u64 = response.headers()[header::RETRY_AFTER].to_str().unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
        assert_fault(&read(response).await, 429, "too many wrong tokens");
    }
    // Nothing was sent, so nothing counts against it.
    assert_eq!(world.send_from(from(1), request("GET", "/api/projects", &[HOST])).await.status(), 401);
    assert_eq!(world.send_from(from(1), request("GET", "/health", &[HOST])).await.status(), 200);
    assert_eq!(world.send_from(from(2), request("GET", "/api/projects", &right)).await.status(), 200);
    assert_eq!(world.send_from(from(2), request("GET", "/login?code=once", &[HOST])).await.status(), 303);
    world.close().await;
}

#[tokio::test]
async fn wrong_secrets_of_others_do_not_keep_the_user_out() {
    let world = World::with(Door { token: Some("s3cret".into()), ..door() }).await;
    let wrong = [HOST, ("authorization", "Bearer wrong")];
    for _ in 0..20 {
        world.send_from(STRANGER, request("GET", "/api/projects", &wrong)).await;
    }
    assert_eq!(world.send_from(STRANGER, request("GET", "/api/projects", &wrong)).await.status(), 429);
    assert_eq!(world.send(request("GET", "/api/projects", &[HOST])).await.status(), 200);
    world.close().await;
}

#[tokio::test]
async fn several_browsers_log_in_and_each_logs_out_for_itself() {
    let world = World::with(Door { login_code: Some("once".into()), ..locked() }).await;
    let log_in = async |path: &str| {
        let looked = world.send(request("HEAD", path, &[HOST])).await;
        assert_eq!(looked.status(), StatusCode::NO_CONTENT);
        assert!(!looked.headers().contains_key(header::SET_COOKIE));
        let response = world.send(request("GET", path, &[HOST])).await;
        assert_eq!(response.status(), StatusCode::SEE_OTHER, "whoever only looked did not use it up");
        let cookie = response.headers()[header::SET_COOKIE].to_str().unwrap();
        cookie.split(';').next().unwrap().to_owned()
    };
    let first = log_in("/login?code=once").await;
    let link = "/api/auth/login-link";
    assert_eq!(world.send(request("POST", link, &[HOST])).await.status(), StatusCode::UNAUTHORIZED);
    let (_, answer) = read(world.send(request("POST", link, &[HOST, ("cookie", &first)])).await).await;
    let second = log_in(answer["data"]["path"].as_str().unwrap()).await;

    let status = async |cookie: &str| {
        let response = world.send(request("GET", "/api/projects", &[HOST, ("cookie", cookie)])).await;
        response.status().as_u16()
    };
    assert_eq!((status(&first).await, status(&second).await), (200, 200));
    let stream = world.send(request("GET", "/api/events", &[HOST, ("cookie", &first)])).await;
    assert_eq!(stream.status(), StatusCode::OK);
    let gone = world.send(request("POST", "/logout", &[HOST, ("cookie", &first)])).await;
    assert_eq!(gone.status(), StatusCode::SEE_OTHER);
    let rest = axum::body::to_bytes(stream.into_body(), 1 << 20);
    tokio::time::timeout(Duration::from_secs(20), rest).await.expect("the stream ends, too").unwrap();
    let cleared = gone.headers()[header::SET_COOKIE].to_str().unwrap();
    assert!(cleared.starts_with("forge_session_8887=;") && cleared.ends_with("Max-Age=0"), "{cleared}");
    assert_eq!((status(&first).await, status(&second).await), (401, 200));
    world.close().await;
}

#[tokio::test]
async fn a_socket_ends_with_the_session_that_opened_it() {
    let world = World::new().await;
    let project = world.project().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let door = Door { login_code: Some("once".into()), ..locked() };
    tokio::spawn(forge_server::serve(listener, world.forge.clone(), door, world.shutdown.clone()));
    let talk = async |what: &str, cookie: &str| {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head =
            format!("{what} HTTP/1.1\r\nhost: localhost\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    };
    let answer = talk("GET /login?code=once", "").await;
    let cookie = answer.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    let cookie = cookie.split(';').next().unwrap();
    let url = format!("ws://{address}/api/tasks/stream/ws?project_id={project}");
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("cookie", cookie.parse().unwrap());
    let mut client = connect_async(request).await.unwrap().0;
    next(&mut client).await;
    assert!(talk("POST /logout", cookie).await.starts_with("HTTP/1.1 303"));
    assert_eq!(close_code(client).await, Some(CloseCode::Normal));
    world.close().await;
}

#[tokio::test]
async fn a_host_that_no_client_sends_is_refused() {
    let bind = ([0, 0, 0, 0], 8887).into();
    let open = Door { bind, token: Some("s3cret".into()), ..door() };
    for door in [door(), open] {
        let world = World::with(door).await;
        let right = ("authorization", "Bearer s3cret");
        for hosts in [
            &["evil@127.0.0.1"][..],
            &["127.0.0.1:8887.evil"],
            &["localhost:"],
            &[],
            &["localhost", "localhost"],
        ] {
            let mut headers: Vec<_> = hosts.iter().map(|host| ("host", *host)).collect();
            headers.push(right);
            for path in ["/api/projects", "/health"] {
                let answer = read(world.send(request("GET", path, &headers)).await).await;
                assert_fault(&answer, 403, "Host: ");
            }
        }
        world.close().await;
    }
}
