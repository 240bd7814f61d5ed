//! Other machines: code hosts, releases, and the gateway to messengers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Notification, OmniConfig, OmniInstance, PrInfo, PrStatus};

/// What the user needs to finish the login on GitHub's page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceStart {
    pub user_code: String,
    pub verification_uri: String,
    pub expires_in: u64,
    pub interval: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LoginAnswer {
    SlowDown,
    AuthorizationPending,
    Success,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum LoginCheck {
    Valid,
    Invalid,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AttachedPullRequest {
    pub pr_attached: bool,
    pub pr_url: Option<String>,
    pub pr_number: Option<i64>,
    pub pr_status: Option<PrStatus>,
}

impl From<&PrInfo> for AttachedPullRequest {
    fn from(info: &PrInfo) -> Self {
        Self {
            pr_attached: true,
            pr_url: Some(info.url.clone()),
            pr_number: Some(info.number),
            pr_status: Some(info.status),
        }
    }
}

/// The result of a pull into the project's checkout.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pulled {
    pub success: bool,
    pub message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Release {
    pub tag_name: String,
    pub name: Option<String>,
    pub body: Option<String>,
    pub prerelease: bool,
    pub created_at: String,
    pub published_at: Option<String>,
    pub html_url: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OmniStatus {
    pub enabled: bool,
    /// Only when enabled.
    pub config: Option<OmniConfig>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OmniInstances {
    pub instances: Vec<OmniInstance>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// An address and a key of Omni to try.
// It holds a key, so it has no `Debug`.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct OmniProbe {
    pub host: String,
    pub api_key: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OmniProbed {
    pub valid: bool,
    pub instances: Vec<OmniInstance>,
    pub error: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notifications {
    pub notifications: Vec<Notification>,
}
