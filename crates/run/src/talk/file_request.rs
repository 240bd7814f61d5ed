//! File requests of an agent: what it asks Forge to read or write for it.
//!
//! Owns the reading and writing that a conversation asks for. Invariants: only files inside the worktree are
//! touched, wherever links may lead, and never git's own; what is read is bounded, so that the reply fits through
//! the keeper; carrying out a request twice, as after a restart, has the same effect as once.

use std::fs;
use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};

/// The largest file that is read, even in part.
const MAX_FILE_BYTES: u64 = 8 << 20;
/// The longest reply to the agent.
const MAX_REPLY_BYTES: usize = 768 << 10;
/// The request cannot be carried out as it is.
const INVALID: i64 = -32602;
/// No such file.
const NOT_FOUND: i64 = -32002;

/// A request that the agent waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct FileRequest {
    pub key: String,
    pub(super) id: Value,
    pub(super) worktree: PathBuf,
    pub(super) operation: Operation,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    Read {
        path: PathBuf,
        /// The first line to read, from 1.
        line: Option<u64>,
        /// How many lines.
        limit: Option<u64>,
    },
    Write {
        path: PathBuf,
        content: String,
    },
}

/// Why it was not carried out, in the protocol's terms.
struct Refusal {
    code: i64,
    message: String,
}

impl FileRequest {
    /// Carries it out, blocking, and returns the line that reports the result to the agent.
    pub fn carry_out(&self) -> String {
        let done = match &self.operation {
            Operation::Read { path, line, limit } => read(&self.worktree, path, *line, *limit),
            Operation::Write { path, content } => write(&self.worktree, path, content),
        };
        match done {
            Ok(result) => json!({"jsonrpc": "2.0", "id": self.id, "result": result}).to_string(),
            Err(Refusal { code, message }) => {
                let error = json!({"code": code, "message": message});
                json!({"jsonrpc": "2.0", "id": self.id, "error": error}).to_string()
            }
        }
    }
}

fn read(root: &Path, path: &Path, line: Option<u64>, limit: Option<u64>) -> Result<Value, Refusal> {
    let root = root.canonicalize().map_err(|error| failed(root, &error))?;
    let file = root.join(path).canonicalize().map_err(|error| failed(path, &error))?;
    check_inside(&root, &file, path)?;
    let bytes = forge_os::file::read(&root, &file, MAX_FILE_BYTES)
        .map_err(|error| Refusal { code: INVALID, message: format!("path: {error}") })?;
    let text = String::from_utf8(bytes).map_err(|_| refusal(path, "is not UTF-8 text"))?;
    let skip = usize::try_from(line.unwrap_or(1).saturating_sub(1)).unwrap_or(usize::MAX);
    let take = limit.map_or(usize::MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX));
    let content: String = text.split_inclusive('\n').skip(skip).take(take).collect();
    let result = json!({"content": content});
    if result.to_string().len() > MAX_REPLY_BYTES {
        let problem =
            format!("has more than {MAX_REPLY_BYTES} bytes there; read fewer lines with line and limit");
        return Err(refusal(path, &problem));
    }
    Ok(result)
}

fn write(root: &Path, path: &Path, content: &str) -> Result<Value, Refusal> {
    let root = root.canonicalize().map_err(|error| failed(root, &error))?;
    let wanted = root.join(path);
    if wanted.components().any(|part| part == Component::ParentDir) {
        return Err(refusal(path, "has `..` in it; name the file itself"));
    }
    let (Some(parent), Some(name)) = (wanted.parent(), wanted.file_name()) else {
        return Err(refusal(path, "does not name a file"));
    };
    // The nearest existing directory decides where the new ones would be created.
    let existing = parent.ancestors().find_map(|dir| dir.canonicalize().ok());
    let existing = existing.ok_or_else(|| refusal(path, "is in a directory that does not exist"))?;
    check_inside(&root, &existing, path)?;
    fs::create_dir_all(parent).map_err(|error| failed(path, &error))?;
    let parent = parent.canonicalize().map_err(|error| failed(path, &error))?;
    let file = parent.join(name);
    let file = match file.symlink_metadata() {
        Ok(data) if data.is_symlink() => file.canonicalize().map_err(|error| failed(path, &error))?,
        _ => file,
    };
    check_inside(&root, &file, path)?;
    // Writing to a pipe would block.
    if file.symlink_metadata().is_ok_and(|data| !data.is_file()) {
        return Err(refusal(path, "is not a regular file"));
    }
    fs::write(&file, content).map_err(|error| failed(path, &error))?;
    Ok(Value::Null)
}

fn check_inside(root: &Path, real: &Path, named: &Path) -> Result<(), Refusal> {
    let Ok(inside) = real.strip_prefix(root) else {
        return Err(refusal(named, &format!("is outside of the worktree {}", root.display())));
    };
    match inside.components().next() {
        Some(Component::Normal(first)) if first == ".git" => Err(refusal(named, "belongs to git")),
        _ => Ok(()),
    }
}

fn refusal(path: &Path, problem: &str) -> Refusal {
    Refusal { code: INVALID, message: format!("path: {} {problem}", path.display()) }
}

fn failed(path: &Path, error: &std::io::Error) -> Refusal {
    let code = if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { INVALID };
    Refusal { code, message: format!("path: {}: {error}", path.display()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn act(root: &Path, operation: Operation) -> Value {
        let act = FileRequest { key: "k".into(), id: json!(7), worktree: root.to_owned(), operation };
        serde_json::from_str(&act.carry_out()).unwrap()
    }

    fn read_at(root: &Path, path: impl Into<PathBuf>) -> Value {
        act(root, Operation::Read { path: path.into(), line: None, limit: None })
    }

    fn write_at(root: &Path, path: impl Into<PathBuf>, content: &str) -> Value {
        act(root, Operation::Write { path: path.into(), content: content.into() })
    }

    #[test]
    fn files_of_the_worktree_are_written_and_read() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("new/deep/a.txt");
        let done = write_at(dir.path(), &file, "one\ntwo\nthree");
        assert_eq!(done, json!({"jsonrpc": "2.0", "id": 7, "result": null}));
        assert_eq!(write_at(dir.path(), &file, "one\ntwo\nthree"), done, "once more is no harm");
        assert_eq!(read_at(dir.path(), &file)["result"]["content"], "one\ntwo\nthree");
        let part = act(dir.path(), Operation::Read { path: file, line: Some(2), limit: Some(1) });
        assert_eq!(part["result"]["content"], "two\n");
        assert_eq!(read_at(dir.path(), dir.path().join("absent"))["error"]["code"], NOT_FOUND);
    }

    #[test]
    fn nothing_outside_of_the_worktree_is_touched() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let (root, secret) = (dir.path(), other.path().join("secret"));
        fs::write(&secret, "s").unwrap();
        symlink(other.path(), root.join("way")).unwrap();
        symlink(&secret, root.join("link")).unwrap();
        symlink(other.path().join("unborn"), root.join("dangling")).unwrap();
        fs::write(root.join(".git"), "gitdir: x").unwrap();
        for path in [secret.clone(), root.join("way/secret"), root.join("link"), root.join("../x/secret")] {
            assert!(read_at(root, &path)["error"].is_object(), "{path:?} was read");
        }
        let written = ["way/new", "way/deep/new", "link", "dangling", "sub/../../x", ".git", ".git/hooks/x"];
        let absolute = written.map(|path| root.join(path)).into_iter().chain([secret.clone()]);
        for path in absolute {
            assert!(write_at(root, &path, "bad")["error"].is_object(), "{path:?} was written");
        }
        assert_eq!(fs::read_to_string(&secret).unwrap(), "s");
        assert_eq!(fs::read_dir(other.path()).unwrap().count(), 1, "something new is outside");
        assert_eq!(fs::read_to_string(root.join(".git")).unwrap(), "gitdir: x");
    }

    #[test]
    fn a_pipe_is_neither_read_nor_written() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        for done in [read_at(dir.path(), &pipe), write_at(dir.path(), &pipe, "x")] {
            assert!(done["error"]["message"].to_string().contains("pipe"), "{done}");
        }
    }

    #[test]
    fn a_file_too_long_for_an_answer_is_refused_and_its_parts_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("long");
        fs::write(&file, "a line\n".repeat(200_000)).unwrap();
        let refused = read_at(dir.path(), &file)["error"]["message"].to_string();
        assert!(refused.contains("line and limit"), "{refused}");
        let part = act(dir.path(), Operation::Read { path: file, line: Some(199_999), limit: None });
        assert_eq!(part["result"]["content"], "a line\na line\n");
    }
}
