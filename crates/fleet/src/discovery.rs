//! Finds workers among the sessions of a tmux server.
//!
//! Invariant: only a session with Forge's option is Forge's own. One whose name merely looks like a worker's is
//! foreign: listed, and never touched unless a person asks for it.

use forge_types::{Millis, WorkerTier};
use serde::{Deserialize, Serialize};

use crate::tmux::{Session, Socket, Tmux, TmuxError};
use crate::worker::WorkerId;

/// Name prefixes of worker sessions, Forge's and others', and how much of each is not part of the id.
const PREFIXES: &[(&str, usize)] = &[
    ("forge-worker-", "forge-worker-".len()),
    // Doubled by mistake, once in the id and once in the session name.
    ("forge-forge-", "forge-".len()),
    ("forge-", "forge-".len()),
    ("claude-code-", 0),
    ("opencode-", 0),
];

#[derive(Debug, thiserror::Error)]
pub enum DiscoveryError {
    #[error("cannot look for workers: {0}")]
    Tmux(#[from] TmuxError),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkerType {
    Glm,
    Sonnet,
    Opus,
    Haiku,
    Codex,
    Opencode,
    Unknown,
}

impl WorkerType {
    /// The model of such workers; empty if the name does not show it.
    pub fn model(self) -> &'static str {
        match self {
            WorkerType::Glm => "glm-4.7",
            WorkerType::Sonnet => "sonnet",
            WorkerType::Opus => "opus",
            WorkerType::Haiku => "haiku",
            WorkerType::Codex | WorkerType::Opencode | WorkerType::Unknown => "",
        }
    }

    pub fn tier(self) -> WorkerTier {
        match self {
            WorkerType::Opus => WorkerTier::Premium,
            WorkerType::Haiku => WorkerTier::Budget,
            _ => WorkerTier::Standard,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Bond {
    /// Forge has started or adopted it.
    Managed,
    /// Only its name suggests a worker.
    Foreign,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiscoveredWorker {
    pub session_name: String,
    pub worker_id: WorkerId,
    pub worker_type: WorkerType,
    pub is_attached: bool,
    pub created_at: Millis,
    pub bond: Bond,
    pub pane: String,
    pub pane_pid: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiscoveryResult {
    pub workers: Vec<DiscoveredWorker>,
}

/// The workers of the user's own tmux server, the one that plain `tmux` uses, oldest first. Nothing there is changed.
pub async fn discover_workers() -> Result<DiscoveryResult, DiscoveryError> {
    discover_on(&users_server()).await
}

/// The server that plain `tmux` uses.
pub fn users_server() -> Tmux {
    Tmux::new(Socket::Default)
}

/// The workers of one server, oldest first.
pub async fn discover_on(tmux: &Tmux) -> Result<DiscoveryResult, DiscoveryError> {
    let sessions = tmux.list().await?;
    Ok(DiscoveryResult { workers: sessions.into_iter().filter_map(recognise).collect() })
}

/// Makes a foreign session Forge's own, because a person asked for it.
pub async fn adopt(tmux: &Tmux, worker: &DiscoveredWorker) -> Result<(), DiscoveryError> {
    let option = crate::tmux::WORKER_OPTION;
    Ok(tmux.set_option(&worker.session_name, option, worker.worker_id.as_str()).await?)
}

fn recognise(session: Session) -> Option<DiscoveredWorker> {
    let marked = session.worker_id.as_deref().and_then(|id| WorkerId::new(id).ok());
    let (worker_id, bond) = match marked {
        Some(id) => (id, Bond::Managed),
        None => (named(&session.name)?, Bond::Foreign),
    };
    Some(DiscoveredWorker {
        worker_type: type_of(&session.name, worker_id.as_str()),
        worker_id,
        is_attached: session.attached > 0,
        created_at: session.created_at,
        bond,
        pane: session.pane,
        pane_pid: session.pane_pid,
        session_name: session.name,
    })
}

fn named(session_name: &str) -> Option<WorkerId> {
    let (_, cut) = PREFIXES
        .iter()
        .find(|(prefix, _)| session_name.strip_prefix(prefix).is_some_and(|rest| !rest.is_empty()))?;
    WorkerId::new(&session_name[*cut..]).ok()
}

fn type_of(session_name: &str, worker_id: &str) -> WorkerType {
    let text = format!("{session_name} {worker_id}").to_ascii_lowercase();
    // The model before the program: opencode runs GLM.
    [
        ("glm-47", WorkerType::Glm),
        ("glm47", WorkerType::Glm),
        ("glm-4", WorkerType::Glm),
        ("sonnet", WorkerType::Sonnet),
        ("opus", WorkerType::Opus),
        ("haiku", WorkerType::Haiku),
        ("codex", WorkerType::Codex),
        ("opencode", WorkerType::Opencode),
    ]
    .into_iter()
    .find(|(word, _)| text.contains(word))
    .map_or(WorkerType::Unknown, |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(name: &str, mark: Option<&str>) -> Option<(String, WorkerType, Bond)> {
        let session = Session {
            name: name.to_owned(),
            id: "$1".to_owned(),
            worker_id: mark.map(str::to_owned),
            created_at: Millis(0),
            attached: 0,
            pane: "%1".to_owned(),
            pane_pid: 1,
            pane_dead: false,
        };
        recognise(session).map(|worker| (worker.worker_id.to_string(), worker.worker_type, worker.bond))
    }

    #[test]
    fn names_of_every_kind_are_foreign_workers() {
        use WorkerType::{Glm, Haiku, Opus, Sonnet, Unknown};
        for (name, id, kind) in [
            ("claude-code-glm-47-alpha", "claude-code-glm-47-alpha", Glm),
            ("claude-code-sonnet-bravo", "claude-code-sonnet-bravo", Sonnet),
            ("claude-code-opus-charlie", "claude-code-opus-charlie", Opus),
            ("claude-code-haiku-delta", "claude-code-haiku-delta", Haiku),
            ("opencode-glm-47-alpha", "opencode-glm-47-alpha", Glm),
            ("forge-worker-alpha", "alpha", Unknown),
            ("forge-forge-sonnet-20250115-103000-0042", "forge-sonnet-20250115-103000-0042", Sonnet),
            ("forge-fg-12-opus", "fg-12-opus", Opus),
        ] {
            assert_eq!(seen(name, None), Some((id.to_owned(), kind, Bond::Foreign)), "{name}");
        }
        let found = [Glm, Sonnet, Opus, Haiku, Unknown].map(|kind| (kind.model(), kind.tier().as_str()));
        assert_eq!(
            found,
            [
                ("glm-4.7", "standard"),
                ("sonnet", "standard"),
                ("opus", "premium"),
                ("haiku", "budget"),
                ("", "standard")
            ]
        );
        for name in ["main", "forge", "forge-", "claude-code-", "my-forge-worker-a", "claude-code"] {
            assert_eq!(seen(name, None), None, "{name}");
        }
    }

    #[test]
    fn the_option_decides_whatever_the_name_is() {
        let expected = ("alpha".to_owned(), WorkerType::Unknown, Bond::Managed);
        assert_eq!(seen("main", Some("alpha")), Some(expected));
        assert_eq!(
            seen("forge-worker-x", Some("codex-1")).map(|seen| (seen.1, seen.2)),
            Some((WorkerType::Codex, Bond::Managed))
        );
        // An option that is not a valid id marks nothing.
        assert_eq!(seen("forge-worker-x", Some("../x")).map(|seen| seen.2), Some(Bond::Foreign));
    }
}
