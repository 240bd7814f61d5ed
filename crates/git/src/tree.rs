//! The directories that a git works on, named by Forge and never searched for.
//!
//! Owns: the proof that a worktree is the one that its repository knows. An agent writes what it likes into its
//! worktree and into the private git directory, so both are read as text and trusted only where they agree with each
//! other and with the repository. Invariant: whoever has a [`Tree`] has directories of the repository itself, so git
//! reads its configuration, and with it the programs that it may start, from nowhere else.

use std::ffi::OsStr;
use std::fs::{DirEntry, File};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::base::blocking;
use crate::{GitError, Repo, admin};

/// More than any pointer or any harmless configuration has.
const TEXT_MAX_BYTES: u64 = 64 << 10;
/// More than anything in a private git directory has that git reads as a whole.
const STATE_MAX_BYTES: u64 = 64 << 20;

/// The keys that a worktree may configure for itself: none of them names a program, a file or another repository.
const HARMLESS: &[&str] = &[
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "index.sparse",
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "user.name",
    "user.email",
];

/// A checkout, or a repository without one.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    path: PathBuf,
    git_dir: PathBuf,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    /// The repository's own git directory, with a checkout beside it.
    Main,
    /// The same without the checkout.
    Store,
    Linked {
        common_dir: PathBuf,
    },
}

/// Which objects a repository has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Objects {
    All,
    /// A partial clone, or what may be one: git fetches the rest when it needs it.
    Partial,
}

impl Tree {
    pub fn main(path: &Path, common_dir: &Path) -> Self {
        let kind = if path == common_dir { Kind::Store } else { Kind::Main };
        Self { path: path.to_owned(), git_dir: common_dir.to_owned(), kind }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where HEAD, the index and a stopped operation are.
    pub fn git_dir(&self) -> &Path {
        &self.git_dir
    }

    /// The private git directory of a linked worktree.
    pub fn private_dir(&self) -> Option<&Path> {
        matches!(self.kind, Kind::Linked { .. }).then_some(&self.git_dir)
    }

    /// The arguments that name git's directories.
    pub fn pins(&self) -> Vec<(&'static str, &OsStr)> {
        let git_dir = ("GIT_DIR", self.git_dir.as_os_str());
        let work_tree = ("GIT_WORK_TREE", self.path.as_os_str());
        match &self.kind {
            Kind::Main => vec![git_dir, work_tree],
            // Without it git would use the current directory as the checkout.
            Kind::Store => vec![git_dir, ("GIT_IMPLICIT_WORK_TREE", OsStr::new("0"))],
            Kind::Linked { common_dir } => {
                vec![git_dir, work_tree, ("GIT_COMMON_DIR", common_dir.as_os_str())]
            }
        }
    }
}

impl Repo {
    /// The checkout at `path`, once it is proven to be one of this repository's.
    pub(crate) fn tree(&self, path: &Path) -> Result<Tree, GitError> {
        let real = std::fs::canonicalize(path).map_err(|_| GitError::NoRepository(path.to_owned()))?;
        if real == self.path() {
            return Ok(self.main().clone());
        }
        let git_dir = self.entry(path)?;
        let replaced = |reason: String| GitError::Replaced { path: path.to_owned(), reason };
        let named = |name: &str| -> Result<PathBuf, GitError> {
            let text = read_text(&git_dir.join(name)).map_err(&replaced)?;
            Ok(git_dir.join(text.trim_end_matches('\n')))
        };
        let back = named("gitdir")?;
        let is_back = back.file_name() == Some(OsStr::new(".git"))
            && back.parent().and_then(|top| std::fs::canonicalize(top).ok()).as_deref() == Some(&real);
        if !is_back {
            return Err(replaced(format!("{} belongs to {}", git_dir.display(), back.display())));
        }
        let common = named("commondir")?;
        if std::fs::canonicalize(&common).ok().as_deref() != Some(self.common_dir()) {
            let file = git_dir.join("commondir");
            return Err(replaced(format!("{} leads to {}", file.display(), common.display())));
        }
        refuse_traps(&git_dir).and_then(|()| self.refuse_configuration(&git_dir)).map_err(replaced)?;
        Ok(self.linked(&real, git_dir))
    }

    /// A worktree that Forge has just made, so both directories are known.
    pub(crate) fn linked(&self, path: &Path, git_dir: PathBuf) -> Tree {
        Tree {
            path: path.to_owned(),
            git_dir,
            kind: Kind::Linked { common_dir: self.common_dir().to_owned() },
        }
    }

    /// The private git directory that the worktree at `path` names, which is where this repository keeps them.
    pub(crate) fn entry(&self, path: &Path) -> Result<PathBuf, GitError> {
        let replaced = |reason: String| GitError::Replaced { path: path.to_owned(), reason };
        let pointer = path.join(".git");
        let text = read_text(&pointer).map_err(&replaced)?;
        let target = text.strip_prefix("gitdir:").map(str::trim).unwrap_or_default();
        let dir = std::fs::canonicalize(path.join(target)).ok();
        dir.filter(|dir| dir.parent() == Some(&self.common_dir().join("worktrees"))).ok_or_else(|| {
            let (file, places) = (pointer.display(), self.common_dir().join("worktrees"));
            replaced(format!("{file} names '{target}', which is not a worktree's in {}", places.display()))
        })
    }

    /// Git reads `config.worktree` where the repository allows it, and a key in it may name a program.
    fn refuse_configuration(&self, git_dir: &Path) -> Result<(), String> {
        let file = git_dir.join("config.worktree");
        if std::fs::symlink_metadata(&file).is_err() {
            return Ok(());
        }
        if !self.is_configured("worktreeconfig") {
            return Ok(());
        }
        match strange_setting(&read_text(&file)?) {
            None => Ok(()),
            Some(line) => Err(format!("{} has '{line}'; allowed: {}", file.display(), HARMLESS.join(", "))),
        }
    }

    /// Whether the repository's configuration contains this word, in lower case. An unreadable one may contain any.
    fn is_configured(&self, word: &str) -> bool {
        let config = std::fs::read(self.common_dir().join("config"));
        config.map_or(true, |text| String::from_utf8_lossy(&text).to_ascii_lowercase().contains(word))
    }

    /// Refuses traps in any worktree, for a git that looks into all of them. Returns whether all objects are here.
    pub(crate) async fn refuse_any_trap(&self) -> Result<Objects, GitError> {
        let repo = self.clone();
        blocking(move || {
            admin::all(&repo).into_iter().try_for_each(|git_dir| {
                refuse_traps(&git_dir).map_err(|reason| {
                    let path = admin::worktree_of(&git_dir).unwrap_or(git_dir);
                    GitError::Replaced { path, reason }
                })
            })?;
            let is_partial = repo.is_configured("promisor") || repo.is_configured("partialclone");
            Ok(if is_partial { Objects::Partial } else { Objects::All })
        })
        .await
    }
}

/// Git follows a link where it writes a message or a reflog, and so would write into somebody else's file; it would
/// wait for a pipe, and read an endless file until there is no memory left.
fn refuse_traps(git_dir: &Path) -> Result<(), String> {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    let is_open_dir = |entry: &DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    // Whole repositories, which Forge's git does not enter.
    let own = |entry: &DirEntry| entry.file_name() != "modules";
    let below = entries(git_dir).filter(|entry| is_open_dir(entry) && own(entry));
    match entries(git_dir).chain(below.flat_map(|dir| entries(&dir.path()))).find(is_trap) {
        Some(entry) => Err(format!(
            "{} is a symbolic link, a pipe, a device or a file of more than {STATE_MAX_BYTES} bytes",
            entry.path().display()
        )),
        None => Ok(()),
    }
}

fn is_trap(entry: &DirEntry) -> bool {
    let is_index = || entry.file_name().to_string_lossy().contains("index");
    // What is gone by now does no harm.
    entry.metadata().is_ok_and(|found| match found.is_file() {
        true => found.len() > STATE_MAX_BYTES && !is_index(),
        // The user's git talks to its file monitor through a socket.
        false => !found.is_dir() && !found.file_type().is_socket(),
    })
}

/// A regular file, whole, if it is a small one. Waits for nobody, whatever is put in its place meanwhile.
pub(crate) fn read_text(file: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", file.display());
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let open = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(file);
    let open = open.map_err(failed)?;
    if !open.metadata().map_err(failed)?.is_file() {
        return Err(format!("{} is not a regular file", file.display()));
    }
    let mut text = String::new();
    let read = open.take(TEXT_MAX_BYTES + 1).read_to_string(&mut text);
    match read.map_err(failed)? as u64 > TEXT_MAX_BYTES {
        true => Err(format!("{} has more than {TEXT_MAX_BYTES} bytes", file.display())),
        false => Ok(text),
    }
}

/// The first line that is more than a comment, a plain section or a harmless key.
fn strange_setting(text: &str) -> Option<&str> {
    let mut section = "";
    text.lines().map(str::trim).find(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return false;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = name;
            return !name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        }
        let (key, value) =
            line.split_once('=').map_or((*line, ""), |(key, value)| (key.trim(), value.trim()));
        let key = format!("{section}.{key}").to_ascii_lowercase();
        let harmless = HARMLESS.contains(&key.as_str()) || (key == "core.bare" && value == "false");
        // A line that continues could hide the next one.
        !harmless || line.ends_with('\\')
    })
}

#[cfg(test)]
mod tests {
    use super::strange_setting;

    #[test]
    fn a_worktree_configures_nothing_but_harmless_keys() {
        for text in ["", "# x\n", "[core]\n\tsparseCheckout = true\n\tbare = false\n[index]\nsparse=true\n"] {
            assert_eq!(strange_setting(text), None, "{text:?}");
        }
        for text in [
            "[core]\n\thooksPath = /x\n",
            "[core]\n\tbare = true\n",
            "[core] fsmonitor = /x\n",
            "[filter \"x\"]\n\tclean = /x\n",
            "[include]\n\tpath = /x\n",
            "[core]\n\teol = lf \\\n\thooksPath = /x\n",
            "[core]\n\teol = lf\n\tfsmonitor\n",
            "hooksPath = /x\n",
            "[core]\r\thooksPath = /x\n",
        ] {
            assert!(strange_setting(text).is_some(), "{text:?}");
        }
    }
}
