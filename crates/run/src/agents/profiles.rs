//! Profiles: the variants of each executor.
//!
//! Owns the types of options, how a user's own variants are read, and how a requested name is resolved. Invariants:
//! every executor has the default variant; keys are canonical (`PLAN_MODE`); a built-in variant can be changed but
//! not removed; every known option has the right type, so planning never meets a wrong one.

use std::collections::{BTreeMap, BTreeSet};

use forge_types::{AgentOption, DEFAULT_VARIANT, Executor, OptionKind, ProfileId, canonical_variant};
use serde_json::{Map, Value, json};

use super::genie::Agents;
use super::{ALL, Agent};

/// `{"executors": {EXECUTOR: {VARIANT: {EXECUTOR: {options}}}}}`
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles(Variants);

/// Options by executor and variant.
pub(super) type Variants = BTreeMap<Executor, BTreeMap<String, Map<String, Value>>>;

/// A built-in variant: its name and the options it sets.
pub(super) type Variant = (&'static str, &'static [(&'static str, OptionValue)]);

/// The value that a built-in variant gives an option.
pub(super) enum OptionValue {
    On,
    Text(&'static str),
}

pub(super) const MODEL: AgentOption =
    AgentOption::text("model", "Model").hint("The agent's own default if empty.");
pub(super) const APPROVALS: AgentOption =
    AgentOption::flag("approvals", "Ask for permission").hint("Commands and edits wait for your answer.");

/// The option under which an agent asks nothing.
pub(super) const fn unasked(key: &'static str) -> AgentOption {
    AgentOption::flag(key, "Allow everything").hint("It runs commands and edits files without asking.")
}

/// The options of every agent.
pub(super) const COMMON: [AgentOption; 3] = [
    AgentOption::new("append_prompt", "Append to every prompt", OptionKind::LongText),
    AgentOption::text("base_command_override", "Command").hint("Instead of the agent's usual program."),
    AgentOption::lines("additional_params", "Additional arguments"),
];

/// What is wrong with a profile or a request for one; the message names the place and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProfileError {
    #[error("executor_profile_id.variant: unknown variant {variant} for {executor}; known: {known}")]
    UnknownVariant { executor: Executor, variant: String, known: String },
    #[error(
        "executor_profile_id.variant: {variant} could be any of these variants of {executor}: {known}; name one"
    )]
    Ambiguous { executor: Executor, variant: String, known: String },
    #[error("{place}: {problem}")]
    Invalid { place: String, problem: String },
}

/// The options of one variant.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Appended directly to the prompt.
    pub(super) append_prompt: Option<String>,
    /// A command line instead of the executor's usual program.
    pub base_command_override: Option<String>,
    pub(super) additional_params: Vec<String>,
    /// The executor's own options, as written in its profile.
    pub(super) own: Map<String, Value>,
}

impl Options {
    pub(super) fn is_on(&self, name: &str) -> bool {
        self.own.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.own.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
    }

    /// The model that the profile or the request names; `default` and some other names are Forge's own.
    pub(super) fn model(&self) -> Option<&str> {
        let named = self.text("model").filter(|model| *model != "default")?;
        let mut names = ALL.into_iter().flat_map(|agent| agent.models);
        Some(names.find(|(name, _)| *name == named).map_or(named, |(_, model)| *model))
    }
}

impl Profiles {
    pub fn built_in() -> Profiles {
        Profiles::of(&ALL)
    }

    pub(super) fn of(agents: &[&Agent]) -> Profiles {
        let variants = |agent: &Agent| {
            let named = agent.variants.iter().map(|(name, given)| {
                let mut options = Map::new();
                fill(&mut options, given);
                options.insert("append_prompt".into(), Value::Null);
                ((*name).to_owned(), options)
            });
            named.collect()
        };
        Profiles(agents.iter().map(|agent| (agent.executor, variants(agent))).collect())
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

    /// The command of `ACP`: that of its default variant, or else of the first variant that has one.
    pub fn acp_command(&self) -> Option<&str> {
        let variants = self.0.get(&Executor::Acp)?;
        let commands = variants.get(DEFAULT_VARIANT).into_iter().chain(variants.values());
        let commands = commands.filter_map(|options| options.get("base_command_override")?.as_str());
        commands.map(str::trim).find(|command| !command.is_empty())
    }

    /// These profiles with those of a project on top.
    pub fn with(&self, agents: &Agents) -> Profiles {
        let mut all = self.clone();
        for (executor, variants) in &agents.variants {
            let known = all.0.entry(*executor).or_default();
            known.extend(variants.iter().map(|(name, options)| (name.clone(), options.clone())));
        }
        all
    }

    /// The variant that `id` names in a project, with its canonical name and the model that `id` asks for.
    pub fn find(&self, id: &ProfileId, agents: &Agents) -> Result<(ProfileId, Options), ProfileError> {
        let wanted = canonical_name(id.variant.as_deref().unwrap_or(DEFAULT_VARIANT));
        let (name, stored) = self.look_up(id, &wanted, agents)?;
        let is_default = id.variant.as_deref().is_none_or(|asked| canonical_variant(asked) == "DEFAULT");
        let found = ProfileId { variant: (!is_default).then_some(name), ..id.clone() };
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
        Ok((found, Options { append_prompt, base_command_override, additional_params, own }))
    }

    /// The exact name, the project's agents first; then the agent that the name matches with or without a prefix.
    fn look_up<'a>(
        &'a self,
        id: &ProfileId,
        wanted: &str,
        agents: &'a Agents,
    ) -> Result<(String, &'a Map<String, Value>), ProfileError> {
        let described = agents.variants.get(&id.executor);
        let stored = self.0.get(&id.executor);
        for variants in [described, stored].into_iter().flatten() {
            if let Some(options) = variants.get(wanted) {
                return Ok((wanted.to_owned(), options));
            }
        }
        let meant = described.into_iter().flatten().filter(|(name, _)| agents.means(wanted, name));
        let meant: Vec<_> = meant.collect();
        if let [(name, options)] = meant[..] {
            return Ok((name.clone(), options));
        }
        let known: BTreeSet<&str> =
            described.into_iter().chain(stored).flatten().map(|(name, _)| name.as_str()).collect();
        let known = match meant.is_empty() {
            true => Vec::from_iter(known).join(", "),
            false => meant.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", "),
        };
        let (executor, variant) = (id.executor, id.variant.clone().unwrap_or_else(|| wanted.to_owned()));
        Err(match meant.is_empty() {
            true => ProfileError::UnknownVariant { executor, variant, known },
            false => ProfileError::Ambiguous { executor, variant, known },
        })
    }
}

impl Agents {
    /// Whether both names match apart from the project's prefix and a collective's prefix that one of them lacks.
    fn means(&self, wanted: &str, name: &str) -> bool {
        let short = |text: &str| {
            let rest = text.strip_prefix(&self.project).and_then(|rest| rest.strip_prefix('_'));
            rest.unwrap_or(text).to_owned()
        };
        let (wanted, name) = (short(wanted), short(name));
        let lacks = |long: &str, prefix: &str, rest: &str| {
            long.strip_prefix(prefix).and_then(|long| long.strip_prefix('_')) == Some(rest)
        };
        let mut collectives = self.collectives.iter();
        wanted == name
            || collectives.any(|prefix| lacks(&wanted, prefix, &name) || lacks(&name, prefix, &wanted))
    }
}

/// `DEFAULT` is the older name of the default variant.
fn canonical_name(name: &str) -> String {
    match canonical_variant(name) {
        name if name == "DEFAULT" || name.is_empty() => DEFAULT_VARIANT.into(),
        name => name,
    }
}

pub(super) fn read_name(name: &str, place: &str) -> Result<String, ProfileError> {
    if name.starts_with("__") || canonical_variant(name).is_empty() {
        let problem =
            "is not a variant name; allowed: letters, digits and separators, not starting with \"__\"";
        return Err(invalid(place, problem.into()));
    }
    Ok(canonical_name(name))
}

/// Sets the options that are missing.
pub(super) fn fill(options: &mut Map<String, Value>, given: &[(&str, OptionValue)]) {
    for (name, given) in given {
        options.entry(*name).or_insert_with(|| match given {
            OptionValue::On => Value::Bool(true),
            OptionValue::Text(text) => (*text).into(),
        });
    }
}

/// The options of an agent's built-in default variant.
pub(super) fn default_options(agent: &Agent) -> Map<String, Value> {
    let mut options = Map::new();
    if let Some((_, given)) = agent.variants.iter().find(|(name, _)| *name == DEFAULT_VARIANT) {
        fill(&mut options, given);
    }
    options
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
    read_options(inner, &format!("{place}.{tag}"))
}

/// The options of a variant; every known one has the right type.
pub(super) fn read_options(given: &Value, place: &str) -> Result<Map<String, Value>, ProfileError> {
    let mut options = Map::new();
    for (name, value) in object(given, place)? {
        // Absent and null are the same.
        if value.is_null() {
            continue;
        }
        if let Some(kind) = kind_of(name)
            && !kind.allows(value)
        {
            let problem = format!("is {value}; allowed: {}", kind.allowed());
            return Err(invalid(&format!("{place}.{name}"), problem));
        }
        options.insert(name.clone(), value.clone());
    }
    options.entry("append_prompt").or_insert(Value::Null);
    Ok(options)
}

/// The type of an option; no option has two types. Unknown options are kept unchanged.
fn kind_of(name: &str) -> Option<OptionKind> {
    let mut known = ALL.into_iter().flat_map(Agent::options);
    known.find(|option| option.key == name).map(|option| option.kind)
}

fn object<'a>(value: &'a Value, place: &str) -> Result<&'a Map<String, Value>, ProfileError> {
    value.as_object().ok_or_else(|| invalid(place, "must be a JSON object".into()))
}

fn invalid(place: &str, problem: String) -> ProfileError {
    ProfileError::Invalid { place: place.to_owned(), problem }
}

#[cfg(test)]
mod tests;
