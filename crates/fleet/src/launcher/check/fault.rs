//! What can be wrong with a launcher, in words that say what to do.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Forge cannot start workers with it.
    Error,
    /// Workers can be started, but something will not work well.
    Warning,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    #[error("there is no such file")]
    Missing,
    #[error("it is not executable; run `chmod +x` on it")]
    NotExecutable,
    #[error(
        "it has no interpreter line, so whether it runs depends on who starts it; start it with `#!/bin/sh`"
    )]
    NoShebang,
    #[error("it has Windows line endings, so the interpreter is not found; save it with Unix line endings")]
    WindowsLineEnds,
    #[error(
        "it did not finish within {secs} s; a launcher creates the session detached (`tmux new-session -d`), prints \
         its result and exits, while the agent keeps running in the session"
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
        "its output has no `pid`, so Forge asks tmux for it; print the one that `tmux display-message -p -t =NAME: \
         '#{{pane_pid}}'` gives (tmux has no `#{{session_pid}}`)"
    )]
    NoPid,
    #[error(
        "the `pid` {pid} in its output is not a process of the session (whose pane has {pane_pid}); print the one that \
         `tmux display-message -p -t =NAME: '#{{pane_pid}}'` gives"
    )]
    WrongPid { pid: u32, pane_pid: u32 },
    #[error(
        "it reported success, but tmux has no session `{wanted}`: the agent exited at once (is it installed?), or the \
         session was created on another tmux server (leave `$TMUX` as it is, use neither -L nor -S)"
    )]
    NoSession { wanted: String },
    #[error(
        "it created the session `{made}` instead of `{wanted}`; use the given name, or report the other one"
    )]
    OtherSession { wanted: String, made: String },
    #[error(
        "its variables do not reach the agent: it calls tmux without the variables it was given; keep them, or pass \
         them on, e.g. `tmux new-session -d -s \"$1\" -e FORGE_WORKER_ID=\"$FORGE_WORKER_ID\" … AGENT`"
    )]
    NoVariables,
    #[error(
        "the agent is started by `send-keys` in a shell, which stays when the agent ends; make the agent the command of \
         the session: `tmux new-session -d -s \"$1\" AGENT`"
    )]
    AgentInShell,
    #[error("it leaves processes behind when the session has ended: {}; they were killed", names.join(", "))]
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

/// At most one line, without control characters.
fn shown(printed: &str) -> String {
    const LONGEST: usize = 200;
    if printed.is_empty() {
        return "nothing".to_owned();
    }
    let clean: String = printed.chars().take(LONGEST).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let more = if printed.chars().nth(LONGEST).is_some() { "…" } else { "" };
    format!("`{clean}{more}`")
}
