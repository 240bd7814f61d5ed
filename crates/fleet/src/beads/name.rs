//! Bead ids: which are valid, and how new ones are made.
//!
//! Invariant: an id is opaque; a prefix may itself contain dashes, underscores and dots.

use sha2::{Digest, Sha256};

use super::error::BeadsError;

const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const LENGTHS: std::ops::RangeInclusive<u32> = 3..=8;
const MAX_DEPTH: usize = 3;

/// Refuses what a tool could mistake for a flag or for anything but one whole id.
pub(super) fn check(id: &str) -> Result<(), BeadsError> {
    if is_valid(id) {
        return Ok(());
    }
    let allowed = "give the whole id of a bead, such as app-x7k or app-x7k.2".to_owned();
    Err(BeadsError::Invalid { name: "id", value: id.to_owned(), allowed })
}

fn is_valid(id: &str) -> bool {
    let Some((prefix, tail)) = id.rsplit_once('-') else { return false };
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = tail.split('.');
    let root = parts.next().unwrap_or_default();
    prefix.starts_with(is_word)
        && prefix.len() <= 64
        && prefix.chars().all(|c| is_word(c) || c == '.' || c == '-')
        && (1..=40).contains(&root.len())
        && root.bytes().all(|byte| DIGITS.contains(&byte))
        && parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What a new id is made of.
pub(super) struct Seed<'a> {
    pub title: &'a str,
    pub description: &'a str,
    pub creator: &'a str,
    pub unix_nanos: i128,
}

/// A free id: as short as the number of beads allows, longer when all the short ones are taken.
pub(super) fn make(
    prefix: &str,
    seed: &Seed<'_>,
    count: usize,
    is_taken: impl Fn(&str) -> bool,
) -> Option<String> {
    LENGTHS.filter(|length| *length >= shortest(count)).find_map(|length| {
        let names = (0..10).map(|nonce| format!("{prefix}-{}", digest(seed, nonce, length)));
        names.into_iter().find(|name| !is_taken(name))
    })
}

/// The shortest length at which a collision is unlikely: at most one in four over all beads.
fn shortest(count: usize) -> u32 {
    let pairs = (count as f64).powi(2) / 2.0;
    LENGTHS
        .into_iter()
        .find(|length| pairs / 36f64.powi(length.cast_signed()) <= 0.25)
        .unwrap_or(*LENGTHS.end())
}

fn digest(seed: &Seed<'_>, nonce: u32, length: u32) -> String {
    let Seed { title, description, creator, unix_nanos } = seed;
    let text = format!("{title}|{description}|{creator}|{unix_nanos}|{nonce}");
    let bytes = Sha256::digest(text.as_bytes());
    let mut number = bytes[..8].iter().fold(0u64, |sum, byte| sum << 8 | u64::from(*byte));
    let mut digits = String::new();
    for _ in 0..length {
        digits.push(char::from(DIGITS[(number % 36) as usize]));
        number /= 36;
    }
    digits
}

/// The id of the next child.
pub(super) fn child<'a>(parent: &str, ids: impl Iterator<Item = &'a str>) -> Result<String, BeadsError> {
    let tail = parent.rsplit('-').next().unwrap_or(parent);
    if tail.matches('.').count() >= MAX_DEPTH {
        let why = format!("{parent} is already {MAX_DEPTH} levels deep; choose a parent further up");
        return Err(BeadsError::Refused(why));
    }
    let numbers = ids.filter_map(|id| id.strip_prefix(parent)?.strip_prefix('.')?.parse::<u64>().ok());
    Ok(format!("{parent}.{}", numbers.max().unwrap_or(0) + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seed(title: &str) -> Seed<'_> {
        Seed { title, description: "", creator: "me", unix_nanos: 7 }
    }

    #[test]
    fn only_whole_ids_pass() {
        for good in ["fg-d8s", "bd-42", "beads_rust-07b", "bd-main-idj", "fg-epc.1.2", "a.b-c"] {
            check(good).unwrap();
        }
        for bad in
            ["", "fg", "-fg-1", "--force", "fg-", "fg-A", "fg-1.", "fg-1.x", "fg-1 2", "fg-1;ls", "é-1"]
        {
            assert!(check(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn new_ids_are_valid_and_grow_with_the_workspace() {
        let length = |count| make("fg", &seed("x"), count, |_| false).unwrap().len() - "fg-".len();
        assert_eq!([length(0), length(1_000), length(10_000), length(1_000_000)], [3, 5, 6, 8]);
        check(&make("my-app", &seed("x"), 10, |_| false).unwrap()).unwrap();
    }

    #[test]
    fn a_taken_id_is_not_made_again() {
        let first = make("fg", &seed("x"), 0, |_| false).unwrap();
        let second = make("fg", &seed("x"), 0, |id| id == first).unwrap();
        assert_ne!(first, second);
        let longer = make("fg", &seed("x"), 0, |id| id.len() == "fg-abc".len()).unwrap();
        assert_eq!(longer.len(), "fg-abcd".len());
    }

    #[test]
    fn children_are_numbered_on_and_not_nested_too_deep() {
        let ids = ["fg-a.1", "fg-a.7", "fg-a.7.9", "fg-ab.30"];
        assert_eq!(child("fg-a", ids.into_iter()).unwrap(), "fg-a.8");
        assert!(child("fg-a.1.2.3", ids.into_iter()).is_err());
    }
}
