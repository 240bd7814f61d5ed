//! The page over HTTP, with or without a board in the build.

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode};

use crate::world::{World, assert_fault, read};

async fn ask(world: &World, method: &str, path: &str) -> (StatusCode, HeaderMap, String) {
    let request = Request::builder().method(method).uri(path).header("host", "localhost:8887");
    let response = world.send(request.body(Body::empty()).unwrap()).await;
    let (head, body) = response.into_parts();
    let body = to_bytes(body, 4 << 20).await.unwrap();
    (head.status, head.headers, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn every_page_has_a_strict_policy_that_its_own_text_keeps() {
    let world = World::new().await;
    for path in ["/", "/index.html", "/projects/a/tasks/b", "/docs", "/plain.css"] {
        let (status, headers, text) = ask(&world, "GET", path).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        let policy = headers["content-security-policy"].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; "), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-opener-policy", "same-origin"),
            ("x-frame-options", "DENY"),
        ] {
            assert_eq!(headers[name], value, "{path}");
        }
        assert!(
            !text.contains("__NONCE__") && !text.contains("<script>") && !text.contains(" style="),
            "{path}"
        );
    }
    world.close().await;
}

#[tokio::test]
async fn a_page_is_revalidated_each_time_and_head_returns_the_same_without_the_text() {
    let world = World::new().await;
    for path in ["/", "/projects/a"] {
        let (status, headers, text) = ask(&world, "GET", path).await;
        let (same, head, nothing) = ask(&world, "HEAD", path).await;
        assert_eq!((status, same), (StatusCode::OK, StatusCode::OK), "{path}");
        assert!(!text.is_empty() && nothing.is_empty(), "{path}");
        assert_eq!(headers["cache-control"], "no-store");
        for name in ["content-type", "cache-control"] {
            assert_eq!(headers[name], head[name], "{path}");
        }
        assert_eq!(head["content-length"], text.len().to_string(), "{path}");
    }
    world.close().await;
}

#[tokio::test]
async fn a_file_that_is_not_there_is_never_the_document() {
    let world = World::new().await;
    for path in ["/assets/none-0000.js", "/assets/none", "/assets", "/page.js", "/assets/../../Cargo.toml"] {
        let request = Request::builder().uri(path).header("host", "localhost:8887");
        let answer = read(world.send(request.body(Body::empty()).unwrap()).await).await;
        assert_fault(&answer, 404, "is not served here");
    }
    world.close().await;
}
