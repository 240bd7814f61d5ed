//! Finding programs.
//!
//! Owns the lookup in PATH and, for programs missing there, in the PATH of the user's login shell: a server started
//! by a desktop or a service manager often has a shorter PATH than a terminal. Invariant: the login shell is asked
//! at most once per process and gets at most [`LOGIN_WAIT`].

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{OnceLock, mpsc};
use std::time::Duration;

use super::LaunchContext;

const LOGIN_WAIT: Duration = Duration::from_secs(3);
const MAX_PATH_BYTES: u64 = 64 << 10;
/// Separates the PATH from whatever the user's start-up files print.
const MARK: &[u8] = b"\n==forge-path==";

/// A program that exists.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub file: PathBuf,
    /// The PATH it was found in, if that is not the given one: the program needs it too.
    pub path_env: Option<OsString>,
}

/// Looks for `name` in PATH, then in the login shell's PATH.
pub(super) fn find(name: &str, place: &LaunchContext<'_>) -> Option<Program> {
    if let Some(file) = find_in(name, place.path_env, place.worktree) {
        return Some(Program { file, path_env: None });
    }
    static LOGIN_PATH: OnceLock<Option<OsString>> = OnceLock::new();
    let login =
        LOGIN_PATH.get_or_init(|| ask_login_shell(&std::env::var_os("SHELL")?, LOGIN_WAIT)).as_ref()?;
    let path_env = joined(place.path_env, login);
    let file = find_in(name, &path_env, place.worktree)?;
    Some(Program { file, path_env: Some(path_env) })
}

/// Looks for `name` in PATH only.
pub(super) fn find_in(name: impl AsRef<OsStr>, path_env: &OsStr, worktree: &Path) -> Option<PathBuf> {
    which::which_in(name, Some(path_env), worktree).ok()
}

fn joined(first: &OsStr, second: &OsStr) -> OsString {
    let mut dirs: Vec<PathBuf> = std::env::split_paths(first).collect();
    for dir in std::env::split_paths(second) {
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    // Only a directory with a separator in its name cannot be joined, and a split never produces one.
    std::env::join_paths(dirs).unwrap_or_else(|_| first.to_owned())
}

fn ask_login_shell(shell: &OsStr, wait: Duration) -> Option<OsString> {
    let mut command = Command::new(shell);
    command.args(["-lc", r#"printf '\n==forge-path==%s' "$PATH""#]);
    let bytes = capture(command, wait, MAX_PATH_BYTES)?;
    let place = bytes.windows(MARK.len()).rposition(|window| window == MARK)?;
    let path = OsString::from_vec(bytes[place + MARK.len()..].to_vec());
    (!path.as_bytes().is_empty()).then_some(path)
}

/// The first `max_bytes` that a command prints; `None` when it cannot be started or does not finish in time.
pub(super) fn capture(mut command: Command, wait: Duration, max_bytes: u64) -> Option<Vec<u8>> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().ok()?;
    let stdout = child.stdout.take()?;
    let (sender, receiver) = mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(max_bytes).read_to_end(&mut bytes);
        // The receiver may have given up.
        let _ = sender.send(read.map(|_| bytes));
    });
    let output = receiver.recv_timeout(wait);
    // It may have left a process running that also holds the pipe that the thread reads.
    forge_os::process::end_group(child.id());
    let _ = child.wait();
    output.ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn fake_shell(dir: &Path, body: &str) -> PathBuf {
        let file = dir.join("shell");
        std::fs::write(&file, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
        file
    }

    #[test]
    fn the_login_path_is_distinguished_from_start_up_noise() {
        let dir = tempfile::tempdir().unwrap();
        let shell = fake_shell(dir.path(), r#"echo welcome; PATH=/login/bin:/bin; eval "$2""#);
        let path = ask_login_shell(shell.as_os_str(), Duration::from_secs(20));
        assert_eq!(path, Some("/login/bin:/bin".into()));
    }

    #[test]
    fn a_login_shell_that_hangs_is_given_up() {
        let dir = tempfile::tempdir().unwrap();
        let shell = fake_shell(dir.path(), "sleep 600 & sleep 600");
        assert_eq!(ask_login_shell(shell.as_os_str(), Duration::from_millis(200)), None);
    }

    #[test]
    fn paths_are_joined_without_repeats() {
        assert_eq!(joined("/a:/b".as_ref(), "/b:/c".as_ref()), OsString::from("/a:/b:/c"));
    }
}
