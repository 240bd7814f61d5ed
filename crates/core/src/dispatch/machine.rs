//! Whether this machine has room for one more agent.

use forge_types::FleetSettings;

use crate::Forge;

impl Forge {
    /// Why nothing more may be started, if so.
    pub(super) fn shortage(&self, fleet: &FleetSettings) -> Option<String> {
        let disk_mb = forge_git::free_bytes(self.0.base.path()) >> 20;
        if disk_mb < fleet.min_free_disk_mb {
            return Some(format!(
                "only {disk_mb} MiB are free below {}, less than fleet.min_free_disk_mb ({})",
                self.0.base.path().display(),
                fleet.min_free_disk_mb
            ));
        }
        let memory_mb = free_memory_mb(&std::fs::read_to_string("/proc/meminfo").ok()?)?;
        (memory_mb < fleet.min_free_memory_mb).then(|| {
            format!(
                "only {memory_mb} MiB of memory are free, less than fleet.min_free_memory_mb ({})",
                fleet.min_free_memory_mb
            )
        })
    }
}

/// What can be had without swapping. Where the system does not tell, nothing is refused.
fn free_memory_mb(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib >> 10)
}

#[cfg(test)]
mod tests {
    use super::free_memory_mb;

    #[test]
    fn free_memory_is_what_the_system_calls_available() {
        let meminfo = "MemTotal:  8000000 kB\nMemFree:  100 kB\nMemAvailable:   2048000 kB\n";
        assert_eq!(free_memory_mb(meminfo), Some(2000));
        assert_eq!(free_memory_mb("MemTotal: 1 kB\n"), None);
    }
}
