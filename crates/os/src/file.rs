//! Files that somebody else wrote: those of a repository, of a worktree, of an agent.
//!
//! Owns the one way to open them. Invariants: what is opened is a regular file below the root that the caller names,
//! whatever links somebody puts there meanwhile; a link that stays below the root is followed. Opening never blocks,
//! not even for the other end of a pipe, and never more than the caller's limit is read.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// How often a lookup is retried that somebody disturbs by moving folders.
#[cfg(any(target_os = "linux", target_os = "android"))]
const TRIES: usize = 16;

/// Why a file is not read. Each one names the path and what to do.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    #[error("{}: there is no such file", path.display())]
    Missing { path: PathBuf },
    #[error("{} is {what} and is not opened; put a regular file there", path.display())]
    NotRegular { path: PathBuf, what: &'static str },
    #[error("{} leads out of {} and is not opened; put the file itself there", path.display(), root.display())]
    LeadsOut { path: PathBuf, root: PathBuf },
    #[error("{} has more than the {limit} bytes that are read of it; make it smaller", path.display())]
    TooLarge { path: PathBuf, limit: u64 },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
}

impl FileError {
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    /// The file is the problem, not the machine: it exists, and its owner can change it.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NotRegular { .. } | Self::LeadsOut { .. } | Self::TooLarge { .. } => true,
            Self::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::InvalidData)
            }
            Self::Missing { .. } => false,
        }
    }
}

/// For callers that use the errors of the standard library.
impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = match &error {
            FileError::Missing { .. } => io::ErrorKind::NotFound,
            FileError::Io { source, .. } => source.kind(),
            _ => io::ErrorKind::InvalidInput,
        };
        io::Error::new(kind, error)
    }
}

/// The whole file, if it has no more bytes than the limit. `path` is relative to `root`, or absolute and below it.
pub fn read(root: &Path, path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let file = open(root, path)?;
    let path = || root.join(path);
    let failed = |source| FileError::Io { path: path(), source };
    let mut bytes = Vec::new();
    // A file whose size is known need not be read to be refused.
    if file.metadata().map_err(failed)?.len() <= limit {
        file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 <= limit {
            return Ok(bytes);
        }
    }
    Err(FileError::TooLarge { path: path(), limit })
}

/// The whole file as text.
pub fn read_text(root: &Path, path: &Path, limit: u64) -> Result<String, FileError> {
    String::from_utf8(read(root, path, limit)?).map_err(|error| {
        let source = io::Error::new(io::ErrorKind::InvalidData, error.utf8_error());
        FileError::Io { path: root.join(path), source }
    })
}

/// Nothing instead of an error where there is no file.
pub fn if_any<T>(found: Result<T, FileError>) -> Result<Option<T>, FileError> {
    match found {
        Err(error) if error.is_missing() => Ok(None),
        other => other.map(Some),
    }
}

/// Opens a file for reading, for callers that read it piece by piece.
pub fn open(root: &Path, path: &Path) -> Result<File, FileError> {
    open_as(root, path, OFlags::RDONLY)
}

/// Opens a file to append to it, or to lock it, and creates a missing one.
pub fn open_end(root: &Path, path: &Path) -> Result<File, FileError> {
    open_as(root, path, OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND)
}

fn open_as(root: &Path, path: &Path, access: OFlags) -> Result<File, FileError> {
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let below = path.strip_prefix(root).unwrap_or(path);
    let opened = match open_beneath(root, below, flags) {
        // The kernel cannot, must not, or does not notice that an absolute link leads back below the root.
        Err(Errno::NOSYS | Errno::PERM | Errno::XDEV) => open_resolved(root, below, flags),
        other => other,
    };
    let path = || root.join(path);
    let file = File::from(opened.map_err(|errno| match errno {
        Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG => FileError::Missing { path: path() },
        Errno::XDEV => FileError::LeadsOut { path: path(), root: root.to_owned() },
        Errno::LOOP => FileError::NotRegular { path: path(), what: "a link that leads nowhere" },
        Errno::ISDIR => FileError::NotRegular { path: path(), what: "a directory" },
        Errno::NXIO | Errno::NODEV => {
            FileError::NotRegular { path: path(), what: "a socket, a pipe or a device" }
        }
        other => FileError::Io { path: path(), source: other.into() },
    })?);
    let found = file.metadata().map_err(|source| FileError::Io { path: path(), source })?;
    match found {
        found if found.is_file() => Ok(file),
        found if found.is_dir() => Err(FileError::NotRegular { path: path(), what: "a directory" }),
        _ => Err(FileError::NotRegular { path: path(), what: "a pipe or a device" }),
    }
}

/// The kernel follows links and makes sure that none leads out.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn open_beneath(root: &Path, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{ResolveFlags, open, openat2};
    let folder = open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let how = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    for _ in 0..TRIES {
        match openat2(&folder, below, flags, mode_of(flags), how) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn open_beneath(_: &Path, _: &Path, _: OFlags) -> Result<OwnedFd, Errno> {
    Err(Errno::NOSYS)
}

/// Resolves links first, then walks there through folders alone: a link that appeared since is not followed.
fn open_resolved(root: &Path, below: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let root = root.canonicalize().map_err(errno)?;
    let wanted = root.join(below);
    let real = match (wanted.canonicalize(), wanted.parent(), wanted.file_name()) {
        // A link that leads nowhere leads anywhere, once somebody creates its target.
        (Err(_), ..) if wanted.is_symlink() => return Err(Errno::XDEV),
        (Err(error), Some(folder), Some(name)) if error.kind() == io::ErrorKind::NotFound => {
            folder.canonicalize().map_err(errno)?.join(name)
        }
        (found, ..) => found.map_err(errno)?,
    };
    let mut parts = real.strip_prefix(&root).map_err(|_| Errno::XDEV)?.iter().peekable();
    let look = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut place = rustix::fs::open(&root, look, Mode::empty())?;
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() { look } else { flags | OFlags::NOFOLLOW };
        place = rustix::fs::openat(&place, part, flags, mode_of(flags))?;
    }
    Ok(place)
}

/// The kernel refuses a mode where nothing is created.
fn mode_of(flags: OFlags) -> Mode {
    if flags.contains(OFlags::CREATE) { Mode::from_raw_mode(0o644) } else { Mode::empty() }
}

#[cfg(test)]
mod tests;
