//! What runs used, written as totals; and what runs and workers used, read as sums.
//!
//! Invariant: the rows of a run add up to the newest total that was recorded for it, however often it was recorded. The
//! parts of earlier days stay with them, so the part of a day is what was added on that day. Sums are of the view
//! `spending`, which includes the use of workers (see `calls`).

use std::collections::HashMap;

use forge_types::{
    AttemptId, CostSource, Day, Executor, MicroUsd, ProjectId, Run, RunId, Tokens, Usage, UsageGroup,
    UsageKey, UsageQuery, UsageSum,
};

use crate::entity::{Cells, entity, sql, written};
use crate::error::Result;
use crate::sql::{Conn, Query, Row, bind};
use crate::{Store, Tx};

/// The total use of one model by a run; `cost_microusd` is the cost that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageLine {
    pub model: String,
    pub usage: Usage,
    pub source: Option<CostSource>,
}

/// Whose use is recorded.
#[derive(Clone, Copy, Debug)]
pub struct Spender<'a> {
    pub run: &'a Run,
    pub project: ProjectId,
    pub executor: Executor,
}

/// What an attempt, a project, a day and the month of that day cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    pub attempt: MicroUsd,
    pub project: MicroUsd,
    pub day: MicroUsd,
    pub month: MicroUsd,
}

entity! {
    usage: Usage {
        set input_tokens, set output_tokens, set cache_read_tokens, set cache_write_tokens,
        set reasoning_tokens, set cost_microusd,
    }
}

entity! {
    spending: UsageSum {
        derived input_tokens = "COALESCE(SUM(input_tokens), 0)",
        derived output_tokens = "COALESCE(SUM(output_tokens), 0)",
        derived cache_read_tokens = "COALESCE(SUM(cache_read_tokens), 0)",
        derived cache_write_tokens = "COALESCE(SUM(cache_write_tokens), 0)",
        derived reasoning_tokens = "COALESCE(SUM(reasoning_tokens), 0)",
        derived cost_usd = "SUM(cost_microusd)",
        derived unpriced_tokens =
            "COALESCE(SUM(CASE WHEN cost_microusd IS NULL THEN input_tokens + output_tokens \
             + cache_read_tokens + cache_write_tokens ELSE 0 END), 0)",
        derived runs = "COUNT(DISTINCT session)",
    }
}

entity! {
    spending: UsageGroup {
        shown project_id, shown executor, shown model, shown day,
        shown task_id, shown worker_id, shown bead, shown workspace,
        part sum: UsageSum,
    }
}

/// What rows of `usage` or `calls` sum up to, without its cost.
macro_rules! token_sums {
    () => {
        "COALESCE(SUM(input_tokens), 0) AS input_tokens, COALESCE(SUM(output_tokens), 0) AS output_tokens, \
         COALESCE(SUM(cache_read_tokens), 0) AS cache_read_tokens, \
         COALESCE(SUM(cache_write_tokens), 0) AS cache_write_tokens, \
         COALESCE(SUM(reasoning_tokens), 0) AS reasoning_tokens"
    };
}
pub(crate) use token_sums;

const SUMS: &str = sql!(Text::list::<UsageSum>());
const INSERT: &str = sql!(
    Text::EMPTY
        .add("INSERT INTO usage (run_id, model, day, attempt_id, project_id, executor, cost_source, ")
        .names::<Usage>()
        .add(") VALUES ")
        .marks(7 + written(Usage::COLUMNS))
);
const EARLIER: &str = concat!(
    "SELECT model, ",
    token_sums!(),
    ", SUM(cost_microusd) AS cost_microusd FROM usage WHERE run_id = $1 AND day < $2 GROUP BY model"
);
/// What runs and workers spent where a column has a value.
macro_rules! spent {
    ($rows:literal) => {
        concat!(
            "(SELECT COALESCE(SUM(cost_microusd), 0) FROM usage WHERE ",
            $rows,
            ") + (SELECT COALESCE(SUM(cost_microusd), 0) FROM calls WHERE standing <> 'superseded' AND ",
            $rows,
            ")"
        )
    };
}
const SPENT: &str = concat!(
    "SELECT ",
    spent!("attempt_id = $1"),
    " AS attempt, ",
    spent!("project_id = $2"),
    " AS project, ",
    spent!("day = $3"),
    " AS day, ",
    spent!("day BETWEEN $4 AND $5"),
    " AS month"
);
const TOKENS: &str = "SELECT SUM(input_tokens) AS input_tokens, SUM(output_tokens) AS output_tokens, \
     SUM(cache_write_tokens) AS cache_creation_tokens, SUM(cache_read_tokens) AS cache_read_tokens \
     FROM spending WHERE attempt_id = $1";

/// The columns that make a group, and what they are called.
fn columns(key: UsageKey) -> &'static [(&'static str, &'static str)] {
    match key {
        UsageKey::Project => &[("project_id", "project_id")],
        UsageKey::Executor => &[("executor", "executor")],
        UsageKey::Model => &[("model", "model")],
        UsageKey::Day => &[("day", "day")],
        UsageKey::Task => {
            &[("task_id", "(SELECT attempts.task_id FROM attempts WHERE attempts.id = picked.attempt_id)")]
        }
        UsageKey::Worker => &[("worker_id", "worker_id")],
        // Two workspaces may have beads of the same name.
        UsageKey::Bead => {
            &[("bead", "bead"), ("workspace", "CASE WHEN bead IS NULL THEN NULL ELSE workspace END")]
        }
    }
}

/// Every group in order of its keys, and the sum of all. One statement, so that they agree.
fn statement(query: &UsageQuery) -> Query {
    let mut sql = Query::new("WITH picked AS (SELECT * FROM spending WHERE TRUE");
    pick(&mut sql, query);
    sql.push(") SELECT 1 AS is_total");
    for (name, _) in UsageKey::ALL.into_iter().flat_map(columns) {
        sql.push(", NULL AS ").push(name);
    }
    sql.push(", ").push(SUMS).push(" FROM picked UNION ALL SELECT * FROM (SELECT 0");
    let mut keys = Vec::new();
    for key in UsageKey::ALL {
        let grouped = query.group_by.contains(&key);
        for (_, column) in columns(key) {
            sql.push(", ").push(if grouped { column } else { "NULL" });
            keys.extend(grouped.then_some(*column));
        }
    }
    sql.push(", ").push(SUMS).push(" FROM picked GROUP BY ").push(&keys.join(", "));
    sql.push(" ORDER BY ").push(&keys.join(", ")).push(") AS grouped");
    sql
}

async fn sums(conn: &mut Conn, query: &UsageQuery) -> Result<(Vec<UsageGroup>, UsageSum)> {
    let read = |row: &Row<'_>| Ok((row.get("is_total")?, UsageGroup::read(row)?));
    let (mut groups, mut total) = (Vec::new(), UsageSum::default());
    for (is_total, group) in statement(query).all(conn, read).await? {
        match is_total {
            true => total = group.sum,
            false => groups.push(group),
        }
    }
    Ok((groups, total))
}

/// Narrows a statement to the subject of the query.
pub(crate) fn pick(sql: &mut Query, query: &UsageQuery) {
    if let Some(project) = query.project_id {
        sql.push(" AND project_id = ").push_bind(&project);
    }
    if let Some(attempt) = query.attempt_id {
        sql.push(" AND attempt_id = ").push_bind(&attempt);
    }
    if let Some(from) = query.from {
        sql.push(" AND day >= ").push_bind(&from);
    }
    if let Some(to) = query.to {
        sql.push(" AND day <= ").push_bind(&to);
    }
}

impl Store {
    /// Use by the keys of the query, of which there is at least one, and the sum of all of it.
    pub async fn usage(&self, query: &UsageQuery) -> Result<(Vec<UsageGroup>, UsageSum)> {
        sums(&mut *self.reader().await?, query).await
    }

    /// Without an attempt or a project their part is zero.
    pub async fn spent(
        &self,
        attempt: Option<AttemptId>,
        project: Option<ProjectId>,
        day: Day,
    ) -> Result<Spent> {
        let (first, last) = day.month();
        let read = |row: &Row<'_>| {
            let (attempt, project) = (row.get("attempt")?, row.get("project")?);
            Ok(Spent { attempt, project, day: row.get("day")?, month: row.get("month")? })
        };
        let query = bind!(SPENT, attempt, project, day, first, last);
        Ok(query.one(&mut *self.reader().await?, read).await?.unwrap_or_default())
    }
}

impl Tx {
    /// Records what a run used so far, replacing the earlier record.
    pub async fn put_usage(&mut self, spender: Spender<'_>, day: Day, lines: &[UsageLine]) -> Result<()> {
        let run = spender.run.id;
        let mut earlier = self.used_before(run, day).await?;
        // A clock that was set back leaves later days; the total covers all of them.
        let sql = "DELETE FROM usage WHERE run_id = $1 AND day >= $2";
        bind!(sql, run, day).run(self.conn()?).await?;
        for line in lines {
            let before = earlier.remove(&line.model).unwrap_or_default();
            let added = line.usage.since(before);
            if !added.is_zero() || before.is_zero() {
                self.insert_usage(spender, day, &UsageLine { usage: added, ..line.clone() }).await?;
            }
        }
        for model in earlier.keys() {
            // The agent now reports it under another name.
            let sql = "DELETE FROM usage WHERE run_id = $1 AND model = $2";
            bind!(sql, run, model).run(self.conn()?).await?;
        }
        match spender.run.owner.attempt() {
            // Its card shows what it cost.
            Some(attempt) => self.touch_task_of(attempt).await,
            None => Ok(()),
        }
    }

    /// What the runs of an attempt used together.
    pub async fn attempt_tokens(&mut self, attempt: AttemptId) -> Result<Tokens> {
        Ok(bind!(TOKENS, attempt).find(self.conn()?).await?.unwrap_or_default())
    }

    async fn used_before(&mut self, run: RunId, day: Day) -> Result<HashMap<String, Usage>> {
        let read = |row: &Row<'_>| Ok((row.get("model")?, Usage::read(row)?));
        Ok(bind!(EARLIER, run, day).all(self.conn()?, read).await?.into_iter().collect())
    }

    async fn insert_usage(&mut self, spender: Spender<'_>, day: Day, line: &UsageLine) -> Result<()> {
        let Spender { run, project, executor } = spender;
        let attempt = run.owner.attempt();
        let mut query = bind!(INSERT, run.id, line.model, day, attempt, project, executor, line.source);
        line.usage.write(&mut query)?;
        query.run(self.conn()?).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn budgets_are_checked_by_indexes_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (mut conn, _) = crate::open::connect(&dir.path().join("db")).await.unwrap();
        let query = Query::new(format!("EXPLAIN QUERY PLAN {SPENT}"));
        let plan: Vec<String> = query.all(&mut conn, |row| row.get("detail")).await.unwrap();
        for index in [
            "usage_of_attempt",
            "usage_of_project",
            "usage_by_day",
            "calls_of_attempt",
            "calls_of_project",
            "calls_by_day",
        ] {
            assert!(
                plan.iter().any(|step| step.contains("COVERING INDEX") && step.contains(index)),
                "{plan:?}"
            );
        }
    }
}
