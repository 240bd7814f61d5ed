//! Requests of callers. Unknown fields are ignored.

use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::shape::NOT_BLANK;
use crate::task::Labels;
use crate::{AttemptId, Budget, ImageId, ProfileId, ProjectId, RunId, TaskId, TaskStatus};

/// Distinguishes an absent key (`None`) from an explicit null (`Some(None)`).
pub(crate) fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(from).map(Some)
}

/// Reads a word of a closed vocabulary; for anything else the error lists the words. Null counts as absent.
pub(crate) fn word<'de, T: serde::de::DeserializeOwned, D: Deserializer<'de>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    let text = match Value::deserialize(from)? {
        Value::Null => return Ok(None),
        Value::String(text) => text,
        other => other.to_string(),
    };
    serde_json::from_value(Value::String(text)).map(Some).map_err(serde::de::Error::custom)
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreateProject {
    pub name: String,
    #[schemars(regex(pattern = NOT_BLANK))]
    pub git_repo_path: String,
    pub use_existing_repo: bool,
    pub setup_script: Option<String>,
    pub dev_script: Option<String>,
    pub cleanup_script: Option<String>,
    pub copy_files: Option<String>,
    pub commit_prompt: Option<String>,
    pub default_base_branch: Option<String>,
    pub max_cost_usd: Option<Budget>,
}

impl CreateProject {
    /// An existing repository, and nothing else that a project may have.
    pub fn existing(name: String, path: &Path) -> Self {
        Self {
            name,
            git_repo_path: path.to_string_lossy().into_owned(),
            use_existing_repo: true,
            setup_script: None,
            dev_script: None,
            cleanup_script: None,
            copy_files: None,
            commit_prompt: None,
            default_base_branch: None,
            max_cost_usd: None,
        }
    }
}

/// A partial update: an absent key keeps the stored value, an explicit null clears it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateProject {
    pub name: Option<String>,
    #[schemars(regex(pattern = NOT_BLANK))]
    pub git_repo_path: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub setup_script: Option<Option<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub dev_script: Option<Option<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub cleanup_script: Option<Option<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub copy_files: Option<Option<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub commit_prompt: Option<Option<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub default_base_branch: Option<Option<String>>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<Option<Budget>>,
}

/// Open a project, or a file of it, in an editor.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpenEditor {
    pub editor_type: Option<String>,
    pub file_path: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "CreateTaskHere"))]
pub struct CreateTask {
    pub project_id: ProjectId,
    pub title: String,
    pub description: Option<String>,
    pub parent_task_attempt: Option<AttemptId>,
    pub image_ids: Option<Vec<ImageId>>,
    #[schemars(with = "Option<Labels>")]
    pub labels: Option<Vec<String>>,
}

impl CreateTask {
    /// A title, and nothing else that a task may have.
    pub fn new(project_id: ProjectId, title: impl Into<String>) -> Self {
        let title = title.into();
        Self {
            project_id,
            title,
            description: None,
            parent_task_attempt: None,
            image_ids: None,
            labels: None,
        }
    }
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct UpdateTask {
    pub title: Option<String>,
    /// Absent or null keeps, blank clears.
    pub description: Option<String>,
    pub status: Option<TaskStatus>,
    pub parent_task_attempt: Option<AttemptId>,
    /// Replaces the whole set, like `labels`.
    pub image_ids: Option<Vec<ImageId>>,
    #[schemars(with = "Option<Labels>")]
    pub labels: Option<Vec<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CreateAndStartTask", extend("x-extends" = "AttemptOptions"))]
pub struct StartTask {
    #[serde(flatten)]
    pub start: CreateAttemptOptions,
    pub task: CreateTask,
}

/// How an attempt is to be started.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "AttemptOptions")]
pub struct CreateAttemptOptions {
    pub executor_profile_id: ProfileId,
    pub base_branch: Option<String>,
    pub use_worktree: Option<bool>,
    /// Open a pull request once the agent succeeded with changes.
    pub auto_pr: Option<bool>,
    /// Stop the agent when the attempt has cost this much.
    pub max_cost_usd: Option<Budget>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CreateTaskAttempt", extend("x-extends" = "AttemptOptions"))]
pub struct CreateAttempt {
    pub task_id: TaskId,
    #[serde(flatten)]
    pub start: CreateAttemptOptions,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct FollowUp {
    pub prompt: String,
    /// Absent keeps the variant of the last agent run, null asks for the default one.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub variant: Option<Option<String>>,
    pub image_ids: Option<Vec<ImageId>>,
    pub retry_process_id: Option<RunId>,
    pub force_when_dirty: Option<bool>,
    pub perform_git_reset: Option<bool>,
    /// Begins a new conversation that starts with what was said so far.
    pub fresh: Option<bool>,
}

impl FollowUp {
    /// A message and nothing more.
    pub fn saying(prompt: String) -> Self {
        Self {
            prompt,
            variant: None,
            image_ids: None,
            retry_process_id: None,
            force_when_dirty: None,
            perform_git_reset: None,
            fresh: None,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ReplaceProcess")]
pub struct ReplaceRun {
    /// Absent means the newest agent run.
    pub process_id: Option<RunId>,
    pub prompt: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub variant: Option<Option<String>>,
    pub executor_profile_id: Option<ProfileId>,
    pub force_when_dirty: Option<bool>,
    pub perform_git_reset: Option<bool>,
}

/// Install an agent's program and log it in, then let the agent continue.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SetUpAgent {
    pub executor_profile_id: ProfileId,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CreateExecutionRun")]
pub struct CreateErrand {
    pub project_id: ProjectId,
    pub prompt: String,
    pub executor_profile_id: ProfileId,
    pub base_branch: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FollowUpRun")]
pub struct FollowUpErrand {
    pub prompt: String,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub variant: Option<Option<String>>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreatePullRequest {
    #[schemars(regex(pattern = NOT_BLANK))]
    pub title: String,
    pub body: Option<String>,
    pub target_branch: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct AttachPullRequest {
    /// Preferred when several pull requests come from the branch.
    pub pr_number: Option<i64>,
}

/// Make a task of an issue, named by its number or by its address.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TaskFromIssue {
    #[schemars(range(min = 1))]
    pub number: Option<i64>,
    pub url: Option<String>,
    pub start: Option<bool>,
    /// Absent means the profile in the settings.
    pub executor_profile_id: Option<ProfileId>,
    pub base_branch: Option<String>,
    pub auto_pr: Option<bool>,
    pub max_cost_usd: Option<Budget>,
}

/// Change or remove the limit of what an attempt may cost.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SetBudget {
    #[serde(deserialize_with = "Option::deserialize")]
    #[schemars(schema_with = "budget_or_null")]
    pub max_cost_usd: Option<Budget>,
}

/// The key must be there; null is a value.
fn budget_or_null(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"anyOf": [generator.subschema_for::<Budget>(), {"type": "null"}]})
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_absent_key_differs_from_null() {
        let update: UpdateProject =
            serde_json::from_value(json!({"dev_script": null, "setup_script": "x"})).unwrap();
        assert_eq!(update.dev_script, Some(None));
        assert_eq!(update.setup_script, Some(Some("x".into())));
        assert_eq!(update.cleanup_script, None);
    }
}
