//! The databases of vibe-kanban and automagik-forge, read for an import.
//!
//! Invariants: nothing is ever written, neither to the file nor beside it, and no lock is held for longer than a look at one
//! table takes, so that the other server continues undisturbed. Their schema changed often; it is read by the columns
//! that are there. A missing column is not an error; what is not understood becomes a note.

mod assemble;
mod cell;
mod jsonl;
mod location;
mod logs;
mod open;
mod table;

use std::path::{Path, PathBuf};

use forge_types::Bundle;

use crate::LegacyError;
use logs::Logs;
use open::Opened;
use table::Tables;

pub use location::KINDS;

/// Which system's database it is, and where its files are.
#[derive(Clone, Debug)]
pub struct Database {
    source: String,
    path: PathBuf,
    /// Where images may be, in the order in which they are looked for.
    images: Vec<PathBuf>,
    /// Where a copy is made if the database cannot be read in its place.
    scratch: PathBuf,
}

impl Database {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Everything the database has to give. Logs are read from it when they are pulled.
    pub async fn read(&self) -> Result<Bundle, LegacyError> {
        let mut opened = Opened::open(&self.path, &self.scratch).await?;
        let tables = Tables::read(opened.conn()).await.map_err(|error| self.unreadable(error))?;
        if tables.has_column("projects", "created_ms") {
            return Err(self.unreadable("it is a database of Forge itself"));
        }
        if tables.rows("projects").is_empty() && tables.rows("workspaces").is_empty() {
            return Err(self.unreadable("it has no projects and no workspaces; is it another program's?"));
        }
        let logs = Logs::new(opened, &tables, self.path.parent().unwrap_or(Path::new("/")));
        Ok(assemble::bundle(self, &tables, &logs))
    }

    fn unreadable(&self, reason: impl std::fmt::Display) -> LegacyError {
        open::unreadable(&self.path, reason)
    }
}
