//! The process table as `ps` shows it: the portable way, slower and exact to the second.

use std::process::{Command, Stdio};

use jiff::civil::DateTime;
use uuid::Uuid;

use super::{Entry, Identity, Life};

const COLUMNS: &str = "pid=,ppid=,rss=,stat=,lstart=,comm=";
/// `lstart` is five words, like `Mon Nov 16 06:25:52 2026`.
const STARTED: &str = "%a %b %d %H:%M:%S %Y";

pub(super) fn look_up(pid: u32) -> Option<Entry> {
    table(&["-o", COLUMNS, "-p", &pid.to_string()]).into_iter().find(|entry| entry.identity.pid == pid)
}

pub(super) fn list() -> Vec<Entry> {
    table(&["-A", "-o", COLUMNS])
}

#[cfg(not(target_os = "linux"))]
pub(super) fn arguments(pid: u32) -> Vec<String> {
    let line = ask(&["-o", "command=", "-p", &pid.to_string()]);
    line.split_ascii_whitespace().map(str::to_owned).collect()
}

/// Not to be had without privileges.
#[cfg(not(target_os = "linux"))]
pub(super) fn with_variable(_name: &str, _value: &str) -> Vec<Identity> {
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
    let started = DateTime::strptime(STARTED, words.get(4..9)?.join(" ")).ok()?;
    let seconds = started.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_second();
    let program = words.get(9..)?.join(" ");
    Some(Entry {
        // The start time carries its date, so that it needs no boot.
        identity: Identity {
            pid: words[0].parse().ok()?,
            start_time: u64::try_from(seconds).ok()?,
            boot: Uuid::nil(),
        },
        parent: words[1].parse().ok()?,
        session: 0,
        life: if words[3].starts_with('Z') { Life::Zombie } else { Life::Alive },
        name: program.rsplit('/').next().unwrap_or_default().to_owned(),
        resident_bytes: words[2].parse::<u64>().ok()? * 1024,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_portable_table_agrees_with_the_native_one() {
        let mut child = Command::new("sleep").arg("60").spawn().expect("sleep");
        let native = super::super::platform::look_up(child.id()).expect("native");
        let portable = look_up(child.id()).expect("portable");
        assert_eq!(
            (portable.parent, portable.life, portable.name.as_str()),
            (native.parent, native.life, "sleep")
        );
        assert!(list().iter().any(|entry| entry.identity == portable.identity));
        child.kill().expect("kill");
        child.wait().expect("wait");
        assert_eq!(look_up(child.id()), None);
    }
}
