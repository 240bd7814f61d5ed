//! The agents that beads may be routed to, and how each stands.
//!
//! Invariant: a model is usable only if its program is here and its provider serves it; what it cost comes from decisions
//! whose outcome is known.

use std::path::Path;

use forge_fleet::route::{Model, Standing};
use forge_types::{DispatchRule, MicroUsd, Millis, ProfileId, Project, Routing, WorkerTier};

use crate::{Forge, Result};

/// How many decisions a mean cost is taken of, at most.
const REMEMBERED: u32 = 500;

pub(super) struct Catalogue {
    pub models: Vec<Model>,
    profiles: Vec<(WorkerTier, String, ProfileId)>,
}

impl Catalogue {
    /// The agent that a decision names.
    pub fn profile(&self, tier: WorkerTier, model: &str) -> Option<&ProfileId> {
        let found = self.profiles.iter().find(|(of, name, _)| *of == tier && name == model);
        found.map(|(_, _, profile)| profile)
    }
}

impl Forge {
    pub(super) async fn catalogue(&self, project: &Project, rule: &DispatchRule) -> Result<Catalogue> {
        let settings = self.settings();
        let past = self.0.store.routings(REMEMBERED).await?;
        let now = Millis::now();
        let parked = self.0.store.parked_runs().await?;
        let mut catalogue = Catalogue { models: Vec::new(), profiles: Vec::new() };
        for tier in WorkerTier::ALL {
            let of_tier = match &rule.executor_profile_id {
                Some(profile) => std::slice::from_ref(profile),
                None => settings.fleet.models.of(tier),
            };
            for profile in of_tier {
                let name = name(profile);
                let is_refused = parked.iter().any(|run| {
                    run.parked_until.is_some_and(|until| until > now) && run.action.profile() == Some(profile)
                });
                let place = Path::new(&project.git_repo_path);
                let is_here = !is_refused && self.check_profile(profile, project, place).await.is_ok();
                let standing = match is_here {
                    true => Standing::Usable { resets_soon: false },
                    false => Standing::Unusable,
                };
                let of_model = past.iter().filter(|routing| routing.decision.model == name);
                let chosen = u32::try_from(of_model.clone().count()).unwrap_or(u32::MAX);
                let mean_cost = mean_cost(of_model);
                catalogue.models.push(Model { name: name.clone(), tier, standing, mean_cost, chosen });
                catalogue.profiles.push((tier, name, profile.clone()));
            }
        }
        Ok(catalogue)
    }
}

/// The model where one is named, else the agent.
fn name(profile: &ProfileId) -> String {
    profile.model.clone().unwrap_or_else(|| profile.to_string())
}

fn mean_cost<'a>(routings: impl Iterator<Item = &'a Routing>) -> Option<MicroUsd> {
    let costs: Vec<i64> = routings.filter_map(|routing| routing.actual_cost.map(|cost| cost.0)).collect();
    let count = i64::try_from(costs.len()).ok().filter(|count| *count > 0)?;
    Some(MicroUsd(costs.iter().sum::<i64>() / count))
}
