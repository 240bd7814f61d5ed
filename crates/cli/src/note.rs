//! Files in which a server notes its address, its process id and its login link.
//!
//! Invariant: a note is complete or absent, private to its user, and removed with the server that wrote it. No link is
//! followed to write one.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

pub struct Note {
    path: PathBuf,
    text: String,
}

impl Note {
    /// A server works even if it cannot write its notes.
    pub fn leave(path: PathBuf, text: String) -> Self {
        let note = Self { path, text };
        if let Err(error) = note.write() {
            tracing::warn!(path = %note.path.display(), %error, "cannot write this file");
        }
        note
    }

    /// Not synced: a note is useless after its server ends.
    fn write(&self) -> std::io::Result<()> {
        let draft = self.path.with_extension(format!("{}.new", std::process::id()));
        match std::fs::remove_file(&draft) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
        file.write_all(self.text.as_bytes())?;
        std::fs::rename(&draft, &self.path)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        // Another server may have written its own in the meantime.
        if std::fs::read_to_string(&self.path).is_ok_and(|text| text == self.text) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
