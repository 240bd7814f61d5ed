//! Sending what was decided: as one JSON document or as a stream of server-sent events.

use std::convert::Infallible;

use futures_util::stream::unfold;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::Response;
use hyper::body::{Bytes, Frame};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::script::Reply;
use super::{Api, anthropic, chat, gemini, responses};

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// The client no longer listens.
pub(super) struct Gone;

/// Where the events of a streamed answer go.
pub(super) struct Sink(mpsc::Sender<String>);

impl Sink {
    pub(super) async fn data(&self, data: &str) -> Result<(), Gone> {
        self.0.send(format!("data: {data}\n\n")).await.map_err(|_| Gone)
    }

    /// An event that is named by its `type`.
    pub(super) async fn event(&self, event: &Value) -> Result<(), Gone> {
        let name = event["type"].as_str().unwrap_or_default();
        self.0.send(format!("event: {name}\ndata: {event}\n\n")).await.map_err(|_| Gone)
    }
}

pub(super) fn new_id(prefix: &str) -> String {
    format!("{prefix}{}", &Uuid::new_v4().simple().to_string()[..24])
}

pub(super) fn send(status: u16, headers: &[(&str, &str)], body: &Value) -> Response<Body> {
    let mut response = Response::builder().status(status).header("content-type", "application/json");
    for (name, value) in headers {
        response = response.header(*name, *value);
    }
    let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(body.to_string()) };
    response.body(Full::new(bytes).boxed_unsync()).expect("a response")
}

/// `sent` is called once the whole answer was sent.
pub(super) async fn answer(
    api: Api,
    path: &str,
    body: Value,
    reply: Reply,
    sent: impl FnOnce() + Send + 'static,
) -> Response<Body> {
    if let Reply::Status(status) = reply {
        let headers: &[(&str, &str)] =
            if matches!(status, 429 | 529) { &[("retry-after", "1")] } else { &[] };
        return send(status, headers, &refusal(api, status));
    }
    let model = match api {
        Api::Gemini => gemini::model(path),
        Api::Anthropic | Api::Responses | Api::Chat => {
            body["model"].as_str().unwrap_or("fake-model").to_owned()
        }
    };
    let reply = if api == Api::Gemini { gemini::adapt(&body, reply) } else { reply };
    let streamed = if api == Api::Gemini { path.contains("stream") } else { body["stream"] == true };
    if !streamed {
        let mut text = String::new();
        for piece in reply.pieces() {
            tokio::time::sleep(piece.after).await;
            text.push_str(&piece.text);
        }
        sent();
        return send(200, &[], &whole(api, &model, &reply, &text));
    }
    let (sender, receiver) = mpsc::channel(16);
    tokio::spawn(async move {
        let sink = Sink(sender);
        let streamed = match api {
            Api::Anthropic => anthropic::stream(&model, &reply, &sink).await,
            Api::Responses => responses::stream(&model, &reply, &sink).await,
            Api::Chat => chat::stream(&model, &reply, &sink).await,
            Api::Gemini => gemini::stream(&model, &reply, &sink).await,
        };
        if streamed.is_ok() {
            sent();
        }
    });
    let frames = unfold(receiver, async |mut receiver: mpsc::Receiver<String>| {
        let text = receiver.recv().await?;
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from(text))), receiver))
    });
    let response =
        Response::builder().header("content-type", "text/event-stream").header("cache-control", "no-cache");
    response.body(StreamBody::new(frames).boxed_unsync()).expect("a response")
}

fn whole(api: Api, model: &str, reply: &Reply, text: &str) -> Value {
    match api {
        Api::Anthropic => anthropic::whole(model, reply, text),
        Api::Responses => responses::whole(model, reply, text),
        Api::Chat => chat::whole(model, reply, text),
        Api::Gemini => gemini::whole(model, reply, text),
    }
}

/// What the provider says when it will not serve.
fn refusal(api: Api, status: u16) -> Value {
    let kind = match status {
        400 => "invalid_request_error",
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        _ => "api_error",
    };
    let message = match (status, api) {
        (401, Api::Anthropic) => "invalid x-api-key".to_owned(),
        (401, Api::Gemini) => "API key not valid. Please pass a valid API key.".to_owned(),
        (401, _) => "Incorrect API key provided: bad.".to_owned(),
        (429, _) => "rate limited".to_owned(),
        (529, _) => "Overloaded".to_owned(),
        _ => format!("scripted error {status}"),
    };
    match api {
        Api::Anthropic => {
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": new_id("req_")})
        }
        Api::Gemini => {
            let word = match status {
                400 => "INVALID_ARGUMENT",
                401 => "UNAUTHENTICATED",
                429 => "RESOURCE_EXHAUSTED",
                _ => "INTERNAL",
            };
            json!({"error": {"code": status, "message": message, "status": word}})
        }
        Api::Responses | Api::Chat => {
            let code = if status == 401 { json!("invalid_api_key") } else { Value::Null };
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
    }
}
