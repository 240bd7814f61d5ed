//! Standard output: its width and colours if it is a terminal, printing to it,
//! and asking the person there.
//!
//! Invariant: no foreign text reaches a terminal with its control characters, whichever command shows it: everything
//! written to standard output or error passes the [`Guard`], except what [`draw`] writes. Without a
//! terminal, every byte stays as it is.

mod guard;

use std::borrow::Cow;
use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::Value;

use guard::Guard;

use crate::exit::Misused;
use crate::transcript::{Colours, Ink, Line, Page};

/// Nothing is readable on a narrower terminal.
const LEAST_COLUMNS: usize = 20;

/// Whether rows of standard output can be overwritten.
pub fn can_rewrite() -> bool {
    std::io::stdout().is_terminal() && set("TERM").is_some_and(|term| term != "dumb")
}

/// Whether a person reads the output and can type.
pub fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Whether standard output is a terminal that can draw the emoji of workers.
pub fn draws_emoji() -> bool {
    std::io::stdout().is_terminal() && forge_tui::draws_emoji(|name| std::env::var(name).ok())
}

/// A reader that closes the pipe early, such as `head`, is not a failure.
pub fn until_closed(result: Result<ExitCode>) -> Result<ExitCode> {
    match result {
        Err(error) if is_closed(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Standard output as a page. With `NO_COLOR` or a `dumb` terminal there are no colours; without a terminal lines have
/// any length, for programs.
pub fn page() -> Page {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return Page { width: usize::MAX, colours: Colours::Off };
    }
    let size = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
    let width = size.filter(|width| *width > 0).unwrap_or(80).max(LEAST_COLUMNS);
    let plain = set("NO_COLOR").is_some() || set("TERM").is_some_and(|term| term == "dumb");
    Page { width, colours: if plain { Colours::Off } else { Colours::On } }
}

/// Writes to standard output and flushes. Keeps colours, which are ours.
pub fn write(text: &str) -> Result<()> {
    match std::io::stdout().is_terminal() {
        true => draw(&Guard::whole(Colours::On, text)),
        false => draw(text),
    }
}

/// Writes text that may move the cursor. Foreign text in it must already be [`clean`].
///
/// [`clean`]: crate::transcript::clean
pub fn draw(text: &str) -> Result<()> {
    put(text.as_bytes())
}

fn put(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// The output of a program, shown byte for byte; on a terminal with its colours but no other control characters.
pub struct Log(Option<Guard>);

impl Log {
    pub fn new() -> Self {
        Self(std::io::stdout().is_terminal().then(|| Guard::new(page().colours)))
    }

    /// The next piece.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match &mut self.0 {
            Some(guard) => draw(&guard.pass(bytes)),
            None => put(bytes),
        }
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        if let Some(guard) = &mut self.0 {
            // Reset colours for later output; errors do not matter if the terminal is gone.
            let _ = draw(&guard.end());
        }
    }
}

/// A file name: on a terminal quoted as git does, if it contains a control character.
pub fn file_name(path: &str) -> Cow<'_, str> {
    match std::io::stdout().is_terminal() && path.contains(char::is_control) {
        true => Cow::Owned(quote(path)),
        false => Cow::Borrowed(path),
    }
}

fn quote(path: &str) -> String {
    let mut out = String::from("\"");
    let mut bytes = [0; 4];
    for c in path.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{b}' => out.push_str("\\v"),
            '\u{c}' => out.push_str("\\f"),
            c if c.is_control() => {
                out.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\{byte:03o}")));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// What `print!` and `println!` call in this crate: plain text, possibly foreign.
pub fn put_words(words: fmt::Arguments<'_>) {
    let words = words.to_string();
    match std::io::stdout().is_terminal() {
        true => print(&Guard::whole(Colours::Off, &words)),
        false => print(&words),
    }
}

/// What `eprint!` and `eprintln!` call.
pub fn put_remark(words: fmt::Arguments<'_>) {
    let (words, mut out) = (words.to_string(), std::io::stderr().lock());
    // If standard error is closed, the error cannot be reported.
    let _ = match out.is_terminal() {
        true => out.write_all(Guard::whole(Colours::Off, &words).as_bytes()),
        false => out.write_all(words.as_bytes()),
    };
}

/// Writes the output of a command; exits quietly if the reader, such as `head`, has closed the pipe.
pub fn print(text: &str) {
    if write(text).is_err_and(|error| is_closed(&error)) {
        std::process::exit(0);
    }
}

/// Prints a line.
pub fn say(line: &Line) {
    let mut out = String::new();
    line.put(page(), &mut out);
    print(&out);
}

/// Prints data for programs.
pub fn print_json(value: &Value) {
    print(&format!("{value:#}\n"));
}

/// Prints a named fact.
pub fn say_fact(name: &str, value: &str) {
    say(&Line::new(Ink::Dim, &format!("{name:<9} ")).and(Ink::Plain, value).whole());
}

/// Asks the person at the terminal. Without a terminal, `--yes` is required.
pub fn confirm(question: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        let text = format!("{question} There is no terminal to ask; add --yes to confirm");
        return Err(Misused(text).into());
    }
    Ok(matches!(ask(&format!("{question} [y/N] "))?.as_str(), "y" | "yes"))
}

/// Asks the person at the terminal; Enter means yes, the end of the input means no.
pub fn agree(question: &str) -> Result<bool> {
    Ok(matches!(ask(&format!("{question} [Y/n] "))?.as_str(), "\n" | "y" | "yes"))
}

/// The answer in lower case; a line break for an empty line, and nothing at the end of the input.
fn ask(question: &str) -> Result<String> {
    eprint!("{question}");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("cannot read the answer")?;
    let answer = line.trim();
    Ok(if answer.is_empty() && !line.is_empty() { "\n".to_owned() } else { answer.to_ascii_lowercase() })
}

fn set(key: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(key).filter(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_does() {
        assert_eq!(quote("a\u{1b}]52;c;x\u{7}.txt"), r#""a\033]52;c;x\a.txt""#);
        assert_eq!(quote("ü \"\\\n\t\r\u{8}\u{b}\u{c}\u{7f}\u{9b}"), r#""ü \"\\\n\t\r\b\v\f\177\302\233""#);
    }
}
