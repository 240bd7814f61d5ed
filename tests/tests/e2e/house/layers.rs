//! The dependency rule: `types ← {store, git, run, remote, fleet, legacy} ← core ← server ← forge`,
//! `types ← client ← {tui, forge}`, `os` below all of them, and who may name what.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

/// The crate that sees no other and that every other may see.
const FLOOR: &str = "forge-os";

/// Crate, and the crates of the workspace it may depend on besides the floor.
const RULE: [(&str, &[&str]); 13] = [
    (FLOOR, &[]),
    ("forge-types", &[]),
    ("forge-store", &["forge-types"]),
    ("forge-git", &["forge-types"]),
    ("forge-run", &["forge-types"]),
    ("forge-remote", &["forge-types"]),
    ("forge-fleet", &["forge-types"]),
    ("forge-legacy", &["forge-types"]),
    (
        "forge-core",
        &[
            "forge-types",
            "forge-store",
            "forge-git",
            "forge-run",
            "forge-remote",
            "forge-fleet",
            "forge-legacy",
        ],
    ),
    ("forge-server", &["forge-types", "forge-core"]),
    ("forge-client", &["forge-types"]),
    ("forge-tui", &["forge-types", "forge-client"]),
    (
        "forge",
        &[
            "forge-types",
            "forge-client",
            "forge-legacy",
            "forge-git",
            "forge-run",
            "forge-core",
            "forge-server",
            "forge-tui",
        ],
    ),
];

/// Library, and the only crates that may name it.
const ONLY: [(&str, &[&str]); 8] = [
    // legacy reads other systems' databases, and the bench fills one.
    ("sqlx", &["forge-store", "forge-legacy", "forge-bench"]),
    ("axum", &["forge-server"]),
    ("rmcp", &["forge-server"]),
    ("clap", &["forge"]),
    ("ratatui", &["forge-tui"]),
    // git watches worktrees, run the files that describe agents, fleet those of workers; none may see another.
    ("notify", &["forge-git", "forge-run", "forge-fleet"]),
    // Other machines, and servers of Forge.
    ("reqwest", &["forge-remote", "forge-client"]),
    ("rustls", &["forge-remote", "forge-client"]),
];

fn workspace() -> Vec<(String, BTreeSet<String>)> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--no-deps", "--offline", "--format-version", "1"])
        .current_dir(root)
        .output()
        .expect("cargo metadata");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    packages
        .iter()
        .map(|package| {
            let normal = |dep: &&Value| dep["kind"].is_null();
            let deps = package["dependencies"].as_array().into_iter().flatten().filter(normal);
            let names = deps.filter_map(|dep| dep["name"].as_str()).map(str::to_owned).collect();
            (package["name"].as_str().unwrap_or_default().to_owned(), names)
        })
        .collect()
}

#[test]
fn every_crate_sees_only_what_lies_below_it() {
    let workspace = workspace();
    for (name, allowed) in RULE {
        let (_, deps) =
            workspace.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name} is gone"));
        let seen = deps.iter().filter(|dep| dep.starts_with("forge"));
        let may = |dep: &str| allowed.contains(&dep) || (dep == FLOOR && name != FLOOR);
        let wrong: Vec<&String> = seen.filter(|dep| !may(dep)).collect();
        assert!(wrong.is_empty(), "{name} must not depend on {wrong:?}");
    }
    for (library, owners) in ONLY {
        for (name, deps) in &workspace {
            assert!(
                !deps.contains(library) || owners.contains(&name.as_str()),
                "{name} must not name {library}"
            );
        }
    }
}

#[test]
fn only_the_git_crate_runs_git() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates").canonicalize().unwrap();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            // Where the clone itself is means nothing, whatever its folders are called.
            let below = path.strip_prefix(&root).unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs")
                && !below.components().any(|c| c.as_os_str() == "tests")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                if text.contains("Command::new(\"git\")") {
                    found.push(below);
                }
            }
        }
    }
    let strangers: Vec<_> = found.iter().filter(|path| !path.starts_with("git")).collect();
    assert!(!found.is_empty() && strangers.is_empty(), "{strangers:?}");
}
