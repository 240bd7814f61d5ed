//! The MCP servers that agent programs are configured with, in the user's own files.
//!
//! Owns: where the servers are in each program's file, and how they are read and replaced there. Invariant: only
//! servers that differ are touched; comments, order and everything else in the file stay byte for byte. A file that
//! cannot be read is never written. The file is replaced as a whole, with its mode, through links, and its previous
//! version is kept beside it.

mod file;
mod json;
pub(super) mod presets;
mod toml;

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forge_os::Mode;
use forge_types::Executor;
use forge_types::wire::McpConfig;
use serde_json::{Map, Value, json};

use super::{Agent, agent};

pub(super) use file::ConfigFile;

pub type Servers = Map<String, Value>;

const MAX_FILE_BYTES: u64 = 64 << 20;
/// How often a file that another program changes meanwhile is read again.
const TRIES: usize = 3;

#[derive(Debug, thiserror::Error)]
pub enum McpError {
    #[error("{0} does not support MCP servers")]
    Unsupported(Executor),
    #[error("{path} cannot be parsed and was not changed: {problem}; correct it and try again")]
    Unreadable { path: PathBuf, problem: String },
    #[error("cannot read or write {path}: {cause}")]
    Io { path: PathBuf, cause: io::Error },
    #[error("{path} is being changed by another program; nothing was written, try again")]
    Busy { path: PathBuf },
}

/// How many servers there were before and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub before: usize,
    pub after: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Json,
    Toml,
}

/// Where an agent's program looks for its servers, and in which form.
pub(super) struct Mcp {
    pub file: ConfigFile,
    pub format: Format,
    /// The member of the file that contains them.
    pub key: &'static str,
    /// The schema that the template of a new file names.
    pub schema: Option<&'static str>,
    /// A preset in the form that the program expects; `None` where it cannot reach such a server.
    pub adapt: fn(Value) -> Option<Value>,
}

impl Mcp {
    /// The form that most programs use.
    pub const fn usual(below_home: &'static str) -> Mcp {
        Mcp {
            file: ConfigFile::Home(below_home),
            format: Format::Json,
            key: "mcpServers",
            schema: None,
            adapt: Some,
        }
    }
}

struct ConfigLocation {
    path: PathBuf,
    mcp: &'static Mcp,
}

impl ConfigLocation {
    fn of(agent: &'static Agent) -> Result<ConfigLocation, McpError> {
        let location =
            agent.mcp.as_ref().and_then(|mcp| Some(ConfigLocation { path: mcp.file.path()?, mcp }));
        location.ok_or(McpError::Unsupported(agent.executor))
    }
}

/// Reads the servers of an agent program, with the path of its file. Reads a file: do not call from async code.
pub fn read_mcp(executor: Executor) -> Result<(McpConfig, PathBuf), McpError> {
    read(agent(executor))
}

pub(super) fn read(agent: &'static Agent) -> Result<(McpConfig, PathBuf), McpError> {
    let location = ConfigLocation::of(agent)?;
    let mcp = location.mcp;
    let servers = location.servers(&location.read()?.unwrap_or_default())?;
    let mut template = json!({ mcp.key: {} });
    if let Some(schema) = mcp.schema {
        template["$schema"] = schema.into();
    }
    let config = McpConfig {
        servers,
        servers_path: vec![mcp.key.to_owned()],
        template,
        preconfigured: presets::written(mcp.adapt),
        is_toml_config: mcp.format == Format::Toml,
    };
    Ok((config, location.path))
}

/// Replaces the servers of an agent program with `servers`. Writes a file: do not call from async code.
pub fn write_mcp(executor: Executor, servers: &Servers) -> Result<Counts, McpError> {
    let location = ConfigLocation::of(agent(executor))?;
    for _ in 0..TRIES {
        let text = location.read()?;
        let old = text.as_deref().unwrap_or_default();
        let before = location.servers(old)?;
        let counts = Counts { before: before.len(), after: servers.len() };
        if before == *servers {
            return Ok(counts);
        }
        let new = location.with_servers(old, servers)?;
        // The programs write these files too: what one of them wrote meanwhile must not be lost.
        if location.read()? == text {
            location.replace(text.as_deref(), &new)?;
            return Ok(counts);
        }
    }
    Err(McpError::Busy { path: location.path })
}

impl ConfigLocation {
    fn io(&self, cause: io::Error) -> McpError {
        McpError::Io { path: self.path.clone(), cause }
    }

    fn unreadable(&self, problem: impl ToString) -> McpError {
        McpError::Unreadable { path: self.path.clone(), problem: problem.to_string() }
    }

    fn read(&self) -> Result<Option<String>, McpError> {
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.io(error)),
        };
        let mut bytes = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes).map_err(|error| self.io(error))?;
        if bytes.len() as u64 > MAX_FILE_BYTES {
            return Err(self.unreadable("it is larger than 64 MiB"));
        }
        String::from_utf8(bytes).map(Some).map_err(|_| self.unreadable("it is not UTF-8"))
    }

    fn servers(&self, text: &str) -> Result<Servers, McpError> {
        let servers = match self.mcp.format {
            Format::Json => json::servers(text, self.mcp.key),
            Format::Toml => toml::servers(text, self.mcp.key),
        };
        servers.map_err(|problem| self.unreadable(problem))
    }

    fn with_servers(&self, text: &str, servers: &Servers) -> Result<String, McpError> {
        let text = match self.mcp.format {
            Format::Json => json::with_servers(text, self.mcp.key, servers),
            Format::Toml => toml::with_servers(text, self.mcp.key, servers),
        };
        let text = text.map_err(|problem| self.unreadable(problem))?;
        // The last check before a user's file is written: the new text must contain exactly the requested servers.
        match self.servers(&text)? == without_nulls(servers, self.mcp.format) {
            true => Ok(text),
            false => Err(self.unreadable("the servers cannot be put into it")),
        }
    }

    fn replace(&self, old: Option<&str>, new: &str) -> Result<(), McpError> {
        let write = || -> io::Result<()> {
            if let Some(folder) = self.path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let target = std::fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
            let mode = target.metadata().map_or(0o600, |meta| meta.permissions().mode() & 0o7777);
            if let Some(old) = old {
                forge_os::replace(&beside(&target, "forge-backup"), old.as_bytes(), Mode::Exactly(mode))?;
            }
            forge_os::replace(&target, new.as_bytes(), Mode::Exactly(mode))
        };
        write().map_err(|error| self.io(error))
    }
}

/// TOML has no null, so such values are left out.
fn without_nulls(servers: &Servers, format: Format) -> Servers {
    fn strip(value: &Value) -> Value {
        match value {
            Value::Object(fields) => {
                fields.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), strip(v))).collect()
            }
            Value::Array(list) => list.iter().filter(|v| !v.is_null()).map(strip).collect(),
            other => other.clone(),
        }
    }
    match format {
        Format::Json => servers.clone(),
        Format::Toml => servers.iter().map(|(name, server)| (name.clone(), strip(server))).collect(),
    }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(end);
    name.into()
}
