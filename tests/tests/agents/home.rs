//! A home directory for one agent in one case, and where its program is.
//!
//! Invariant: nothing of the user's own configuration is read or written by an agent under test.

use std::path::{Path, PathBuf};

use forge_tests::model::Model;
use tempfile::TempDir;

use crate::agent::Agent;

/// The folder that holds the agent's program, or what is missing.
pub fn find_program(agent: &Agent) -> Result<PathBuf, String> {
    let cache = std::env::var_os("FORGE_AGENTS_CACHE").map(PathBuf::from);
    let cache = cache.ok_or("FORGE_AGENTS_CACHE is not set; use `npm run test:agents`")?;
    let folder = cache.join(format!("{}-{}/node_modules/.bin", agent.name, agent.version));
    match folder.join(agent.program).exists() {
        true => Ok(folder),
        false => Err("not installed".to_owned()),
    }
}

pub struct Home {
    dir: TempDir,
    pub env: Vec<(String, String)>,
}

impl Home {
    pub fn make(agent: &Agent, model: &Model, key: &str, programs: &Path) -> Home {
        let dir = TempDir::new().unwrap();
        let place = dir.path().canonicalize().unwrap();
        let home = place.to_str().unwrap();
        let fill =
            |text: &str| text.replace("{url}", &model.url()).replace("{key}", key).replace("{home}", home);
        for (name, text) in agent.files {
            let path = place.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, fill(text)).unwrap();
        }
        let mut folders = vec![programs.to_owned()];
        folders.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()));
        let path = std::env::join_paths(folders).unwrap().into_string().unwrap();
        let mut env = vec![("HOME", home.to_owned()), ("PATH", path), ("SHELL", "/bin/sh".to_owned())];
        for (name, place) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_CACHE_HOME", ".cache"),
        ] {
            env.push((name, format!("{home}/{place}")));
        }
        // The model is on this machine, whatever the way to others is.
        env.extend([
            ("NO_PROXY", "127.0.0.1,localhost".to_owned()),
            ("no_proxy", "127.0.0.1,localhost".to_owned()),
        ]);
        env.extend(agent.env.iter().map(|(name, value)| (*name, fill(value))));
        Home { dir, env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect() }
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}
