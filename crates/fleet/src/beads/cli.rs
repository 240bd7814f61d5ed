//! Beads through `br` or `bd`.
//!
//! Owns every call of a program. Invariants: one change at a time per store; only a locked database is tried again; a
//! claim counts only if the bead, read back, confirms it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;
use tokio::sync::{Mutex, watch};

use super::answer::{self, Complaint};
use super::bead::{Bead, Status};
use super::call::Call;
use super::error::BeadsError;
use super::jsonl::{self, BeadQueueReader};
use super::lock::Lock;
use super::name;
use super::place::Tool;
use super::program::Program;
use super::ready::Filter;
use super::refusal;
use super::snapshot::Snapshot;
use super::store::{Change, Claim, Close, Linked, NewBead, Release, Unlinked};
use super::watch::Watch;
use super::workspace::{Flavour, Workspace};

const TRIES: u32 = 5;
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How often a release starts over because the bead has changed.
const RELEASE_TRIES: usize = 3;

#[derive(Debug, Clone)]
pub struct CliStore {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    program: Program,
    beads_dir: std::path::PathBuf,
    /// `None` where the file may be out of date.
    file: Option<BeadQueueReader>,
    writing: Mutex<()>,
    /// Counts the changes made through this store.
    changes: watch::Sender<u64>,
}

/// An error from the program, or a call that failed.
enum Failure {
    Complaint(Complaint),
    Error(BeadsError),
}

impl Failure {
    fn about(self, id: &str) -> BeadsError {
        match self {
            Self::Complaint(complaint) => complaint.into_error(id),
            Self::Error(error) => error,
        }
    }
}

impl CliStore {
    pub(super) fn new(workspace: &Workspace, program: Program) -> Self {
        let is_true = workspace.flavour != Flavour::ModernBd;
        let file = is_true.then(|| BeadQueueReader::of(workspace, "changes go through the program"));
        let beads_dir = workspace.place.dir.clone();
        let (writing, changes) = (Mutex::default(), watch::Sender::new(0));
        Self { inner: Arc::new(Inner { program, beads_dir, file, writing, changes }) }
    }

    pub async fn snapshot(&self) -> Result<Arc<Snapshot>, BeadsError> {
        if let Some(file) = &self.inner.file {
            return file.snapshot().await;
        }
        let list = || self.read(&["list"]).arg("--all").arg("--limit").arg("0");
        let documents = match self.ask(&list()).await {
            // Some versions print a tree even with --json unless a flag turns it off; others do not know the flag.
            Err(Failure::Complaint(complaint)) if !complaint.is_transient() => {
                self.ask(&list().arg("--flat")).await.map_err(|_| complaint.into_error(""))?
            }
            other => other.map_err(|failure| failure.about(""))?,
        };
        answer::beads(&self.name("list"), documents).map(Snapshot::of_beads).map(Arc::new)
    }

    pub async fn ready(&self, filter: &Filter) -> Result<Vec<Bead>, BeadsError> {
        if let Some(file) = &self.inner.file {
            return file.ready(filter, Timestamp::now()).await;
        }
        let documents = self.ask(&self.read(&["ready"]).arg("--limit").arg("0")).await;
        let documents = documents.map_err(|failure| failure.about(""))?;
        let mut beads = answer::beads(&self.name("ready"), documents)?;
        beads.retain(|bead| filter.wants(bead));
        beads.truncate(filter.limit.unwrap_or(usize::MAX));
        Ok(beads)
    }

    /// Asks the program, because the file may be out of date.
    pub async fn show(&self, ids: &[&str]) -> Result<Vec<Bead>, BeadsError> {
        ids.iter().try_for_each(|id| name::check(id))?;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let call = ids.iter().fold(self.read(&["show"]), |call, id| call.arg(*id));
        let documents = self.ask(&call).await.map_err(|failure| failure.about(&ids.join(" ")))?;
        let beads = answer::beads(&self.name("show"), documents)?;
        jsonl::pick(ids, |id| beads.iter().find(|bead| bead.id == id).cloned())
    }

    async fn show_one(&self, id: &str) -> Result<Bead, BeadsError> {
        let missing = || BeadsError::NoSuchBead { id: id.to_owned() };
        self.show(&[id]).await?.into_iter().next().ok_or_else(missing)
    }

    pub async fn claim(&self, id: &str, actor: &str) -> Claim {
        if let Err(error) = name::check(id) {
            return error.into();
        }
        let _writing = self.inner.writing.lock().await;
        let said = match self.inner.program.capabilities.claim {
            true => self.change(&self.write(&["update", id], actor).arg("--claim")).await.map(drop),
            false => match self.claim_by_hand(id, actor).await {
                Ok(None) => Ok(()),
                Ok(Some(claim)) => return claim,
                Err(failure) => Err(failure),
            },
        };
        let refusal = match said {
            Ok(()) => None,
            Err(Failure::Complaint(complaint)) => Some(refusal::of_claim(complaint, id)),
            // Its result is unknown, so the bead is read back.
            Err(Failure::Error(error @ BeadsError::TimedOut { .. })) => Some(error.into()),
            Err(Failure::Error(error)) => return error.into(),
        };
        match refusal {
            Some(Claim::AlreadyClaimed { by }) if by != actor => Claim::AlreadyClaimed { by },
            Some(sure @ (Claim::Blocked { .. } | Claim::Retryable(_))) => sure,
            refusal => self.read_back(id, actor, refusal).await,
        }
    }

    /// The result of a claim according to the bead. A refusal stands unless the actor has the bead after all.
    async fn read_back(&self, id: &str, actor: &str, refusal: Option<Claim>) -> Claim {
        let seen = match self.show_one(id).await {
            Ok(bead) => Claim::judge(bead, actor),
            Err(error) => error.into(),
        };
        match (seen, refusal) {
            (Claim::Won(bead), _) => Claim::Won(bead),
            (_, Some(refusal)) => refusal,
            (seen, None) => seen,
        }
    }

    /// For programs that cannot claim in one step: everyone who respects the lock takes turns.
    async fn claim_by_hand(&self, id: &str, actor: &str) -> Result<Option<Claim>, Failure> {
        let dir = self.inner.beads_dir.clone();
        let _lock = jsonl::run_blocking(move || Lock::take(&dir)).await.map_err(Failure::Error)?;
        let bead = self.show_one(id).await.map_err(Failure::Error)?;
        match (bead.status(), bead.assignee()) {
            (_, Some(by)) if by != actor => return Ok(Some(Claim::AlreadyClaimed { by: by.to_owned() })),
            (Status::Open | Status::InProgress, _) => {}
            (status, _) => return Ok(Some(Claim::NotClaimable { status: status.clone() })),
        }
        let call = self.write(&["update", id], actor).arg("--status=in_progress");
        self.change(&call.arg(format!("--assignee={actor}"))).await.map(|_| None)
    }

    pub async fn release(&self, id: &str, actor: &str, comment: &str) -> Result<Release, BeadsError> {
        name::check(id)?;
        let writing = self.inner.writing.lock().await;
        let mut tries = RELEASE_TRIES;
        loop {
            let bead = self.show_one(id).await?;
            if bead.assignee() != Some(actor) || bead.is_over() {
                return Ok(Release::NotHeld { by: bead.assignee().map(str::to_owned) });
            }
            let mut call = self.write(&["update", id], actor).arg("--status=open").arg("--assignee").arg("");
            if let (true, Some(at)) = (self.inner.program.capabilities.if_unchanged, &bead.updated_at) {
                call = call.arg(format!("--if-unchanged={}", at.text()));
            }
            tries -= 1;
            match self.change(&call).await {
                Ok(_) => break,
                Err(Failure::Complaint(complaint)) if tries > 0 && refusal::is_outdated(&complaint) => {}
                Err(failure) => return Err(failure.about(id)),
            }
        }
        drop(writing);
        if !comment.is_empty() {
            self.comment(id, actor, comment).await?;
        }
        self.show_one(id).await.map(Release::Released)
    }

    pub async fn close(&self, id: &str, actor: &str, reason: &str) -> Result<Close, BeadsError> {
        name::check(id)?;
        let _writing = self.inner.writing.lock().await;
        let call = self.write(&["close", id], actor).arg(format!("--reason={reason}"));
        match self.change(&call).await {
            Ok(_) => {}
            Err(Failure::Complaint(complaint)) => return refusal::of_close(complaint, id),
            Err(Failure::Error(error)) => return Err(error),
        }
        let bead = self.show_one(id).await?;
        match bead.status() {
            Status::Closed => Ok(Close::Closed(bead)),
            status => Ok(Close::Refused(format!("{id} is still {status} after it was closed"))),
        }
    }

    pub async fn create(&self, new: &NewBead, actor: &str) -> Result<Bead, BeadsError> {
        let _writing = self.inner.writing.lock().await;
        let mut call = self.write(&["create"], actor).arg(format!("--title={}", new.title));
        call = call.arg(format!("--type={}", new.issue_type)).arg(format!("--priority={}", new.priority));
        if let Some(description) = &new.description {
            call = call.arg(format!("--description={description}"));
        }
        if !new.labels.is_empty() {
            call = call.arg(format!("--labels={}", new.labels.join(",")));
        }
        if let Some(elsewhere) = &new.external_ref {
            call = call.arg(format!("--external-ref={elsewhere}"));
        }
        if let Some(parent) = &new.parent {
            name::check(parent)?;
            call = call.arg(format!("--parent={parent}"));
        }
        let mut edges = Vec::new();
        for (kind, on) in &new.dependencies {
            name::check(on)?;
            // A bare id is a dependency; in bd, `blocks:` means the other direction.
            edges.push(if kind == "blocks" { on.clone() } else { format!("{kind}:{on}") });
        }
        if !edges.is_empty() {
            call = call.arg(format!("--deps={}", edges.join(",")));
        }
        let documents = self.change(&call).await.map_err(|failure| failure.about(""))?;
        let made = answer::beads(&self.name("create"), documents)?.into_iter().next();
        made.ok_or_else(|| self.misunderstood("create", "its output has no bead"))
    }

    pub async fn add_dep(&self, id: &str, on: &str, kind: &str, actor: &str) -> Result<Linked, BeadsError> {
        name::check(id)?;
        name::check(on)?;
        let _writing = self.inner.writing.lock().await;
        let call = self.write(&["dep", "add", id, on], actor).arg(format!("--type={kind}"));
        match self.change(&call).await {
            Ok(documents) if documents.iter().any(|said| said["status"] == "exists") => {
                Ok(Linked::AlreadyThere)
            }
            Ok(_) => Ok(Linked::Added),
            Err(Failure::Complaint(complaint)) => refusal::of_link(complaint, id, on),
            Err(Failure::Error(error)) => Err(error),
        }
    }

    /// The programs allow one dependency between two beads, whatever its type.
    pub async fn remove_dep(&self, id: &str, on: &str, actor: &str) -> Result<Unlinked, BeadsError> {
        name::check(id)?;
        name::check(on)?;
        let _writing = self.inner.writing.lock().await;
        match self.change(&self.write(&["dep", "remove", id, on], actor)).await {
            Ok(documents) if documents.iter().any(|said| said["action"] == "not_found") => {
                Ok(Unlinked::NotThere)
            }
            Ok(_) => Ok(Unlinked::Removed),
            Err(Failure::Complaint(complaint)) => refusal::of_unlink(complaint, id),
            Err(Failure::Error(error)) => Err(error),
        }
    }

    pub async fn comment(&self, id: &str, actor: &str, text: &str) -> Result<(), BeadsError> {
        name::check(id)?;
        let _writing = self.inner.writing.lock().await;
        let call = self.write(&["comments", "add"], actor).arg("--").arg(id).arg(text);
        self.change(&call).await.map(drop).map_err(|failure| failure.about(id))
    }

    pub async fn update(&self, id: &str, actor: &str, change: &Change) -> Result<Bead, BeadsError> {
        name::check(id)?;
        let _writing = self.inner.writing.lock().await;
        let mut call = self.write(&["update", id], actor);
        if let Some(title) = &change.title {
            call = call.arg(format!("--title={title}"));
        }
        if let Some(description) = &change.description {
            call = call.arg(format!("--description={description}"));
        }
        if change.unassigned {
            call = call.arg("--assignee").arg("");
        }
        if let Some(priority) = change.priority {
            call = call.arg(format!("--priority={priority}"));
        }
        if let Some(status) = &change.status {
            call = call.arg(format!("--status={status}"));
        }
        if *change != Change::default() {
            self.change(&call).await.map_err(|failure| failure.about(id))?;
        }
        self.show_one(id).await
    }

    pub(super) fn claims_atomically(&self) -> bool {
        self.inner.program.capabilities.claim
    }

    pub(super) fn watch(&self) -> Watch {
        match &self.inner.file {
            Some(file) => Watch::file(file.clone()),
            None => Watch::program(self.clone(), self.inner.changes.subscribe()),
        }
    }

    fn read(&self, verb: &[&str]) -> Call {
        self.prepare(Call::read(self.path(), &self.inner.beads_dir)).verb(verb)
    }

    fn write(&self, verb: &[&str], actor: &str) -> Call {
        self.prepare(Call::write(self.path(), &self.inner.beads_dir, actor)).verb(verb)
    }

    fn prepare(&self, call: Call) -> Call {
        match self.inner.program.capabilities.envelope {
            true => call.env("BD_JSON_ENVELOPE", "1"),
            false => call,
        }
    }

    fn path(&self) -> &Path {
        &self.inner.program.path
    }

    /// Runs a call, and again while the database is locked.
    async fn ask(&self, call: &Call) -> Result<Vec<Value>, Failure> {
        self.inner.file.as_ref().map_or(Ok(()), BeadQueueReader::check).map_err(Failure::Error)?;
        let mut tried = 0;
        loop {
            let answer = call.run().await.map_err(Failure::Error)?;
            let complaint = match answer::read(&answer) {
                Ok(documents) => return Ok(documents),
                Err(complaint) => complaint,
            };
            if !complaint.is_transient() || tried == TRIES {
                return Err(Failure::Complaint(complaint));
            }
            tokio::time::sleep(pause(tried)).await;
            tried += 1;
        }
    }

    async fn change(&self, call: &Call) -> Result<Vec<Value>, Failure> {
        let said = self.ask(call).await;
        // Also after a failure: part of the change may have happened.
        self.inner.changes.send_modify(|count| *count += 1);
        said
    }

    fn name(&self, verb: &str) -> String {
        let tool: Tool = self.inner.program.tool;
        format!("{tool} {verb}")
    }

    fn misunderstood(&self, verb: &str, why: &str) -> BeadsError {
        BeadsError::Program { command: self.name(verb), why: why.to_owned() }
    }
}

/// Doubles each time, with up to a quarter of jitter, so that colliding callers spread out.
fn pause(tried: u32) -> Duration {
    let random = f64::from(uuid::Uuid::new_v4().as_bytes()[0]) / 255.0;
    FIRST_PAUSE.mul_f64(f64::from(1u32 << tried.min(8)) * (0.75 + random / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_differ_by_at_most_a_quarter() {
        for tried in 0..TRIES {
            let middle = 250 << tried;
            let found = pause(tried).as_millis();
            assert!(found >= middle * 3 / 4 && found <= middle * 5 / 4, "{found} ms after {tried}");
        }
    }
}
