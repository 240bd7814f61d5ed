//! The steps every row is made of: a project, an agent started in it, its end.
//!
//! Uses only routes and fields both servers have.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::client::Client;
use crate::server::{Server, Side};

pub struct Started {
    pub attempt: String,
    pub process: String,
    pub branch: String,
    /// Time of the create-and-start call.
    pub took: Duration,
}

pub const END_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

/// Tells the server to run the fake agent as CLAUDE_CODE.
pub async fn install_agent(client: &Client) -> Result<()> {
    let content = client.get("/api/profiles").await?["content"]
        .as_str()
        .context("profiles without content")?
        .to_owned();
    let mut profiles: Value = serde_json::from_str(&content)?;
    let command = format!("{} fake-claude", std::env::current_exe()?.display());
    let variants = profiles["executors"]["CLAUDE_CODE"].as_object_mut().context("no CLAUDE_CODE profile")?;
    for options in variants.values_mut() {
        options["CLAUDE_CODE"]["base_command_override"] = json!(command);
    }
    client.put("/api/profiles", &profiles).await?;
    Ok(())
}

pub async fn create_project(client: &Client, repository: &Path) -> Result<String> {
    let body = json!({"name": repository.file_name().map(|name| name.to_string_lossy()), "git_repo_path": repository,
        "use_existing_repo": true});
    id_of(&client.post("/api/projects", &body).await?)
}

pub fn id_of(entity: &Value) -> Result<String> {
    Ok(entity["id"].as_str().context("no id in the answer")?.to_owned())
}

fn start_body(project: &str, title: &str, directives: &str) -> Value {
    json!({"task": {"project_id": project, "title": title, "description": format!("FAKE: {directives}"),
            "parent_task_attempt": null, "image_ids": null},
        "executor_profile_id": {"executor": "CLAUDE_CODE", "variant": null}, "base_branch": "main"})
}

/// Starts an agent and finds its process; only the call itself is timed.
pub async fn start(client: &Client, project: &str, title: &str, directives: &str) -> Result<Started> {
    let (task, took) = create_and_start(client, project, title, directives).await?;
    find_started(client, &task, took).await
}

/// The bare call, with the id of the new task and the time it took.
pub async fn create_and_start(
    client: &Client,
    project: &str,
    title: &str,
    directives: &str,
) -> Result<(String, Duration)> {
    let body = start_body(project, title, directives);
    let begin = Instant::now();
    let task = client.post("/api/tasks/create-and-start", &body).await?;
    Ok((id_of(&task)?, begin.elapsed()))
}

pub async fn find_started(client: &Client, task: &str, took: Duration) -> Result<Started> {
    let attempts = client.get(&format!("/api/task-attempts?task_id={task}")).await?;
    let attempt = id_of(&attempts[0])?;
    let branch = attempts[0]["branch"].as_str().unwrap_or_default().to_owned();
    let process = first_process(client, &attempt).await?;
    Ok(Started { attempt, process, branch, took })
}

async fn first_process(client: &Client, attempt: &str) -> Result<String> {
    let deadline = Instant::now() + END_LIMIT;
    while Instant::now() < deadline {
        let processes = client.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await?;
        if let Ok(id) = id_of(&processes[0]) {
            return Ok(id);
        }
        tokio::time::sleep(POLL).await;
    }
    bail!("attempt {attempt} got no process within {END_LIMIT:?}")
}

/// Waits until the process is no longer running and returns its last state.
pub async fn wait_ended(client: &Client, process: &str, limit: Duration) -> Result<Value> {
    let deadline = Instant::now() + limit;
    while Instant::now() < deadline {
        let state = client.get(&format!("/api/execution-processes/{process}")).await?;
        if state["status"] != "running" {
            return Ok(state);
        }
        tokio::time::sleep(POLL).await;
    }
    bail!("process {process} still runs after {limit:?}")
}

/// Longer than it takes to check out one worktree.
const CHECKOUT: Duration = Duration::from_secs(3);

/// Waits until Forge makes no more worktrees in stock, and returns how many there are.
pub async fn wait_calm_stock(server: &Server) -> Result<u64> {
    let mut count = count_spares(server).await?;
    while server.side() == Side::Forge {
        tokio::time::sleep(CHECKOUT).await;
        match count_spares(server).await? {
            same if same == count => break,
            other => count = other,
        }
    }
    Ok(count)
}

/// Worktrees Forge has in stock for all projects; the peer has none.
async fn count_spares(server: &Server) -> Result<u64> {
    match server.side() {
        Side::Peer => Ok(0),
        Side::Forge => Ok(server.client.get("/api/worktrees").await?["spares"].as_u64().unwrap_or(0)),
    }
}

/// Waits until Forge has `ready` worktrees in stock beside `others`, those of other projects. It makes one after the
/// other and counts the one that it is making, so one more has to be there.
pub async fn wait_spares(server: &Server, others: u64, ready: u64) -> Result<()> {
    if server.side() == Side::Peer {
        return Ok(());
    }
    let deadline = Instant::now() + END_LIMIT;
    while Instant::now() < deadline {
        if count_spares(server).await? > others + ready {
            return Ok(());
        }
        // Asking is not free for the server: it measures the worktrees it reports.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    bail!("less than {ready} spare worktrees within {END_LIMIT:?}")
}
