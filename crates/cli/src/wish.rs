//! Wishes: what Genie's users want, described in `.genie/wishes`, and which of them a piece of work is about.

use std::path::{Path, PathBuf};

use serde::Serialize;

const FOLDER: &str = ".genie/wishes";
/// The issue is named in the first lines of a wish.
const HEAD_LINES: usize = 60;
const MAX_BYTES: u64 = 1 << 20;
const MAX_WISHES: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Wish {
    pub slug: String,
    /// Its text, if it has one.
    pub path: Option<PathBuf>,
    pub issue: Option<u64>,
}

impl Wish {
    /// The wish of the checkout at `top` with one of these names, the best name first: by its whole name, else
    /// by most of its parts.
    pub fn find(top: &Path, names: &[String]) -> Option<Wish> {
        let slugs = slugs(&top.join(FOLDER));
        let exact = names.iter().find_map(|name| slugs.iter().find(|slug| *slug == name));
        let slug = exact.or_else(|| names.iter().find_map(|name| closest(&slugs, name)))?;
        let path = text_of(&top.join(FOLDER), slug);
        let issue = issue_in_name(slug).or_else(|| issue_in_text(&read(top, path.as_deref()?)));
        Some(Wish { slug: slug.clone(), path, issue })
    }
}

/// The sorted contents of the folder, without archives.
fn slugs(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().take(MAX_WISHES).flatten();
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        match entry.path().is_dir() {
            true => Some(name),
            false => name.strip_suffix(".md").map(str::to_owned),
        }
    });
    let skipped = |name: &String| name == "archive" || name.starts_with(['_', '.']) || name == "README";
    let mut slugs: Vec<String> = named.filter(|name| !skipped(name)).collect();
    slugs.sort();
    slugs.dedup();
    slugs
}

/// The name that shares the most parts with `name`, at least seven of ten. Branch names are cut, so a prefix of a
/// part is enough.
fn closest<'a>(slugs: &'a [String], name: &str) -> Option<&'a String> {
    let parts: Vec<&str> = name.split('-').filter(|part| !part.is_empty()).collect();
    let shared = |slug: &str| {
        parts.iter().filter(|part| slug.split('-').any(|other| other.starts_with(**part))).count()
    };
    let least = (parts.len() * 7).div_ceil(10).max(1);
    let fitting = slugs.iter().filter(|slug| shared(slug) >= least);
    // The first of those that match equally well.
    fitting.rev().max_by_key(|slug| shared(slug))
}

/// The file with the wish; by convention it is named like the folder.
fn text_of(folder: &Path, slug: &str) -> Option<PathBuf> {
    let own = folder.join(slug);
    let usual = [
        own.join(format!("{slug}-wish.md")),
        own.join(format!("{slug}.md")),
        own.join("WISH.md"),
        folder.join(format!("{slug}.md")),
    ];
    if let Some(path) = usual.into_iter().find(|path| path.is_file()) {
        return Some(path);
    }
    let entries = std::fs::read_dir(&own).ok()?.take(MAX_WISHES).flatten().map(|entry| entry.path());
    let mut wishes: Vec<PathBuf> =
        entries.filter(|path| path.to_string_lossy().ends_with("-wish.md")).collect();
    wishes.sort();
    wishes.into_iter().next()
}

/// Empty if it cannot be read.
fn read(top: &Path, path: &Path) -> String {
    let bytes = forge_os::file::read(top, path, MAX_BYTES).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `242-agent-…` or `wish-120-a-…`.
fn issue_in_name(slug: &str) -> Option<u64> {
    let (digits, _) = slug.strip_prefix("wish-").unwrap_or(slug).split_once('-')?;
    digits.parse().ok()
}

/// `**GitHub Issue:** #42 …`
fn issue_in_text(text: &str) -> Option<u64> {
    let value =
        text.lines().take(HEAD_LINES).find_map(|line| line.trim().strip_prefix("**GitHub Issue:**"))?;
    number(value)
}

/// The number after the first `#`.
pub fn number(text: &str) -> Option<u64> {
    let (_, rest) = text.split_once('#')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    rest[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_is_found_by_its_name_or_by_seven_of_ten_parts() {
        let slugs =
            ["359-folder-structure-refactor", "forge-metadata", "forge-metadata-two"].map(str::to_owned);
        let found = |name: &str| closest(&slugs, name).map(String::as_str);
        assert_eq!(found("forge-metad"), Some("forge-metadata"), "a cut part, and the first of equals");
        assert_eq!(found("folder-structure-r"), Some("359-folder-structure-refactor"));
        assert_eq!(found("forge-metadata-two-x"), Some("forge-metadata-two"));
        assert_eq!(found("forge-login-page"), None, "one of three is not enough");
        assert_eq!(found(""), None);
    }

    #[test]
    fn the_issue_is_in_the_name_or_under_the_heading() {
        assert_eq!(issue_in_name("242-agent-x"), Some(242));
        assert_eq!(issue_in_name("wish-120-a-b"), Some(120));
        assert_eq!(issue_in_name("agent-242"), None);
        assert_eq!(issue_in_text("# Wish\n**GitHub Issue:** #42 – https://x/9"), Some(42));
        assert_eq!(issue_in_text("**GitHub Issue:** TBD\n"), None);
    }
}
