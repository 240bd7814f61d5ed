//! Decides whether and when a dead worker is restarted.
//!
//! Invariants: pure; nothing is started if the policy forbids it; several crashes in a short time end it; neither a
//! stop nor a provider's limit uses up an attempt.

pub use forge_types::{RecoveryPolicy, RecoveryRules};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Do nothing.
    Leave,
    /// Report it; a person decides.
    Notify,
    /// Not yet.
    WaitUntil {
        at_ms: i64,
    },
    Restart {
        attempt: u32,
    },
    /// It crashed too often.
    GiveUp {
        crashes: u32,
    },
}

/// `restarts_ms`: when the worker was started again, oldest first. `died_at_ms`: when its death was seen.
pub fn decide(
    rules: &RecoveryRules,
    restarts_ms: &[i64],
    died_at_ms: i64,
    now_ms: i64,
    restarting: usize,
) -> Step {
    match rules.dead_worker_policy {
        RecoveryPolicy::Disabled => return Step::Leave,
        RecoveryPolicy::Notify => return Step::Notify,
        RecoveryPolicy::Auto => {}
    }
    let window_ms = millis(rules.window_secs);
    let recent = restarts_ms.iter().filter(|at| died_at_ms - **at <= window_ms).count();
    let recent = u32::try_from(recent).unwrap_or(u32::MAX);
    if recent >= rules.max_restart_attempts {
        return Step::GiveUp { crashes: recent.saturating_add(1) };
    }
    let pause = rules.pause_secs.saturating_mul(1 << recent.min(16)).min(rules.max_pause_secs);
    let at_ms = died_at_ms.saturating_add(millis(pause));
    match at_ms > now_ms || restarting >= rules.at_once {
        true => Step::WaitUntil { at_ms: at_ms.max(now_ms) },
        false => Step::Restart { attempt: recent + 1 },
    }
}

/// What to do about a worker that is alive but makes no progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    Leave,
    /// Report it; a person decides.
    Notify,
    /// As a person would with Ctrl-C.
    Interrupt,
    Restart,
}

pub fn remedy_memory(rules: &RecoveryRules, used_mb: u64) -> Remedy {
    match (rules.memory_kill_mb, rules.memory_policy) {
        (Some(limit), RecoveryPolicy::Notify) if used_mb > limit => Remedy::Notify,
        (Some(limit), RecoveryPolicy::Auto) if used_mb > limit => Remedy::Restart,
        _ => Remedy::Leave,
    }
}

/// `silent_secs`: over its task, where it has one. `interrupted_secs`: since it was interrupted for that.
pub fn remedy_stuck(
    rules: &RecoveryRules,
    silent_secs: Option<u64>,
    interrupted_secs: Option<u64>,
) -> Remedy {
    let limit = rules.stuck_after_mins.saturating_mul(60);
    if silent_secs.is_none_or(|silent| silent < limit) {
        return Remedy::Leave;
    }
    match (rules.stuck_task_policy, interrupted_secs) {
        (RecoveryPolicy::Disabled, _) => Remedy::Leave,
        (RecoveryPolicy::Notify, _) => Remedy::Notify,
        (RecoveryPolicy::Auto, None) => Remedy::Interrupt,
        // It gets the first pause to recover.
        (RecoveryPolicy::Auto, Some(since)) if since < rules.pause_secs => Remedy::Leave,
        (RecoveryPolicy::Auto, Some(_)) => Remedy::Restart,
    }
}

fn millis(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auto() -> RecoveryRules {
        RecoveryRules { dead_worker_policy: RecoveryPolicy::Auto, ..RecoveryRules::default() }
    }

    #[test]
    fn a_silent_worker_is_interrupted_before_it_is_restarted() {
        let with = |policy| RecoveryRules { stuck_task_policy: policy, ..RecoveryRules::default() };
        let auto = with(RecoveryPolicy::Auto);
        assert_eq!(remedy_stuck(&auto, Some(1799), None), Remedy::Leave);
        assert_eq!(remedy_stuck(&auto, None, None), Remedy::Leave, "who has no task may be silent");
        assert_eq!(remedy_stuck(&auto, Some(1800), None), Remedy::Interrupt);
        assert_eq!(remedy_stuck(&auto, Some(1800), Some(4)), Remedy::Leave);
        assert_eq!(remedy_stuck(&auto, Some(1800), Some(5)), Remedy::Restart);
        assert_eq!(remedy_stuck(&with(RecoveryPolicy::Notify), Some(1800), None), Remedy::Notify);
        assert_eq!(remedy_stuck(&with(RecoveryPolicy::Disabled), Some(9999), None), Remedy::Leave);
    }

    #[test]
    fn memory_restarts_nobody_unless_a_limit_and_the_policy_say_so() {
        let with = |limit, policy| RecoveryRules {
            memory_kill_mb: limit,
            memory_policy: policy,
            ..RecoveryRules::default()
        };
        assert_eq!(remedy_memory(&with(None, RecoveryPolicy::Auto), 1 << 20), Remedy::Leave);
        assert_eq!(remedy_memory(&with(Some(8192), RecoveryPolicy::Auto), 8192), Remedy::Leave);
        assert_eq!(remedy_memory(&with(Some(8192), RecoveryPolicy::Auto), 8193), Remedy::Restart);
        assert_eq!(remedy_memory(&with(Some(8192), RecoveryPolicy::Notify), 8193), Remedy::Notify);
        assert_eq!(remedy_memory(&with(Some(8192), RecoveryPolicy::Disabled), 8193), Remedy::Leave);
    }

    #[test]
    fn nothing_is_started_unless_that_is_wished() {
        assert_eq!(decide(&RecoveryRules::default(), &[], 0, 60_000, 0), Step::Notify);
        let off = RecoveryRules { dead_worker_policy: RecoveryPolicy::Disabled, ..auto() };
        assert_eq!(decide(&off, &[], 0, 60_000, 0), Step::Leave);
    }

    #[test]
    fn restarts_wait_longer_each_time_and_end() {
        assert_eq!(decide(&auto(), &[], 0, 4_999, 0), Step::WaitUntil { at_ms: 5_000 });
        assert_eq!(decide(&auto(), &[], 0, 5_000, 0), Step::Restart { attempt: 1 });
        assert_eq!(decide(&auto(), &[5_000], 10_000, 10_000, 0), Step::WaitUntil { at_ms: 20_000 });
        assert_eq!(decide(&auto(), &[5_000, 20_000], 30_000, 50_000, 0), Step::Restart { attempt: 3 });
        let thrice = [5_000, 20_000, 50_000];
        assert_eq!(decide(&auto(), &thrice, 60_000, 100_000, 0), Step::GiveUp { crashes: 4 });
    }

    #[test]
    fn a_worker_that_lived_long_begins_anew() {
        let old = [0, 1_000, 2_000];
        assert_eq!(decide(&auto(), &old, 3_600_000, 3_700_000, 0), Step::Restart { attempt: 1 });
    }

    #[test]
    fn only_so_many_are_started_at_once() {
        assert_eq!(decide(&auto(), &[], 0, 60_000, 2), Step::WaitUntil { at_ms: 60_000 });
    }
}
