//! The exact contents of a directory.
//!
//! Owns: the walk over a worktree, the list of regenerable caches, and the reversible spelling of names that git
//! refuses.
//! Invariant: two equal walks mean that nothing was written in between (size, times and inode of every entry agree).

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::GitError;

/// Directories that tools fill again on their own. They go to the trash with the rest but not into the snapshot.
const CACHES: &[&str] = &[
    "node_modules",
    "__pycache__",
    ".venv",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".tox",
    ".gradle",
    ".turbo",
    ".parcel-cache",
];
/// Build directories are caches only when their tool marks them with a `CACHEDIR.TAG`.
const TAGGED_CACHES: &[&str] = &["target", "build", ".cache"];
/// A tag is this signature and a note for people.
const MAX_TAG_BYTES: u64 = 64 << 10;
const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

const ESCAPE: &[u8] = b"%forge%";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Link,
    Dir,
    /// A socket, pipe or device: it has no content to save.
    Special,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Relative to the walked directory.
    pub path: PathBuf,
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    pub size: u64,
    stamp: (i64, i64, i64, i64, u64),
}

/// Everything below one directory, in a fixed order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Walk {
    pub entries: Vec<Entry>,
    pub caches: Vec<PathBuf>,
}

/// Walks `root` without following links. `.git` at the top is left out; caches are named but not entered, unless
/// `tracked` shows that git has files below them.
pub(crate) fn walk(root: &Path, tracked: &dyn Fn(&Path) -> bool) -> Result<Walk, GitError> {
    let mut walk = Walk::default();
    let mut open = vec![PathBuf::new()];
    while let Some(dir) = open.pop() {
        let full = root.join(&dir);
        let mut names: Vec<OsString> = std::fs::read_dir(&full)
            .and_then(|entries| entries.map(|entry| entry.map(|entry| entry.file_name())).collect())
            .map_err(GitError::io(&full))?;
        names.sort_unstable();
        for name in names {
            let path = dir.join(&name);
            if path == Path::new(".git") {
                continue;
            }
            let full = root.join(&path);
            let meta = match std::fs::symlink_metadata(&full) {
                Ok(meta) => meta,
                // Gone since it was listed: the second walk will differ and the snapshot is made again.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(GitError::io(&full)(error)),
            };
            if meta.is_dir() && is_cache(&full, &name) && !tracked(&path) {
                walk.caches.push(path);
                continue;
            }
            let kind = match meta.file_type() {
                kind if kind.is_file() => Kind::File,
                kind if kind.is_symlink() => Kind::Link,
                kind if kind.is_dir() => Kind::Dir,
                _ => Kind::Special,
            };
            if kind == Kind::Dir {
                open.push(path.clone());
            }
            let stamp = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec(), meta.ino());
            let size = if kind == Kind::File { meta.len() } else { 0 };
            walk.entries.push(Entry { path, kind, mode: meta.mode() & 0o7777, size, stamp });
        }
    }
    Ok(walk)
}

fn is_cache(dir: &Path, name: &OsStr) -> bool {
    let named = |list: &[&str]| list.iter().any(|cache| name == *cache);
    let tag = || forge_os::file::read(dir, Path::new("CACHEDIR.TAG"), MAX_TAG_BYTES);
    let tagged = || tag().is_ok_and(|text| text.starts_with(CACHE_TAG));
    named(CACHES) || (named(TAGGED_CACHES) && tagged())
}

/// The path as it is spelled in a keep tree: components that git refuses get a prefix.
pub(crate) fn escape(path: &Path) -> Vec<u8> {
    let mut out = Vec::new();
    for part in path.iter() {
        if !out.is_empty() {
            out.push(b'/');
        }
        let bytes = part.as_bytes();
        let refused = bytes.eq_ignore_ascii_case(b".git") || bytes.eq_ignore_ascii_case(b".gitmodules");
        if refused || bytes.starts_with(ESCAPE) {
            out.extend_from_slice(ESCAPE);
        }
        out.extend_from_slice(bytes);
    }
    out
}

pub(crate) fn unescape(bytes: &[u8]) -> PathBuf {
    let parts = bytes.split(|byte| *byte == b'/');
    parts.map(|part| OsStr::from_bytes(part.strip_prefix(ESCAPE).unwrap_or(part))).collect()
}

/// A path as text: bytes that are not UTF-8, and `%`, become `%XX`.
pub(crate) fn to_text(path: &[u8]) -> String {
    let mut out = String::with_capacity(path.len());
    for chunk in path.utf8_chunks() {
        out.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

pub(crate) fn from_text(text: &str) -> PathBuf {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match (first, hex.and_then(|hex| u8::from_str_radix(hex, 16).ok())) {
            (b'%', Some(byte)) => {
                out.push(byte);
                rest = &tail[2..];
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    PathBuf::from(OsString::from_vec(out))
}

/// A path in C quotes, as `git hash-object --stdin-paths` reads it.
pub(crate) fn quote(path: &Path) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', *byte]),
            0x20..=0x7e => out.push(*byte),
            _ => out.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_comes_back_from_its_spelling() {
        let names: [&[u8]; 7] =
            [b"a/.git/config", b".GIT", b"%forge%.git/x", b"100%", b"\xff\xfe/n\nl", b"x%41", b".gitmodules"];
        for name in names {
            let path = Path::new(OsStr::from_bytes(name));
            assert_eq!(unescape(&escape(path)), path);
            assert_eq!(from_text(&to_text(name)), path);
        }
        assert_eq!(escape(Path::new("a/.git/b")), b"a/%forge%.git/b");
        assert_eq!(quote(Path::new("a\n\"b\\ü")), b"\"a\\012\\\"b\\\\\\303\\274\"");
    }
}
