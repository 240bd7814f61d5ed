//! Budgets: the most that an attempt, a project, a day and a month may cost.
//!
//! Invariant: no agent is started while a budget that concerns it is used up. Limits are read again for every check, so a
//! limit that was raised counts at once. Use that has no price counts as nothing and is reported (see `meter`).

mod warning;

use forge_store::Spent;
use forge_types::{Attempt, AttemptId, Budget, Day, ErrorCode, MicroUsd, Millis, ProjectId, SetBudget};

use crate::{Error, Forge, Result};

/// The budgets that concern a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    attempt: Option<Budget>,
    project: Option<Budget>,
    day: Option<Budget>,
    month: Option<Budget>,
}

/// What a budget is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    Attempt,
    Project,
    Day,
    Month,
}

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    scope: Scope,
    limit: MicroUsd,
    spent: MicroUsd,
}

impl Limits {
    pub(crate) fn is_none(&self) -> bool {
        *self == Limits::default()
    }

    /// The first budget that is used up.
    pub(crate) fn reached(&self, spent: &Spent) -> Option<Reached> {
        let budgets = [
            (Scope::Attempt, self.attempt, spent.attempt),
            (Scope::Project, self.project, spent.project),
            (Scope::Day, self.day, spent.day),
            (Scope::Month, self.month, spent.month),
        ];
        budgets.into_iter().find_map(|(scope, limit, spent)| {
            let Budget(limit) = limit?;
            (spent >= limit).then_some(Reached { scope, limit, spent })
        })
    }
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let whose = match self.scope {
            Scope::Attempt => "this attempt",
            Scope::Project => "this project",
            Scope::Day => "this day (UTC)",
            Scope::Month => "this month (UTC)",
        };
        write!(f, "the budget of {} of {whose} is reached ({} spent)", self.limit, self.spent)
    }
}

impl Reached {
    /// The refusal of a run, with what to do.
    fn refuse(&self, attempt: Option<AttemptId>, project: ProjectId) -> Error {
        let (field, remedy) = match (self.scope, attempt) {
            (Scope::Attempt, Some(id)) => {
                ("max_cost_usd", format!("raise or remove it with PUT /api/task-attempts/{id}/budget"))
            }
            (Scope::Attempt | Scope::Project, _) => {
                ("max_cost_usd", format!("raise or remove it with PUT /api/projects/{project}"))
            }
            (Scope::Day | Scope::Month, _) => {
                let (field, remedy) = self.of_all();
                (field, remedy.to_owned())
            }
        };
        let refused = Error::conflict(format!("{self}, so no agent was started")).of_field(field);
        refused.code(ErrorCode::BudgetReached).hint(remedy)
    }

    /// The setting of a budget that concerns everybody, and what to do.
    fn of_all(&self) -> (&'static str, &'static str) {
        match self.scope {
            Scope::Month => (
                "max_cost_usd_per_month",
                "raise or remove it with PUT /api/config, or wait for the next month",
            ),
            _ => ("max_cost_usd_per_day", "raise or remove it with PUT /api/config, or wait for tomorrow"),
        }
    }
}

impl Forge {
    pub(crate) async fn limits(&self, attempt: Option<AttemptId>, project: ProjectId) -> Result<Limits> {
        let store = &self.0.store;
        let attempt = match attempt {
            Some(id) => store.attempt(id).await?.and_then(|attempt| attempt.max_cost_usd),
            None => None,
        };
        let project = store.project(project).await?.and_then(|project| project.max_cost_usd);
        Ok(Limits { attempt, project, ..self.limits_of_all() })
    }

    /// The budgets that concern everybody.
    fn limits_of_all(&self) -> Limits {
        let settings = self.settings();
        let (day, month) = (settings.max_cost_usd_per_day, settings.max_cost_usd_per_month);
        Limits { day, month, ..Limits::default() }
    }

    /// Refuses a worker, or a bead for one, while the day or the month has no money left.
    pub(crate) async fn check_fleet_budget(&self) -> Result<()> {
        let limits = self.limits_of_all();
        if limits.is_none() || !self.settings().fleet.stop_at_budget {
            return Ok(());
        }
        let spent = self.0.store.spent(None, None, Day::of(Millis::now())).await?;
        let Some(reached) = limits.reached(&spent) else { return Ok(()) };
        let (field, remedy) = reached.of_all();
        let refused = Error::conflict(format!("{reached}, so no worker was started")).of_field(field);
        let hint = format!("{remedy}, or let workers go on with fleet.stop_at_budget");
        Err(refused.code(ErrorCode::BudgetReached).hint(hint))
    }

    /// Refuses an agent for which no money is left.
    pub(crate) async fn check_budget(&self, attempt: Option<AttemptId>, project: ProjectId) -> Result<()> {
        let limits = self.limits(attempt, project).await?;
        if limits.is_none() {
            return Ok(());
        }
        let spent = self.0.store.spent(attempt, Some(project), Day::of(Millis::now())).await?;
        match limits.reached(&spent) {
            Some(reached) => Err(reached.refuse(attempt, project)),
            None => Ok(()),
        }
    }

    /// Changes or removes the limit of an attempt.
    pub async fn set_budget(&self, id: AttemptId, request: SetBudget) -> Result<Attempt> {
        let mut tx = self.0.store.begin().await?;
        let found = tx.attempt(id).await?;
        let mut attempt = found.ok_or_else(|| Error::no_attempt(id))?;
        attempt.max_cost_usd = request.max_cost_usd;
        attempt.updated_at = Millis::now();
        tx.update_attempt(&attempt).await?;
        tx.commit().await?;
        Ok(attempt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(usd: i64) -> MicroUsd {
        MicroUsd(usd * 1_000_000)
    }

    #[test]
    fn a_budget_is_reached_when_all_of_it_is_spent() {
        let limits = Limits { attempt: Some(Budget(dollars(5))), ..Limits::default() };
        let spent =
            |attempt| Spent { attempt, project: dollars(100), day: dollars(100), month: dollars(100) };
        assert_eq!(limits.reached(&spent(MicroUsd(4_999_999))), None);
        assert!(limits.reached(&spent(dollars(5))).is_some());
        let reached = limits.reached(&spent(MicroUsd(5_030_000))).unwrap();
        assert_eq!(reached.to_string(), "the budget of $5.00 of this attempt is reached ($5.03 spent)");
        assert!(Limits::default().is_none() && !limits.is_none());
    }

    #[test]
    fn a_refusal_names_the_setting_and_says_what_to_do() {
        let (attempt, project) = (AttemptId::random(), ProjectId::random());
        let budget = Some(Budget(dollars(1)));
        let spent = Spent { attempt: dollars(1), project: dollars(1), day: dollars(1), month: dollars(1) };
        for (limits, words) in [
            (Limits { attempt: budget, ..Limits::default() }, format!("/api/task-attempts/{attempt}/budget")),
            (Limits { project: budget, ..Limits::default() }, format!("/api/projects/{project}")),
            (Limits { day: budget, ..Limits::default() }, "max_cost_usd_per_day".to_owned()),
            (Limits { month: budget, ..Limits::default() }, "max_cost_usd_per_month".to_owned()),
        ] {
            let error = limits.reached(&spent).unwrap().refuse(Some(attempt), project);
            assert_eq!(error.kind(), crate::Kind::Conflict);
            assert!(error.to_string().contains(&words), "{error}");
        }
    }
}
