//! The route table: every path the server answers, once.
//!
//! Invariant: the router, `/api/routes` and `/api/openapi.json` are all made from this table, so what they tell is what
//! is served. A method and its handler stand in one row and cannot disagree.

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, delete as DELETE, get as GET, post as POST, put as PUT};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument;

use crate::envelope::{Answer, Fault};
use crate::routes::{
    attempts, auth, checkouts, errands, issues, meta, profiles, projects, pulls, runs, tasks, worktrees,
};
use crate::{App, door, page, stream, trace};

/// What a route answers with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteKind {
    /// The envelope.
    Json,
    /// JSON without the envelope.
    Raw,
    /// HTML, a script, a style sheet or a redirect.
    Page,
    WebSocket,
    /// Server-sent events.
    EventStream,
}

/// One row of the table.
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub kind: RouteKind,
    /// The heading under which `/api/routes` lists it.
    pub group: &'static str,
    /// Query parameters, separated by blanks; optional ones end in `?`.
    pub query: &'static str,
    handler: fn() -> MethodRouter<App>,
}

macro_rules! table {
    ($($group:ident { $($method:ident $path:literal $kind:ident $handler:path $([$query:literal])?;)* })*) => {
        &[$($(Route {
            method: stringify!($method),
            path: $path,
            kind: RouteKind::$kind,
            group: stringify!($group),
            query: concat!($($query)?),
            handler: || $method($handler),
        },)*)*]
    };
}

static ROUTES: &[Route] = table! {
    core {
        GET "/health" Raw meta::ready;
        GET "/api/health" Json meta::health;
        GET "/docs" Page meta::docs;
        GET "/api/openapi.json" Raw meta::openapi;
        GET "/api/routes" Raw meta::list_routes;
        GET "/site.webmanifest" Raw page::manifest;
        GET "/" Page page::index;
        GET "/page.js" Page page::script;
        GET "/page.css" Page page::style;
    }
    auth {
        GET "/login" Page door::login ["code"];
        POST "/api/auth/github/device/start" Json auth::start;
        POST "/api/auth/github/device/poll" Json auth::poll;
        GET "/api/auth/github/check" Json auth::check;
    }
    projects {
        GET "/api/projects" Json projects::list ["limit? offset?"];
        POST "/api/projects" Json projects::create;
        GET "/api/projects/{project_id}" Json projects::show;
        PUT "/api/projects/{project_id}" Json projects::update;
        DELETE "/api/projects/{project_id}" Json projects::delete;
        GET "/api/projects/{project_id}/branches" Json projects::branches;
        POST "/api/projects/{project_id}/open-editor" Json projects::open;
        GET "/api/projects/{project_id}/search" Json projects::search ["q mode?"];
    }
    tasks {
        GET "/api/tasks" Json tasks::list ["project_id limit? offset?"];
        POST "/api/tasks" Json tasks::create;
        POST "/api/tasks/create-and-start" Json tasks::start;
        GET "/api/tasks/stream/ws" WebSocket stream::tasks::watch ["project_id after?"];
        GET "/api/tasks/{task_id}" Json tasks::show;
        PUT "/api/tasks/{task_id}" Json tasks::update;
        DELETE "/api/tasks/{task_id}" Json tasks::delete;
        POST "/api/tasks/{task_id}/attempts/start" Json attempts::start;
        GET "/api/projects/{project_id}/tasks" Json tasks::list_in_project ["limit? offset?"];
        POST "/api/projects/{project_id}/tasks" Json tasks::create_in_project;
        POST "/api/projects/{project_id}/tasks/create-and-start" Json tasks::start_in_project;
        POST "/api/projects/{project_id}/tasks/from-issue" Json issues::create;
        GET "/api/projects/{project_id}/tasks/stream/ws" WebSocket stream::tasks::watch_in_project ["after?"];
        GET "/api/projects/{project_id}/tasks/{task_id}" Json tasks::show;
        PUT "/api/projects/{project_id}/tasks/{task_id}" Json tasks::update;
        DELETE "/api/projects/{project_id}/tasks/{task_id}" Json tasks::delete;
    }
    task_attempts {
        GET "/api/task-attempts" Json attempts::list ["task_id? limit? offset?"];
        POST "/api/task-attempts" Json attempts::create;
        GET "/api/task-attempts/{attempt_id}" Json attempts::show;
        POST "/api/task-attempts/{attempt_id}/follow-up" Json attempts::follow_up;
        POST "/api/task-attempts/{attempt_id}/replace-process" Json attempts::replace_run;
        POST "/api/task-attempts/{attempt_id}/stop" Json attempts::stop;
        POST "/api/task-attempts/{attempt_id}/merge" Json attempts::merge;
        POST "/api/task-attempts/{attempt_id}/push" Json pulls::push;
        POST "/api/task-attempts/{attempt_id}/pr" Json pulls::create;
        POST "/api/task-attempts/{attempt_id}/pr/attach" Json pulls::attach;
        POST "/api/task-attempts/{attempt_id}/start-dev-server" Json attempts::start_dev_server;
        GET "/api/task-attempts/{attempt_id}/diff/ws" WebSocket stream::diff::watch ["stats_only? after?"];
    }
    processes {
        GET "/api/execution-processes" Json runs::list ["task_attempt_id show_soft_deleted? limit? offset?"];
        GET "/api/execution-processes/stream/ws" WebSocket stream::runs::watch ["task_attempt_id show_soft_deleted? after?"];
        GET "/api/execution-processes/{process_id}" Json runs::show;
        POST "/api/execution-processes/{process_id}/stop" Json runs::stop;
        GET "/api/execution-processes/{process_id}/raw-logs/ws" WebSocket stream::logs::watch_raw ["after?"];
        GET "/api/execution-processes/{process_id}/normalized-logs/ws" WebSocket stream::entries::watch ["after?"];
        GET "/api/execution-runs" Json errands::list ["project_id? limit? offset?"];
        POST "/api/execution-runs" Json errands::start;
        GET "/api/execution-runs/{run_id}" Json errands::show;
        POST "/api/execution-runs/{run_id}/follow-up" Json errands::follow_up;
        POST "/api/execution-runs/{run_id}/stop" Json errands::stop;
        GET "/api/execution-runs/{run_id}/processes" Json errands::runs ["limit? offset?"];
        GET "/api/execution-runs/{run_id}/logs/ws" WebSocket stream::logs::watch_errand ["after?"];
    }
    events {
        GET "/api/events" EventStream stream::events::watch ["after?"];
    }
    drafts {
        GET "/api/drafts/stream/ws" WebSocket stream::drafts::watch ["project_id after?"];
    }
    config {
        GET "/api/profiles" Json profiles::show;
        PUT "/api/profiles" Json profiles::save;
    }
    forge {
        GET "/api/forge/auth-required" Raw meta::auth_required;
        GET "/api/forge/projects/{project_id}/branch-status" Json checkouts::status ["base?"];
        POST "/api/forge/projects/{project_id}/pull" Raw checkouts::pull;
        GET "/api/forge/releases" Json checkouts::releases;
    }
    worktrees {
        GET "/api/worktrees" Json worktrees::list;
        POST "/api/worktrees/gc" Json worktrees::collect_garbage;
        POST "/api/worktrees/{attempt_id}/retire" Json worktrees::retire;
        POST "/api/worktrees/{attempt_id}/restore" Json worktrees::restore;
    }
};

/// Every route, in the order in which they are listed to people.
pub fn routes() -> &'static [Route] {
    ROUTES
}

pub(crate) fn build(app: App) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        router = router.route(route.path, (route.handler)());
        if is_collection(route.path) {
            router = router.route(&format!("{}/", route.path), (route.handler)());
        }
    }
    router
        .method_not_allowed_fallback(refuse_method)
        .fallback(page::fallback)
        .layer(middleware::from_fn(see_through))
        .layer(middleware::from_fn_with_state(app.clone(), door::guard))
        .layer(CatchPanicLayer::custom(trace::answer_panic))
        .layer(middleware::from_fn(trace::observe))
        .with_state(app)
}

/// `/api/<word>`, which clients also ask for with a slash at the end.
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
            Err(_) => Fault::new(StatusCode::SERVICE_UNAVAILABLE, "the server is stopping; try again")
                .into_response(),
        },
    }
}

async fn refuse_method(request: Request) -> Answer {
    let path = request.uri().path();
    let message = format!("{} is not allowed for {path}; GET /api/routes lists what is", request.method());
    Err(Fault::new(StatusCode::METHOD_NOT_ALLOWED, message))
}
