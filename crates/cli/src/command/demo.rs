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
    let project: Value = client.post("/api/projects", &body).await?;
    step(&format!("Project: {}", text(&project["name"])));

    let mut attempts = Vec::new();
    for Chapter { title, script } in demo::SIDE_BY_SIDE {
        let body = json!({
            "task": {"project_id": project["id"], "title": title, "description": script},
            "executor_profile_id": {"executor": "SCRIPTED"},
        });
        let started: Value = client.post("/api/tasks/create-and-start", &body).await?;
        let attempt = started["task_attempt"].clone();
        println!("  {title}: {} in {}", text(&attempt["branch"]), text(&attempt["worktree_path"]));
        attempts.push((title, text(&attempt["id"]).to_owned()));
    }
    step("Three agents running in parallel:");
    let watching = attempts.iter().map(|(title, id)| watch(client, title, id));
    for watched in futures_util::future::join_all(watching).await {
        watched?;
    }
    step("Their results, each committed on its own branch:");
    for (_, id) in &attempts {
        let attempt: Value = client.get(&format!("/api/task-attempts/{id}")).await?;
        let runs: Vec<Value> = client.get(&format!("/api/execution-processes?task_attempt_id={id}")).await?;
        let run = runs.last().context("the attempt has no run")?;
        let commit = text(&run["after_head_commit"]);
        let answer = text(&run["output"]).lines().last().unwrap_or_default();
        println!("  {:.7}  {:28} {answer}", commit, text(&attempt["branch"]));
    }
    let (title, id) = &attempts[0];
    let _: Value = client.post(&format!("/api/task-attempts/{id}/merge"), &json!({})).await?;
    step(&format!("\"{title}\" merged into main. See for yourself:"));
    println!("  git -C {} log --oneline --graph --all", repo.display());
    Ok(())
}

/// Prints an agent's readable log as it grows, until its run has ended.
async fn watch(client: &Client, title: &str, attempt: &str) -> Result<()> {
    let runs: Vec<Value> = client.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await?;
    let run = runs.last().map(|run| text(&run["id"]).to_owned()).context("the attempt has no run")?;
    let mut socket = client.socket(&format!("/api/execution-processes/{run}/normalized-logs/ws")).await?;
    while let Some(frame) = socket.next().await? {
        let frame: Value = serde_json::from_str(&frame).unwrap_or_default();
        for op in frame["JsonPatch"].as_array().into_iter().flatten() {
            let entry = &op["value"]["content"];
            let kind = text(&entry["entry_type"]["type"]);
            let fresh = op["op"] == "add" && kind != "system_message";
            if fresh {
                println!("  {title:16} {:12} {}", short(kind), text(&entry["content"]).trim());
            }
        }
    }
    settled(client, &run).await
}

/// The log ends a moment before the work is committed and the run is `completed`.
async fn settled(client: &Client, run: &str) -> Result<()> {
    for _ in 0..200 {
        let run: Value = client.get(&format!("/api/execution-processes/{run}")).await?;
        match text(&run["status"]) {
            "running" => tokio::time::sleep(Duration::from_millis(50)).await,
            "completed" => return Ok(()),
            other => bail!("a run ended as {other}"),
        }
    }
    bail!("a run did not end")
}

fn short(kind: &str) -> &str {
    match kind {
        "assistant_message" => "says",
        "thinking" => "thinks",
        "tool_use" => "does",
        "error_message" => "error",
        other => other,
    }
}

fn step(words: &str) {
    println!("\n{words}");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
