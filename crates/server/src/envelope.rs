//! The four-key envelope around every JSON response, and the status of every failure.
//!
//! Invariant: all four keys are always present, and no failure leaves the server without them. Statuses follow from
//! the engine's [`Kind`] and from nothing else; the cause of an internal fault goes to the log, not to the caller.

use std::error::Error as _;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use forge_core::{Error, Kind};
use serde::Serialize;

/// What a handler returns.
pub(crate) type Answer = Result<Response, Fault>;

#[derive(Serialize)]
struct Envelope<T, E = ()> {
    success: bool,
    data: T,
    /// What clients branch on; most failures have only a message.
    error_data: E,
    message: Option<String>,
}

pub(crate) fn ok<T: Serialize>(data: T) -> Response {
    warn(data, None)
}

/// Success with a remark, such as why an agent could not be started.
pub(crate) fn warn<T: Serialize>(data: T, message: Option<String>) -> Response {
    json(StatusCode::OK, &Envelope { success: true, data, error_data: (), message })
}

/// A rule refuses it, and clients look at the data of the refusal; shipped ones expect a 200 for it.
pub(crate) fn refuse<E: Serialize>(error_data: E) -> Response {
    json(StatusCode::OK, &Envelope { success: false, data: (), error_data, message: None })
}

/// The envelope with the fields of its data beside its own keys, for clients that expect either.
pub(crate) fn ok_and_bare<T: Serialize>(data: T) -> Response {
    #[derive(Serialize)]
    struct Both<'a, T> {
        #[serde(flatten)]
        envelope: Envelope<&'a T>,
        #[serde(flatten)]
        bare: &'a T,
    }
    let envelope = Envelope { success: true, data: &data, error_data: (), message: None };
    json(StatusCode::OK, &Both { envelope, bare: &data })
}

/// A JSON response without the envelope.
pub(crate) fn json<T: Serialize>(status: StatusCode, body: &T) -> Response {
    match serde_json::to_vec(body) {
        Ok(text) => (status, [(header::CONTENT_TYPE, "application/json")], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "cannot write a response as JSON");
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "the response cannot be written as JSON")
                .into_response()
        }
    }
}

/// A failure as the caller sees it.
#[derive(Debug)]
pub(crate) struct Fault {
    pub status: StatusCode,
    pub message: String,
    /// When a retry makes sense.
    retry_after_s: Option<u64>,
}

impl Fault {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after_s: None }
    }

    /// Too many requests for now.
    pub(crate) fn later(retry_after_s: u64, message: impl Into<String>) -> Self {
        Self { retry_after_s: Some(retry_after_s), ..Self::new(StatusCode::TOO_MANY_REQUESTS, message) }
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// A rule refuses it, and shipped clients expect a 200 for it.
    pub(crate) fn refused(message: impl Into<String>) -> Self {
        Self::new(StatusCode::OK, message)
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let body = Envelope { success: false, data: (), error_data: (), message: Some(self.message) };
        let mut response = json(self.status, &body);
        if let Some(seconds) = self.retry_after_s {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::Invalid => StatusCode::UNPROCESSABLE_ENTITY,
            Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::Refused => StatusCode::OK,
            Kind::Conflict => StatusCode::CONFLICT,
            Kind::Denied => StatusCode::FORBIDDEN,
            Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Kind::Upstream => StatusCode::BAD_GATEWAY,
            Kind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        };
        if status.is_server_error() {
            tracing::error!(message = error.message(), cause = ?error.source(), "request failed");
        }
        Fault::new(status, error.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_kind_decides_the_status() {
        let cases = [
            (Kind::NotFound, 404),
            (Kind::Invalid, 422),
            (Kind::TooLarge, 413),
            (Kind::Refused, 200),
            (Kind::Conflict, 409),
            (Kind::Denied, 403),
            (Kind::Unavailable, 503),
            (Kind::Upstream, 502),
            (Kind::Internal, 500),
        ];
        for (kind, status) in cases {
            let fault = Fault::from(Error::new(kind, "why"));
            assert_eq!((fault.status.as_u16(), fault.message.as_str()), (status, "why"));
        }
    }

    #[tokio::test]
    async fn all_four_keys_are_present_in_success_and_failure() {
        for (response, text) in [
            (ok("OK"), r#"{"success":true,"data":"OK","error_data":null,"message":null}"#),
            (ok(()), r#"{"success":true,"data":null,"error_data":null,"message":null}"#),
            (
                Fault::refused("no").into_response(),
                r#"{"success":false,"data":null,"error_data":null,"message":"no"}"#,
            ),
        ] {
            let body = axum::body::to_bytes(response.into_body(), 1024).await.unwrap();
            assert_eq!(body, text);
        }
    }
}
