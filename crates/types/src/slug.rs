//! Names of branches and worktree directories.
//!
//! A name is for people; identity is the full attempt id stored beside it. Four hex digits collide soon,
//! so callers grow `digits` until both the branch and the directory are free.

/// Lower-cases, turns every run of characters outside `[a-z0-9]` into one `-`, keeps 16 characters.
pub(crate) fn slug(title: &str) -> String {
    let mut out = String::with_capacity(16);
    for c in title.to_lowercase().chars() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
        if out.len() > 16 {
            break;
        }
    }
    out.truncate(16);
    out.truncate(out.trim_end_matches('-').len());
    out
}

/// Directory name of an attempt: the first `digits` hex digits of its id, a hyphen, the slug.
pub fn name_for(id_hex: &str, digits: usize, title: &str) -> String {
    format!("{}-{}", &id_hex[..digits.min(id_hex.len())], slug(title))
}

/// Branch of a directory name under the configured prefix; an empty prefix adds nothing.
pub fn branch_name(prefix: &str, name: &str) -> String {
    if prefix.is_empty() { name.to_owned() } else { format!("{prefix}/{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_the_contract_table() {
        let cases = [
            ("35a403e3", "[TEST] Forge Metadata Investigation - x", "35a4-test-forge-metad"),
            ("c3d1aaaa", "Forge #120 Executor thing", "c3d1-forge-120-execut"),
            ("a1b2c3d4", "Genie: analyze (analyze mode)", "a1b2-genie-analyze-an"),
            ("a1b2c3d4", "!!!", "a1b2-"),
            ("a1b2c3d4", "Ünïcode 🚀  title", "a1b2-n-code-title"),
            ("a1b2c3d4", "abcdefghijklmno-pq", "a1b2-abcdefghijklmno"),
        ];
        for (id, title, want) in cases {
            assert_eq!(name_for(id, 4, title), want, "{title}");
        }
    }

    #[test]
    fn an_empty_prefix_adds_no_slash() {
        assert_eq!(branch_name("", "a1b2-x"), "a1b2-x");
        assert_eq!(branch_name("forge", "a1b2-x"), "forge/a1b2-x");
    }
}
