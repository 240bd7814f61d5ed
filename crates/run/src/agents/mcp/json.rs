//! MCP servers in a JSON file, which may contain comments and trailing commas.
//!
//! Invariant: only the members that change are removed, inserted or replaced; every other byte stays. The parser
//! checks the text after comments were blanked out at the same length, so the scanner only walks over valid JSON.

use std::ops::Range;

use serde_json::{Map, Value};

use super::Servers;

/// A member of an object: the positions of its key and value.
struct Member {
    name: String,
    key: Range<usize>,
    value: Range<usize>,
}

pub(super) fn servers(text: &str, key: &str) -> Result<Servers, String> {
    match parse(&blank(text))? {
        None => Ok(Servers::new()),
        Some(fields) => match fields.get(key) {
            None | Some(Value::Null) => Ok(Servers::new()),
            Some(Value::Object(servers)) => Ok(servers.clone()),
            Some(_) => Err(format!("{key} is not an object")),
        },
    }
}

pub(super) fn with_servers(text: &str, key: &str, servers: &Servers) -> Result<String, String> {
    let plain = blank(text);
    if parse(&plain)?.is_none() {
        let whole = Value::Object(Map::from_iter([(key.to_owned(), Value::Object(servers.clone()))]));
        return Ok(format!("{text}{whole:#}\n"));
    }
    let indent = indent_of(&plain);
    let start = plain.find('{').unwrap_or(0);
    let wanted = Value::Object(servers.clone());
    match members(&plain, start).into_iter().rev().find(|member| member.name == key) {
        Some(member) if plain.as_bytes()[member.value.start] == b'{' => {
            Ok(sync_object(text, member.value.start, servers, &indent))
        }
        Some(member) => Ok(splice(text, member.value, &pretty(&wanted, &indent, 1))),
        None => Ok(insert(text, start, key, &wanted, &indent, 1)),
    }
}

/// Updates the object that begins at `start` to `servers`, one member after the other.
fn sync_object(text: &str, start: usize, servers: &Servers, indent: &str) -> String {
    let mut text = text.to_owned();
    loop {
        let plain = blank(&text);
        let found = members(&plain, start);
        let old = |member: &Member| serde_json::from_str::<Value>(&plain[member.value.clone()]).ok();
        // Of two members with the same name the last one counts; the others are dropped.
        let is_last = |at: usize| !found[at + 1..].iter().any(|later| later.name == found[at].name);
        let gone = (0..found.len()).find(|at| !servers.contains_key(&found[*at].name) || !is_last(*at));
        if let Some(at) = gone {
            text = cut(&text, &plain, start, &found, at);
            continue;
        }
        let other = found.iter().find(|member| old(member).as_ref() != servers.get(&member.name));
        if let Some(member) = other {
            let value = servers.get(&member.name).cloned().unwrap_or_default();
            text = splice(&text, member.value.clone(), &pretty(&value, indent, 2));
            continue;
        }
        match servers.iter().find(|(name, _)| !found.iter().any(|member| member.name == **name)) {
            Some((name, value)) => text = insert(&text, start, name, value, indent, 2),
            None => return text,
        }
    }
}

fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..range.start], &text[range.end..])
}

/// Adds a member at the end of the object that begins at `start`, at the given depth.
fn insert(text: &str, start: usize, key: &str, value: &Value, indent: &str, depth: usize) -> String {
    let plain = blank(text);
    let key = Value::from(key).to_string();
    let line = format!("\n{}{key}: {}", indent.repeat(depth), pretty(value, indent, depth));
    match members(&plain, start).last() {
        Some(last) => {
            // An existing comma, such as one before a closing brace in commented JSON, is used.
            let end = last.value.end;
            let (comma, after) = match plain_comma(text, end) {
                Some(at) => ("", at + 1),
                None => (",", end),
            };
            let at = after + rest_of_line(&text[after..], &plain[after..]);
            format!("{}{comma}{}{line}{}", &text[..end], &text[end..at], &text[at..])
        }
        None => {
            let end = closing(&plain, start);
            let inner = &text[start + 1..end];
            let inner = inner.trim_end();
            format!("{}{inner}{line}\n{}{}", &text[..=start], indent.repeat(depth - 1), &text[end..])
        }
    }
}

/// The length of a line comment, with the space before it, that belongs to the text before it.
fn rest_of_line(text: &str, plain: &str) -> usize {
    let length = plain.find('\n').unwrap_or(0);
    let is_remark = plain[..length].trim().is_empty() && !text[..length].contains("/*");
    if is_remark { length } else { 0 }
}

/// The position of a comma that follows `from` with only space and comments in between.
fn plain_comma(text: &str, from: usize) -> Option<usize> {
    let uncommented = blank_comments(text);
    let rest = &uncommented[from..];
    let skipped = rest.len() - rest.trim_start().len();
    rest[skipped..].starts_with(',').then_some(from + skipped)
}

/// Removes a member with its comma and, where it has lines of its own, those lines.
fn cut(text: &str, plain: &str, start: usize, found: &[Member], at: usize) -> String {
    let member = &found[at];
    let mut end = member.value.end;
    let mut begin = member.key.start;
    if let Some(comma) = plain_comma(text, end) {
        end = comma + 1;
    } else if at > 0 {
        // The last member: the comma before it is removed.
        let before = found[at - 1].value.end;
        if let Some(comma) = plain_comma(text, before) {
            let kept = &text[comma + 1..begin];
            let kept = kept.trim_end_matches([' ', '\t']);
            let kept = kept.strip_suffix('\n').unwrap_or(kept);
            return format!("{}{kept}{}", &text[..comma], &text[end..]);
        }
    }
    let line_start = plain[..begin].rfind('\n').map_or(0, |place| place + 1).max(start + 1);
    if plain[line_start..begin].trim().is_empty() && text[line_start..begin].trim().is_empty() {
        begin = line_start;
        let tail = text[end..].len() - text[end..].trim_start_matches([' ', '\t', '\r']).len();
        if text[end + tail..].starts_with('\n') && text[..begin].ends_with('\n') {
            end += tail + 1;
        }
    }
    splice(text, begin..end, "")
}

/// The value as it is printed at a depth of the file.
fn pretty(value: &Value, indent: &str, depth: usize) -> String {
    let text = format!("{value:#}");
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        let bare = line.trim_start();
        // The printer indents by two spaces per level.
        let level = (line.len() - bare.len()) / 2;
        out.push('\n');
        out.push_str(&indent.repeat(depth + level));
        out.push_str(bare);
    }
    out
}

/// The indentation of the first indented line.
fn indent_of(plain: &str) -> String {
    let space = |line: &str| line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned();
    let lines = plain.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines.map(space).find(|space| !space.is_empty()).unwrap_or_else(|| "  ".to_owned())
}

/// `None` for an empty text.
fn parse(plain: &str) -> Result<Option<Map<String, Value>>, String> {
    if plain.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(plain) {
        Ok(Value::Object(fields)) => Ok(Some(fields)),
        Ok(_) => Err("it is not a JSON object".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// The text with comments, a byte-order mark and trailing commas replaced by spaces of the same length.
fn blank(text: &str) -> String {
    let mut bytes = blank_comments(text).into_bytes();
    let mut comma = None;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at = string_end(&bytes, at);
                comma = None;
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    // Only whole ASCII characters were replaced, by ASCII.
    String::from_utf8(bytes).unwrap_or_default()
}

fn blank_comments(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    if text.starts_with('\u{feff}') {
        bytes[..3].fill(b' ');
    }
    let mut at = 0;
    while at < bytes.len() {
        let end = match (bytes[at], bytes.get(at + 1)) {
            (b'"', _) => {
                at = string_end(&bytes, at);
                continue;
            }
            (b'/', Some(b'/')) => text[at..].find('\n').map_or(bytes.len(), |length| at + length),
            (b'/', Some(b'*')) => text[at + 2..].find("*/").map_or(bytes.len(), |length| at + 2 + length + 2),
            _ => {
                at += 1;
                continue;
            }
        };
        for byte in &mut bytes[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The position after the string that begins at `at`.
fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut next = at + 1;
    while next < bytes.len() {
        match bytes[next] {
            b'\\' => next += 2,
            b'"' => return next + 1,
            _ => next += 1,
        }
    }
    bytes.len()
}

/// The position after the value that begins at `at`, in valid JSON.
fn value_end(bytes: &[u8], at: usize) -> usize {
    let mut depth = 0_usize;
    let mut next = at;
    while next < bytes.len() {
        match bytes[next] {
            b'"' => {
                next = string_end(bytes, next);
                if depth == 0 {
                    return next;
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth <= 1 => return if depth == 0 { next } else { next + 1 },
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return next,
            byte if depth == 0 && byte.is_ascii_whitespace() => return next,
            _ => {}
        }
        next += 1;
    }
    bytes.len()
}

/// The position where the object that begins at `start` closes.
fn closing(plain: &str, start: usize) -> usize {
    value_end(plain.as_bytes(), start) - 1
}

/// The members of the object that begins at `start`, in valid JSON.
fn members(plain: &str, start: usize) -> Vec<Member> {
    let bytes = plain.as_bytes();
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b':')) {
            at += 1;
        }
        at
    };
    let mut found = Vec::new();
    let mut at = skip(start + 1);
    while bytes.get(at) == Some(&b'"') {
        let key = at..string_end(bytes, at);
        let begin = skip(key.end);
        let value = begin..value_end(bytes, begin);
        at = skip(value.end);
        let name = serde_json::from_str(&plain[key.clone()]).unwrap_or_default();
        found.push(Member { name, key, value });
    }
    found
}

#[cfg(test)]
mod tests;
