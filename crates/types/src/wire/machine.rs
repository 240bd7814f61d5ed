//! The machine that the server runs on: its agents, folders and files.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{AgentOption, AttemptId, Executor, ProjectId, Settings, TaskId};

/// Everything that a client asks for when it opens.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SystemInfo {
    pub config: Settings,
    /// Names this installation; nothing is ever sent anywhere with it.
    pub analytics_user_id: String,
    /// The profiles of every agent, by executor.
    pub executors: Map<String, Value>,
    pub environment: Environment,
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    pub capabilities: BTreeMap<Executor, &'static [&'static str]>,
    /// The agents that Forge knows, by executor.
    #[schemars(with = "BTreeMap<String, KnownAgent>")]
    pub agents: BTreeMap<Executor, KnownAgent>,
}

/// What a form for the variants of an agent needs to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct KnownAgent {
    /// In the order in which a form shows them.
    pub options: Vec<AgentOption>,
    /// These can be changed and not removed; the default one is first.
    pub built_in_variants: Vec<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Environment {
    pub os_type: String,
    pub os_version: String,
    pub os_architecture: String,
    pub bitness: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpAnswer {
    pub mcp_config: McpConfig,
    pub config_path: PathBuf,
}

/// The MCP servers of one agent program, and what can be added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpConfig {
    pub servers: Map<String, Value>,
    pub servers_path: Vec<String>,
    pub template: Value,
    pub preconfigured: Value,
    pub is_toml_config: bool,
}

/// Every agent with its variants, by executor: a name, so that an agent of another version does not make the rest
/// unreadable.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentProfiles {
    pub executors: BTreeMap<String, Map<String, Value>>,
    /// Files of the project that are not used, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfilesFile {
    pub content: String,
    pub path: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectoryEntry {
    pub name: String,
    pub path: PathBuf,
    pub is_directory: bool,
    pub is_git_repo: bool,
    /// Seconds since the last change; only repositories that were searched for have it.
    pub last_modified: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DirectoryListing {
    pub entries: Vec<DirectoryEntry>,
    pub current_path: PathBuf,
}

/// A file or directory whose path contains what was searched for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SearchResult {
    /// Relative to the project.
    pub path: String,
    pub is_file: bool,
    pub match_type: MatchType,
}

/// What the text was found in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum MatchType {
    FileName,
    DirectoryName,
    FullPath,
}

/// Whose worktree a path is in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContainerInfo {
    pub attempt_id: AttemptId,
    pub task_id: TaskId,
    pub project_id: ProjectId,
}

/// Present for an editor that opens by a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EditorUrl {
    pub url: Option<String>,
}

/// The parts of a form; one of them holds the picture.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("minProperties" = 1))]
pub struct Upload {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = "string", "format" = "binary"))]
    pub image: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = "string", "format" = "binary"))]
    pub file: Option<Value>,
}
