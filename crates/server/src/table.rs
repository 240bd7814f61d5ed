//! The route table: every path of the server, once.
//!
//! Invariant: the router, `/api/routes` and `/api/openapi.json` are all made from this table, so they describe exactly
//! what is served. A method and its handler are in one row and cannot disagree.

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
    agents, alerts, approvals, attempts, auth, beads, branches, checkouts, config, demo, drafts, errands,
    files, folders, forge, images, import, issues, mcp, meta, profiles, projects, pulls, routing, runs,
    sounds, tags, tasks, templates, usage, workers, worktrees,
};
use crate::{App, door, once, page, stream, trace};

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

/// One row of the table.
pub struct Route {
    pub method: &'static str,
    pub path: &'static str,
    pub kind: RouteKind,
    /// The heading under which `/api/routes` lists it.
    pub group: &'static str,
    /// Query parameters, separated by blanks; optional ones end in `?`.
    pub query: &'static str,
    /// Whether the route honours `Idempotency-Key`.
    pub once: bool,
    handler: fn() -> MethodRouter<App>,
}

macro_rules! table {
    ($($group:ident { $($method:ident $path:literal $kind:ident $handler:path $([$query:literal])? $({ $once:ident })?;)* })*) => {
        &[$($(Route {
            method: stringify!($method),
            path: $path,
            kind: RouteKind::$kind,
            group: stringify!($group),
            query: concat!($($query)?),
            once: table!(@ $($once)?),
            handler: || $method($handler),
        },)*)*]
    };
    (@ once) => { true };
    (@) => { false };
}

static ROUTES: &[Route] = table! {
    core {
        GET "/health" Raw meta::ready;
        GET "/api/health" Json meta::health;
        GET "/docs" Page meta::docs;
        GET "/api/openapi.json" Raw meta::openapi;
        GET "/api/routes" Raw meta::list_routes;
        POST "/mcp" EventStream crate::mcp::answer;
        GET "/site.webmanifest" Raw page::manifest;
        GET "/" Page page::index;
        GET "/plain.css" Page page::style;
    }
    auth {
        GET "/login" Page door::login ["code"];
        POST "/logout" Page door::logout;
        POST "/api/auth/login-link" Json door::make_link;
        POST "/api/auth/github/device/start" Json auth::start;
        POST "/api/auth/github/device/poll" Json auth::poll;
        GET "/api/auth/github/check" Json auth::check;
    }
    projects {
        GET "/api/projects" Json projects::list ["limit? offset? counts?"];
        POST "/api/projects" Json projects::create;
        GET "/api/projects/{project_id}" Json projects::show;
        PUT "/api/projects/{project_id}" Json projects::update;
        DELETE "/api/projects/{project_id}" Json projects::delete;
        GET "/api/projects/{project_id}/branches" Json projects::branches;
        GET "/api/projects/{project_id}/cards" Json projects::cards ["task_id?"];
        GET "/api/projects/{project_id}/conflicts" Json branches::conflicts;
        POST "/api/projects/{project_id}/open-editor" Json projects::open;
        GET "/api/projects/{project_id}/search" Json projects::search ["q mode?"];
    }
    tasks {
        GET "/api/tasks" Json tasks::list ["project_id limit? offset?"];
        POST "/api/tasks" Json tasks::create { once };
        POST "/api/tasks/create-and-start" Json tasks::start { once };
        GET "/api/tasks/stream/ws" WebSocket stream::tasks::watch ["project_id after?"];
        GET "/api/tasks/stream/sse" EventStream stream::tasks::watch ["project_id after?"];
        GET "/api/tasks/stream" Json stream::tasks::watch ["project_id after? wait_ms?"];
        GET "/api/tasks/{task_id}" Json tasks::show;
        PUT "/api/tasks/{task_id}" Json tasks::update;
        DELETE "/api/tasks/{task_id}" Json tasks::delete;
        POST "/api/tasks/{task_id}/attempts/start" Json attempts::start { once };
        GET "/api/projects/{project_id}/tasks" Json tasks::list_in_project ["limit? offset?"];
        POST "/api/projects/{project_id}/tasks" Json tasks::create_in_project { once };
        POST "/api/projects/{project_id}/tasks/create-and-start" Json tasks::start_in_project { once };
        POST "/api/projects/{project_id}/tasks/from-issue" Json issues::create;
        GET "/api/projects/{project_id}/tasks/stream/ws" WebSocket stream::tasks::watch_in_project ["after?"];
        GET "/api/projects/{project_id}/tasks/{task_id}" Json tasks::show;
        PUT "/api/projects/{project_id}/tasks/{task_id}" Json tasks::update;
        DELETE "/api/projects/{project_id}/tasks/{task_id}" Json tasks::delete;
    }
    task_attempts {
        GET "/api/task-attempts" Json attempts::list ["task_id? project_id? limit? offset?"];
        POST "/api/task-attempts" Json attempts::create { once };
        GET "/api/task-attempts/{attempt_id}" Json attempts::show;
        POST "/api/task-attempts/{attempt_id}/follow-up" Json attempts::follow_up { once };
        POST "/api/task-attempts/{attempt_id}/replace-process" Json attempts::replace_run;
        POST "/api/task-attempts/{attempt_id}/run-agent-setup" Json attempts::set_up_agent;
        PUT "/api/task-attempts/{attempt_id}/budget" Json attempts::set_budget;
        GET "/api/task-attempts/{attempt_id}/draft" Json drafts::show ["type"];
        PUT "/api/task-attempts/{attempt_id}/draft" Json drafts::save ["type"];
        POST "/api/task-attempts/{attempt_id}/draft" Json drafts::save ["type"];
        DELETE "/api/task-attempts/{attempt_id}/draft" Json drafts::delete ["type"];
        POST "/api/task-attempts/{attempt_id}/draft/queue" Json drafts::queue ["type"];
        POST "/api/task-attempts/{attempt_id}/stop" Json attempts::stop;
        GET "/api/task-attempts/{attempt_id}/branch-status" Json branches::status;
        POST "/api/task-attempts/{attempt_id}/merge" Json branches::merge { once };
        POST "/api/task-attempts/{attempt_id}/rebase" Json branches::rebase;
        POST "/api/task-attempts/{attempt_id}/conflicts/abort" Json branches::abort_conflicts;
        POST "/api/task-attempts/{attempt_id}/conflicts/resolve" Json branches::resolve_conflicts;
        POST "/api/task-attempts/{attempt_id}/change-target-branch" Json branches::change_target;
        POST "/api/task-attempts/{attempt_id}/delete-file" Json branches::delete_file ["file_path"];
        GET "/api/task-attempts/{attempt_id}/commit-info" Json branches::commit_info ["sha"];
        GET "/api/task-attempts/{attempt_id}/commit-compare" Json branches::compare_commit ["sha"];
        GET "/api/task-attempts/{attempt_id}/children" Json branches::children;
        POST "/api/task-attempts/{attempt_id}/open-editor" Json branches::open;
        POST "/api/task-attempts/{attempt_id}/push" Json pulls::push;
        POST "/api/task-attempts/{attempt_id}/pr" Json pulls::create;
        POST "/api/task-attempts/{attempt_id}/pr/attach" Json pulls::attach;
        POST "/api/task-attempts/{attempt_id}/start-dev-server" Json attempts::start_dev_server;
        GET "/api/task-attempts/{attempt_id}/diff" Json branches::diff ["path? context? max_bytes?"];
        GET "/api/task-attempts/{attempt_id}/file" File files::show ["path side?"];
        GET "/api/task-attempts/{attempt_id}/diff/ws" WebSocket stream::diff::watch ["stats_only? after?"];
        GET "/api/task-attempts/{attempt_id}/diff/sse" EventStream stream::diff::watch ["stats_only? after?"];
    }
    processes {
        GET "/api/execution-processes" Json runs::list ["task_attempt_id show_soft_deleted? limit? offset?"];
        GET "/api/execution-processes/stream/ws" WebSocket stream::runs::watch ["task_attempt_id show_soft_deleted? after?"];
        GET "/api/execution-processes/stream/sse" EventStream stream::runs::watch ["task_attempt_id show_soft_deleted? after?"];
        GET "/api/execution-processes/stream" Json stream::runs::watch ["task_attempt_id show_soft_deleted? after? wait_ms?"];
        GET "/api/execution-processes/{process_id}" Json runs::show;
        POST "/api/execution-processes/{process_id}/stop" Json runs::stop;
        GET "/api/execution-processes/{process_id}/raw-logs/ws" WebSocket stream::logs::watch_raw ["after? tail?"];
        GET "/api/execution-processes/{process_id}/raw-logs/sse" EventStream stream::logs::watch_raw ["after? tail?"];
        GET "/api/execution-processes/{process_id}/raw-logs" Json stream::logs::watch_raw ["after? tail? wait_ms?"];
        GET "/api/execution-processes/{process_id}/normalized-logs/ws" WebSocket stream::entries::watch ["after?"];
        GET "/api/execution-processes/{process_id}/normalized-logs/sse" EventStream stream::entries::watch ["after?"];
        GET "/api/execution-processes/{process_id}/normalized-logs" Json stream::entries::watch ["after? wait_ms?"];
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
        GET "/api/events/ws" WebSocket stream::events::watch_socket ["after?"];
    }
    drafts {
        GET "/api/drafts/stream/ws" WebSocket stream::drafts::watch ["project_id after?"];
    }
    images {
        POST "/api/images/upload" Json images::upload;
        POST "/api/images/task/{task_id}/upload" Json images::upload_for_task;
        GET "/api/images/task/{task_id}" Json images::list;
        GET "/api/images/{image_id}/file" File images::file;
        DELETE "/api/images/{image_id}" Json images::delete;
    }
    tags {
        GET "/api/tags" Json tags::list ["search?"];
        POST "/api/tags" Json tags::create;
        GET "/api/tags/{tag_id}" Json tags::show;
        PUT "/api/tags/{tag_id}" Json tags::update;
        DELETE "/api/tags/{tag_id}" Json tags::delete;
        GET "/api/templates" Json templates::list ["global? project_id?"];
        POST "/api/templates" Json templates::create;
        GET "/api/templates/{template_id}" Json templates::show;
        PUT "/api/templates/{template_id}" Json templates::update;
        DELETE "/api/templates/{template_id}" Json templates::delete;
    }
    filesystem {
        GET "/api/filesystem/directory" Json folders::list ["path?"];
        GET "/api/filesystem/git-repos" Json folders::repositories ["path?"];
    }
    containers {
        GET "/api/containers/info" Json folders::owner ["ref"];
    }
    approvals {
        POST "/api/approvals/create" Json approvals::create;
        GET "/api/approvals/pending" Json approvals::pending;
        GET "/api/approvals/{approval_id}/status" Json approvals::status ["wait?"];
        POST "/api/approvals/{approval_id}/respond" Json approvals::respond;
    }
    config {
        GET "/api/info" Json config::info ["project_id?"];
        GET "/api/config" Json config::show;
        PUT "/api/config" Json config::save;
        GET "/api/mcp-config" Json mcp::show ["executor"];
        POST "/api/mcp-config" Json mcp::save ["executor"];
        GET "/api/sounds/{sound}" File sounds::show;
        GET "/api/agents" Json agents::list ["fresh?"];
        GET "/api/profiles" Json profiles::show ["project_id?"];
        PUT "/api/profiles" Json profiles::save;
    }
    forge {
        GET "/api/forge/auth-required" Raw meta::auth_required;
        GET "/api/forge/config" Json forge::settings;
        PUT "/api/forge/config" Json forge::save_settings;
        GET "/api/forge/projects/{project_id}/settings" Json forge::project_settings;
        PUT "/api/forge/projects/{project_id}/settings" Json forge::save_project_settings;
        GET "/api/forge/projects/{project_id}/profiles" Json profiles::show_in_project;
        GET "/api/forge/omni/status" Raw forge::omni_status;
        GET "/api/forge/omni/instances" Raw forge::omni_instances;
        POST "/api/forge/omni/validate" Raw forge::probe_omni;
        GET "/api/forge/omni/notifications" Raw forge::notifications;
        GET "/api/forge/agents" Json forge::agents ["project_id agent_type?"];
        POST "/api/forge/agents" Json forge::create_agent;
        GET "/api/forge/master-genie/{attempt_id}/neurons" Json forge::neurons;
        GET "/api/forge/neurons/{attempt_id}/subtasks" Json forge::subtasks;
        GET "/api/forge/projects/{project_id}/branch-status" Json checkouts::status ["base?"];
        POST "/api/forge/projects/{project_id}/pull" Raw checkouts::pull;
        GET "/api/forge/releases" Json checkouts::releases;
    }
    beads {
        GET "/api/beads" Json beads::list ["project_id? workspace? ready? status?"];
        POST "/api/beads" Json beads::create;
        GET "/api/beads/{bead_id}" Json beads::show ["project_id? workspace?"];
        PUT "/api/beads/{bead_id}" Json beads::update;
        POST "/api/beads/{bead_id}/claim" Json beads::claim;
        POST "/api/beads/{bead_id}/release" Json beads::release;
        POST "/api/beads/{bead_id}/close" Json beads::close;
        POST "/api/beads/{bead_id}/dep" Json beads::link;
        POST "/api/beads/{bead_id}/undep" Json beads::unlink;
        POST "/api/beads/{bead_id}/comment" Json beads::comment;
    }
    routing {
        GET "/api/routing" Json routing::list ["limit?"];
        GET "/api/routing/explain" Json routing::explain ["bead project_id? workspace?"];
        GET "/api/projects/{project_id}/dispatch" Json routing::rule;
        PUT "/api/projects/{project_id}/dispatch" Json routing::change_rule;
        POST "/api/dispatch" Json routing::dispatch;
    }
    import {
        POST "/api/demo" Json demo::start;
        POST "/api/import" Json import::start;
    }
    usage {
        GET "/api/usage" Json usage::show ["group_by? project_id? task_attempt_id? from? to?"];
        GET "/api/usage/workers" Json usage::workers ["project_id? task_attempt_id? from? to?"];
        GET "/api/usage/models" Json usage::models ["project_id? task_attempt_id? from? to?"];
    }
    workers {
        GET "/api/workers" Json workers::list;
        POST "/api/workers" Json workers::spawn;
        GET "/api/workers/{worker_id}" Json workers::show;
        DELETE "/api/workers/{worker_id}" Json workers::delete;
        POST "/api/workers/{worker_id}/stop" Json workers::stop;
        POST "/api/workers/{worker_id}/kill" Json workers::kill;
        POST "/api/workers/{worker_id}/restart" Json workers::restart;
        POST "/api/workers/{worker_id}/pause" Json workers::pause;
        POST "/api/workers/{worker_id}/resume" Json workers::resume;
        POST "/api/workers/{worker_id}/send" Json workers::send;
        POST "/api/workers/{worker_id}/interrupt" Json workers::interrupt;
        POST "/api/workers/{worker_id}/adopt" Json workers::adopt;
        POST "/api/workers/{worker_id}/reassign" Json workers::reassign;
        GET "/api/workers/{worker_id}/peek" Json workers::peek ["lines?"];
        GET "/api/health/workers" Json workers::health;
        GET "/api/launchers" Json workers::launchers;
        GET "/api/worker-definitions" Json workers::definitions;
    }
    alerts {
        GET "/api/alerts" Json alerts::list ["limit?"];
        POST "/api/alerts/ack-all" Json alerts::acknowledge_all;
        POST "/api/alerts/{alert_id}/ack" Json alerts::acknowledge;
    }
    worktrees {
        GET "/api/worktrees" Json worktrees::list;
        POST "/api/worktrees/gc" Json worktrees::collect_garbage;
        POST "/api/worktrees/{attempt_id}/retire" Json worktrees::retire;
        POST "/api/worktrees/{attempt_id}/restore" Json worktrees::restore;
        POST "/api/worktrees/{attempt_id}/adopt" Json worktrees::adopt;
        POST "/api/worktrees/{attempt_id}/release" Json worktrees::release;
    }
};

/// Every route, in the order in which they are listed to people.
pub fn routes() -> &'static [Route] {
    ROUTES
}

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
    router
        .method_not_allowed_fallback(refuse_method)
        .fallback(page::fallback)
        .layer(middleware::from_fn(see_through))
        .layer(middleware::from_fn_with_state(app.clone(), door::guard))
        .layer(CatchPanicLayer::custom(trace::answer_panic))
        .layer(middleware::from_fn(trace::observe))
        .with_state(app)
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
