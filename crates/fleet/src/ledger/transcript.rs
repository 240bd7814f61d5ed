//! The transcripts that agent programs keep of conversations with people, where a worker's log has nothing.
//!
//! Owns where they are and which conversation each one holds. Invariant: only transcripts of the given folder are
//! found.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use forge_types::{Day, Millis};
use serde_json::Value;

use super::moment;

/// A transcript names its folder within this many lines.
const OPENING: usize = 50;
const OPENING_BYTES: u64 = 256 << 10;
/// Day folders are named in local time.
const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// A conversation on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    pub path: PathBuf,
    pub session: String,
    pub began_at: Millis,
}

/// Conversations in a folder that started at a time or later, or are known, with the agent's environment.
pub fn find(
    workspace: &Path,
    env: &BTreeMap<String, String>,
    since: Millis,
    known: &[PathBuf],
) -> Vec<Transcript> {
    let mut paths = files_in(&claude_dir(workspace, env));
    let mut day = since.0 - DAY_MS;
    while day <= Millis::now().0 + DAY_MS {
        let folder = Day::of(Millis(day)).to_string().replace('-', "/");
        paths.extend(files_in(&codex_dir(env).join(folder)));
        day += DAY_MS;
    }
    // Most are older and need not be opened.
    paths.retain(|path| written_at(path).is_none_or(|at| at >= since));
    let opened = paths.into_iter().filter_map(|path| open(path, workspace));
    opened.filter(|found| found.began_at >= since || known.contains(&found.path)).collect()
}

fn claude_dir(workspace: &Path, env: &BTreeMap<String, String>) -> PathBuf {
    let home = variable(env, "CLAUDE_CONFIG_DIR").map(PathBuf::from);
    let home = home.unwrap_or_else(|| user_home(env).join(".claude"));
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    home.join("projects").join(workspace.to_string_lossy().chars().map(plain).collect::<String>())
}

fn codex_dir(env: &BTreeMap<String, String>) -> PathBuf {
    let home = variable(env, "CODEX_HOME").map(PathBuf::from);
    home.unwrap_or_else(|| user_home(env).join(".codex")).join("sessions")
}

fn user_home(env: &BTreeMap<String, String>) -> PathBuf {
    variable(env, "HOME").map(PathBuf::from).unwrap_or_default()
}

/// As the agent sees it: its own variables take precedence over the server's.
fn variable(env: &BTreeMap<String, String>, name: &str) -> Option<String> {
    env.get(name).cloned().or_else(|| std::env::var(name).ok()).filter(|value| !value.is_empty())
}

fn files_in(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    paths.sort();
    paths
}

fn written_at(path: &Path) -> Option<Millis> {
    let at = jiff::Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()?;
    Some(Millis(at.as_millisecond()))
}

/// The conversation of a file; `None` for another folder's, or if it is not named yet.
fn open(path: PathBuf, workspace: &Path) -> Option<Transcript> {
    let file = forge_os::file::open(path.parent()?, &path).ok()?;
    let (mut session, mut began_at, mut folder) = (None, None, None);
    for line in BufReader::new(std::io::Read::take(file, OPENING_BYTES)).lines().take(OPENING) {
        let Ok(fields) = serde_json::from_str::<Value>(&line.ok()?) else { continue };
        let payload = &fields["payload"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        session = session.or_else(|| text(&fields["sessionId"])).or_else(|| text(&payload["id"]));
        folder = folder.or_else(|| text(&fields["cwd"])).or_else(|| text(&payload["cwd"]));
        began_at = began_at.or_else(|| moment(&fields["timestamp"]));
        if let (Some(session), Some(began_at), Some(folder)) = (&session, began_at, &folder) {
            let transcript = Transcript { session: session.clone(), began_at, path };
            return (Path::new(folder) == workspace).then_some(transcript);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_conversations_of_the_folder_and_of_the_time_are_found() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().display().to_string();
        let env = [("HOME", place.as_str()), ("CLAUDE_CONFIG_DIR", ""), ("CODEX_HOME", "")];
        let env = env.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        let write = |path: &str, text: String| {
            let path = home.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let claude = |session: &str, at: &str, cwd: &str| {
            let summary = r#"{"type":"summary","summary":"s"}"#;
            format!(
                r#"{summary}{}{{"type":"user","sessionId":"{session}","timestamp":"{at}","cwd":"{cwd}"}}"#,
                "\n"
            )
        };
        write(".claude/projects/-w-a-b/new.jsonl", claude("new", "2026-11-16T10:00:00Z", "/w/a.b"));
        write(".claude/projects/-w-a-b/old.jsonl", claude("old", "2026-11-15T10:00:00Z", "/w/a.b"));
        write(".claude/projects/-w-a-b/else.jsonl", claude("else", "2026-11-16T10:00:00Z", "/w/a-b"));
        let codex = |session: &str, cwd: &str| {
            let meta = format!(r#"{{"id":"{session}","cwd":"{cwd}"}}"#);
            format!(r#"{{"timestamp":"2026-11-16T10:00:00Z","type":"session_meta","payload":{meta}}}"#)
        };
        write(".codex/sessions/2026/11/16/rollout-1.jsonl", codex("c1", "/w/a.b"));
        write(".codex/sessions/2026/11/16/rollout-2.jsonl", codex("c2", "/w"));
        let since = moment(&"2026-11-16T09:00:00Z".into()).unwrap();
        let sessions = |known: &[PathBuf]| {
            let found = find(Path::new("/w/a.b"), &env, since, known);
            found.into_iter().map(|transcript| transcript.session).collect::<Vec<_>>()
        };
        assert_eq!(sessions(&[]), ["new", "c1"]);
        let known = home.path().join(".claude/projects/-w-a-b/old.jsonl");
        assert_eq!(sessions(&[known]), ["new", "old", "c1"]);
    }
}
