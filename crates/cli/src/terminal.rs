//! What standard output is: a terminal of some width, with or without colours, or something else; what is printed there,
//! and questions to the person before it.

use std::io::{ErrorKind, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::Value;

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

/// Writes to standard output, at once.
pub fn write(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
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
