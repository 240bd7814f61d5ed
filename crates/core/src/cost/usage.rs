//! What was used, by whom, of which model, on which day: by runs and by workers.

use forge_store::{Spender, Tx};
use forge_types::{
    Day, MicroUsd, Millis, ModelPerformance, ModelUsage, MonthSpending, ProjectId, Run, UsageKey, UsageQuery,
    UsageReport, WorkerEfficiency,
};

use crate::{Error, Forge, Result};

impl Forge {
    /// Without keys, use is grouped by model.
    pub async fn usage(&self, mut query: UsageQuery) -> Result<UsageReport> {
        check_days(&query)?;
        if query.group_by.is_empty() {
            query.group_by.push(UsageKey::Model);
        }
        let (groups, total) = self.0.store.usage(&query).await?;
        let (prices_as_of, month) = (self.0.costs.prices.as_of().to_owned(), self.month_spending().await?);
        Ok(UsageReport { groups, total, prices_as_of, month })
    }

    /// What workers got done for their money, the dearest first.
    pub async fn worker_efficiency(&self, query: UsageQuery) -> Result<Vec<WorkerEfficiency>> {
        check_days(&query)?;
        Ok(self.0.store.worker_efficiency(&query).await?)
    }

    /// What models cost and how they serve, the dearest first.
    pub async fn model_performance(&self, query: UsageQuery) -> Result<Vec<ModelPerformance>> {
        check_days(&query)?;
        Ok(self.0.store.model_performance(&query).await?)
    }

    async fn month_spending(&self) -> Result<MonthSpending> {
        let today = Day::of(Millis::now());
        let spent = self.0.store.spent(None, None, today).await?.month;
        let (first, last) = today.month();
        let (days_passed, days) = (today.of_month(), last.of_month());
        Ok(MonthSpending {
            // Without the day.
            month: first.to_string().chars().take(7).collect(),
            spent_usd: spent,
            projected_usd: MicroUsd(spent.0.saturating_mul(days.into()) / i64::from(days_passed)),
            limit_usd: self.settings().max_cost_usd_per_month,
            days_passed,
            days,
        })
    }

    /// Notes what a run used up to the moment `at`, in the place of what was noted before.
    pub(crate) async fn put_usage(
        &self,
        tx: &mut Tx,
        run: &Run,
        project: ProjectId,
        at: Millis,
        usage: &ModelUsage,
    ) -> Result<()> {
        let Some(profile) = run.action.profile().filter(|_| !usage.is_empty()) else { return Ok(()) };
        let spender = Spender { run, project, executor: profile.executor };
        tx.put_usage(spender, Day::of(at), &self.0.costs.prices.settle(usage)).await?;
        Ok(())
    }
}

fn check_days(query: &UsageQuery) -> Result<()> {
    match (query.from, query.to) {
        (Some(from), Some(to)) if from > to => {
            Err(Error::invalid(format!("{from} is after to, which is {to}"))
                .hint("give the earlier day first")
                .of_field("from"))
        }
        _ => Ok(()),
    }
}
