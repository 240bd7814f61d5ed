//! The configuration of a worker. It is stored, so that the same worker can be started again.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use forge_types::WITHHELD;
use forge_types::wire::CallStyle;
use serde::{Deserialize, Serialize};

use crate::worker::WorkerTier;

const DEFAULT_TIMEOUT_SECS: u64 = 60;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchConfig {
    pub launcher: PathBuf,
    pub session_name: String,
    pub workspace: PathBuf,
    pub model: String,
    #[serde(default)]
    pub tier: WorkerTier,
    pub timeout_secs: u64,
    #[serde(default)]
    pub bead_id: Option<String>,
    #[serde(default)]
    pub style: CallStyle,
    /// Further variables for the launcher and, if it passes them on, the agent.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// For `--config`.
    #[serde(default)]
    pub config_file: Option<PathBuf>,
    /// Replace the style's arguments if there are any.
    #[serde(default)]
    pub arguments: Vec<String>,
}

impl LaunchConfig {
    pub fn new(
        launcher: impl Into<PathBuf>,
        session_name: impl Into<String>,
        workspace: impl Into<PathBuf>,
        model: impl Into<String>,
    ) -> Self {
        Self {
            launcher: launcher.into(),
            session_name: session_name.into(),
            workspace: workspace.into(),
            model: model.into(),
            tier: WorkerTier::default(),
            timeout_secs: DEFAULT_TIMEOUT_SECS,
            bead_id: None,
            style: CallStyle::default(),
            env: BTreeMap::new(),
            config_file: None,
            arguments: Vec::new(),
        }
    }

    pub fn with_tier(mut self, tier: WorkerTier) -> Self {
        self.tier = tier;
        self
    }

    pub fn with_timeout(mut self, secs: u64) -> Self {
        self.timeout_secs = secs;
        self
    }

    pub fn with_bead(mut self, bead_id: impl Into<String>) -> Self {
        self.bead_id = Some(bead_id.into());
        self
    }

    pub fn with_style(mut self, style: CallStyle) -> Self {
        self.style = style;
        self
    }

    pub fn with_env(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(key.into(), value.into());
        self
    }

    pub(super) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_secs)
    }

    pub(super) fn arguments(&self) -> Vec<String> {
        if !self.arguments.is_empty() {
            return self.arguments.clone();
        }
        let workspace = self.workspace.display().to_string();
        match self.style {
            CallStyle::Positional => vec![self.session_name.clone()],
            CallStyle::ModelWorkspaceSession => {
                vec![self.model.clone(), workspace, self.session_name.clone()]
            }
            CallStyle::Flags => {
                let mut flags = vec![
                    format!("--model={}", self.model),
                    format!("--workspace={workspace}"),
                    format!("--session-name={}", self.session_name),
                ];
                flags.extend(self.bead_id.iter().map(|bead| format!("--bead-ref={bead}")));
                flags.extend(self.config_file.iter().map(|file| format!("--config={}", file.display())));
                flags
            }
        }
    }
}

/// A worker to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnRequest {
    /// Checked when the worker is started.
    pub worker_id: String,
    pub config: LaunchConfig,
    /// Variables that the launcher does not inherit. Those of `config` take precedence.
    pub withheld: Vec<String>,
}

impl SpawnRequest {
    pub fn new(worker_id: impl Into<String>, config: LaunchConfig) -> Self {
        let withheld = WITHHELD.map(str::to_owned).into();
        Self { worker_id: worker_id.into(), config, withheld }
    }

    /// The variables of the call, the configured ones first: they cannot change who the worker is.
    pub(super) fn variables(&self, status_dir: Option<&Path>) -> BTreeMap<String, String> {
        let config = &self.config;
        let mut variables = config.env.clone();
        let names: Vec<&str> = config.env.keys().map(String::as_str).collect();
        let mut set = |key: &str, value: String| _ = variables.insert(key.to_owned(), value);
        set("FORGE_WORKER_ID", self.worker_id.clone());
        set("FORGE_SESSION", config.session_name.clone());
        set("FORGE_MODEL", config.model.clone());
        set("FORGE_WORKSPACE", config.workspace.display().to_string());
        set("FORGE_TIER", config.tier.to_string());
        // Which variables a launcher must pass on besides those that start with FORGE_.
        set("FORGE_ENV_NAMES", names.join(" "));
        if let Some(bead) = &config.bead_id {
            set("FORGE_ASSIGNED_BEAD", bead.clone());
        }
        if let Some(dir) = status_dir {
            set("FORGE_STATUS_DIR", dir.display().to_string());
        }
        variables
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> LaunchConfig {
        let config = LaunchConfig::new("/l", "forge-worker-a", "/w s", "sonnet").with_bead("fg-1");
        LaunchConfig { config_file: Some("/c.yaml".into()), ..config }
    }

    #[test]
    fn each_style_names_the_same_things() {
        let called = |style| config().with_style(style).arguments();
        assert_eq!(called(CallStyle::Positional), ["forge-worker-a"]);
        assert_eq!(called(CallStyle::ModelWorkspaceSession), ["sonnet", "/w s", "forge-worker-a"]);
        assert_eq!(
            called(CallStyle::Flags),
            [
                "--model=sonnet",
                "--workspace=/w s",
                "--session-name=forge-worker-a",
                "--bead-ref=fg-1",
                "--config=/c.yaml"
            ]
        );
    }

    #[test]
    fn arguments_of_ones_own_take_the_place_of_a_style() {
        let own = LaunchConfig { arguments: vec!["--only".to_owned()], ..config() };
        assert_eq!(own.with_style(CallStyle::Flags).arguments(), ["--only"]);
    }

    #[test]
    fn configured_variables_cannot_change_who_the_worker_is() {
        let config = config().with_env("FORGE_WORKER_ID", "other").with_env("TOKEN", "t");
        let request = SpawnRequest::new("alpha", config);
        let variables = request.variables(Some(Path::new("/status")));
        assert_eq!(variables["FORGE_WORKER_ID"], "alpha");
        assert_eq!((variables["TOKEN"].as_str(), variables["FORGE_ASSIGNED_BEAD"].as_str()), ("t", "fg-1"));
        assert_eq!(variables["FORGE_STATUS_DIR"], "/status");
    }

    #[test]
    fn a_stored_request_is_the_same_request() {
        let request = SpawnRequest::new("alpha", config().with_tier(WorkerTier::Budget));
        let text = serde_json::to_string(&request).expect("written");
        assert_eq!(serde_json::from_str::<SpawnRequest>(&text).expect("read"), request);
    }
}
