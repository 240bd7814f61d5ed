//! What workers used, call by call, and how far their logs were read.
//!
//! Invariants: a call is one row, whoever reads its line and however often; a call that is part of a sum does not count
//! beside it; calls and the position after their lines are written together.

use std::path::PathBuf;

use forge_types::{
    AttemptId, Day, Executor, Lease, MicroUsd, Millis, ModelPerformance, ProjectId, Usage, UsageQuery,
    WorkerEfficiency, WorkerId,
};

use crate::entity::{Cells, entity, select, sql, written};
use crate::error::Result;
use crate::sql::{Query, Row, bind};
use crate::usage::{pick, token_sums};
use crate::{Store, Tx, UsageLine};

/// Where a call was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallSource {
    /// The worker's log.
    Log,
    /// The agent program's own record of a conversation.
    Transcript,
}

impl CallSource {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            CallSource::Log => "log",
            CallSource::Transcript => "transcript",
        }
    }
}

/// For what and whom a worker worked when it made a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub worker: WorkerId,
    pub workspace: PathBuf,
    pub bead: Option<String>,
    /// The name under which it held the bead.
    pub actor: Option<String>,
    pub attempt: Option<AttemptId>,
    pub project: Option<ProjectId>,
}

/// A call with its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRow {
    pub key: String,
    pub session: String,
    pub source: CallSource,
    pub caller: Caller,
    pub executor: Option<Executor>,
    pub at: Millis,
    pub line: UsageLine,
    pub latency_ms: Option<i64>,
}

/// A file that was read, and up to which position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPlace {
    pub device: u64,
    pub inode: u64,
    pub worker: WorkerId,
    pub path: PathBuf,
    /// The state of its reader.
    pub body: String,
}

entity! {
    log_offsets: LogPlace { key device, key inode, set worker = "worker_id", set path, set body }
}

const INSERT: &str = sql!(
    Text::EMPTY
        .add("INSERT INTO calls (key, standing, session, source, worker_id, workspace, bead, actor, attempt_id, ")
        .add("project_id, executor, model, day, at_ms, call_count, cost_source, latency_ms, ")
        .names::<Usage>()
        .add(") VALUES ")
        .marks(17 + written(Usage::COLUMNS))
        .add(" ON CONFLICT (key) DO UPDATE SET model = excluded.model, cost_source = excluded.cost_source, ")
        .excluded::<Usage>()
        .add(" WHERE calls.standing = 'open' AND excluded.standing = 'open'")
);
const SESSION: &str = concat!(
    "SELECT ",
    token_sums!(),
    ", NULL AS cost_microusd FROM calls WHERE session = $1 AND standing <> 'superseded'"
);
const TOKENS: &str = "input_tokens + output_tokens + cache_read_tokens + cache_write_tokens";

fn per(amount: f64, count: i64) -> f64 {
    if count == 0 { 0.0 } else { amount / count as f64 }
}

impl Store {
    /// The files of a worker that were read.
    pub async fn log_places(&self, worker: &WorkerId) -> Result<Vec<LogPlace>> {
        let sql = select!(LogPlace, "FROM log_offsets WHERE worker_id = $1");
        bind!(sql, worker).list(&mut *self.reader().await?).await
    }

    /// The worker whose file it is, if it was read.
    pub async fn log_owner(&self, device: u64, inode: u64) -> Result<Option<WorkerId>> {
        let sql = "SELECT worker_id FROM log_offsets WHERE device = $1 AND inode = $2";
        bind!(sql, device, inode).one(&mut *self.reader().await?, |row| row.get("worker_id")).await
    }

    /// Whether the use of a conversation is known from elsewhere: from a run, or from a worker's log.
    pub async fn is_counted_elsewhere(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE session_id = $1) \
             OR EXISTS (SELECT 1 FROM calls WHERE session = $1 AND source = 'log')";
        bind!(sql, session).value(&mut *self.reader().await?).await
    }

    /// What a worker used while it had a bead; nothing when no cost is known.
    pub async fn cost_of_lease(&self, lease: &Lease) -> Result<Option<MicroUsd>> {
        let sql = "SELECT SUM(cost_microusd) FROM calls WHERE workspace = $1 AND bead = $2 AND actor = $3 \
             AND standing <> 'superseded'";
        bind!(sql, lease.workspace, lease.bead, lease.actor).value(&mut *self.reader().await?).await
    }

    /// The most expensive first.
    pub async fn worker_efficiency(&self, query: &UsageQuery) -> Result<Vec<WorkerEfficiency>> {
        let mut sql = Query::new("SELECT worker_id, SUM(call_count) AS call_count, ");
        sql.push("COALESCE(SUM(cost_microusd), 0) AS cost, SUM(").push(TOKENS).push(") AS tokens, ");
        sql.push("MAX(at_ms) AS last_active ");
        sql.push("FROM spending WHERE worker_id IS NOT NULL");
        pick(&mut sql, query);
        sql.push(" GROUP BY worker_id ORDER BY cost DESC, worker_id");
        let workers = self.workers().await?;
        let read = |row: &Row<'_>| {
            let (worker_id, call_count): (WorkerId, i64) = (row.get("worker_id")?, row.get("call_count")?);
            let (cost, total_tokens): (MicroUsd, i64) = (row.get("cost")?, row.get("tokens")?);
            let last_active = row.get("last_active")?;
            let tier = workers.iter().find(|worker| worker.id == worker_id).map(|worker| worker.tier);
            Ok(WorkerEfficiency {
                worker_id,
                call_count,
                total_cost_usd: cost,
                total_tokens,
                avg_cost_per_call: per(cost.usd(), call_count),
                avg_tokens_per_call: per(total_tokens as f64, call_count),
                efficiency_score: (cost.0 > 0).then(|| total_tokens as f64 / cost.usd()),
                last_active,
                tier,
            })
        };
        sql.all(&mut *self.reader().await?, read).await
    }

    /// The most expensive first. Mean costs are of tokens whose cost is known.
    pub async fn model_performance(&self, query: &UsageQuery) -> Result<Vec<ModelPerformance>> {
        let mut sql = Query::new("SELECT model, COALESCE(SUM(call_count), 0) AS call_count, SUM(");
        sql.push(TOKENS).push(") AS tokens, COALESCE(SUM(cost_microusd), 0) AS cost, ");
        sql.push("SUM(CASE WHEN cost_microusd IS NULL THEN 0 ELSE ").push(TOKENS).push(" END) AS priced, ");
        sql.push("SUM(latency_ms) AS latency, ");
        sql.push("SUM(CASE WHEN latency_ms IS NULL THEN 0 ELSE call_count END) AS timed, ");
        sql.push("SUM(cache_read_tokens) AS cached, SUM(input_tokens) AS input FROM spending WHERE TRUE");
        pick(&mut sql, query);
        sql.push(" GROUP BY model ORDER BY cost DESC, model");
        let read = |row: &Row<'_>| {
            let (model, call_count) = (row.get("model")?, row.get("call_count")?);
            let (total_tokens, cost) = (row.get("tokens")?, row.get::<MicroUsd>("cost")?);
            let (priced, latency) = (row.get("priced")?, row.get::<Option<i64>>("latency")?);
            let (timed, cached, input) =
                (row.get("timed")?, row.get::<i64>("cached")?, row.get::<i64>("input")?);
            Ok(ModelPerformance {
                model,
                call_count,
                total_tokens,
                total_cost_usd: cost,
                avg_cost_per_1k_tokens: per(cost.usd() * 1000.0, priced),
                avg_latency_ms: latency.map(|ms| per(ms as f64, timed)),
                cache_hit_rate: (cached + input > 0).then(|| per(cached as f64, cached + input)),
            })
        };
        sql.all(&mut *self.reader().await?, read).await
    }
}

impl Tx {
    /// Records a call, replacing its earlier record, unless it is part of a sum.
    pub async fn note_call(&mut self, call: &CallRow) -> Result<()> {
        self.insert_call(call, "open", 1).await
    }

    /// Records the sum of a session's calls since its last sum, instead of them. A sum that exists already is skipped.
    pub async fn sum_calls(&mut self, sums: &[CallRow]) -> Result<()> {
        let Some(first) = sums.first() else { return Ok(()) };
        let known = bind!("SELECT EXISTS (SELECT 1 FROM calls WHERE key = $1)", first.key);
        if known.value(self.conn()?).await? {
            return Ok(());
        }
        let open = "SELECT model, COUNT(*) AS count FROM calls WHERE session = $1 AND standing = 'open' GROUP BY model";
        let read = |row: &Row<'_>| Ok((row.get("model")?, row.get("count")?));
        let counts: Vec<(String, i64)> = bind!(open, first.session).all(self.conn()?, read).await?;
        let sql = "UPDATE calls SET standing = 'superseded' WHERE session = $1 AND standing = 'open'";
        bind!(sql, first.session).run(self.conn()?).await?;
        for sum in sums {
            // A sum may name the size of the context with the model, `opus[1m]`, and calls do not.
            let name = sum.line.model.split('[').next().unwrap_or_default();
            let count = counts.iter().filter(|(model, _)| model.split('[').next() == Some(name));
            self.insert_call(sum, "final", count.map(|(_, count)| count).sum::<i64>().max(1)).await?;
        }
        Ok(())
    }

    /// What is recorded of a session, without its cost.
    pub async fn session_usage(&mut self, session: &str) -> Result<Usage> {
        Ok(bind!(SESSION, session).find(self.conn()?).await?.unwrap_or_default())
    }

    /// Records a part of a session's total.
    pub async fn add_call(&mut self, call: &CallRow) -> Result<()> {
        self.insert_call(call, "final", 1).await
    }

    pub async fn put_log_place(&mut self, place: &LogPlace) -> Result<()> {
        self.put(place).await
    }

    async fn insert_call(&mut self, call: &CallRow, standing: &str, count: i64) -> Result<()> {
        let CallRow { caller, line, .. } = call;
        let query =
            bind!(INSERT, call.key, standing, call.session, call.source, caller.worker, caller.workspace);
        let query = query.bind(&caller.bead).bind(&caller.actor).bind(&caller.attempt).bind(&caller.project);
        let query = query.bind(&call.executor).bind(&line.model).bind(&Day::of(call.at)).bind(&call.at);
        let mut query = query.bind(&count).bind(&line.source).bind(&call.latency_ms);
        line.usage.write(&mut query)?;
        query.run(self.conn()?).await?;
        match caller.attempt {
            // Its card shows what it cost.
            Some(attempt) => self.touch_task_of(attempt).await,
            None => Ok(()),
        }
    }
}
