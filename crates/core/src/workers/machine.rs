//! Whether this machine has room for one more agent.

use forge_types::{Alert, AlertKind, FleetSettings};

use crate::{Error, Forge, Kind, Result};

/// What there is too little of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shortage {
    Disk(String),
    /// Memory, or time of the processors.
    Other(String),
}

impl Shortage {
    pub fn words(self) -> String {
        match self {
            Shortage::Disk(words) | Shortage::Other(words) => words,
        }
    }
}

impl Forge {
    /// Why nothing more may be started, if so.
    pub(crate) fn shortage(&self, fleet: &FleetSettings) -> Option<Shortage> {
        let base = &self.0.config.worktree_base;
        let disk_mb = forge_os::free_bytes(base) >> 20;
        if disk_mb < fleet.min_free_disk_mb {
            return Some(Shortage::Disk(format!(
                "only {disk_mb} MiB are free below {}, less than fleet.min_free_disk_mb ({})",
                base.display(),
                fleet.min_free_disk_mb
            )));
        }
        let read = |file: &str| std::fs::read_to_string(file).ok();
        let memory_mb = read("/proc/meminfo").and_then(|meminfo| free_memory_mb(&meminfo));
        if let Some(memory_mb) = memory_mb.filter(|free| *free < fleet.min_free_memory_mb) {
            return Some(Shortage::Other(format!(
                "only {memory_mb} MiB of memory are free, less than fleet.min_free_memory_mb ({})",
                fleet.min_free_memory_mb
            )));
        }
        let most = fleet.max_load_per_core?;
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let load = read("/proc/loadavg").and_then(|loadavg| load_per_core(&loadavg, cores))?;
        (load > most).then(|| {
            Shortage::Other(format!(
                "the load is {load:.2} per core, more than fleet.max_load_per_core ({most})"
            ))
        })
    }

    /// One alert, raised by whoever met the condition first.
    pub(crate) async fn report_disk_low(&self, why: String) -> Result<()> {
        let mut tx = self.0.store.begin().await?;
        tx.raise_alert(Alert::new(AlertKind::DiskLow, String::new(), why)).await?;
        tx.commit().await?;
        Ok(())
    }

    /// Refuses to start one more while the machine has no room for it.
    pub(crate) async fn admit(&self) -> Result<()> {
        let Some(shortage) = self.shortage(&self.settings().fleet) else { return Ok(()) };
        if let Shortage::Disk(why) = &shortage {
            self.report_disk_low(why.clone()).await?;
        }
        Err(Error::new(Kind::Unavailable, format!("nothing was started: {}", shortage.words())))
    }
}

/// What is available without swapping. Where the system does not say, nothing is refused.
fn free_memory_mb(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib >> 10)
}

/// Of the last minute.
fn load_per_core(loadavg: &str, cores: usize) -> Option<f64> {
    let load: f64 = loadavg.split_whitespace().next()?.parse().ok()?;
    Some(load / cores as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_memory_is_what_the_system_calls_available() {
        let meminfo = "MemTotal:  8000000 kB\nMemFree:  100 kB\nMemAvailable:   2048000 kB\n";
        assert_eq!(free_memory_mb(meminfo), Some(2000));
        assert_eq!(free_memory_mb("MemTotal: 1 kB\n"), None);
    }

    #[test]
    fn the_load_is_shared_by_the_cores() {
        assert_eq!(load_per_core("3.00 2.00 1.00 1/200 4242\n", 2), Some(1.5));
        assert_eq!(load_per_core("", 2), None);
    }
}
