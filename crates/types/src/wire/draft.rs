//! Drafts as responses about one draft and as streams show them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, Draft, DraftKind, ImageId, Millis, RunId};

/// The drafts of one attempt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttemptDrafts {
    pub follow_up: Draft,
    pub retry: Option<Draft>,
}

impl AttemptDrafts {
    /// A missing follow-up draft is shown as an empty one.
    pub fn new(attempt: AttemptId, stored: Vec<Draft>, now: Millis) -> Self {
        let mut drafts = Self { follow_up: Draft::empty(attempt, now), retry: None };
        for draft in stored {
            match draft.draft_type {
                DraftKind::FollowUp => drafts.follow_up = draft,
                DraftKind::Retry => drafts.retry = Some(draft),
            }
        }
        drafts
    }
}

/// A draft as responses about one draft show it; streams show the whole [`Draft`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DraftResponse {
    pub task_attempt_id: AttemptId,
    pub draft_type: DraftKind,
    pub retry_process_id: Option<RunId>,
    pub prompt: String,
    pub queued: bool,
    pub sending: bool,
    pub variant: Option<String>,
    pub image_ids: Option<Vec<ImageId>>,
    pub version: i64,
}

impl From<Draft> for DraftResponse {
    fn from(draft: Draft) -> Self {
        Self {
            task_attempt_id: draft.task_attempt_id,
            draft_type: draft.draft_type,
            retry_process_id: draft.retry_process_id,
            prompt: draft.prompt,
            queued: draft.queued,
            sending: draft.sending,
            variant: draft.variant,
            image_ids: draft.image_ids,
            version: draft.version,
        }
    }
}
