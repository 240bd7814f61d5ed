//! A prompt that the user has written but not sent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, DraftId, ImageId, Millis, RunId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Draft {
    pub id: DraftId,
    pub task_attempt_id: AttemptId,
    pub draft_type: DraftKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_process_id: Option<RunId>,
    pub prompt: String,
    pub queued: bool,
    pub sending: bool,
    pub variant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_ids: Option<Vec<ImageId>>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub version: i64,
}

impl Draft {
    /// What an attempt without a stored draft shows.
    pub fn empty(attempt: AttemptId, now: Millis) -> Self {
        Self::blank(attempt, DraftKind::FollowUp, now)
    }

    /// A draft in which nothing is written yet.
    pub fn blank(attempt: AttemptId, kind: DraftKind, now: Millis) -> Self {
        Self {
            id: DraftId::random(),
            task_attempt_id: attempt,
            draft_type: kind,
            retry_process_id: None,
            prompt: String::new(),
            queued: false,
            sending: false,
            variant: None,
            image_ids: None,
            created_at: now,
            updated_at: now,
            version: 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "DraftType")]
pub enum DraftKind {
    FollowUp,
    Retry,
}

/// A change of a draft; absent and null keep what is stored.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DraftChange")]
pub struct SaveDraft {
    pub prompt: Option<String>,
    pub variant: Option<String>,
    pub image_ids: Option<Vec<ImageId>>,
    /// The run that a retry replaces.
    pub retry_process_id: Option<RunId>,
    /// The version that the change is based on.
    pub version: Option<i64>,
}

/// Requests that a draft is sent as soon as nothing runs, or withdraws that.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueueDraft {
    pub queued: bool,
    /// Saved first.
    pub prompt: Option<String>,
    pub expected_queued: Option<bool>,
    pub expected_version: Option<i64>,
}
