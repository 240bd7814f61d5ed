//! One call of tmux.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::Duration;

use forge_types::WITHHELD;
use tokio::process::Command;

use super::{Tmux, TmuxError};

const TIME_LIMIT: Duration = Duration::from_secs(10);

pub(super) struct Call {
    command: Command,
    /// For messages: the verb without its arguments, which may contain secrets.
    verb: String,
}

impl Call {
    pub(super) fn new(tmux: &Tmux, args: &[&str]) -> Call {
        let mut command = Command::new("tmux");
        // UTF-8 whatever the locale: else tmux writes `_` for every other character.
        command.arg("-u").args(tmux.socket_arguments());
        // A tmux server that this starts passes these to all its sessions.
        for name in WITHHELD {
            command.env_remove(name);
        }
        command.env_remove("TMUX").env_remove("TMUX_PANE").stdin(Stdio::null()).kill_on_drop(true);
        let mut call = Call { command, verb: args.first().copied().unwrap_or_default().to_owned() };
        for arg in args {
            call.push(arg);
        }
        call
    }

    /// Adds an argument, taken as it is.
    pub(super) fn push(&mut self, arg: impl AsRef<OsStr>) {
        let arg = arg.as_ref();
        match arg.as_encoded_bytes().strip_suffix(b";") {
            // A `;` at the end of a word ends tmux's command.
            Some(rest) => _ = self.command.arg(OsStr::from_bytes(&[rest, b"\\;"].concat())),
            None => _ = self.command.arg(arg),
        }
    }

    /// Adds another command, which tmux runs right after.
    pub(super) fn then(&mut self, args: &[&str]) {
        self.command.arg(";");
        for arg in args {
            self.push(arg);
        }
    }

    /// What it printed. Output is small: every request limits it by format or number of lines.
    pub(super) async fn run(mut self) -> Result<String, TmuxError> {
        let failed = |message: String| TmuxError::Failed { command: self.verb.clone(), message };
        let output = match tokio::time::timeout(TIME_LIMIT, self.command.output()).await {
            Err(_) => return Err(TmuxError::Timeout { command: self.verb, secs: TIME_LIMIT.as_secs() }),
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => return Err(TmuxError::Missing),
            Ok(Err(error)) => return Err(failed(error.to_string())),
            Ok(Ok(output)) => output,
        };
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(failed(if message.is_empty() { output.status.to_string() } else { message }))
    }
}

/// There is no server, or it has no sessions.
pub(super) fn means_empty(error: &TmuxError) -> bool {
    let signs = [
        "no server running",
        "no sessions",
        "error connecting to",
        "server exited",
        "lost server",
        "no current",
    ];
    matches!(error, TmuxError::Failed { message, .. } if signs.iter().any(|sign| message.contains(sign)))
}

/// The target does not exist.
pub(super) fn means_missing(error: &TmuxError) -> bool {
    let signs = ["can't find session", "can't find pane", "can't find window", "no such session"];
    matches!(error, TmuxError::Failed { message, .. } if signs.iter().any(|sign| message.contains(sign)))
}

/// `3.3a`, `next-3.5`, `3.4-rc2` → major and minor.
pub(super) fn parse_version(text: &str) -> Option<(u32, u32)> {
    let text = text.strip_prefix("next-").unwrap_or(text);
    let (major, rest) = text.split_once('.')?;
    let minor: String = rest.chars().take_while(char::is_ascii_digit).collect();
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert_eq!(parse_version("3.3a"), Some((3, 3)));
        assert_eq!(parse_version("next-3.6"), Some((3, 6)));
        assert_eq!(parse_version("3.10-rc2"), Some((3, 10)));
        assert_eq!(parse_version("master"), None);
        assert_eq!(parse_version("openbsd-7.6"), None);
        assert!(parse_version("2.9a") < Some(super::super::OLDEST));
    }

    #[test]
    fn every_word_for_no_server_means_empty() {
        let failed =
            |message: &str| TmuxError::Failed { command: "list-panes".into(), message: message.into() };
        for message in [
            "no server running on /tmp/tmux-0/x",
            "no sessions",
            "error connecting to /tmp/tmux-0/x (No such file or directory)",
        ] {
            assert!(means_empty(&failed(message)), "{message}");
        }
        assert!(!means_empty(&failed("can't find session: x")));
    }
}
