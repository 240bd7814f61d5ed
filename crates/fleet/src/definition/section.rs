//! A mapping of a YAML file, taken apart key by key. What is left at the end is unknown.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use yaml_serde::{Mapping, Value};

use super::{DefinitionError, Surroundings, expand};
use crate::worker::WorkerTier;

pub(super) struct Section {
    file: PathBuf,
    /// Where it is in the file: empty, or like `workers.alpha.`.
    at: String,
    map: Mapping,
}

impl Section {
    /// The whole file; none if it does not exist.
    pub(super) fn read(file: &Path) -> Result<Option<Section>, DefinitionError> {
        let text = match std::fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(DefinitionError::Io { file: file.to_owned(), source }),
        };
        let yaml = |message: String| DefinitionError::Yaml { file: file.to_owned(), message };
        let map = match yaml_serde::from_str(&text).map_err(|error| yaml(error.to_string()))? {
            Value::Mapping(map) => map,
            Value::Null => Mapping::new(),
            other => return Err(yaml(format!("it is `{}`, but must be keys with values", shown(&other)))),
        };
        Ok(Some(Section { file: file.to_owned(), at: String::new(), map }))
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.map.keys().map(shown).collect()
    }

    pub(super) fn section(&mut self, key: &str) -> Result<Option<Section>, DefinitionError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Mapping(map)) => {
                Ok(Some(Section { file: self.file.clone(), at: format!("{}{key}.", self.at), map }))
            }
            Some(other) => Err(self.invalid(key, &shown(&other), "keys with values")),
        }
    }

    pub(super) fn required(
        &mut self,
        key: &str,
        around: Surroundings<'_>,
    ) -> Result<String, DefinitionError> {
        let missing = DefinitionError::Missing { file: self.file.clone(), key: format!("{}{key}", self.at) };
        self.text(key, around)?.filter(|text| !text.is_empty()).ok_or(missing)
    }

    pub(super) fn text(
        &mut self,
        key: &str,
        around: Surroundings<'_>,
    ) -> Result<Option<String>, DefinitionError> {
        let Some(text) = self.raw(key)? else { return Ok(None) };
        let unset = |variable| DefinitionError::Unset {
            file: self.file.clone(),
            key: format!("{}{key}", self.at),
            variable,
        };
        expand(&text, around).map(Some).map_err(unset)
    }

    /// A text with its variables unreplaced.
    pub(super) fn raw(&mut self, key: &str) -> Result<Option<String>, DefinitionError> {
        match self.take(key) {
            None => Ok(None),
            Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => Ok(Some(shown(&value))),
            Some(other) => Err(self.invalid(key, &shown(&other), "a text")),
        }
    }

    pub(super) fn tier(&mut self) -> Result<Option<WorkerTier>, DefinitionError> {
        let Some(word) = self.raw("tier")? else { return Ok(None) };
        let tier = WorkerTier::parse(&word);
        tier.map(Some).ok_or_else(|| self.invalid("tier", &word, "premium, standard, budget or free"))
    }

    pub(super) fn flag(&mut self, key: &str) -> Result<Option<bool>, DefinitionError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(other) => Err(self.invalid(key, &shown(&other), "true or false")),
        }
    }

    pub(super) fn number(&mut self, key: &str) -> Result<Option<f64>, DefinitionError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
        number.map(Some).ok_or_else(|| self.invalid(key, &shown(&value), "a number that is not negative"))
    }

    pub(super) fn count(&mut self, key: &str) -> Result<Option<u64>, DefinitionError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| self.invalid(key, &shown(&value), "a whole number"))
    }

    pub(super) fn list(&mut self, key: &str) -> Result<Vec<String>, DefinitionError> {
        let words = match self.take(key) {
            None => return Ok(Vec::new()),
            Some(Value::Sequence(words)) => words,
            Some(other) => return Err(self.invalid(key, &shown(&other), "a list of texts")),
        };
        let odd =
            words.iter().find(|word| matches!(word, Value::Sequence(_) | Value::Mapping(_) | Value::Null));
        match odd {
            Some(odd) => Err(self.invalid(key, &shown(odd), "a list of texts")),
            None => Ok(words.iter().map(shown).collect()),
        }
    }

    /// The variables of `env` or `environment`, unreplaced.
    pub(super) fn variables(&mut self) -> Result<BTreeMap<String, String>, DefinitionError> {
        let mut variables = BTreeMap::new();
        for name in ["environment", "env"] {
            let Some(mut section) = self.section(name)? else { continue };
            for key in section.keys() {
                variables.extend(section.raw(&key)?.map(|value| (key, value)));
            }
        }
        Ok(variables)
    }

    /// A note for each key that was not read.
    pub(super) fn rest(self) -> Vec<String> {
        let file = self.file.display();
        self.map
            .keys()
            .map(|key| format!("{file}: `{}{}` is unknown and is ignored", self.at, shown(key)))
            .collect()
    }

    pub(super) fn invalid(&self, key: &str, value: &str, wanted: &str) -> DefinitionError {
        DefinitionError::Invalid {
            file: self.file.clone(),
            key: format!("{}{key}", self.at),
            value: value.to_owned(),
            wanted: wanted.to_owned(),
        }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        self.map.remove(key).filter(|value| !value.is_null())
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => yaml_serde::to_string(other).unwrap_or_default().trim().to_owned(),
    }
}
