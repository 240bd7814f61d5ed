//! Tasks, under `/api/tasks` and under their project.
//!
//! Invariant: a list is written block by block as the store yields it; a list that breaks in the
//! middle ends the connection, so that nobody takes half a list for a whole one.

use std::collections::HashMap;
use std::pin::Pin;

use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{BufMut, Bytes, BytesMut};
use forge_core::{Error, Forge, Kind, TaskBlock};
use forge_types::wire::StartedTask;
use forge_types::{Attempt, CreateTask, ProjectId, TaskId, UpdateTask};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use serde_json::Value;

use crate::compat::documents;
use crate::envelope::{Answer, ok, warn};
use crate::extract::{Id, Params, Payload, decode_value};
use crate::once::Key;

const CHUNK: usize = 64 << 10;
const HEAD: &[u8] = br#"{"success":true,"data":["#;
const TAIL: &[u8] = br#"],"error_data":null,"message":null}"#;

pub(crate) async fn list(State(forge): State<Forge>, params: Params) -> Answer {
    let blocks = forge.stream_tasks(params.id("project_id")?, params.page()?);
    write_list(blocks, None).await
}

pub(crate) async fn list_in_project(
    State(forge): State<Forge>,
    Id(project): Id<ProjectId>,
    params: Params,
) -> Answer {
    let blocks = forge.stream_tasks(project, params.page()?);
    let latest = forge.latest_attempts(project).await?;
    write_list(blocks, Some(latest)).await
}

pub(crate) async fn create(
    State(forge): State<Forge>,
    key: Key,
    Payload(request): Payload<CreateTask>,
) -> Answer {
    Ok(ok(forge.create_task(request, key.once()).await?))
}

pub(crate) async fn create_in_project(
    state: State<Forge>,
    key: Key,
    Id(project): Id<ProjectId>,
    Payload(mut body): Payload<Value>,
) -> Answer {
    fill_project(&mut body, project);
    create(state, key, Payload(decode_value(&body)?)).await
}

pub(crate) async fn start(State(forge): State<Forge>, key: Key, Payload(body): Payload<Value>) -> Answer {
    let started = forge.start_task(documents::start(body)?, key.once()).await?;
    Ok(warn(StartedTask::new(started.task, started.attempt), started.warning))
}

pub(crate) async fn start_in_project(
    state: State<Forge>,
    key: Key,
    Id(project): Id<ProjectId>,
    Payload(mut body): Payload<Value>,
) -> Answer {
    fill_project(body.get_mut("task").unwrap_or(&mut Value::Null), project);
    fill_project(&mut body, project);
    start(state, key, Payload(body)).await
}

pub(crate) async fn show(State(forge): State<Forge>, Id(id): Id<TaskId>) -> Answer {
    Ok(ok(forge.task(id).await?))
}

pub(crate) async fn update(
    State(forge): State<Forge>,
    Id(id): Id<TaskId>,
    Payload(request): Payload<UpdateTask>,
) -> Answer {
    Ok(ok(forge.update_task(id, request).await?))
}

/// 202: the worktrees are removed in the background.
pub(crate) async fn delete(State(forge): State<Forge>, Id(id): Id<TaskId>) -> Answer {
    forge.delete_task(id).await?;
    Ok((StatusCode::ACCEPTED, ok(())).into_response())
}

/// A body may leave out the project that the path already names.
fn fill_project(body: &mut Value, project: ProjectId) {
    if let Value::Object(fields) = body {
        let given = fields.entry("project_id").or_insert(Value::Null);
        if given.is_null() {
            *given = Value::String(project.to_string());
        }
    }
}

type Blocks = Pin<Box<dyn Stream<Item = Result<TaskBlock, Error>> + Send>>;

/// A list that is being written. `blocks` is gone once the last byte is written.
struct Writer {
    blocks: Option<Blocks>,
    /// With it every row contains its latest attempt.
    latest: Option<HashMap<TaskId, Attempt>>,
    buffer: BytesMut,
    separator: &'static [u8],
}

/// The first chunk is made before the response begins, so an early failure still gets its status.
async fn write_list(
    blocks: impl Stream<Item = Result<TaskBlock, Error>> + Send + 'static,
    latest: Option<HashMap<TaskId, Attempt>>,
) -> Answer {
    let buffer = BytesMut::from(HEAD);
    let mut writer = Writer { blocks: Some(Box::pin(blocks)), latest, buffer, separator: b"" };
    let first = writer.next_chunk().await?.unwrap_or_default();
    let rest = stream::try_unfold(writer, |mut writer| async move {
        Ok::<_, Error>(writer.next_chunk().await?.map(|chunk| (chunk, writer)))
    });
    let rest = rest.inspect_err(|error| tracing::error!(%error, "a task list broke off"));
    let body = Body::from_stream(stream::once(async { Ok(first) }).chain(rest));
    Ok(Response::builder().header(header::CONTENT_TYPE, "application/json").body(body).map_err(broken)?)
}

impl Writer {
    async fn next_chunk(&mut self) -> Result<Option<Bytes>, Error> {
        let Some(blocks) = &mut self.blocks else { return Ok(None) };
        while self.buffer.len() < CHUNK {
            let Some(block) = blocks.next().await else {
                self.buffer.extend_from_slice(TAIL);
                self.blocks = None;
                break;
            };
            let block = block?;
            match &self.latest {
                None => {
                    self.buffer.extend_from_slice(self.separator);
                    self.separator = b",";
                    self.buffer.extend_from_slice(block.json().as_bytes());
                }
                Some(latest) => {
                    for (id, json) in block.rows() {
                        self.buffer.extend_from_slice(self.separator);
                        self.separator = b",";
                        write_with_attempt(&mut self.buffer, json, latest.get(&id))?;
                    }
                }
            }
        }
        Ok(Some(self.buffer.split().freeze()))
    }
}

/// The object is opened again for one more key.
fn write_with_attempt(buffer: &mut BytesMut, json: &str, latest: Option<&Attempt>) -> Result<(), Error> {
    buffer.extend_from_slice(json.strip_suffix('}').unwrap_or(json).as_bytes());
    buffer.extend_from_slice(br#","latest_attempt":"#);
    serde_json::to_writer(buffer.writer(), &latest).map_err(broken)?;
    buffer.extend_from_slice(b"}");
    Ok(())
}

fn broken(error: impl std::fmt::Display) -> Error {
    Error::new(Kind::Internal, format!("the list cannot be written: {error}"))
}
