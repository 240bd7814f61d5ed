//! The one place that starts `tmux`.
//!
//! Owns: the socket, exact targets, the time limit, and the translation of tmux's failures. Invariants: every call has
//! a time limit, no target is a prefix of a name, only the server of [`Socket`] is used, and "there is no server" is
//! the same as "there are no sessions".

mod command;
mod session;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use command::Call;
pub use session::Session;

/// The user option that says whose session it is.
pub const WORKER_OPTION: &str = "@forge_worker_id";
const OLDEST: (u32, u32) = (3, 2);
/// Agents treat a line that arrives together with its Enter as a paste, and the Enter as a line break.
const PASTE_PAUSE: Duration = Duration::from_millis(200);

#[derive(Debug, thiserror::Error)]
pub enum TmuxError {
    #[error("tmux is not installed or not on the PATH; install tmux {}.{} or newer", OLDEST.0, OLDEST.1)]
    Missing,
    #[error("tmux {found} is too old: Forge needs {}.{} or newer to pass variables to a session", OLDEST.0, OLDEST.1)]
    TooOld { found: String },
    #[error(
        "`{name}` is not a session name: use letters, digits, `-` and `_`, at most 128, and do not start with `-`"
    )]
    InvalidName { name: String },
    #[error("the line to send contains a control character; send one line at a time")]
    InvalidLine,
    #[error("tmux already has a session `{name}`")]
    SessionExists { name: String },
    #[error("tmux has no session `{name}`")]
    NoSession { name: String },
    #[error("`tmux {command}` did not answer within {secs} s")]
    Timeout { command: String, secs: u64 },
    #[error("`tmux {command}` failed: {message}")]
    Failed { command: String, message: String },
}

/// Which tmux server.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Socket {
    /// The server that plain `tmux` uses.
    Default,
    /// `tmux -L NAME`.
    Name(String),
    /// `tmux -S PATH`.
    Path(PathBuf),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tmux {
    socket: Socket,
}

/// A session to create.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    pub name: &'a str,
    pub dir: &'a Path,
    /// Variables for the command; it does not reliably get those of this process or of the tmux server.
    pub env: &'a [(String, String)],
    /// Program and arguments, without a shell.
    pub command: &'a [String],
    pub worker_id: Option<&'a str>,
}

impl Tmux {
    pub fn new(socket: Socket) -> Tmux {
        Tmux { socket }
    }

    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The version, if it is new enough.
    pub async fn version(&self) -> Result<String, TmuxError> {
        let answer = Call::new(self, &["-V"]).run().await?;
        let found = answer.trim().trim_start_matches("tmux ").to_owned();
        match command::parse_version(&found) {
            Some(version) if version < OLDEST => Err(TmuxError::TooOld { found }),
            // Builds without a number (`master`, `openbsd-7.6`) are newer than that.
            _ => Ok(found),
        }
    }

    /// All sessions of the server, oldest first.
    pub async fn list(&self) -> Result<Vec<Session>, TmuxError> {
        let answer = Call::new(self, &["list-panes", "-a", "-F", session::FORMAT]).run().await;
        match answer {
            Ok(text) => Ok(session::parse(&text)),
            Err(error) if command::means_empty(&error) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// The session of exactly this name.
    pub async fn find(&self, name: &str) -> Result<Option<Session>, TmuxError> {
        Ok(self.list().await?.into_iter().find(|session| session.name == name))
    }

    pub async fn has(&self, name: &str) -> Result<bool, TmuxError> {
        match Call::new(self, &["has-session", "-t", &session_target(name)?]).run().await {
            Ok(_) => Ok(true),
            Err(error) if command::means_empty(&error) || command::means_missing(&error) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a detached session with the command as its pane's process. An existing one is an error.
    pub async fn create(&self, new: NewSession<'_>) -> Result<Session, TmuxError> {
        check_name(new.name)?;
        let mut call = Call::new(self, &["new-session", "-d", "-s", new.name, "-x", "200", "-y", "50", "-c"]);
        call.push(new.dir.as_os_str());
        for (key, value) in new.env {
            call.push("-e");
            call.push(format!("{key}={value}"));
        }
        call.push("--");
        if new.command.len() == 1 {
            // tmux passes a single word to a shell; with a second one it starts the program itself.
            call.push("env");
        }
        for word in new.command {
            call.push(word);
        }
        if let Some(worker_id) = new.worker_id {
            // In the same call, so that the session is never unmarked.
            call.then(&["set-option", WORKER_OPTION, worker_id]);
        }
        match call.run().await {
            Err(TmuxError::Failed { message, .. }) if message.contains("duplicate session") => {
                Err(TmuxError::SessionExists { name: new.name.to_owned() })
            }
            Err(error) => Err(error),
            Ok(_) => {
                self.find(new.name).await?.ok_or_else(|| TmuxError::NoSession { name: new.name.to_owned() })
            }
        }
    }

    pub async fn set_option(&self, name: &str, option: &str, value: &str) -> Result<(), TmuxError> {
        let target = pane_target(name)?;
        self.act(name, &["set-option", "-t", &target, option, value]).await
    }

    pub async fn option(&self, name: &str, option: &str) -> Result<Option<String>, TmuxError> {
        let target = pane_target(name)?;
        let answer = Call::new(self, &["show-options", "-q", "-v", "-t", &target, option]).run().await;
        let text = answer.map_err(|error| absent(name, error))?;
        Ok(Some(text.trim_end_matches('\n').to_owned()).filter(|text| !text.is_empty()))
    }

    /// The last lines of the agent's pane, without trailing empty ones.
    pub async fn capture(&self, name: &str, lines: usize) -> Result<String, TmuxError> {
        let target = self.pane_of(name).await?;
        let start = format!("-{lines}");
        let answer = Call::new(self, &["capture-pane", "-p", "-J", "-t", &target, "-S", &start]).run().await;
        let text = answer.map_err(|error| absent(name, error))?;
        let all: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
        Ok(all[all.len().saturating_sub(lines)..].join("\n"))
    }

    /// Types a line and Enter.
    pub async fn send_line(&self, name: &str, line: &str) -> Result<(), TmuxError> {
        if line.chars().any(char::is_control) {
            return Err(TmuxError::InvalidLine);
        }
        let target = self.pane_of(name).await?;
        if !line.is_empty() {
            self.act(name, &["send-keys", "-t", &target, "-l", "--", line]).await?;
            tokio::time::sleep(PASTE_PAUSE).await;
        }
        self.act(name, &["send-keys", "-t", &target, "Enter"]).await
    }

    /// Types Ctrl-C.
    pub async fn interrupt(&self, name: &str) -> Result<(), TmuxError> {
        let target = self.pane_of(name).await?;
        self.act(name, &["send-keys", "-t", &target, "C-c"]).await
    }

    /// Ends exactly this session, not one of the same name created later.
    pub async fn kill(&self, session: &Session) -> Result<(), TmuxError> {
        match self.act(&session.name, &["kill-session", "-t", &session.id]).await {
            Err(TmuxError::NoSession { .. }) => Ok(()),
            other => other,
        }
    }

    /// The value of a variable for everything started in the session.
    pub(crate) async fn variable_of(&self, name: &str, variable: &str) -> Result<Option<String>, TmuxError> {
        let target = session_target(name)?;
        let answer = Call::new(self, &["show-environment", "-t", &target, variable]).run().await?;
        Ok(answer.trim_end().split_once('=').map(|(_, value)| value.to_owned()))
    }

    /// Ends the server with all its sessions: for one that serves a single purpose.
    pub(crate) async fn end_server(&self) -> Result<(), TmuxError> {
        match Call::new(self, &["kill-server"]).run().await {
            Err(error) if !command::means_empty(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Sets variables in the server's own environment, which later sessions inherit, to this process's values, except
    /// those that are not for sessions.
    pub(crate) async fn restore_environment(
        &self,
        names: impl Iterator<Item = &String>,
        withheld: &[String],
    ) -> Result<(), TmuxError> {
        let mut call = Call::new(self, &["set-environment", "-g", "-u", "TMUX"]);
        for name in names {
            match std::env::var(name) {
                Ok(value) if !withheld.contains(name) => call.then(&["set-environment", "-g", name, &value]),
                _ => call.then(&["set-environment", "-g", "-u", name]),
            }
        }
        match call.run().await {
            Err(error) if !command::means_empty(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes sessions take these variables from whoever creates them, or drop them. Listed ones stay listed.
    pub(crate) async fn pass_on(&self, names: impl Iterator<Item = &String>) -> Result<(), TmuxError> {
        const OPTION: &str = "update-environment";
        let listed = match Call::new(self, &["show-options", "-g", "-v", OPTION]).run().await {
            Err(error) if command::means_empty(&error) => return Ok(()),
            listed => listed?,
        };
        // By their whole names: for a pattern, tmux 3.3 takes only the first variable.
        let is_name = |name: &&String| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let is_new = |name: &&String| !listed.lines().any(|known| known == *name);
        let missing = names.filter(is_name).filter(is_new);
        let mut missing = missing.map(|name| ["set-option", "-g", "-a", OPTION, name]);
        let Some(first) = missing.next() else { return Ok(()) };
        let mut call = Call::new(self, &first);
        missing.for_each(|further| call.then(&further));
        match call.run().await {
            Err(error) if !command::means_empty(&error) => Err(error),
            _ => Ok(()),
        }
    }

    /// The command that shows the session. `inside` is the caller's `$TMUX`: within the same server it switches the
    /// client, within another one it attaches anyway.
    pub fn attach(&self, name: &str, inside: Option<&str>) -> Result<std::process::Command, TmuxError> {
        let target = session_target(name)?;
        let here = inside.and_then(|value| value.split(',').next()).filter(|path| !path.is_empty());
        let verb = match here {
            Some(path) if Path::new(path) == self.socket_path() => "switch-client",
            _ => "attach-session",
        };
        let mut command = std::process::Command::new("tmux");
        command.args(self.socket_arguments()).args([verb, "-t", &target]);
        if verb == "attach-session" {
            command.env_remove("TMUX");
        }
        Ok(command)
    }

    /// The `$TMUX` that makes plain `tmux` use this server; none for the default one.
    pub(crate) fn variable(&self) -> Option<OsString> {
        if self.socket == Socket::Default {
            return None;
        }
        let mut value = self.socket_path().into_os_string();
        value.push(",0,0");
        Some(value)
    }

    /// Creates the directory of the socket, as tmux does when given a name instead of a path.
    pub(crate) fn make_socket_dir(&self) -> Result<(), TmuxError> {
        use std::os::unix::fs::DirBuilderExt;
        let path = self.socket_path();
        let Some(dir) = path.parent().filter(|dir| !dir.is_dir()) else { return Ok(()) };
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|error| TmuxError::Failed {
            command: "start-server".to_owned(),
            message: format!("{}: {error}", dir.display()),
        })
    }

    /// Where the socket is, whether or not a server listens there.
    pub fn socket_path(&self) -> PathBuf {
        let name = match &self.socket {
            Socket::Default => "default",
            Socket::Name(name) => name,
            Socket::Path(path) => return path.clone(),
        };
        let base = std::env::var_os("TMUX_TMPDIR").filter(|dir| !dir.is_empty());
        let base = base.map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        // tmux names the socket by its real path.
        let base = std::fs::canonicalize(&base).unwrap_or(base);
        base.join(format!("tmux-{}", rustix::process::getuid().as_raw())).join(name)
    }

    fn socket_arguments(&self) -> Vec<OsString> {
        match &self.socket {
            Socket::Default => Vec::new(),
            Socket::Name(name) => vec!["-L".into(), name.into()],
            Socket::Path(path) => vec!["-S".into(), path.into()],
        }
    }

    /// The agent's pane, even if a person has split it and selected another part.
    async fn pane_of(&self, name: &str) -> Result<String, TmuxError> {
        let session = self.find(name).await?;
        Ok(session.ok_or_else(|| TmuxError::NoSession { name: name.to_owned() })?.pane)
    }

    async fn act(&self, name: &str, args: &[&str]) -> Result<(), TmuxError> {
        Call::new(self, args).run().await.map(drop).map_err(|error| absent(name, error))
    }
}

/// Checks that tmux keeps the name as it is; it would replace `:` and `.`.
pub(crate) fn check_name(name: &str) -> Result<(), TmuxError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !name.is_empty() && name.len() <= 128 && !name.starts_with('-') && name.chars().all(allowed) {
        true => Ok(()),
        false => Err(TmuxError::InvalidName { name: name.to_owned() }),
    }
}

fn session_target(name: &str) -> Result<String, TmuxError> {
    // Foreign names may have any character, but none that ends a name.
    match name.is_empty() || name.contains([':', '.']) || name.chars().any(char::is_control) {
        true => Err(TmuxError::InvalidName { name: name.to_owned() }),
        false => Ok(format!("={name}")),
    }
}

fn pane_target(name: &str) -> Result<String, TmuxError> {
    Ok(session_target(name)? + ":")
}

fn absent(name: &str, error: TmuxError) -> TmuxError {
    match command::means_empty(&error) || command::means_missing(&error) {
        true => TmuxError::NoSession { name: name.to_owned() },
        false => error,
    }
}
