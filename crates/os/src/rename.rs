//! Renaming without replacing.

use std::io;
use std::path::Path;

/// Renames, failing with `AlreadyExists` when the target exists, even as an empty directory.
pub fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        use rustix::io::Errno;
        match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            // Some file systems do not have the flag; then the check below must suffice.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(other) => return Err(other.into()),
        }
    }
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    std::fs::rename(from, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_replaced() {
        let dir = tempfile::tempdir().expect("a folder");
        let [from, to] = ["from", "to"].map(|name| dir.path().join(name));
        std::fs::create_dir(&from).expect("a folder");
        std::fs::create_dir(&to).expect("a folder");
        let refused = rename_new(&from, &to).expect_err("an empty folder stands there");
        assert_eq!(refused.kind(), io::ErrorKind::AlreadyExists);
        std::fs::remove_dir(&to).expect("removed");
        rename_new(&from, &to).expect("renamed");
        assert!(to.is_dir() && !from.exists());
    }
}
