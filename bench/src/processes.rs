//! What `/proc` says: memory, time on the processor, bytes written, who belongs to this run.
//!
//! Every process the bench starts, directly or not, carries `MARK=<run>` in its environment; only such processes are
//! ever signalled, one by one, by pid.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Environment variable that marks the processes of one run of the bench.
pub const MARK: &str = "FORGE_BENCH_RUN";

const KB: f64 = 1024.0;
/// The kernel counts in hundredths of a second for programs, on every Linux.
const TICK_MS: f64 = 10.0;

/// A numeric field of `/proc/<pid>/status` given in kB, as MB.
fn status_mb(pid: u32, field: &str) -> Option<f64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find(|line| line.starts_with(field))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / KB)
}

pub fn resident_mb(pid: u32) -> f64 {
    status_mb(pid, "VmRSS:").unwrap_or(0.0)
}

pub fn peak_mb(pid: u32) -> f64 {
    status_mb(pid, "VmHWM:").unwrap_or(0.0)
}

/// Starts a new measurement of the peak; where the kernel refuses, the old peak stays.
pub fn reset_peak(pid: u32) {
    let _ = std::fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Bytes the process, and the children it has waited for, caused to be written to storage.
pub fn written_bytes(pid: u32) -> u64 {
    std::fs::read_to_string(format!("/proc/{pid}/io"))
        .ok()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok()))
        .unwrap_or(0)
}

/// The words of `/proc/<pid>/stat` after the program's name.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, tail) = text.rsplit_once(") ")?;
    Some(tail.split(' ').map(str::to_owned).collect())
}

/// State letter and parent.
fn state(pid: u32) -> Option<(char, u32)> {
    let words = stat(pid)?;
    Some((words.first()?.chars().next()?, words.get(1)?.parse().ok()?))
}

/// Time on the processor of all threads of the process, without its children, in steps of [`TICK_MS`].
pub fn cpu_ms(pid: u32) -> f64 {
    let ticks = |at: usize| -> Option<f64> { stat(pid)?.get(at)?.parse().ok() };
    TICK_MS * (ticks(11).unwrap_or(0.0) + ticks(12).unwrap_or(0.0))
}

/// Whether the process still runs; a zombie does not.
pub fn is_alive(pid: u32) -> bool {
    matches!(state(pid), Some((letter, _)) if letter != 'Z' && letter != 'X')
}

/// Processes of this run, apart from the bench itself.
pub fn marked(run: &str) -> Vec<u32> {
    let needle = format!("{MARK}={run}");
    let own = std::process::id();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| *pid != own && is_alive(*pid))
        .filter(|pid| {
            std::fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|bytes| bytes.split(|byte| *byte == 0).any(|word| word == needle.as_bytes()))
        })
        .collect()
}

pub fn signal(pid: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process(pid, signal);
    }
}

/// Ends what is left of a run: asks first, then kills.
pub async fn end_marked(run: &str) {
    for wanted in [Signal::TERM, Signal::KILL] {
        for pid in marked(run) {
            signal(pid, wanted);
        }
        for _ in 0..20 {
            if marked(run).is_empty() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// Peak memory and bytes written of the processes beside the server that run the server's own program.
#[derive(Default)]
pub struct Keepers {
    written: BTreeMap<u32, u64>,
    pub peak_mb: f64,
}

impl Keepers {
    pub fn observe(&mut self, run: &str, server: u32, program: &Path) {
        let mut resident = 0.0;
        for pid in marked(run) {
            let same = std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program);
            if pid == server || !same {
                continue;
            }
            resident += resident_mb(pid);
            // A child of the server is counted in the server's own figure once it has been waited for.
            if state(pid).is_some_and(|(_, parent)| parent != server) {
                self.written.insert(pid, written_bytes(pid));
            }
        }
        self.peak_mb = self.peak_mb.max(resident);
    }

    pub fn written_bytes(&self) -> u64 {
        self.written.values().sum()
    }
}
