//! Folders of this user that nobody else can change.
//!
//! Owns how such a folder is made, checked and repaired. Invariant: it is a real folder and not a link, and every
//! statement is about the folder that is open, not about a name that somebody could give to another one meanwhile.

use std::fs::{DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags, access};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

const ROOT: u32 = 0;

/// What everybody else can do in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    Nothing,
    /// Read it. Such a folder may be root's.
    Read,
}

/// Why a folder is not used.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{} {why}", path.display())]
pub struct Untrusted {
    path: PathBuf,
    why: String,
}

/// Makes the folder where there is none, with those above it, for this user alone. A folder of this user that is open
/// to others is closed; returns its earlier mode.
pub fn take_private(path: &Path, others: Others) -> Result<Option<u32>, Untrusted> {
    let untrusted = |why: String| Untrusted { path: path.to_owned(), why };
    match DirBuilder::new().recursive(true).mode(0o700).create(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            return Err(untrusted(format!("cannot be made: {error}")));
        }
        _ => {}
    }
    let folder = open(path).map_err(|error| match std::fs::symlink_metadata(path) {
        Ok(seen) if !seen.is_dir() => untrusted(no_folder(&seen).to_owned()),
        Ok(seen) => {
            judge(&seen, others).map_or_else(untrusted, |_| untrusted(format!("cannot be opened: {error}")))
        }
        Err(error) => untrusted(format!("cannot be opened: {error}")),
    })?;
    let seen = || folder.metadata().map_err(|error| untrusted(format!("cannot be examined: {error}")));
    let before = seen()?;
    if !judge(&before, others).map_err(untrusted)? {
        return Ok(None);
    }
    let mode = before.mode() & 0o7777;
    let closed = folder.set_permissions(Permissions::from_mode(mode & !others.denied()));
    match closed.map_err(|error| error.to_string()).and_then(|()| {
        // Some file systems have no modes and report success.
        let still = judge(&seen().map_err(|error| error.to_string())?, others)?;
        if still { Err("its file system keeps the mode".to_owned()) } else { Ok(()) }
    }) {
        Ok(()) => Ok(Some(mode)),
        Err(error) => {
            Err(untrusted(format!("is open to other users (mode {mode:o}) and cannot be closed: {error}")))
        }
    }
}

/// Whether [`take_private`] would succeed, as far as can be determined; changes nothing.
pub fn look_private(path: &Path, others: Others) -> Result<(), Untrusted> {
    let untrusted = |why: String| Untrusted { path: path.to_owned(), why };
    match std::fs::symlink_metadata(path) {
        Ok(seen) => judge(&seen, others).map(drop).map_err(untrusted),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let above = path.ancestors().skip(1).find(|above| above.exists()).unwrap_or(Path::new("/"));
            let able = access(above, Access::WRITE_OK | Access::EXEC_OK);
            able.map_err(|error| untrusted(format!("cannot be made in {}: {error}", above.display())))
        }
        Err(error) => Err(untrusted(format!("cannot be examined: {error}"))),
    }
}

impl Others {
    fn denied(self) -> u32 {
        match self {
            Others::Nothing => 0o077,
            Others::Read => 0o022,
        }
    }
}

/// Whether the folder, which is ours, is more open than it should be; or why it cannot be used.
fn judge(seen: &Metadata, others: Others) -> Result<bool, String> {
    if !seen.is_dir() {
        return Err(no_folder(seen).to_owned());
    }
    let (owner, me) = (seen.uid(), geteuid().as_raw());
    if owner != me && !(others == Others::Read && owner == ROOT) {
        return Err(format!("belongs to user {owner}, and Forge runs as user {me}"));
    }
    match seen.mode() & others.denied() != 0 {
        true if owner != me => Err(format!("belongs to user {owner}, and others can write to it")),
        open => Ok(open),
    }
}

fn no_folder(seen: &Metadata) -> &'static str {
    if seen.is_symlink() { "is a link and not a folder" } else { "is not a folder" }
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
    OpenOptions::new().read(true).custom_flags(flags.bits().cast_signed()).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_new_folder_and_those_made_above_it_are_for_this_user_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        look_private(&path, Others::Nothing).unwrap();
        assert_eq!(take_private(&path, Others::Nothing).unwrap(), None);
        assert_eq!((mode(&dir.path().join("a")), mode(&path)), (0o700, 0o700));
    }

    #[test]
    fn a_folder_of_ours_that_is_open_to_others_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        for (others, before, after) in
            [(Others::Nothing, 0o755, 0o700), (Others::Nothing, 0o2777, 0o2700), (Others::Read, 0o777, 0o755)]
        {
            set_mode(dir.path(), before);
            look_private(dir.path(), others).unwrap();
            assert_eq!(mode(dir.path()), before, "a look changes nothing");
            assert_eq!(take_private(dir.path(), others).unwrap(), Some(before));
            assert_eq!(mode(dir.path()), after);
            assert_eq!(take_private(dir.path(), others).unwrap(), None, "once");
        }
    }

    #[test]
    fn a_link_and_a_file_are_no_folders() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        std::fs::create_dir(&real).unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        symlink(&real, dir.path().join("link")).unwrap();
        symlink(dir.path().join("nowhere"), dir.path().join("dangling")).unwrap();
        for (name, why) in [("link", "is a link"), ("dangling", "is a link"), ("file", "is not a folder")] {
            let path = dir.path().join(name);
            let looked = look_private(&path, Others::Nothing).unwrap_err().to_string();
            let taken = take_private(&path, Others::Nothing).unwrap_err().to_string();
            assert!(looked.contains(why) && taken.contains(why), "{name}: {looked}; {taken}");
        }
        assert!(!dir.path().join("nowhere").exists(), "nothing is made where a link leads");
    }

    #[test]
    fn the_folder_of_another_user_is_not_ours_whatever_its_mode() {
        if !geteuid().is_root() {
            eprintln!("not tried: only root can give a folder to another user");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        for mode in [0o700, 0o777] {
            let path = dir.path().join(format!("{mode:o}"));
            std::fs::create_dir(&path).unwrap();
            chown(&path, Some(65534), Some(65534)).unwrap();
            set_mode(&path, mode);
            for others in [Others::Nothing, Others::Read] {
                let looked = look_private(&path, others).unwrap_err().to_string();
                let taken = take_private(&path, others).unwrap_err().to_string();
                assert!(looked.contains("belongs to user 65534") && looked == taken, "{looked}; {taken}");
            }
            assert_eq!(super::tests::mode(&path), mode, "it is left as it is");
        }
    }
}
