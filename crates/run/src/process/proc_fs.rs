//! The process table as Linux shows it in `/proc`.

use std::fs;
use std::sync::OnceLock;

use super::{Entry, Identity, Life};

/// Differs from boot to boot of the machine, so that pids and start times of an earlier one mean nothing.
pub fn boot_id() -> String {
    // Read once: a process that has no descriptor to spare later is still in the same boot.
    static BOOT: OnceLock<String> = OnceLock::new();
    if let Some(boot) = BOOT.get() {
        return boot.clone();
    }
    match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Ok(boot) => BOOT.get_or_init(|| boot.trim().to_owned()).clone(),
        Err(_) => String::new(),
    }
}

/// What a process was started as, for people.
pub(crate) fn command_of(pid: u32) -> String {
    const MOST_CHARS: usize = 80;
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = String::from_utf8_lossy(&line).replace(|c: char| c.is_control(), " ").trim().to_owned();
    let name = || fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default().trim().to_owned();
    let text = if words.is_empty() { name() } else { words };
    match text.char_indices().nth(MOST_CHARS) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text,
    }
}

pub(crate) fn look_up(pid: u32) -> Option<Entry> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

pub(crate) fn list() -> Vec<Entry> {
    pids().filter_map(look_up).collect()
}

/// The processes that were started with this environment variable, at any depth.
pub(crate) fn with_variable(name: &str, value: &str) -> Vec<Identity> {
    let wanted = format!("{name}={value}");
    let has = |pid: &u32| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environ| environ.split(|&byte| byte == 0).any(|pair| pair == wanted.as_bytes()))
    };
    pids()
        .filter_map(|pid| look_up(pid).filter(|entry| entry.life == Life::Alive && has(&pid)))
        .map(|e| e.identity)
        .collect()
}

pub(super) fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

/// What follows the name.
pub(super) fn fields(stat: &[u8]) -> Option<Vec<&str>> {
    // The program's name comes first, in parentheses, and may itself contain anything.
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
    Some(std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().collect())
}

pub(super) fn parse(pid: u32, stat: &[u8]) -> Option<Entry> {
    let fields = fields(stat)?;
    let life = if matches!(*fields.first()?, "Z" | "X") { Life::Zombie } else { Life::Alive };
    Some(Entry {
        identity: Identity { pid, start_time: fields.get(19)?.parse().ok()? },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        life,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_parentheses_does_not_confuse() {
        let stat = b"7 (a) Z 1 (b)) S 3 4 4 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 998877 0 0";
        let entry = parse(7, stat).expect("parsed");
        assert_eq!((entry.parent, entry.group, entry.life), (3, 4, Life::Alive));
        assert_eq!(entry.identity.start_time, 998_877);
    }
}
