//! Worker definitions: `workers.yaml` and `workers/<type>.yaml`.
//!
//! Only reads them. Invariants: an error names file, key and value; an unknown key is only a note; `~` and `${NAME}`
//! are resolved with what the caller passes, not with this process's environment.

mod kind;
mod section;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::worker::{WorkerId, WorkerTier};
use section::Section;

pub use kind::{Kinds, Prices, Probe, Quota, Resolved, Subscription, WorkerKind, read_kinds};

#[derive(Debug, thiserror::Error)]
pub enum DefinitionError {
    #[error("{}: {source}", file.display())]
    Io { file: PathBuf, source: std::io::Error },
    #[error("{}: {message}", file.display())]
    Yaml { file: PathBuf, message: String },
    #[error("{}: `{key}` is missing", file.display())]
    Missing { file: PathBuf, key: String },
    #[error("{}: `{key}` is `{value}`, but must be {wanted}", file.display())]
    Invalid { file: PathBuf, key: String, value: String, wanted: String },
    #[error("{}: `{key}` uses `${{{variable}}}`, which is not set", file.display())]
    Unset { file: PathBuf, key: String, variable: String },
}

/// What `~` and `${NAME}` mean.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub home: &'a Path,
    pub variable: &'a dyn Fn(&str) -> Option<String>,
}

impl Surroundings<'_> {
    /// Replaces `~` and `${NAME}` in variables of a definition, where names are the worker's (`session_name`,
    /// `workspace`, `model`, `worker_id`) and then the environment's. A variable without a value is an error, so that
    /// no agent starts without its key.
    pub fn resolve(
        self,
        file: &Path,
        variables: &BTreeMap<String, String>,
        worker: &BTreeMap<&str, String>,
    ) -> Result<BTreeMap<String, String>, DefinitionError> {
        let variable = |name: &str| worker.get(name).cloned().or_else(|| (self.variable)(name));
        let around = Surroundings { variable: &variable, ..self };
        let resolve = |(key, text): (&String, &String)| {
            let unset = |variable| {
                let (file, key) = (file.to_owned(), format!("env.{key}"));
                DefinitionError::Unset { file, key, variable }
            };
            Ok((key.clone(), expand(text, around).map_err(unset)?))
        };
        variables.iter().map(resolve).collect()
    }
}

/// A worker of `workers.yaml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerDefinition {
    pub id: WorkerId,
    pub model: String,
    pub tier: WorkerTier,
    pub workspace: Option<PathBuf>,
    /// A path, or the name of a launcher.
    pub launcher: PathBuf,
    /// Variables for the launcher and the agent, see [`Surroundings::resolve`].
    pub env: BTreeMap<String, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Definitions {
    pub workers: Vec<WorkerDefinition>,
    /// What was ignored.
    pub notes: Vec<String>,
}

/// Reads `workers.yaml`. A missing file defines no workers.
pub fn read_workers(file: &Path, around: Surroundings<'_>) -> Result<Definitions, DefinitionError> {
    let mut notes = Vec::new();
    let Some(mut top) = Section::read(file)? else { return Ok(Definitions::default()) };
    let mut workers = Vec::new();
    if let Some(mut all) = top.section("workers")? {
        for name in all.keys() {
            let Some(mut one) = all.section(&name)? else { continue };
            let id =
                WorkerId::new(name.clone()).map_err(|error| all.invalid("", &name, &error.to_string()))?;
            workers.push(WorkerDefinition {
                id,
                model: one.required("model", around)?,
                tier: one.tier()?.unwrap_or_default(),
                workspace: one.text("workspace", around)?.map(PathBuf::from),
                launcher: PathBuf::from(one.required("launcher", around)?),
                env: one.variables()?,
            });
            notes.extend(one.rest());
        }
    }
    notes.extend(top.rest());
    workers.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(Definitions { workers, notes })
}

/// Replaces `${NAME}`, and `~` at the beginning. The error is the name that has no value.
pub(crate) fn expand(text: &str, around: Surroundings<'_>) -> Result<String, String> {
    let home = around.home.display();
    let text = match text.strip_prefix('~') {
        Some("") => home.to_string(),
        Some(rest) if rest.starts_with('/') => format!("{home}{rest}"),
        _ => text.to_owned(),
    };
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, after)) = after.split_once('}') else { break };
        expanded.push_str(before);
        expanded.push_str(&(around.variable)(name).ok_or_else(|| name.to_owned())?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}
