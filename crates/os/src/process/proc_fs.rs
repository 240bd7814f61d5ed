//! The process table as Linux shows it in `/proc`.

use std::fs;
use std::sync::OnceLock;

use uuid::Uuid;

use super::{Entry, Identity, Life};

/// Differs from boot to boot of the machine, so pids and start times of an earlier boot mean nothing; nil while it
/// cannot be read.
pub fn boot() -> Uuid {
    // Read once: a process that has no descriptor to spare later is still in the same boot.
    static BOOT: OnceLock<Uuid> = OnceLock::new();
    if let Some(boot) = BOOT.get() {
        return *boot;
    }
    match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Ok(text) => *BOOT.get_or_init(|| text.trim().parse().unwrap_or_default()),
        Err(_) => Uuid::nil(),
    }
}

/// The command line of a process; none once it has ended.
pub fn arguments(pid: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.split_terminator('\0').map(str::to_owned).collect()
}

pub fn look_up(pid: u32) -> Option<Entry> {
    parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

pub fn list() -> Vec<Entry> {
    pids().filter_map(look_up).collect()
}

/// The living processes that were started with this environment variable. Empty where nobody may read it.
pub fn with_variable(name: &str, value: &str) -> Vec<Identity> {
    let wanted = format!("{name}={value}");
    let has = |pid: u32| {
        fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|environ| environ.split(|&byte| byte == 0).any(|pair| pair == wanted.as_bytes()))
    };
    let marked = pids().filter(|pid| has(*pid)).filter_map(look_up);
    marked.filter(|entry| entry.life == Life::Alive).map(|entry| entry.identity).collect()
}

fn pids() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}

fn parse(pid: u32, stat: &[u8]) -> Option<Entry> {
    // The program's name is in parentheses and may itself contain anything.
    let open = stat.iter().position(|&byte| byte == b'(')?;
    let close = stat.iter().rposition(|&byte| byte == b')')?;
    let fields: Vec<&str> = std::str::from_utf8(&stat[close + 1..]).ok()?.split_ascii_whitespace().collect();
    let pages: u64 = fields.get(21)?.parse().ok()?;
    Some(Entry {
        identity: Identity { pid, start_time: fields.get(19)?.parse().ok()?, boot: boot() },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        has_terminal: *fields.get(4)? != "0",
        life: if matches!(*fields.first()?, "Z" | "X") { Life::Zombie } else { Life::Alive },
        name: String::from_utf8_lossy(stat.get(open + 1..close)?).into_owned(),
        resident_bytes: pages * rustix::param::page_size() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_full_of_parentheses_does_not_confuse() {
        let stat = b"7 (a) Z 1 (b)) S 3 4 5 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 998877 0 2 0";
        let expected = Entry {
            identity: Identity { pid: 7, start_time: 998_877, boot: boot() },
            parent: 3,
            group: 4,
            session: 5,
            has_terminal: false,
            life: Life::Alive,
            name: "a) Z 1 (b)".to_owned(),
            resident_bytes: 2 * rustix::param::page_size() as u64,
        };
        assert_eq!(parse(7, stat), Some(expected));
    }
}
