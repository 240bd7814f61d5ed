//! Opening a project or a worktree in an editor.
//!
//! Invariant: only files below the root are opened. With a remote host configured nothing is started here: the caller
//! gets a link that opens the place over ssh from where they sit.

use std::path::{Path, PathBuf};

use forge_run::Editor;
use forge_types::{AttemptId, EditorSettings, OpenEditor, ProjectId, RunOwner};

use crate::{Error, Forge, Result};

impl Forge {
    /// Opens the project, or a file of it; returns a link when the editor is on another machine.
    pub async fn open_project(&self, id: ProjectId, request: OpenEditor) -> Result<Option<String>> {
        let project = self.project(id).await?;
        self.open_editor(PathBuf::from(project.git_repo_path), request).await
    }

    /// Opens an attempt's worktree, or a file of it.
    pub async fn open_attempt(&self, id: AttemptId, request: OpenEditor) -> Result<Option<String>> {
        let mut workplace = self.workplace(RunOwner::Attempt(id)).await?;
        self.restore_directory(&mut workplace).await?;
        self.open_editor(workplace.directory.local_path().to_owned(), request).await
    }

    async fn open_editor(&self, root: PathBuf, request: OpenEditor) -> Result<Option<String>> {
        let settings = self.settings().editor.clone();
        let open = move || open(&root, &request, &settings);
        let opened = tokio::task::spawn_blocking(open).await;
        opened.map_err(|cause| Error::internal("the editor was not started", cause))?
    }
}

fn open(root: &Path, request: &OpenEditor, settings: &EditorSettings) -> Result<Option<String>> {
    let file = request.file_path.as_deref().filter(|file| !file.is_empty());
    let path = match file {
        Some(file) => inside(root, file)?,
        None => root.to_owned(),
    };
    let command = settings.custom_command.as_deref();
    let asked = request.editor_type.as_deref().and_then(|name| Editor::named(name, command));
    let editor = asked.or_else(|| Editor::named(&settings.editor_type, command)).unwrap_or_default();
    if let Some(link) = remote_link(&editor, settings, &path) {
        return Ok(Some(link));
    }
    let path_env = std::env::var_os("PATH").unwrap_or_default();
    let opened = editor.open(&path, &path_env);
    opened.map(|()| None).map_err(|cause| {
        let program = editor.program();
        let message = format!("cannot open the editor `{program}`: {cause}; is it on the server's PATH?");
        match cause.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::PermissionDenied => Error::invalid(message),
            _ => Error::internal(message, cause),
        }
    })
}

/// A link that opens the path over ssh, when a host is configured and the editor knows such links.
fn remote_link(editor: &Editor, settings: &EditorSettings, path: &Path) -> Option<String> {
    let host = settings.remote_ssh_host.as_deref().map(str::trim).filter(|host| !host.is_empty())?;
    let scheme = editor.scheme()?;
    let user = settings.remote_ssh_user.as_deref().map(str::trim).filter(|user| !user.is_empty());
    let user = user.map_or(String::new(), |user| format!("{user}@"));
    // Editors take a place without a line for a folder.
    let line = if path.is_dir() { "" } else { ":1:1" };
    Some(format!("{scheme}://vscode-remote/ssh-remote+{user}{host}{}{line}", path.display()))
}

/// The real path of `file`, which must exist below `root`.
fn inside(root: &Path, file: &str) -> Result<PathBuf> {
    let real = |path: &Path| path.canonicalize().ok();
    match (real(root), real(&root.join(file))) {
        (Some(root), Some(path)) if path.starts_with(&root) => Ok(path),
        _ => {
            Err(Error::invalid(format!("'{file}' is not a file inside {}", root.display()))
                .of_field("file_path"))
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

    use super::*;

    #[test]
    fn a_remote_editor_is_a_link_and_a_file_gets_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        std::fs::write(root.join("a.txt"), "").unwrap();
        let settings = EditorSettings {
            remote_ssh_host: Some("box".into()),
            remote_ssh_user: Some("ann".into()),
            ..EditorSettings::default()
        };
        let ask = |editor: Option<&str>, file: Option<&str>| {
            let request =
                OpenEditor { editor_type: editor.map(str::to_owned), file_path: file.map(str::to_owned) };
            open(&root, &request, &settings)
        };
        let place = root.display();
        assert_eq!(
            ask(None, None).unwrap(),
            Some(format!("vscode://vscode-remote/ssh-remote+ann@box{place}"))
        );
        assert_eq!(
            ask(Some("CURSOR"), Some("a.txt")).unwrap(),
            Some(format!("cursor://vscode-remote/ssh-remote+ann@box{place}/a.txt:1:1"))
        );
        assert_eq!(
            ask(Some("NANO"), None).unwrap(),
            ask(None, None).unwrap(),
            "unknown is the configured one"
        );
        assert_eq!(ask(None, Some("../a.txt")).unwrap_err().kind(), crate::Kind::Invalid);
    }
}
