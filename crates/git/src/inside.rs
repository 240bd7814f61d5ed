//! Paths in requests.
//!
//! Invariant: what [`spell`] accepts is relative, has no `..` and no `.git`, and is spelled as git does. Whoever opens
//! it checks whether a link on the way leads elsewhere.

use std::path::{Component, Path};

use crate::GitError;

/// The path as git spells it, after everything that could lead out of the worktree is ruled out. `field` is its name in
/// the request.
pub(crate) fn spell(field: &'static str, file: &str) -> Result<String, GitError> {
    let mut parts = Vec::new();
    for part in Path::new(file).components() {
        match part.as_os_str().to_str() {
            Some(text) if text.eq_ignore_ascii_case(".git") => {
                return Err(bad(field, file, "a path outside of .git"));
            }
            Some(text) if matches!(part, Component::Normal(_)) && !text.contains('\0') => parts.push(text),
            _ => return Err(bad(field, file, "a path relative to the worktree, without '..'")),
        }
    }
    match parts.is_empty() || file.ends_with('/') {
        true => Err(bad(field, file, "the path of a file")),
        false => Ok(parts.join("/")),
    }
}

pub(crate) fn bad(field: &'static str, file: &str, allowed: &'static str) -> GitError {
    GitError::BadPath { field: field.into(), file: file.to_owned(), allowed: allowed.into() }
}

pub(crate) fn missing(field: &'static str, file: &str, place: impl std::fmt::Display) -> GitError {
    GitError::FileMissing { field: field.into(), file: file.to_owned(), place: place.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_leads_out_of_the_worktree() {
        for file in
            ["", "/", "/etc/passwd", "../x", "a/../../x", ".git/config", "a/.GIT/x", "dir/", ".", "a\0b"]
        {
            assert!(spell("path", file).is_err(), "{file:?}");
        }
        for (file, spelled) in [("a.txt", "a.txt"), ("a//./b", "a/b"), ("ä/*?.txt", "ä/*?.txt")] {
            assert_eq!(spell("path", file).ok().as_deref(), Some(spelled));
        }
    }
}
