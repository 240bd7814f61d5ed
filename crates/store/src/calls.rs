//! What workers used, call by call, and how far their logs were read.
//!
//! Invariants: a call is one row, whoever reads its line and however often; a call that is part of a sum does not count
//! beside it; calls and the position after their lines are written together.

use std::path::PathBuf;

use forge_types::{
    AttemptId, CostSource, Day, Executor, Lease, MicroUsd, Millis, ModelPerformance, ProjectId, Usage,
    UsageQuery, WorkerEfficiency, WorkerId,
};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Sqlite};

use crate::error::Result;
use crate::query;
use crate::row::{Cells, Read};
use crate::usage::pick;
use crate::worker::text;
use crate::write::bind;
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
    fn as_str(self) -> &'static str {
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

const PLACES: &str = "SELECT device, inode, worker_id, path, body FROM log_offsets WHERE worker_id = $1";
const INSERT: &str = "INSERT INTO calls (key, standing, session, source, worker_id, workspace, bead, actor, attempt_id, \
     project_id, executor, model, day, at_ms, call_count, input_tokens, output_tokens, cache_read_tokens, \
     cache_write_tokens, reasoning_tokens, cost_microusd, cost_source, latency_ms) VALUES \
     ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23) \
     ON CONFLICT (key) DO UPDATE SET model = excluded.model, input_tokens = excluded.input_tokens, \
     output_tokens = excluded.output_tokens, cache_read_tokens = excluded.cache_read_tokens, \
     cache_write_tokens = excluded.cache_write_tokens, reasoning_tokens = excluded.reasoning_tokens, \
     cost_microusd = excluded.cost_microusd, cost_source = excluded.cost_source \
     WHERE calls.standing = 'open' AND excluded.standing = 'open'";
const SESSION: &str = "SELECT COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0), \
     COALESCE(SUM(cache_read_tokens), 0), COALESCE(SUM(cache_write_tokens), 0), COALESCE(SUM(reasoning_tokens), 0), NULL \
     FROM calls WHERE session = $1 AND standing <> 'superseded'";
const TOKENS: &str = "input_tokens + output_tokens + cache_read_tokens + cache_write_tokens";

fn place(row: &SqliteRow) -> Read<LogPlace> {
    let mut cells = Cells::of(row);
    Ok(LogPlace {
        device: cells.take::<i64>()?.cast_unsigned(),
        inode: cells.take::<i64>()?.cast_unsigned(),
        worker: cells.parse()?,
        path: cells.take::<String>()?.into(),
        body: cells.take()?,
    })
}

fn per(amount: f64, count: i64) -> f64 {
    if count == 0 { 0.0 } else { amount / count as f64 }
}

impl Store {
    /// The files of a worker that were read.
    pub async fn log_places(&self, worker: &WorkerId) -> Result<Vec<LogPlace>> {
        query::many(&mut *self.reader().await?, PLACES, worker.to_string(), place).await
    }

    /// The worker whose file it is, if it was read.
    pub async fn log_owner(&self, device: u64, inode: u64) -> Result<Option<WorkerId>> {
        let sql = "SELECT worker_id FROM log_offsets WHERE device = $1 AND inode = $2";
        let found = bind!(sql, device.cast_signed(), inode.cast_signed());
        let row = found.fetch_optional(&mut *self.reader().await?).await?;
        Ok(row.map(|row| Cells::of(&row).parse()).transpose()?)
    }

    /// Whether the use of a conversation is known from elsewhere: from a run, or from a worker's log.
    pub async fn is_counted_elsewhere(&self, session: &str) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE session_id = $1) \
             OR EXISTS (SELECT 1 FROM calls WHERE session = $1 AND source = 'log')";
        let row = bind!(sql, session).fetch_one(&mut *self.reader().await?).await?;
        Ok(Cells::of(&row).take()?)
    }

    /// What a worker used while it had a bead; nothing when no cost is known.
    pub async fn cost_of_lease(&self, lease: &Lease) -> Result<Option<MicroUsd>> {
        let sql = "SELECT SUM(cost_microusd) FROM calls WHERE workspace = $1 AND bead = $2 AND actor = $3 \
             AND standing <> 'superseded'";
        let workspace = text(&lease.workspace);
        let row =
            bind!(sql, workspace, &lease.bead, &lease.actor).fetch_one(&mut *self.reader().await?).await?;
        Ok(Cells::of(&row).take::<Option<i64>>()?.map(MicroUsd))
    }

    /// The most expensive first.
    pub async fn worker_efficiency(&self, query: &UsageQuery) -> Result<Vec<WorkerEfficiency>> {
        let mut sql = QueryBuilder::<Sqlite>::new("SELECT worker_id, SUM(call_count), ");
        sql.push("COALESCE(SUM(cost_microusd), 0) AS cost, SUM(").push(TOKENS).push("), MAX(at_ms) ");
        sql.push("FROM spending WHERE worker_id IS NOT NULL");
        pick(&mut sql, query);
        sql.push(" GROUP BY worker_id ORDER BY cost DESC, worker_id");
        let workers = self.workers().await?;
        let read = |row: &SqliteRow| -> Read<WorkerEfficiency> {
            let mut cells = Cells::of(row);
            let (worker_id, call_count) = (cells.parse::<WorkerId>()?, cells.take()?);
            let (cost, total_tokens) = (MicroUsd(cells.take()?), cells.take::<i64>()?);
            let last_active = cells.millis()?;
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
        let rows = sql.build().fetch_all(&mut *self.reader().await?).await?;
        Ok(rows.iter().map(read).collect::<Read<_>>()?)
    }

    /// The most expensive first. Mean costs are of tokens whose cost is known.
    pub async fn model_performance(&self, query: &UsageQuery) -> Result<Vec<ModelPerformance>> {
        let mut sql = QueryBuilder::<Sqlite>::new("SELECT model, COALESCE(SUM(call_count), 0), SUM(");
        sql.push(TOKENS)
            .push("), COALESCE(SUM(cost_microusd), 0) AS cost, SUM(CASE WHEN cost_microusd IS NULL ");
        sql.push("THEN 0 ELSE ").push(TOKENS).push(" END), SUM(latency_ms), ");
        sql.push("SUM(CASE WHEN latency_ms IS NULL THEN 0 ELSE call_count END), ");
        sql.push("SUM(cache_read_tokens), SUM(input_tokens) FROM spending WHERE TRUE");
        pick(&mut sql, query);
        sql.push(" GROUP BY model ORDER BY cost DESC, model");
        let read = |row: &SqliteRow| -> Read<ModelPerformance> {
            let mut cells = Cells::of(row);
            let (model, call_count, total_tokens) = (cells.take()?, cells.take()?, cells.take()?);
            let (cost, priced) = (MicroUsd(cells.take()?), cells.take::<i64>()?);
            let (latency, timed) = (cells.take::<Option<i64>>()?, cells.take::<i64>()?);
            let (cached, input) = (cells.take::<i64>()?, cells.take::<i64>()?);
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
        let rows = sql.build().fetch_all(&mut *self.reader().await?).await?;
        Ok(rows.iter().map(read).collect::<Read<_>>()?)
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
        let known = bind!("SELECT 1 FROM calls WHERE key = $1", &first.key);
        if known.fetch_optional(self.conn()?).await?.is_some() {
            return Ok(());
        }
        let open =
            "SELECT model, COUNT(*) FROM calls WHERE session = $1 AND standing = 'open' GROUP BY model";
        let rows = bind!(open, &first.session).fetch_all(self.conn()?).await?;
        let read = |row: &SqliteRow| -> Read<(String, i64)> {
            let mut cells = Cells::of(row);
            Ok((cells.take()?, cells.take()?))
        };
        let counts = rows.iter().map(read).collect::<Read<Vec<_>>>()?;
        let sql = "UPDATE calls SET standing = 'superseded' WHERE session = $1 AND standing = 'open'";
        bind!(sql, &first.session).execute(self.conn()?).await?;
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
        let row = bind!(SESSION, session).fetch_one(self.conn()?).await?;
        Ok(crate::usage::tokens(&mut Cells::of(&row))?)
    }

    /// Records a part of a session's total.
    pub async fn add_call(&mut self, call: &CallRow) -> Result<()> {
        self.insert_call(call, "final", 1).await
    }

    pub async fn put_log_place(&mut self, place: &LogPlace) -> Result<()> {
        let sql = "INSERT INTO log_offsets (device, inode, worker_id, path, body) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (device, inode) DO UPDATE SET worker_id = excluded.worker_id, path = excluded.path, \
             body = excluded.body";
        let (device, inode) = (place.device.cast_signed(), place.inode.cast_signed());
        bind!(sql, device, inode, place.worker.as_str(), text(&place.path), &place.body)
            .execute(self.conn()?)
            .await?;
        Ok(())
    }

    async fn insert_call(&mut self, call: &CallRow, standing: &str, count: i64) -> Result<()> {
        let CallRow { caller, line, .. } = call;
        bind!(
            INSERT,
            &call.key,
            standing,
            &call.session,
            call.source.as_str(),
            caller.worker.as_str(),
            text(&caller.workspace),
            &caller.bead,
            &caller.actor,
            caller.attempt.map(|id| id.to_string()),
            caller.project.map(|id| id.to_string()),
            call.executor.map(|executor| executor.to_string()),
            &line.model,
            Day::of(call.at).to_string(),
            call.at.0,
            count,
            line.usage.input_tokens,
            line.usage.output_tokens,
            line.usage.cache_read_tokens,
            line.usage.cache_write_tokens,
            line.usage.reasoning_tokens,
            line.usage.cost_microusd,
            line.source.map(CostSource::as_str),
            call.latency_ms,
        )
        .execute(self.conn()?)
        .await?;
        match caller.attempt {
            // Its card shows what it cost.
            Some(attempt) => self.touch_task_of(attempt).await,
            None => Ok(()),
        }
    }
}
