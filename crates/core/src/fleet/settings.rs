//! The section `fleet` of the user's settings.
//!
//! Invariant: it is read once, at the start. What it does not say has a default; a section that cannot be understood is
//! told in the log and counts as absent.

use std::path::{Path, PathBuf};

use forge_fleet::health::HealthMonitorConfig;
use forge_fleet::recovery::RecoveryRules;
use forge_fleet::tmux::Socket;
use forge_types::Settings;
use serde::Deserialize;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct FleetSettings {
    /// The tmux server: the name of its socket, or a path.
    socket: String,
    pub(super) max_workers: usize,
    launcher_dir: Option<PathBuf>,
    pub(super) health: HealthMonitorConfig,
    pub(super) recovery: RecoveryRules,
}

impl Default for FleetSettings {
    fn default() -> Self {
        Self {
            socket: "forge".to_owned(),
            max_workers: 10,
            launcher_dir: None,
            health: HealthMonitorConfig::default(),
            recovery: RecoveryRules::default(),
        }
    }
}

impl FleetSettings {
    pub(crate) fn of(settings: &Settings) -> FleetSettings {
        let Some(section) = settings.other.get("fleet") else { return FleetSettings::default() };
        FleetSettings::deserialize(section).unwrap_or_else(|error| {
            tracing::error!("config.json: fleet: {error}; the defaults are used for the whole section");
            FleetSettings::default()
        })
    }

    pub(super) fn socket(&self) -> Socket {
        match self.socket.contains('/') {
            true => Socket::Path(PathBuf::from(&self.socket)),
            false => Socket::Name(self.socket.clone()),
        }
    }

    pub(crate) fn launcher_dir(&self, home: &Path) -> PathBuf {
        self.launcher_dir.clone().unwrap_or_else(|| home.join("launchers"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use forge_fleet::recovery::RecoveryPolicy;
    use serde_json::json;

    fn read(section: serde_json::Value) -> FleetSettings {
        FleetSettings::of(&serde_json::from_value(json!({ "fleet": section })).unwrap())
    }

    #[test]
    fn any_part_of_the_section_can_be_left_out() {
        let read = read(
            json!({"socket": "/run/t", "recovery": {"dead_worker_policy": "auto"}, "tiers": {"premium": 2}}),
        );
        assert_eq!(read.socket(), Socket::Path("/run/t".into()));
        assert_eq!(read.recovery.dead_worker_policy, RecoveryPolicy::Auto);
        assert_eq!((read.recovery.max_restart_attempts, read.max_workers), (3, 10));
        assert_eq!(read.health, HealthMonitorConfig::default());
    }

    #[test]
    fn a_section_that_makes_no_sense_is_as_if_it_were_absent() {
        assert_eq!(read(json!({"max_workers": "many"})), FleetSettings::default());
        assert_eq!(FleetSettings::of(&Settings::default()), FleetSettings::default());
    }
}
