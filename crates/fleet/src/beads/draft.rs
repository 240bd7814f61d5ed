//! `issues.jsonl` while it is changed.
//!
//! Invariant: lines that were not changed are written back byte for byte, in their order, whatever is in them; and
//! the file has either its old or its new content, also after a crash.

use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;

use super::bead::{Bead, Time};
use super::error::BeadsError;
use super::jsonl::{self, BeadQueueReader};
use super::snapshot::{self, Snapshot};

#[derive(Debug)]
pub(super) struct Draft {
    path: PathBuf,
    lines: Vec<Vec<u8>>,
    /// The last line of each bead.
    places: HashMap<String, usize>,
    snapshot: Snapshot,
    is_changed: bool,
}

impl Draft {
    /// Reads the file. The caller holds the lock.
    pub(super) fn open(file: &BeadQueueReader) -> Result<Self, BeadsError> {
        let bytes = file.read()?;
        // Changes the target of a link, not the link.
        let path = std::fs::canonicalize(file.path()).unwrap_or_else(|_| file.path().to_owned());
        let snapshot = jsonl::parse(&path, &bytes)?;
        let (mut lines, mut places) = (Vec::new(), HashMap::new());
        for line in snapshot::lines(&bytes) {
            let line = line.map_err(|problem| BeadsError::Damaged { path: path.clone(), problem })?;
            places.extend(line.bead.map(|bead| (bead.id, lines.len())));
            lines.push(line.raw.to_vec());
        }
        Ok(Self { path, lines, places, snapshot, is_changed: false })
    }

    /// The beads as they were when the file was read.
    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    pub(super) fn get(&self, id: &str) -> Result<Bead, BeadsError> {
        let found = self.snapshot.get(id).filter(|bead| *bead.status() != super::bead::Status::Tombstone);
        found.cloned().ok_or_else(|| BeadsError::NoSuchBead { id: id.to_owned() })
    }

    /// Replaces a bead, or adds it at the end, with the time of the change.
    pub(super) fn put(&mut self, mut bead: Bead) -> Result<Bead, BeadsError> {
        bead.updated_at = Some(Time::now());
        let line = serde_json::to_vec(&bead).map_err(|error| {
            let source = std::io::Error::other(error);
            BeadsError::Io { path: self.path.clone(), source }
        })?;
        match self.places.get(&bead.id) {
            Some(place) => self.lines[*place] = line,
            None => {
                self.places.insert(bead.id.clone(), self.lines.len());
                self.lines.push(line);
            }
        }
        self.is_changed = true;
        Ok(bead)
    }

    /// Writes the changes, if there are any.
    pub(super) fn save(self) -> Result<(), BeadsError> {
        if !self.is_changed {
            return Ok(());
        }
        let dir = self.path.parent().unwrap_or(&self.path);
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        // Only the holder of the lock writes it, so nobody uses what a crash left. It is removed rather than
        // overwritten, because a link or a pipe in its place would be followed.
        let temporary = dir.join(format!(".{name}.forge.tmp"));
        let mode = std::fs::metadata(&self.path).map_or(0o644, |meta| meta.permissions().mode() & 0o777);
        let write = || {
            match std::fs::remove_file(&temporary) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = File::options().create_new(true).write(true).mode(mode).open(&temporary)?;
            let mut content = self.lines.join(&b'\n');
            content.push(b'\n');
            file.write_all(&content)?;
            file.sync_all()
        };
        write().map_err(BeadsError::io(&temporary))?;
        std::fs::rename(&temporary, &self.path).map_err(BeadsError::io(&self.path))?;
        // Syncing the directory makes the rename durable. Some file systems cannot do that, and the change is already
        // made, so a failure is not an error, unlike in `forge_os`.
        let _ = File::open(dir).and_then(|dir| dir.sync_all());
        Ok(())
    }
}
