//! `forge demo`: shows the whole product in under a minute; needs only git.
//!
//! It creates its own server, home, worktree base and repository in a new folder, so it neither disturbs nor
//! depends on an existing Forge.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use forge_core::demo::{self, Chapter};
use forge_core::{AgentsOnExit, Config, Forge};
use forge_os::private::{Others, take_private};
use forge_server::Door;
use forge_types::wire::{
    ExecutionProcess, NormalizedLogEntry, PatchFrame, PatchOp, PatchWord, StartedTask, StreamFrame,
    TaskAttemptDetail,
};
use forge_types::{AttemptId, EntryType, Project, RunId, RunStatus};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::command::serve;
use crate::logging::{self, LogFormat};
use crate::port;
use crate::settings::Env;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  forge demo\n  forge demo --stay")]
pub struct Flags {
    /// Folder for the demo [default: a new one in the temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Leave the server running afterwards, to look around on the board
    #[arg(long)]
    stay: bool,
}

pub fn run(flags: Flags) -> Result<()> {
    logging::start(LogFormat::Text, "warn", Env::load().get("RUST_LOG"));
    serve::block_on(show(flags))
}

async fn show(flags: Flags) -> Result<()> {
    let begun = Instant::now();
    let dir =
        flags.dir.unwrap_or_else(|| std::env::temp_dir().join(format!("forge-demo-{}", std::process::id())));
    let dir = std::path::absolute(dir)?;
    if dir.exists() {
        bail!("{} already exists; choose another folder with --dir, or remove it", dir.display());
    }
    // In the temporary directory another user may have created it first.
    take_private(&dir, Others::Nothing)?;
    let repo = dir.join(demo::NAME);
    demo::make_repository(&repo).await.context("cannot create the demo's repository")?;
    step(&format!("Git repository: {}", repo.display()));

    let listener = port::bind([127, 0, 0, 1].into(), 0).await?;
    let address = listener.local_addr()?;
    let forge = Forge::open(config(&dir, serve::url(address))?).await.context("cannot start")?;
    let shutdown = CancellationToken::new();
    let door = Door::local(address, serve::version(Env::load()));
    let server = tokio::spawn(forge_server::serve(listener, forge.clone(), door, shutdown.clone()));
    let client = Client::new(serve::url(address), None);
    step(&format!("Server with its board: {}", client.base()));

    let shown = tokio::select! {
        shown = play(&client, &repo) => shown,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    if shown.is_ok() {
        step(&format!(
            "Done in {:.1} s. Everything is in {} (remove it at any time).",
            begun.elapsed().as_secs_f32(),
            dir.display()
        ));
        if flags.stay {
            forge_run::open_page(client.base());
            println!("  The board is at {}. Ctrl-C stops the server.", client.base());
            tokio::signal::ctrl_c().await?;
        }
    }
    shutdown.cancel();
    let _ = tokio::time::timeout(Duration::from_secs(3), server).await;
    forge.close(AgentsOnExit::Stop).await;
    shown
}

fn config(dir: &Path, backend_url: String) -> Result<Config> {
    Ok(Config {
        home: dir.join("home"),
        worktree_base: dir.join("worktrees"),
        database: dir.join("home").join("db.sqlite"),
        exe: std::env::current_exe()?,
        branch_prefix: None,
        public_url: String::new(),
        backend_url,
        workspaces: Vec::new(),
        spares: demo::SIDE_BY_SIDE.len(),
        time_limit_s: Some(60),
        silence_limit_s: None,
        approval_limit_s: 3600,
        expiry_h: 72,
        online: Default::default(),
    })
}

async fn play(client: &Client, repo: &Path) -> Result<()> {
    let body = json!({"name": demo::NAME, "git_repo_path": repo, "use_existing_repo": true});
    let project: Project = client.post("/api/projects", &body).await?;
    step(&format!("Project: {}", project.name));

    let mut attempts = Vec::new();
    for Chapter { title, script } in demo::SIDE_BY_SIDE {
        let body = json!({
            "task": {"project_id": project.id, "title": title, "description": script},
            "executor_profile_id": {"executor": "SCRIPTED"},
        });
        let started: StartedTask = client.post("/api/tasks/create-and-start", &body).await?;
        let attempt = started.task_attempt;
        println!("  {title}: {} in {}", attempt.branch, attempt.worktree_path.unwrap_or_default());
        attempts.push((title, attempt.id));
    }
    step("Three agents running in parallel:");
    let watching = attempts.iter().map(|(title, id)| watch(client, title, *id));
    for watched in futures_util::future::join_all(watching).await {
        watched?;
    }
    step("Their results, each committed on its own branch:");
    for (_, id) in &attempts {
        let TaskAttemptDetail { attempt, .. } = client.get(&format!("/api/task-attempts/{id}")).await?;
        let run = newest_run(client, *id).await?;
        let (commit, output) = (run.after_head_commit.unwrap_or_default(), run.output.unwrap_or_default());
        println!("  {commit:.7}  {:28} {}", attempt.branch, output.lines().last().unwrap_or_default());
    }
    let (title, id) = &attempts[0];
    let _: Value = client.post(&format!("/api/task-attempts/{id}/merge"), &json!({})).await?;
    step(&format!("\"{title}\" merged into main. See for yourself:"));
    println!("  git -C {} log --oneline --graph --all", repo.display());
    Ok(())
}

/// Prints an agent's readable log as it grows, until its run has ended.
async fn watch(client: &Client, title: &str, attempt: AttemptId) -> Result<()> {
    let run = newest_run(client, attempt).await?.id;
    let mut socket = client.socket(&format!("/api/execution-processes/{run}/normalized-logs/ws")).await?;
    while let Some(frame) = socket.next().await? {
        let Ok(StreamFrame::Patch(PatchFrame { patch, .. })) = serde_json::from_str(&frame) else { continue };
        for PatchOp { value, .. } in patch.into_iter().filter(|op| op.op == PatchWord::Add) {
            let entry = value.map(serde_json::from_value::<NormalizedLogEntry>).transpose()?;
            if let Some(NormalizedLogEntry::NormalizedEntry(entry)) = entry
                && let Some(verb) = verb(&entry.entry_type)
            {
                println!("  {title:16} {verb:12} {}", entry.content.trim());
            }
        }
    }
    settled(client, run).await
}

async fn newest_run(client: &Client, attempt: AttemptId) -> Result<ExecutionProcess> {
    let runs: Vec<ExecutionProcess> =
        client.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await?;
    runs.into_iter().last().context("the attempt has no run")
}

/// The log ends a moment before the work is committed and the run is `completed`.
async fn settled(client: &Client, run: RunId) -> Result<()> {
    for _ in 0..200 {
        let run: ExecutionProcess = client.get(&format!("/api/execution-processes/{run}")).await?;
        match run.status {
            RunStatus::Running => tokio::time::sleep(Duration::from_millis(50)).await,
            RunStatus::Completed => return Ok(()),
            other => bail!("a run ended as {}", other.as_str()),
        }
    }
    bail!("a run did not end")
}

/// What the agent does, in a word; its introduction is left out.
fn verb(entry: &EntryType) -> Option<&'static str> {
    match entry {
        EntryType::SystemMessage => None,
        EntryType::AssistantMessage => Some("says"),
        EntryType::Thinking => Some("thinks"),
        EntryType::ToolUse { .. } => Some("does"),
        EntryType::ErrorMessage { .. } => Some("error"),
        EntryType::UserMessage => Some("user_message"),
        EntryType::UserFeedback { .. } => Some("user_feedback"),
    }
}

fn step(words: &str) {
    println!("\n{words}");
}
