//! The Model Context Protocol at `/mcp`: tools and resources for agents that direct other agents.
//!
//! Owns: the endpoint, the words of the protocol, and (below) one file per group of tools. Nothing else knows `rmcp`.
//! Invariant: every request is independent, so nothing is lost when the server restarts and no sessions pile up. The
//! door in front of every route guards this one too. A tool makes one engine call where it can, and a refusal is a
//! result that the caller reads, not an error of the protocol.

mod agents;
mod alone;
mod approvals;
mod argument;
mod attempts;
mod beads;
mod branches;
mod calls;
mod drafts;
mod errands;
mod processes;
mod progress;
mod projects;
mod pulls;
mod resource;
mod results;
mod tasks;
mod tool;
mod usage;
mod workers;

pub use alone::Alone;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use forge_core::Forge;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, InitializeRequestParams, InitializeResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::App;
use crate::envelope::Fault;
use crate::extract::{BODY_LIMIT, read};
use calls::{Calls, NAME_HEADER, Notice, new_name};
use progress::Progress;
use tool::Call;

const INSTRUCTIONS: &str = "Forge runs coding agents, each in its own git worktree, and lands their work. A project is \
    a repository, a task is a piece of work in it, an attempt is one try at a task on its own branch. The usual way: \
    list_projects (or create_project), create_task_and_start, wait_for_attempt until it is finished, \
    get_attempt_result and get_attempt_diff to judge the work, follow_up to ask for more, then merge_task_attempt or \
    create_pr. When a wait ends because the agent asks something, list_approvals shows the question and \
    answer_approval answers it.";

/// The endpoint. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Endpoint {
    service: StreamableHttpService<Desk, NeverSessionManager>,
    calls: Calls,
}

impl Endpoint {
    pub(crate) fn new(forge: &Forge, version: &str, shutdown: &CancellationToken) -> Self {
        // The door checks `Host` and `Origin`, and has let this request in.
        let config = StreamableHttpServerConfig::default()
            .with_legacy_session_mode(false)
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_max_request_body_bytes(BODY_LIMIT)
            .with_cancellation_token(shutdown.clone());
        let calls = Calls::default();
        let desk = Desk { forge: forge.clone(), version: version.to_owned(), calls: calls.clone() };
        let service = StreamableHttpService::new(
            move || Ok(desk.clone()),
            Arc::new(NeverSessionManager::default()),
            config,
        );
        Self { service, calls }
    }
}

/// `POST /mcp`
pub(crate) async fn answer(State(app): State<App>, request: Request) -> Result<Response, Fault> {
    let (parts, body) = request.into_parts();
    let body = read(Request::new(body), BODY_LIMIT).await?;
    let notice = app.mcp.calls.notice(&parts.headers, &body);
    let response = app.mcp.service.handle(Request::from_parts(parts, Body::from(body))).await;
    let mut response = response.map(Body::new).into_response();
    if notice == Notice::Handshake && response.status().is_success() {
        response.headers_mut().insert(NAME_HEADER, new_name());
    }
    Ok(response)
}

/// Handles one request of the protocol.
#[derive(Clone)]
struct Desk {
    forge: Forge,
    version: String,
    calls: Calls,
}

impl ServerHandler for Desk {
    fn get_info(&self) -> ServerConfig {
        describe(&self.version)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        check_version(&request.protocol_version)?;
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tool::find(name).map(tool::Tool::describe)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let query = context.extensions.get::<Parts>().and_then(|parts| parts.uri.query()).unwrap_or_default();
        let is_advanced = query.split('&').any(|part| matches!(part, "advanced" | "advanced=true"));
        Ok(ListToolsResult::with_all_items(tool::listed(is_advanced).map(tool::Tool::describe).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tool::find(&request.name) else {
            let message = format!("name: no tool is called '{}'; tools/list lists the tools", request.name);
            return Err(ErrorData::invalid_params(message, None));
        };
        let left = context.ct.child_token();
        let headers = context.extensions.get::<Parts>().map(|parts| &parts.headers);
        let _under_way = self.calls.begin(headers, context.id.clone().into_json_value(), &left);
        let call = Call { forge: self.forge.clone(), progress: Progress::of(&context), left };
        let arguments = request.arguments.map_or_else(|| json!({}), Value::Object);
        Ok(tool.answer(call, arguments).await.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resource::list(&self.forge).await?))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resource::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(resource::read(&self.forge, &request.uri).await?.into())
    }
}

/// What Forge reports about itself.
fn describe(version: &str) -> ServerConfig {
    let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
    let identity = Implementation::new("automagik-forge", version.to_owned());
    ServerConfig::new(capabilities).with_server_info(identity).with_instructions(INSTRUCTIONS)
}

/// Dates compare as text. For a newer version than we know, the response names the newest that we know.
fn check_version(requested: &ProtocolVersion) -> Result<(), ErrorData> {
    match requested.as_str() < ProtocolVersion::V_2024_11_05.as_str() {
        true => Err(too_old(requested)),
        false => Ok(()),
    }
}

fn too_old(requested: &ProtocolVersion) -> ErrorData {
    let known: Vec<&str> = ProtocolVersion::KNOWN_VERSIONS.iter().map(ProtocolVersion::as_str).collect();
    let message = format!(
        "protocolVersion: '{requested}' is too old; supported: {}. Update the client",
        known.join(", ")
    );
    let data = json!({
        "requested_protocol": requested.as_str(),
        "minimum_supported_protocol": ProtocolVersion::V_2024_11_05.as_str(),
        "supported_protocols": known,
    });
    ErrorData::invalid_params(message, Some(data))
}
