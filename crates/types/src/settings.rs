//! The user's settings: what `config.json` in Forge's home holds and `/api/config` shows.
//!
//! Invariant: every field has a default, so any subset can be read; keys that this version does not know are kept and
//! written back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Budget, Executor, FleetSettings, ProfileId, SECRET_MASK};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Config")]
pub struct Settings {
    pub config_version: String,
    pub theme: Theme,
    pub executor_profile: ProfileId,
    pub disclaimer_acknowledged: bool,
    pub notifications: NotificationSettings,
    pub editor: EditorSettings,
    pub github: GithubSettings,
    /// Whether a run continues automatically once its provider serves it again.
    pub auto_resume: bool,
    pub git_branch_prefix: String,
    pub fleet: FleetSettings,
    /// The most that all runs together may cost on one day (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd_per_day: Option<Budget>,
    /// The most that everything may cost in one month (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd_per_month: Option<Budget>,
    /// From this share of a day's or a month's budget on, people are warned.
    pub budget_warning_percent: u8,
    /// From this share on, the warning is urgent.
    pub budget_critical_percent: u8,

    // Nothing in Forge acts on the settings from here on. They are kept for older clients, which read and write them.
    pub onboarding_acknowledged: bool,
    pub github_login_acknowledged: bool,
    pub telemetry_acknowledged: bool,
    pub analytics_enabled: Option<bool>,
    pub contact_email_opt_in: Option<bool>,
    pub contact_username_opt_in: Option<bool>,
    pub workspace_dir: Option<String>,
    pub last_app_version: Option<String>,
    pub show_release_notes: bool,
    pub language: Language,
    pub showcases: Showcases,

    /// Keys that this version does not know.
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            config_version: "v7".to_owned(),
            theme: Theme::default(),
            executor_profile: ProfileId::new(Executor::ClaudeCode),
            disclaimer_acknowledged: false,
            notifications: NotificationSettings::default(),
            editor: EditorSettings::default(),
            github: GithubSettings::default(),
            auto_resume: false,
            git_branch_prefix: "forge".to_owned(),
            fleet: FleetSettings::default(),
            max_cost_usd_per_day: None,
            max_cost_usd_per_month: None,
            budget_warning_percent: 70,
            budget_critical_percent: 90,
            onboarding_acknowledged: false,
            github_login_acknowledged: false,
            telemetry_acknowledged: false,
            analytics_enabled: None,
            contact_email_opt_in: None,
            contact_username_opt_in: None,
            workspace_dir: None,
            last_app_version: None,
            show_release_notes: false,
            language: Language::default(),
            showcases: Showcases::default(),
            other: Map::new(),
        }
    }
}

impl Settings {
    /// The settings as callers see them: secrets masked, and without keys that this version does not know, which may be
    /// secrets.
    pub fn shown(&self) -> Settings {
        let mask = |secret: &Option<String>| secret.as_ref().map(|_| SECRET_MASK.to_owned());
        let mut shown = self.clone();
        shown.github.pat = mask(&self.github.pat);
        shown.github.oauth_token = mask(&self.github.oauth_token);
        shown.fleet.alerts.mask();
        for other in [
            &mut shown.other,
            &mut shown.notifications.other,
            &mut shown.editor.other,
            &mut shown.github.other,
            &mut shown.showcases.other,
            &mut shown.fleet.other,
        ] {
            other.clear();
        }
        shown
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Theme {
    Light,
    Dark,
    #[default]
    System,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Language {
    #[default]
    Browser,
    En,
    Ja,
    Es,
    Ko,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NotificationSettings {
    pub sound_enabled: bool,
    pub push_enabled: bool,
    pub sound_file: SoundFile,
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

impl Default for NotificationSettings {
    fn default() -> Self {
        Self { sound_enabled: true, push_enabled: true, sound_file: SoundFile::default(), other: Map::new() }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SoundFile {
    #[serde(rename = "ABSTRACT_SOUND1")]
    AbstractSound1,
    #[serde(rename = "ABSTRACT_SOUND2")]
    AbstractSound2,
    #[serde(rename = "ABSTRACT_SOUND3")]
    AbstractSound3,
    #[serde(rename = "ABSTRACT_SOUND4")]
    AbstractSound4,
    #[default]
    #[serde(rename = "GENIE_NOTIFY1")]
    GenieNotify1,
    #[serde(rename = "GENIE_NOTIFY2")]
    GenieNotify2,
    #[serde(rename = "PHONE_VIBRATION")]
    PhoneVibration,
}

impl SoundFile {
    pub const ALL: [SoundFile; 7] = [
        SoundFile::AbstractSound1,
        SoundFile::AbstractSound2,
        SoundFile::AbstractSound3,
        SoundFile::AbstractSound4,
        SoundFile::GenieNotify1,
        SoundFile::GenieNotify2,
        SoundFile::PhoneVibration,
    ];

    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            SoundFile::AbstractSound1 => "ABSTRACT_SOUND1",
            SoundFile::AbstractSound2 => "ABSTRACT_SOUND2",
            SoundFile::AbstractSound3 => "ABSTRACT_SOUND3",
            SoundFile::AbstractSound4 => "ABSTRACT_SOUND4",
            SoundFile::GenieNotify1 => "GENIE_NOTIFY1",
            SoundFile::GenieNotify2 => "GENIE_NOTIFY2",
            SoundFile::PhoneVibration => "PHONE_VIBRATION",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EditorSettings {
    pub editor_type: String,
    pub custom_command: Option<String>,
    pub remote_ssh_host: Option<String>,
    pub remote_ssh_user: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

impl Default for EditorSettings {
    fn default() -> Self {
        Self {
            editor_type: "VS_CODE".to_owned(),
            custom_command: None,
            remote_ssh_host: None,
            remote_ssh_user: None,
            other: Map::new(),
        }
    }
}

/// Tokens are in clear here and in the file (mode 600); whoever shows settings masks them.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GithubSettings {
    pub pat: Option<String>,
    pub oauth_token: Option<String>,
    pub username: Option<String>,
    pub primary_email: Option<String>,
    pub default_pr_base: Option<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

impl GithubSettings {
    /// The token to use: the personal one is preferred to the one of the device login.
    pub fn token(&self) -> Option<&str> {
        self.pat.as_deref().or(self.oauth_token.as_deref()).filter(|token| !token.is_empty())
    }
}

impl Default for GithubSettings {
    fn default() -> Self {
        Self {
            pat: None,
            oauth_token: None,
            username: None,
            primary_email: None,
            default_pr_base: Some("main".to_owned()),
            other: Map::new(),
        }
    }
}

/// Shows whether tokens are set, never the tokens.
impl std::fmt::Debug for GithubSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GithubSettings")
            .field("pat", &self.pat.is_some())
            .field("oauth_token", &self.oauth_token.is_some())
            .field("username", &self.username)
            .field("default_pr_base", &self.default_pr_base)
            .finish_non_exhaustive()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Showcases {
    pub seen_features: Vec<String>,
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_holds_no_secret_and_nothing_unknown() {
        let text = r#"{"github":{"pat":"ghp_1","host_token":"glpat_2"},"gitlab":{"token":"glpat_3"}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        let shown = serde_json::to_string(&settings.shown()).unwrap();
        assert!(!shown.contains("ghp_1") && !shown.contains("glpat"), "{shown}");
        let shown: Value = serde_json::from_str(&shown).unwrap();
        assert_eq!(shown["github"]["pat"], SECRET_MASK);
        assert_eq!(shown["github"]["oauth_token"], Value::Null);
    }

    #[test]
    fn sounds_are_named_as_they_are_written() {
        for sound in SoundFile::ALL {
            assert_eq!(serde_json::to_value(sound).unwrap(), sound.as_str());
        }
    }

    #[test]
    fn unknown_keys_come_back_as_they_were() {
        let text = r#"{"theme":"DARK","github":{"pat":"t","enterprise":true},"future":{"a":[1]}}"#;
        let settings: Settings = serde_json::from_str(text).unwrap();
        let back = serde_json::to_value(&settings).unwrap();
        assert_eq!(back["future"]["a"][0], 1);
        assert_eq!(back["github"]["enterprise"], true);
        assert_eq!(back["github"]["default_pr_base"], "main");
        assert!(!format!("{settings:?}").contains("\"t\""), "a token is never printed");
    }
}
