//! Profiles: what each executor's variants are.
//!
//! Owns the table of built-in variants and the reading of a user's own. Invariants: every executor has the default
//! variant; keys are canonical (`PLAN_MODE`); a built-in variant can be changed but not removed; every known option
//! has the right type, so planning never meets a wrong one.

use std::collections::BTreeMap;

use forge_types::{DEFAULT_VARIANT, Executor, ProfileId, canonical_variant};
use serde_json::{Map, Value, json};

/// `{"executors": {EXECUTOR: {VARIANT: {EXECUTOR: {options}}}}}`
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles(BTreeMap<Executor, BTreeMap<String, Map<String, Value>>>);

/// What is wrong with a profile or the request for one; the message says where and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    #[error("executor_profile_id.variant: unknown variant {variant} for {executor}; known: {known}")]
    UnknownVariant { executor: Executor, variant: String, known: String },
    #[error("{place}: {problem}")]
    Invalid { place: String, problem: String },
}

/// The options of one variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Put directly behind the prompt.
    pub append_prompt: Option<String>,
    /// A command line instead of the executor's usual program.
    pub base_command_override: Option<String>,
    pub additional_params: Vec<String>,
    /// The executor's own options, as in its profile.
    pub own: Map<String, Value>,
}

impl Options {
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.own.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.own.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }
}

impl Profiles {
    pub fn built_in() -> Profiles {
        let mut profiles = Profiles(BTreeMap::new());
        for executor in Executor::ALL {
            let variants = built_in_variants(*executor).into_iter().map(|(name, options)| {
                let mut options = match options {
                    Value::Object(options) => options,
                    _ => Map::new(),
                };
                options.insert("append_prompt".into(), Value::Null);
                (name.to_owned(), options)
            });
            profiles.0.insert(*executor, variants.collect());
        }
        profiles
    }

    /// These profiles with those of a user's `profiles.json` on top.
    pub fn merged_with(&self, json: &str) -> Result<Profiles, ProfileError> {
        let document: Value =
            serde_json::from_str(json).map_err(|error| invalid("profiles", format!("not JSON: {error}")))?;
        let executors = object(document.get("executors").unwrap_or(&Value::Null), "executors")?;
        let mut merged = self.clone();
        for (key, variants) in executors {
            let place = format!("executors.{key}");
            let executor: Executor = key.parse().map_err(|error| invalid(&place, format!("{error}")))?;
            let mut seen = BTreeMap::new();
            for (name, variant) in object(variants, &place)? {
                let place = format!("{place}.{name}");
                let options = read_variant(executor, variant, &place)?;
                let canonical = read_name(name, &place)?;
                if let Some(other) = seen.insert(canonical.clone(), name) {
                    return Err(invalid(&place, format!("is the same variant as {other}; keep one of them")));
                }
                merged.0.entry(executor).or_default().insert(canonical, options);
            }
        }
        Ok(merged)
    }

    pub fn to_json(&self) -> Value {
        let executors = self.0.iter().map(|(executor, variants)| {
            let variants = variants.iter().map(|(name, options)| {
                let inner = Map::from_iter([(executor.to_string(), Value::Object(options.clone()))]);
                (name.clone(), Value::Object(inner))
            });
            (executor.to_string(), Value::Object(variants.collect()))
        });
        json!({"executors": executors.collect::<Map<_, _>>()})
    }

    /// The options of the variant `id` names, with the model `id` asks for.
    pub fn find(&self, id: &ProfileId) -> Result<Options, ProfileError> {
        let variant = canonical_name(id.variant.as_deref().unwrap_or(DEFAULT_VARIANT));
        let variants = self.0.get(&id.executor);
        let Some(stored) = variants.and_then(|variants| variants.get(&variant)) else {
            let known: Vec<_> = variants.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
            return Err(ProfileError::UnknownVariant {
                executor: id.executor,
                variant: id.variant.clone().unwrap_or(variant),
                known: known.join(", "),
            });
        };
        let mut own = stored.clone();
        let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_owned);
        let append_prompt = text(own.remove("append_prompt"));
        let base_command_override = text(own.remove("base_command_override"));
        let params = own.remove("additional_params").unwrap_or_default();
        let params = params.as_array().into_iter().flatten().filter_map(Value::as_str);
        let additional_params = params.map(str::to_owned).collect();
        if let Some(model) = &id.model {
            own.insert("model".into(), model.as_str().into());
        }
        Ok(Options { append_prompt, base_command_override, additional_params, own })
    }
}

fn built_in_variants(executor: Executor) -> Vec<(&'static str, Value)> {
    let cursor = |model: &str| json!({"force": true, "model": model});
    let copilot = |model: &str| json!({"allow_all_tools": true, "model": model});
    match executor {
        Executor::ClaudeCode => vec![
            ("GENIE", json!({"dangerously_skip_permissions": true})),
            ("PLAN", json!({"plan": true})),
            ("APPROVALS", json!({"approvals": true})),
        ],
        Executor::Amp => vec![("GENIE", json!({"dangerously_allow_all": true}))],
        Executor::Gemini => vec![
            ("GENIE", json!({"model": "default", "yolo": true})),
            ("FLASH", json!({"model": "flash", "yolo": true})),
        ],
        Executor::Codex => vec![
            ("GENIE", json!({"sandbox": "danger-full-access"})),
            ("HIGH", json!({"sandbox": "danger-full-access", "model_reasoning_effort": "high"})),
            ("APPROVALS", json!({"sandbox": "workspace-write", "ask_for_approval": "unless-trusted"})),
        ],
        Executor::Opencode | Executor::Shell | Executor::Scripted => vec![("GENIE", json!({}))],
        Executor::QwenCode => vec![("GENIE", json!({"yolo": true}))],
        Executor::CursorAgent => vec![
            ("GENIE", cursor("auto")),
            ("SONNET_4_5", cursor("sonnet-4.5")),
            ("SONNET_4_5_THINKING", cursor("sonnet-4.5-thinking")),
            ("OPUS_4_1", cursor("opus-4.1")),
            ("GPT_5", cursor("gpt-5")),
            ("GROK", cursor("grok")),
        ],
        Executor::Copilot => vec![
            ("GENIE", json!({"allow_all_tools": true})),
            ("GPT_5", copilot("gpt-5")),
            ("CLAUDE_SONNET_4_5", copilot("claude-sonnet-4.5")),
            ("CLAUDE_SONNET_4", copilot("claude-sonnet-4")),
        ],
    }
}

/// `DEFAULT` is the older name of the default variant.
fn canonical_name(name: &str) -> String {
    match canonical_variant(name) {
        name if name == "DEFAULT" || name.is_empty() => DEFAULT_VARIANT.into(),
        name => name,
    }
}

fn read_name(name: &str, place: &str) -> Result<String, ProfileError> {
    if name.starts_with("__") || canonical_variant(name).is_empty() {
        let problem = "is no variant name; allowed: letters, digits and separators, not starting with \"__\"";
        return Err(invalid(place, problem.into()));
    }
    Ok(canonical_name(name))
}

fn read_variant(
    executor: Executor,
    variant: &Value,
    place: &str,
) -> Result<Map<String, Value>, ProfileError> {
    let tagged = object(variant, place)?;
    let (Some((tag, inner)), 1) = (tagged.iter().next(), tagged.len()) else {
        return Err(invalid(place, format!("must hold exactly one key, {executor}")));
    };
    if tag.parse() != Ok(executor) {
        return Err(invalid(place, format!("holds options of {tag}; the inner key must be {executor}")));
    }
    let place = format!("{place}.{tag}");
    let mut options = Map::new();
    for (name, value) in object(inner, &place)? {
        // Absent and null mean the same.
        if value.is_null() {
            continue;
        }
        if let Some(wanted) = wanted_type(name)
            && !wanted.allows(value)
        {
            let problem = format!("is {value}; allowed: {}", wanted.describe());
            return Err(invalid(&format!("{place}.{name}"), problem));
        }
        options.insert(name.clone(), value.clone());
    }
    options.entry("append_prompt").or_insert(Value::Null);
    Ok(options)
}

enum Wanted {
    Flag,
    Text,
    Texts,
}

impl Wanted {
    fn allows(&self, value: &Value) -> bool {
        match self {
            Wanted::Flag => value.is_boolean(),
            Wanted::Text => value.is_string(),
            Wanted::Texts => value.as_array().is_some_and(|items| items.iter().all(Value::is_string)),
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Wanted::Flag => "true or false",
            Wanted::Text => "a string",
            Wanted::Texts => "an array of strings",
        }
    }
}

/// The type of the options of all executors; none means two things. Unknown options are kept as they are.
fn wanted_type(option: &str) -> Option<Wanted> {
    Some(match option {
        "claude_code_router"
        | "plan"
        | "approvals"
        | "dangerously_skip_permissions"
        | "dangerously_allow_all"
        | "yolo"
        | "oss"
        | "include_plan_tool"
        | "include_apply_patch_tool"
        | "force"
        | "allow_all_tools" => Wanted::Flag,
        "append_prompt"
        | "base_command_override"
        | "model"
        | "sandbox"
        | "ask_for_approval"
        | "model_reasoning_effort"
        | "model_reasoning_summary"
        | "model_reasoning_summary_format"
        | "profile"
        | "base_instructions"
        | "agent"
        | "allow_tool"
        | "deny_tool" => Wanted::Text,
        "additional_params" | "add_dir" | "disable_mcp_server" => Wanted::Texts,
        _ => return None,
    })
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, ProfileError> {
    value.as_object().ok_or_else(|| invalid(place, "must be a JSON object".into()))
}

fn invalid(place: &str, problem: String) -> ProfileError {
    ProfileError::Invalid { place: place.to_owned(), problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(profiles: &Profiles, id: &str) -> Result<Options, String> {
        profiles.find(&id.parse().unwrap()).map_err(|error| error.to_string())
    }

    #[test]
    fn variants_are_found_in_every_spelling() {
        let profiles = Profiles::built_in();
        let cases = [
            ("CLAUDE_CODE", "dangerously_skip_permissions", json!(true)),
            ("CLAUDE_CODE:DEFAULT", "dangerously_skip_permissions", json!(true)),
            ("CLAUDE_CODE:plan", "plan", json!(true)),
            ("claude-code:Approvals", "approvals", json!(true)),
            ("CODEX:high", "model_reasoning_effort", json!("high")),
            ("CURSOR:sonnet-4.5", "model", json!("sonnet-4.5")),
            ("COPILOT:gpt 5", "model", json!("gpt-5")),
            ("GEMINI:flash", "yolo", json!(true)),
        ];
        for (id, option, want) in cases {
            assert_eq!(find(&profiles, id).unwrap().own[option], want, "{id}");
        }
        for executor in Executor::ALL {
            assert!(profiles.find(&ProfileId::new(*executor)).is_ok(), "{executor}");
        }
    }

    #[test]
    fn an_unknown_variant_is_told_the_known_ones() {
        assert_eq!(
            find(&Profiles::built_in(), "CLAUDE_CODE:CODE_X").unwrap_err(),
            "executor_profile_id.variant: unknown variant CODE_X for CLAUDE_CODE; known: APPROVALS, GENIE, PLAN"
        );
    }

    #[test]
    fn the_request_names_the_model() {
        let id = ProfileId { model: Some("opus".into()), ..ProfileId::new(Executor::ClaudeCode) };
        assert_eq!(Profiles::built_in().find(&id).unwrap().text("model"), Some("opus"));
    }

    #[test]
    fn a_users_profiles_change_and_add_but_never_remove() {
        let user = json!({"executors": {"claude-code": {
            "default": {"CLAUDE_CODE": {"model": "m", "append_prompt": " be brief", "plan": null}},
            "my own": {"CLAUDE_CODE": {"additional_params": ["--a b"], "base_command_override": "x y", "novel": 1}},
        }}});
        let merged = Profiles::built_in().merged_with(&user.to_string()).unwrap();
        let changed = find(&merged, "CLAUDE_CODE").unwrap();
        assert_eq!(changed.append_prompt.as_deref(), Some(" be brief"));
        assert_eq!(Value::Object(changed.own), json!({"model": "m"}));
        let added = find(&merged, "CLAUDE_CODE:MY_OWN").unwrap();
        assert_eq!(
            (added.additional_params, added.own["novel"].clone()),
            (vec!["--a b".to_owned()], json!(1))
        );
        assert!(find(&merged, "CLAUDE_CODE:PLAN").is_ok() && find(&merged, "AMP").is_ok());
        assert_eq!(Profiles::built_in().merged_with(&merged.to_json().to_string()), Ok(merged));
    }

    #[test]
    fn a_wrong_profile_is_refused_with_its_place() {
        let one = |variant: &str, inner: Value| json!({"executors": {"AMP": {variant: inner}}}).to_string();
        let cases = [
            ("{".to_owned(), "profiles: not JSON"),
            ("{}".to_owned(), "executors: must be a JSON object"),
            (
                json!({"executors": {"NOPE": {}}}).to_string(),
                "executors.NOPE: unknown executor 'NOPE'; allowed: CLAUDE",
            ),
            (one("__x", json!({"AMP": {}})), "executors.AMP.__x: is no variant name"),
            (
                one("X", json!({"CODEX": {}})),
                "executors.AMP.X: holds options of CODEX; the inner key must be AMP",
            ),
            (one("X", json!({})), "executors.AMP.X: must hold exactly one key, AMP"),
            (
                one("X", json!({"AMP": {"yolo": "y"}})),
                "executors.AMP.X.AMP.yolo: is \"y\"; allowed: true or false",
            ),
            (
                json!({"executors": {"AMP": {"DEFAULT": {"AMP": {}}, "GENIE": {"AMP": {}}}}}).to_string(),
                "executors.AMP.GENIE: is the same variant as DEFAULT",
            ),
        ];
        for (json, want) in cases {
            let error = Profiles::built_in().merged_with(&json).unwrap_err().to_string();
            assert!(error.starts_with(want), "{error}");
        }
    }

    #[test]
    fn options_are_listed_with_append_prompt_and_without_nulls() {
        let json = Profiles::built_in().to_json();
        assert_eq!(
            json["executors"]["CLAUDE_CODE"]["PLAN"],
            json!({"CLAUDE_CODE": {"append_prompt": null, "plan": true}})
        );
        assert_eq!(json["executors"].as_object().unwrap().len(), Executor::ALL.len());
    }
}
