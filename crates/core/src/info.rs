//! What the server shows about its user and its machine.

use std::collections::BTreeMap;

use forge_run::agents;
use forge_types::{AgentOption, Executor, ProjectId, Settings};
use serde::Serialize;
use serde_json::Value;

use crate::{Forge, Result};

/// Everything a client asks for when it opens.
#[derive(Serialize)]
pub struct SystemInfo {
    pub config: Settings,
    /// Names this installation; nothing is ever sent anywhere with it.
    pub analytics_user_id: String,
    pub executors: Value,
    pub environment: Environment,
    pub capabilities: BTreeMap<Executor, &'static [&'static str]>,
    pub agents: BTreeMap<Executor, KnownAgent>,
}

/// What a form for the variants of an agent needs to know.
#[derive(Serialize)]
pub struct KnownAgent {
    /// In the order in which a form shows them.
    pub options: Vec<&'static AgentOption>,
    /// These can be changed and not removed; the default one is first.
    pub built_in_variants: Vec<&'static str>,
}

#[derive(Debug, PartialEq, Serialize)]
pub struct Environment {
    pub os_type: String,
    pub os_version: String,
    pub os_architecture: &'static str,
    pub bitness: String,
}

impl Forge {
    pub async fn system_info(&self, project: Option<ProjectId>) -> Result<SystemInfo> {
        let mut profiles = self.profiles(project).await?;
        let release = tokio::fs::read_to_string("/etc/os-release").await.unwrap_or_default();
        let capabilities = agents::ALL.iter().map(|agent| (agent.executor, agent.capabilities));
        Ok(SystemInfo {
            config: self.shown_settings(),
            analytics_user_id: self.0.worktrees.host().installation().to_owned(),
            executors: profiles["executors"].take(),
            environment: environment(&release),
            capabilities: capabilities.collect(),
            agents: agents::ALL.iter().map(|agent| (agent.executor, KnownAgent::of(agent))).collect(),
        })
    }
}

impl KnownAgent {
    fn of(agent: &agents::Agent) -> KnownAgent {
        KnownAgent {
            options: agent.options().collect(),
            built_in_variants: agent.built_in_variants().collect(),
        }
    }
}

/// `release` is the text of `/etc/os-release`, empty where there is none.
fn environment(release: &str) -> Environment {
    let field = |key: &str| {
        let line = release.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='))?;
        Some(line.trim_matches('"').to_owned()).filter(|text| !text.is_empty())
    };
    let name = field("NAME").and_then(|name| name.split_whitespace().next().map(str::to_owned));
    Environment {
        os_type: name.unwrap_or_else(|| std::env::consts::OS.to_owned()),
        os_version: field("VERSION_ID").unwrap_or_else(|| "unknown".to_owned()),
        os_architecture: std::env::consts::ARCH,
        bitness: format!("{}-bit", usize::BITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_is_named_from_its_release_file() {
        let debian = environment("NAME=\"Debian GNU/Linux\"\nVERSION_ID=\"12\"\n");
        assert_eq!((debian.os_type.as_str(), debian.os_version.as_str()), ("Debian", "12"));
        assert_eq!(environment("").os_version, "unknown");
    }
}
