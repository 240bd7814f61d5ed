//! The environment, with a file of variables below it.
//!
//! Invariant: a file is read when it is named, and in a development build also `.env` of the current directory; that
//! may be any clone. Only the variables listed here can come from a file: none sets a server's address, where data is
//! stored, the token or which program runs.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result, bail};

/// The variables that a file can set.
const TAKEN: [&str; 12] = [
    "AUTH_REQUIRED",
    "DISABLE_BROWSER_OPEN",
    "FORGE_APPROVAL_LIMIT_S",
    "FORGE_BRANCH_PREFIX",
    "FORGE_EXPIRY_H",
    "FORGE_PR_POLL_S",
    "FORGE_SILENCE_LIMIT_S",
    "FORGE_SPARES",
    "FORGE_TIME_LIMIT_S",
    "FORGE_VERSION",
    "GITHUB_CLIENT_ID",
    "RUST_LOG",
];
/// Larger than any such file.
const MAX_BYTES: u64 = 64 << 10;

static ENV: OnceLock<Env> = OnceLock::new();

#[derive(Default)]
pub struct Env {
    /// The file that was named.
    file: Option<PathBuf>,
    values: HashMap<String, String>,
}

impl Env {
    /// Reads the file that the user named; once, before any variable is used.
    pub fn name_file(path: &Path) -> Result<()> {
        let read = || -> Result<Env> {
            let path = std::path::absolute(path)?;
            Ok(Env { values: take(&read_text(&path)?, &path), file: Some(path) })
        };
        let env = read().with_context(|| format!("--env-file: cannot read {}", path.display()))?;
        let _ = ENV.set(env);
        Ok(())
    }

    pub fn load() -> &'static Env {
        ENV.get_or_init(|| {
            let path = Path::new(".env");
            let text = if cfg!(debug_assertions) { read_text(path).ok() } else { None };
            Env { file: None, values: text.map_or_else(HashMap::new, |text| take(&text, path)) }
        })
    }

    /// The file that was named, so that a server started from here can use it too.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    pub fn get(&self, key: &str) -> Option<String> {
        std::env::var(key).ok().or_else(|| self.values.get(key).cloned()).filter(|value| !value.is_empty())
    }

    /// Whether the variable is set, to any value.
    pub fn has(&self, key: &str) -> bool {
        std::env::var_os(key).is_some() || self.values.contains_key(key)
    }

    pub fn number<T: std::str::FromStr>(&self, key: &str) -> Result<Option<T>> {
        let Some(text) = self.get(key) else { return Ok(None) };
        match text.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => bail!("{key}: '{text}' is not a number; give a whole number or unset it"),
        }
    }
}

fn read_text(path: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// The variables that a file can set; prints the names of the rest.
fn take(text: &str, path: &Path) -> HashMap<String, String> {
    let (taken, ignored): (Vec<_>, Vec<_>) = parse(text).partition(|(key, _)| TAKEN.contains(&key.as_str()));
    let mut ignored: Vec<String> = ignored.into_iter().map(|(key, _)| key).collect();
    ignored.sort();
    ignored.dedup();
    if !ignored.is_empty() {
        let (file, names) = (path.display(), ignored.join(", "));
        eprintln!("forge: {file}: ignored, because a file cannot set it: {names}; set it in the environment");
    }
    taken.into_iter().collect()
}

fn parse(text: &str) -> impl Iterator<Item = (String, String)> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let pairs = lines.filter_map(|line| line.strip_prefix("export ").unwrap_or(line).split_once('='));
    let unquote = |value: &str| {
        let value = value.trim();
        let inner = ['"', '\''].iter().find_map(|q| value.strip_prefix(*q)?.strip_suffix(*q));
        inner.unwrap_or(value).to_owned()
    };
    // Names are printed, so they must not contain control characters.
    let is_name = |key: &str| !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    pairs
        .map(move |(key, value)| (key.trim().to_owned(), unquote(value)))
        .filter(move |(key, _)| is_name(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_with_quotes_comments_and_export() {
        let env: HashMap<_, _> =
            parse("# c\nA=1\nexport B=\"two words\"\n C = 'x' \nbroken\n\u{1b}]0;x=1\n").collect();
        assert_eq!(env.get("A").map(String::as_str), Some("1"));
        assert_eq!(env.get("B").map(String::as_str), Some("two words"));
        assert_eq!(env.get("C").map(String::as_str), Some("x"));
        assert_eq!(env.len(), 3);
    }

    #[test]
    fn a_file_sets_limits_and_neither_addresses_nor_folders_nor_tokens() {
        let text = "FORGE_SPARES=1\nHOST=0.0.0.0\nPORT=1\nBACKEND_PORT=1\nFORGE_BACKEND_URL=x\nVIBE_BACKEND_URL=x\n\
            FORGE_BASE_URL=x\nPUBLIC_BASE_URL=x\nFORGE_HOME=x\nFORGE_WORKTREE_DIR=x\nFORGE_WORKSPACES=x\nHOME=x\n\
            XDG_CONFIG_HOME=x\nTMPDIR=x\nDATABASE_URL=x\nFORGE_TOKEN=x\nPATH=x\nLD_PRELOAD=x\nGIT_SSH_COMMAND=x\n\
            SSH_AUTH_SOCK=x\n";
        let taken = take(text, Path::new(".env"));
        assert_eq!(taken.keys().collect::<Vec<_>>(), ["FORGE_SPARES"]);
    }
}
