//! What people and agents noted in SESSION-STATE.md, in any of its forms, and the ids of attempts added to it.
//!
//! The text has no schema: headings of level 2 and 3, `**Key:** value` lines, ids and the beginnings of ids are understood,
//! and everything else is left alone.

use forge_types::Millis;
use serde_json::{Map, Value};

use super::session::{Runner, Session, full_id};

/// A session, by the ids that texts call it, and the attempt that it is now.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) ids: Vec<String>,
    pub(super) attempt: String,
}

/// Lines from one heading to the next.
struct Block<'a> {
    title: &'a str,
    lines: Vec<&'a str>,
    /// Below a heading of level 3: one session.
    is_session: bool,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = vec![Block { title: "", lines: Vec::new(), is_session: false }];
    for line in text.split_inclusive('\n') {
        if let Some(title) = heading(line) {
            let is_session = line.starts_with("### ");
            blocks.push(Block { title, lines: Vec::new(), is_session });
        }
        if let Some(block) = blocks.last_mut() {
            block.lines.push(line);
        }
    }
    blocks
}

fn heading(line: &str) -> Option<&str> {
    let title = line.strip_prefix("## ").or_else(|| line.strip_prefix("### "))?;
    Some(title.trim())
}

/// `**Key:** value`, the value without its quotes.
fn field(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches("- ");
    let (key, value) = line.strip_prefix("**")?.split_once(":**")?;
    Some((key.trim(), value.trim().trim_matches('`').trim()))
}

/// The sessions that are noted with a whole id.
pub(super) fn sessions(text: &str) -> Vec<Session> {
    let blocks = blocks(text);
    blocks.iter().filter(|block| block.is_session).filter_map(session).collect()
}

fn session(block: &Block<'_>) -> Option<Session> {
    let mut rest = Map::new();
    for (key, value) in block.lines.iter().filter_map(|line| field(line)) {
        rest.insert(key.to_owned(), Value::String(value.to_owned()));
    }
    let mut take = |key: &str| match rest.remove(key) {
        Some(Value::String(value)) => Some(value),
        _ => None,
    };
    let id = take("Session ID")?;
    let id = words(&id).find_map(|(_, word)| full_id(word))?.to_string();
    let (started, completed) = (take("Started"), take("Completed"));
    let status = take("Status").unwrap_or_default();
    let done = completed.is_some() || status.to_lowercase().contains("complete") || status.contains('✅');
    let prompt = take("Purpose");
    let created = started.as_deref().and_then(moment);
    Some(Session {
        key: id.clone(),
        agent: None,
        runner: Runner::Genie,
        title: block.title.to_owned(),
        executor: None,
        variant: None,
        status: if done { "completed".to_owned() } else { status },
        attempt: None,
        task: None,
        project: None,
        resume_id: Some(id),
        created,
        last_used: completed.as_deref().and_then(moment).or(created),
        prompt,
        logs: Vec::new(),
        exit_code: None,
        rest,
    })
}

/// A date with or without a time, as people write it.
fn moment(text: &str) -> Option<Millis> {
    let read = |text: &str| serde_json::from_value::<Millis>(Value::String(text.to_owned())).ok();
    if let Some(at) = read(text.trim()) {
        return Some(at);
    }
    let mut words = text.split_whitespace();
    let date = words.next()?;
    let time = words.next().filter(|word| word.contains(':')).unwrap_or("00:00");
    let time = time.trim_end_matches('Z');
    read(&format!("{date}T{time}Z")).or_else(|| read(&format!("{date}T{time}:00Z")))
}

/// The text with the ids of the attempts: a line under the session's heading, or in tables and lists instead of the old id.
pub(super) fn with_attempts(text: &str, links: &[Link]) -> String {
    let mut out = String::with_capacity(text.len());
    for block in blocks(text) {
        let whole: String = block.lines.concat();
        let mut reported: Vec<&str> = Vec::new();
        for line in &block.lines {
            let in_place = !block.is_session || line.trim_start().starts_with(['|', '-', '+', '*']);
            if in_place && field(line).is_none() {
                out.push_str(&replaced(line, links));
                continue;
            }
            out.push_str(line);
            let meant = words(line).filter_map(|(_, word)| find(links, word, is_prefix_line(line)));
            for link in meant {
                if !whole.contains(&link.attempt) && !reported.contains(&link.attempt.as_str()) {
                    let end = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
                    let gap = if line.ends_with('\n') { "" } else { end };
                    out.push_str(&format!("{gap}**Attempt ID:** `{}`{end}", link.attempt));
                    reported.push(&link.attempt);
                }
            }
        }
    }
    out
}

/// `**Attempt ID Prefix:** …` holds as few digits as a branch's name.
fn is_prefix_line(line: &str) -> bool {
    field(line).is_some_and(|(key, _)| key.contains("Prefix"))
}

fn replaced(line: &str, links: &[Link]) -> String {
    let mut out = String::with_capacity(line.len());
    let mut done = 0;
    for (place, word) in words(line) {
        if let Some(link) = find(links, word, false) {
            out.push_str(&line[done..place]);
            out.push_str(&link.attempt[..word.len().min(link.attempt.len())]);
            done = place + word.len();
        }
    }
    out.push_str(&line[done..]);
    out
}

/// The one session that the word stands for: a whole id, its first 8 digits or, where that is said, even fewer.
fn find<'a>(links: &'a [Link], word: &str, short: bool) -> Option<&'a Link> {
    let fits = match word.len() {
        8 | 36 => true,
        length => short && (4..36).contains(&length),
    };
    let word = word.to_ascii_lowercase();
    let meant = |link: &&Link| link.ids.iter().any(|id| id.starts_with(&word));
    let mut found = links.iter().filter(meant);
    let first = found.next().filter(|_| fits)?;
    found.all(|other| other.attempt == first.attempt).then_some(first)
}

/// Runs of hex digits and hyphens, with their places.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut rest = 0;
    std::iter::from_fn(move || {
        let start = rest + line[rest..].find(is_part)?;
        let end = line[start..].find(|c| !is_part(c)).map_or(line.len(), |length| start + length);
        rest = end;
        Some((start, &line[start..end]))
    })
}
