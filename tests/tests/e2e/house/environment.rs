//! `docs/guide/environment.md` lists what the code reads, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use forge_tests::TestForge;
use serde_json::Value;

const PAGE: &str = "docs/guide/environment.md";
/// Whatever is in capitals on a line with one of these is the name of a variable.
const READS: [&str; 7] =
    ["env::var(", "env::var_os(", "env.get(", "env.has(", "env.number(", "variable(", "env(\""];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The product's source, file by file, without its tests.
fn sources() -> Vec<String> {
    let mut texts = Vec::new();
    let mut open: Vec<PathBuf> = std::fs::read_dir(root().join("crates"))
        .unwrap()
        .map(|crate_| crate_.unwrap().path().join("src"))
        .collect();
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if path.extension().is_some_and(|end| end == "rs") && !path.ends_with("tests.rs") {
            let text = std::fs::read_to_string(path).unwrap();
            texts.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
        }
    }
    texts
}

fn is_variable(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(|first| first.is_ascii_uppercase())
        && word.len() > 2
        && letters.all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_')
}

/// Words in quotes that could be variables.
fn quoted(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2).filter(|word| is_variable(word))
}

/// Variables that are read, and those of ours that are set for others.
fn variables(sources: &[String]) -> BTreeSet<String> {
    let lines =
        sources.iter().flat_map(|text| text.lines()).filter(|line| !line.trim_start().starts_with("//"));
    let read = lines.flat_map(|line| {
        let reads = READS.iter().any(|call| line.contains(call));
        // What is set for git and for agents to keep them quiet is not for anybody to know.
        let sets = line.contains(".env(\"") || line.contains("env!(");
        quoted(line).filter(move |word| word.starts_with("FORGE_") || (reads && !sets))
    });
    let keys = sources.iter().flat_map(|text| text.split("keys: &[").skip(1));
    let keys = keys.filter_map(|rest| rest.split(']').next()).flat_map(quoted);
    read.chain(keys).map(str::to_owned).collect()
}

/// Names in the tables of the page, each with the rest of its row.
fn documented() -> BTreeMap<String, Vec<String>> {
    let text = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let mut names = BTreeMap::new();
    let mut in_server = false;
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            in_server = heading == "The server";
        }
        let Some(row) = line.strip_prefix('|') else { continue };
        let cells: Vec<String> =
            row.replace("\\|", "/").split('|').map(|cell| cell.trim().to_owned()).collect();
        // Flags and variables stand side by side there, elsewhere the names are in the first column.
        for cell in &cells[..if in_server { 2 } else { 1 }] {
            for name in cell.split('`').skip(1).step_by(2) {
                names.insert(name.to_owned(), cells.clone());
            }
        }
    }
    names
}

fn listed(names: &BTreeMap<String, Vec<String>>, wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    names.keys().filter(|name| wanted(name)).cloned().collect()
}

fn assert_same(what: &str, code: &BTreeSet<String>, page: &BTreeSet<String>) {
    let unlisted: Vec<_> = code.difference(page).collect();
    let unknown: Vec<_> = page.difference(code).collect();
    assert!(unlisted.is_empty(), "{what} that {PAGE} does not list: {unlisted:?}");
    assert!(unknown.is_empty(), "{what} in {PAGE} that the code does not know: {unknown:?}");
}

#[test]
fn every_variable_is_listed_and_every_listed_one_is_read() {
    let read = variables(&sources());
    assert!(
        read.contains("FORGE_HOME") && read.contains("DISPLAY") && read.contains("CURSOR_API_KEY"),
        "{read:?}"
    );
    assert_same("variables", &read, &listed(&documented(), is_variable));
}

#[test]
fn every_flag_of_the_server_is_listed() {
    let text = std::fs::read_to_string(root().join("crates/cli/src/command/serve.rs")).unwrap();
    let flags = text.split("pub struct Flags {").nth(1).unwrap().split("\n}").next().unwrap();
    let flags = flags.lines().filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(':'));
    let flags = flags.map(|(name, _)| format!("--{}", name.replace('_', "-"))).collect();
    assert_same("flags", &flags, &listed(&documented(), |name| name.starts_with("--")));
}

/// The settings by their full names, leaves only; a profile is one value.
fn flatten(prefix: &str, value: &Value, leaves: &mut BTreeMap<String, Value>) {
    match value {
        Value::Object(fields) if prefix != "executor_profile" => {
            for (name, below) in fields {
                let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                flatten(&name, below, leaves);
            }
        }
        leaf => drop(leaves.insert(prefix.to_owned(), leaf.clone())),
    }
}

#[tokio::test]
async fn every_setting_is_listed_with_its_default() {
    // The default agent is one that has been used here; in a new home there is none.
    let home = tempfile::tempdir().unwrap();
    let forge = TestForge::with(&[], &[("HOME", &home.path().to_string_lossy())]).await;
    let mut settings = BTreeMap::new();
    flatten("", &forge.get("/api/config").await.data(), &mut settings);
    let page = documented();
    let is_setting = |name: &str| name.starts_with(|first: char| first.is_ascii_lowercase());
    assert_same("settings", &settings.keys().cloned().collect(), &listed(&page, is_setting));
    for (name, value) in settings {
        if let Some(default) = page[&name][1].strip_prefix('`').and_then(|cell| cell.strip_suffix('`')) {
            assert_eq!(
                serde_json::from_str::<Value>(default).unwrap(),
                value,
                "the default of {name} in {PAGE}"
            );
        }
    }
}
