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
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::error::Result;
use crate::row::{Cells, Read};
use crate::write::bind;
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

const EARLIER: &str = "SELECT model, SUM(input_tokens), SUM(output_tokens), SUM(cache_read_tokens), \
     SUM(cache_write_tokens), SUM(reasoning_tokens), SUM(cost_microusd) FROM usage \
     WHERE run_id = $1 AND day < $2 GROUP BY model";
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
    ", ",
    spent!("project_id = $2"),
    ", ",
    spent!("day = $3"),
    ", ",
    spent!("day BETWEEN $4 AND $5")
);
const TOKENS: &str = "SELECT SUM(input_tokens), SUM(output_tokens), SUM(cache_write_tokens), SUM(cache_read_tokens) \
     FROM spending WHERE attempt_id = $1";
/// The sums of a set of rows, in the order of [`sum`].
const SUMS: &str = "COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0), \
     COALESCE(SUM(cache_read_tokens), 0), COALESCE(SUM(cache_write_tokens), 0), COALESCE(SUM(reasoning_tokens), 0), \
     SUM(cost_microusd), COALESCE(SUM(CASE WHEN cost_microusd IS NULL THEN input_tokens + output_tokens \
     + cache_read_tokens + cache_write_tokens ELSE 0 END), 0), COUNT(DISTINCT session)";

/// The columns that make a group.
fn columns(key: UsageKey) -> &'static [&'static str] {
    match key {
        UsageKey::Project => &["project_id"],
        UsageKey::Executor => &["executor"],
        UsageKey::Model => &["model"],
        UsageKey::Day => &["day"],
        UsageKey::Task => &["(SELECT attempts.task_id FROM attempts WHERE attempts.id = picked.attempt_id)"],
        UsageKey::Worker => &["worker_id"],
        // Two workspaces may have beads of the same name.
        UsageKey::Bead => &["bead", "CASE WHEN bead IS NULL THEN NULL ELSE workspace END"],
    }
}

/// Every group in order of its keys, and the sum of all. One statement, so that they agree.
fn statement(query: &UsageQuery) -> QueryBuilder<Sqlite> {
    let mut sql = QueryBuilder::<Sqlite>::new("WITH picked AS (SELECT * FROM spending WHERE TRUE");
    pick(&mut sql, query);
    sql.push(") SELECT 1 AS is_total");
    for _ in UsageKey::ALL.into_iter().flat_map(columns) {
        sql.push(", NULL");
    }
    sql.push(", ").push(SUMS).push(" FROM picked UNION ALL SELECT * FROM (SELECT 0");
    let mut keys = Vec::new();
    for key in UsageKey::ALL {
        let grouped = query.group_by.contains(&key);
        for column in columns(key) {
            sql.push(", ").push(if grouped { column } else { "NULL" });
            keys.extend(grouped.then_some(*column));
        }
    }
    sql.push(", ").push(SUMS).push(" FROM picked GROUP BY ").push(keys.join(", "));
    sql.push(" ORDER BY ").push(keys.join(", ")).push(") AS grouped");
    sql
}

async fn sums(conn: &mut SqliteConnection, query: &UsageQuery) -> Result<(Vec<UsageGroup>, UsageSum)> {
    let mut sql = statement(query);
    let (mut groups, mut total) = (Vec::new(), UsageSum::default());
    for row in &sql.build().fetch_all(conn).await? {
        let mut cells = Cells::of(row);
        let is_total: bool = cells.take()?;
        let group = UsageGroup {
            project_id: cells.parse_opt()?,
            executor: cells.take()?,
            model: cells.take()?,
            day: cells.parse_opt()?,
            task_id: cells.parse_opt()?,
            worker_id: cells.parse_opt()?,
            bead: cells.take()?,
            workspace: cells.take()?,
            sum: sum(&mut cells)?,
        };
        match is_total {
            true => total = group.sum,
            false => groups.push(group),
        }
    }
    Ok((groups, total))
}

/// Narrows a statement to the subject of the query.
pub(crate) fn pick(sql: &mut QueryBuilder<Sqlite>, query: &UsageQuery) {
    if let Some(project) = query.project_id {
        sql.push(" AND project_id = ").push_bind(project.to_string());
    }
    if let Some(attempt) = query.attempt_id {
        sql.push(" AND attempt_id = ").push_bind(attempt.to_string());
    }
    if let Some(from) = query.from {
        sql.push(" AND day >= ").push_bind(from.to_string());
    }
    if let Some(to) = query.to {
        sql.push(" AND day <= ").push_bind(to.to_string());
    }
}

pub(crate) fn tokens(cells: &mut Cells<'_>) -> Read<Usage> {
    Ok(Usage {
        input_tokens: cells.take()?,
        output_tokens: cells.take()?,
        cache_read_tokens: cells.take()?,
        cache_write_tokens: cells.take()?,
        reasoning_tokens: cells.take()?,
        cost_microusd: cells.take()?,
    })
}

fn sum(cells: &mut Cells<'_>) -> Read<UsageSum> {
    Ok(UsageSum {
        input_tokens: cells.take()?,
        output_tokens: cells.take()?,
        cache_read_tokens: cells.take()?,
        cache_write_tokens: cells.take()?,
        reasoning_tokens: cells.take()?,
        cost_usd: cells.take::<Option<i64>>()?.map(MicroUsd),
        unpriced_tokens: cells.take()?,
        runs: cells.take()?,
    })
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
        let (attempt, project) = (attempt.map(|id| id.to_string()), project.map(|id| id.to_string()));
        let (first, last) = day.month();
        let query = bind!(SPENT, attempt, project, day.to_string(), first.to_string(), last.to_string());
        let row = query.fetch_one(&mut *self.reader().await?).await?;
        let mut cells = Cells::of(&row);
        let mut money = || -> Read<MicroUsd> { cells.take().map(MicroUsd) };
        Ok(Spent { attempt: money()?, project: money()?, day: money()?, month: money()? })
    }
}

impl Tx {
    /// Records what a run used so far, replacing the earlier record.
    pub async fn put_usage(&mut self, spender: Spender<'_>, day: Day, lines: &[UsageLine]) -> Result<()> {
        let run = spender.run.id;
        let mut earlier = self.used_before(run, day).await?;
        // A clock that was set back leaves later days; the total covers all of them.
        let sql = "DELETE FROM usage WHERE run_id = $1 AND day >= $2";
        bind!(sql, run.to_string(), day.to_string()).execute(self.conn()?).await?;
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
            bind!(sql, run.to_string(), model).execute(self.conn()?).await?;
        }
        match spender.run.owner.attempt() {
            // Its card shows what it cost.
            Some(attempt) => self.touch_task_of(attempt).await,
            None => Ok(()),
        }
    }

    /// What the runs of an attempt used together.
    pub async fn attempt_tokens(&mut self, attempt: AttemptId) -> Result<Tokens> {
        let row = bind!(TOKENS, attempt.to_string()).fetch_one(self.conn()?).await?;
        let mut cells = Cells::of(&row);
        Ok(Tokens {
            input_tokens: cells.take()?,
            output_tokens: cells.take()?,
            cache_creation_tokens: cells.take()?,
            cache_read_tokens: cells.take()?,
        })
    }

    async fn used_before(&mut self, run: RunId, day: Day) -> Result<HashMap<String, Usage>> {
        let rows = bind!(EARLIER, run.to_string(), day.to_string()).fetch_all(self.conn()?).await?;
        let read = |row| -> Read<(String, Usage)> {
            let mut cells = Cells::of(row);
            Ok((cells.take()?, tokens(&mut cells)?))
        };
        Ok(rows.iter().map(read).collect::<Read<_>>()?)
    }

    async fn insert_usage(&mut self, spender: Spender<'_>, day: Day, line: &UsageLine) -> Result<()> {
        let Spender { run, project, executor } = spender;
        bind!(
            "INSERT INTO usage (run_id, model, day, attempt_id, project_id, executor, input_tokens, output_tokens, \
             cache_read_tokens, cache_write_tokens, reasoning_tokens, cost_microusd, cost_source) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
            run.id.to_string(),
            &line.model,
            day.to_string(),
            run.owner.attempt().map(|id| id.to_string()),
            project.to_string(),
            executor.to_string(),
            line.usage.input_tokens,
            line.usage.output_tokens,
            line.usage.cache_read_tokens,
            line.usage.cache_write_tokens,
            line.usage.reasoning_tokens,
            line.usage.cost_microusd,
            line.source.map(CostSource::as_str),
        )
        .execute(self.conn()?)
        .await?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sqlx::{AssertSqlSafe, Row};

    #[tokio::test]
    async fn budgets_are_checked_by_indexes_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (mut conn, _) = crate::open::connect(&dir.path().join("db")).await.unwrap();
        let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {SPENT}"));
        let rows = sqlx::query(sql).fetch_all(&mut conn).await.unwrap();
        let plan: Vec<String> = rows.iter().map(|row| row.get("detail")).collect();
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
