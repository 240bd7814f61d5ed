//! The route table: what a route is, and the router that is made from all of them.
//!
//! Invariant: the router, `/api/routes` and `/api/openapi.json` are all made from the rows, so they describe exactly what
//! is served. Method, handler, body and response are in one row and cannot disagree.

mod failure;
mod rows;

use axum::Router;
use axum::extract::Request;
use axum::http::{Extensions, HeaderMap, StatusCode, Version, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use forge_types::ErrorCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use tower_http::CompressionLevel;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tracing::Instrument;

use crate::envelope::{Answer, Fault};
use crate::{App, door, once, page, trace};
use rows::ROUTES;

/// The kind of a route's response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// The envelope.
    Json,
    /// JSON without the envelope.
    Raw,
    /// HTML, a script, a style sheet or a redirect.
    Page,
    /// The bytes of a file.
    File,
    WebSocket,
    /// Server-sent events.
    EventStream,
}

/// Any JSON object.
pub(crate) type Object = serde_json::Map<String, serde_json::Value>;

/// The schema of a type, in the generator that collects the types that it names.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// How a body is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Json,
    /// JSON that may be missing.
    Optional,
    Multipart,
    Text,
}

#[derive(Clone, Copy)]
pub(crate) struct Body {
    pub(crate) form: Form,
    pub(crate) schema: SchemaOf,
}

/// One row of the table.
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub kind: RouteKind,
    /// One sentence for people.
    pub(crate) summary: &'static str,
    /// The heading under which `/api/routes` lists it.
    pub group: &'static str,
    /// Query parameters, separated by blanks; optional ones end in `?`.
    pub query: &'static str,
    /// Whether the route honours `Idempotency-Key`.
    pub once: bool,
    /// Whether the response may come without the envelope.
    pub(crate) bare: bool,
    pub(crate) body: Option<Body>,
    /// What the envelope holds, or a frame of a stream.
    pub(crate) answer: SchemaOf,
    pub(crate) status: u16,
    /// The media type of a file.
    pub(crate) media: Option<&'static str>,
    /// How it can fail, beside what follows from the rest of the row.
    fails: &'static [failure::List],
    handler: fn() -> MethodRouter<App>,
}

macro_rules! table {
    ($($group:ident { $(
        #[doc = $summary:literal]
        $method:ident $path:literal $kind:ident $(($media:literal))? $($handler:ident)::+
        $(($body:ty $(, $form:ident)?))? $([$query:literal])? $(-> $answer:ty)? $(= $status:literal)? $(| $fails:ident)* $({ $mark:ident })?;
    )* })*) => {
        &[$($(Route {
            method: stringify!($method),
            path: $path,
            kind: RouteKind::$kind,
            summary: $summary,
            group: stringify!($group),
            query: concat!($($query)?),
            once: table!(@is once $($mark)?),
            bare: table!(@is bare $($mark)?),
            body: table!(@body $($body $(, $form)?)?),
            answer: table!(@answer $($answer)?),
            status: table!(@status $kind $($status)?),
            media: table!(@media $($media)?),
            fails: &[$($fails),*],
            handler: || $method($($handler)::+),
        },)*)*]
    };
    (@is once once) => { true };
    (@is bare bare) => { true };
    (@is $mark:ident $($other:ident)?) => { false };
    (@body) => { None };
    (@body $body:ty) => { Some(Body { form: Form::Json, schema: schema_of::<$body> }) };
    (@body $body:ty, optional) => { Some(Body { form: Form::Optional, schema: schema_of::<$body> }) };
    (@body $body:ty, multipart) => { Some(Body { form: Form::Multipart, schema: schema_of::<$body> }) };
    (@body $body:ty, text) => { Some(Body { form: Form::Text, schema: schema_of::<$body> }) };
    (@answer) => { schema_of::<Anything> };
    (@answer $answer:ty) => { schema_of::<$answer> };
    (@status WebSocket) => { 101 };
    (@status $kind:ident) => { 200 };
    (@status $kind:ident $status:literal) => { $status };
    (@media) => { None };
    (@media $media:literal) => { Some($media) };
}
use table;

/// Every route, in the order in which they are listed to people.
pub fn routes() -> &'static [Route] {
    ROUTES
}

/// Shorter answers fit in a packet as they are.
const COMPRESSED_FROM: u64 = 1024;

pub(crate) fn build(app: App) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let handler = || match route.once {
            true => (route.handler)().route_layer(middleware::from_fn_with_state(app.clone(), once::keep)),
            false => (route.handler)(),
        };
        router = router.route(route.path, handler());
        if is_collection(route.path) {
            router = router.route(&format!("{}/", route.path), handler());
        }
    }
    let is_worth_it = SizeAbove::new(COMPRESSED_FROM).and(is_json as fn(_, _, &_, &_) -> _);
    let compression = CompressionLayer::new().quality(CompressionLevel::Fastest).compress_when(is_worth_it);
    router
        .method_not_allowed_fallback(refuse_method)
        .fallback(page::fallback)
        .layer(middleware::from_fn(see_through))
        .layer(middleware::from_fn_with_state(app.clone(), door::guard))
        .layer(compression)
        .layer(CatchPanicLayer::custom(trace::answer_panic))
        .layer(middleware::from_fn(trace::observe))
        .with_state(app)
}

/// Files are compressed already where that is worth it, and streams must not wait for more.
fn is_json(_: StatusCode, _: Version, headers: &HeaderMap, _: &Extensions) -> bool {
    let kind = headers.get(header::CONTENT_TYPE);
    kind.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"))
}

/// `/api/<word>`, which clients also request with a slash at the end.
fn is_collection(path: &str) -> bool {
    path.strip_prefix("/api/").is_some_and(|rest| !rest.contains(['/', '.']))
}

/// A request that changes something runs to its end even when its client goes away in the middle.
async fn see_through(request: Request, next: Next) -> Response {
    if request.method().is_safe() {
        return next.run(request).await;
    }
    match tokio::spawn(next.run(request).in_current_span()).await {
        Ok(response) => response,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Fault::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping")
                .code(ErrorCode::Stopping)
                .hint("try again")
                .into_response(),
        },
    }
}

async fn refuse_method(request: Request) -> Answer {
    let path = request.uri().path();
    let message = format!("{} is not allowed for {path}", request.method());
    Err(Fault::new(StatusCode::METHOD_NOT_ALLOWED, message).hint("GET /api/routes lists what is"))
}
