//! One run of a launcher, with everything it started under control.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use forge_os::process::{Signal, end_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::{LauncherError, read_table};
use crate::tmux::Tmux;

/// Variables of the worker whose session Forge may be running in.
const OF_ANOTHER: [&str; 5] =
    ["TMUX", "TMUX_PANE", "FORGE_ASSIGNED_BEAD", "FORGE_PROMPT_FILE", "FORGE_MANAGED"];
/// More than any launcher prints; the rest is read and dropped, so that no pipe fills up.
const OUTPUT_LIMIT: usize = 1 << 20;
/// For output that is on its way when the launcher ends. What it left running may hold the pipe open forever.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(super) struct Called {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    pub(super) stderr: String,
}

/// The call of a launcher.
pub(super) struct Call<'a> {
    pub(super) launcher: &'a Path,
    pub(super) arguments: Vec<String>,
    pub(super) variables: &'a BTreeMap<String, String>,
    pub(super) withheld: &'a [String],
    pub(super) workspace: &'a Path,
    pub(super) tmux: &'a Tmux,
    pub(super) timeout: Duration,
}

impl Call<'_> {
    pub(super) async fn run(self) -> Result<Called, LauncherError> {
        let mut child = self.start()?;
        let group = child.id();
        let stdout = Drain::begin(child.stdout.take());
        let stderr = Drain::begin(child.stderr.take());
        match tokio::time::timeout(self.timeout, child.wait()).await {
            Ok(Ok(status)) => {
                Ok(Called { status, stdout: stdout.finish().await, stderr: stderr.finish().await })
            }
            Ok(Err(error)) => Err(LauncherError::LauncherFailed { message: error.to_string() }),
            Err(_) => {
                end_all(&mut child, group).await;
                Err(LauncherError::Timeout { secs: self.timeout.as_secs() })
            }
        }
    }

    fn start(&self) -> Result<Child, LauncherError> {
        let mut command = Command::new(self.launcher);
        command.args(&self.arguments).current_dir(self.workspace);
        command.env_clear().envs(environment(self.variables, self.withheld));
        if let Some(value) = self.tmux.variable() {
            // Plain `tmux` in the launcher uses this server.
            command.env("TMUX", value);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        command.spawn().map_err(|error| {
            let path = self.launcher.display();
            let message = match error.raw_os_error().map(rustix::io::Errno::from_raw_os_error) {
                Some(rustix::io::Errno::ACCESS) => format!("{path} is not executable; run `chmod +x {path}`"),
                Some(rustix::io::Errno::NOENT) => {
                    format!("{path} does not exist, or the interpreter in its first line does not")
                }
                Some(rustix::io::Errno::NOEXEC) => {
                    format!("{path} has no interpreter line; start it with `#!/bin/sh`")
                }
                _ => format!("{path} cannot be started: {error}"),
            };
            LauncherError::LauncherFailed { message }
        })
    }
}

/// A launcher's environment, besides tmux's variables: this process's variables and those of the call.
pub(super) fn environment(
    variables: &BTreeMap<String, String>,
    withheld: &[String],
) -> BTreeMap<OsString, OsString> {
    let mut found: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    // A worker is an agent like others. And Forge may itself run in a worker's session, whose variables are not for
    // this one.
    for name in withheld.iter().map(String::as_str).chain(OF_ANOTHER) {
        found.remove(OsStr::new(name));
    }
    found.extend(variables.iter().map(|(name, value)| (name.into(), value.into())));
    found
}

/// Ends the launcher, its process group and its descendants in other groups, except a tmux server that it has just
/// started: that belongs to everyone.
async fn end_all(child: &mut Child, group: Option<u32>) {
    if let Some(pid) = group {
        let table = read_table().await;
        let strays = table.below(pid).into_iter().filter(|entry| !entry.name.starts_with("tmux"));
        let strays: Vec<_> = strays.map(|entry| entry.identity).collect();
        end_group(pid);
        for stray in strays {
            stray.signal(Signal::KILL);
        }
    }
    let _ = child.wait().await;
}

/// Reads a pipe to its end, whatever happens to the reader.
struct Drain {
    text: Arc<Mutex<Vec<u8>>>,
    task: Option<JoinHandle<()>>,
}

impl Drain {
    fn begin(pipe: Option<impl AsyncRead + Unpin + Send + 'static>) -> Drain {
        let text = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&text);
        let read = |mut pipe: Box<dyn AsyncRead + Unpin + Send>| async move {
            let mut buffer = [0; 8192];
            while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
                let mut text = into.lock().unwrap_or_else(PoisonError::into_inner);
                let room = OUTPUT_LIMIT.saturating_sub(text.len());
                text.extend_from_slice(&buffer[..count.min(room)]);
            }
        };
        Drain { text, task: pipe.map(|pipe| tokio::spawn(read(Box::new(pipe)))) }
    }

    async fn finish(mut self) -> String {
        if let Some(mut task) = self.task.take()
            && tokio::time::timeout(LAST_WORDS, &mut task).await.is_err()
        {
            task.abort();
        }
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&text).into_owned()
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}
