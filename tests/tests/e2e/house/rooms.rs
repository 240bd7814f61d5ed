//! The rooms of the engine: each is a folder of `crates/core/src`, and they use each other in one direction.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From the lowest to the highest. A room uses those before it and never one after it.
const ROOMS: [&str; 16] = [
    "home", "settings", "notify", "cost", "project", "agents", "beads", "workers", "task", "worktree", "run",
    "attempt", "publish", "review", "dispatch", "import",
];

/// Fields of the engine, and the room whose state they are.
const STATE: [(&str, &str); 9] = [
    ("settings", "settings"),
    ("costs", "cost"),
    ("projects", "project"),
    ("agents", "agents"),
    ("beads", "beads"),
    ("workers", "workers"),
    ("worktrees", "worktree"),
    ("runs", "run"),
    ("contacts", "publish"),
];

const LOOSE_MAX: usize = 6;
const FIELDS_MAX: usize = 14;

fn core() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/core/src").canonicalize().unwrap()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => found.extend(rust_files(&path)),
            false if path.extension().is_some_and(|ending| ending == "rs") => found.push(path),
            false => {}
        }
    }
    found
}

/// The code of a file without its comments and its tests.
fn code(path: &Path) -> String {
    let text = std::fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The bodies of `impl Forge`.
fn verbs(code: &str) -> String {
    let blocks = code.split("\nimpl Forge {").skip(1);
    blocks.map(|block| block.split("\n}").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// The words that follow `mark` in a text.
fn words_after<'a>(text: &'a str, mark: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    let mark = mark.to_owned();
    text.match_indices(&mark).map(|(at, _)| at).collect::<Vec<_>>().into_iter().map(move |at| {
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        rest.split_at(end)
    })
}

/// What a room does with rooms above it.
fn reaches_up() -> Vec<String> {
    let rank = |room: &str| ROOMS.iter().position(|known| *known == room);
    let mut files = Vec::new();
    let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for room in ROOMS {
        for path in rust_files(&core().join(room)) {
            let code = code(&path);
            for (verb, _) in words_after(&verbs(&code), "fn ") {
                owners.entry(verb.to_owned()).or_default().insert(room);
            }
            files.push((room, path, code));
        }
    }
    let mut found = Vec::new();
    for (room, path, code) in &files {
        let own = verbs(code);
        let named = words_after(code, "crate::").map(|(word, _)| word);
        let calls = |text, mark| {
            words_after(text, mark).filter(|(_, rest)| rest.starts_with('(')).map(|(word, _)| word)
        };
        let called = calls(&own, "self.").chain(calls(code, "forge.")).filter_map(|verb| owners.get(verb));
        let called = called.filter(|rooms| rooms.len() == 1).flatten().copied();
        let held =
            words_after(code, ".0.").filter_map(|(field, _)| STATE.iter().find(|(known, _)| *known == field));
        let used = named.chain(called).chain(held.map(|(_, room)| *room));
        let above: BTreeSet<&str> = used.filter(|other| rank(other) > rank(room)).collect();
        let file = path.strip_prefix(core()).unwrap().display();
        found.extend(above.into_iter().map(|other| format!("{file} uses the room {other}")));
    }
    found
}

#[test]
fn rooms_use_each_other_in_one_direction() {
    let found = reaches_up();
    assert!(found.is_empty(), "rooms above are used; the order is {ROOMS:?}:\n{}", found.join("\n"));
}

#[test]
fn every_room_says_what_it_owns_and_few_files_are_loose() {
    let mut loose = Vec::new();
    for entry in std::fs::read_dir(core()).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        if !entry.path().is_dir() {
            loose.push(name);
            continue;
        }
        assert!(ROOMS.contains(&name.as_str()), "{name} is not in the order of the rooms");
        let head = std::fs::read_to_string(entry.path().join("mod.rs")).unwrap();
        let doc = head.lines().take_while(|line| line.starts_with("//!")).count();
        assert!(doc >= 3, "{name}/mod.rs says in some lines what the room owns");
    }
    assert!(loose.len() <= LOOSE_MAX, "at most {LOOSE_MAX} files stand beside the rooms: {loose:?}");
}

#[test]
fn the_engine_itself_holds_little() {
    let text = code(&core().join("lib.rs"));
    let inner = text.split("struct Inner {").nth(1).and_then(|rest| rest.split('}').next()).unwrap();
    let fields = inner.lines().filter(|line| line.trim_end().ends_with(',')).count();
    assert!((5..=FIELDS_MAX).contains(&fields), "{fields} fields; state belongs into a room");
}

/// Where a path inside a worktree may be known: another machine may hold the worktree.
const WITH_PATHS: [&str; 2] = ["worktree", "run"];

#[test]
fn only_two_rooms_know_paths_inside_a_worktree() {
    let mut found = Vec::new();
    for room in ROOMS.iter().filter(|room| !WITH_PATHS.contains(room)) {
        for path in rust_files(&core().join(room)) {
            let code = code(&path);
            let file = path.strip_prefix(core()).unwrap().display().to_string();
            let reads = ["local_path(", ".container_ref", ".worktree_path"];
            found.extend(
                reads.iter().filter(|read| code.contains(**read)).map(|read| format!("{file}: {read}")),
            );
        }
    }
    assert!(found.is_empty(), "a worktree is reached through the room `worktree`:\n{}", found.join("\n"));
}

#[test]
fn only_the_host_calls_git_in_a_worktree_and_starts_runs() {
    let host = core().join("worktree/host");
    let calls = [
        "forge_git::status(",
        "forge_git::claim(",
        "forge_git::commit_work(",
        "forge_git::retire(",
        "forge_git::squash_merge(",
        "forge_git::diff_worktree(",
        "forge_run::launch(",
        "forge_run::find(",
    ];
    let named = |path: &PathBuf, call: &str| code(path).contains(call);
    for call in calls {
        let files = rust_files(&core());
        let (inside, outside): (Vec<_>, Vec<_>) =
            files.into_iter().filter(|path| named(path, call)).partition(|path| path.starts_with(&host));
        assert!(!inside.is_empty(), "{call} is called nowhere: name the call that took its place");
        assert!(outside.is_empty(), "{call} is the host's: {outside:?}");
    }
}
