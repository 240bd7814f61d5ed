//! Reading `config.json` of this and of older versions.
//!
//! Invariant: whatever the file holds, the server starts with as much of it as can be understood, and what cannot is
//! kept beside it as `config.json.broken-<n>` before anything is written.

use std::path::Path;

use forge_run::agents::{self, Agent};
use forge_types::{ProfileId, Settings, canonical_variant};
use serde_json::{Map, Value};

use super::used_prefix;
use crate::home::file;
use crate::{Error, Result};

const VERSION: &str = "v7";

/// The stored settings, brought up to date and written back where that changed them.
pub(crate) fn load(home: &Path) -> Result<Settings> {
    let path = home.join("config.json");
    let unkept = |cause| {
        Error::internal(format!("cannot keep the unreadable {} aside: {cause}", path.display()), cause)
    };
    let read = std::fs::read(&path);
    let mut settings = match &read {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => fresh(),
        read => {
            let text = read.as_deref().unwrap_or_default();
            let (settings, problems) = understand(text);
            if !problems.is_empty() {
                let aside = file::set_aside(&path).map_err(unkept)?;
                let problems = problems.join("; ");
                tracing::error!(
                    "config.json: {problems}; defaults are used there and the file is kept as {}",
                    aside.display()
                );
            }
            settings
        }
    };
    note_version(&mut settings, env!("CARGO_PKG_VERSION"));
    let text = serde_json::to_string_pretty(&settings).unwrap_or_default() + "\n";
    if read.ok().as_deref() != Some(text.as_bytes())
        && let Err(error) = super::save(home, &settings)
    {
        tracing::error!(%error, "the settings are in force but not on disk");
    }
    Ok(settings)
}

/// The stored settings as far as they can be understood, without touching the file: it is another process's.
pub fn read(home: &Path) -> Settings {
    let text = std::fs::read(home.join("config.json")).unwrap_or_default();
    understand(&text).0
}

/// The settings of a first start: the first agent that has been used here is the default one.
fn fresh() -> Settings {
    let used = |agent: &&&Agent| agent.config_file().is_some_and(|file| file.exists());
    let mut settings = Settings::default();
    if let Some(agent) = agents::ALL.iter().find(used) {
        settings.executor_profile = ProfileId::new(agent.executor);
    }
    settings
}

fn note_version(settings: &mut Settings, version: &str) {
    if settings.last_app_version.as_deref() != Some(version) {
        settings.show_release_notes |= settings.last_app_version.is_some();
        settings.last_app_version = Some(version.to_owned());
    }
}

/// As much as can be understood, and what cannot.
fn understand(text: &[u8]) -> (Settings, Vec<String>) {
    let mut fields = match serde_json::from_slice(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return (Settings::default(), vec!["it is no JSON object".to_owned()]),
        // The error names a position, never content: a token in a broken file stays out of the log.
        Err(error) => return (Settings::default(), vec![format!("it cannot be read: {error}")]),
    };
    upgrade(&mut fields);
    let problems = drop_wrong(&mut fields);
    let mut settings: Settings = serde_json::from_value(Value::Object(fields)).unwrap_or_default();
    settings.config_version = VERSION.to_owned();
    settings.git_branch_prefix = used_prefix(&settings.git_branch_prefix);
    (settings, problems)
}

/// Removes the fields that cannot be read, each by itself, and names them.
fn drop_wrong(fields: &mut Map<String, Value>) -> Vec<String> {
    let is_read = |key: &str, value: Value| {
        serde_json::from_value::<Settings>(Value::Object(Map::from_iter([(key.to_owned(), value)]))).is_ok()
    };
    let mut problems = Vec::new();
    fields.retain(|key, value| {
        if is_read(key, value.clone()) {
            return true;
        }
        let Value::Object(inner) = value else {
            problems.push(format!("{key} has a value that is not allowed"));
            return false;
        };
        inner.retain(|name, value| {
            let alone = Value::Object(Map::from_iter([(name.clone(), value.clone())]));
            let read = is_read(key, alone);
            if !read {
                problems.push(format!("{key}.{name} has a value that is not allowed"));
            }
            read
        });
        let whole = is_read(key, value.clone());
        if !whole && problems.is_empty() {
            problems.push(format!("{key} has a value that is not allowed"));
        }
        whole
    });
    problems
}

/// Names and spellings of versions 1 to 6.
fn upgrade(fields: &mut Map<String, Value>) {
    for old in ["profile", "executor"] {
        if let Some(value) = fields.remove(old)
            && let Some(profile) = old_profile(&value)
        {
            fields.entry("executor_profile").or_insert(profile);
        }
    }
    for (old, new) in [
        ("sound_alerts", "sound_enabled"),
        ("push_notifications", "push_enabled"),
        ("sound_file", "sound_file"),
    ] {
        if let Some(value) = fields.remove(old) {
            put_below(fields, "notifications", new, value);
        }
    }
    if let Some(Value::Object(github)) = fields.get_mut("github")
        && let Some(token) = github.remove("token")
    {
        github.entry("oauth_token").or_insert(token);
    }
    if let Some(theme) = fields.get_mut("theme") {
        respell(theme, canonical_variant);
    }
    if let Some(sound) = fields.get_mut("notifications").and_then(|all| all.get_mut("sound_file")) {
        respell(sound, canonical_variant);
    }
    if let Some(editor) = fields.get_mut("editor").and_then(|editor| editor.get_mut("editor_type")) {
        respell(editor, |name| match canonical_variant(name).as_str() {
            "VSCODE" => "VS_CODE".to_owned(),
            "INTELLIJ" => "INTELLI_J".to_owned(),
            other => other.to_owned(),
        });
    }
}

/// `"claude-code"`, `{"profile": "claude-code", "variant": null}` and `{"type": "claude"}` name an executor.
fn old_profile(value: &Value) -> Option<Value> {
    let named = match value {
        Value::Object(fields) if fields.contains_key("type") => fields.get("type")?,
        other => other,
    };
    let profile: ProfileId = serde_json::from_value(named.clone()).ok()?;
    serde_json::to_value(profile).ok()
}

fn put_below(fields: &mut Map<String, Value>, group: &str, key: &str, value: Value) {
    let group = fields.entry(group).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(group) = group {
        group.entry(key).or_insert(value);
    }
}

fn respell(value: &mut Value, spell: impl Fn(&str) -> String) {
    if let Value::String(text) = value {
        *text = spell(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(file: Value) -> Value {
        let (settings, problems) = understand(file.to_string().as_bytes());
        assert!(problems.is_empty(), "{problems:?}");
        serde_json::to_value(settings).unwrap()
    }

    #[test]
    fn files_of_older_versions_are_understood() {
        let v1 = read(json!({
            "theme": "dark", "executor": {"type": "gemini"}, "disclaimer_acknowledged": true, "sound_alerts": false,
            "sound_file": "abstract-sound2", "push_notifications": false, "editor": {"editor_type": "vscode"},
            "github": {"pat": "p", "token": "t"},
        }));
        assert_eq!((&v1["config_version"], &v1["theme"]), (&json!("v7"), &json!("DARK")));
        assert_eq!(v1["executor_profile"], json!({"executor": "GEMINI"}));
        let notifications =
            json!({"sound_enabled": false, "push_enabled": false, "sound_file": "ABSTRACT_SOUND2"});
        assert_eq!(v1["notifications"], notifications);
        assert_eq!((&v1["github"]["pat"], &v1["github"]["oauth_token"]), (&json!("p"), &json!("t")));
        assert_eq!(v1.get("sound_alerts"), None);
        let v2 = read(json!({"config_version": "v2", "profile": "claude-code"}));
        assert_eq!(v2["executor_profile"], json!({"executor": "CLAUDE_CODE"}));
        let v5 = read(json!({"config_version": "v5", "profile": {"profile": "codex", "variant": "high"}}));
        assert_eq!(v5["executor_profile"], json!({"executor": "CODEX", "variant": "high"}));
        let v7 = read(json!({"config_version": "v7", "git_branch_prefix": "af", "own": 1}));
        assert_eq!((&v7["git_branch_prefix"], &v7["own"]), (&json!("forge"), &json!(1)));
    }

    #[test]
    fn one_wrong_field_costs_only_itself() {
        let file = json!({"theme": "PINK", "language": "JA", "notifications": {"sound_file": 7, "push_enabled": false},
            "showcases": 3});
        let (settings, problems) = understand(file.to_string().as_bytes());
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems.contains(&"notifications.sound_file has a value that is not allowed".to_owned()));
        let settings = serde_json::to_value(settings).unwrap();
        assert_eq!((&settings["theme"], &settings["language"]), (&json!("SYSTEM"), &json!("JA")));
        assert_eq!(settings["notifications"]["push_enabled"], false);
    }

    #[test]
    fn an_unreadable_file_is_kept_aside() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("config.json"), "{\"github\":{\"pat\":\"secret").unwrap();
        let settings = load(dir.path()).unwrap();
        assert_eq!(settings.github.pat, None);
        let kept = std::fs::read_to_string(dir.path().join("config.json.broken-1")).unwrap();
        assert!(kept.ends_with("secret"));
        assert_eq!(load(dir.path()).unwrap(), settings, "the file that replaced it is read again");
        assert!(!dir.path().join("config.json.broken-2").exists());
    }

    #[test]
    fn release_notes_are_shown_after_an_upgrade_only() {
        let mut settings = Settings::default();
        note_version(&mut settings, "1");
        assert!(!settings.show_release_notes);
        note_version(&mut settings, "2");
        assert!(settings.show_release_notes);
        assert_eq!(settings.last_app_version.as_deref(), Some("2"));
    }
}
