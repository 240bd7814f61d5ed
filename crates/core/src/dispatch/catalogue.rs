//! The agents that beads may be routed to, and how each stands.
//!
//! Invariant: a model is usable only if its program is here and its provider serves it; what it cost comes from decisions
//! whose outcome is known.

use forge_fleet::route::{Model, Standing};
use forge_run::agents;
use forge_types::wire::WorkerDefinition;
use forge_types::{
    DispatchMode, DispatchRule, Executor, FleetSettings, MicroUsd, PassedOver, ProfileId, Project, Routing,
    WorkerTier,
};

use crate::cost::quota::Access;
use crate::worktree::host::Directory;
use crate::{Forge, Result};

/// How many decisions a mean cost is taken of, at most.
const REMEMBERED: u32 = 500;

pub(super) struct Catalogue {
    pub models: Vec<Model>,
    /// Those of them that cannot be used.
    pub passed_over: Vec<PassedOver>,
    choices: Vec<Choice>,
}

/// An agent that a decision can name by its tier and model.
#[derive(Clone)]
pub(super) struct Choice {
    tier: WorkerTier,
    name: String,
    pub profile: ProfileId,
    /// The definition or launcher by which it works in a terminal.
    pub by: Option<String>,
}

impl Catalogue {
    /// The agent that a decision names.
    pub fn choice(&self, tier: WorkerTier, model: &str) -> Option<&Choice> {
        self.choices.iter().find(|choice| choice.tier == tier && choice.name == model)
    }

    /// Why those models cannot be used that work of a tier may go to; empty where all can.
    pub fn list_passed_over(&self) -> String {
        let lines = self.passed_over.iter().map(|out| format!("{} ({}): {}", out.model, out.tier, out.why));
        lines.collect::<Vec<_>>().join("; ")
    }
}

impl Forge {
    pub(super) async fn catalogue(&self, project: &Project, rule: &DispatchRule) -> Result<Catalogue> {
        let settings = self.settings();
        let past = self.0.store.routings(REMEMBERED).await?;
        let supply = self.supply().await?;
        let mut catalogue = Catalogue { models: Vec::new(), passed_over: Vec::new(), choices: Vec::new() };
        for choice in self.choices(&settings.fleet, rule).await? {
            let Choice { tier, name, profile, .. } = &choice;
            let checkout = Directory::checkout(project);
            let checked = self.check_profile(profile, project, &checkout).await;
            let standing = match (supply.of(profile, name), checked) {
                (Access::Served { resets_soon }, Ok(_)) => Ok(Standing::Usable { resets_soon }),
                (Access::Out(why), _) => Err(why),
                (_, Err(error)) => Err(error.to_string()),
            };
            let standing = standing.unwrap_or_else(|why| {
                catalogue.passed_over.push(PassedOver { model: name.clone(), tier: *tier, why });
                Standing::Unusable
            });
            let of_model = past.iter().filter(|routing| routing.decision.model == *name);
            let chosen = u32::try_from(of_model.clone().count()).unwrap_or(u32::MAX);
            let mean_cost = mean_cost(of_model);
            catalogue.models.push(Model { name: name.clone(), tier: *tier, standing, mean_cost, chosen });
            catalogue.choices.push(choice);
        }
        Ok(catalogue)
    }

    async fn choices(&self, fleet: &FleetSettings, rule: &DispatchRule) -> Result<Vec<Choice>> {
        let for_all = |name: &str, profile: &ProfileId, by: Option<&str>| {
            WorkerTier::ALL.map(|tier| Choice {
                tier,
                name: name.to_owned(),
                profile: profile.clone(),
                by: by.map(str::to_owned),
            })
        };
        let worker = match rule.mode {
            DispatchMode::Attempt => None,
            DispatchMode::Worker => Some(self.worker_definitions().await?.definitions),
        };
        if let (Some(defined), Some(named)) = (&worker, &rule.worker) {
            let known = defined.iter().find(|one| one.name == *named);
            let (model, launcher) = known
                .map_or((named.as_str(), named.as_str()), |one| (one.model.as_str(), one.launcher.as_str()));
            return Ok(for_all(model, &ProfileId::new(executor_of(launcher)), Some(named)).into());
        }
        let is_worker = worker.is_some();
        // One that has its own place does not work in a worktree.
        let worker = worker.map(|mut defined| {
            defined.retain(|one| one.workspace.is_none());
            defined
        });
        if rule.executor_profile_id.is_none()
            && let Some(defined) = worker.filter(|defined| !defined.is_empty())
        {
            let choice = |one: WorkerDefinition| Choice {
                tier: one.tier,
                profile: ProfileId::new(executor_of(&one.launcher)),
                name: one.model,
                by: Some(one.name),
            };
            return Ok(defined.into_iter().map(choice).collect());
        }
        let mut choices = Vec::new();
        for tier in WorkerTier::ALL {
            let of_tier = match &rule.executor_profile_id {
                Some(profile) => std::slice::from_ref(profile),
                None => fleet.models.of(tier),
            };
            for profile in of_tier {
                let by = is_worker.then(|| launcher_of(profile.executor)).flatten();
                // Who cannot work in a terminal is no choice there.
                if by.is_some() || !is_worker {
                    let by = by.map(str::to_owned);
                    choices.push(Choice { tier, name: name(profile), profile: profile.clone(), by });
                }
            }
        }
        Ok(choices)
    }
}

/// The shipped launcher of an agent.
pub(super) fn launcher_of(executor: Executor) -> Option<&'static str> {
    agents::agent(executor).launchers.first().copied()
}

/// The agents that have a shipped launcher.
pub(super) fn launched() -> Vec<&'static str> {
    let launched = agents::ALL.iter().filter(|agent| !agent.launchers.is_empty());
    launched.map(|agent| agent.executor.as_str()).collect()
}

/// The agent that a launcher starts. Nobody knows what runs in one that is not shipped.
fn executor_of(launcher: &str) -> Executor {
    let known = agents::ALL.iter().find(|agent| agent.launchers.contains(&launcher));
    known.map_or(Executor::Shell, |agent| agent.executor)
}

/// The model where one is named, else the agent.
pub(super) fn name(profile: &ProfileId) -> String {
    profile.model.clone().unwrap_or_else(|| profile.to_string())
}

fn mean_cost<'a>(routings: impl Iterator<Item = &'a Routing>) -> Option<MicroUsd> {
    let costs: Vec<i64> = routings.filter_map(|routing| routing.actual_cost.map(|cost| cost.0)).collect();
    let count = i64::try_from(costs.len()).ok().filter(|count| *count > 0)?;
    Some(MicroUsd(costs.iter().sum::<i64>() / count))
}
