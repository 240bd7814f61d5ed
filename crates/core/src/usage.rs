//! What was used, by whom, of which model, on which day.

use forge_store::{Spender, Tx};
use forge_types::{Day, Millis, ModelUsage, Run, UsageKey, UsageQuery, UsageReport};

use crate::site::Site;
use crate::{Error, Forge, Result};

impl Forge {
    /// Without keys use is told by model.
    pub async fn usage(&self, mut query: UsageQuery) -> Result<UsageReport> {
        if let (Some(from), Some(to)) = (query.from, query.to)
            && from > to
        {
            return Err(Error::invalid(format!(
                "from: {from} is after to, which is {to}; give the earlier day first"
            )));
        }
        if query.group_by.is_empty() {
            query.group_by.push(UsageKey::Model);
        }
        let (groups, total) = self.0.store.usage(&query).await?;
        Ok(UsageReport { groups, total, prices_as_of: self.0.prices.as_of().to_owned() })
    }

    /// Notes what a run used up to the moment `at`, in the place of what was noted before.
    pub(crate) async fn put_usage(
        &self,
        tx: &mut Tx,
        run: &Run,
        site: &Site,
        at: Millis,
        usage: &ModelUsage,
    ) -> Result<()> {
        let Some(profile) = run.action.profile().filter(|_| !usage.is_empty()) else { return Ok(()) };
        let spender = Spender { run, project: site.project.id, executor: profile.executor };
        tx.put_usage(spender, Day::of(at), &self.0.prices.settle(usage)).await?;
        Ok(())
    }
}
