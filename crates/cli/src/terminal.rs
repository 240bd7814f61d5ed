//! What standard output is: a terminal of some width, with or without colours, or something else; what is printed there,
//! and questions to the person before it.
//!
//! Invariant: nothing from elsewhere reaches a terminal with its control characters, whichever command shows it: all that is
//! written to standard output or error passes the [`Guard`], except what [`draw`] puts together itself. Where there is no
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

/// Narrower than this nothing can be read anyway.
const LEAST_COLUMNS: usize = 20;

/// Whether rows of standard output can be written again.
pub fn can_rewrite() -> bool {
    std::io::stdout().is_terminal() && set("TERM").is_some_and(|term| term != "dumb")
}

/// Whether somebody sits here who reads and types.
pub fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Whether standard output is a terminal that can draw the signs of workers.
pub fn draws_emoji() -> bool {
    std::io::stdout().is_terminal() && forge_tui::draws_emoji(|name| std::env::var(name).ok())
}

/// A reader that has seen enough, such as `head`, is no failure.
pub fn until_closed(result: Result<ExitCode>) -> Result<ExitCode> {
    match result {
        Err(error) if is_closed(&error) => Ok(ExitCode::SUCCESS),
        other => other,
    }
}

fn is_closed(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Standard output as a page. `NO_COLOR` and a `dumb` terminal get no colours; what is no terminal gets lines of any
/// length, because it is read by programs.
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

/// Writes to standard output, at once. The colours are ours.
pub fn write(text: &str) -> Result<()> {
    match std::io::stdout().is_terminal() {
        true => draw(&Guard::whole(Colours::On, text)),
        false => draw(text),
    }
}

/// Writes to standard output what moves the cursor. What is from elsewhere in it has to be [`clean`] already.
///
/// [`clean`]: crate::transcript::clean
pub fn draw(text: &str) -> Result<()> {
    put(text.as_bytes())
}

fn put(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(bytes).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// The output of a program, shown as it was: byte for byte, and at a terminal with its colours and nothing else.
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
            // Whoever comes next writes in their own colours; a terminal that is gone needs none.
            let _ = draw(&guard.end());
        }
    }
}

/// The name of a file: at a terminal in quotes, as git writes it, if a control character is in it.
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

/// What `print!` and `println!` stand for in this crate: plain words, which may be anybody's.
pub fn put_words(words: fmt::Arguments<'_>) {
    let words = words.to_string();
    match std::io::stdout().is_terminal() {
        true => print(&Guard::whole(Colours::Off, &words)),
        false => print(&words),
    }
}

/// What `eprint!` and `eprintln!` stand for.
pub fn put_remark(words: fmt::Arguments<'_>) {
    let (words, mut out) = (words.to_string(), std::io::stderr().lock());
    // Where standard error is closed, there is nobody to be told.
    let _ = match out.is_terminal() {
        true => out.write_all(Guard::whole(Colours::Off, &words).as_bytes()),
        false => out.write_all(words.as_bytes()),
    };
}

/// The last that a command writes: a reader that has seen enough, such as `head`, ends it quietly.
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

/// A fact under its name.
pub fn say_fact(name: &str, value: &str) {
    say(&Line::new(Ink::Dim, &format!("{name:<9} ")).and(Ink::Plain, value).whole());
}

/// Asks the person at the terminal. Where there is none, nobody can be asked and the flag `--yes` has to say it.
pub fn confirm(question: &str) -> Result<bool> {
    if !std::io::stdin().is_terminal() {
        let text = format!("{question} There is no terminal to ask at; add --yes to say so");
        return Err(Misused(text).into());
    }
    Ok(matches!(ask(&format!("{question} [y/N] "))?.as_str(), "y" | "yes"))
}

/// Asks the person at the terminal; whoever only presses Enter agrees. The end of the input is no answer.
pub fn agree(question: &str) -> Result<bool> {
    Ok(matches!(ask(&format!("{question} [Y/n] "))?.as_str(), "\n" | "y" | "yes"))
}

/// The answer in small letters; an empty line is a line break, and the end of the input nothing.
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
