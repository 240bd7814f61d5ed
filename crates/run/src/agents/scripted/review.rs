//! Review comments, as the board writes them into one prompt: each names a file and lines, quotes them, and says
//! what should change.
//!
//! Invariant: a prompt without such a comment is not a review. The comment alone decides how a line changes: a
//! suggested text replaces it, a named word is exchanged, and any other remark is added next to the line.

/// A remark on a line of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Comment<'a> {
    pub path: &'a str,
    /// The line number of the first quoted line.
    pub line: usize,
    /// The first quoted line.
    pub quoted: &'a str,
    pub text: String,
}

/// The comments of a prompt, in order.
pub(super) fn comments(prompt: &str) -> Vec<Comment<'_>> {
    let lines: Vec<&str> = prompt.lines().collect();
    let heads: Vec<_> = (0..lines.len()).filter_map(|at| Some((at, head(lines[at])?))).collect();
    let ends = heads.iter().skip(1).map(|(at, _)| *at).chain([lines.len()]);
    let bodies = heads.iter().zip(ends);
    bodies.filter_map(|((at, (path, line)), end)| comment(path, *line, &lines[at + 1..end])).collect()
}

/// ``1. `src/greet.py`, line 5:`` or ``lines 5–7 (before the change):``
fn head(line: &str) -> Option<(&str, usize)> {
    let (number, rest) = line.split_once(". `")?;
    number.parse::<usize>().ok()?;
    let (path, rest) = rest.split_once("`, line")?;
    let digits = rest.trim_start_matches('s').trim_start();
    let digits = &digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())];
    Some((path, digits.parse().ok()?)).filter(|_| rest.ends_with(':'))
}

fn comment<'a>(path: &'a str, line: usize, body: &[&'a str]) -> Option<Comment<'a>> {
    let plain = |line: &'a str| line.strip_prefix("   ").unwrap_or(line);
    let open = body.iter().position(|line| plain(line).starts_with("```"))?;
    let fence = plain(body[open]);
    let close = open + 1 + body[open + 1..].iter().position(|line| plain(line) == fence)?;
    let quoted = plain(body.get(open + 1).filter(|_| close > open + 1)?);
    let text = body[close + 1..].iter().map(|line| plain(line)).collect::<Vec<_>>().join("\n");
    Some(Comment { path, line, quoted, text: text.trim().to_owned() })
}

impl Comment<'_> {
    /// The index of the quoted line in `file`: its old position if it is still there, otherwise the only equal
    /// line.
    pub fn find(&self, file: &str) -> Option<usize> {
        let lines: Vec<&str> = file.lines().collect();
        let there = self.line.checked_sub(1).filter(|at| lines.get(*at) == Some(&self.quoted));
        there.or_else(|| {
            let mut same = lines.iter().enumerate().filter(|(_, line)| **line == self.quoted);
            let (at, _) = same.next()?;
            same.next().is_none().then_some(at)
        })
    }

    /// The new text of the quoted line.
    pub fn changed(&self) -> String {
        if let Some(suggestion) = self.suggestion() {
            return suggestion;
        }
        if let Some((old, new)) = self.exchange() {
            return self.quoted.replace(&old, &new);
        }
        let remark = self.text.lines().next().unwrap_or_default().trim();
        let (open, close) = match self.path.rsplit_once('.').map_or("", |(_, ending)| ending) {
            "md" | "html" | "xml" | "svg" | "vue" => ("<!-- ", " -->"),
            "css" => ("/* ", " */"),
            "c" | "cc" | "cpp" | "cs" | "go" | "h" | "java" | "js" | "jsx" | "kt" | "php" | "rs" | "scss"
            | "swift" | "ts" | "tsx" => ("// ", ""),
            "lua" | "sql" | "hs" => ("-- ", ""),
            _ => ("# ", ""),
        };
        format!("{}  {open}{remark}{close}", self.quoted.trim_end()).trim_start_matches("  ").to_owned()
    }

    /// The text of a fenced block in the comment.
    fn suggestion(&self) -> Option<String> {
        let (_, rest) = self.text.split_once("```")?;
        let (_, rest) = rest.split_once('\n')?;
        let (text, _) = rest.split_once("```")?;
        Some(text.trim_end_matches('\n').to_owned()).filter(|text| !text.is_empty())
    }

    /// Two quoted words of which the line contains the first: the word to replace and its replacement.
    fn exchange(&self) -> Option<(String, String)> {
        ['`', '"', '“'].iter().find_map(|mark| {
            let parts: Vec<&str> = match mark {
                '“' => self.text.split(['“', '”']).collect(),
                mark => self.text.split(*mark).collect(),
            };
            let (old, new) = (*parts.get(1)?, *parts.get(3)?);
            (parts.len() >= 5 && !old.is_empty() && self.quoted.contains(old))
                .then(|| (old.to_owned(), new.to_owned()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REVIEW: &str = "Good work.\n\nPlease address these 2 review comments on your changes:\n\n\
        1. `README.md`, line 3:\n\n   ```\n   Hello, and welcome!\n   ```\n\n   say it in one line\n   and shorter\n\n\
        2. `src/greet.py`, lines 7–9 (before the change):\n\n   ````\n       return \"```\"\n   x\n   ````\n\n   Why?";

    #[test]
    fn every_comment_is_found_with_its_line_and_its_words() {
        let found = comments(REVIEW);
        assert_eq!(
            found,
            [
                Comment {
                    path: "README.md",
                    line: 3,
                    quoted: "Hello, and welcome!",
                    text: "say it in one line\nand shorter".into()
                },
                Comment { path: "src/greet.py", line: 7, quoted: "    return \"```\"", text: "Why?".into() },
            ]
        );
        assert_eq!(comments("1. `a` is fine\nline 2:\nwrite a b"), []);
    }

    #[test]
    fn a_line_is_found_where_it_moved_to_unless_that_is_not_clear() {
        let comment = |line| Comment { path: "a", line, quoted: "b", text: String::new() };
        assert_eq!(comment(2).find("a\nb\nb\n"), Some(1));
        assert_eq!(comment(9).find("a\nb\n"), Some(1));
        assert_eq!(comment(9).find("b\nb\n"), None);
        assert_eq!(comment(1).find("c\n"), None);
    }

    #[test]
    fn a_comment_says_what_its_line_becomes() {
        let changed =
            |path, quoted, text: &str| Comment { path, line: 1, quoted, text: text.into() }.changed();
        assert_eq!(changed("a.py", "x = 1", "Why?\nReally?"), "x = 1  # Why?");
        assert_eq!(changed("a.rs", "let x;", "name it"), "let x;  // name it");
        assert_eq!(changed("a.md", "Hi", "warmer"), "Hi  <!-- warmer -->");
        assert_eq!(changed("a.py", "x = \"reader\"", "`reader` should be `friend`"), "x = \"friend\"");
        assert_eq!(changed("a.py", "x = 1", "```suggestion\nx = 2\n```"), "x = 2");
        assert_eq!(changed("Makefile", "", "say more"), "# say more");
    }
}
