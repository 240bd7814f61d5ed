//! The one place that starts `git`.
//!
//! Owns: the forced options, the cleaned environment, the time and size limits, and the translation of git's failures.
//! Invariant: no call waits or reads without a bound, none asks at a terminal, and no `GIT_*` variable of the caller
//! can point it at another repository. A call on a checkout gets all its directories explicitly, so nothing inside the
//! checkout decides which configuration it reads; hooks are off except for a push and for a new worktree (not for one
//! that is brought back), and no token is in its environment. Reads never take optional locks.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use forge_types::WITHHELD;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio::sync::OnceCell;

use crate::GitError;
use crate::secret::Secret;
use crate::tree::Tree;

const TIME_LIMIT: Duration = Duration::from_secs(120);
const STDOUT_LIMIT: u64 = 256 << 20;
const STDERR_LIMIT: u64 = 64 << 10;
const NEEDED: GitVersion = GitVersion { major: 2, minor: 38, patch: 0 };

const OPTIONS: &[&str] = &[
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "core.filesRefLockTimeout=5000",
    "core.packedRefsTimeout=5000",
    "core.quotePath=false",
    "advice.detachedHead=false",
    "gc.autoDetach=true",
];

/// Variables that would send git to another repository, index, object store or configuration.
const REDIRECTS: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    "GIT_EXTERNAL_DIFF",
    "GIT_DIFF_OPTS",
];

/// Keys of agents, which git does not need.
const AGENT_KEYS: &[&str] = &[
    "COPILOT_GITHUB_TOKEN",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "OPENAI_API_KEY",
];

static SPAWNED: AtomicU64 = AtomicU64::new(0);

/// How many `git` processes this process has started.
pub fn spawned() -> u64 {
    SPAWNED.load(Ordering::Relaxed)
}

/// Whether a call may write to the repository.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// Whether somebody waits for a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Haste {
    Now,
    /// It gets what agents and people leave of the processor.
    Later,
}

/// One call of git, under construction.
pub(crate) struct Git {
    dir: PathBuf,
    access: Access,
    hooks: bool,
    options: Vec<String>,
    args: Vec<OsString>,
    env: Vec<(Cow<'static, str>, OsString)>,
    input: Option<Vec<u8>>,
    time_limit: Duration,
    haste: Haste,
    /// What must be kept until the call has ended.
    held: Option<Secret>,
}

/// The output of git, whatever its exit code.
pub(crate) struct Answer {
    pub code: i32,
    pub stdout: Vec<u8>,
    pub stderr: String,
    command: String,
}

impl Git {
    pub fn read(tree: &Tree) -> Self {
        Self::pinned(tree, Access::Read)
    }

    pub fn write(tree: &Tree) -> Self {
        Self::pinned(tree, Access::Write)
    }

    /// For calls that need no repository, and for finding one from a folder that the user names.
    pub fn anywhere(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            access: Access::Read,
            hooks: false,
            options: Vec::new(),
            args: Vec::new(),
            env: Vec::new(),
            input: None,
            time_limit: TIME_LIMIT,
            haste: Haste::Now,
            held: None,
        }
    }

    fn pinned(tree: &Tree, access: Access) -> Self {
        let env = tree.pins().into_iter().map(|(key, value)| (Cow::Borrowed(key), value.to_owned()));
        Self { access, env: env.collect(), ..Self::anywhere(tree.path()) }
    }

    /// Lets the user's hooks run.
    pub fn with_hooks(mut self) -> Self {
        self.hooks = true;
        self
    }

    pub fn holding(mut self, secret: Secret) -> Self {
        self.held = Some(secret);
        self
    }

    pub fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(mut self, args: I) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// A `-c key=value` for this call only.
    pub fn option(mut self, option: impl Into<String>) -> Self {
        self.options.push(option.into());
        self
    }

    pub fn options(mut self, options: &[String]) -> Self {
        self.options.extend_from_slice(options);
        self
    }

    pub fn env(mut self, key: impl Into<Cow<'static, str>>, value: impl AsRef<OsStr>) -> Self {
        self.env.push((key.into(), value.as_ref().to_owned()));
        self
    }

    pub fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    pub fn haste(mut self, haste: Haste) -> Self {
        self.haste = haste;
        self
    }

    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    fn name(&self) -> String {
        let words = self.args.iter().take(4).map(|arg| arg.to_string_lossy().into_owned());
        words.collect::<Vec<_>>().join(" ")
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.dir);
        for option in OPTIONS {
            command.arg("-c").arg(option);
        }
        if !self.hooks {
            command.arg("-c").arg("core.hooksPath=/dev/null");
        }
        for option in &self.options {
            command.arg("-c").arg(option);
        }
        command.args(&self.args);
        for key in REDIRECTS.iter().chain(&WITHHELD).chain(AGENT_KEYS) {
            command.env_remove(key);
        }
        command.env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").env("GIT_EDITOR", "true");
        if self.access == Access::Read {
            command.env("GIT_OPTIONAL_LOCKS", "0");
        }
        command.envs(self.env.iter().map(|(key, value)| (key.as_ref(), value)));
        command.stdin(if self.input.is_some() { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).process_group(0);
        command
    }

    /// Starts a git that keeps running and is used over its pipes.
    pub fn start(mut self) -> Result<Child, GitError> {
        self.input.get_or_insert_default();
        let mut command = self.command();
        command.stderr(Stdio::null());
        spawn(&mut command, &self.dir)
    }

    /// Runs to the end; a non-zero exit is a result like any other.
    pub async fn answer(&self) -> Result<Answer, GitError> {
        let answer = self.collect(STDOUT_LIMIT).await?;
        if answer.stdout.len() as u64 > STDOUT_LIMIT {
            let stderr = format!("more than {STDOUT_LIMIT} bytes of output in {}", self.dir.display());
            return Err(GitError::Failed { command: self.name(), stderr });
        }
        Ok(answer)
    }

    /// Runs to the end and keeps at most one byte more of its output than `stdout_limit`.
    async fn collect(&self, stdout_limit: u64) -> Result<Answer, GitError> {
        let mut child = spawn(&mut self.command(), &self.dir)?;
        let group = child.id();
        if let (Haste::Later, Some(leader)) = (self.haste, group) {
            forge_os::process::lower_priority(leader);
        }
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let feed = async {
            if let (Some(mut pipe), Some(bytes)) = (stdin, &self.input) {
                // A git that stops reading early reports why in its exit code and stderr.
                let _ = pipe.write_all(bytes).await;
            }
        };
        let work = async {
            let (_, out, err) = tokio::join!(feed, drain(stdout, stdout_limit), drain(stderr, STDERR_LIMIT));
            (out, err, child.wait().await)
        };
        let Ok((out, err, status)) = tokio::time::timeout(self.time_limit, work).await else {
            if let Some(leader) = group {
                forge_os::process::end_group(leader);
            }
            let stderr =
                format!("no answer within {} s in {}", self.time_limit.as_secs(), self.dir.display());
            return Err(GitError::Failed { command: self.name(), stderr });
        };
        let status = status.map_err(GitError::io(&self.dir))?;
        let stderr = String::from_utf8_lossy(&err).trim().to_owned();
        Ok(Answer { code: status.code().unwrap_or(-1), stdout: out, stderr, command: self.name() })
    }

    /// Runs to the end and requires exit code 0.
    pub async fn run(&self) -> Result<Vec<u8>, GitError> {
        let answer = self.answer().await?;
        if answer.code == 0 { Ok(answer.stdout) } else { Err(answer.into_error()) }
    }

    /// Like `run`, but keeps at most one byte more of the output than `limit`.
    pub async fn head(&self, limit: u64) -> Result<Vec<u8>, GitError> {
        let answer = self.collect(limit).await?;
        if answer.code == 0 { Ok(answer.stdout) } else { Err(answer.into_error()) }
    }

    /// The output as one trimmed line.
    pub async fn text(&self) -> Result<String, GitError> {
        let bytes = self.run().await?;
        Ok(String::from_utf8_lossy(&bytes).trim_end_matches('\n').to_owned())
    }

    /// Like `run`, but waits for other processes, as [`Git::answer_patiently`] does.
    pub async fn run_patiently(&self) -> Result<Vec<u8>, GitError> {
        let answer = self.answer_patiently().await?;
        if answer.code == 0 { Ok(answer.stdout) } else { Err(answer.into_error()) }
    }

    /// Like `answer`, but waits for a lock that another process holds (`config.lock` has no time-out in git) and for a
    /// worktree that is being made. Git notices both before it has changed anything.
    pub async fn answer_patiently(&self) -> Result<Answer, GitError> {
        let mut pause_ms = 5;
        for _ in 0..12 {
            let answer = self.answer().await?;
            if answer.code == 0 || !is_lock_failure(&answer.stderr) {
                return Ok(answer);
            }
            tokio::time::sleep(Duration::from_millis(pause_ms)).await;
            pause_ms = (pause_ms * 2).min(1000);
        }
        self.answer().await
    }
}

impl Answer {
    pub fn into_error(self) -> GitError {
        let full = ["No space left on device", "Disk quota exceeded"];
        if full.iter().any(|text| self.stderr.contains(text)) {
            return GitError::DiskFull;
        }
        let stderr = if self.stderr.is_empty() {
            format!("exit code {} {}", self.code, String::from_utf8_lossy(&self.stdout).trim())
        } else {
            self.stderr
        };
        GitError::Failed { command: self.command, stderr }
    }
}

fn spawn(command: &mut Command, dir: &Path) -> Result<Child, GitError> {
    SPAWNED.fetch_add(1, Ordering::Relaxed);
    command.spawn().map_err(|source| match source.kind() {
        // A missing folder causes the same error as a missing program.
        std::io::ErrorKind::NotFound if !dir.exists() => GitError::NoRepository(dir.to_owned()),
        std::io::ErrorKind::NotFound => GitError::NoGit,
        _ => GitError::io(dir)(source),
    })
}

/// Reads to the end but keeps at most one byte more than `limit`, so that the writer never blocks.
async fn drain(pipe: Option<impl AsyncRead + Unpin>, limit: u64) -> Vec<u8> {
    let mut kept = Vec::new();
    if let Some(mut pipe) = pipe {
        let _ = (&mut pipe).take(limit + 1).read_to_end(&mut kept).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
    kept
}

fn is_lock_failure(stderr: &str) -> bool {
    stderr.contains("could not lock config file")
        || (stderr.contains(".lock': File exists") && stderr.contains("Unable to create"))
        // Git reads every worktree entry and fails on one that another git is just writing.
        || (stderr.contains("failed to read") && stderr.contains("commondir"))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GitVersion {
    pub major: u32,
    pub minor: u32,
    pub patch: u32,
}

impl std::fmt::Display for GitVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

impl GitVersion {
    fn parse(text: &str) -> Option<Self> {
        let word = text.split_whitespace().nth(2)?;
        let mut numbers = word.split('.').map(|part| part.parse().ok());
        let (major, minor) = (numbers.next()??, numbers.next()??);
        Some(Self { major, minor, patch: numbers.next().flatten().unwrap_or(0) })
    }
}

/// The version of the installed git; an error when it is missing or too old. Determined once per process.
pub async fn check_git() -> Result<GitVersion, GitError> {
    static VERSION: OnceCell<GitVersion> = OnceCell::const_new();
    VERSION
        .get_or_try_init(|| async {
            let text = Git::anywhere(Path::new("/")).args(["--version"]).text().await?;
            match GitVersion::parse(&text) {
                Some(version) if version >= NEEDED => Ok(version),
                found => {
                    let found = found.map_or(text, |version| version.to_string());
                    Err(GitError::TooOld { found, needed: format!("{}.{}", NEEDED.major, NEEDED.minor) })
                }
            }
        })
        .await
        .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_token_of_the_server_is_in_the_environment_of_git() {
        let command = Git::anywhere(Path::new("/")).command();
        let removed: Vec<_> =
            command.as_std().get_envs().filter(|(_, value)| value.is_none()).map(|(key, _)| key).collect();
        for key in ["FORGE_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "GITEA_TOKEN", "GIT_DIR"] {
            assert!(removed.contains(&OsStr::new(key)), "{key}");
        }
    }

    #[test]
    fn versions_of_every_vendor_are_read() {
        let cases = [
            ("git version 2.47.3", Some((2, 47, 3))),
            ("git version 2.39.5 (Apple Git-154)", Some((2, 39, 5))),
            ("git version 2.50.0.windows.1", Some((2, 50, 0))),
            ("git version 2.51.GIT", Some((2, 51, 0))),
            ("nonsense", None),
        ];
        for (text, want) in cases {
            let want = want.map(|(major, minor, patch)| GitVersion { major, minor, patch });
            assert_eq!(GitVersion::parse(text), want, "{text}");
        }
    }

    #[test]
    fn a_full_disk_is_recognised() {
        let stderr = "error: unable to write file f: No space left on device".to_owned();
        let answer = Answer { code: 128, stdout: Vec::new(), stderr, command: "add".into() };
        assert!(matches!(answer.into_error(), GitError::DiskFull));
    }
}
