//! The one fixture of the cross-process tests: a real `forge` server with a home, a worktree base and repositories of
//! its own in a temporary folder.
//!
//! Invariant: when a [`TestForge`] goes, so does every process it caused, by pid; nothing else is ever signalled.

pub mod chaos;
mod code_host;
mod http;
mod mcp;
pub mod model;
mod proxy;
mod rng;
mod socket;
mod task;
mod terminal;
mod wait;

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

pub use code_host::{CodeHost, Dialect, Seen};
pub use http::{Answer, ask, client};
pub use mcp::last_message;
pub use proxy::{Proxy, Treatment};
pub use rng::Rng;
pub use socket::Socket;
pub use task::{NewTask, Started};
pub use terminal::Terminal;
pub use wait::{Look, PATIENCE, await_file, eventually, pid_in, until_exists};

/// Beginnings and names of variables of whoever runs the tests that no program under test may see.
const FOREIGN: [&str; 8] = ["FORGE_", "XDG_", "GIT_", "GH_", "GITHUB_", "GITLAB_", "GITEA_", "FORGEJO_"];
const FOREIGN_NAMES: [&str; 5] = ["BACKEND_PORT", "HOST", "DATABASE_URL", "PUBLIC_BASE_URL", "AUTH_REQUIRED"];

pub struct TestForge {
    dir: TempDir,
    args: Vec<String>,
    env: Vec<(String, String)>,
    server: Option<Child>,
    client: forge_client::Client,
}

impl TestForge {
    /// A running server on a free loopback port.
    pub async fn start() -> Self {
        Self::with(&[], &[]).await
    }

    pub async fn with(args: &[&str], env: &[(&str, &str)]) -> Self {
        Self::with_settings(args, env, &Value::Null).await
    }

    /// With a `config.json` that is there before the server is.
    pub async fn with_settings(args: &[&str], env: &[(&str, &str)], settings: &Value) -> Self {
        let owned = |text: &str| text.to_owned();
        let mut forge = Self {
            dir: TempDir::new().expect("a temporary folder"),
            args: args.iter().map(|arg| owned(arg)).collect(),
            env: env.iter().map(|(key, value)| (owned(key), owned(value))).collect(),
            server: None,
            client: forge_client::Client::over(client(), "", None),
        };
        if !settings.is_null() {
            std::fs::create_dir_all(forge.home()).expect("a home");
            std::fs::write(forge.home().join("config.json"), settings.to_string()).expect("settings");
        }
        forge.up().await;
        forge
    }

    /// Starts the server, again if need be, on the same home.
    pub async fn up(&mut self) {
        self.launch();
        self.ready().await;
    }

    /// Starts the server and waits for nothing.
    pub fn launch(&mut self) {
        assert!(self.server.is_none(), "it is running already");
        let _ = std::fs::remove_file(self.home().join("port"));
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.dir.path().join("log"));
        let mut command = self.command();
        command.args(["serve", "--port", "0"]).args(&self.args);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("a log file"));
        self.server = Some(command.spawn().expect("the forge program; build it with `cargo build -p forge`"));
    }

    /// Waits until a launched server answers.
    pub async fn ready(&mut self) {
        let (file, log) = (self.home().join("port"), self.dir.path().join("log"));
        let server = self.server.as_mut().expect("a launched server");
        let port = eventually("the server has started", || {
            let has_ended = server.try_wait().expect("wait").is_some();
            assert!(!has_ended, "the server did not start:\n{}", read(&log));
            Some(read(&file)).filter(|port| !port.is_empty()).ok_or_else(|| read(&log))
        });
        let port = port.await;
        self.reach(format!("http://127.0.0.1:{port}"));
    }

    /// Leaves the folder where it is when the fixture goes, for people to look at.
    pub fn keep_folder(&mut self) -> PathBuf {
        self.dir.disable_cleanup(true);
        self.dir.path().to_owned()
    }

    /// The program with this fixture's surroundings.
    pub fn command(&self) -> Command {
        let mut command = Command::new(forge_exe());
        command.current_dir(self.dir.path());
        for (key, _) in std::env::vars_os() {
            let name = key.to_string_lossy();
            if FOREIGN.iter().any(|begin| name.starts_with(begin)) || FOREIGN_NAMES.contains(&&*name) {
                command.env_remove(key);
            }
        }
        command.env("FORGE_HOME", self.home()).env("FORGE_WORKTREE_DIR", self.worktrees());
        command.env("HOME", self.dir.path()).env("TMPDIR", self.dir.path());
        command.env("DISABLE_BROWSER_OPEN", "1").env("RUST_LOG", "info");
        // A server that a command starts by itself takes a free port, and none is looked for elsewhere.
        command.env("PORT", "0");
        command.env("GH_CONFIG_DIR", self.dir.path().join("gh"));
        command.envs(self.env.iter().map(|(key, value)| (key, value)));
        command
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn worktrees(&self) -> PathBuf {
        self.dir.path().join("worktrees")
    }

    pub fn base(&self) -> &str {
        self.client.base()
    }

    /// Asks it at another of its addresses from now on.
    pub fn reach(&mut self, base: String) {
        self.client = self.client.at(&base, None);
    }

    /// What the server wrote to standard error so far.
    pub fn log(&self) -> String {
        read(&self.dir.path().join("log"))
    }

    pub fn server_pid(&self) -> u32 {
        self.server.as_ref().expect("a running server").id()
    }

    /// `kill -9`, as a crash would.
    pub fn crash(&mut self) {
        let mut server = self.server.take().expect("a running server");
        server.kill().expect("kill");
        server.wait().expect("wait");
    }

    /// SIGTERM, and how long the server took to go.
    pub async fn terminate(&mut self) -> Duration {
        let mut server = self.server.take().expect("a running server");
        let begun = Instant::now();
        signal(server.id(), Signal::TERM);
        eventually("the server has stopped", || server.try_wait().expect("wait")).await;
        begun.elapsed()
    }

    /// A git repository with one commit on `main`.
    pub fn repository(&self, name: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(&path).expect("mkdir");
        git(&path, &["init", "-q", "-b", "main"]);
        git(&path, &["config", "user.name", "Tester"]);
        git(&path, &["config", "user.email", "tester@localhost"]);
        std::fs::write(path.join("README.md"), "# test\n").expect("write");
        git(&path, &["add", "."]);
        git(&path, &["commit", "-q", "-m", "Begin"]);
        path.canonicalize().expect("real path")
    }

    /// A project over a new repository.
    pub async fn project(&self, name: &str) -> (String, PathBuf) {
        let repo = self.repository(name);
        let body = json!({"name": name, "git_repo_path": repo, "use_existing_repo": true});
        let project = self.post("/api/projects", &body).await.data();
        (text(&project["id"]), repo)
    }

    /// The runs of an attempt, oldest first.
    pub async fn runs(&self, attempt: &str) -> Vec<Value> {
        let runs = self.get(&format!("/api/execution-processes?task_attempt_id={attempt}")).await.data();
        runs.as_array().expect("a list").clone()
    }

    /// Waits until no run of the attempt is running and returns them.
    pub async fn settled(&self, attempt: &str) -> Vec<Value> {
        let look = || async {
            let runs = self.runs(attempt).await;
            let are_over = !runs.is_empty() && runs.iter().all(|run| run["status"] != "running");
            if are_over { Ok(runs) } else { Err(runs) }
        };
        self.eventually("no run is running", look).await
    }

    /// Waits for a condition on the answer of a GET.
    pub async fn until(&self, path: &str, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
        let look = || async {
            let data = self.get(path).await.data();
            if holds(&data) { Ok(data) } else { Err(data) }
        };
        self.eventually(what, look).await
    }

    /// The state of a run's keeper, as it is in the folder of the run.
    pub fn keeper_state(&self, run: &str) -> Value {
        serde_json::from_str(&read(&self.home().join("runs").join(run).join("state.json")))
            .unwrap_or_default()
    }

    /// Everything a run printed, as the raw-log stream has it.
    pub async fn raw_log(&self, run: &str) -> String {
        let mut socket = self.socket(&format!("/api/execution-processes/{run}/raw-logs/ws")).await;
        let frames = socket.until_closed().await;
        patches(&frames).iter().map(|op| text(&op["value"]["content"])).collect()
    }

    /// The readable log of a run, once it has ended.
    pub async fn entries(&self, run: &str) -> Vec<Value> {
        let mut socket = self.socket(&format!("/api/execution-processes/{run}/normalized-logs/ws")).await;
        let mut entries: Vec<Value> = Vec::new();
        for op in patches(&socket.until_closed().await) {
            let place = op["path"].as_str().and_then(|path| path.rsplit('/').next()?.parse::<usize>().ok());
            let place = place.expect("the path of an entry");
            entries.resize(entries.len().max(place + 1), Value::Null);
            entries[place] = op["value"]["content"].clone();
        }
        entries
    }

    /// Waits until the readable log of a living run holds `text`.
    pub async fn until_said(&self, run: &str, text: &str) {
        let mut socket = self.socket(&format!("/api/execution-processes/{run}/normalized-logs/ws")).await;
        while let Some(frame) = socket.next().await {
            if frame.to_string().contains(text) {
                return;
            }
        }
        panic!("run {run} ended without saying {text:?}");
    }

    /// The server that a command started in the background and that holds this home, if there is one.
    pub fn background_pid(&self) -> Option<u32> {
        let pid = std::fs::read_to_string(self.home().join("pid")).ok()?.trim().parse().ok()?;
        let lock = self.home().join("lock").canonicalize().ok()?;
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).ok()?.flatten();
        let mut open = files.filter_map(|file| std::fs::read_link(file.path()).ok());
        open.any(|file| file == lock).then_some(pid)
    }

    /// Ends the server if there is one.
    pub fn end_server(&mut self) {
        if let Some(mut server) = self.server.take() {
            let _ = server.kill();
            let _ = server.wait();
        }
    }

    fn end_keepers(&self) {
        for entry in std::fs::read_dir(self.home().join("runs")).into_iter().flatten().flatten() {
            let state = self.keeper_state(&entry.file_name().to_string_lossy());
            let keeper = state["keeper"]["pid"].as_u64().filter(|_| state["phase"] != "ended");
            if let Some(pid) = keeper.filter(|pid| is_keeper(*pid as u32, &entry.path())) {
                signal(pid as u32, Signal::TERM);
            }
        }
    }
}

impl Drop for TestForge {
    fn drop(&mut self) {
        self.end_server();
        if let Some(pid) = self.background_pid() {
            signal(pid, Signal::KILL);
        }
        self.end_keepers();
    }
}

/// Whether the process is the keeper of that run directory, and not a stranger with a reused pid.
fn is_keeper(pid: u32, dir: &Path) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).contains(&*dir.to_string_lossy())
}

pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _ = kill_process(pid, signal);
    }
}

pub fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

/// The program under test, beside the test's own executable.
pub fn forge_exe() -> PathBuf {
    beside("forge")
}

/// A program of this workspace, built with the profile of the one that asks: `target/<profile>/<name>`.
pub fn beside(name: &str) -> PathBuf {
    let exe = std::env::current_exe().expect("own path");
    let own = exe.parent().expect("a folder");
    // Tests lie one folder deeper than programs.
    let folder = if own.ends_with("deps") { own.parent().expect("target/<profile>") } else { own };
    folder.join(name)
}

/// Runs a command to its end; one that has none fails the test.
pub async fn output(command: Command) -> Output {
    let mut command = tokio::process::Command::from(command);
    let ended = command.kill_on_drop(true).output();
    tokio::time::timeout(PATIENCE, ended).await.expect("it does not end").expect("the program")
}

/// Runs git as a user would and answers what it printed.
pub fn git(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("git").arg("-C").arg(dir).args(args).output().expect("git");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {args:?} in {}: {error}", dir.display());
    String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
}

/// Changes a file of a repository and commits everything there.
pub fn commit(dir: &Path, file: &str, content: &str) {
    std::fs::write(dir.join(file), content).expect("a file");
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-qm", &format!("change {file}")]);
}

/// What a command printed to standard output.
pub fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What a command printed to standard error.
pub fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A script that can be run.
pub fn make_program(path: &Path, script: impl AsRef<[u8]>) {
    std::fs::write(path, script).expect("a program");
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).expect("a mode");
}

/// Everything that a command printed.
pub fn words(output: &Output) -> String {
    out(output) + &err(output)
}

/// The text of a file; nothing while it is not there.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The patches of a stream, in whichever frames they came.
pub fn patches(frames: &[Value]) -> Vec<Value> {
    frames.iter().flat_map(|frame| frame["JsonPatch"].as_array().cloned().unwrap_or_default()).collect()
}

pub fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
