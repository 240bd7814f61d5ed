//! Opening a folder or file in the user's editor.
//!
//! Invariant: the path is one argument of a program found on PATH; nothing goes through a shell, and the editor
//! lives on its own.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

/// An editor that clients can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Editor {
    #[default]
    VsCode,
    Cursor,
    Windsurf,
    IntelliJ,
    Zed,
    Xcode,
}

impl Editor {
    /// By its name on the wire; an unknown one is the default.
    pub fn named(name: &str) -> Self {
        match name {
            "CURSOR" => Editor::Cursor,
            "WINDSURF" => Editor::Windsurf,
            "INTELLI_J" => Editor::IntelliJ,
            "ZED" => Editor::Zed,
            "XCODE" => Editor::Xcode,
            _ => Editor::VsCode,
        }
    }

    pub fn program(self) -> &'static str {
        match self {
            Editor::VsCode => "code",
            Editor::Cursor => "cursor",
            Editor::Windsurf => "windsurf",
            Editor::IntelliJ => "idea",
            Editor::Zed => "zed",
            Editor::Xcode => "xed",
        }
    }

    /// Starts the editor on `path` and does not wait for it.
    pub fn open(self, path: &Path, path_env: &OsStr) -> std::io::Result<()> {
        let program = which::which_in(self.program(), Some(path_env), path)
            .map_err(|cause| std::io::Error::new(std::io::ErrorKind::NotFound, cause))?;
        let mut child = Command::new(program)
            .arg(path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // Launchers end by themselves; waiting for them elsewhere keeps them from becoming zombies.
        std::thread::spawn(move || child.wait());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_editor_that_is_not_there_is_an_error_and_a_name_nobody_knows_is_the_default() {
        assert_eq!(Editor::named("EMACS"), Editor::VsCode);
        let empty = tempfile::tempdir().expect("a folder");
        let opened = Editor::Zed.open(Path::new("/"), empty.path().as_os_str());
        assert_eq!(opened.expect_err("no editor").kind(), std::io::ErrorKind::NotFound);
    }
}
