//! The available agents: each executor with its variants, and whether its program is installed.
//!
//! Invariant: whether a program is installed is checked on this machine only, not on a remote server.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, Result};
use forge_run::agents::{Readiness, SurveyedAgent};
use forge_types::AgentSource;
use forge_types::Executor;
use serde_json::{Map, Value, json};

use super::Choice;
use crate::client::Client;
use crate::command::run::known_profiles;
use crate::exit::Misused;
use crate::table::Table;
use crate::terminal;
use crate::transcript::Ink;

/// An executor with its variants.
struct Agent {
    executor: String,
    presence: Presence,
    variants: Vec<String>,
    /// Those that only the project describes.
    own: Vec<String>,
}

pub async fn list(client: &Client, choice: &Choice) -> Result<()> {
    if choice.status.is_some() {
        return Err(Misused("--status: agents have no status; leave it out".to_owned()).into());
    }
    let project = choice.project(client).await?;
    let looked = tokio::task::spawn_blocking(forge_run::agents::survey);
    let here = known_profiles(client, project.map(|project| project.id));
    let (here, everywhere) = tokio::try_join!(here, known_profiles(client, None))?;
    let survey = looked.await.context("cannot look for programs")?;
    let seen: HashMap<Executor, SurveyedAgent> =
        survey.agents.into_iter().map(|agent| (agent.about.executor, agent)).collect();
    let executors = here.executors.into_iter();
    let agents: Vec<Agent> = executors
        .filter(|(executor, variants)| executor != "ACP" || has_command(variants))
        .map(|(executor, variants)| {
            let common = everywhere.executors.get(&executor);
            let is_common = |name: &String| common.is_some_and(|common| common.contains_key(name));
            let (variants, own) = variants.into_iter().map(|(name, _)| name).partition(is_common);
            Agent { presence: Presence::of(executor.parse().ok(), &seen), executor, variants, own }
        })
        .collect();
    if choice.json {
        terminal::print_json(&agents.iter().map(Agent::object).collect());
        return Ok(());
    }
    print_table(&agents);
    here.problems.iter().for_each(|problem| eprintln!("forge: not used: {problem}"));
    Ok(())
}

/// Whether a variant of `ACP`, which has no program of its own, names a command.
fn has_command(variants: &Map<String, Value>) -> bool {
    let command =
        |variant: &Value| variant.pointer("/ACP/base_command_override")?.as_str().map(str::to_owned);
    variants.values().filter_map(command).any(|command| !command.trim().is_empty())
}

impl Agent {
    fn object(&self) -> Value {
        let Presence { here, word, detail, .. } = &self.presence;
        json!({
            "executor": self.executor, "available": here, "program": word, "detail": detail,
            "variants": self.variants, "project_variants": self.own,
        })
    }
}

fn print_table(agents: &[Agent]) {
    let mut table = Table::new(&["AGENT", "PROGRAM", "VARIANTS", "DETAIL"]).flexible(&["VARIANTS", "DETAIL"]);
    for Agent { executor, presence, variants, .. } in agents {
        table.row(vec![
            (Ink::Bold, executor.clone()),
            (presence.ink, presence.word.to_owned()),
            (Ink::Plain, variants.join(" ")),
            (Ink::Dim, presence.detail.clone()),
        ]);
    }
    table.print();
    let own: BTreeSet<&String> = agents.iter().flat_map(|agent| &agent.own).collect();
    if own.is_empty() {
        return;
    }
    terminal::print("\n");
    let mut table = Table::new(&["OF THIS PROJECT", "WITH"]).flexible(&["WITH"]);
    for name in own {
        let with = agents.iter().filter(|agent| agent.own.contains(name));
        let with: Vec<String> = with.map(|agent| format!("{}:{name}", agent.executor)).collect();
        table.row(vec![(Ink::Bold, name.clone()), (Ink::Plain, with.join(" "))]);
    }
    table.print();
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
    fn of(executor: Option<Executor>, seen: &HashMap<Executor, SurveyedAgent>) -> Self {
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
            Some((AgentSource::Npx, _)) => {
                new(true, Ink::Yellow, "by npx", &format!("{version}, when it first starts"))
            }
            Some(_) if agent.readiness() == Readiness::LoggedOut => {
                let log_in = agent.fix().unwrap_or_default();
                new(true, Ink::Yellow, "logged out", &format!("{version}; to log in, run `{log_in}`"))
            }
            Some(_) => new(true, Ink::Green, "installed", version),
            None => new(false, Ink::Red, "missing", agent.software.install),
        }
    }
}
