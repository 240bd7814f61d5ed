//! The agents that can be started: each executor with its variants, and whether its program is there.
//!
//! Invariant: whether a program is there is told of this machine only; of a server elsewhere it is not known here.

use std::collections::HashMap;

use anyhow::{Context, Result};
use forge_run::agents::{Sighting, Whence};
use forge_types::Executor;
use serde_json::{Map, Value, json};

use super::Choice;
use crate::client::Client;
use crate::exit::Misused;
use crate::table::Table;
use crate::terminal;
use crate::transcript::Ink;

/// The variant that stands for none.
const DEFAULT: &str = "DEFAULT";

pub async fn list(client: &Client, choice: &Choice) -> Result<()> {
    if choice.status.is_some() {
        return Err(Misused("--status: agents have none; leave it out".to_owned()).into());
    }
    let project = choice.project(client).await?;
    let path = match &project {
        Some(project) => format!("/api/info?project_id={}", project.id),
        None => "/api/info".to_owned(),
    };
    let looked = tokio::task::spawn_blocking(forge_run::agents::survey);
    let common = async { client.get::<Value>("/api/info").await };
    let (info, common) = tokio::try_join!(client.get::<Value>(&path), common)?;
    let survey = looked.await.context("cannot look for programs")?;
    let seen: HashMap<Executor, Sighting> =
        survey.agents.into_iter().map(|agent| (agent.executor, agent)).collect();
    let mut rows = Vec::new();
    for (executor, variants) in info["executors"].as_object().into_iter().flatten() {
        let presence = Presence::of(executor.parse().ok(), &seen);
        for name in variants.as_object().map(Map::keys).into_iter().flatten() {
            let agent = if name == DEFAULT { executor.clone() } else { format!("{executor}:{name}") };
            let of_project = common["executors"][executor].get(name).is_none();
            rows.push((agent, presence.clone(), if of_project { "project" } else { "everywhere" }));
        }
    }
    if choice.json {
        let object = |(agent, presence, known): (String, Presence, &str)| {
            let Presence { here, detail, .. } = presence;
            json!({"agent": agent, "available": here, "detail": detail, "known": known})
        };
        terminal::print_json(&rows.into_iter().map(object).collect());
        return Ok(());
    }
    let mut table = Table::new(&["AGENT", "PROGRAM", "KNOWN", "DETAIL"]).bending(&["AGENT", "DETAIL"]);
    for (agent, presence, known) in rows {
        let Presence { ink, word, detail, .. } = presence;
        let cells = [(Ink::Bold, agent), (ink, word.to_owned()), (Ink::Plain, known.to_owned())];
        table.row(cells.into_iter().chain([(Ink::Dim, detail)]).collect());
    }
    table.print();
    Ok(())
}

/// Whether an executor's program can be started.
#[derive(Clone)]
struct Presence {
    here: bool,
    ink: Ink,
    word: &'static str,
    detail: String,
}

impl Presence {
    fn of(executor: Option<Executor>, seen: &HashMap<Executor, Sighting>) -> Self {
        let new = |here, ink, word, detail: &str| Self { here, ink, word, detail: detail.to_owned() };
        let Some(agent) = executor.and_then(|executor| seen.get(&executor)) else {
            return match executor {
                Some(Executor::Acp) => {
                    new(true, Ink::Dim, "yours", "the base_command_override of its profile")
                }
                _ => new(true, Ink::Green, "built in", ""),
            };
        };
        let version = agent.version.as_deref().unwrap_or_default();
        match &agent.found {
            Some((Whence::Npx, _)) => {
                new(true, Ink::Yellow, "by npx", &format!("{version}, when it first starts"))
            }
            Some(_) => new(true, Ink::Green, "installed", version),
            None => new(false, Ink::Red, "missing", agent.about.install),
        }
    }
}
