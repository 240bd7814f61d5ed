//! The process table as `ps` shows it: the portable way, slower and exact to the second.

use std::process::{Command, Stdio};

use super::{Entry, Identity, Life};

const COLUMNS: &str = "pid=,ppid=,pgid=,stat=,lstart=";

pub(crate) fn look_up(pid: u32) -> Option<Entry> {
    table(&["-o", COLUMNS, "-p", &pid.to_string()]).into_iter().find(|entry| entry.identity.pid == pid)
}

pub(crate) fn list() -> Vec<Entry> {
    table(&["-A", "-o", COLUMNS])
}

/// Unknown here; a start time with its date is told apart across boots anyway.
#[cfg(not(target_os = "linux"))]
/// Differs from boot to boot of the machine.
pub fn boot_id() -> String {
    String::new()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn command_of(pid: u32) -> String {
    let output =
        Command::new("ps").args(["-o", "comm=", "-p", &pid.to_string()]).stdin(Stdio::null()).output();
    String::from_utf8_lossy(&output.map(|output| output.stdout).unwrap_or_default()).trim().to_owned()
}

/// Where processes work is not to be had without privileges.
#[cfg(not(target_os = "linux"))]
pub(crate) fn at_work_in(
    _dir: &std::path::Path,
    _own: Option<&str>,
    _is_in_question: impl Fn(&crate::leftover::Facts) -> bool,
) -> Vec<(u32, crate::leftover::Facts)> {
    Vec::new()
}

/// Not to be had without privileges.
#[cfg(not(target_os = "linux"))]
pub(crate) fn with_variable(_name: &str, _value: &str) -> Vec<Identity> {
    Vec::new()
}

fn table(args: &[&str]) -> Vec<Entry> {
    let output =
        Command::new("ps").args(args).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null()).output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<Entry> {
    let mut words = line.split_ascii_whitespace();
    let pid = words.next()?.parse().ok()?;
    let parent = words.next()?.parse().ok()?;
    let group = words.next()?.parse().ok()?;
    let life = if words.next()?.starts_with('Z') { Life::Zombie } else { Life::Alive };
    let started = words.collect::<Vec<_>>().join(" ");
    Some(Entry {
        identity: Identity { pid, start_time: u64::from(crc32fast::hash(started.as_bytes())) },
        parent,
        group,
        life,
    })
}
