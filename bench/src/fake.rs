//! The agent both sides run: a program that speaks Claude's stream-json and obeys directives in its prompt.
//!
//! The prompt carries `FAKE: key=value …`; see `Directives`. Both servers are given the identical command, so what
//! differs in the figures is the server. It starts no runtime and allocates little, because its start time is part of
//! some measurements. Every write error ends it: an agent whose reader is gone has nothing left to do.

use std::io::{BufRead, Write};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use serde_json::{Value, json};

/// Longest a fake agent or its child may live, whatever it was told.
const LIFE_LIMIT: Duration = Duration::from_secs(600);

const LINE_HEAD: &str =
    r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":""#;
const LINE_TAIL: &str = "\"}]}}\n";

#[derive(Debug, Default, PartialEq)]
struct Directives {
    /// Wait before the first line.
    presleep_ms: u64,
    /// Numbered lines to print.
    lines: u64,
    /// Bytes of each line, newline included, where the frame allows it.
    size: usize,
    /// Pause after each line; with 0 the lines go out as fast as the pipe takes them.
    gap_ms: u64,
    /// Wait after the last line.
    sleep_ms: u64,
    exit: u8,
    /// File to write in the working directory, with the prompt's directives as its content.
    file: Option<String>,
    /// Add a hundred lines to each of so many files of the bench's repository.
    edit: usize,
    /// Start a child in its own session and write its pid here.
    pidfile: Option<String>,
    /// Write the time of exit here, in nanoseconds.
    end: Option<String>,
}

impl Directives {
    fn parse(prompt: &str) -> Directives {
        let mut found = Directives { size: 100, ..Directives::default() };
        let Some((_, tail)) = prompt.split_once("FAKE:") else { return found };
        for (key, value) in tail.split_whitespace().filter_map(|word| word.split_once('=')) {
            let number = value.parse::<u64>().unwrap_or(0);
            match key {
                "presleep" => found.presleep_ms = number,
                "lines" => found.lines = number,
                "size" => found.size = number as usize,
                "gap" => found.gap_ms = number,
                "sleep" => found.sleep_ms = number,
                "exit" => found.exit = number as u8,
                "edit" => found.edit = number as usize,
                "file" => found.file = Some(value.to_owned()),
                "pidfile" => found.pidfile = Some(value.to_owned()),
                "end" => found.end = Some(value.to_owned()),
                _ => {}
            }
        }
        found
    }
}

pub fn now_ns() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos())
}

/// Runs the agent until its work is done or it is interrupted.
pub fn run() -> ExitCode {
    match act() {
        Ok(code) => ExitCode::from(code),
        Err(_) => ExitCode::from(141),
    }
}

/// A process that leaves its parent's session and stays.
pub fn run_child() -> ExitCode {
    let _ = rustix::process::setsid();
    std::thread::sleep(LIFE_LIMIT);
    ExitCode::SUCCESS
}

fn act() -> Result<u8> {
    let (send, prompts) = mpsc::sync_channel(1);
    std::thread::spawn(move || listen(&send));
    let prompt: String = prompts.recv_timeout(LIFE_LIMIT).context("no prompt came")?;
    let wanted = Directives::parse(&prompt);
    let session = format!("fake-{}", std::process::id());
    say(
        &json!({"type":"system","subtype":"init","cwd":std::env::current_dir()?,"session_id":session,"tools":["Bash"],
        "mcp_servers":[],"model":"fake-model","permissionMode":"bypassPermissions","slash_commands":[],"apiKeySource":"none"}),
    )?;
    if let Some(path) = &wanted.pidfile {
        let child = Command::new(std::env::current_exe()?)
            .arg("fake-child")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        std::fs::write(path, child.id().to_string())?;
    }
    pause(wanted.presleep_ms);
    print_lines(&wanted)?;
    if let Some(name) = &wanted.file {
        std::fs::write(name, &prompt)?;
    }
    for number in 0..wanted.edit {
        let path = crate::work::file_name(number);
        let mut file = std::fs::OpenOptions::new().append(true).open(path)?;
        file.write_all(format!("a new line of file {number}\n").repeat(100).as_bytes())?;
    }
    pause(wanted.sleep_ms);
    say(&json!({"type":"result","subtype": if wanted.exit == 0 {"success"} else {"error_during_execution"},
        "is_error":wanted.exit != 0,"duration_ms":1,"duration_api_ms":1,"num_turns":1,"result":"done","session_id":session,
        "total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":2}}))?;
    if let Some(path) = &wanted.end {
        std::fs::write(path, now_ns().to_string())?;
    }
    Ok(wanted.exit)
}

fn pause(time_ms: u64) {
    std::thread::sleep(Duration::from_millis(time_ms).min(LIFE_LIMIT));
}

fn print_lines(wanted: &Directives) -> Result<()> {
    if wanted.lines == 0 {
        return Ok(());
    }
    say_text(&format!("B{}", now_ns()))?;
    let stdout = std::io::stdout().lock();
    let mut out = std::io::BufWriter::with_capacity(64 * 1024, stdout);
    let filler = "x".repeat(wanted.size.saturating_sub(LINE_HEAD.len() + 8 + LINE_TAIL.len()));
    for number in 0..wanted.lines {
        out.write_all(LINE_HEAD.as_bytes())?;
        if wanted.gap_ms > 0 {
            write!(out, "L{number:07}T{}", now_ns())?;
        } else {
            write!(out, "L{number:07}{filler}")?;
        }
        out.write_all(LINE_TAIL.as_bytes())?;
        if wanted.gap_ms > 0 {
            out.flush()?;
            pause(wanted.gap_ms);
        }
    }
    out.flush()?;
    Ok(())
}

/// Reads the server's side of the protocol: answers control requests, passes the first user message on.
fn listen(prompts: &mpsc::SyncSender<String>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        match message["type"].as_str() {
            Some("control_request") => answer(&message),
            Some("user") => {
                let content = &message["message"]["content"];
                let text = content.as_str().map_or_else(|| content.to_string(), str::to_owned);
                let _ = prompts.try_send(text);
            }
            _ => {}
        }
    }
}

fn answer(message: &Value) {
    let reply = json!({"type":"control_response","response":{"subtype":"success","request_id":message["request_id"],"response":{}}});
    if say(&reply).is_ok() && message["request"]["subtype"] == "interrupt" {
        let _ = say(
            &json!({"type":"result","subtype":"error_during_execution","is_error":true,"result":"interrupted"}),
        );
        std::process::exit(0);
    }
}

fn say_text(text: &str) -> Result<()> {
    write_out(&format!("{LINE_HEAD}{text}{LINE_TAIL}"))
}

fn say(message: &Value) -> Result<()> {
    write_out(&format!("{message}\n"))
}

fn write_out(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(line.as_bytes())?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_are_found_behind_the_title() {
        let found = Directives::parse("A title\n\nFAKE: lines=3 size=100 exit=7 end=/tmp/x");
        let expected =
            Directives { lines: 3, size: 100, exit: 7, end: Some("/tmp/x".into()), ..Directives::default() };
        assert_eq!(found, expected);
    }
}
