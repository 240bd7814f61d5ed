//! A replacement of text as a unified diff.
//!
//! Owns nothing. Invariant: linear in the size of both texts; the line numbers are placeholders, since the position
//! in the file is not known here.

use std::fmt::Write;

use forge_types::FileChange;

/// The change of `path` that replaces `old` with `new`. Equal lines at both ends become context.
pub(super) fn edit(path: &str, old: &str, new: &str) -> FileChange {
    let old: Vec<&str> = old.lines().collect();
    let new: Vec<&str> = new.lines().collect();
    let head = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let most = old.len().min(new.len()) - head;
    let foot = old.iter().rev().zip(new.iter().rev()).take(most).take_while(|(a, b)| a == b).count();

    let mut text = format!("--- a/{path}\n+++ b/{path}\n");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "@@ -{} +{} @@", span(old.len()), span(new.len()));
    let mut push = |sign: char, lines: &[&str]| {
        for line in lines {
            text.push(sign);
            text.push_str(line);
            text.push('\n');
        }
    };
    push(' ', &old[..head]);
    push('-', &old[head..old.len() - foot]);
    push('+', &new[head..new.len() - foot]);
    push(' ', &old[old.len() - foot..]);
    FileChange::Edit { unified_diff: text, has_line_numbers: false }
}

/// The change of `path` with the given hunks; text before the first hunk is dropped.
pub(super) fn hunks(path: &str, hunks: &str) -> FileChange {
    let first = hunks.find("@@ ").filter(|at| *at == 0 || hunks.as_bytes()[at - 1] == b'\n');
    let mut text = format!("--- a/{path}\n+++ b/{path}\n{}", &hunks[first.unwrap_or(0)..]);
    if !text.ends_with('\n') {
        text.push('\n');
    }
    FileChange::Edit { unified_diff: text, has_line_numbers: first.is_some() }
}

fn span(lines: usize) -> String {
    format!("{},{lines}", lines.min(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diff(old: &str, new: &str) -> String {
        match edit("f", old, new) {
            FileChange::Edit { unified_diff, .. } => unified_diff,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn equal_ends_are_context() {
        assert_eq!(diff("a", "b"), "--- a/f\n+++ b/f\n@@ -1,1 +1,1 @@\n-a\n+b\n");
        assert_eq!(
            diff("x\na\ny\n", "x\nb\nc\ny\n"),
            "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n x\n-a\n+b\n+c\n y\n"
        );
    }

    #[test]
    fn pure_insertions_and_deletions() {
        assert_eq!(diff("", "n"), "--- a/f\n+++ b/f\n@@ -0,0 +1,1 @@\n+n\n");
        assert_eq!(diff("a\na", "a"), "--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n a\n-a\n");
    }
}
