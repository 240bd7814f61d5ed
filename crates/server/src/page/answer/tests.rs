use axum::body::to_bytes;
use axum::http::{HeaderName, HeaderValue};

use super::*;
use crate::page::board::Board;

const SCRIPT: &str = "assets/board-1a2b.js";
static FILES: &[File] = &[
    File {
        path: SCRIPT,
        kind: "text/javascript; charset=utf-8",
        tag: "W/\"1a\"",
        bytes: b"long words",
        gzip: Some(b"short"),
    },
    File { path: "assets/type-3c.woff2", kind: "font/woff2", tag: "W/\"3c\"", bytes: b"font", gzip: None },
    File { path: "favicon.svg", kind: "image/svg+xml", tag: "W/\"4d\"", bytes: b"<svg/>", gzip: Some(b"z") },
];
const BOARD: Built = Ok(Board {
    index: "<meta name=\"csp-nonce\" content=\"__NONCE__\"><style nonce=\"__NONCE__\"></style>",
    files: FILES,
});

fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

fn ask(path: &str, pairs: &[(HeaderName, &'static str)]) -> Response {
    find(&BOARD, path, &headers(pairs)).unwrap_or_else(|| panic!("{path} is not served"))
}

fn header(response: &Response, name: HeaderName) -> &str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

async fn body(response: Response) -> String {
    String::from_utf8(to_bytes(response.into_body(), 1 << 16).await.unwrap().to_vec()).unwrap()
}

#[tokio::test]
async fn a_file_is_compressed_for_whoever_takes_it_so() {
    for (accepted, packed) in [
        ("gzip, deflate, br", true),
        ("br;q=1.0, GZIP;q=0.2", true),
        ("*", true),
        ("", false),
        ("br, identity", false),
        ("gzip;q=0", false),
        ("gzip; q=0.000, *", false),
        ("*;q=0", false),
    ] {
        let response = ask(&format!("/{SCRIPT}"), &[(header::ACCEPT_ENCODING, accepted)]);
        assert_eq!(header(&response, header::VARY), "accept-encoding");
        assert_eq!(header(&response, header::CONTENT_TYPE), "text/javascript; charset=utf-8");
        assert_eq!(
            header(&response, header::CONTENT_ENCODING),
            if packed { "gzip" } else { "" },
            "{accepted}"
        );
        assert_eq!(body(response).await, if packed { "short" } else { "long words" }, "{accepted}");
    }
    let font = ask("/assets/type-3c.woff2", &[(header::ACCEPT_ENCODING, "gzip")]);
    assert_eq!(header(&font, header::CONTENT_ENCODING), "");
    assert_eq!(body(font).await, "font");
}

#[tokio::test]
async fn only_names_with_a_hash_are_kept_for_good() {
    let script = ask(&format!("/{SCRIPT}"), &[]);
    assert_eq!(header(&script, header::CACHE_CONTROL), "public, max-age=31536000, immutable");
    assert_eq!(header(&ask("/favicon.svg", &[]), header::CACHE_CONTROL), "no-cache");
    for path in ["/", "/index.html", "/projects/a"] {
        let response = ask(path, &[]);
        assert_eq!(header(&response, header::CACHE_CONTROL), "no-store", "{path}");
        assert_eq!(header(&response, header::ETAG), "", "{path}");
    }
}

#[tokio::test]
async fn a_file_that_the_client_has_is_not_sent_again() {
    for known in ["W/\"4d\"", "\"4d\"", "\"1\", W/\"4d\"", "*"] {
        let response = ask("/favicon.svg", &[(header::IF_NONE_MATCH, known)]);
        assert_eq!(response.status(), StatusCode::NOT_MODIFIED, "{known}");
        assert_eq!(header(&response, header::ETAG), "W/\"4d\"");
        assert_eq!(header(&response, header::CACHE_CONTROL), "no-cache");
        assert_eq!(body(response).await, "");
    }
    let changed = ask("/favicon.svg", &[(header::IF_NONE_MATCH, "W/\"4e\"")]);
    assert_eq!(changed.status(), StatusCode::OK);
    assert_eq!(body(changed).await, "<svg/>");
}

#[tokio::test]
async fn every_document_has_a_nonce_of_its_own_in_header_and_body() {
    let mut seen = Vec::new();
    for path in ["/", "/", "/index.html", "/projects/a/tasks/b/attempts/c", "/settings/"] {
        let response = ask(path, &[]);
        assert_eq!(header(&response, header::CONTENT_TYPE), "text/html; charset=utf-8");
        let policy = header(&response, header::CONTENT_SECURITY_POLICY).to_owned();
        let nonce = policy.split("style-src 'self' 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
        let text = body(response).await;
        assert_eq!(text.matches(nonce).count(), 2, "{text}");
        assert!(!text.contains(NONCE), "{text}");
        assert!(nonce.len() >= 32 && !seen.contains(&nonce.to_owned()), "{nonce}");
        seen.push(nonce.to_owned());
    }
}

#[test]
fn the_policy_lets_nothing_in_from_elsewhere() {
    for path in ["/", "/favicon.svg", "/assets/board-1a2b.js"] {
        let response = ask(path, &[]);
        let policy = header(&response, header::CONTENT_SECURITY_POLICY);
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("connect-src 'self';"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe") && !policy.contains("http") && !policy.contains('*'), "{policy}");
        assert_eq!(policy.contains("nonce-"), path == "/", "{path}: {policy}");
        let opener = HeaderName::from_static("cross-origin-opener-policy");
        assert_eq!(header(&response, opener), "same-origin");
    }
}

#[test]
fn what_looks_like_a_file_is_that_file_or_nothing() {
    for path in [
        "/missing.png",
        "/projects/a.b",
        "/assets",
        "/assets/",
        "/assets/board-1a2b",
        "/assets/board-0000.js",
        "/assets/../favicon.svg",
        "/../../etc/passwd.txt",
        "/..",
        "/assets/..%2f..%2fetc%2fpasswd",
        "//favicon.svg",
        "/FAVICON.svg",
    ] {
        assert!(find(&BOARD, path, &HeaderMap::new()).is_none(), "{path}");
    }
}

#[tokio::test]
async fn without_a_board_every_link_says_why() {
    let none: Built = Err("npm said <no> & \"left\"");
    for path in ["/", "/projects/a"] {
        let response = find(&none, path, &HeaderMap::new()).unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(header(&response, header::CACHE_CONTROL), "no-store");
        assert!(
            header(&response, header::CONTENT_SECURITY_POLICY)
                .starts_with("default-src 'none'; style-src 'self';")
        );
        let text = body(response).await;
        for words in [
            "npm said &lt;no&gt; &amp; &quot;left&quot;",
            "npm start",
            "href=\"/docs\"",
            "href=\"/api/routes\"",
        ] {
            assert!(text.contains(words), "{words} is not in {text}");
        }
        // The policy would drop either.
        assert!(!text.contains("<style") && !text.contains("<script") && !text.contains(" style="), "{text}");
    }
    assert!(find(&none, "/assets/board-1a2b.js", &HeaderMap::new()).is_none());
}
