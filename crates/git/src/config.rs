//! Adding a line to a repository's configuration without starting git, which every start would wait for.
//!
//! Invariant: the file is changed as git changes it: under `config.lock`, with its mode, in one rename. Whatever is not
//! plain (a name that would have to be quoted or is there already, a file that is a link, a lock that somebody holds) is
//! left to git. A killed server leaves no lock for good: it is a link to a file of its [`Scratch`], and goes with that.

use std::fs::{Metadata, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use crate::scratch::Scratch;
use crate::{GitError, Repo};

/// The names that git uses, and that of the file in a scratch directory.
const FILE: &str = "config";
const LOCK: &str = "config.lock";
/// More than the configuration of a repository with thousands of branches has.
const MAX_BYTES: u64 = 8 << 20;

/// Adds `[section "name"] key = value` at the end; false when git has to do it.
pub(crate) fn append(
    repo: &Repo,
    section: &str,
    name: &str,
    key: &str,
    value: &str,
) -> Result<bool, GitError> {
    let is_plain =
        |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte));
    let (file, lock) = (repo.common_dir().join(FILE), repo.common_dir().join(LOCK));
    let found = std::fs::symlink_metadata(&file).ok();
    let Some(found) = found.filter(|found| found.is_file() && found.len() <= MAX_BYTES) else {
        return Ok(false);
    };
    let Ok(mut text) = std::fs::read_to_string(&file) else { return Ok(false) };
    let head = format!("[{section} \"{name}\"]");
    if ![section, name, key, value].into_iter().all(is_plain) || text.contains(&head) {
        return Ok(false);
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    text.push_str(&format!("{end}{head}\n\t{key} = {value}\n"));
    let scratch = Scratch::new(repo)?;
    let (new, _) = scratch.write(FILE, text.as_bytes())?;
    let mode = Permissions::from_mode(found.mode() & 0o7777);
    std::fs::set_permissions(&new, mode).map_err(GitError::io(&new))?;
    if std::fs::hard_link(&new, &lock).is_err() {
        return Ok(false);
    }
    // Nobody changes it while it is locked, but somebody may have before.
    let is_same = std::fs::symlink_metadata(&file).is_ok_and(|now| version(&now) == version(&found));
    let is_done = is_same && std::fs::rename(&lock, &file).is_ok();
    if !is_done {
        let _ = std::fs::remove_file(&lock);
    }
    Ok(is_done)
}

/// Differs after every change of a file.
fn version(about: &Metadata) -> (u64, u64, i64, i64) {
    (about.ino(), about.len(), about.mtime(), about.mtime_nsec())
}

/// Removes the lock that the owner of this scratch directory took before it was killed.
pub(crate) fn unlock_left(common_dir: &Path, scratch: &Path) {
    let place = |path: &Path| std::fs::symlink_metadata(path).ok().map(|about| (about.dev(), about.ino()));
    let lock = common_dir.join(LOCK);
    if place(&lock).is_some_and(|lock| place(&scratch.join(FILE)) == Some(lock)) {
        let _ = std::fs::remove_file(&lock);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{read_to_string, remove_file, write};

    use super::*;

    async fn repository() -> (tempfile::TempDir, Repo) {
        let dir = tempfile::tempdir().unwrap();
        let repo = Repo::init(dir.path()).await.unwrap();
        (dir, repo)
    }

    fn add(repo: &Repo, name: &str) -> bool {
        append(repo, "branch", name, "forgeAttempt", "a1b2").unwrap()
    }

    #[tokio::test]
    async fn a_section_is_added_and_nothing_else_changes() {
        let (_dir, repo) = repository().await;
        let file = repo.common_dir().join(FILE);
        write(&file, "[core]\n\tbare = false").unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        assert!(add(&repo, "forge/a1b2-fix"));
        let want = "[core]\n\tbare = false\n[branch \"forge/a1b2-fix\"]\n\tforgeAttempt = a1b2\n";
        assert_eq!(read_to_string(&file).unwrap(), want);
        let about = std::fs::metadata(&file).unwrap();
        assert_eq!((about.mode() & 0o777, about.nlink()), (0o640, 1));
        assert!(!repo.common_dir().join(LOCK).exists());
    }

    #[tokio::test]
    async fn what_is_not_plain_is_left_to_git() {
        let (_dir, repo) = repository().await;
        let place = |name: &str| repo.common_dir().join(name);
        let (file, lock, elsewhere) = (place(FILE), place(LOCK), place("elsewhere"));
        let text = "[core]\n\tbare = false\n[branch \"known\"]\n";
        write(&elsewhere, text).unwrap();
        remove_file(&file).unwrap();
        assert!(!add(&repo, "x"), "no file");
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(!add(&repo, "x"), "a link");
        remove_file(&file).unwrap();
        write(&file, text).unwrap();
        for name in ["known", "a\"b", "a\nb", "a\\b", "ä", "a]b"] {
            assert!(!add(&repo, name), "{name:?}");
        }
        assert!(!lock.exists());
        write(&lock, "somebody's").unwrap();
        assert!(!add(&repo, "x"), "locked");
        assert_eq!(read_to_string(&lock).unwrap(), "somebody's");
        assert_eq!(read_to_string(&file).unwrap(), text);
    }

    #[tokio::test]
    async fn the_lock_of_a_killed_server_is_removed_and_no_other() {
        let (_dir, repo) = repository().await;
        let (lock, left) = (repo.common_dir().join(LOCK), repo.common_dir().join("left"));
        std::fs::create_dir(&left).unwrap();
        write(left.join(FILE), "new").unwrap();
        write(&lock, "new").unwrap();
        unlock_left(repo.common_dir(), &left);
        assert!(lock.exists(), "somebody else's");
        remove_file(&lock).unwrap();
        std::fs::hard_link(left.join(FILE), &lock).unwrap();
        unlock_left(repo.common_dir(), &left);
        assert!(!lock.exists());
    }
}
