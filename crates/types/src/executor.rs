//! Which program does the work: the executor's id, its variant, and the spellings clients use for them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The variant used when none is named; `DEFAULT` is its older name.
pub const DEFAULT_VARIANT: &str = "GENIE";

macro_rules! executors {
    ($($name:ident = $text:literal),* $(,)?) => {
        /// A kind of agent.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Executor { $($name),* }

        impl Executor {
            /// Every executor, in the order in which they are listed to people.
            pub const ALL: &'static [Executor] = &[$(Executor::$name),*];

            /// The id on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Executor::$name => $text),* }
            }
        }
    };
}

executors! {
    ClaudeCode = "CLAUDE_CODE",
    Amp = "AMP",
    Gemini = "GEMINI",
    Codex = "CODEX",
    Opencode = "OPENCODE",
    CursorAgent = "CURSOR_AGENT",
    QwenCode = "QWEN_CODE",
    Copilot = "COPILOT",
    Droid = "DROID",
    Acp = "ACP",
    Shell = "SHELL",
    Scripted = "SCRIPTED",
}

/// The text that named no executor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown executor '{0}'; allowed: {list}", list = Executor::ALL.iter().map(|e| e.as_str()).collect::<Vec<_>>().join(", "))]
pub struct UnknownExecutor(pub String);

crate::shape::inline_schema! { Executor => {"type": "string", "pattern": pattern("")} }

/// What names an executor, and after it `rest`. It is no list of words, because other spellings are read as well.
fn pattern(rest: &str) -> String {
    format!("^({}){rest}$", Executor::ALL.iter().map(|one| one.as_str()).collect::<Vec<_>>().join("|"))
}

impl FromStr for Executor {
    type Err = UnknownExecutor;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let canonical = canonical_variant(text);
        let canonical = match canonical.as_str() {
            "CURSOR" => "CURSOR_AGENT",
            "CLAUDE" => "CLAUDE_CODE",
            "CHATGPT" => "CODEX",
            other => other,
        };
        Executor::ALL
            .iter()
            .copied()
            .find(|e| e.as_str() == canonical)
            .ok_or_else(|| UnknownExecutor(text.to_owned()))
    }
}

impl fmt::Display for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Executor {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Executor {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

/// `plan-mode`, `Plan Mode` and `PLAN_MODE` are one name.
pub fn canonical_variant(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        if c.is_alphanumeric() {
            out.extend(c.to_uppercase());
        } else if !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
    }
    out.truncate(out.trim_end_matches('_').len());
    out
}

/// An executor with a variant and, for one attempt, a model.
///
/// Reads `{"executor": …, "variant": …}`, the older key `profile`, and the short form `"EXECUTOR:VARIANT"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProfileId {
    pub executor: Executor,
    pub variant: Option<String>,
    pub model: Option<String>,
}

/// An agent with a variant and, for one attempt, a model.
#[derive(JsonSchema)]
#[schemars(rename = "ExecutorProfileId")]
#[expect(dead_code, reason = "only described")]
struct ProfileShape {
    executor: Executor,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    variant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    model: Option<String>,
}

/// `EXECUTOR`, `EXECUTOR:VARIANT`, or the object.
#[derive(JsonSchema)]
#[schemars(rename = "ProfileChoice", untagged)]
#[expect(dead_code, reason = "only described")]
enum ProfileChoice {
    Short(#[schemars(extend("pattern" = pattern("(:.*)?")))] String),
    Whole(ProfileShape),
}

/// It is read in more forms than it is written in.
impl JsonSchema for ProfileId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "ProfileId".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        match generator.contract().is_deserialize() {
            true => generator.subschema_for::<ProfileChoice>(),
            false => generator.subschema_for::<ProfileShape>(),
        }
    }
}

impl ProfileId {
    pub fn new(executor: Executor) -> Self {
        Self { executor, variant: None, model: None }
    }
}

impl fmt::Display for ProfileId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.variant {
            Some(variant) => write!(f, "{}:{variant}", self.executor),
            None => self.executor.fmt(f),
        }
    }
}

impl FromStr for ProfileId {
    type Err = UnknownExecutor;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (executor, variant) = match text.split_once(':') {
            Some((executor, variant)) => (executor, Some(variant.to_owned())),
            None => (text, None),
        };
        Ok(Self { executor: executor.parse()?, variant: variant.filter(|v| !v.is_empty()), model: None })
    }
}

impl Serialize for ProfileId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("executor", &self.executor)?;
        if let Some(variant) = &self.variant {
            map.serialize_entry("variant", variant)?;
        }
        if let Some(model) = &self.model {
            map.serialize_entry("model", model)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ProfileId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Form;
        impl<'de> Visitor<'de> for Form {
            type Value = ProfileId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"EXECUTOR\", \"EXECUTOR:VARIANT\" or {\"executor\": …, \"variant\": …}")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<ProfileId, E> {
                text.parse().map_err(E::custom)
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<ProfileId, M::Error> {
                let (mut executor, mut variant, mut model) = (None, None, None);
                while let Some(key) = map.next_key::<String>()? {
                    match key.as_str() {
                        "executor" | "profile" => executor = Some(map.next_value::<Executor>()?),
                        "variant" => variant = map.next_value::<Option<String>>()?,
                        "model" => model = map.next_value::<Option<String>>()?,
                        _ => {
                            map.next_value::<de::IgnoredAny>()?;
                        }
                    }
                }
                let executor = executor.ok_or_else(|| de::Error::missing_field("executor"))?;
                Ok(ProfileId { executor, variant: variant.filter(|v| !v.is_empty()), model })
            }
        }
        from.deserialize_any(Form)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_spelling_clients_use_is_read() {
        let cases = [
            (json!("CLAUDE_CODE"), "CLAUDE_CODE"),
            (json!("claude-code:plan"), "CLAUDE_CODE:plan"),
            (json!({"executor": "claude", "variant": null}), "CLAUDE_CODE"),
            (json!({"profile": "Cursor", "variant": "GPT_5"}), "CURSOR_AGENT:GPT_5"),
            (json!({"executor": "chatgpt", "extra": 1}), "CODEX"),
        ];
        for (given, want) in cases {
            let id: ProfileId = serde_json::from_value(given).expect(want);
            assert_eq!(id.to_string(), want);
        }
    }

    #[test]
    fn a_null_variant_is_omitted() {
        assert_eq!(
            serde_json::to_value(ProfileId::new(Executor::Shell)).unwrap(),
            json!({"executor": "SHELL"})
        );
    }

    #[test]
    fn an_unknown_executor_is_refused_with_the_allowed_ones() {
        let error = serde_json::from_value::<ProfileId>(json!({"executor": "NOPE"})).unwrap_err().to_string();
        assert!(error.contains("NOPE") && error.contains("CLAUDE_CODE, AMP"), "{error}");
    }

    #[test]
    fn variant_names_are_canonical() {
        assert_eq!(canonical_variant("plan-mode"), "PLAN_MODE");
        assert_eq!(canonical_variant(" Two  words "), "TWO_WORDS");
    }
}
