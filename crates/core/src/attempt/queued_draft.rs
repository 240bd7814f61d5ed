//! Drafts that are sent by themselves once nothing runs in their attempt.

use forge_types::{AttemptId, Draft, DraftKind, ErrorCode, FollowUp, Millis, QueueDraft};

use crate::task::draft::{Typed, being_sent, expect_version, put_changed, refuse_queued};
use crate::{Error, Forge, Result};

impl Forge {
    /// Lets a follow-up draft be sent as soon as nothing runs, which may be now, or takes it back.
    pub async fn queue_draft(&self, id: AttemptId, kind: DraftKind, request: QueueDraft) -> Result<Draft> {
        if kind != DraftKind::FollowUp {
            return Err(Error::invalid("only a follow_up draft can be queued")
                .hint("send a retry instead")
                .of_field("type"));
        }
        self.attempt(id).await?;
        let mut tx = self.0.store.begin().await?;
        let before = match (tx.draft(id, kind).await?, &request.prompt) {
            (Some(draft), _) => draft,
            (None, Some(_)) => Draft::blank(id, kind, Millis::now()),
            (None, None) => return Err(Error::conflict("No draft to queue").code(ErrorCode::NoDraft)),
        };
        expect_version(&before, request.expected_version)?;
        if request.expected_queued.is_some_and(|expected| expected != before.queued) {
            return Err(Error::conflict(format!(
                "the draft is {}",
                if before.queued { "queued" } else { "not queued" }
            ))
            .hint("read it again")
            .of_field("expected_queued"));
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
        let sent = self.send_message(id, request, Typed::FromDraft, None).await;
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
}
