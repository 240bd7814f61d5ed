//! The section `fleet` of the user's settings: how many workers there are, with which models, where they run, when they
//! count as unhealthy, and when Forge gives up on a bead.
//!
//! Invariant: as for all settings, every field has a default, and keys that this version does not know are kept.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::request::{present, word};
use crate::settings_change::put;
use crate::{AlertSettings, AlertSettingsChange, Executor, ProfileId, WorkerTier};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FleetSettings {
    /// The tmux server of workers: the name of its socket, or a path; by default one of this home's own. Read when the
    /// server starts.
    pub socket: Option<String>,
    /// The most workers, and the most beads, that run at once.
    pub max_workers: u32,
    /// The most at once in each tier; null leaves it to `max_workers`.
    pub caps: PerTier<Option<u32>>,
    /// The agents of each tier.
    pub models: PerTier<Vec<ProfileId>>,
    /// A bead that failed this often waits for a person.
    pub max_failures: u32,
    /// Types of beads that may end without a change, because their result is text.
    pub no_change_ok: Vec<String>,
    /// Nothing is started while less memory is free.
    pub min_free_memory_mb: u64,
    /// Nothing is started while less space is free where worktrees are made.
    pub min_free_disk_mb: u64,
    /// Whether no worker is started while the budget of the day or the month is used up.
    pub stop_at_budget: bool,
    /// Nothing is started while the load per core is higher; null turns this check off.
    pub max_load_per_core: Option<f64>,
    /// The tier that each priority asks for.
    pub priority_tiers: PriorityTiers,
    /// Where to look when no model of that tier is available.
    pub fallback: Fallback,
    /// More folders whose beads are shown.
    pub workspaces: Vec<PathBuf>,
    /// Where launchers are looked up by name; by default in Forge's home.
    pub launcher_dir: Option<PathBuf>,
    pub health: HealthMonitorConfig,
    pub recovery: RecoveryRules,
    pub alerts: AlertSettings,
    /// How long files, logs and rows of workers are kept after their end.
    pub status_keep_days: u32,
    #[serde(flatten)]
    #[schemars(skip)]
    pub other: Map<String, Value>,
}

/// One value for each tier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PerTier<T> {
    pub premium: T,
    pub standard: T,
    pub budget: T,
    pub free: T,
}

crate::shape::shaped! { PerTier<Option<u32>> => TierCaps, PerTier<Vec<ProfileId>> => TierModels }

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
struct TierCaps {
    premium: Option<u32>,
    standard: Option<u32>,
    budget: Option<u32>,
    free: Option<u32>,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only described")]
struct TierModels {
    premium: Vec<ProfileId>,
    standard: Vec<ProfileId>,
    budget: Vec<ProfileId>,
    free: Vec<ProfileId>,
}

impl<T> PerTier<T> {
    pub fn of(&self, tier: WorkerTier) -> &T {
        match tier {
            WorkerTier::Premium => &self.premium,
            WorkerTier::Standard => &self.standard,
            WorkerTier::Budget => &self.budget,
            WorkerTier::Free => &self.free,
        }
    }
}

impl Default for FleetSettings {
    fn default() -> Self {
        let claude = |model: &str| {
            vec![ProfileId { model: Some(model.to_owned()), ..ProfileId::new(Executor::ClaudeCode) }]
        };
        let models = PerTier {
            premium: claude("opus"),
            standard: claude("sonnet"),
            budget: claude("haiku"),
            free: Vec::new(),
        };
        Self {
            socket: None,
            max_workers: 10,
            caps: PerTier::default(),
            models,
            max_failures: 3,
            no_change_ok: ["research", "question", "docs"].map(str::to_owned).to_vec(),
            min_free_memory_mb: 512,
            min_free_disk_mb: 1024,
            stop_at_budget: true,
            max_load_per_core: None,
            priority_tiers: PriorityTiers::default(),
            fallback: Fallback::default(),
            workspaces: Vec::new(),
            launcher_dir: None,
            health: HealthMonitorConfig::default(),
            recovery: RecoveryRules::default(),
            alerts: AlertSettings::default(),
            status_keep_days: 7,
            other: Map::new(),
        }
    }
}

/// P0, the most urgent, to P4.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "UPPERCASE")]
pub struct PriorityTiers {
    pub p0: WorkerTier,
    pub p1: WorkerTier,
    pub p2: WorkerTier,
    pub p3: WorkerTier,
    pub p4: WorkerTier,
}

impl Default for PriorityTiers {
    fn default() -> Self {
        use WorkerTier::{Budget, Premium, Standard};
        Self { p0: Premium, p1: Premium, p2: Standard, p3: Budget, p4: Budget }
    }
}

impl PriorityTiers {
    /// Anything above 4 counts as 4.
    pub fn of(&self, priority: u8) -> WorkerTier {
        match priority {
            0 => self.p0,
            1 => self.p1,
            2 => self.p2,
            3 => self.p3,
            _ => self.p4,
        }
    }
}

/// Which tier is tried next when a tier is unavailable, always by one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fallback {
    Up,
    Down,
    /// Up first.
    #[default]
    Both,
    None,
}

/// When a worker counts as unhealthy; the defaults are those of the documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HealthMonitorConfig {
    pub check_interval_secs: u64,
    pub stale_threshold_secs: u64,
    pub max_recovery_attempts: u32,
    pub memory_limit_mb: u64,
}

impl Default for HealthMonitorConfig {
    fn default() -> Self {
        Self {
            check_interval_secs: 30,
            stale_threshold_secs: 300,
            max_recovery_attempts: 3,
            memory_limit_mb: 4096,
        }
    }
}

/// What may be done about a problem automatically.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RecoveryPolicy {
    Disabled,
    /// Visibility first.
    #[default]
    Notify,
    Auto,
}

/// What happens to a worker that died or makes no progress, and to beads that nobody works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecoveryRules {
    pub dead_worker_policy: RecoveryPolicy,
    pub max_restart_attempts: u32,
    /// Crashes within this time count together.
    pub window_secs: u64,
    /// The first pause; each further one is twice as long.
    pub pause_secs: u64,
    pub max_pause_secs: u64,
    /// Restarts at the same time.
    pub at_once: usize,
    /// `Auto` restarts a worker that uses more than `memory_kill_mb`.
    pub memory_policy: RecoveryPolicy,
    pub memory_kill_mb: Option<u64>,
    /// `Auto` interrupts a worker that is silent while it has a task, and then restarts it.
    pub stuck_task_policy: RecoveryPolicy,
    pub stuck_after_mins: u64,
    /// `Auto` releases a bead that its tracker assigns to one of our workers that does not have it.
    pub stale_assignee_policy: RecoveryPolicy,
    pub stale_assignee_mins: u64,
}

impl Default for RecoveryRules {
    fn default() -> Self {
        Self {
            dead_worker_policy: RecoveryPolicy::default(),
            max_restart_attempts: 3,
            window_secs: 600,
            pause_secs: 5,
            max_pause_secs: 120,
            at_once: 2,
            memory_policy: RecoveryPolicy::Notify,
            memory_kill_mb: None,
            stuck_task_policy: RecoveryPolicy::Notify,
            stuck_after_mins: 30,
            stale_assignee_policy: RecoveryPolicy::Auto,
            stale_assignee_mins: 60,
        }
    }
}

/// A partial change; an absent key keeps the stored value.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FleetChange {
    #[serde(deserialize_with = "present")]
    pub socket: Option<Option<String>>,
    pub max_workers: Option<u32>,
    pub caps: Option<PerTier<Option<u32>>>,
    pub models: Option<PerTier<Vec<ProfileId>>>,
    pub max_failures: Option<u32>,
    pub no_change_ok: Option<Vec<String>>,
    pub min_free_memory_mb: Option<u64>,
    pub min_free_disk_mb: Option<u64>,
    pub stop_at_budget: Option<bool>,
    #[serde(deserialize_with = "present")]
    pub max_load_per_core: Option<Option<f64>>,
    pub priority_tiers: Option<PriorityTiers>,
    #[serde(deserialize_with = "word")]
    pub fallback: Option<Fallback>,
    pub workspaces: Option<Vec<PathBuf>>,
    #[serde(deserialize_with = "present")]
    pub launcher_dir: Option<Option<PathBuf>>,
    pub(crate) health: Option<HealthChange>,
    pub(crate) recovery: Option<RecoveryChange>,
    pub alerts: Option<AlertSettingsChange>,
    pub status_keep_days: Option<u32>,
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct HealthChange {
    pub check_interval_secs: Option<u64>,
    pub stale_threshold_secs: Option<u64>,
    pub max_recovery_attempts: Option<u32>,
    pub memory_limit_mb: Option<u64>,
}

#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RecoveryChange {
    #[serde(deserialize_with = "word")]
    pub dead_worker_policy: Option<RecoveryPolicy>,
    pub max_restart_attempts: Option<u32>,
    pub window_secs: Option<u64>,
    pub pause_secs: Option<u64>,
    pub max_pause_secs: Option<u64>,
    pub at_once: Option<usize>,
    #[serde(deserialize_with = "word")]
    pub memory_policy: Option<RecoveryPolicy>,
    #[serde(deserialize_with = "present")]
    pub memory_kill_mb: Option<Option<u64>>,
    #[serde(deserialize_with = "word")]
    pub stuck_task_policy: Option<RecoveryPolicy>,
    pub stuck_after_mins: Option<u64>,
    #[serde(deserialize_with = "word")]
    pub stale_assignee_policy: Option<RecoveryPolicy>,
    pub stale_assignee_mins: Option<u64>,
}

impl FleetChange {
    pub(crate) fn apply(self, to: &mut FleetSettings) {
        put(&mut to.socket, self.socket);
        put(&mut to.max_workers, self.max_workers);
        put(&mut to.caps, self.caps);
        put(&mut to.models, self.models);
        put(&mut to.max_failures, self.max_failures);
        put(&mut to.no_change_ok, self.no_change_ok);
        put(&mut to.min_free_memory_mb, self.min_free_memory_mb);
        put(&mut to.min_free_disk_mb, self.min_free_disk_mb);
        put(&mut to.stop_at_budget, self.stop_at_budget);
        put(&mut to.max_load_per_core, self.max_load_per_core);
        put(&mut to.priority_tiers, self.priority_tiers);
        put(&mut to.fallback, self.fallback);
        put(&mut to.workspaces, self.workspaces);
        put(&mut to.launcher_dir, self.launcher_dir);
        if let Some(sent) = self.health {
            put(&mut to.health.check_interval_secs, sent.check_interval_secs);
            put(&mut to.health.stale_threshold_secs, sent.stale_threshold_secs);
            put(&mut to.health.max_recovery_attempts, sent.max_recovery_attempts);
            put(&mut to.health.memory_limit_mb, sent.memory_limit_mb);
        }
        if let Some(sent) = self.recovery {
            put(&mut to.recovery.dead_worker_policy, sent.dead_worker_policy);
            put(&mut to.recovery.max_restart_attempts, sent.max_restart_attempts);
            put(&mut to.recovery.window_secs, sent.window_secs);
            put(&mut to.recovery.pause_secs, sent.pause_secs);
            put(&mut to.recovery.max_pause_secs, sent.max_pause_secs);
            put(&mut to.recovery.at_once, sent.at_once);
            put(&mut to.recovery.memory_policy, sent.memory_policy);
            put(&mut to.recovery.memory_kill_mb, sent.memory_kill_mb);
            put(&mut to.recovery.stuck_task_policy, sent.stuck_task_policy);
            put(&mut to.recovery.stuck_after_mins, sent.stuck_after_mins);
            put(&mut to.recovery.stale_assignee_policy, sent.stale_assignee_policy);
            put(&mut to.recovery.stale_assignee_mins, sent.stale_assignee_mins);
        }
        if let Some(sent) = self.alerts {
            sent.apply(&mut to.alerts);
        }
        put(&mut to.status_keep_days, self.status_keep_days);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn any_part_of_the_section_can_be_left_out_or_changed() {
        let text = json!({"socket": "/run/t", "recovery": {"dead_worker_policy": "auto"}, "models": {"premium": ["SCRIPTED"]}, "mine": 2});
        let mut fleet: FleetSettings = serde_json::from_value(text).unwrap();
        assert_eq!(fleet.recovery.dead_worker_policy, RecoveryPolicy::Auto);
        assert_eq!((fleet.recovery.max_restart_attempts, fleet.max_workers), (3, 10));
        let change = json!({"max_workers": 4, "health": {"memory_limit_mb": 1}, "recovery": {"at_once": 1}});
        serde_json::from_value::<FleetChange>(change).unwrap().apply(&mut fleet);
        assert_eq!((fleet.max_workers, fleet.health.memory_limit_mb, fleet.recovery.at_once), (4, 1, 1));
        assert_eq!(fleet.health.check_interval_secs, 30);
        let back = serde_json::to_value(&fleet).unwrap();
        assert_eq!((&back["mine"], &back["socket"]), (&json!(2), &json!("/run/t")));
        assert_eq!(fleet.models.of(WorkerTier::Premium), &vec![ProfileId::new(Executor::Scripted)]);
    }
}
