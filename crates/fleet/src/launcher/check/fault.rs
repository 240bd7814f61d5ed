//! What can be wrong with a launcher, in words that say what to do.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Forge cannot start workers with it.
    Error,
    /// Workers can be started, but something will not be as good as it could be.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("there is no such file")]
    Missing,
    #[error("it is not executable; run `chmod +x` on it")]
    NotExecutable,
    #[error("it has no interpreter line, so that it depends on who starts it; begin it with `#!/bin/sh`")]
    NoShebang,
    #[error("its lines end as on Windows, so that the interpreter is not found; save it with Unix line ends")]
    WindowsLineEnds,
    #[error(
        "it did not finish within {secs} s; a launcher makes the session detached (`tmux new-session -d`), prints its \
         answer and ends, while the agent goes on in the session"
    )]
    Hangs { secs: u64 },
    #[error("it failed: {message}")]
    Fails { message: String },
    #[error(
        "it printed no JSON object but {}; print `{{\"pid\": PID, \"session\": \"NAME\", \"model\": \"MODEL\"}}` on \
         standard output",
        shown(printed)
    )]
    NoJson { printed: String },
    #[error(
        "it printed neither a JSON object nor a session name but {}; print `{{\"pid\": PID, \"session\": \"NAME\"}}` \
         on standard output",
        shown(printed)
    )]
    NoAnswer { printed: String },
    #[error(
        "its answer has no `pid`, so that Forge asks tmux for it; print the one that `tmux display-message -p -t =NAME: \
         '#{{pane_pid}}'` gives (tmux has no `#{{session_pid}}`)"
    )]
    NoPid,
    #[error(
        "the `pid` {pid} of its answer is no process of the session (whose pane has {pane_pid}); print the one that \
         `tmux display-message -p -t =NAME: '#{{pane_pid}}'` gives"
    )]
    WrongPid { pid: u32, pane_pid: u32 },
    #[error(
        "it reported success, but tmux has no session `{wanted}`: the agent ended at once (is it installed?), or the \
         session was made on another tmux server (leave `$TMUX` as it is, use neither -L nor -S)"
    )]
    NoSession { wanted: String },
    #[error(
        "it made the session `{made}` instead of `{wanted}`; use the name it is given, or report the other one"
    )]
    OtherSession { wanted: String, made: String },
    #[error(
        "its variables do not reach the agent: it calls tmux without those that it was given; keep them, or pass them on, \
         e.g. `tmux new-session -d -s \"$1\" -e FORGE_WORKER_ID=\"$FORGE_WORKER_ID\" … AGENT`"
    )]
    NoVariables,
    #[error(
        "the agent is started by `send-keys` in a shell, which stays when the agent ends; make the agent the command of \
         the session: `tmux new-session -d -s \"$1\" AGENT`"
    )]
    AgentInShell,
    #[error("it leaves processes behind when the session has ended: {}; they were ended", names.join(", "))]
    LeavesProcesses { names: Vec<String> },
}

impl Fault {
    pub fn severity(&self) -> Severity {
        match self {
            Fault::NoJson { .. }
            | Fault::NoPid
            | Fault::WrongPid { .. }
            | Fault::NoVariables
            | Fault::AgentInShell
            | Fault::LeavesProcesses { .. } => Severity::Warning,
            _ => Severity::Error,
        }
    }
}

/// At most a line's worth, without what could move a cursor.
fn shown(printed: &str) -> String {
    const LONGEST: usize = 200;
    if printed.is_empty() {
        return "nothing".to_owned();
    }
    let clean: String = printed.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let more = if printed.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("`{clean}{more}`")
}
