//! The section `fleet.alerts` of the user's settings: how alerts reach people who do not watch a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::word;
use crate::secret::{SentSecret, put_secret};
use crate::settings_change::put;
use crate::{SECRET_MASK, Severity};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AlertSettings {
    /// The mildest severity that leaves Forge by desktop, webhook or command.
    pub min_severity: Severity,
    /// The dashboard rings the terminal's bell.
    pub bell_on_critical: bool,
    pub bell_on_warning: bool,
    /// The least time between two rings.
    pub bell_interval_secs: u64,
    /// A notification on the desktop of the machine that the server runs on.
    pub desktop: bool,
    /// The address that each alert is posted to. Such addresses contain their secret.
    pub webhook: Option<String>,
    /// A program and its arguments, started for each alert; none if empty.
    pub command: Vec<String>,
    /// A warning that nobody acknowledges for this long becomes critical; 0 turns this off.
    pub escalate_after_mins: u64,
}

impl Default for AlertSettings {
    fn default() -> Self {
        Self {
            min_severity: Severity::Warning,
            bell_on_critical: true,
            bell_on_warning: false,
            bell_interval_secs: 30,
            desktop: false,
            webhook: None,
            command: Vec::new(),
            escalate_after_mins: 30,
        }
    }
}

impl AlertSettings {
    /// Whether the dashboard rings for an alert of this severity.
    pub fn rings_for(&self, severity: Severity) -> bool {
        match severity {
            Severity::Critical => self.bell_on_critical,
            Severity::Warning => self.bell_on_warning,
            Severity::Info => false,
        }
    }

    pub(crate) fn mask(&mut self) {
        self.webhook = self.webhook.as_ref().map(|_| SECRET_MASK.to_owned());
    }
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AlertSettingsChange {
    #[serde(deserialize_with = "word")]
    pub min_severity: Option<Severity>,
    pub bell_on_critical: Option<bool>,
    pub bell_on_warning: Option<bool>,
    pub bell_interval_secs: Option<u64>,
    pub desktop: Option<bool>,
    #[serde(deserialize_with = "crate::request::present")]
    #[schemars(regex(pattern = r"^(\*{8}|https?://.+)?$"))]
    pub webhook: SentSecret,
    pub command: Option<Vec<String>>,
    pub escalate_after_mins: Option<u64>,
}

impl AlertSettingsChange {
    pub(crate) fn apply(self, to: &mut AlertSettings) {
        put(&mut to.min_severity, self.min_severity);
        put(&mut to.bell_on_critical, self.bell_on_critical);
        put(&mut to.bell_on_warning, self.bell_on_warning);
        put(&mut to.bell_interval_secs, self.bell_interval_secs);
        put(&mut to.desktop, self.desktop);
        put_secret(&mut to.webhook, self.webhook);
        put(&mut to.command, self.command);
        put(&mut to.escalate_after_mins, self.escalate_after_mins);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_address_is_kept_when_its_mask_comes_back_and_goes_with_null() {
        let mut settings =
            AlertSettings { webhook: Some("https://h/secret".into()), ..AlertSettings::default() };
        let change =
            |change| serde_json::from_value::<AlertSettingsChange>(change).expect("a change of settings");
        change(json!({"webhook": SECRET_MASK, "bell_on_warning": true})).apply(&mut settings);
        assert_eq!(settings.webhook.as_deref(), Some("https://h/secret"));
        assert!(settings.rings_for(Severity::Warning) && !settings.rings_for(Severity::Info));
        change(json!({"webhook": null, "min_severity": "critical"})).apply(&mut settings);
        assert_eq!((settings.webhook, settings.min_severity), (None, Severity::Critical));
    }
}
