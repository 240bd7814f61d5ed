//! Files of Forge's home, replaced as a whole.
//!
//! Invariant: a reader sees the old content or the new one, never half of either, also after a power failure. What is
//! set aside is never overwritten.

use std::io;
use std::path::{Path, PathBuf};

use forge_os::{Mode, with_suffix};

pub(crate) use forge_os::replace_linked as replace;

/// Whose business a file is.
pub(crate) const PRIVATE: Mode = Mode::Exactly(0o600);
/// More broken files than this mean that something else is wrong.
const MAX_ASIDE: usize = 1000;

/// Moves a file to `<name>.broken-<n>` with the first free number.
pub(crate) fn set_aside(path: &Path) -> io::Result<PathBuf> {
    for number in 1..=MAX_ASIDE {
        let aside = with_suffix(path, &format!("broken-{number}"));
        // A link fails where a rename would overwrite.
        match std::fs::hard_link(path, &aside) {
            Ok(()) => {
                std::fs::remove_file(path)?;
                return Ok(aside);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other(format!("there are {MAX_ASIDE} broken copies already; remove some")))
}

/// Shifts `<name>.1` to `<name>.2` and so on, drops the oldest, and copies the present file to `<name>.1`.
pub(crate) fn keep_version(path: &Path, versions: usize) -> io::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    for number in (1..versions).rev() {
        match std::fs::rename(
            with_suffix(path, &number.to_string()),
            with_suffix(path, &(number + 1).to_string()),
        ) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    std::fs::copy(path, with_suffix(path, "1")).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_stays_one_when_its_file_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| dir.path().join(name));
        std::fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        replace(&link, b"new", PRIVATE).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn versions_are_kept_up_to_their_number_and_broken_files_for_ever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p");
        for text in ["a", "b", "c", "d"] {
            keep_version(&path, 2).unwrap();
            std::fs::write(&path, text).unwrap();
        }
        let read = |name: &str| std::fs::read_to_string(dir.path().join(name)).ok();
        assert_eq!(
            (read("p.1").as_deref(), read("p.2").as_deref(), read("p.3")),
            (Some("c"), Some("b"), None)
        );
        set_aside(&path).unwrap();
        std::fs::write(&path, "e").unwrap();
        set_aside(&path).unwrap();
        assert_eq!((read("p.broken-1").as_deref(), read("p.broken-2").as_deref()), (Some("d"), Some("e")));
        assert_eq!(read("p"), None);
    }
}
