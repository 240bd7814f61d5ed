//! The agents that a project describes in its `.genie` folder.
//!
//! Owns: which files are agents, their front matter, and their names. Invariant: reading changes nothing and never
//! fails as a whole; a file that cannot be used is reported as a problem and skipped. Numbers and sizes are
//! bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use forge_os::file::{self, FileError};
use forge_types::{Executor, canonical_variant};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::agent;
use super::profiles::{self, Variants};

const FOLDER: &str = ".genie";
const SKIPPED: [&str; 15] = [
    "spells",
    "workflows",
    "reports",
    "state",
    "product",
    "qa",
    "wishes",
    "scripts",
    "utilities",
    "specs",
    "teams",
    "backups",
    ".cache",
    "node_modules",
    ".git",
];
const MAX_FILES: usize = 1000;
const MAX_FOLDERS: usize = 500;
const MAX_ENTRIES: usize = 10_000;
/// A description is text for a model; a longer one would not fit into its context.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// What a project's `.genie` folder adds to the profiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Agents {
    pub(super) variants: Variants,
    /// Canonical names of the collectives, with which an agent's name may or may not start.
    pub(super) collectives: BTreeSet<String>,
    /// The canonical name of the project's folder, which older servers put in front of every name.
    pub(super) project: String,
    /// The files that are not used, and why.
    pub problems: Vec<String>,
}

impl Agents {
    /// The agents that a project describes now. Reads files: do not call from async code.
    pub fn of(project: &Path) -> Self {
        scan(project).agents
    }
}

/// What was found, which folders were searched, and what was wrong.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub agents: Agents,
    pub folders: Vec<PathBuf>,
    root: PathBuf,
    files: usize,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FrontMatter {
    name: Option<String>,
    forge_profile_name: Option<String>,
    genie: Option<GenieSection>,
    forge: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GenieSection {
    executor: Option<OneOrMore>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(String),
    More(Vec<String>),
}

/// A group of agents with text that is put before the text of each of them.
#[derive(Clone, Copy)]
struct Collective<'a> {
    name: &'a str,
    words: &'a str,
}

pub(super) fn scan(project: &Path) -> Scan {
    let mut scan = Scan { root: project.to_owned(), ..Scan::default() };
    let name = project.file_name().unwrap_or_default().to_string_lossy();
    scan.agents.project = canonical_variant(&name);
    let root = project.join(FOLDER);
    let Some(entries) = scan.enter(&root) else { return scan };
    scan.read_agents(&root.join("agents"), None);
    for folder in entries.iter().filter(|path| path.is_dir()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if matches!(&*name, "agents" | "neurons") || scan.enter(folder).is_none() {
            continue;
        }
        let text = match file::if_any(scan.read(&folder.join("AGENTS.md"))) {
            Ok(Some(text)) => text,
            Ok(None) => continue,
            Err(problem) => {
                scan.agents.problems.push(problem.to_string());
                continue;
            }
        };
        scan.agents.collectives.insert(canonical_variant(&name));
        let words = split_front_matter(&text).1;
        scan.read_agents(&folder.join("agents"), Some(Collective { name: &name, words }));
    }
    scan.read_agents(&root.join("neurons"), None);
    scan
}

impl Scan {
    /// The entries of a folder in order, unless the folder is to be skipped.
    fn enter(&mut self, folder: &Path) -> Option<Vec<PathBuf>> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if SKIPPED.contains(&&*name) || self.folders.len() >= MAX_FOLDERS {
            return None;
        }
        let entries = std::fs::read_dir(folder).ok()?.flatten();
        self.folders.push(folder.to_owned());
        let entries = entries.take(MAX_ENTRIES);
        // A link to a folder could form a cycle; the target of a link to a file is checked when it is opened.
        let plain = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink() || !entry.path().is_dir()));
        let mut paths: Vec<PathBuf> = plain.map(|entry| entry.path()).collect();
        paths.sort();
        Some(paths)
    }

    fn read_agents(&mut self, folder: &Path, collective: Option<Collective<'_>>) {
        for path in self.enter(folder).unwrap_or_default() {
            if path.is_dir() {
                self.read_agents(&path, collective);
                continue;
            }
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_uppercase();
            let is_agent =
                path.extension().is_some_and(|end| end == "md") && stem != "README" && stem != "AGENTS";
            if !is_agent || self.files >= MAX_FILES {
                continue;
            }
            self.files += 1;
            if let Err(problem) = self.read_agent(&path, collective) {
                self.agents.problems.push(problem);
            }
        }
    }

    fn read_agent(&mut self, path: &Path, collective: Option<Collective<'_>>) -> Result<(), String> {
        let text = self.read(path).map_err(|error| error.to_string())?;
        self.describe(path, &text, collective).map_err(|problem| format!("{}: {problem}", path.display()))
    }

    fn read(&self, path: &Path) -> Result<String, FileError> {
        file::read_text(&self.root, path, MAX_FILE_BYTES)
    }

    fn describe(
        &mut self,
        path: &Path,
        text: &str,
        collective: Option<Collective<'_>>,
    ) -> Result<(), String> {
        let (front_matter, body) = split_front_matter(text);
        let front_matter: FrontMatter = match front_matter {
            Some(front_matter) => {
                yaml_serde::from_str(front_matter).map_err(|error| format!("front matter: {error}"))?
            }
            None => FrontMatter::default(),
        };
        let variant = match &front_matter.forge_profile_name {
            Some(name) => {
                profiles::read_name(name, "forge_profile_name").map_err(|error| error.to_string())?
            }
            None => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                let name = front_matter.name.as_deref().unwrap_or(&stem);
                let name =
                    collective.map_or(name.to_owned(), |collective| format!("{}_{name}", collective.name));
                profiles::read_name(&name, "name").map_err(|error| error.to_string())?
            }
        };
        let words = match collective.filter(|collective| !collective.words.trim().is_empty()) {
            Some(collective) => format!("{}\n\n---\n\n{body}", collective.words.trim_end()),
            None => body.to_owned(),
        };
        for (executor, mut options) in options_of(&front_matter)? {
            options.insert("append_prompt".to_owned(), Value::String(words.clone()));
            let variants = self.agents.variants.entry(executor).or_default();
            if variants.contains_key(&variant) {
                return Err(format!("another file describes {executor}:{variant} already"));
            }
            variants.insert(variant.clone(), options);
        }
        Ok(())
    }
}

/// The options for each executor that the front matter names; without any, those of the default variant.
fn options_of(front_matter: &FrontMatter) -> Result<BTreeMap<Executor, Map<String, Value>>, String> {
    let given = match &front_matter.forge {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(given)) => given.clone(),
        Some(_) => return Err("forge: must be a mapping of options or of executors".to_owned()),
    };
    let is_executor = |key: &String| key.parse::<Executor>().is_ok();
    let (by_executor, flat): (Map<_, _>, Map<_, _>) =
        given.into_iter().partition(|(key, _)| is_executor(key));
    if !by_executor.is_empty() && !flat.is_empty() {
        return Err("forge: mixes options and executors; use one or the other".to_owned());
    }
    let named = match front_matter.genie.as_ref().and_then(|genie| genie.executor.as_ref()) {
        Some(OneOrMore::One(name)) => vec![name.clone()],
        Some(OneOrMore::More(names)) => names.clone(),
        None => Vec::new(),
    };
    let mut executors = BTreeSet::new();
    for name in named.iter().chain(by_executor.keys()) {
        executors.insert(name.parse::<Executor>().map_err(|error| format!("genie.executor: {error}"))?);
    }
    if executors.is_empty() {
        executors.insert(Executor::ClaudeCode);
    }
    let mut all = BTreeMap::new();
    for executor in executors {
        let own = by_executor.iter().find(|(key, _)| key.parse() == Ok(executor)).map(|(_, own)| own.clone());
        let given = own.unwrap_or_else(|| Value::Object(flat.clone()));
        let is_empty = given.as_object().is_none_or(Map::is_empty);
        let agent = agent(executor);
        let mut options = match is_empty {
            true => profiles::default_options(agent),
            false => profiles::read_options(&given, "forge").map_err(|error| error.to_string())?,
        };
        profiles::fill(&mut options, agent.described_with);
        all.insert(executor, options);
    }
    Ok(all)
}

/// The front matter, if there is one, and the text after it.
fn split_front_matter(text: &str) -> (Option<&str>, &str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) =
        text.strip_prefix("---").and_then(|rest| rest.strip_prefix("\r\n").or(rest.strip_prefix('\n')))
    else {
        return (None, text);
    };
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let body = &rest[at + line.len()..];
            return (Some(&rest[..at]), body.trim_start_matches(['\r', '\n']));
        }
        at += line.len();
    }
    (None, text)
}

#[cfg(test)]
mod tests;
