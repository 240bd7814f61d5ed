//! The extra messages for one shipped client, the Genie task monitor, which expects its own words.
//!
//! Invariant: any other client gets none of them.

use axum::http::{HeaderMap, header};
use forge_types::{Run, RunStatus};
use serde_json::json;

use crate::stream::patch::push_quoted;

/// Whether the client is that monitor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Monitor {
    Absent,
    Present,
}

impl Monitor {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok());
        match agent.is_some_and(|agent| agent.starts_with("Genie-TaskMonitor/")) {
            true => Monitor::Present,
            false => Monitor::Absent,
        }
    }

    /// `{"type":"log",…}` beside a log entry.
    pub(crate) fn log(self, content: &str) -> Option<String> {
        (self == Monitor::Present).then(|| {
            let mut text = String::with_capacity(content.len() + 32);
            text.push_str(r#"{"type":"log","content":"#);
            push_quoted(&mut text, content);
            text.push('}');
            text
        })
    }

    /// `{"type":"status",…}` before the end; `run` is `None` when its end is unknown.
    pub(crate) fn status(self, run: Option<&Run>) -> Option<String> {
        let run = run.filter(|_| self == Monitor::Present)?;
        let message = match (run.status, run.exit_code) {
            (RunStatus::Completed, _) => json!({"type": "status", "status": "completed"}),
            (RunStatus::Killed, _) => json!({"type": "status", "status": "failed", "error": "stopped"}),
            (_, Some(code)) => {
                json!({"type": "status", "status": "failed", "error": format!("exit code {code}")})
            }
            (_, None) => json!({"type": "status", "status": "failed"}),
        };
        Some(message.to_string())
    }

    pub(crate) fn finished(self) -> Option<String> {
        (self == Monitor::Present).then(|| r#"{"type":"finished"}"#.to_owned())
    }
}
