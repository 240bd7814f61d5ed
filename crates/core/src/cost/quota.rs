//! Which models their providers serve now.
//!
//! Owns what agents reported of their quotas since the server started; what lasts longer is in the rows of parked runs and
//! workers, and in the user's `subscriptions.yaml`. Invariant: a model is out only until a time that somebody named, or
//! while its plan is said to be used up.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use forge_fleet::subscription::{self, Allowance, Subscription};
use forge_run::fold::Window;
use forge_types::{Executor, Millis, ProfileId, Run, Worker, WorkerPhase};

use crate::{Forge, Result};

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// The windows of each agent's account, by name.
#[derive(Default)]
pub(crate) struct Quotas {
    windows: Mutex<HashMap<Executor, BTreeMap<String, Window>>>,
    /// What was last complained of in `subscriptions.yaml`.
    complaint: Mutex<Option<String>>,
}

fn open<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Quotas {
    pub fn note(&self, executor: Executor, reported: &[Window]) {
        if reported.is_empty() {
            return;
        }
        let mut windows = open(&self.windows);
        let known = windows.entry(executor).or_default();
        known.extend(reported.iter().map(|window| (window.name.clone(), window.clone())));
    }

    /// The plans of the user; what is wrong with the file is said once.
    fn plans(&self, home: &std::path::Path) -> Vec<Subscription> {
        let read = subscription::read(&home.join("subscriptions.yaml"));
        let mut complaint = open(&self.complaint);
        match read {
            Ok(plans) => {
                *complaint = None;
                plans
            }
            Err(why) => {
                if complaint.as_ref() != Some(&why) {
                    tracing::warn!("subscriptions are not looked at: {why}");
                    *complaint = Some(why);
                }
                Vec::new()
            }
        }
    }
}

/// How a model stands with its provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Why it is not served, in words.
    Out(String),
    Served {
        /// What is left of its quota is lost within a day.
        resets_soon: bool,
    },
}

/// All that is known of quotas at one moment.
pub(crate) struct Supply {
    now: Millis,
    parked: Vec<Run>,
    workers: Vec<Worker>,
    plans: Vec<Subscription>,
    windows: HashMap<Executor, BTreeMap<String, Window>>,
}

impl Forge {
    pub(crate) async fn supply(&self) -> Result<Supply> {
        Ok(Supply {
            now: Millis::now(),
            parked: self.0.store.parked_runs().await?,
            workers: self.0.store.workers().await?,
            plans: self.0.costs.quotas.plans(&self.0.config.home),
            windows: open(&self.0.costs.quotas.windows).clone(),
        })
    }
}

impl Supply {
    /// `name` is what decisions call the model.
    pub fn of(&self, profile: &ProfileId, name: &str) -> Access {
        let until =
            self.parked_until(profile, name).into_iter().chain(self.windows_until(profile, name)).max();
        if let Some(until) = until {
            return Access::Out(format!("its provider does not serve it until {until}"));
        }
        let today = jiff::Zoned::now().date();
        let agent = profile.executor.as_str();
        let plans: Vec<Allowance> = self
            .plans
            .iter()
            .filter(|plan| plan.covers(agent, name))
            .map(|plan| plan.allowance(today))
            .collect();
        let depleted = plans.iter().find_map(|allowance| match allowance {
            Allowance::Depleted { until } => Some(until),
            _ => None,
        });
        if let Some(until) = depleted {
            let until = until.map_or_else(String::new, |day| format!(" until {day}"));
            return Access::Out(format!("its plan in subscriptions.yaml is used up{until}"));
        }
        let ends = self.windows_of(profile, name).any(|window| {
            window.is_long
                && !window.is_used_up
                && (self.now.0..self.now.0 + DAY_MS).contains(&window.resets_at.0)
        });
        Access::Served { resets_soon: ends || plans.contains(&Allowance::EndsSoon) }
    }

    fn parked_until(&self, profile: &ProfileId, name: &str) -> Option<Millis> {
        let is_it = |run: &&Run| {
            let used = run.action.profile();
            used.is_some_and(|used| used.executor == profile.executor && used.model == profile.model)
        };
        let runs = self.parked.iter().filter(is_it).filter_map(|run| run.parked_until);
        let workers =
            self.workers.iter().filter(|worker| worker.phase == WorkerPhase::Parked && worker.model == name);
        runs.chain(workers.filter_map(|worker| worker.parked_until)).filter(|until| *until > self.now).max()
    }

    fn windows_until(&self, profile: &ProfileId, name: &str) -> Option<Millis> {
        let used_up = self.windows_of(profile, name).filter(|window| window.is_used_up);
        used_up.map(|window| window.resets_at).filter(|until| *until > self.now).max()
    }

    /// Those that count for a model: `seven_day_opus` counts for opus alone.
    fn windows_of<'a>(&'a self, profile: &ProfileId, name: &'a str) -> impl Iterator<Item = &'a Window> {
        let all = self.windows.get(&profile.executor).into_iter().flat_map(BTreeMap::values);
        all.filter(move |window| match window.name.strip_prefix("seven_day_") {
            Some(model) => name.contains(model),
            None => true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(name: &str, resets_at: i64, is_used_up: bool) -> Window {
        let is_long = name.starts_with("seven_day");
        Window { name: name.to_owned(), resets_at: Millis(resets_at), is_used_up, is_long }
    }

    fn supply(windows: &[Window]) -> Supply {
        let quotas = Quotas::default();
        quotas.note(Executor::ClaudeCode, windows);
        let windows = open(&quotas.windows).clone();
        Supply { now: Millis(1000), parked: Vec::new(), workers: Vec::new(), plans: Vec::new(), windows }
    }

    fn of(supply: &Supply, model: &str) -> Access {
        supply.of(&ProfileId::new(Executor::ClaudeCode), model)
    }

    #[test]
    fn a_window_that_is_used_up_takes_its_models_out_until_its_reset() {
        let supply = supply(&[window("seven_day_opus", 5000, true), window("five_hour", 2000, false)]);
        assert!(matches!(of(&supply, "opus"), Access::Out(_)));
        assert_eq!(of(&supply, "sonnet"), Access::Served { resets_soon: false });
        let later = Supply { now: Millis(5000), ..supply };
        assert_eq!(of(&later, "opus"), Access::Served { resets_soon: false });
    }

    #[test]
    fn what_is_lost_within_a_day_is_told_of_long_windows_alone() {
        assert_eq!(
            of(&supply(&[window("seven_day", 9000, false)]), "x"),
            Access::Served { resets_soon: true }
        );
        assert_eq!(
            of(&supply(&[window("five_hour", 9000, false)]), "x"),
            Access::Served { resets_soon: false }
        );
        let far = window("seven_day", 1000 + 2 * DAY_MS, false);
        assert_eq!(of(&supply(&[far]), "x"), Access::Served { resets_soon: false });
    }
}
