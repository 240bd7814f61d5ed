//! Reading ids, query parameters and JSON bodies out of a request.
//!
//! Invariant: an invalid request is answered with the envelope, a 4xx and a message that names the parameter or field
//! and what is allowed. No body is read beyond its limit, nor waited for without a time limit.

use std::str::FromStr;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use forge_core::Page;
use forge_types::{
    AlertId, AttemptId, ErrandId, ErrorCode, ImageId, ProjectId, RunId, TagId, TaskId, TemplateId,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

use crate::envelope::Fault;

pub(crate) const BODY_LIMIT: usize = 2 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
/// The most that one list returns.
pub(crate) const PAGE_MAX: u32 = 10_000;

/// An id that can be part of a path, and its name there.
pub(crate) trait PathId: FromStr {
    const PARAM: &'static str;
}

macro_rules! path_ids {
    ($($id:ty = $param:literal),* $(,)?) => {
        $(impl PathId for $id { const PARAM: &'static str = $param; })*
    };
}

path_ids! {
    ProjectId = "project_id",
    TaskId = "task_id",
    AttemptId = "attempt_id",
    RunId = "process_id",
    ErrandId = "run_id",
    ImageId = "image_id",
    TagId = "tag_id",
    TemplateId = "template_id",
    AlertId = "alert_id",
}

/// The path parameter that names a `T`.
pub(crate) struct Id<T>(pub T);

impl<T: PathId, S: Send + Sync> FromRequestParts<S> for Id<T> {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Fault> {
        let params = RawPathParams::from_request_parts(parts, state)
            .await
            .map_err(|_| wrong(T::PARAM, "not valid UTF-8; expected a UUID"))?;
        let given = params.iter().find(|(name, _)| *name == T::PARAM).map_or("", |(_, value)| value);
        parse_id(T::PARAM, given).map(Id)
    }
}

fn parse_id<T: FromStr>(name: &str, given: &str) -> Result<T, Fault> {
    given.parse().map_err(|_| wrong(name, &format!("'{given}' is not a UUID")))
}

/// A parameter that cannot be read.
pub(crate) fn wrong(name: &str, why: &str) -> Fault {
    Fault::bad_request(format!("{name}: {why}")).field(name)
}

/// The query string.
pub(crate) struct Params(Vec<(String, String)>);

impl<S: Send + Sync> FromRequestParts<S> for Params {
    type Rejection = Fault;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Fault> {
        let Query(pairs) = Query::try_from_uri(&parts.uri)
            .map_err(|error| Fault::bad_request(format!("query: {}", error.body_text())))?;
        Ok(Self(pairs))
    }
}

impl Params {
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn require(&self, name: &str) -> Result<&str, Fault> {
        self.get(name).ok_or_else(|| {
            Fault::bad_request(format!("query parameter '{name}' is required but missing")).field(name)
        })
    }

    pub(crate) fn id<T: FromStr>(&self, name: &str) -> Result<T, Fault> {
        parse_id(name, self.require(name)?)
    }

    pub(crate) fn optional_id<T: FromStr>(&self, name: &str) -> Result<Option<T>, Fault> {
        self.get(name).map(|given| parse_id(name, given)).transpose()
    }

    /// Absent means false.
    pub(crate) fn flag(&self, name: &str) -> Result<bool, Fault> {
        match self.get(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1") => Ok(true),
            Some(given) => Err(wrong(name, &format!("'{given}' is not allowed; allowed: true, false"))),
        }
    }

    pub(crate) fn page(&self) -> Result<Page, Fault> {
        let limit = self.number("limit", 1, PAGE_MAX)?;
        let offset = self.number("offset", 0, u32::MAX)?.unwrap_or(0);
        Ok(Page { limit, offset })
    }

    /// The position from which a stream continues.
    pub(crate) fn after(&self) -> Result<Option<i64>, Fault> {
        self.number("after", 0, i64::MAX)
    }

    pub(crate) fn number<N>(&self, name: &str, min: N, max: N) -> Result<Option<N>, Fault>
    where
        N: FromStr + PartialOrd + std::fmt::Display,
    {
        let Some(given) = self.get(name) else { return Ok(None) };
        match given.parse::<N>() {
            Ok(number) if number >= min && number <= max => Ok(Some(number)),
            _ => Err(wrong(
                name,
                &format!("'{given}' is not allowed; allowed: a whole number from {min} to {max}"),
            )),
        }
    }
}

/// The part of a whole list that `page` selects.
pub(crate) fn cut<T>(rows: Vec<T>, page: Page) -> Vec<T> {
    let limit = page.limit.map_or(usize::MAX, |limit| limit as usize);
    rows.into_iter().skip(page.offset as usize).take(limit).collect()
}

/// A required JSON body.
pub(crate) struct Payload<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Payload<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &S) -> Result<Self, Fault> {
        let body = read_json(request, BODY_LIMIT).await?;
        if body.is_empty() {
            let empty = Fault::bad_request("the body is empty (line 1 column 0); expected a JSON object");
            return Err(empty.code(ErrorCode::BodyNotJson));
        }
        decode(&body).map(Payload)
    }
}

/// A JSON body that may be missing or null, which then counts as `{}`.
pub(crate) struct OptionalPayload<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for OptionalPayload<T> {
    type Rejection = Fault;

    async fn from_request(request: Request, _: &S) -> Result<Self, Fault> {
        let body = read_json(request, BODY_LIMIT).await?;
        let absent = matches!(body.trim_ascii(), b"" | b"null");
        decode(if absent { b"{}" } else { &body }).map(OptionalPayload)
    }
}

pub(crate) async fn read_json(request: Request, limit: usize) -> Result<Bytes, Fault> {
    let kind = request.headers().get(header::CONTENT_TYPE).cloned();
    let body = read(request, limit).await?;
    let kind = kind.as_ref().map(|kind| kind.to_str().unwrap_or("?"));
    if body.is_empty() || kind.is_some_and(is_json) {
        return Ok(body);
    }
    let message = format!("Content-Type: '{}' is not allowed", kind.unwrap_or("none"));
    Err(Fault::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message).hint("send application/json"))
}

fn is_json(kind: &str) -> bool {
    let essence = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json" || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// The whole body, up to `limit` bytes.
pub(crate) async fn read(request: Request, limit: usize) -> Result<Bytes, Fault> {
    let body = axum::body::to_bytes(request.into_body(), limit);
    match tokio::time::timeout(BODY_TIMEOUT, body).await {
        Ok(Ok(body)) => Ok(body),
        Ok(Err(error)) if is_over_limit(&error) => Err(Fault::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the body is larger than {limit} bytes, the most that is allowed here"),
        )),
        Ok(Err(_)) => Err(Fault::bad_request("the body ended early").hint("send it again")),
        Err(_) => Err(Fault::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the body did not arrive within {} s", BODY_TIMEOUT.as_secs()),
        )
        .hint("send it again")),
    }
}

fn is_over_limit(error: &axum::Error) -> bool {
    std::error::Error::source(error).is_some_and(|cause| cause.to_string().contains("length limit exceeded"))
}

/// Reads a `T` and distinguishes broken JSON (400, with its position) from JSON of the wrong shape (422, with the
/// field).
pub(crate) fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, Fault> {
    if let Err(error) = serde_json::from_slice::<IgnoredAny>(body) {
        return Err(Fault::bad_request(format!("the body is not JSON: {error}")).code(ErrorCode::BodyNotJson));
    }
    // A list could pass for an object in which every field is absent.
    if body.trim_ascii_start().starts_with(b"[") {
        let fault = Fault::new(StatusCode::UNPROCESSABLE_ENTITY, "the body is not a JSON object");
        return Err(fault.hint("send an object such as {}"));
    }
    let mut source = serde_json::Deserializer::from_slice(body);
    let error = match serde_path_to_error::deserialize(&mut source) {
        Ok(value) => return Ok(value),
        Err(error) => error,
    };
    if let Some(value) = make_whole(body).and_then(|whole| serde_json::from_value(whole).ok()) {
        return Ok(value);
    }
    let path = error.path().to_string();
    let message = error.into_inner().to_string();
    // The JSON is sound, so its author knows a field by its name and not by its column.
    let message = strip_position(&message);
    let field = match path.as_str() {
        "." | "?" => blame::<T>(body, message),
        path => Some(path.to_owned()),
    };
    Err(match field {
        Some(field) => {
            Fault::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{field}: {message}")).field(field)
        }
        None => Fault::new(StatusCode::UNPROCESSABLE_ENTITY, message),
    })
}

/// The body with whole numbers written as such, if it has one with a fraction of 0: to JSON Schema, and to some languages,
/// 5.0 is as whole as 5.
fn make_whole(body: &[u8]) -> Option<Value> {
    fn change(value: &mut Value) -> bool {
        match value {
            Value::Number(number) if number.is_f64() => {
                let whole = number.as_f64().filter(|one| one.fract() == 0.0 && one.abs() < 2f64.powi(63));
                whole.map(|whole| *value = (whole as i64).into()).is_some()
            }
            Value::Array(items) => items.iter_mut().fold(false, |changed, one| change(one) | changed),
            Value::Object(fields) => fields.values_mut().fold(false, |changed, one| change(one) | changed),
            _ => false,
        }
    }
    let mut value = serde_json::from_slice(body).ok()?;
    change(&mut value).then_some(value)
}

/// Like [`decode`], for JSON that is already parsed.
pub(crate) fn decode_value<T: DeserializeOwned>(value: &Value) -> Result<T, Fault> {
    decode(value.to_string().as_bytes())
}

/// Flattened parts of a body lose their path, so the field to blame is the one without which the message changes.
fn blame<T: DeserializeOwned>(body: &[u8], message: &str) -> Option<String> {
    let Ok(Value::Object(fields)) = serde_json::from_slice(body) else { return None };
    if message.starts_with("missing field") {
        return None;
    }
    fields.keys().find_map(|name| {
        let mut rest = fields.clone();
        rest.remove(name);
        let error = serde_json::from_value::<T>(Value::Object(rest)).err();
        error.is_none_or(|error| strip_position(&error.to_string()) != message).then(|| name.clone())
    })
}

fn strip_position(message: &str) -> &str {
    message.split(" at line ").next().unwrap_or(message)
}

#[cfg(test)]
mod tests;
