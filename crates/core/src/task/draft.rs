//! Drafts: prompts that are written, wait for the agent's end, and are then sent.
//!
//! Invariant: a queued draft is sent exactly once. Whoever sends it claims it first (`sending`), and it is cleared in the
//! transaction that writes the run which carries it, so after a crash either the draft waits or the run exists.
//! A stop takes a draft out of the queue again: nothing starts by itself where the user said stop.

use forge_store::{Dropped, Tx};
use forge_types::{
    AttemptId, Draft, DraftKind, ErrorCode, Millis, RunId, RunOwner, RunPhase, RunReason, SaveDraft,
};

use crate::{Error, Forge, Result};

/// What a new run means for the follow-up draft of its attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// The run carries something else.
    Elsewhere,
    /// Somebody sent these words. If they are the draft's, they came from the editor that holds it; a draft that is on its
    /// way by itself is left to that way.
    ByHand(String),
    /// The run carries the draft.
    FromDraft,
}

impl Forge {
    /// A retry is of a run of this attempt.
    pub(crate) async fn check_retried(&self, id: AttemptId, run: RunId) -> Result<()> {
        match self.0.store.run(run).await? {
            Some(run) if run.owner == RunOwner::Attempt(id) => Ok(()),
            Some(_) => Err(Error::invalid("Process does not belong to this attempt")),
            None => Err(process_not_found()),
        }
    }

    /// A draft that nobody has written is an empty one of version 0.
    pub async fn draft(&self, id: AttemptId, kind: DraftKind) -> Result<Draft> {
        self.attempt(id).await?;
        let stored = self.0.store.draft(id, kind).await?;
        Ok(stored.unwrap_or_else(|| Draft::blank(id, kind, Millis::now())))
    }

    pub async fn save_draft(&self, id: AttemptId, kind: DraftKind, request: SaveDraft) -> Result<Draft> {
        let attempt = self.attempt(id).await?;
        let retried = match kind {
            DraftKind::FollowUp => None,
            DraftKind::Retry => Some(request.retry_process_id.ok_or_else(|| {
                Error::invalid("missing; a retry draft names the process it retries")
                    .of_field("retry_process_id")
            })?),
        };
        if let Some(run) = retried {
            self.check_retried(id, run).await?;
        }
        let images = request.image_ids.as_deref().unwrap_or_default();
        self.check_images(images).await?;
        let mut tx = self.0.store.begin().await?;
        let stored = tx.draft(id, kind).await?;
        let before = stored.clone().unwrap_or_else(|| Draft::blank(id, kind, Millis::now()));
        expect_version(&before, request.version)?;
        refuse_queued(&before)?;
        tx.attach_images(attempt.task_id, images).await?;
        let after = Draft {
            prompt: request.prompt.unwrap_or_else(|| before.prompt.clone()),
            variant: request.variant.or_else(|| before.variant.clone()),
            image_ids: request.image_ids.or_else(|| before.image_ids.clone()),
            retry_process_id: retried,
            ..before.clone()
        };
        let draft = match stored {
            Some(_) => put_changed(&mut tx, &before, after).await?,
            None => put(&mut tx, after).await?,
        };
        tx.commit().await?;
        Ok(draft)
    }

    pub async fn delete_draft(&self, id: AttemptId, kind: DraftKind) -> Result<()> {
        self.attempt(id).await?;
        let mut tx = self.0.store.begin().await?;
        if tx.draft(id, kind).await?.is_some_and(|draft| draft.sending) {
            return Err(being_sent(id));
        }
        tx.delete_draft(id, kind).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Marks the queued draft as on its way, unless someone else did or something still runs, whose end sends it.
    pub(crate) async fn claim_draft(&self, id: AttemptId) -> Result<Option<Draft>> {
        let mut tx = self.0.store.begin().await?;
        let queued = tx.draft(id, DraftKind::FollowUp).await?.filter(|draft| draft.queued && !draft.sending);
        let Some(draft) = queued else { return Ok(None) };
        let runs = tx.runs(id, Dropped::Shown).await?;
        if runs.iter().any(|run| run.phase != RunPhase::Ended && run.reason != RunReason::DevServer) {
            return Ok(None);
        }
        let draft = put(&mut tx, Draft { sending: true, ..draft }).await?;
        tx.commit().await?;
        Ok(Some(draft))
    }

    /// A draft that could not be sent is the user's again. One that is cleared was sent, whatever its run came to.
    pub(crate) async fn give_back(&self, id: AttemptId) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        if let Some(draft) = tx.draft(id, DraftKind::FollowUp).await?.filter(|draft| draft.sending) {
            put(&mut tx, Draft { queued: false, sending: false, ..draft }).await?;
            tx.commit().await?;
        }
        Ok(())
    }

    /// Drafts whose sending was cut off wait again; called before anything can send them.
    pub(crate) async fn release_drafts(&self) -> Result<Vec<AttemptId>> {
        let waiting = self.0.store.waiting_drafts().await?;
        let mut tx = self.0.store.begin().await?;
        for draft in waiting.iter().filter(|draft| draft.sending) {
            put(&mut tx, Draft { sending: false, ..draft.clone() }).await?;
        }
        tx.commit().await?;
        Ok(waiting.iter().map(|draft| draft.task_attempt_id).collect())
    }
}

/// Empties the follow-up draft in the transaction that writes the run which carries it.
pub(crate) async fn clear(tx: &mut Tx, id: AttemptId, typed: &Typed) -> Result<()> {
    let Some(draft) = tx.draft(id, DraftKind::FollowUp).await? else { return Ok(()) };
    let carried = match typed {
        Typed::Elsewhere => false,
        Typed::ByHand(words) => !draft.sending && is_in(&draft, words),
        Typed::FromDraft => true,
    };
    if carried {
        let blank = Draft::blank(id, DraftKind::FollowUp, Millis::now());
        let empty = Draft { id: draft.id, created_at: draft.created_at, version: draft.version, ..blank };
        put_changed(tx, &draft, empty).await?;
    }
    Ok(())
}

/// Whether these words are the draft's. Who types goes on after a draft was last saved, so they may be more; what is queued
/// is nobody's to type on.
fn is_in(draft: &Draft, words: &str) -> bool {
    match draft.queued {
        true => words.trim() == draft.prompt.trim(),
        false => words.trim().starts_with(draft.prompt.trim()),
    }
}

/// Takes the follow-up draft out of the queue in the transaction that records a stop.
pub(crate) async fn unqueue(tx: &mut Tx, id: AttemptId) -> Result<()> {
    let queued = tx.draft(id, DraftKind::FollowUp).await?.filter(|draft| draft.queued && !draft.sending);
    if let Some(draft) = queued {
        put(tx, Draft { queued: false, ..draft }).await?;
    }
    Ok(())
}

async fn put(tx: &mut Tx, draft: Draft) -> Result<Draft> {
    let draft = Draft { version: draft.version + 1, updated_at: Millis::now(), ..draft };
    tx.put_draft(&draft).await?;
    Ok(draft)
}

pub(crate) async fn put_changed(tx: &mut Tx, before: &Draft, after: Draft) -> Result<Draft> {
    let same = *before == Draft { updated_at: before.updated_at, ..after.clone() };
    if same { Ok(after) } else { put(tx, after).await }
}

pub(crate) fn expect_version(draft: &Draft, expected: Option<i64>) -> Result<()> {
    match expected {
        Some(expected) if expected != draft.version => Err(Error::conflict(format!(
            "the draft has changed: it is version {}, not {expected}",
            draft.version
        ))
        .hint("read it again")
        .of_field("version")),
        _ => Ok(()),
    }
}

pub(crate) fn refuse_queued(draft: &Draft) -> Result<()> {
    if draft.queued || draft.sending {
        return Err(
            Error::conflict("Draft is queued and cannot be edited").hint("take it out of the queue first")
        );
    }
    Ok(())
}

pub(crate) fn being_sent(id: AttemptId) -> Error {
    Error::conflict(format!("the draft of attempt {id} is being sent")).hint("read it again in a moment")
}

pub(crate) fn process_not_found() -> Error {
    Error::invalid("Process not found").code(ErrorCode::RunNotFound)
}
