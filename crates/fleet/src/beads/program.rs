//! The beads programs on this machine: which they are, and what they can do.
//!
//! Invariant: a program is identified by its output, never by its name. `bd` may be bd, br, or something else.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;

use super::answer;
use super::call::Call;
use super::place::{Layout, Tool};

const VERSION_LIMIT: Duration = Duration::from_secs(5);
/// Before it, br could damage its database when several processes wrote.
const BR_MIN: Version = Version(0, 7, 6);
/// bd stores its beads in Dolt from this version on.
const BD_DOLT: Version = Version(0, 50, 0);
const BD_ATOMIC_CLAIM: Version = Version(0, 49, 4);
const BD_ONE: Version = Version(1, 0, 0);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub path: PathBuf,
    pub tool: Tool,
    pub version: Version,
    pub capabilities: Capabilities,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u64, pub u64, pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capabilities {
    /// `update --claim`, as one step.
    pub claim: bool,
    /// `ready --claim`.
    pub ready_claim: bool,
    /// `update --if-unchanged`.
    pub if_unchanged: bool,
    /// `list` prints a page, not a list.
    pub list_paged: bool,
    /// Output comes in an envelope on request.
    pub envelope: bool,
}

/// A program that was found and is not used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    pub path: PathBuf,
    pub why: String,
}

/// Looks for a program that can serve the layout. The ones found but rejected are returned with the reason.
pub(super) async fn find(
    path_env: Option<&OsStr>,
    beads_dir: &Path,
    layout: &Layout,
) -> (Option<Program>, Vec<Rejected>) {
    let mut rejected = Vec::new();
    for name in ["br", "bd"] {
        let Some(path) = path_env.and_then(|env| which::which_in(name, Some(env), beads_dir).ok()) else {
            continue;
        };
        let fit = match identify(&path, beads_dir).await {
            Ok(program) => fits(&program, layout).map(|()| program),
            Err(why) => Err(why),
        };
        match fit {
            Ok(program) => return (Some(program), rejected),
            Err(why) => rejected.push(Rejected { path, why }),
        }
    }
    (None, rejected)
}

async fn identify(path: &Path, beads_dir: &Path) -> Result<Program, String> {
    let call = Call::read(path, beads_dir).verb(&["version"]).limit(VERSION_LIMIT);
    let answer = call.run().await.map_err(|error| error.to_string())?;
    let documents = answer::read(&answer).map_err(|complaint| complaint.message)?;
    let about = documents.into_iter().next().unwrap_or_default();
    let Some(version) = about["version"].as_str().and_then(Version::parse) else {
        return Err("`version --json` names no version, so it is neither br nor bd".to_owned());
    };
    // Their build information distinguishes the two. A Rust program that is not br has less of it.
    let tool = match (&about["rust_version"], &about["target"], &about["build"]) {
        (Value::String(_), Value::String(_), _) => Tool::Br,
        (Value::Null, Value::Null, Value::String(_)) => Tool::Bd,
        _ => return Err("`version --json` prints what neither br nor bd does".to_owned()),
    };
    Ok(Program { path: path.to_owned(), tool, version, capabilities: Capabilities::of(tool, version) })
}

fn fits(program: &Program, layout: &Layout) -> Result<(), String> {
    let version = program.version;
    match (program.tool, layout) {
        (_, Layout::Foreign(what)) => Err(format!("this is {what}")),
        (Tool::Br, _) if version < BR_MIN => {
            Err(format!("br {version} may damage its database; update it to {BR_MIN} or later"))
        }
        (Tool::Br, Layout::Dolt) => Err("the beads are in a Dolt database, which br cannot read".to_owned()),
        (Tool::Br, Layout::Sqlite { by: Some(Tool::Bd) }) => {
            Err("the database was made by bd; br would write it in another format".to_owned())
        }
        (Tool::Bd, Layout::Dolt) if version < BD_DOLT => {
            Err(format!("the beads are in a Dolt database, which bd {version} cannot read; update it"))
        }
        (Tool::Bd, Layout::Sqlite { .. } | Layout::Bare) if version >= BD_DOLT => {
            Err(format!("bd {version} keeps beads in a Dolt database, and there is none here"))
        }
        (Tool::Bd, Layout::Sqlite { by: Some(Tool::Br) }) => {
            Err("the database was made by br; bd would write it in another format".to_owned())
        }
        _ => Ok(()),
    }
}

impl Capabilities {
    fn of(tool: Tool, version: Version) -> Self {
        let is_bd = tool == Tool::Bd;
        Self {
            claim: !is_bd || version >= BD_ATOMIC_CLAIM,
            ready_claim: is_bd && version >= BD_ONE,
            if_unchanged: !is_bd,
            list_paged: !is_bd,
            envelope: is_bd && version >= BD_ONE,
        }
    }
}

impl Version {
    /// `1.2.3`, `v1.2.3`, `1.2.3-rc.1`.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim().trim_start_matches('v');
        let core = text.split(['-', '+', ' ']).next()?;
        let mut parts = core.split('.').map(|part| part.parse::<u64>().ok());
        Some(Self(parts.next()??, parts.next()??, parts.next().unwrap_or(Some(0))?))
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl std::fmt::Display for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Br => "br",
            Self::Bd => "bd",
        })
    }
}
