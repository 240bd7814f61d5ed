//! A partial change of the settings, as `PUT /api/config` takes it.
//!
//! Invariant: an absent key keeps the stored value. Null clears what may be empty and keeps what may not. Keys that
//! this version does not know are ignored, so nobody can plant anything in the file.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::request::{present, word};
use crate::secret::{SentSecret, put_secret};
use crate::{Budget, FleetChange, Language, ProfileId, Settings, SoundFile, Theme};

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SettingsChange {
    #[serde(deserialize_with = "word")]
    pub theme: Option<Theme>,
    pub executor_profile: Option<ProfileId>,
    pub disclaimer_acknowledged: Option<bool>,
    pub(crate) notifications: Option<NotificationChange>,
    pub(crate) editor: Option<EditorChange>,
    pub(crate) github: Option<GithubChange>,
    pub auto_resume: Option<bool>,
    pub git_branch_prefix: Option<String>,
    pub fleet: Option<FleetChange>,
    #[serde(deserialize_with = "present")]
    pub max_cost_usd_per_day: Option<Option<Budget>>,
    #[serde(deserialize_with = "present")]
    pub max_cost_usd_per_month: Option<Option<Budget>>,
    #[schemars(range(min = 1, max = 100))]
    pub budget_warning_percent: Option<u8>,
    #[schemars(range(min = 1, max = 100))]
    pub budget_critical_percent: Option<u8>,

    // Kept for older clients, as in [`Settings`].
    pub onboarding_acknowledged: Option<bool>,
    pub github_login_acknowledged: Option<bool>,
    pub telemetry_acknowledged: Option<bool>,
    #[serde(deserialize_with = "present")]
    pub analytics_enabled: Option<Option<bool>>,
    #[serde(deserialize_with = "present")]
    pub contact_email_opt_in: Option<Option<bool>>,
    #[serde(deserialize_with = "present")]
    pub contact_username_opt_in: Option<Option<bool>>,
    #[serde(deserialize_with = "present")]
    pub workspace_dir: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub last_app_version: Option<Option<String>>,
    pub show_release_notes: Option<bool>,
    #[serde(deserialize_with = "word")]
    pub language: Option<Language>,
    pub(crate) showcases: Option<ShowcasesChange>,
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct NotificationChange {
    pub sound_enabled: Option<bool>,
    pub push_enabled: Option<bool>,
    #[serde(deserialize_with = "word")]
    pub sound_file: Option<SoundFile>,
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EditorChange {
    #[serde(deserialize_with = "word")]
    pub editor_type: Option<EditorType>,
    #[serde(deserialize_with = "present")]
    pub custom_command: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub remote_ssh_host: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub remote_ssh_user: Option<Option<String>>,
}

/// The editors that can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EditorType {
    VsCode,
    Cursor,
    Windsurf,
    IntelliJ,
    Zed,
    Xcode,
    Custom,
}

impl EditorType {
    const ALL: [EditorType; 7] = [
        EditorType::VsCode,
        EditorType::Cursor,
        EditorType::Windsurf,
        EditorType::IntelliJ,
        EditorType::Zed,
        EditorType::Xcode,
        EditorType::Custom,
    ];

    /// By its name on the wire.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            EditorType::VsCode => "VS_CODE",
            EditorType::Cursor => "CURSOR",
            EditorType::Windsurf => "WINDSURF",
            EditorType::IntelliJ => "INTELLI_J",
            EditorType::Zed => "ZED",
            EditorType::Xcode => "XCODE",
            EditorType::Custom => "CUSTOM",
        }
    }
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GithubChange {
    #[serde(deserialize_with = "present")]
    pub pat: SentSecret,
    #[serde(deserialize_with = "present")]
    pub oauth_token: SentSecret,
    #[serde(deserialize_with = "present")]
    pub username: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub primary_email: Option<Option<String>>,
    #[serde(deserialize_with = "present")]
    pub default_pr_base: Option<Option<String>>,
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ShowcasesChange {
    pub seen_features: Option<Vec<String>>,
}

pub(crate) fn put<T>(stored: &mut T, sent: Option<T>) {
    if let Some(value) = sent {
        *stored = value;
    }
}

impl SettingsChange {
    /// Makes the change.
    pub fn apply(self, to: &mut Settings) {
        put(&mut to.theme, self.theme);
        put(&mut to.executor_profile, self.executor_profile);
        put(&mut to.disclaimer_acknowledged, self.disclaimer_acknowledged);
        if let Some(sent) = self.notifications {
            put(&mut to.notifications.sound_enabled, sent.sound_enabled);
            put(&mut to.notifications.push_enabled, sent.push_enabled);
            put(&mut to.notifications.sound_file, sent.sound_file);
        }
        if let Some(sent) = self.editor {
            put(&mut to.editor.editor_type, sent.editor_type.map(|editor| editor.as_str().to_owned()));
            put(&mut to.editor.custom_command, sent.custom_command);
            put(&mut to.editor.remote_ssh_host, sent.remote_ssh_host);
            put(&mut to.editor.remote_ssh_user, sent.remote_ssh_user);
        }
        if let Some(sent) = self.github {
            put_secret(&mut to.github.pat, sent.pat);
            put_secret(&mut to.github.oauth_token, sent.oauth_token);
            put(&mut to.github.username, sent.username);
            put(&mut to.github.primary_email, sent.primary_email);
            put(&mut to.github.default_pr_base, sent.default_pr_base);
        }
        put(&mut to.auto_resume, self.auto_resume);
        put(&mut to.git_branch_prefix, self.git_branch_prefix);
        if let Some(sent) = self.fleet {
            sent.apply(&mut to.fleet);
        }
        put(&mut to.max_cost_usd_per_day, self.max_cost_usd_per_day);
        put(&mut to.max_cost_usd_per_month, self.max_cost_usd_per_month);
        put(&mut to.budget_warning_percent, self.budget_warning_percent);
        put(&mut to.budget_critical_percent, self.budget_critical_percent);

        // Kept for older clients.
        put(&mut to.onboarding_acknowledged, self.onboarding_acknowledged);
        put(&mut to.github_login_acknowledged, self.github_login_acknowledged);
        put(&mut to.telemetry_acknowledged, self.telemetry_acknowledged);
        put(&mut to.analytics_enabled, self.analytics_enabled);
        put(&mut to.contact_email_opt_in, self.contact_email_opt_in);
        put(&mut to.contact_username_opt_in, self.contact_username_opt_in);
        put(&mut to.workspace_dir, self.workspace_dir);
        put(&mut to.last_app_version, self.last_app_version);
        put(&mut to.show_release_notes, self.show_release_notes);
        put(&mut to.language, self.language);
        if let Some(sent) = self.showcases {
            put(&mut to.showcases.seen_features, sent.seen_features);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let mut settings: Settings =
            serde_json::from_value(json!({"theme": "DARK", "github": {"pat": "t", "kept": 1}, "future": 2}))
                .unwrap();
        let change = json!({"language": "JA", "github": {"username": "u", "pat": "********"},
            "notifications": {"sound_file": "PHONE_VIBRATION"}, "x": 1, "theme": null});
        serde_json::from_value::<SettingsChange>(change).unwrap().apply(&mut settings);
        let after = serde_json::to_value(&settings).unwrap();
        assert_eq!((&after["theme"], &after["language"]), (&json!("DARK"), &json!("JA")));
        assert_eq!(after["github"]["pat"], "t");
        assert_eq!((&after["github"]["kept"], &after["future"]), (&json!(1), &json!(2)));
        assert_eq!(after["notifications"]["sound_enabled"], true);
        assert_eq!(after.get("x"), None);
    }
}
