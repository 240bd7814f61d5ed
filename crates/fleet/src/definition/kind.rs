//! The types of workers: `workers/<type>.yaml`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::section::Section;
use super::{DefinitionError, Surroundings, expand};
use crate::worker::WorkerTier;

#[derive(Clone, Debug, PartialEq)]
pub struct WorkerKind {
    pub file: PathBuf,
    pub name: String,
    pub description: Option<String>,
    pub version: Option<String>,
    pub author: Option<String>,
    /// The name of a launcher, or a path.
    pub launcher: String,
    pub model: String,
    pub tier: WorkerTier,
    pub prices: Option<Prices>,
    pub subscription: Option<Subscription>,
    /// With variables, see [`WorkerKind::resolve`].
    pub environment: BTreeMap<String, String>,
    /// Arguments for the launcher instead of the usual ones.
    pub spawn_args: Vec<String>,
    pub health_check: Option<Probe>,
    pub capabilities: Vec<String>,
    pub max_context_tokens: Option<u64>,
    pub supports_tools: Option<bool>,
    pub supports_vision: Option<bool>,
}

/// Dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    pub input: f64,
    pub output: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Subscription {
    pub enabled: bool,
    pub monthly_cost: Option<f64>,
    pub quota: Quota,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quota {
    Unlimited,
    Tokens(Option<u64>),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Probe {
    pub enabled: bool,
    pub interval_seconds: Option<u64>,
    pub timeout_seconds: Option<u64>,
    pub command: Option<String>,
}

/// All types of a folder. An invalid file does not affect the others.
#[derive(Debug, Default)]
pub struct Kinds {
    pub kinds: Vec<WorkerKind>,
    pub notes: Vec<String>,
    pub errors: Vec<DefinitionError>,
}

/// The parts of a type that depend on the worker, with variables replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolved {
    pub environment: BTreeMap<String, String>,
    pub spawn_args: Vec<String>,
}

pub fn read_kinds(dir: &Path, around: Surroundings<'_>) -> Kinds {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|end| end == "yaml" || end == "yml");
    let mut files: Vec<PathBuf> = entries.filter(is_yaml).collect();
    files.sort();
    let mut all = Kinds::default();
    for file in files {
        match read_kind(&file, around) {
            Ok(Some((kind, notes))) => {
                all.kinds.push(kind);
                all.notes.extend(notes);
            }
            Ok(None) => {}
            Err(error) => all.errors.push(error),
        }
    }
    all
}

fn read_kind(
    file: &Path,
    around: Surroundings<'_>,
) -> Result<Option<(WorkerKind, Vec<String>)>, DefinitionError> {
    let Some(mut top) = Section::read(file)? else { return Ok(None) };
    let mut notes = Vec::new();
    let name = top.required("name", around)?;
    let launcher = top.required("launcher", around)?;
    let model = top.required("model", around)?;
    let missing = DefinitionError::Missing { file: file.to_owned(), key: "tier".to_owned() };
    let tier = top.tier()?.ok_or(missing)?;
    let prices = match top.section("cost_per_million_tokens")? {
        None => None,
        Some(mut section) => {
            let (input, output) = (section.number("input")?, section.number("output")?);
            notes.extend(section.rest());
            Some(Prices { input: input.unwrap_or_default(), output: output.unwrap_or_default() })
        }
    };
    let subscription = match top.section("subscription")? {
        None => None,
        Some(mut section) => {
            let subscription = read_subscription(&mut section)?;
            notes.extend(section.rest());
            Some(subscription)
        }
    };
    let environment = top.variables()?;
    let health_check = match top.section("health_check")? {
        None => None,
        Some(mut section) => {
            let probe = Probe {
                enabled: section.flag("enabled")?.unwrap_or(true),
                interval_seconds: section.count("interval_seconds")?,
                timeout_seconds: section.count("timeout_seconds")?,
                command: section.raw("command")?,
            };
            notes.extend(section.rest());
            Some(probe)
        }
    };
    let kind = WorkerKind {
        file: file.to_owned(),
        name,
        description: top.raw("description")?,
        version: top.raw("version")?,
        author: top.raw("author")?,
        launcher,
        model,
        tier,
        prices,
        subscription,
        environment,
        spawn_args: top.list("spawn_args")?,
        health_check,
        capabilities: top.list("capabilities")?,
        max_context_tokens: top.count("max_context_tokens")?,
        supports_tools: top.flag("supports_tools")?,
        supports_vision: top.flag("supports_vision")?,
    };
    notes.extend(top.rest());
    Ok(Some((kind, notes)))
}

fn read_subscription(section: &mut Section) -> Result<Subscription, DefinitionError> {
    let limit = section.count("quota_limit")?;
    let quota = match section.raw("quota_type")?.as_deref() {
        Some("unlimited") => Quota::Unlimited,
        None | Some("tokens") => Quota::Tokens(limit),
        Some(other) => return Err(section.invalid("quota_type", other, "unlimited or tokens")),
    };
    let enabled = section.flag("enabled")?.unwrap_or(true);
    Ok(Subscription { enabled, monthly_cost: section.number("monthly_cost")?, quota })
}

impl WorkerKind {
    /// Replaces `~` and `${NAME}` as [`Surroundings::resolve`] does.
    pub fn resolve(
        &self,
        worker: &BTreeMap<&str, String>,
        around: Surroundings<'_>,
    ) -> Result<Resolved, DefinitionError> {
        let environment = around.resolve(&self.file, &self.environment, worker)?;
        let variable = |name: &str| worker.get(name).cloned().or_else(|| (around.variable)(name));
        let around = Surroundings { variable: &variable, ..around };
        let resolve = |text: &String| {
            let (file, key) = (self.file.clone(), "spawn_args".to_owned());
            expand(text, around).map_err(|variable| DefinitionError::Unset { file, key, variable })
        };
        let spawn_args = self.spawn_args.iter().map(resolve).collect::<Result<_, _>>()?;
        Ok(Resolved { environment, spawn_args })
    }
}
