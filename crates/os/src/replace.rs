//! Files replaced as a whole.
//!
//! Invariant: a reader sees the old content or the new one, never half of either, also after a power failure.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What others may do with a file after it is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Exactly(u32),
    /// What they might before. A new file gets this, less what the user's mask removes.
    Kept {
        new: u32,
    },
}

/// Writes beside the file and renames; both are on the disk when this returns. A link in the file's place is replaced
/// like a file. Callers take turns: there is one draft per file.
pub fn replace(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".forge-new");
    let draft = PathBuf::from(draft);
    let renamed = write(&draft, path, bytes, mode).and_then(|()| std::fs::rename(&draft, path));
    if renamed.is_err() {
        // The failure is reported; a draft that stays does no harm.
        let _ = std::fs::remove_file(&draft);
    }
    renamed?;
    sync_folder(folder_of(path))
}

fn write(draft: &Path, path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    // What a crash left may have another mode. It is removed rather than overwritten: a link in its place would be
    // written to.
    match std::fs::remove_file(draft) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let (first, last) = match mode {
        Mode::Exactly(mode) => (0o600, Some(mode)),
        Mode::Kept { new } => match std::fs::metadata(path) {
            Ok(found) => (0o600, Some(found.permissions().mode() & 0o7777)),
            Err(_) => (new, None),
        },
    };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(first).open(draft)?;
    file.write_all(bytes)?;
    if let Some(mode) = last {
        file.set_permissions(Permissions::from_mode(mode))?;
    }
    file.sync_all()
}

/// The names in a folder are on the disk when this returns.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The same for a file that may be a link, as people have who keep their settings in a repository: the link stays.
pub fn replace_linked(path: &Path, bytes: &[u8], mode: Mode) -> io::Result<()> {
    let real = std::fs::canonicalize(path);
    replace(real.as_deref().unwrap_or(path), bytes, mode)
}

/// `<name>.<suffix>` beside the file.
pub fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_with_its_mode_and_nothing_is_left_beside() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("config.json");
        let mode = || std::fs::metadata(&path).expect("a file").permissions().mode() & 0o7777;
        for (wanted, got) in [
            (Mode::Kept { new: 0o400 }, 0o400),
            (Mode::Exactly(0o666), 0o666),
            (Mode::Kept { new: 0o400 }, 0o666),
            (Mode::Exactly(0o600), 0o600),
        ] {
            std::fs::write(dir.path().join("config.json.forge-new"), "left by a crash").expect("a draft");
            replace(&path, b"new", wanted).expect("replaced");
            assert_eq!((std::fs::read(&path).expect("read"), mode()), (b"new".to_vec(), got), "{wanted:?}");
            assert_eq!(std::fs::read_dir(dir.path()).expect("a list").count(), 1);
        }
    }

    #[test]
    fn a_link_in_the_place_of_the_draft_is_not_written_to() {
        let dir = tempfile::tempdir().expect("a folder");
        let [path, draft, other] = ["file", "file.forge-new", "other"].map(|name| dir.path().join(name));
        std::os::unix::fs::symlink(&other, &draft).expect("a link");
        replace(&path, b"new", Mode::Exactly(0o600)).expect("replaced");
        assert!(path.is_file() && !other.exists());
    }

    #[test]
    fn what_cannot_be_replaced_leaves_nothing_beside() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("folder");
        std::fs::create_dir(&path).expect("a folder");
        replace(&path, b"new", Mode::Exactly(0o600)).expect_err("a folder stands there");
        assert_eq!(std::fs::read_dir(dir.path()).expect("a list").count(), 1);
    }
}
