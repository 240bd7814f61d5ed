//! The secrets of a run or a worker: values of its environment that no reader of its output may see.
//!
//! Owns which variables count as secrets, the file next to the output that stores their values, and how text is
//! shown without them. Invariant: the file is complete before the output begins, so every reader masks the same
//! values, at any time. The output itself keeps the unmasked bytes: the protocols of agents need them. After the
//! end only those values are kept that the output contains. Where the environment is unknown, the server's is used.

mod file;
mod forms;
mod masker;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use forms::{Forms, Partial};
pub(crate) use masker::Masker;

/// How the name of a secret ends: after an underscore, or as the whole name.
const NAME_ENDINGS: [&str; 9] =
    ["TOKEN", "KEY", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "APIKEY", "CREDENTIALS", "PAT"];
/// Shorter values occur in too many other words.
const MIN_VALUE_BYTES: usize = 8;
const MAX_VALUES: usize = 256;
const MAX_BYTES: usize = 64 * 1024;

/// The values to mask for readers of one output.
#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<Forms>>);

impl Secrets {
    /// The secrets stored in `dir`, if any.
    pub fn read(dir: &Path) -> io::Result<Secrets> {
        Secrets::of(&file::read(dir)?)
    }

    /// The secrets of this process.
    pub fn own() -> io::Result<Secrets> {
        Secrets::of(&secret_values(std::env::vars_os()))
    }

    /// Adds the secrets of an environment to those stored in `dir`.
    pub fn add(dir: &Path, environment: impl IntoIterator<Item = (OsString, OsString)>) -> io::Result<()> {
        let mut values = secret_values(environment);
        if values.is_empty() {
            return Ok(());
        }
        values.extend(file::read(dir)?);
        file::write(dir, &bounded(values))
    }

    /// Stores these in `dir`, which has none yet.
    pub(crate) fn write(&self, dir: &Path) -> io::Result<()> {
        match &self.0 {
            Some(forms) => file::write(dir, &forms.values()),
            None => Ok(()),
        }
    }

    fn of(values: &[String]) -> io::Result<Secrets> {
        if values.is_empty() {
            return Ok(Secrets::default());
        }
        Ok(Secrets(Some(Arc::new(Forms::of(values)?))))
    }

    /// The text with every secret masked, and also an end that may be the beginning of one: text that arrives in
    /// pieces is shown as it grows.
    pub fn mask_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.mask(text, Partial::Masked)
    }

    /// Masks every secret in the strings of a message. Their ends stay unmasked: the next message may continue
    /// them.
    pub fn mask_value(&self, value: &mut Value) {
        if self.0.is_none() {
            return;
        }
        match value {
            Value::String(text) => {
                if let Cow::Owned(masked) = self.mask(text, Partial::Kept) {
                    *text = masked;
                }
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.mask_value(value)),
            Value::Object(fields) => {
                if fields.keys().any(|name| matches!(self.mask(name, Partial::Kept), Cow::Owned(_))) {
                    let renamed = std::mem::take(fields).into_iter();
                    *fields = renamed
                        .map(|(name, value)| (self.mask(&name, Partial::Kept).into_owned(), value))
                        .collect();
                }
                fields.values_mut().for_each(|value| self.mask_value(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Keeps in `dir` only those that were found in the text masked so far. If that was the whole log, it is shown
    /// as before, and what the agent never printed is no longer on the disk.
    pub fn forget_unseen(&self, dir: &Path) -> io::Result<()> {
        let Some(forms) = &self.0 else { return Ok(()) };
        match forms.seen()[..] {
            [] => forget(dir),
            ref values => file::write(dir, values),
        }
    }

    fn mask<'a>(&self, text: &'a str, partial: Partial) -> Cow<'a, str> {
        let spans = self.0.as_ref().map(|forms| forms.spans(text.as_bytes(), partial)).unwrap_or_default();
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(String::from_utf8_lossy(&forms::apply_mask(text.as_bytes(), &spans)).into_owned())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Secrets(***)" } else { "Secrets()" })
    }
}

/// Removes the secrets stored in `dir`.
pub(crate) fn forget(dir: &Path) -> io::Result<()> {
    file::remove(dir)
}

/// The values to mask. A value of several lines counts line by line.
fn secret_values(environment: impl IntoIterator<Item = (OsString, OsString)>) -> Vec<String> {
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let named = environment.into_iter().filter_map(text).filter(|(name, _)| is_secret(name));
    let values = named
        .flat_map(|(_, value)| value.lines().map(|line| line.trim().to_owned()).collect::<Vec<_>>())
        .filter(|value| value.len() >= MIN_VALUE_BYTES && !value.starts_with('/'));
    bounded(values.collect())
}

/// As many as are stored, sorted and without duplicates.
fn bounded(mut values: Vec<String>) -> Vec<String> {
    values.sort_unstable();
    values.dedup();
    let mut bytes = 0;
    values.retain(|value| {
        let fits = bytes + value.len() <= MAX_BYTES;
        bytes += if fits { value.len() } else { 0 };
        fits
    });
    values.truncate(MAX_VALUES);
    values
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    NAME_ENDINGS
        .iter()
        .any(|end| name.strip_suffix(end).is_some_and(|rest| rest.is_empty() || rest.ends_with('_')))
}

#[cfg(test)]
mod tests;
