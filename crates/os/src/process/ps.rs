//! The process table as `ps` shows it: the portable way, slower and exact to the second.

use std::process::{Command, Stdio};

use uuid::Uuid;

use super::{Entry, Identity, Life};

/// `lstart` is five words, like `Mon Nov 16 06:25:52 2026`; `comm` may be any number.
const COLUMNS: &str = "pid=,ppid=,pgid=,rss=,tty=,stat=,lstart=,comm=";

pub fn look_up(pid: u32) -> Option<Entry> {
    table(&["-o", COLUMNS, "-p", &pid.to_string()]).into_iter().find(|entry| entry.identity.pid == pid)
}

pub fn list() -> Vec<Entry> {
    table(&["-A", "-o", COLUMNS])
}

/// Unknown here; a start time with its date is distinct across boots anyway.
#[cfg(not(target_os = "linux"))]
pub fn boot() -> Uuid {
    Uuid::nil()
}

#[cfg(not(target_os = "linux"))]
pub fn arguments(pid: u32) -> Vec<String> {
    let line = ask(&["-o", "command=", "-p", &pid.to_string()]);
    line.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Unavailable without privileges.
#[cfg(not(target_os = "linux"))]
pub fn with_variable(_name: &str, _value: &str) -> Vec<Identity> {
    Vec::new()
}

fn table(args: &[&str]) -> Vec<Entry> {
    ask(args).lines().filter_map(parse).collect()
}

fn ask(args: &[&str]) -> String {
    let output =
        Command::new("ps").args(args).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null()).output();
    String::from_utf8_lossy(&output.map(|output| output.stdout).unwrap_or_default()).into_owned()
}

fn parse(line: &str) -> Option<Entry> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let started = words.get(6..11)?.join(" ");
    let program = words.get(11..)?.join(" ");
    let start_time = u64::from(crc32fast::hash(started.as_bytes()));
    Some(Entry {
        identity: Identity { pid: words[0].parse().ok()?, start_time, boot: Uuid::nil() },
        parent: words[1].parse().ok()?,
        group: words[2].parse().ok()?,
        session: 0,
        has_terminal: !words[4].starts_with('?'),
        life: if words[5].starts_with('Z') { Life::Zombie } else { Life::Alive },
        name: program.rsplit('/').next().unwrap_or_default().to_owned(),
        resident_bytes: words[3].parse::<u64>().ok()? * 1024,
    })
}
