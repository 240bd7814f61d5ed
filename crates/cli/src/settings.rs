//! Where settings come from: a flag, else the environment, else a file of variables, else the default.

mod base;
mod env;

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use forge_core::{Config, Online, Pages};

use crate::command::serve::Flags;
pub use base::Base;
pub use env::Env;

pub const DEFAULT_PORT: u16 = 8887;
const DEFAULT_SPARES: usize = 3;
const DEFAULT_EXPIRY_H: u64 = 72;

/// The folder for all of Forge's data: `FORGE_HOME`, else `~/.forge`.
pub fn home(env: &Env) -> Result<PathBuf> {
    if let Some(home) = env.get("FORGE_HOME") {
        return Ok(std::path::absolute(home)?);
    }
    let home =
        etcetera::home_dir().context("no home directory; set FORGE_HOME to the folder for Forge's data")?;
    Ok(home.join(".forge"))
}

/// `--port`, then `BACKEND_PORT`, then `PORT`; 0 lets the system choose. Not a number: the default.
pub fn port(flag: Option<u16>, env: &Env) -> u16 {
    let variable = |key: &str| env.get(key).and_then(|text| text.parse().ok());
    flag.or_else(|| variable("BACKEND_PORT")).or_else(|| variable("PORT")).unwrap_or(DEFAULT_PORT)
}

/// `--host`, then `HOST`; only an address of this machine can be bound, so names are refused.
pub fn host(flag: Option<IpAddr>, env: &Env) -> IpAddr {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    if let Some(host) = flag {
        return host;
    }
    match env.get("HOST").map(|text| (text.parse(), text)) {
        Some((Ok(host), _)) => host,
        Some((Err(_), text)) => {
            eprintln!("forge: HOST: '{text}' is not an IP address; listening on {loopback}");
            loopback
        }
        None => loopback,
    }
}

pub fn config(flags: &Flags, env: &Env, home: PathBuf) -> Result<Config> {
    let database = database(env, &home)?;
    let Base { path: worktree_base, why } = worktree_base(flags, env, &home)?;
    if let Some(why) = why {
        tracing::warn!(base = %worktree_base.display(), why, "worktrees are not created in the usual folder");
    }
    Ok(Config {
        worktree_base,
        database,
        home,
        exe: std::env::current_exe().context("cannot find this program's own path")?,
        branch_prefix: env.get("FORGE_BRANCH_PREFIX"),
        public_url: env.get("PUBLIC_BASE_URL").unwrap_or_default(),
        backend_url: String::new(),
        workspaces: workspaces(env)?,
        spares: flags.spares.or(env.number("FORGE_SPARES")?).unwrap_or(DEFAULT_SPARES),
        time_limit_s: flags.time_limit_s.or(env.number("FORGE_TIME_LIMIT_S")?),
        silence_limit_s: flags.silence_limit_s.or(env.number("FORGE_SILENCE_LIMIT_S")?),
        approval_limit_s: flags.approval_limit_s.or(env.number("FORGE_APPROVAL_LIMIT_S")?).unwrap_or(3600),
        expiry_h: flags.expiry_h.or(env.number("FORGE_EXPIRY_H")?).unwrap_or(DEFAULT_EXPIRY_H),
        online: online(flags, env)?,
    })
}

/// `FORGE_WORKSPACES`: folders with beads, separated like those of `PATH`.
pub fn workspaces(env: &Env) -> Result<Vec<PathBuf>> {
    let listed = env.get("FORGE_WORKSPACES").unwrap_or_default();
    let folders = std::env::split_paths(&listed).filter(|folder| !folder.as_os_str().is_empty());
    folders.map(|folder| Ok(std::path::absolute(folder)?)).collect()
}

fn online(flags: &Flags, env: &Env) -> Result<Online> {
    let usual = Online::default();
    Ok(Online {
        github_client_id: env.get("GITHUB_CLIENT_ID"),
        pull_poll_s: env.number("FORGE_PR_POLL_S")?.unwrap_or(usual.pull_poll_s),
        pages: if flags.no_open || env.has("DISABLE_BROWSER_OPEN") { Pages::Leave } else { Pages::Open },
    })
}

/// `DATABASE_URL`, else `db.sqlite` in the home.
pub fn database(env: &Env, home: &Path) -> Result<PathBuf> {
    match env.get("DATABASE_URL") {
        Some(url) => database_path(&url),
        None => Ok(home.join("db.sqlite")),
    }
}

fn database_path(url: &str) -> Result<PathBuf> {
    let Some(path) = url.strip_prefix("sqlite://").or_else(|| url.strip_prefix("sqlite:")) else {
        bail!("DATABASE_URL: only sqlite://<path> is supported; unset it to use the database in FORGE_HOME");
    };
    let path = path.split_once('?').map_or(path, |(path, _)| path);
    Ok(std::path::absolute(Path::new(path))?)
}

/// `--worktree-dir`, then `FORGE_WORKTREE_DIR`, then the usual folder or its replacement.
pub fn worktree_base(flags: &Flags, env: &Env, home: &Path) -> Result<Base> {
    let asked = flags.worktree_dir.clone().or_else(|| env.get("FORGE_WORKTREE_DIR").map(Into::into));
    base::choose(asked, forge_git::usual_base(), home)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sqlite_databases_are_accepted() {
        assert_eq!(database_path("sqlite:///tmp/x.db?mode=rwc").unwrap(), Path::new("/tmp/x.db"));
        assert!(database_path("postgres://x").unwrap_err().to_string().contains("sqlite://"));
    }
}
