//! What a browser may do with a page of this server.
//!
//! Invariant: nothing is loaded from elsewhere, no script runs that is not a file of the page, and no other page frames
//! it. `trace` adds the headers of every response.

use axum::http::{HeaderName, header};
use axum::response::{IntoResponse, Response};
use uuid::Uuid;

const OPENER: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const PLAIN: &str = "default-src 'none'; style-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// For the board and its files. Workers obey the policy of their own script, so files need it as well; only the
/// document has a nonce, for the style sheets that libraries create at run time.
pub(super) fn board(nonce: Option<&str>, answer: impl IntoResponse) -> Response {
    let nonce = nonce.map(|nonce| format!(" 'nonce-{nonce}'")).unwrap_or_default();
    // By the standard, 'self' covers the sockets of the same host, and current browsers comply. Naming `Host` for older
    // ones would put what a client sent into the policy.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self'{nonce}; img-src 'self' data: blob:; font-src 'self'; \
         connect-src 'self'; worker-src 'self'; manifest-src 'self'; media-src 'self'; base-uri 'none'; \
         form-action 'self'; frame-ancestors 'none'"
    );
    ([(header::CONTENT_SECURITY_POLICY, policy)], [(OPENER, "same-origin")], answer).into_response()
}

/// For pages without a script.
pub(super) fn plain(answer: impl IntoResponse) -> Response {
    ([(header::CONTENT_SECURITY_POLICY, PLAIN), (OPENER, "same-origin")], answer).into_response()
}

/// A nonce that nobody can predict.
pub(super) fn nonce() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}
