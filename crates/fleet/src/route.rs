//! Decides which worker and model get a piece of work, and why.
//!
//! Invariants: pure; a decision names a usable model and either a free worker or the one to start; difficulty may raise
//! the tier of the priority and never lowers it.

use forge_types::{Fallback, MicroUsd, PriorityTiers, RoutingDecision, RoutingReason, WorkerId, WorkerTier};

use crate::complexity::{Complexity, Cuts};
use crate::work::Work;

/// A model that may be used, and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    pub name: String,
    pub tier: WorkerTier,
    pub standing: Standing,
    /// Average cost of a piece of work, if there is a history.
    pub mean_cost: Option<MicroUsd>,
    /// Pieces of work it got recently.
    pub chosen: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// `resets_soon`: its remaining quota expires within a day.
    Usable { resets_soon: bool },
    /// No program, no key, or its limit is reached.
    Unusable,
}

/// An existing worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub id: WorkerId,
    pub model: String,
    pub free: bool,
    /// It has finished work of this kind or with one of these labels before.
    pub knows: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    pub cuts: Cuts,
    /// The tier of each priority.
    pub tiers: PriorityTiers,
    /// The tiers to try when no model of a tier is usable. The free tier is never a fallback.
    pub fallback: Fallback,
    /// New workers that may still be started, by tier.
    pub room: Vec<(WorkerTier, usize)>,
}

impl Rules {
    fn room_for(&self, tier: WorkerTier) -> usize {
        self.room.iter().find(|(of, _)| *of == tier).map_or(0, |(_, room)| *room)
    }

    fn tiers_from(&self, tier: WorkerTier) -> Vec<WorkerTier> {
        use WorkerTier::{Budget, Free, Premium, Standard};
        let (up, down) = match tier {
            Premium => (None, Some(Standard)),
            Standard => (Some(Premium), Some(Budget)),
            Budget => (Some(Standard), None),
            Free => (Some(Budget), None),
        };
        let further = match self.fallback {
            Fallback::Up => [up, None],
            Fallback::Down => [down, None],
            Fallback::Both => [up, down],
            Fallback::None => [None, None],
        };
        std::iter::once(tier).chain(further.into_iter().flatten()).collect()
    }
}

/// Why nothing can be chosen now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoRoute {
    #[error("no model of an allowed tier can be used")]
    NoModel,
    #[error("every worker that fits is busy, and no more may be started")]
    NoRoom,
}

/// The tier that a piece of work belongs to.
pub fn tier_of(work: &Work, complexity: &Complexity, rules: &Rules) -> WorkerTier {
    let asked = rules.tiers.of(work.priority.get());
    let labelled = work.labels.iter().any(|label| {
        let label = label.to_lowercase();
        label == "architecture" || label == "critical"
    });
    let total = complexity.total();
    let needed = match complexity.tier(rules.cuts) {
        _ if labelled || total >= 80.0 => WorkerTier::Premium,
        WorkerTier::Premium if complexity.reasoning => WorkerTier::Premium,
        _ if total >= 50.0 => WorkerTier::Standard,
        _ => WorkerTier::Budget,
    };
    asked.max(needed)
}

pub fn route(
    work: &Work,
    complexity: &Complexity,
    models: &[Model],
    workers: &[Candidate],
    rules: &Rules,
) -> Result<RoutingDecision, NoRoute> {
    let wanted = tier_of(work, complexity, rules);
    let mut found_model = false;
    for tier in rules.tiers_from(wanted) {
        let usable = usable_of(models, tier);
        found_model |= !usable.is_empty();
        let Some((model, chosen, why)) = choose(work, &usable, workers, rules.room_for(tier)) else {
            continue;
        };
        let reason = match (tier == wanted, why) {
            (false, _) => RoutingReason::Fallback,
            (true, Some(why)) => why,
            (true, None) if tier == WorkerTier::Budget => RoutingReason::CostOptimization,
            (true, None) => RoutingReason::PriorityMatch,
        };
        return Ok(RoutingDecision {
            chosen_worker: chosen,
            model: model.name.clone(),
            tier,
            reason,
            estimated_cost: model.mean_cost,
        });
    }
    Err(if found_model { NoRoute::NoRoom } else { NoRoute::NoModel })
}

/// The usable models of a tier, best first: expiring quota, then least used.
fn usable_of(models: &[Model], tier: WorkerTier) -> Vec<&Model> {
    let mut usable: Vec<(&Model, bool)> = models
        .iter()
        .filter(|model| model.tier == tier)
        .filter_map(|model| match model.standing {
            Standing::Usable { resets_soon } => Some((model, resets_soon)),
            Standing::Unusable => None,
        })
        .collect();
    usable.sort_by_key(|(model, resets_soon)| (!resets_soon, model.chosen));
    usable.into_iter().map(|(model, _)| model).collect()
}

type Choice<'a> = (&'a Model, Option<WorkerId>, Option<RoutingReason>);

/// A free worker with experience in such work, else any free one, else a new one.
fn choose<'a>(work: &Work, usable: &[&'a Model], workers: &[Candidate], room: usize) -> Option<Choice<'a>> {
    let knows = |worker: &Candidate| {
        worker.knows.iter().any(|known| *known == work.kind || work.labels.contains(known))
    };
    let find = |reason, fits: &dyn Fn(&Candidate) -> bool| {
        usable.iter().find_map(|model| {
            let mut of_model = workers.iter().filter(|worker| worker.free && worker.model == model.name);
            let worker = of_model.find(|worker| fits(worker))?;
            Some((*model, Some(worker.id.clone()), Some(reason)))
        })
    };
    let new = || usable.first().filter(|_| room > 0).map(|model| (*model, None, None));
    find(RoutingReason::Specialized, &knows)
        .or_else(|| find(RoutingReason::Availability, &|_| true))
        .or_else(new)
}

#[cfg(test)]
mod tests;
