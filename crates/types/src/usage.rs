//! What agents used, in tokens and money.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AttemptId, Budget, Day, MicroUsd, Millis, ProjectId, TaskId, WorkerId, WorkerTier};

/// The use of one model. Input that came from a cache, or was written to one, is not in `input_tokens`; reasoning is
/// part of `output_tokens`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cache_read_tokens: i64,
    pub cache_write_tokens: i64,
    pub reasoning_tokens: i64,
    /// In millionths of a dollar, when the agent itself reports its cost.
    pub cost_microusd: Option<i64>,
}

/// Use by model. An agent that does not name its model uses an empty name.
pub type ModelUsage = BTreeMap<String, Usage>;

impl Usage {
    pub fn add(&mut self, more: Usage) {
        let sums = [
            (&mut self.input_tokens, more.input_tokens),
            (&mut self.output_tokens, more.output_tokens),
            (&mut self.cache_read_tokens, more.cache_read_tokens),
            (&mut self.cache_write_tokens, more.cache_write_tokens),
            (&mut self.reasoning_tokens, more.reasoning_tokens),
        ];
        for (sum, more) in sums {
            *sum = sum.saturating_add(more);
        }
        if let Some(more) = more.cost_microusd {
            self.cost_microusd = Some(self.cost_microusd.unwrap_or(0).saturating_add(more));
        }
    }

    /// What was added since `before`; a count that went back adds nothing.
    pub fn since(self, before: Usage) -> Usage {
        let more = |now: i64, before: i64| now.saturating_sub(before).max(0);
        Usage {
            input_tokens: more(self.input_tokens, before.input_tokens),
            output_tokens: more(self.output_tokens, before.output_tokens),
            cache_read_tokens: more(self.cache_read_tokens, before.cache_read_tokens),
            cache_write_tokens: more(self.cache_write_tokens, before.cache_write_tokens),
            reasoning_tokens: more(self.reasoning_tokens, before.reasoning_tokens),
            cost_microusd: self.cost_microusd.map(|cost| more(cost, before.cost_microusd.unwrap_or(0))),
        }
    }

    pub fn is_zero(&self) -> bool {
        let Usage { cost_microusd, .. } = *self;
        Usage { cost_microusd: None, ..*self } == Usage::default() && cost_microusd.unwrap_or(0) == 0
    }
}

/// Who reported a cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CostSource {
    /// The agent itself.
    Reported,
    /// Forge, from its table of prices.
    Computed,
}

impl CostSource {
    pub fn as_str(self) -> &'static str {
        match self {
            CostSource::Reported => "told",
            CostSource::Computed => "computed",
        }
    }
}

/// A question about the use of all runs and workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageQuery {
    pub group_by: Vec<UsageKey>,
    pub project_id: Option<ProjectId>,
    pub attempt_id: Option<AttemptId>,
    /// The first day that counts.
    pub from: Option<Day>,
    /// The last day that counts.
    pub to: Option<Day>,
}

/// What use can be grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageKey {
    Project,
    Executor,
    Model,
    Day,
    Task,
    Worker,
    Bead,
}

impl UsageKey {
    pub const ALL: [UsageKey; 7] = [
        UsageKey::Project,
        UsageKey::Executor,
        UsageKey::Model,
        UsageKey::Day,
        UsageKey::Task,
        UsageKey::Worker,
        UsageKey::Bead,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            UsageKey::Project => "project",
            UsageKey::Executor => "executor",
            UsageKey::Model => "model",
            UsageKey::Day => "day",
            UsageKey::Task => "task",
            UsageKey::Worker => "worker",
            UsageKey::Bead => "bead",
        }
    }
}

impl std::str::FromStr for UsageKey {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|key| key.as_str() == text);
        let allowed = Self::ALL.map(Self::as_str).join(", ");
        found.ok_or_else(|| {
            format!("'{text}' is not allowed; allowed: {allowed}, or several of them separated by commas")
        })
    }
}

/// The use of a group of runs and workers; only what it is grouped by is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-extends" = "UsageSum"))]
pub struct UsageGroup {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executor: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub day: Option<Day>,
    /// None for what was used outside of any task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// None for what was not used by a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker_id: Option<WorkerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bead: Option<String>,
    /// Where the bead is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    #[serde(flatten)]
    pub sum: UsageSum,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageSum {
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub cache_read_tokens: i64,
    pub cache_write_tokens: i64,
    pub reasoning_tokens: i64,
    /// The known cost; nothing when no cost is known at all.
    pub cost_usd: Option<MicroUsd>,
    /// Tokens whose cost is unknown and not part of `cost_usd`.
    pub unpriced_tokens: i64,
    /// Runs, and conversations of workers.
    pub runs: i64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReport {
    pub groups: Vec<UsageGroup>,
    pub total: UsageSum,
    /// When the prices behind computed costs were looked up.
    pub prices_as_of: String,
    pub month: MonthSpending,
}

/// What the current month (UTC) has cost in total.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MonthSpending {
    /// Such as `2026-11`.
    pub month: String,
    pub spent_usd: MicroUsd,
    /// What it will have cost at its end if it continues like this.
    pub projected_usd: MicroUsd,
    pub limit_usd: Option<Budget>,
    /// The number of days that the spending is from.
    pub days_passed: i8,
    pub days: i8,
}

/// How much a worker does for its money.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkerEfficiency {
    pub worker_id: WorkerId,
    pub call_count: i64,
    /// The known cost.
    pub total_cost_usd: MicroUsd,
    pub total_tokens: i64,
    pub avg_cost_per_call: f64,
    pub avg_tokens_per_call: f64,
    /// Tokens per dollar; nothing when nothing was paid.
    pub efficiency_score: Option<f64>,
    pub last_active: Millis,
    /// Nothing for a worker that was deleted.
    pub tier: Option<WorkerTier>,
}

/// What a model costs and how it serves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPerformance {
    pub model: String,
    /// Calls of workers; runs do not report theirs.
    pub call_count: i64,
    pub total_tokens: i64,
    pub total_cost_usd: MicroUsd,
    pub avg_cost_per_1k_tokens: f64,
    pub avg_latency_ms: Option<f64>,
    /// The part of the input that came from a cache.
    pub cache_hit_rate: Option<f64>,
}
