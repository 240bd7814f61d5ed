//! A worker's health, decided by rules from what is known about it.
//!
//! Invariants: pure; any proof of death is critical at once, and a silent file alone never is; a worker that was
//! stopped or waits for its provider has not crashed.

pub use forge_types::HealthMonitorConfig;
use forge_types::{Finding, Health, HealthLevel, RecoveryRules, WorkerPhase, WorkerStatus};
use serde::{Deserialize, Serialize};

/// What is known about a worker at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vitals {
    pub phase: WorkerPhase,
    /// The process that was started, identified by pid and start time.
    pub process: Liveness,
    /// An agent below the shell of the pane; `Gone` when only the shell is left.
    pub agent: Liveness,
    pub session: Liveness,
    /// Seconds since the worker's last sign of life, if there was one.
    pub silent_secs: Option<u64>,
    pub has_task: bool,
    /// Resident memory of the whole tree.
    pub memory_mb: Option<u64>,
    pub screen: Screen,
    /// What its status file says about this run.
    pub says: Option<WorkerStatus>,
    /// Restarts that did not help.
    pub failed_recoveries: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Liveness {
    Alive,
    Gone,
    /// It could not be determined.
    Unknown,
}

/// What the pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Screen {
    Usual,
    WaitsForPermission,
    RateLimited,
    ContextFull,
}

/// The rules for a worker's health.
#[derive(Clone, Copy, Debug, Default)]
pub struct HealthMonitor {
    config: HealthMonitorConfig,
    rules: RecoveryRules,
}

impl HealthMonitor {
    pub fn new(config: HealthMonitorConfig) -> Self {
        Self { config, ..Self::default() }
    }

    /// They may call a worker stuck or too large earlier than the configuration does.
    pub fn with_rules(mut self, rules: RecoveryRules) -> Self {
        self.rules = rules;
        self
    }

    pub fn examine(&self, vitals: &Vitals) -> Health {
        examine(vitals, &self.config, &self.rules)
    }
}

fn examine(vitals: &Vitals, config: &HealthMonitorConfig, rules: &RecoveryRules) -> Health {
    let memory_mb = vitals.memory_mb;
    if !vitals.phase.is_live() {
        return Health { memory_mb, ..Health::default() };
    }
    let stale = vitals.silent_secs.is_some_and(|silent| silent > config.stale_threshold_secs);
    let stuck_secs = config.stale_threshold_secs.saturating_mul(STUCK_THRESHOLDS);
    let stuck_secs = stuck_secs.min(rules.stuck_after_mins.saturating_mul(60));
    let stuck = vitals.silent_secs.is_some_and(|silent| silent >= stuck_secs);
    let memory_mb_max = rules.memory_kill_mb.unwrap_or(u64::MAX).min(config.memory_limit_mb);
    let checks = [
        (vitals.process == Liveness::Gone, Finding::ProcessGone),
        (vitals.agent == Liveness::Gone, Finding::AgentGone),
        (vitals.session == Liveness::Gone, Finding::SessionGone),
        (stale, Finding::Stale),
        (stuck && vitals.has_task, Finding::TaskStuck),
        (vitals.memory_mb.is_some_and(|used| used > memory_mb_max), Finding::MemoryHigh),
        (vitals.screen == Screen::WaitsForPermission, Finding::WaitsForPermission),
        (vitals.screen == Screen::RateLimited, Finding::RateLimited),
        (vitals.screen == Screen::ContextFull, Finding::ContextFull),
    ];
    let mut findings: Vec<Finding> =
        checks.into_iter().filter_map(|(holds, finding)| holds.then_some(finding)).collect();
    findings.extend(vitals.says.and_then(complaint));
    let dead = findings.iter().any(|finding| finding.is_death());
    let level = match (dead, findings.is_empty()) {
        (true, _) if vitals.failed_recoveries >= config.max_recovery_attempts => {
            findings.push(Finding::RecoveryExhausted);
            HealthLevel::Failed
        }
        (true, _) => HealthLevel::Critical,
        (false, true) => HealthLevel::Healthy,
        (false, false) => HealthLevel::Degraded,
    };
    Health { level, findings, memory_mb }
}

/// The finding for a living worker's own status.
pub fn complaint(says: WorkerStatus) -> Option<Finding> {
    match says {
        WorkerStatus::Failed => Some(Finding::SaysFailed),
        WorkerStatus::Stopped => Some(Finding::SaysStopped),
        WorkerStatus::Error => Some(Finding::SaysError),
        WorkerStatus::Active | WorkerStatus::Idle | WorkerStatus::Starting | WorkerStatus::Paused => None,
    }
}

/// A task counts as stuck after this many times the threshold of a silent file: 15 minutes by default.
const STUCK_THRESHOLDS: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    fn well() -> Vitals {
        Vitals {
            phase: WorkerPhase::Running,
            process: Liveness::Alive,
            agent: Liveness::Alive,
            session: Liveness::Alive,
            silent_secs: Some(10),
            has_task: true,
            memory_mb: Some(500),
            screen: Screen::Usual,
            says: Some(WorkerStatus::Active),
            failed_recoveries: 0,
        }
    }

    fn examined(change: impl Fn(&mut Vitals)) -> (HealthLevel, Vec<Finding>) {
        let mut vitals = well();
        change(&mut vitals);
        let health = HealthMonitor::new(HealthMonitorConfig::default()).examine(&vitals);
        (health.level, health.findings)
    }

    #[test]
    fn a_living_worker_that_speaks_is_healthy() {
        assert_eq!(examined(|_| {}), (HealthLevel::Healthy, vec![]));
    }

    #[test]
    fn silence_degrades_and_never_proves_death() {
        assert_eq!(examined(|v| v.silent_secs = Some(301)), (HealthLevel::Degraded, vec![Finding::Stale]));
        let (level, findings) = examined(|v| v.silent_secs = Some(1_000_000));
        assert_eq!((level, findings), (HealthLevel::Degraded, vec![Finding::Stale, Finding::TaskStuck]));
    }

    #[test]
    fn any_proof_of_death_is_critical_at_once() {
        assert_eq!(examined(|v| v.process = Liveness::Gone).0, HealthLevel::Critical);
        assert_eq!(examined(|v| v.session = Liveness::Gone).0, HealthLevel::Critical);
        // The shell is still running; the agent in it is not.
        assert_eq!(examined(|v| v.agent = Liveness::Gone), (HealthLevel::Critical, vec![Finding::AgentGone]));
        assert_eq!(examined(|v| v.agent = Liveness::Unknown).0, HealthLevel::Healthy);
    }

    #[test]
    fn a_death_that_recovery_did_not_mend_is_failed() {
        let (level, findings) = examined(|v| (v.process, v.failed_recoveries) = (Liveness::Gone, 3));
        assert_eq!(level, HealthLevel::Failed);
        assert!(findings.contains(&Finding::RecoveryExhausted));
    }

    #[test]
    fn whoever_was_stopped_or_parked_has_not_crashed() {
        for phase in [WorkerPhase::Stopped, WorkerPhase::Parked] {
            let seen =
                examined(|v| (v.phase, v.process, v.session) = (phase, Liveness::Gone, Liveness::Gone));
            assert_eq!(seen, (HealthLevel::Healthy, vec![]));
        }
    }

    #[test]
    fn a_living_worker_is_as_healthy_as_its_file_says() {
        for status in WorkerStatus::ALL {
            let (level, findings) = examined(|v| v.says = Some(status));
            let expected = if status.is_healthy() { HealthLevel::Healthy } else { HealthLevel::Degraded };
            assert_eq!((level, findings.is_empty()), (expected, status.is_healthy()), "{status}");
        }
        let (_, findings) = examined(|v| v.says = Some(WorkerStatus::Error));
        assert_eq!(findings, [Finding::SaysError]);
    }

    #[test]
    fn what_the_pane_shows_is_reported() {
        let seen = examined(|v| v.screen = Screen::WaitsForPermission);
        assert_eq!(seen, (HealthLevel::Degraded, vec![Finding::WaitsForPermission]));
    }
}
