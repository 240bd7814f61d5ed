//! Forge's own needs and the machine it runs on.
//!
//! Invariant: read-only; whether something is writable is asked of the system, not tried.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use forge_os::private::{Others, look_private};
use forge_run::agents::Tool;
use forge_types::wire::Ready;
use rustix::fs::Access;
use serde_json::json;

use super::check::{Check, Status};
use crate::client::Client;
use crate::port as ports;
use crate::settings::{self, Base, Env};

const LEAST_FREE_BYTES: u64 = 1 << 30;
const LEAST_WATCHES: u64 = 65_536;
const SQLITE_MAGIC: &[u8] = b"SQLite format 3\0";

pub async fn git() -> Check {
    match forge_git::check_git().await {
        Ok(version) => Check::new("git", Status::Ok, version.to_string()).must(),
        Err(error) => Check::new("git", Status::Missing, error.to_string()).must(),
    }
}

/// A program besides git and the agents; some are not shown.
pub fn tool(tool: &Tool, packager: Option<&str>) -> Option<Check> {
    let (package, purpose) = match tool.name {
        "tmux" => ("tmux", "to keep agents in view in a terminal"),
        "node" => ("nodejs", "runs most agents"),
        "npx" => ("npm", "runs agents that are not installed"),
        _ => return None,
    };
    let check = match (&tool.file, &tool.version) {
        (Some(_), Some(version)) => Check::new(tool.name, Status::Ok, version.clone()),
        (Some(file), None) => {
            let detail = format!("{} does not report its version", file.display());
            Check::new(tool.name, Status::Warning, detail)
        }
        (None, _) => Check::new(tool.name, Status::Missing, format!("not installed; {purpose}")),
    };
    let check = if tool.file.is_none() { check.or_install(package, packager) } else { check };
    Some(check.facts(json!({"version": tool.version, "path": tool.file})))
}

pub async fn server() -> Check {
    let name = "server";
    let client = match Client::find() {
        Ok(client) => client,
        Err(error) => return Check::new(name, Status::Warning, format!("{error:#}")),
    };
    match client.ready().await {
        Some(Ready { version, .. }) => {
            let facts = json!({"address": client.base(), "version": version});
            Check::new(name, Status::Ok, format!("{version} at {}", client.base())).facts(facts)
        }
        None => Check::new(name, Status::Warning, format!("not running (tried {})", client.base()))
            .fix("forge serve"),
    }
}

/// The port that `forge serve` would take.
pub async fn port(env: &Env) -> Check {
    let port = settings::port(None, env);
    let name = "port";
    let address = (IpAddr::V4(Ipv4Addr::LOCALHOST), port);
    if tokio::net::TcpListener::bind(address).await.is_ok() {
        return Check::new(name, Status::Ok, format!("{port} is free"));
    }
    let owner = ports::owner_of(port).map(|(pid, name)| format!("process {pid} ({name})"));
    let owner = owner.unwrap_or_else(|| "another process".to_owned());
    match ports::is_forge(port).await {
        true => Check::new(name, Status::Ok, format!("{port} is used by Forge, {owner}")),
        false => Check::new(name, Status::Warning, format!("{port} is taken by {owner}"))
            .fix("forge serve --port 0"),
    }
}

/// Who can use the API on this machine without a token.
pub fn loopback(probed: std::io::Result<()>) -> Check {
    let name = "loopback";
    match probed {
        Ok(()) => Check::new(name, Status::Ok, "open only to your own processes; others need the token"),
        Err(error) => Check::new(
            name,
            Status::Warning,
            format!("open to every user of this machine: the system does not report the user of a connection ({error})"),
        )
        .fix("forge serve --require-token"),
    }
}

pub fn home(home: &Path) -> Check {
    let place = nearest(home);
    if place == home
        && let Some(untrusted) =
            home.canonicalize().ok().and_then(|real| look_private(&real, Others::Nothing).err())
    {
        return Check::new("home", Status::Missing, untrusted.to_string())
            .fix("export FORGE_HOME=<a folder of your own>")
            .must();
    }
    let able = if place.is_dir() { may_write(&place) } else { Err(rustix::io::Errno::NOTDIR) };
    match able {
        Ok(()) if place == home => Check::new("home", Status::Ok, home.display().to_string()),
        Ok(()) => Check::new("home", Status::Ok, format!("{} (not created yet)", home.display())),
        Err(error) => {
            let detail = format!("{}: cannot write to {}: {error}", home.display(), place.display());
            Check::new("home", Status::Missing, detail)
                .fix("export FORGE_HOME=<a folder that you can write to>")
        }
    }
    .must()
}

/// Where worktrees are created, and why there.
pub fn worktrees(base: &anyhow::Result<Base>) -> Check {
    let name = "worktrees";
    match base {
        Ok(Base { path, why }) => {
            let why_here = why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
            let detail = format!("{}{why_here}", path.display());
            Check::new(name, Status::Ok, detail).facts(json!({"path": path, "why": why}))
        }
        Err(error) => Check::new(name, Status::Missing, format!("{:#}", error))
            .fix("export FORGE_WORKTREE_DIR=<a folder of your own>")
            .must(),
    }
}

pub fn database(file: &Path) -> Check {
    let name = "database";
    let shown = file.display();
    if !file.exists() {
        return Check::new(name, Status::Ok, format!("{shown} (not created yet)"));
    }
    if let Err(error) = may_write(file) {
        return Check::new(name, Status::Missing, format!("cannot write to {shown}: {error}"))
            .fix(format!("chmod u+rw {shown}"))
            .must();
    }
    match begins_with(file, SQLITE_MAGIC) {
        true => Check::new(name, Status::Ok, shown.to_string()),
        false => Check::new(name, Status::Missing, format!("{shown} is not an SQLite database"))
            .fix(format!("mv {shown} {shown}.broken"))
            .must(),
    }
}

/// An empty file counts: it becomes a database.
fn begins_with(file: &Path, magic: &[u8]) -> bool {
    use std::io::Read;
    let mut start = Vec::new();
    let read =
        std::fs::File::open(file).and_then(|file| file.take(magic.len() as u64).read_to_end(&mut start));
    read.is_ok() && (start.is_empty() || start == magic)
}

pub fn disk(name: &str, folder: &Path) -> Check {
    let place = nearest(folder);
    let free = forge_os::free_bytes(&place);
    let detail = format!("{:.1} GiB free at {}", free as f64 / f64::from(1 << 30), place.display());
    let facts = json!({"free_bytes": free});
    match free < LEAST_FREE_BYTES {
        true => Check::new(name, Status::Warning, detail).fix("forge worktree gc").facts(facts),
        false => Check::new(name, Status::Ok, detail).facts(facts),
    }
}

/// What agents can sandbox themselves with.
pub fn sandbox(tools: &[Tool], packager: Option<&str>) -> Check {
    let name = "sandbox";
    if !cfg!(target_os = "linux") {
        return Check::new(name, Status::Ok, "by the system");
    }
    let namespaces = user_namespaces();
    let lsm = std::fs::read_to_string("/sys/kernel/security/lsm").ok();
    let landlock = lsm.as_deref().map(|list| list.split(',').any(|name| name.trim() == "landlock"));
    let bubblewrap = tools.iter().find(|tool| tool.name == "bwrap").and_then(|tool| tool.file.as_ref());
    let words = |known: Option<bool>| match known {
        Some(true) => "yes",
        Some(false) => "no",
        None => "unknown",
    };
    let detail = format!(
        "user namespaces {}, Landlock {}, bubblewrap {}",
        words(Some(namespaces)),
        words(landlock),
        if bubblewrap.is_some() { "installed" } else { "not installed" },
    );
    let facts =
        json!({"user_namespaces": namespaces, "landlock": landlock, "bubblewrap": bubblewrap.is_some()});
    let check = match (namespaces, landlock, bubblewrap) {
        (_, Some(true), _) | (true, _, Some(_)) => Check::new(name, Status::Ok, detail),
        (true, _, None) => Check::new(name, Status::Warning, detail).or_install("bubblewrap", packager),
        (false, ..) => Check::new(name, Status::Warning, detail)
            .fix("sudo sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=65536"),
    };
    check.facts(facts)
}

/// Whether unprivileged users can create them: no kernel setting forbids it.
fn user_namespaces() -> bool {
    let number = |path: &str| read_number(Path::new(path));
    number("/proc/sys/user/max_user_namespaces").is_some_and(|most| most > 0)
        && number("/proc/sys/kernel/unprivileged_userns_clone") != Some(0)
        && number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns").unwrap_or(0) == 0
}

/// Every worktree on display is watched, one watch per directory.
pub fn watches() -> Check {
    let name = "file watches";
    let Some(most) = read_number(Path::new("/proc/sys/fs/inotify/max_user_watches")) else {
        return Check::new(name, Status::Ok, "no limit known");
    };
    let check = match most < LEAST_WATCHES {
        true => Check::new(name, Status::Warning, format!("{most} at most; large worktrees need more"))
            .fix("sudo sysctl fs.inotify.max_user_watches=524288"),
        false => Check::new(name, Status::Ok, format!("{most} at most")),
    };
    check.facts(json!({"max_user_watches": most}))
}

fn read_number(path: &Path) -> Option<u64> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The folder itself, or its nearest existing parent.
fn nearest(path: &Path) -> PathBuf {
    path.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/")).to_owned()
}

fn may_write(path: &Path) -> Result<(), rustix::io::Errno> {
    let wanted =
        if path.is_dir() { Access::WRITE_OK | Access::EXEC_OK } else { Access::WRITE_OK | Access::READ_OK };
    rustix::fs::access(path, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_folder_is_judged_by_its_nearest_parent() {
        assert_eq!(nearest(Path::new("/nowhere/at/all")), Path::new("/"));
        assert_eq!(nearest(Path::new("/")), Path::new("/"));
    }

    #[test]
    fn a_system_that_reports_no_users_gets_advice() {
        let object = |probed| loopback(probed).object("forge");
        assert_eq!(object(Ok(()))["status"], "ok");
        let warning = object(Err(std::io::ErrorKind::Unsupported.into()));
        assert_eq!(
            (&warning["status"], &warning["fix"]),
            (&json!("warning"), &json!("forge serve --require-token"))
        );
    }

    #[test]
    fn only_a_database_is_taken_for_one() {
        let file = std::env::temp_dir().join(format!("forge-doctor-{}", std::process::id()));
        for (bytes, want) in [(&b""[..], true), (SQLITE_MAGIC, true), (b"hello, this is text", false)] {
            std::fs::write(&file, bytes).unwrap();
            assert_eq!(begins_with(&file, SQLITE_MAGIC), want);
        }
        std::fs::remove_file(&file).unwrap();
    }
}
