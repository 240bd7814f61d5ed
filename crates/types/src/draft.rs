//! A prompt the user has written but not sent.

use serde::{Deserialize, Serialize};

use crate::{AttemptId, DraftId, Millis, RunId};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    pub image_ids: Option<Vec<String>>,
    pub created_at: Millis,
    pub updated_at: Millis,
    pub version: i64,
}

impl Draft {
    /// What an attempt without a stored draft shows.
    pub fn empty(attempt: AttemptId, now: Millis) -> Self {
        Self {
            id: DraftId::random(),
            task_attempt_id: attempt,
            draft_type: DraftKind::FollowUp,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftKind {
    FollowUp,
    Retry,
}
