//! Opening a folder or file in the user's editor.
//!
//! Owns: the editors that clients can name, how each is started here and how it is reached from another machine.
//! Invariant: the path is one argument of a program found on PATH; nothing goes through a shell, and the editor
//! outlives the server.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use forge_types::{EditorType, WITHHELD};

/// An editor, ready to be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Editor {
    kind: EditorType,
    /// Program and first arguments; only `CUSTOM` has any.
    words: Vec<String>,
}

/// The default editor.
impl Default for Editor {
    fn default() -> Self {
        Self { kind: EditorType::VsCode, words: Vec::new() }
    }
}

impl Editor {
    /// By its name on the wire; `command` is the command line of `CUSTOM`, split at spaces.
    pub fn named(name: &str, command: Option<&str>) -> Option<Self> {
        let kind = EditorType::named(name)?;
        let words: Vec<String> = match kind {
            EditorType::Custom => command?.split_whitespace().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        (kind != EditorType::Custom || !words.is_empty()).then_some(Self { kind, words })
    }

    pub fn program(&self) -> &str {
        match self.kind {
            EditorType::VsCode => "code",
            EditorType::Cursor => "cursor",
            EditorType::Windsurf => "windsurf",
            EditorType::IntelliJ => "idea",
            EditorType::Zed => "zed",
            EditorType::Xcode => "xed",
            EditorType::Custom => self.words.first().map_or("", String::as_str),
        }
    }

    /// The scheme of links that open a remote folder, for editors that support such links.
    pub fn scheme(&self) -> Option<&'static str> {
        match self.kind {
            EditorType::VsCode => Some("vscode"),
            EditorType::Cursor => Some("cursor"),
            EditorType::Windsurf => Some("windsurf"),
            EditorType::IntelliJ | EditorType::Zed | EditorType::Xcode | EditorType::Custom => None,
        }
    }

    /// Starts the editor on `path` and does not wait for it.
    pub fn open(&self, path: &Path, path_env: &OsStr) -> std::io::Result<()> {
        let program = which::which_in(self.program(), Some(path_env), path)
            .map_err(|cause| std::io::Error::new(std::io::ErrorKind::NotFound, cause))?;
        let mut command = Command::new(program);
        command.args(self.words.iter().skip(1));
        // Commands typed in its terminal must not get the server's own variables.
        for name in WITHHELD {
            command.env_remove(name);
        }
        command.arg(path).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        // Launchers exit on their own; waiting for them on another thread keeps them from becoming zombies.
        std::thread::spawn(move || child.wait());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_editor_is_an_error_and_an_unknown_name_is_none() {
        assert_eq!(Editor::named("EMACS", None), None);
        assert_eq!(Editor::named("CUSTOM", Some("  ")), None);
        let empty = tempfile::tempdir().expect("a folder");
        let editor = Editor::named("ZED", None).expect("an editor");
        let opened = editor.open(Path::new("/"), empty.path().as_os_str());
        assert_eq!(opened.expect_err("no editor").kind(), std::io::ErrorKind::NotFound);
    }

    #[test]
    fn a_custom_command_gets_its_words_and_the_path_unchanged() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        let (script, args) = (dir.path().join("edit"), dir.path().join("args"));
        let text = format!("#!/bin/sh\nprintf '%s|' \"$@\" > {0}.new && mv {0}.new {0}\n", args.display());
        std::fs::write(&script, text).expect("a script");
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).expect("executable");
        let file = dir.path().join("a; touch $(b).txt");
        std::fs::write(&file, "").expect("a file");
        let editor = Editor::named("CUSTOM", Some("edit --wait $HOME")).expect("an editor");
        let path_env = std::env::join_paths([dir.path(), Path::new("/usr/bin"), Path::new("/bin")]);
        editor.open(&file, &path_env.expect("a PATH")).expect("it starts");
        let begun = std::time::Instant::now();
        while !args.exists() {
            assert!(begun.elapsed() < std::time::Duration::from_secs(60), "the editor was not started");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let args = std::fs::read_to_string(&args).expect("its arguments");
        assert_eq!(args, format!("--wait|$HOME|{}|", file.display()));
    }
}
