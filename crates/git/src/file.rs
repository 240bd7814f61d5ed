//! One file of a worktree or of a commit, whole.
//!
//! Invariant: only regular files inside the worktree, and none through a link, whatever an agent puts there meanwhile:
//! each folder on the way is opened separately and held while the next one is opened. Nothing waits for a pipe, and
//! nothing above the caller's limit is read.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use crate::base::blocking;
use crate::branch::revision;
use crate::command::Git;
use crate::inside::{bad, missing, spell};
use crate::session::Session;
use crate::{GitError, Repo};

/// The name of the path in requests.
const FIELD: &str = "path";
const REGULAR: &str = "the path of a regular file";
const NO_LINK: &str = "a path without symbolic links";

/// The file as it is in the worktree.
pub async fn read_worktree_file(worktree: &Path, file: &str, max_bytes: u64) -> Result<Vec<u8>, GitError> {
    let (root, file) = (worktree.to_owned(), spell(FIELD, file)?);
    blocking(move || {
        let open = open_inside(&root, &file)?;
        let found = open.metadata().map_err(GitError::io(&root.join(&file)))?;
        if !found.is_file() {
            return Err(bad(FIELD, &file, REGULAR));
        }
        let mut bytes = Vec::new();
        open.take(max_bytes + 1).read_to_end(&mut bytes).map_err(GitError::io(&root.join(&file)))?;
        match bytes.len() as u64 > max_bytes {
            true => Err(GitError::FileTooLarge { field: FIELD.into(), file, max_bytes }),
            false => Ok(bytes),
        }
    })
    .await
}

/// The file as a commit has it.
pub async fn read_committed_file(
    repo: &Repo,
    commit: &str,
    file: &str,
    max_bytes: u64,
) -> Result<Vec<u8>, GitError> {
    let file = spell(FIELD, file)?;
    let list = ["ls-tree", "-l", "-z", "--full-tree", revision(commit)?, "--", &file];
    let listed = Git::read(repo.store()).env("GIT_LITERAL_PATHSPECS", "1").args(list).text().await?;
    let absent = || missing(FIELD, &file, format_args!("commit {commit:.12}"));
    let [mode, _, oid, size] =
        listed.split('\t').next().unwrap_or_default().split_whitespace().collect::<Vec<_>>()[..]
    else {
        return Err(absent());
    };
    match mode {
        "100644" | "100755" | "100664" => {}
        "120000" => return Err(bad(FIELD, &file, NO_LINK)),
        _ => return Err(bad(FIELD, &file, REGULAR)),
    }
    if size.parse::<u64>().is_ok_and(|size| size > max_bytes) {
        return Err(GitError::FileTooLarge { field: FIELD.into(), file, max_bytes });
    }
    Session::open(repo.store())?.contents(oid, max_bytes).await?.ok_or_else(absent)
}

fn open_inside(root: &Path, file: &str) -> Result<File, GitError> {
    // Opening a pipe without a writer would block.
    let look = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut place = OwnedFd::from(File::open(root).map_err(GitError::io(root))?);
    let mut parts = file.split('/').peekable();
    while let Some(part) = parts.next() {
        let flags = if parts.peek().is_some() { look | OFlags::DIRECTORY } else { look };
        place = match openat(&place, part, flags, Mode::empty()) {
            Ok(next) => next,
            Err(_) if is_link(&place, part) => return Err(bad(FIELD, file, NO_LINK)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG) => {
                return Err(missing(FIELD, file, root.display()));
            }
            // A socket, or a device without a driver.
            Err(Errno::NXIO | Errno::NODEV) => return Err(bad(FIELD, file, REGULAR)),
            Err(error) => return Err(GitError::io(&root.join(file))(error.into())),
        };
    }
    Ok(place.into())
}

fn is_link(place: &OwnedFd, name: &str) -> bool {
    let found = statat(place, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    const MAX_BYTES: u64 = 10;

    async fn read(root: &Path, file: &str) -> Result<Vec<u8>, GitError> {
        read_worktree_file(root, file, MAX_BYTES).await
    }

    #[tokio::test]
    async fn only_regular_files_inside_are_read_and_only_small_ones() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("tree");
        std::fs::create_dir_all(root.join("sub/deep")).expect("mkdir");
        std::fs::write(root.join("sub/deep/a.txt"), "0123456789").expect("write");
        std::fs::write(root.join("large"), "0123456789+").expect("write");
        std::fs::write(dir.path().join("secret"), "secret").expect("write");
        symlink("../secret", root.join("link")).expect("symlink");
        symlink("..", root.join("out")).expect("symlink");
        symlink("sub", root.join("inner")).expect("symlink");
        let _listener = UnixListener::bind(root.join("socket")).expect("a socket");
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .expect("a pipe");
        assert_eq!(read(&root, "sub/deep/a.txt").await.expect("bytes"), b"0123456789");
        assert!(matches!(read(&root, "large").await, Err(GitError::FileTooLarge { .. })));
        for file in ["nothing", "sub/nothing", "large/below", &"n".repeat(300)] {
            assert!(matches!(read(&root, file).await, Err(GitError::FileMissing { .. })), "{file}");
        }
        for file in
            ["link", "out/secret", "inner/deep/a.txt", "sub", "pipe", "socket", "../secret", ".git/config"]
        {
            assert!(matches!(read(&root, file).await, Err(GitError::BadPath { .. })), "{file}");
        }
    }
}
