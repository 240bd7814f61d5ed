//! Files of Forge's home, replaced as a whole.
//!
//! Invariant: a reader sees the old content or the new one, never half of either, also after a power failure. What is
//! set aside is never overwritten.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Whose business a file is.
pub(crate) const PRIVATE: u32 = 0o600;
/// More broken files than this mean that something else is wrong.
const MAX_ASIDE: usize = 1000;

/// Writes beside the file and renames. Callers take turns: there is one draft per file.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    // A link, as people have who keep their settings in a repository, stays one.
    let real = std::fs::canonicalize(path);
    let path = real.as_deref().unwrap_or(path);
    let draft = with_suffix(path, "new");
    // A draft that a crash left behind may have another mode.
    match std::fs::remove_file(&draft) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&draft, path)?;
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

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

pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_is_replaced_with_its_mode_and_nothing_is_left_beside() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("config.json");
        std::fs::write(&path, "old").unwrap();
        std::fs::write(dir.path().join("config.json.new"), "left by a crash").unwrap();
        replace(&path, b"new", PRIVATE).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
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
