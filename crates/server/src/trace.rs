//! What surrounds every request: its id, its log line, the security headers, and the response to a panic.
//!
//! Invariant: neither query strings nor header values nor bodies are logged, since any of them may contain a secret.
//! Every response, also one of the door or of a panic, has a request id and the security headers.

use std::any::Any;
use std::time::Instant;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tracing::Instrument;
use uuid::Uuid;

use crate::envelope::Fault;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const SECURITY: [(HeaderName, &str); 4] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'self'; frame-ancestors 'none'; base-uri 'none'"),
];

/// The outermost middleware.
pub(crate) async fn observe(request: Request, next: Next) -> Response {
    let id = Uuid::new_v4().to_string();
    let span = tracing::info_span!("request", %id, method = %request.method(), path = request.uri().path());
    let start = Instant::now();
    let mut response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    let ms = start.elapsed().as_millis();
    span.in_scope(|| match status.is_server_error() {
        true => tracing::warn!(status = status.as_u16(), %ms, "answered"),
        false => tracing::debug!(status = status.as_u16(), %ms, "answered"),
    });
    let headers = response.headers_mut();
    for (name, value) in SECURITY {
        // A handler that sends content of others may set a stricter policy.
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::from_str(&id) {
        headers.insert(REQUEST_ID, id);
    }
    response
}

/// A panic is our fault: the caller gets a 500, the panic's message goes to the log.
pub(crate) fn answer_panic(panic: Box<dyn Any + Send>) -> Response {
    let words = panic.downcast_ref::<String>().map(String::as_str);
    let words = words.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
    tracing::error!(panic = words, "a handler panicked");
    Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "the request failed")
        .hint("the server's log says why")
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::routing::get;
    use tower::ServiceExt;
    use tower_http::catch_panic::CatchPanicLayer;

    #[tokio::test]
    async fn a_panic_is_a_500_that_keeps_its_words_to_itself() {
        let burst = || async {
            if true {
                panic!("secret words");
            }
        };
        let router = Router::new()
            .route("/", get(burst))
            .layer(CatchPanicLayer::custom(answer_panic))
            .layer(axum::middleware::from_fn(observe));
        let response = router.oneshot(Request::new(Body::empty())).await.unwrap();
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert!(response.headers().contains_key(REQUEST_ID));
        let body = axum::body::to_bytes(response.into_body(), 1024).await.unwrap();
        let body = String::from_utf8(body.to_vec()).unwrap();
        assert!(
            body.starts_with(
                r#"{"success":false,"data":null,"error_data":null,"message":"the request failed"#
            )
        );
        assert!(!body.contains("secret words"));
    }
}
