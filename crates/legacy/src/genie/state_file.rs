//! SESSION-STATE.md: free text for people, with headings and `**Key:** value` lines.
//!
//! Invariant: whatever is added, every other byte stays as it was, ends of lines included.

/// Under this heading stands what is going on.
const ACTIVE: &str = "## 🎯 Active Sessions";

/// Whether the text has the id, or its beginning as Genie writes it.
pub fn mentions(text: &str, id: &str, prefix: &str) -> bool {
    text.contains(id) || text.contains(&format!("`{prefix}`"))
}

/// The text with a block of lines as the first of the active sessions; the heading is made when it is missing.
pub fn add_session(text: &str, block: &[String]) -> String {
    let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let block: String = block.iter().map(|line| format!("{line}{end}")).collect();
    match after_heading(text) {
        Some((place, rest)) => {
            let head = &text[..place];
            let gap = if head.ends_with('\n') { "" } else { end };
            let tail = if rest.is_empty() { "" } else { end };
            format!("{head}{gap}{end}{block}{tail}{rest}")
        }
        None => {
            let gap = match text {
                "" => "",
                text if text.ends_with('\n') => end,
                _ => &end.repeat(2),
            };
            format!("{text}{gap}{ACTIVE}{end}{end}{block}")
        }
    }
}

/// The end of the heading's line, and what follows the empty lines below it.
fn after_heading(text: &str) -> Option<(usize, &str)> {
    let mut place = 0;
    for line in text.split_inclusive('\n') {
        place += line.len();
        if line.trim_end() == ACTIVE {
            let below = &text[place..];
            let empty: usize =
                below.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
            return Some((place, &below[empty..]));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block() -> Vec<String> {
        vec!["### New".to_owned(), "**Status:** active".to_owned()]
    }

    #[test]
    fn a_block_is_the_first_of_the_active_sessions() {
        let text = "# State\n\n## 🎯 Active Sessions\n\n### Old\nx\n\n## 🔄 History\n";
        let want = "# State\n\n## 🎯 Active Sessions\n\n### New\n**Status:** active\n\n### Old\nx\n\n## 🔄 History\n";
        assert_eq!(add_session(text, &block()), want);
    }

    #[test]
    fn the_heading_is_made_where_it_is_missing_and_lines_end_as_they_did() {
        let want = "## 🎯 Active Sessions\n\n### New\n**Status:** active\n";
        assert_eq!(add_session("", &block()), want);
        assert_eq!(add_session("notes", &block()), format!("notes\n\n{want}"));
        assert_eq!(add_session("## 🎯 Active Sessions", &block()), want);
        let windows = add_session("a\r\n## 🎯 Active Sessions\r\nb\r\n", &block());
        assert_eq!(windows, "a\r\n## 🎯 Active Sessions\r\n\r\n### New\r\n**Status:** active\r\n\r\nb\r\n");
    }

    #[test]
    fn an_attempt_is_known_by_its_id_or_its_prefix_in_quotes() {
        let id = "35a403e3-fe62-4545-bffe-0285dbfa472d";
        assert!(mentions("**Attempt ID Prefix:** `35a4`", id, "35a4"));
        assert!(mentions(&format!("see {id}"), id, "35a4"));
        assert!(!mentions("e84ff7e9-35a4-4cdb-8f5b-3c1afd2df94f", id, "35a4"));
    }
}
