//! A server in the background: how it is started, found and stopped.
//!
//! Owns the log in Forge's home. Invariants: the lock of the home decides who serves, so if two start
//! at once, one ends and its starter uses the other; only the process that holds that lock is ever signalled.

use std::ffi::OsString;
use std::fs::{File, Permissions};
use std::io::{IsTerminal, Read, Seek, SeekFrom};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use crate::client::{Client, Whereabouts};
use crate::home::{self, LOGIN_FILE};
use crate::settings::{self, Env};

const START_LIMIT: Duration = Duration::from_secs(20);
const STOP_LIMIT: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(50);
/// A larger log is moved aside at the next start.
const LOG_LIMIT_BYTES: u64 = 8 << 20;
/// Lines of the log that explain a failed start.
const LOG_LINES: usize = 12;

/// A running server, and what is known about it.
pub struct Served {
    pub client: Client,
    pub pid: Option<u32>,
    pub log: PathBuf,
    /// It was already running, or was started elsewhere at the same moment.
    pub found: bool,
}

impl Served {
    /// How to log in, if it requires a token: the link, or where to find it if the output is not a terminal.
    pub fn login(&self, is_shown: bool) -> Option<String> {
        let file = self.log.with_file_name(LOGIN_FILE);
        let link = std::fs::read_to_string(&file).ok().filter(|_| !self.found)?;
        Some(match is_shown {
            true => format!("{} (works once)", link.trim()),
            false => format!("the link in {} (works once)", file.display()),
        })
    }
}

/// A client of the running server; if this machine has none, starts one and reports it.
pub async fn client() -> Result<Client> {
    let client = Client::find()?;
    // A remote server is not started from here; if it is unreachable, the first request reports it.
    if Env::load().get("FORGE_BACKEND_URL").is_some() || client.is_forge().await {
        return Ok(client);
    }
    let mut args = ["serve", "--no-open", "--detached"].map(OsString::from).to_vec();
    if let Some(file) = Env::load().file() {
        args.extend(["--env-file".into(), file.into()]);
    }
    let served = start(args).await?;
    if !served.found {
        eprintln!(
            "forge: no server was running; started one at {} (log: {}); `forge serve --stop` stops it",
            served.client.base(),
            served.log.display()
        );
        if let Some(login) = served.login(std::io::stderr().is_terminal()) {
            eprintln!("forge: log in with {login}");
        }
    }
    Ok(served.client)
}

/// Starts this program with `args` as a server in a session of its own and waits until it responds.
pub async fn start(args: Vec<OsString>) -> Result<Served> {
    let home = settings::home(Env::load())?;
    home::make(&home)?;
    let log = home.join("server.log");
    if let Some(client) = answering(&home).await {
        return Ok(Served { client, pid: read_pid(&home), log, found: true });
    }
    let (file, begin) = open_log(&log)?;
    let exe = std::env::current_exe().context("cannot find this program's own path")?;
    let mut command = Command::new(exe);
    command.args(args).stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mut child = command.spawn().context("cannot start a server")?;
    let begun = Instant::now();
    let mut ended = None;
    loop {
        if let Some(client) = answering(&home).await {
            let pid = read_pid(&home);
            let found = pid != Some(child.id());
            if found {
                // Ours lost the race and waits for the home; it must not take over when the other one ends.
                let _ = child.kill();
                child.wait()?;
            }
            return Ok(Served { client, pid, log, found });
        }
        ended = ended.or(child.try_wait()?);
        // The loser of the race for the home ends, while the winner may need another moment.
        if let Some(status) = ended
            && !home::is_held(&home)
        {
            let tail = tail(&log, begin);
            bail!("the server did not start ({status}); its log, {}, ends with:\n{tail}", log.display());
        }
        if begun.elapsed() > START_LIMIT {
            bail!(
                "the server was started but does not respond after {} s; see {}, try again, or stop it with \
                 `forge serve --stop`",
                START_LIMIT.as_secs(),
                log.display()
            );
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Stops the server of this home and waits until it has released the home. Its agents continue.
pub async fn stop() -> Result<()> {
    let home = settings::home(Env::load())?;
    if !home.is_dir() || !home::is_held(&home) {
        println!("no server is using {}; there is nothing to stop", home.display());
        return Ok(());
    }
    let owner = read_pid(&home).filter(|pid| has_open(*pid, &home.join("lock")));
    let Some(pid) = owner.and_then(|pid| Pid::from_raw(pid.cast_signed())) else {
        bail!(
            "{} is in use, but not by a server with a pid file; stop the command that uses it (perhaps \
             `forge run --standalone`)",
            home.display()
        );
    };
    kill_process(pid, Signal::TERM).with_context(|| format!("cannot stop process {pid}"))?;
    let begun = Instant::now();
    while home::is_held(&home) {
        if begun.elapsed() > STOP_LIMIT {
            bail!("process {pid} was asked to stop {} s ago and is still running", STOP_LIMIT.as_secs());
        }
        tokio::time::sleep(PAUSE).await;
    }
    println!("stopped the server of {} (process {pid}); running agents continue", home.display());
    Ok(())
}

fn read_pid(home: &Path) -> Option<u32> {
    std::fs::read_to_string(home.join("pid")).ok()?.trim().parse().ok()
}

/// The server whose address is noted in this home, if it responds.
async fn answering(home: &Path) -> Option<Client> {
    let client = Client::from(Whereabouts::of_home(Env::load(), home)?);
    client.is_forge().await.then_some(client)
}

/// Whether the process has the file open. If the system does not show that, the held lock must be enough.
fn has_open(pid: u32, file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    if !Path::new("/proc/self/fd").exists() {
        return true;
    }
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|target| target == file)
}

/// The log, open at its end, and where that is.
fn open_log(path: &Path) -> Result<(File, u64)> {
    let failed = || format!("cannot write {}", path.display());
    if std::fs::metadata(path).is_ok_and(|log| log.len() > LOG_LIMIT_BYTES) {
        std::fs::rename(path, path.with_extension("log.old")).with_context(failed)?;
    }
    let file = File::options().create(true).append(true).mode(0o600).open(path).with_context(failed)?;
    // Earlier versions let others read it.
    file.set_permissions(Permissions::from_mode(0o600)).with_context(failed)?;
    let begin = file.metadata().with_context(failed)?.len();
    Ok((file, begin))
}

/// The last lines of what was logged since `begin`.
fn tail(path: &Path, begin: u64) -> String {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(begin))?;
        let mut bytes = Vec::new();
        file.take(LOG_LIMIT_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LOG_LINES)..]
        .iter()
        .map(|line| format!("  {line}\n"))
        .collect::<String>()
        .trim_end()
        .to_owned()
}
