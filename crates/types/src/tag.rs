//! Text that people reuse: tags in prompts, templates for tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::present;
use crate::shape::{NOT_BLANK, ONE_WORD};
use crate::{Millis, ProjectId, TagId, TemplateId};

/// A word that stands for a longer text in prompts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Tag {
    pub id: TagId,
    pub tag_name: String,
    pub content: String,
    pub created_at: Millis,
    pub updated_at: Millis,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct CreateTag {
    #[schemars(regex(pattern = ONE_WORD))]
    pub tag_name: String,
    #[schemars(regex(pattern = NOT_BLANK))]
    pub content: String,
}

/// Absent and null keep the stored value.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct UpdateTag {
    #[schemars(regex(pattern = ONE_WORD))]
    pub tag_name: Option<String>,
    #[schemars(regex(pattern = NOT_BLANK))]
    pub content: Option<String>,
}

/// A task to begin from; without a project it is for all projects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "TaskTemplate")]
pub struct Template {
    pub id: TemplateId,
    pub project_id: Option<ProjectId>,
    pub title: String,
    pub description: Option<String>,
    pub template_name: String,
    pub created_at: Millis,
    pub updated_at: Millis,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CreateTaskTemplate")]
pub struct CreateTemplate {
    pub project_id: Option<ProjectId>,
    pub title: String,
    pub description: Option<String>,
    #[schemars(regex(pattern = NOT_BLANK))]
    pub template_name: String,
}

/// An absent key keeps the stored value; a null description clears it.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "UpdateTaskTemplate")]
pub struct UpdateTemplate {
    pub title: Option<String>,
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub description: Option<Option<String>>,
    #[schemars(regex(pattern = NOT_BLANK))]
    pub template_name: Option<String>,
}
