//! Notifications through Omni, a gateway to messengers: its settings, its instances, and what was sent.
//!
//! Invariant: an API key is never printed and never serialised by [`OmniConfig::shown`].

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::request::{present, word};
use crate::secret::{SentSecret, put_secret};
use crate::{Millis, NotificationId, SECRET_MASK, TaskId};

/// Settings of the forge group, for all projects or for one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ForgeSettings {
    pub omni_enabled: bool,
    pub omni_config: Option<OmniConfig>,
}

#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OmniConfig {
    pub enabled: bool,
    pub host: Option<String>,
    pub api_key: Option<String>,
    pub instance: Option<String>,
    pub recipient: Option<String>,
    pub recipient_type: Option<RecipientType>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RecipientType {
    PhoneNumber,
    UserId,
}

impl ForgeSettings {
    /// As callers may see them.
    pub fn shown(&self) -> ForgeSettings {
        ForgeSettings {
            omni_enabled: self.omni_enabled,
            omni_config: self.omni_config.as_ref().map(OmniConfig::shown),
        }
    }

    /// These settings with those of one project on top: what the project leaves open stays.
    pub fn overridden_by(&self, project: Option<&ForgeSettings>) -> ForgeSettings {
        let Some(project) = project else { return self.clone() };
        let (general, own) = (self.omni_config.clone(), project.omni_config.clone());
        let omni_config = match (general, own) {
            (Some(general), Some(own)) => Some(OmniConfig {
                enabled: own.enabled,
                host: own.host.or(general.host),
                api_key: own.api_key.or(general.api_key),
                instance: own.instance.or(general.instance),
                recipient_type: match own.recipient {
                    Some(_) => own.recipient_type,
                    None => general.recipient_type,
                },
                recipient: own.recipient.or(general.recipient),
            }),
            (general, own) => own.or(general),
        };
        ForgeSettings { omni_enabled: project.omni_enabled, omni_config }
    }

    /// The configuration to send with, if sending is turned on.
    pub fn active(&self) -> Option<&OmniConfig> {
        self.omni_config.as_ref().filter(|config| self.omni_enabled && config.enabled)
    }
}

impl OmniConfig {
    pub fn shown(&self) -> OmniConfig {
        OmniConfig { api_key: self.api_key.as_ref().map(|_| SECRET_MASK.to_owned()), ..self.clone() }
    }
}

/// Shows whether a key is set, never the key.
impl std::fmt::Debug for OmniConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OmniConfig")
            .field("enabled", &self.enabled)
            .field("host", &self.host)
            .field("api_key", &self.api_key.is_some())
            .field("instance", &self.instance)
            .finish_non_exhaustive()
    }
}

/// A change of the settings: absent keys keep, null clears.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ForgeSettingsChange {
    pub omni_enabled: Option<bool>,
    #[serde(deserialize_with = "present")]
    pub omni_config: Option<Option<OmniChange>>,
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OmniChange {
    pub enabled: Option<bool>,
    #[serde(deserialize_with = "present")]
    #[schemars(regex(pattern = crate::shape::ADDRESS))]
    pub host: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub api_key: SentSecret,
    #[serde(deserialize_with = "present")]
    pub instance: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub recipient: Option<Option<String>>,
    #[serde(deserialize_with = "present_word")]
    pub recipient_type: Option<Option<RecipientType>>,
}

fn present_word<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<RecipientType>>, D::Error> {
    word(from).map(Some)
}

impl ForgeSettingsChange {
    pub fn apply(self, to: &mut ForgeSettings) {
        to.omni_enabled = self.omni_enabled.unwrap_or(to.omni_enabled);
        match self.omni_config {
            None => {}
            Some(None) => to.omni_config = None,
            Some(Some(change)) => {
                let config = to.omni_config.get_or_insert_default();
                config.enabled = change.enabled.unwrap_or(config.enabled);
                put_secret(&mut config.api_key, change.api_key);
                let blank = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
                let put = |stored: &mut Option<String>, sent: Option<Option<String>>| {
                    if let Some(sent) = sent {
                        *stored = blank(sent);
                    }
                };
                put(&mut config.host, change.host);
                put(&mut config.instance, change.instance);
                put(&mut config.recipient, change.recipient);
                if let Some(kind) = change.recipient_type {
                    config.recipient_type = kind;
                }
            }
        }
    }
}

/// A messenger account of the gateway.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OmniInstance {
    pub instance_name: String,
    pub channel_type: String,
    #[serde(default)]
    pub display_name: String,
    #[serde(default)]
    pub status: String,
    #[serde(default)]
    pub is_healthy: bool,
}

/// A message that an attempt ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    pub id: NotificationId,
    pub task_id: TaskId,
    pub notification_type: String,
    pub status: NotificationStatus,
    pub message: String,
    pub error_message: Option<String>,
    pub sent_at: Option<Millis>,
    pub created_at: Millis,
    #[schemars(with = "Map<String, Value>")]
    pub metadata: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NotificationStatus {
    Pending,
    Processing,
    Sent,
    Skipped,
    Failed,
}

impl NotificationStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            NotificationStatus::Pending => "pending",
            NotificationStatus::Processing => "processing",
            NotificationStatus::Sent => "sent",
            NotificationStatus::Skipped => "skipped",
            NotificationStatus::Failed => "failed",
        }
    }
}

impl std::str::FromStr for NotificationStatus {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        use NotificationStatus::{Failed, Pending, Processing, Sent, Skipped};
        let found =
            [Pending, Processing, Sent, Skipped, Failed].into_iter().find(|known| known.as_str() == text);
        found.ok_or_else(|| format!("unknown notification status '{text}'"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn changed(settings: &ForgeSettings, change: Value) -> ForgeSettings {
        let mut settings = settings.clone();
        serde_json::from_value::<ForgeSettingsChange>(change).unwrap().apply(&mut settings);
        settings
    }

    #[test]
    fn a_key_is_kept_when_the_mask_comes_back_and_never_shown() {
        let set = changed(
            &ForgeSettings::default(),
            json!({"omni_enabled": true, "omni_config": {"enabled": true, "host": "http://h", "api_key": "k1"}}),
        );
        let shown = serde_json::to_value(set.shown()).unwrap();
        assert_eq!(shown["omni_config"]["api_key"], SECRET_MASK);
        assert!(!format!("{set:?}").contains("k1"));
        assert_eq!(changed(&set, shown), set);
        assert_eq!(
            changed(&set, json!({"omni_config": {"api_key": null}})).omni_config.unwrap().api_key,
            None
        );
        assert_eq!(changed(&set, json!({"omni_config": null})).omni_config, None);
    }

    #[test]
    fn a_project_overrides_what_it_says_and_no_more() {
        let general = changed(
            &ForgeSettings::default(),
            json!({"omni_enabled": true, "omni_config": {"enabled": true, "host": "http://h", "api_key": "k",
                "instance": "i", "recipient": "1", "recipient_type": "PhoneNumber"}}),
        );
        assert_eq!(general.overridden_by(None), general);
        let own = changed(
            &ForgeSettings::default(),
            json!({"omni_enabled": true, "omni_config": {"enabled": true, "recipient": "u", "recipient_type": "UserId"}}),
        );
        let both = general.overridden_by(Some(&own));
        let config = both.active().unwrap();
        assert_eq!((config.host.as_deref(), config.recipient.as_deref()), (Some("http://h"), Some("u")));
        assert_eq!(config.recipient_type, Some(RecipientType::UserId));
        assert_eq!(general.overridden_by(Some(&ForgeSettings::default())).active(), None);
    }
}
