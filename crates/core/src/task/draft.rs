//! Drafts: prompts that are written, wait for the agent's end, and are then sent.
//!
//! Invariant: a queued draft is sent exactly once. Whoever sends it claims it first (`sending`), and it is cleared in the
//! transaction that writes the run which carries it, so after a crash either the draft waits or the run exists.
//! A stop takes a draft out of the queue again: nothing starts by itself where the user said stop.

use forge_store::{Dropped, Tx};
use forge_types::{
    AttemptId, Draft, DraftKind, FollowUp, Millis, QueueDraft, RunPhase, RunReason, SaveDraft,
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
                Error::invalid("retry_process_id: missing; a retry draft names the process it retries")
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

    /// Lets a follow-up draft be sent as soon as nothing runs, which may be now, or takes it back.
    pub async fn queue_draft(&self, id: AttemptId, kind: DraftKind, request: QueueDraft) -> Result<Draft> {
        if kind != DraftKind::FollowUp {
            return Err(Error::invalid("type: only a follow_up draft can be queued; send a retry instead"));
        }
        self.attempt(id).await?;
        let mut tx = self.0.store.begin().await?;
        let before = match (tx.draft(id, kind).await?, &request.prompt) {
            (Some(draft), _) => draft,
            (None, Some(_)) => Draft::blank(id, kind, Millis::now()),
            (None, None) => return Err(Error::conflict("No draft to queue")),
        };
        expect_version(&before, request.expected_version)?;
        if request.expected_queued.is_some_and(|expected| expected != before.queued) {
            return Err(Error::conflict(format!(
                "expected_queued: the draft is {}; read it again",
                if before.queued { "queued" } else { "not queued" }
            )));
        }
        if before.sending {
            return Err(being_sent(id));
        }
        let mut after = before.clone();
        if let Some(prompt) = request.prompt {
            refuse_queued(&before)?;
            after.prompt = prompt;
        }
        after.queued = request.queued && !after.prompt.trim().is_empty();
        let draft = put_changed(&mut tx, &before, after).await?;
        tx.commit().await?;
        if draft.queued {
            self.send_draft(id).await?;
        }
        self.draft(id, kind).await
    }

    /// Sends the queued draft of an attempt in which nothing runs; does nothing when there is none.
    async fn send_draft(&self, id: AttemptId) -> Result<()> {
        let Some(draft) = self.claim_draft(id).await? else { return Ok(()) };
        let request = FollowUp {
            variant: draft.variant.map(Some),
            image_ids: draft.image_ids,
            ..FollowUp::saying(draft.prompt)
        };
        let sent = self.say(id, request, Typed::FromDraft, None).await;
        if sent.is_err() {
            self.give_back(id).await?;
        }
        sent.map(drop)
    }

    pub(crate) fn send_draft_later(&self, id: AttemptId) {
        let forge = self.clone();
        self.0.background.spawn(async move {
            if let Err(error) = forge.send_draft(id).await {
                tracing::warn!(attempt = %id, %error, "a queued draft was not sent; it can be edited again");
            }
        });
    }

    /// Marks the queued draft as on its way, unless someone else did or something still runs, whose end sends it.
    async fn claim_draft(&self, id: AttemptId) -> Result<Option<Draft>> {
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
    async fn give_back(&self, id: AttemptId) -> Result<()> {
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

async fn put_changed(tx: &mut Tx, before: &Draft, after: Draft) -> Result<Draft> {
    let same = *before == Draft { updated_at: before.updated_at, ..after.clone() };
    if same { Ok(after) } else { put(tx, after).await }
}

fn expect_version(draft: &Draft, expected: Option<i64>) -> Result<()> {
    match expected {
        Some(expected) if expected != draft.version => Err(Error::conflict(format!(
            "version: the draft has changed: it is version {}, not {expected}; read it again",
            draft.version
        ))),
        _ => Ok(()),
    }
}

fn refuse_queued(draft: &Draft) -> Result<()> {
    if draft.queued || draft.sending {
        return Err(Error::conflict("Draft is queued and cannot be edited; take it out of the queue first"));
    }
    Ok(())
}

fn being_sent(id: AttemptId) -> Error {
    Error::conflict(format!("the draft of attempt {id} is being sent; read it again in a moment"))
}
