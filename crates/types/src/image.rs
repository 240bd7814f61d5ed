//! A picture that prompts can show to an agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{ImageId, Millis};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Image {
    pub id: ImageId,
    /// `.forge-images/<stored name>`: where the agent finds it, relative to its worktree.
    pub file_path: String,
    /// What the user called it; shown to people, never used as a path.
    pub original_name: String,
    pub mime_type: Option<String>,
    pub size_bytes: i64,
    /// SHA-256 of the content in hex.
    pub hash: String,
    pub created_at: Millis,
    pub updated_at: Millis,
}

impl Image {
    /// The folder in a worktree that holds the pictures of its task.
    pub const FOLDER: &'static str = ".forge-images";

    /// The file's name in Forge's home and in worktrees.
    pub fn stored_name(&self) -> &str {
        self.file_path.rsplit('/').next().unwrap_or_default()
    }
}
