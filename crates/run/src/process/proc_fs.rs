//! The process table as Linux shows it in `/proc`.

use std::fs;

use super::{Entry, Identity, Life};

/// Changes with every boot, so that pids and start times of an earlier one mean nothing.
/// Differs from boot to boot of the machine.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
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

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn parse(pid: u32, stat: &[u8]) -> Option<Entry> {
    // The program's name comes first, in parentheses, and may itself contain anything.
    let after_name = stat.iter().rposition(|&byte| byte == b')')? + 1;
    let fields: Vec<&str> = std::str::from_utf8(&stat[after_name..]).ok()?.split_ascii_whitespace().collect();
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
