//! Forge's pre-commit hook, beside whatever hook was there before.
//!
//! Owns: `pre-commit` while it has Forge's line, and `pre-commit.before-forge`, which is the hook that it replaced.
//! Invariant: somebody else's hook is moved and called, never changed or overwritten; removing Forge's puts it back as
//! it was. Whether Forge is still installed or not, the hook itself never stops a commit.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use forge_os::file::FileError;

use crate::repo::rev_parse;
use crate::{GitError, admin};

const NAME: &str = "pre-commit";
const BEFORE: &str = "pre-commit.before-forge";
/// A hook is a script; Forge's own is shorter than any other.
const MAX_BYTES: u64 = 1 << 20;
/// The line by which Forge recognises its own hook.
const SIGN: &str = "# Installed by `forge hook install`; `forge hook uninstall` takes it away.";

/// The place of the hook for one checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    /// Where git looks for hooks; `core.hooksPath` may set it.
    folder: PathBuf,
    /// The folder is part of the checkout, so other worktrees have it once it is committed.
    pub in_checkout: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookState {
    /// There is no hook.
    Absent,
    /// A hook that Forge did not write.
    Foreign,
    Installed {
        /// The hook that was there before, which is called first.
        before: Option<PathBuf>,
    },
}

impl Hook {
    /// The hook of the checkout that contains `dir`; all worktrees of a repository share it unless its folder is in the
    /// checkout.
    pub async fn find(dir: &Path) -> Result<Hook, GitError> {
        let top = rev_parse(dir, &["--show-toplevel"]).await?;
        let top = top.first().ok_or_else(|| GitError::NoRepository(dir.to_owned()))?;
        // A relative `core.hooksPath` starts at the top.
        let found = rev_parse(Path::new(top), &["--path-format=absolute", "--git-path", "hooks"]).await?;
        let folder = PathBuf::from(found.first().ok_or_else(|| GitError::NoRepository(dir.to_owned()))?);
        let inside = folder.strip_prefix(top).is_ok_and(|rest| !rest.starts_with(".git"));
        Ok(Hook { folder, in_checkout: inside })
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, FileError> {
        forge_os::file::read(&self.folder, Path::new(name), MAX_BYTES)
    }

    pub fn state(&self) -> Result<HookState, GitError> {
        let path = self.path();
        match self.read(NAME) {
            Ok(bytes) if is_ours(&bytes) => {
                let before = self.folder.join(BEFORE);
                let is_there = std::fs::symlink_metadata(&before).is_ok();
                Ok(HookState::Installed { before: is_there.then_some(before) })
            }
            Ok(_) => Ok(HookState::Foreign),
            // A link that leads nowhere is somebody's, too, and so is one that leads elsewhere.
            Err(error) if error.is_missing() && std::fs::symlink_metadata(&path).is_err() => {
                Ok(HookState::Absent)
            }
            Err(error) if error.is_missing() || error.is_refusal() => Ok(HookState::Foreign),
            Err(error) => Err(GitError::io(&path)(error.into())),
        }
    }

    /// Installs the hook; `program` is tried first, then any `forge` on the PATH. Returns the state before.
    pub fn install(&self, program: &Path) -> Result<HookState, GitError> {
        let state = self.state()?;
        let (path, before) = (self.path(), self.folder.join(BEFORE));
        // A tool that wrote its hook again over Forge's, as husky does, has its earlier one kept already.
        let is_kept = || self.read(NAME).ok().is_some_and(|now| self.read(BEFORE).ok() == Some(now));
        let moves = state == HookState::Foreign && !is_kept();
        if moves && std::fs::symlink_metadata(&before).is_ok() {
            return Err(GitError::Exists(before));
        }
        std::fs::create_dir_all(&self.folder).map_err(GitError::io(&self.folder))?;
        let draft = self.folder.join("pre-commit.forge-new");
        std::fs::write(&draft, script(program)).map_err(GitError::io(&draft))?;
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&draft, mode).map_err(GitError::io(&draft))?;
        if moves {
            forge_os::rename_new(&path, &before).map_err(GitError::io(&path))?;
        }
        std::fs::rename(&draft, &path).map_err(GitError::io(&path))?;
        Ok(state)
    }

    /// Removes Forge's hook and puts the one before it back. Returns the state before; a foreign hook stays.
    pub fn uninstall(&self) -> Result<HookState, GitError> {
        let state = self.state()?;
        let path = self.path();
        let done = match &state {
            HookState::Installed { before: Some(before) } => std::fs::rename(before, &path),
            HookState::Installed { before: None } => std::fs::remove_file(&path),
            HookState::Absent | HookState::Foreign => Ok(()),
        };
        done.map_err(GitError::io(&path))?;
        Ok(state)
    }
}

/// The top of the linked worktree that holds `dir`, if it is one.
pub fn linked_worktree(dir: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(dir).ok()?;
    let top = real.ancestors().find(|dir| std::fs::symlink_metadata(dir.join(".git")).is_ok())?;
    admin::private_dir(top).map(|_| top.to_owned())
}

fn is_ours(script: &[u8]) -> bool {
    script.split(|byte| *byte == b'\n').take(3).any(|line| line == SIGN.as_bytes())
}

/// A shell script keeps its name while it is run from another file, because husky's scripts read theirs.
fn script(program: &Path) -> Vec<u8> {
    let mut script = format!("#!/bin/sh\n{SIGN}\n").into_bytes();
    script.extend_from_slice(
        b"# It links commits of agents to .genie/SESSION-STATE.md and never stops one itself.\n",
    );
    script.extend_from_slice(
        br#"before="$(dirname "$0")/pre-commit.before-forge"
if [ -x "$before" ]; then
  read -r first < "$before"
  case $first in
    '#!'*/sh | '#!'*/bash | '#!'*/dash | '#!'*' sh' | '#!'*' bash' | '#!'*/sh\ -* | '#!'*/bash\ -*)
      ${first#??} -c 'before=$1; shift; . "$before"' "$0" "$before" "$@" || exit $? ;;
    *) "$before" "$@" || exit $? ;;
  esac
fi
forge="#,
    );
    script.extend_from_slice(&quote(program.as_os_str().as_encoded_bytes()));
    script.extend_from_slice(
        br#"
[ -x "$forge" ] || forge=$(command -v forge) || exit 0
"$forge" hook run < /dev/null || true
"#,
    );
    script
}

/// As one shell word.
fn quote(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => quoted.extend_from_slice(br"'\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_forges_own_script_is_known_as_such() {
        assert!(is_ours(&script(Path::new("/usr/bin/forge"))));
        assert!(!is_ours(b"#!/bin/sh\nexit 0\n") && !is_ours(b""));
    }

    #[test]
    fn a_path_stays_one_word() {
        assert_eq!(quote(b"/it's here/forge"), br"'/it'\''s here/forge'");
    }
}
