//! What the server shows about its user and its machine.

use forge_run::agents;
use forge_types::ProjectId;
use forge_types::wire::{Environment, KnownAgent, SystemInfo};
use serde_json::{Map, Value};

use crate::{Forge, Result};

impl Forge {
    pub async fn system_info(&self, project: Option<ProjectId>) -> Result<SystemInfo> {
        let mut profiles = self.profiles(project).await?;
        let release = tokio::fs::read_to_string("/etc/os-release").await.unwrap_or_default();
        let capabilities = agents::ALL.iter().map(|agent| (agent.executor, agent.capabilities));
        Ok(SystemInfo {
            config: self.shown_settings(),
            analytics_user_id: self.0.worktrees.host().installation().to_owned(),
            executors: match profiles["executors"].take() {
                Value::Object(executors) => executors,
                _ => Map::new(),
            },
            environment: environment(&release),
            capabilities: capabilities.collect(),
            agents: agents::ALL.iter().map(|agent| (agent.executor, describe(agent))).collect(),
        })
    }
}

fn describe(agent: &agents::Agent) -> KnownAgent {
    KnownAgent {
        options: agent.options().copied().collect(),
        built_in_variants: agent.built_in_variants().collect(),
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
        os_architecture: std::env::consts::ARCH.to_owned(),
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
