//! Warnings while the budget of a day or a month is being used up.
//!
//! Invariant: a warning is raised once, becomes urgent once, and is resolved when it no longer holds: a new day or month has
//! begun, or the limit was raised or removed.

use forge_types::{AlertKind, Budget, Day, MicroUsd, Millis, Settings, Severity};

use crate::{Forge, Result};

impl Forge {
    /// Raises, worsens and resolves the warnings.
    pub(crate) async fn watch_budgets(&self) -> Result<()> {
        let settings = self.settings();
        let spent = self.0.store.spent(None, None, Day::of(Millis::now())).await?;
        self.warn_of("day", settings.max_cost_usd_per_day, spent.day).await?;
        self.warn_of("month", settings.max_cost_usd_per_month, spent.month).await
    }

    async fn warn_of(&self, subject: &str, limit: Option<Budget>, spent: MicroUsd) -> Result<()> {
        let open = self.0.store.open_alert(AlertKind::Budget, subject).await?.map(|alert| alert.severity);
        let due = limit.and_then(|limit| severity(&self.settings(), limit, spent));
        if open == due {
            return Ok(());
        }
        let now = Millis::now();
        let mut tx = self.0.store.begin().await?;
        if open > due {
            // An open alert never becomes milder.
            tx.resolve_alert(AlertKind::Budget, subject, now).await?;
        }
        if let (Some(severity), Some(limit)) = (due, limit) {
            tracing::warn!(subject, %spent, limit = %limit.0, "a budget is being used up");
            let words = message(subject, limit, spent);
            crate::notify::alerts::raise_as(&mut tx, AlertKind::Budget, severity, subject, words).await?;
        }
        tx.commit().await?;
        Ok(())
    }
}

fn percent(Budget(limit): Budget, spent: MicroUsd) -> i64 {
    spent.0.saturating_mul(100) / limit.0.max(1)
}

fn severity(settings: &Settings, limit: Budget, spent: MicroUsd) -> Option<Severity> {
    let percent = percent(limit, spent);
    if percent >= settings.budget_critical_percent.into() {
        return Some(Severity::Critical);
    }
    (percent >= settings.budget_warning_percent.into()).then_some(Severity::Warning)
}

fn message(subject: &str, limit: Budget, spent: MicroUsd) -> String {
    let percent = percent(limit, spent);
    format!(
        "{percent} % of the {} that this {subject} (UTC) may cost are spent ({spent}); no agent is started when all of \
         it is, unless max_cost_usd_per_{subject} is raised",
        limit.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_begins_at_its_percentage_and_becomes_urgent_at_the_next() {
        let settings = Settings::default();
        let at = |cents: i64| severity(&settings, Budget(MicroUsd(10_000_000)), MicroUsd(cents * 10_000));
        assert_eq!([at(0), at(699)], [None, None]);
        assert_eq!([at(700), at(899)], [Some(Severity::Warning); 2]);
        assert_eq!([at(900), at(5000)], [Some(Severity::Critical); 2]);
    }

    #[test]
    fn a_warning_names_the_setting() {
        let words = message("month", Budget(MicroUsd(10_000_000)), MicroUsd(7_120_000));
        assert!(
            words.starts_with("71 % of the $10.00") && words.contains("max_cost_usd_per_month"),
            "{words}"
        );
    }
}
