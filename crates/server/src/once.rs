//! `Idempotency-Key`: a request that may be sent twice has one effect.
//!
//! Invariant: the engine keeps the keys; this layer reads the header and marks a response that repeats an earlier one.
//! Without the header nothing happens here.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use forge_core::{Forge, KeyedRequest, Once};

use crate::envelope::Fault;
use crate::extract::{BODY_LIMIT, read};

const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
pub(crate) const KEY_MAX_BYTES: usize = 255;

/// The turn of a request under its key, for the engine call that it makes.
pub(crate) struct Key(Option<Arc<Once>>);

impl Key {
    pub(crate) fn once(&self) -> Option<&Once> {
        self.0.as_deref()
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Key {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        Ok(Self(parts.extensions.get().cloned()))
    }
}

pub(crate) async fn keep(State(forge): State<Forge>, request: Request, next: Next) -> Response {
    if !request.headers().contains_key(KEY) {
        return next.run(request).await;
    }
    let (request, once) = match take(&forge, request).await {
        Ok(taken) => taken,
        Err(fault) => return fault.into_response(),
    };
    let mut response = next.run(request).await;
    if once.is_replay() {
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    }
    response
}

async fn take(forge: &Forge, request: Request) -> Result<(Request, Arc<Once>), Fault> {
    let (mut parts, body) = request.into_parts();
    let key = key_of(&parts.headers)?;
    let body = read(Request::new(body), BODY_LIMIT).await?;
    let route = format!("{} {}", parts.method, parts.uri.path().trim_end_matches('/'));
    let once = Arc::new(forge.once(KeyedRequest { key: &key, route: &route, body: &body }).await?);
    parts.extensions.insert(Arc::clone(&once));
    Ok((Request::from_parts(parts, Body::from(body)), once))
}

fn key_of(headers: &HeaderMap) -> Result<String, Fault> {
    let mut given = headers.get_all(KEY).iter();
    let (Some(key), None) = (given.next(), given.next()) else {
        return Err(Fault::bad_request("Idempotency-Key: given more than once; send one"));
    };
    let wrong = match key.as_bytes() {
        [] => "is empty".to_owned(),
        long if long.len() > KEY_MAX_BYTES => format!("is {} characters long", long.len()),
        letters if !letters.iter().all(|letter| (b' '..=b'~').contains(letter)) => {
            "has characters that are not allowed".to_owned()
        }
        letters => return Ok(String::from_utf8_lossy(letters).into_owned()),
    };
    Err(Fault::bad_request(format!(
        "Idempotency-Key: the key {wrong}; allowed: 1 to {KEY_MAX_BYTES} printable ASCII characters, such as a UUID"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_empty_too_long_or_not_printable_is_refused_by_name() {
        let refusal = |values: &[&[u8]]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(KEY, HeaderValue::from_bytes(value).unwrap());
            }
            key_of(&headers).map_err(|fault| (fault.status.as_u16(), fault.message))
        };
        let long = [b'x'; 256];
        for (values, words) in [
            (vec![&b""[..]], "is empty"),
            (vec![&long[..]], "is 256 characters long"),
            (vec![&b"a\tb"[..]], "not allowed"),
            (vec!["schlüssel".as_bytes()], "not allowed"),
            (vec![&b"a"[..], &b"b"[..]], "more than once"),
        ] {
            let (status, message) = refusal(&values).unwrap_err();
            assert_eq!(status, 400);
            assert!(message.starts_with("Idempotency-Key: ") && message.contains(words), "{message}");
        }
        assert_eq!(refusal(&[&long[..255]]).unwrap().len(), 255);
    }
}
