//! Whether a terminal can draw the emoji of workers.
//!
//! Where it cannot, marks of one column are drawn instead.

/// Terminals that cannot draw emoji, whatever the locale is.
const WITHOUT: &[&str] = &["", "dumb", "linux", "vt100", "vt102", "vt220", "ansi", "cons25"];

/// Decided by environment variables: a UTF-8 locale, and a terminal that is not a bare console.
pub fn draws_emoji(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    // The first one set wins, as POSIX says.
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    let term = set("TERM").unwrap_or_default();
    (locale.contains("utf-8") || locale.contains("utf8")) && !WITHOUT.contains(&term.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_need_a_terminal_with_utf_8() {
        let draws = |pairs: &[(&str, &str)]| {
            let find = |name: &str| pairs.iter().find(|(key, _)| *key == name);
            draws_emoji(|name| find(name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(draws(&[("LANG", "en_US.UTF-8"), ("TERM", "xterm-256color")]));
        assert!(draws(&[("LC_CTYPE", "C.utf8"), ("LC_ALL", ""), ("TERM", "tmux-256color")]));
        assert!(!draws(&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8"), ("TERM", "xterm")]), "LC_ALL decides");
        assert!(!draws(&[("LANG", "en_US.UTF-8"), ("TERM", "linux")]));
        assert!(!draws(&[("LANG", "en_US.UTF-8")]));
        assert!(!draws(&[("TERM", "xterm")]));
    }
}
