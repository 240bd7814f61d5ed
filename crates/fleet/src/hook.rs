//! A user's program that is run on an event.
//!
//! Owns the child from start to end. Invariant: no shell; the event is passed on standard input and in variables; every
//! run has a time limit, and one that exceeds it or is dropped ends with its whole process group.

use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::group::Group;

/// How much of its error output is kept.
const COMPLAINT_MAX: u64 = 2000;

const PIPE_GRACE: Duration = Duration::from_millis(500);

pub struct Hook<'a> {
    /// The program and its arguments.
    pub command: &'a [String],
    pub variables: &'a [(&'static str, String)],
    pub input: &'a str,
    pub limit: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum HookError {
    #[error("no program is given")]
    Empty,
    #[error("`{program}` cannot be started: {source}")]
    Start { program: String, source: std::io::Error },
    #[error("`{program}` took longer than {secs} s and was killed")]
    Timeout { program: String, secs: u64 },
    #[error("`{program}` failed with {status}: {complaint}")]
    Failed { program: String, status: std::process::ExitStatus, complaint: String },
}

impl Hook<'_> {
    pub async fn run(&self) -> Result<(), HookError> {
        let (program, arguments) = self.command.split_first().ok_or(HookError::Empty)?;
        let failed = |source| HookError::Start { program: program.clone(), source };
        let mut command = Command::new(program);
        command.args(arguments).envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn().map_err(failed)?;
        let mut group = Group(child.id());
        let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
        let mut complaint = Vec::new();
        let exchange = async {
            let write = async {
                if let Some(mut stdin) = stdin {
                    // A program may ignore its input.
                    let _ = stdin.write_all(self.input.as_bytes()).await;
                }
            };
            let read = async {
                if let Some(mut stderr) = stderr {
                    let _ = (&mut stderr).take(COMPLAINT_MAX).read_to_end(&mut complaint).await;
                    // The rest is read and dropped, so that no pipe fills up.
                    let _ = tokio::io::copy(&mut stderr, &mut tokio::io::sink()).await;
                }
            };
            tokio::join!(write, read);
        };
        let work = async {
            tokio::pin!(exchange);
            tokio::select! {
                status = child.wait() => {
                    // Whoever still holds the pipes is not the program itself.
                    let _ = tokio::time::timeout(PIPE_GRACE, exchange).await;
                    status
                }
                () = &mut exchange => child.wait().await,
            }
        };
        let ended = tokio::time::timeout(self.limit, work).await;
        let timeout = |_| HookError::Timeout { program: program.clone(), secs: self.limit.as_secs() };
        let status = ended.map_err(timeout)?.map_err(failed)?;
        group.0 = None;
        match status.success() {
            true => Ok(()),
            false => {
                let complaint = String::from_utf8_lossy(&complaint).trim().to_owned();
                Err(HookError::Failed { program: program.clone(), status, complaint })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(script: &str, limit: Duration) -> Result<(), String> {
        let command = ["sh", "-c", script].map(str::to_owned);
        let hook =
            Hook { command: &command, variables: &[("KIND", "stale".to_owned())], input: "crash", limit };
        hook.run().await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_program_gets_the_event_and_its_error_output_is_returned() {
        let patience = Duration::from_secs(30);
        assert_eq!(run("test \"$KIND $(cat)\" = 'stale crash'", patience).await, Ok(()));
        let error = run("cat >/dev/null; echo no >&2; exit 3", patience).await.unwrap_err();
        assert!(error.contains("exit status: 3: no"), "{error}");
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_ended_with_all_it_started() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe").display().to_string();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // Both hold the pipe open, so its end is seen when both are gone.
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        let script = format!("exec 9>{pipe}; sleep 600 & sleep 600");
        let error = run(&script, Duration::from_secs(1)).await.unwrap_err();
        assert!(error.contains("longer than 1 s"), "{error}");
        assert_eq!(tokio::task::spawn_blocking(|| reader.join().unwrap()).await.unwrap(), b"");
    }
}
