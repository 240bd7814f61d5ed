//! One run of a beads program.
//!
//! Owns the child from start to end. Invariant: no shell, nothing on standard input, `BEADS_DIR` always set to the one
//! directory, every run has a time limit, and a run that times out or is dropped ends with its whole process group.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use forge_types::WITHHELD;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::Command;

use super::error::BeadsError;
use crate::group::Group;

const READ_LIMIT: Duration = Duration::from_secs(10);
const WRITE_LIMIT: Duration = Duration::from_secs(30);
/// How long to wait for output after the exit: a daemon that was started may hold the pipes open forever.
const PIPE_GRACE: Duration = Duration::from_millis(500);
const STDOUT_MAX: u64 = 256 << 20;
const STDERR_MAX: u64 = 1 << 20;

#[derive(Debug)]
pub(super) struct Call {
    program: PathBuf,
    dir: PathBuf,
    args: Vec<OsString>,
    env: Vec<(&'static str, OsString)>,
    limit: Duration,
}

/// The result of a run.
#[derive(Debug)]
pub(super) struct Answer {
    pub command: String,
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: String,
}

impl Call {
    pub(super) fn read(program: &Path, beads_dir: &Path) -> Self {
        Self::new(program, beads_dir, READ_LIMIT)
    }

    pub(super) fn write(program: &Path, beads_dir: &Path, actor: &str) -> Self {
        let call = Self::new(program, beads_dir, WRITE_LIMIT);
        call.env("BEADS_ACTOR", actor).arg(format!("--actor={actor}"))
    }

    fn new(program: &Path, beads_dir: &Path, limit: Duration) -> Self {
        let dir = beads_dir.parent().unwrap_or(beads_dir).to_owned();
        let env = vec![("BEADS_DIR", beads_dir.into())];
        Self { program: program.to_owned(), dir, args: vec!["--json".into()], env, limit }
    }

    pub(super) fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    pub(super) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    pub(super) fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Puts the verb in front of the flags, for messages and for tools that want it first.
    pub(super) fn verb(mut self, words: &[&str]) -> Self {
        self.args.splice(0..0, words.iter().map(OsString::from));
        self
    }

    pub(super) async fn run(&self) -> Result<Answer, BeadsError> {
        let mut command = Command::new(&self.program);
        command.args(&self.args).current_dir(&self.dir);
        // It runs in a folder that agents write to.
        for name in WITHHELD {
            command.env_remove(name);
        }
        // The first two would redirect the call; the third is an old name of the actor variable.
        command.env_remove("BEADS_DB").env_remove("BD_DB").env_remove("BD_ACTOR");
        command.env("NO_COLOR", "1").env("BEADS_NO_DAEMON", "1").envs(self.env.iter().cloned());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.process_group(0).kill_on_drop(true).spawn().map_err(|source| {
            let why = format!("it cannot be started: {source}");
            BeadsError::Program { command: self.name(), why }
        })?;
        let mut group = Group(child.id());
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let work = async {
            let pipes = async {
                tokio::join!(drain(stdout, STDOUT_MAX, &mut out), drain(stderr, STDERR_MAX, &mut err));
            };
            tokio::pin!(pipes);
            tokio::select! {
                () = &mut pipes => {
                    let status = child.wait().await;
                    group.0 = None;
                    status
                }
                status = child.wait() => {
                    group.0 = None;
                    // Whoever still holds the pipes is not the program that was called.
                    let _ = tokio::time::timeout(PIPE_GRACE, pipes).await;
                    status
                }
            }
        };
        let status = tokio::time::timeout(self.limit, work).await;
        let status = status
            .map_err(|_| BeadsError::TimedOut { command: self.name(), seconds: self.limit.as_secs() })?;
        let status = status.map_err(BeadsError::io(&self.program))?;
        if out.len() as u64 > STDOUT_MAX {
            let why = format!("it printed more than {STDOUT_MAX} bytes");
            return Err(BeadsError::Program { command: self.name(), why });
        }
        let stderr = String::from_utf8_lossy(&err).trim().to_owned();
        Ok(Answer { command: self.name(), code: status.code(), stdout: out, stderr })
    }

    /// Program and verb; the rest may be long.
    fn name(&self) -> String {
        let program =
            self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy().into_owned();
        let words = self.args.iter().map(|arg| arg.to_string_lossy());
        let words = words.take_while(|arg| !arg.starts_with('-')).map(|word| word.into_owned());
        std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
    }
}

async fn drain(pipe: Option<impl AsyncRead + Unpin>, max: u64, into: &mut Vec<u8>) {
    if let Some(pipe) = pipe {
        // Reads one byte more than allowed, to detect that there was more. A broken pipe counts as the end.
        let _ = pipe.take(max + 1).read_to_end(into).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::beads::lock::Lock;
    use std::os::unix::fs::PermissionsExt;

    fn script(dir: &Path, body: &str) -> PathBuf {
        let path = dir.join("bd");
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    }

    #[tokio::test]
    async fn a_program_that_hangs_is_ended_with_all_it_started() {
        let dir = tempfile::tempdir().unwrap();
        // Both hold the lock, so it is free only when both are gone.
        let path = script(dir.path(), "exec 9>\"$BEADS_DIR/.write.lock\"; flock 9; sleep 600 & sleep 600");
        let call = Call::read(&path, dir.path()).limit(Duration::from_secs(1)).verb(&["list"]);
        let error = call.run().await.unwrap_err().to_string();
        assert!(error.contains("`bd list`"), "{error}");
        Lock::take(dir.path()).unwrap();
    }

    #[tokio::test]
    async fn a_call_that_is_given_up_ends_its_program() {
        let dir = tempfile::tempdir().unwrap();
        let path = script(dir.path(), "exec 9>\"$BEADS_DIR/.write.lock\"; flock 9; sleep 600 & sleep 600");
        let call = Call::read(&path, dir.path()).limit(Duration::from_secs(60));
        assert!(tokio::time::timeout(Duration::from_secs(1), call.run()).await.is_err());
        Lock::take(dir.path()).unwrap();
    }

    #[tokio::test]
    async fn much_output_does_not_stop_a_program() {
        let dir = tempfile::tempdir().unwrap();
        let path = script(dir.path(), "head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2; exit 3");
        let answer = Call::read(&path, dir.path()).run().await.unwrap();
        assert_eq!((answer.stdout.len(), answer.code), (3_000_000, Some(3)));
    }

    #[tokio::test]
    async fn something_left_behind_does_not_hold_up_the_answer() {
        let dir = tempfile::tempdir().unwrap();
        let path = script(dir.path(), "echo '[]'; sleep 40 & exit 0");
        let answer = Call::read(&path, dir.path()).limit(Duration::from_secs(30)).run().await.unwrap();
        assert_eq!(answer.stdout, b"[]\n");
    }
}
