//! The folder in which worktrees are created, for the server and for commands that show it.
//!
//! Invariant: read-only. The folder is created, and checked again, when a server opens it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use forge_git::look_at_base;

#[derive(Debug)]
pub struct Base {
    pub path: PathBuf,
    /// Why it is not the usual one, if none was requested.
    pub why: Option<String>,
}

/// The requested folder, else the usual one, else one in the home: another user may own the usual one.
pub fn choose(asked: Option<PathBuf>, usual: PathBuf, home: &Path) -> Result<Base> {
    if let Some(asked) = asked {
        let path = std::path::absolute(asked)?;
        look_at_base(&path).with_context(|| {
            "cannot create worktrees: choose a folder of your own, not a link to it, with FORGE_WORKTREE_DIR or \
             --worktree-dir, or unset it to use the default"
        })?;
        return Ok(Base { path, why: None });
    }
    let own = home.join("worktrees");
    match look_at_base(&usual) {
        // Existing worktrees must be found where they were created.
        Ok(()) if own.exists() && !usual.exists() => {
            Ok(Base { path: own, why: Some("it has been used before".to_owned()) })
        }
        Ok(()) => Ok(Base { path: usual, why: None }),
        Err(untrusted) => Ok(Base { path: own, why: Some(untrusted.to_string()) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    struct Place {
        _dir: tempfile::TempDir,
        usual: PathBuf,
        home: PathBuf,
    }

    fn place() -> Place {
        let dir = tempfile::tempdir().unwrap();
        let (usual, home) = (dir.path().join("automagik-forge/worktrees"), dir.path().join("home"));
        std::fs::create_dir(&home).unwrap();
        Place { _dir: dir, usual, home }
    }

    #[test]
    fn the_usual_base_is_used_where_it_is_free_or_ours() {
        let place = place();
        for _ in 0..2 {
            let base = choose(None, place.usual.clone(), &place.home).unwrap();
            assert_eq!((&base.path, &base.why), (&place.usual, &None));
            std::fs::create_dir_all(&place.usual).unwrap();
            // As created by earlier versions.
            std::fs::create_dir_all(place.home.join("worktrees")).unwrap();
        }
    }

    #[test]
    fn a_planted_base_is_left_alone_for_one_in_the_home_that_stays() {
        let place = place();
        let above = place.usual.parent().unwrap();
        symlink("/", above).unwrap();
        let base = choose(None, place.usual.clone(), &place.home).unwrap();
        assert_eq!(base.path, place.home.join("worktrees"));
        assert!(base.why.unwrap().contains("automagik-forge is a link"));
        std::fs::create_dir(&base.path).unwrap();
        std::fs::remove_file(above).unwrap();
        let later = choose(None, place.usual.clone(), &place.home).unwrap();
        assert_eq!(later.path, base.path, "what was made there is found there");
        assert!(later.why.is_some());
    }

    #[test]
    fn a_second_user_of_the_machine_has_worktrees_in_the_home() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("not tried: only root can give a folder to another user");
            return;
        }
        let place = place();
        std::fs::create_dir_all(&place.usual).unwrap();
        for folder in [&*place.usual, place.usual.parent().unwrap()] {
            std::os::unix::fs::chown(folder, Some(65534), Some(65534)).unwrap();
            let base = choose(None, place.usual.clone(), &place.home).unwrap();
            assert_eq!(base.path, place.home.join("worktrees"));
            assert!(base.why.unwrap().contains("belongs to user 65534"));
        }
    }

    #[test]
    fn a_requested_base_is_used_or_refused() {
        let place = place();
        let asked = place.home.join("asked");
        assert_eq!(choose(Some(asked.clone()), place.usual.clone(), &place.home).unwrap().path, asked);
        symlink("/", &asked).unwrap();
        let refused = format!("{:#}", choose(Some(asked), place.usual, &place.home).unwrap_err());
        assert!(refused.contains("FORGE_WORKTREE_DIR") && refused.contains("asked is a link"), "{refused}");
    }
}
