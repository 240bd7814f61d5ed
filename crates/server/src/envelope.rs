//! The envelope around every JSON response, and the status of every failure.
//!
//! Invariant: `success`, `data`, `error_data` and `message` are always present, and no failure leaves the server without
//! them. A success has exactly these four. A failure also has `error_code`, `hint` and `field`, null where there is
//! none: programs branch on the code and never on the message, whose words change.
//!
//! `message` is the whole sentence, what is wrong and then `; ` and the hint, because older clients show it alone.
//! `hint` repeats the second half, so a client that shows the two apart takes it off the end of the message.
//!
//! Statuses follow from the engine's [`Kind`] and from nothing else; the cause of an internal fault goes to the log, not
//! to the caller.

use std::borrow::Cow;
use std::error::Error as _;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use forge_core::{Error, Kind};
use forge_types::ErrorCode;
use forge_types::wire::{Envelope, Failure};
use serde::Serialize;

/// What a handler returns.
pub(crate) type Answer = Result<Response, Fault>;

pub(crate) fn ok<T: Serialize>(data: T) -> Response {
    warn(data, None)
}

/// Success with a remark, such as why an agent could not be started.
pub(crate) fn warn<T: Serialize>(data: T, message: Option<String>) -> Response {
    json(StatusCode::OK, &Envelope { success: true, data, error_data: (), message })
}

/// A rule refuses it, and clients look at the data of the refusal; shipped ones expect a 200 for it.
pub(crate) fn refuse<E: Serialize>(error_code: ErrorCode, error_data: E) -> Response {
    let message = None;
    let body = Failure {
        success: false,
        data: (),
        error_data,
        message,
        error_code: Some(error_code),
        hint: None,
        field: None,
    };
    json(StatusCode::OK, &body)
}

/// The envelope with the fields of its data beside its own keys, for clients that expect either.
pub(crate) fn ok_and_bare<T: Serialize>(data: T) -> Response {
    #[derive(Serialize)]
    struct Both<'a, T> {
        #[serde(flatten)]
        envelope: Envelope<&'a T, ()>,
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
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<Cow<'static, str>>,
    /// The part of the request that is wrong.
    pub field: Option<String>,
    /// When a retry makes sense.
    retry_after_s: Option<u64>,
}

impl Fault {
    /// With the general code of its status.
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, code: code_of(status), message, hint: None, field: None, retry_after_s: None }
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

    /// A code that says more than the status.
    pub(crate) fn code(self, code: ErrorCode) -> Self {
        Self { code, ..self }
    }

    pub(crate) fn hint(self, hint: impl Into<Cow<'static, str>>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The part of the request that is wrong, which the message names too.
    pub(crate) fn field(self, field: impl Into<String>) -> Self {
        Self { field: Some(field.into()), ..self }
    }

    /// The same failure with the status that a route has for it.
    pub(crate) fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// What is wrong and what to do about it.
    pub(crate) fn sentence(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.message),
            None => self.message.clone(),
        }
    }
}

/// The code of a failure of which only the status is known.
fn code_of(status: StatusCode) -> ErrorCode {
    match status.as_u16() {
        200 => ErrorCode::Refused,
        401 => ErrorCode::TokenRequired,
        403 => ErrorCode::Denied,
        404 => ErrorCode::NotFound,
        405 => ErrorCode::MethodNotAllowed,
        408 | 503 => ErrorCode::Unavailable,
        409 => ErrorCode::Conflict,
        413 => ErrorCode::TooLarge,
        415 => ErrorCode::BodyNotJson,
        429 => ErrorCode::TooManyTries,
        502 => ErrorCode::Upstream,
        400..500 => ErrorCode::Invalid,
        _ => ErrorCode::Internal,
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let message = Some(self.sentence());
        let Fault { status, code: error_code, hint, field, retry_after_s, .. } = self;
        let hint = hint.map(Cow::into_owned);
        let body = Failure {
            success: false,
            data: (),
            error_data: (),
            message,
            error_code: Some(error_code),
            hint,
            field,
        };
        let mut response = json(status, &body);
        if let Some(seconds) = retry_after_s {
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
        Fault {
            status,
            code: error.error_code(),
            message: error.message().to_owned(),
            hint: error.advice().map(|hint| Cow::Owned(hint.to_owned())),
            field: error.wrong_field().map(str::to_owned),
            retry_after_s: None,
        }
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

    #[test]
    fn the_status_of_a_kind_and_its_code_agree() {
        for code in
            [Kind::NotFound, Kind::Refused, Kind::Conflict, Kind::Denied, Kind::Upstream, Kind::Internal]
        {
            let fault = Fault::from(Error::new(code, "why"));
            assert_eq!(Fault::new(fault.status, "why").code, fault.code);
        }
    }

    #[tokio::test]
    async fn a_failure_has_its_code_and_repeats_its_hint() {
        let error = Error::conflict("it is busy").code(ErrorCode::StillRunning).hint("wait").field("id");
        let response = Fault::from(error).into_response();
        let body = axum::body::to_bytes(response.into_body(), 1024).await.unwrap();
        let text = r#"{"success":false,"data":null,"error_data":null,"message":"it is busy; wait","error_code":"still_running","hint":"wait","field":"id"}"#;
        assert_eq!(body, text);
        let response = refuse(ErrorCode::MergeConflicts, "word");
        let body = axum::body::to_bytes(response.into_body(), 1024).await.unwrap();
        let text = r#"{"success":false,"data":null,"error_data":"word","message":null,"error_code":"merge_conflicts","hint":null,"field":null}"#;
        assert_eq!(body, text);
    }

    #[tokio::test]
    async fn all_four_keys_are_present_in_success_and_failure() {
        for (response, text) in [
            (ok("OK"), r#"{"success":true,"data":"OK","error_data":null,"message":null}"#),
            (ok(()), r#"{"success":true,"data":null,"error_data":null,"message":null}"#),
            (
                Fault::refused("no").into_response(),
                r#"{"success":false,"data":null,"error_data":null,"message":"no","error_code":"refused","hint":null,"field":null}"#,
            ),
        ] {
            let body = axum::body::to_bytes(response.into_body(), 1024).await.unwrap();
            assert_eq!(body, text);
        }
    }
}
