//! Attempts as a Genie session store (version 4), which its current release reads.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use forge_legacy::genie;
use forge_os::file;
use forge_types::{Attempt, AttemptId, AttemptStatus, ImportReport, ProfileId};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Map, Value, json};

use super::lock::Lock;
use crate::client::Client;
use crate::exit::Misused;
use crate::process::Process;
use crate::reference::{self, NotFound};
use crate::terminal;

const STORE: &str = ".genie/state/tasks.json";
/// Larger than any real store.
const MAX_BYTES: u64 = 64 << 20;
/// The part of a prompt that Genie stores.
const PROMPT_CHARS: usize = 200;
/// How many attempts are requested at once.
const AT_ONCE: usize = 8;
/// What only Genie knows about a session, besides the agent.
const ITS_OWN: [&str; 4] = ["preset", "mode", "model", "background"];

#[derive(clap::Args)]
pub struct Flags {
    /// The repository [default: that of the current directory]
    path: Option<PathBuf>,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", conflicts_with = "write")]
    output: Option<PathBuf>,
    /// Add the attempts to the repository's own store, .genie/state/tasks.json
    #[arg(long)]
    write: bool,
}

pub async fn run(flags: &Flags) -> Result<()> {
    let client = Client::find()?;
    let path = match &flags.path {
        Some(path) => path.clone(),
        None => std::env::current_dir().context("the current directory does not exist")?,
    };
    let project = reference::project_at(&client, &path).await?.ok_or_else(|| {
        NotFound(format!("{} does not belong to a project; `forge project list` shows them", path.display()))
    })?;
    let attempts = reference::attempts(&client).await?.into_iter().map(|row| row.attempt);
    let of_project = attempts.filter(|attempt| attempt.project_id == project.id);
    let top = PathBuf::from(project.git_repo_path);
    let known = known_to_genie(&client, &top).await;
    let entries = futures_util::stream::iter(of_project.map(|attempt| entry(&client, attempt, &known)));
    let entries: Map<String, Value> = entries.buffered(AT_ONCE).try_collect().await?;
    if flags.write {
        if !top.join(".genie").is_dir() {
            let text =
                format!("--write: {} has no .genie folder; use --output to write elsewhere", top.display());
            return Err(Misused(text).into());
        }
        let count = entries.len();
        tokio::task::spawn_blocking(move || merge(&top, &top.join(STORE), entries)).await??;
        println!("{STORE} now contains {count} attempts");
        return Ok(());
    }
    let text = format!("{:#}\n", json!({"version": 4, "sessions": entries}));
    match &flags.output {
        Some(path) => genie::replace(path, &text).with_context(|| format!("cannot write {}", path.display())),
        None => terminal::write(&text),
    }
}

/// What the stores of the repository say about attempts that came from there, or are known there.
async fn known_to_genie(client: &Client, top: &Path) -> HashMap<AttemptId, Map<String, Value>> {
    let stores = genie::stores(top);
    if stores.is_empty() {
        return HashMap::new();
    }
    let body = json!({"kind": "genie", "path": top, "dry_run": true});
    // Stores that cannot be read have nothing to add.
    let Ok(report) = client.post::<ImportReport>("/api/import", &body).await else { return HashMap::new() };
    let mut sessions = HashMap::new();
    for store in stores {
        let name = store.strip_prefix(top).unwrap_or(&store).display().to_string();
        let found = genie::read_store(top, &store).map(|contents| contents.sessions).unwrap_or_default();
        sessions.extend(found.into_iter().map(|session| (format!("{name}#{}", session.key), session)));
    }
    let known = report.attempts.into_iter().filter_map(|link| {
        let session = sessions.remove(&link.key)?;
        let mut fields: Map<String, Value> =
            session.rest.into_iter().filter(|(key, _)| ITS_OWN.contains(&key.as_str())).collect();
        fields.extend(session.agent.map(|agent| ("agent".to_owned(), json!(agent))));
        Some((link.attempt_id, fields))
    });
    known.collect()
}

async fn entry(
    client: &Client,
    attempt: Attempt,
    known: &HashMap<AttemptId, Map<String, Value>>,
) -> Result<(String, Value)> {
    let runs = Process::list(client, attempt.id).await?;
    let last = runs.iter().rev().find_map(|run| run.executor_action.prompt());
    let prompt: String = last.unwrap_or_default().chars().take(PROMPT_CHARS).collect();
    let ProfileId { executor, variant, model } = &attempt.executor_profile_id;
    let agent = variant.clone().unwrap_or_else(|| executor.to_string()).to_lowercase().replace('_', "-");
    let status =
        if attempt.status == AttemptStatus::Pending { AttemptStatus::Running } else { attempt.status };
    let url = format!("{}?view=diffs", reference::page(client, &attempt));
    let mut entry = json!({
        "agent": agent, "taskId": attempt.task_id, "projectId": attempt.project_id, "preset": agent, "mode": agent,
        "executor": executor, "executorVariant": variant.as_deref().unwrap_or("DEFAULT"), "status": status,
        "created": attempt.created_at, "lastUsed": attempt.updated_at, "lastPrompt": prompt, "forgeUrl": url,
        "background": true,
    });
    if let Value::Object(entry) = &mut entry {
        entry.extend(model.as_ref().map(|model| ("model".to_owned(), json!(model))));
        entry.extend(known.get(&attempt.id).cloned().unwrap_or_default());
    }
    Ok((attempt.id.to_string(), entry))
}

/// Adds missing fields to the store as Genie itself does: under its lock, completely or not at all.
fn merge(top: &Path, store: &Path, entries: Map<String, Value>) -> Result<()> {
    let folder = store.parent().unwrap_or(store);
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    let _lock = Lock::take(store)?;
    let mut root = match file::if_any(file::read(top, store, MAX_BYTES)).context("nothing was changed")? {
        Some(bytes) => read(store, &bytes)?,
        None => Map::new(),
    };
    root.insert("version".to_owned(), json!(4));
    let sessions = root.entry("sessions").or_insert_with(|| json!({}));
    let Value::Object(sessions) = sessions else {
        bail!("{}: 'sessions' is not a map; nothing was changed", store.display())
    };
    for (id, entry) in entries {
        match (sessions.get_mut(&id), entry) {
            (Some(Value::Object(old)), Value::Object(new)) => old.extend(new),
            (_, entry) => {
                sessions.insert(id, entry);
            }
        }
    }
    let text = format!("{:#}", Value::Object(root));
    genie::replace(store, &text).with_context(|| format!("cannot write {}", store.display()))
}

fn read(store: &Path, bytes: &[u8]) -> Result<Map<String, Value>> {
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(root)) => Ok(root),
        Ok(_) => bail!("{} is not a session store; nothing was changed", store.display()),
        Err(error) => bail!("{} is not JSON ({error}); nothing was changed", store.display()),
    }
}
