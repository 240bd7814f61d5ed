//! Figure `issues.jsonl` without any program.
//!
//! Invariant: nothing here writes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use forge_os::file;
use jiff::Timestamp;

use super::bead::Bead;
use super::error::BeadsError;
use super::place::{Layout, Place};
use super::ready::{Filter, ReadyPolicy};
use super::snapshot::Snapshot;
use super::workspace::Workspace;

/// Enough for a hundred thousand beads; a larger file is a mistake or an attack.
const MAX_BYTES: u64 = 64 << 20;

#[derive(Debug, Clone)]
pub struct BeadQueueReader {
    /// The folder that the beads are about; the file is below it.
    root: PathBuf,
    path: PathBuf,
    policy: &'static ReadyPolicy,
    /// Why it is read-only.
    why: String,
}

impl BeadQueueReader {
    /// The beads of a folder or of one above it, if they are in a file.
    pub fn new(folder: impl AsRef<Path>) -> Result<Self, BeadsError> {
        let folder = folder.as_ref();
        let unsupported =
            |why: &str| Err(BeadsError::Unsupported { path: folder.to_owned(), why: why.to_owned() });
        let Some(place) = Place::find(folder, None)? else {
            return unsupported("there is no .beads folder");
        };
        match &place.layout {
            Layout::Dolt => unsupported("the beads are in a Dolt database, which only bd can read"),
            Layout::Foreign(what) => unsupported(&format!("this is {what}")),
            Layout::Bare | Layout::Sqlite { .. } => {
                Ok(Self::of(&Workspace::without_program(place), "they were opened for reading"))
            }
        }
    }

    pub(super) fn of(workspace: &Workspace, why: impl Into<String>) -> Self {
        let policy = workspace.flavour.policy();
        let place = &workspace.place;
        Self { root: place.root().to_owned(), path: place.jsonl.clone(), policy, why: why.into() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The file's bytes; a file that does not exist yet has none.
    pub(super) fn read(&self) -> Result<Vec<u8>, BeadsError> {
        Ok(file::if_any(file::read(&self.root, &self.path, MAX_BYTES))?.unwrap_or_default())
    }

    /// Whether a program may read the file, which it does without a size limit.
    pub(super) fn check(&self) -> Result<(), BeadsError> {
        Ok(file::if_any(file::open(&self.root, &self.path)).map(drop)?)
    }

    pub(super) fn policy(&self) -> &'static ReadyPolicy {
        self.policy
    }

    pub(super) fn refuse(&self) -> BeadsError {
        BeadsError::ReadOnly(self.why.clone())
    }

    /// The beads that are ready, in the order of the program that owns them.
    pub fn read_ready_beads(&self) -> Result<Vec<Bead>, BeadsError> {
        self.read_ready(&Filter::default(), Timestamp::now())
    }

    fn read_ready(&self, filter: &Filter, now: Timestamp) -> Result<Vec<Bead>, BeadsError> {
        let snapshot = parse(&self.path, &self.read()?)?;
        Ok(self.policy.ready(&snapshot, filter, now).into_iter().cloned().collect())
    }

    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, BeadsError> {
        let file = self.clone();
        run_blocking(move || parse(&file.path, &file.read()?)).await.map(Arc::new)
    }

    pub async fn ready(&self, filter: &Filter, now: Timestamp) -> Result<Vec<Bead>, BeadsError> {
        let (file, filter) = (self.clone(), filter.clone());
        run_blocking(move || file.read_ready(&filter, now)).await
    }

    pub async fn show(&self, ids: &[&str]) -> Result<Vec<Bead>, BeadsError> {
        let snapshot = self.snapshot().await?;
        pick(ids, |id| snapshot.get(id).cloned())
    }
}

pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Snapshot, BeadsError> {
    let damaged = |problem| BeadsError::Damaged { path: path.to_owned(), problem };
    Snapshot::parse(bytes).map_err(damaged)
}

/// The beads with these ids, in their order.
pub(super) fn pick(ids: &[&str], find: impl Fn(&str) -> Option<Bead>) -> Result<Vec<Bead>, BeadsError> {
    let one = |id: &&str| find(id).ok_or_else(|| BeadsError::NoSuchBead { id: (*id).to_owned() });
    ids.iter().map(one).collect()
}

/// Runs file work where it may block.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BeadsError> + Send + 'static,
) -> Result<T, BeadsError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(BeadsError::Busy("the program is ending".to_owned())),
        },
    }
}
