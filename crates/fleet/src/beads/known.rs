//! The types, statuses and dependencies that br and bd know.
//!
//! Invariant: a word that some bead of the workspace already uses is accepted, because both programs allow custom ones.

use super::bead::Status;
use super::error::BeadsError;
use super::snapshot::Snapshot;

const TYPES: &[&str] = &["task", "bug", "feature", "epic", "chore", "docs", "question", "research"];
const STATUSES: &[&str] =
    &["open", "in_progress", "blocked", "deferred", "closed", "pinned", "hooked", "draft", "tombstone"];
const EDGES: &[&str] = &[
    "blocks",
    "parent-child",
    "conditional-blocks",
    "waits-for",
    "related",
    "relates-to",
    "discovered-from",
    "replies-to",
    "duplicates",
    "supersedes",
    "caused-by",
];

/// Whether beads of this type may be created here; `more` are types that the user has configured.
pub fn check_type(word: &str, here: &Snapshot, more: &[String]) -> Result<(), BeadsError> {
    let used = here.beads().iter().map(|bead| bead.issue_type());
    check("type", word, TYPES, more.iter().map(String::as_str).chain(used))
}

pub fn check_status(word: &str, here: &Snapshot) -> Result<(), BeadsError> {
    let used: Vec<String> = here.beads().iter().map(|bead| bead.status().to_string()).collect();
    // Spelling is the status's own affair.
    let word = Status::from(word.to_owned()).to_string();
    check("status", &word, STATUSES, used.iter().map(String::as_str))
}

pub fn check_edge(word: &str, here: &Snapshot) -> Result<(), BeadsError> {
    let edges = here.beads().iter().flat_map(|bead| &bead.dependencies);
    check("dependency type", word, EDGES, edges.map(|edge| edge.kind()))
}

fn check<'a>(
    name: &'static str,
    word: &str,
    known: &[&'a str],
    more: impl Iterator<Item = &'a str>,
) -> Result<(), BeadsError> {
    let mut allowed = known.to_vec();
    for other in more {
        if !allowed.contains(&other) {
            allowed.push(other);
        }
    }
    match allowed.contains(&word) {
        true => Ok(()),
        false => {
            let allowed = format!("allowed are {}", allowed.join(", "));
            Err(BeadsError::Invalid { name, value: word.to_owned(), allowed })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_nobody_knows_are_refused_with_those_that_are_allowed() {
        let line =
            r#"{"id":"a-1","title":"A","issue_type":"spike","status":"waiting_room","dependencies":[]}"#;
        let here = Snapshot::parse(line.as_bytes()).unwrap();
        let refusal = check_type("weird", &here, &["poem".to_owned()]).unwrap_err().to_string();
        assert!(
            refusal.contains("\"weird\"") && refusal.contains("bug") && refusal.contains("poem"),
            "{refusal}"
        );
        for kind in ["bug", "spike", "poem"] {
            check_type(kind, &here, &["poem".to_owned()]).unwrap();
        }
        assert!(check_status("bogus", &here).is_err());
        check_status("in_progress", &here).unwrap();
        check_status("waiting_room", &here).unwrap();
        assert!(check_edge("bogus", &here).is_err());
        check_edge("related", &here).unwrap();
    }
}
