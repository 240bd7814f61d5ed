//! The small language of the scripted agent: parsing one line.
//!
//! Invariant: a line that cannot be parsed completely is not a directive, and is printed as text.

pub(super) enum Directive<'a> {
    Say(&'a str),
    Think(&'a str),
    Write { path: &'a str, text: String },
    Append { path: &'a str, text: String },
    Edit { path: &'a str, old: String, new: String },
    Delete(&'a str),
    Run(&'a str),
    Spawn(&'a str),
    Sleep { wait_ms: u64 },
    Todo(Vec<Item<'a>>),
    Stderr(&'a str),
    Lines { count: u64, size: usize },
    Fail(&'a str),
    Exit { code: u8 },
    Hang,
}

/// A line of a todo list.
pub(super) struct Item<'a> {
    pub text: &'a str,
    /// In Claude's spelling.
    pub status: &'static str,
}

impl<'a> Item<'a> {
    /// `*` marks an item that is done, `>` one in progress.
    fn parse(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let (text, status) = match (text.strip_prefix('*'), text.strip_prefix('>')) {
            (Some(done), _) => (done, "completed"),
            (_, Some(begun)) => (begun, "in_progress"),
            (None, None) => (text, "pending"),
        };
        let text = text.trim_start();
        (!text.is_empty()).then_some(Self { text, status })
    }
}

/// `None` for a line that is not a directive.
pub(super) fn parse(line: &str) -> Option<Directive<'_>> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim_start();
    let (first, second) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let text = || unescape(second);
    Some(match (word, rest.is_empty()) {
        ("hang", true) => Directive::Hang,
        (_, true) => return None,
        ("say", _) => Directive::Say(rest),
        ("think", _) => Directive::Think(rest),
        ("write", _) => Directive::Write { path: first, text: text() },
        ("append", _) => Directive::Append { path: first, text: text() },
        ("edit", _) => {
            let (old, new) = second.split_once(" => ")?;
            Directive::Edit { path: first, old: unescape(old), new: unescape(new) }
        }
        ("delete", _) => Directive::Delete(rest),
        ("run", _) => Directive::Run(rest),
        ("spawn", _) => Directive::Spawn(rest),
        ("sleep", _) => Directive::Sleep { wait_ms: rest.parse().ok()? },
        ("todo", _) => Directive::Todo(rest.split(';').filter_map(Item::parse).collect()),
        ("stderr", _) => Directive::Stderr(rest),
        ("lines", _) => Directive::Lines { count: first.parse().ok()?, size: second.trim().parse().ok()? },
        ("fail", _) => Directive::Fail(rest),
        ("exit", _) => Directive::Exit { code: rest.parse().ok()? },
        _ => return None,
    })
}

fn unescape(text: &str) -> String {
    text.replace("\\n", "\n")
}
