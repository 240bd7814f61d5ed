//! The beads of a project: where they are, what stores them, and which program changes them.
//!
//! Owns the choice of the store for a workspace. Invariant: Forge writes a file itself only where no program or
//! database could be writing it too.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use super::cli::CliStore;
use super::error::BeadsError;
use super::jsonl::BeadQueueReader;
use super::local::LocalStore;
use super::place::{Layout, Place, Tool};
use super::program::{self, Program, Rejected};
use super::ready::ReadyPolicy;
use super::store::Store;

/// What detection found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    pub place: Place,
    pub flavour: Flavour,
    pub program: Option<Program>,
    pub rejected: Vec<Rejected>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    Br,
    /// bd up to 0.49: SQLite and JSONL.
    ClassicBd,
    /// bd since 0.50: Dolt.
    ModernBd,
    /// A JSONL file without a tool; Forge writes it as br would.
    Local,
}

/// What detection looks at besides the directory.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// `BEADS_DIR`. A server with many projects leaves it out, because it would send all of them to one store.
    pub beads_dir: Option<OsString>,
    pub path: Option<OsString>,
}

impl Surroundings {
    fn of_process() -> Self {
        Self { beads_dir: std::env::var_os("BEADS_DIR"), path: std::env::var_os("PATH") }
    }
}

impl Workspace {
    /// The workspace of a directory, with the environment of this process; `None` when it has no beads.
    pub async fn find(start: &Path) -> Result<Option<Self>, BeadsError> {
        Self::find_in(start, &Surroundings::of_process()).await
    }

    pub async fn find_in(start: &Path, around: &Surroundings) -> Result<Option<Self>, BeadsError> {
        let Some(place) = Place::find(start, around.beads_dir.as_deref())? else { return Ok(None) };
        let path = around.path.as_deref();
        let (program, rejected) = program::find(path.map(OsStr::new), &place.dir, &place.layout).await;
        let flavour = flavour(&place.layout, program.as_ref());
        Ok(Some(Self { place, flavour, program, rejected }))
    }

    /// As if no program were installed.
    pub(super) fn without_program(place: Place) -> Self {
        Self { flavour: flavour(&place.layout, None), place, program: None, rejected: Vec::new() }
    }

    /// Whether the detection is still valid; if not, it must be repeated.
    pub fn is_current(&self) -> bool {
        let Ok(Some(now)) = Place::find(self.place.root(), Some(self.place.dir.as_os_str())) else {
            return false;
        };
        let same_place = now.layout == self.place.layout && now.jsonl == self.place.jsonl;
        same_place && self.program.as_ref().is_none_or(|program| program.path.is_file())
    }

    /// The store that serves this workspace.
    pub fn open(&self) -> Result<Store, BeadsError> {
        let unsupported = |why: String| BeadsError::Unsupported { path: self.place.dir.clone(), why };
        match (&self.program, &self.place.layout) {
            (_, Layout::Foreign(what)) => Err(unsupported(format!("this is {what}"))),
            (Some(program), _) => Ok(Store::Cli(CliStore::new(self, program.clone()))),
            (None, Layout::Bare) => Ok(Store::Local(LocalStore::new(self))),
            (None, Layout::Dolt) => {
                let why = "the beads are in a Dolt database, which only bd can read; install bd 1.0 or later";
                Err(unsupported(why.to_owned()))
            }
            (None, Layout::Sqlite { by }) => {
                let tool = by.map_or("br or bd".to_owned(), |tool| tool.to_string());
                let why =
                    format!("{tool} keeps a database here and is not on PATH; install it to change beads");
                Ok(Store::Jsonl(BeadQueueReader::of(self, why)))
            }
        }
    }
}

fn flavour(layout: &Layout, program: Option<&Program>) -> Flavour {
    match (layout, program.map(|program| program.tool)) {
        (Layout::Dolt, _) => Flavour::ModernBd,
        (_, Some(Tool::Br)) | (Layout::Sqlite { by: Some(Tool::Br) }, None) => Flavour::Br,
        (_, Some(Tool::Bd)) | (Layout::Sqlite { by: Some(Tool::Bd) }, None) => Flavour::ClassicBd,
        (Layout::Sqlite { by: None }, None) => Flavour::Br,
        (Layout::Bare | Layout::Foreign(_), None) => Flavour::Local,
    }
}

impl Flavour {
    pub fn policy(self) -> &'static ReadyPolicy {
        match self {
            Self::ClassicBd => &ReadyPolicy::CLASSIC_BD,
            Self::ModernBd => &ReadyPolicy::BD,
            Self::Br | Self::Local => &ReadyPolicy::BR,
        }
    }
}
