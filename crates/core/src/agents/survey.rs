//! Which agent programs this machine has.
//!
//! Owns the last survey. Invariant: a survey starts processes, so there is one at a time, whoever asks and however often; its answer
//! serves everybody for [`KEPT`]. A fresh survey never begins before it is asked for.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use forge_run::agents;
use forge_types::{Executor, FoundAgent};
use tokio::sync::Semaphore;

use crate::{Error, Forge, Result};

const KEPT: Duration = Duration::from_secs(60);

pub(crate) struct Surveys {
    turn: Arc<Semaphore>,
    last: Mutex<Option<Known>>,
}

#[derive(Clone)]
struct Known {
    begun: Instant,
    agents: Arc<Vec<FoundAgent>>,
}

/// Whether an answer from a moment ago will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Freshness {
    Recent,
    Anew,
}

impl Default for Surveys {
    fn default() -> Self {
        Self { turn: Arc::new(Semaphore::new(1)), last: Mutex::default() }
    }
}

impl Surveys {
    fn last(&self) -> MutexGuard<'_, Option<Known>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Forge {
    /// The agents that can be offered: those of this machine, as `forge doctor` sees them, and the one whose command a profile
    /// of `ACP` names, if one does. Takes seconds when it has to look.
    pub async fn found_agents(&self, freshness: Freshness) -> Result<Arc<Vec<FoundAgent>>> {
        let known = self.surveyed_agents(freshness).await?;
        // Not kept with the survey: a profile that is saved counts at once.
        let Some(command) = self.acp_command() else { return Ok(known) };
        let described = tokio::task::spawn_blocking(move || agents::found_acp_agent(&command)).await;
        let described = described.map_err(|cause| Error::internal("cannot look for the ACP agent", cause))?;
        let order =
            |agent: &FoundAgent| Executor::ALL.iter().position(|executor| *executor == agent.executor);
        let mut all = known.to_vec();
        let place = all.partition_point(|agent| order(agent) < order(&described));
        all.insert(place, described);
        Ok(Arc::new(all))
    }

    fn acp_command(&self) -> Option<String> {
        let profiles = self.0.agents.profiles.read().unwrap_or_else(PoisonError::into_inner);
        profiles.acp_command().map(str::to_owned)
    }

    async fn surveyed_agents(&self, freshness: Freshness) -> Result<Arc<Vec<FoundAgent>>> {
        let asked = Instant::now();
        if let Some(known) =
            self.0.agents.surveys.last().as_ref().filter(|known| known.serves(asked, freshness))
        {
            return Ok(known.agents.clone());
        }
        let turn = Arc::clone(&self.0.agents.surveys.turn).acquire_owned().await;
        let turn = turn.map_err(|cause| Error::internal("closing", cause))?;
        // Whoever had the turn before may have found out what is asked here.
        if let Some(known) =
            self.0.agents.surveys.last().as_ref().filter(|known| known.serves(asked, freshness))
        {
            return Ok(known.agents.clone());
        }
        let forge = self.clone();
        // Keeps its turn to the end, also when nobody waits for it any more.
        let looked = self.0.background.spawn_blocking(move || {
            let _turn = turn;
            let begun = Instant::now();
            let agents = Arc::new(agents::found_agents(&agents::survey().agents, &forge.0.config.exe));
            *forge.0.agents.surveys.last() = Some(Known { begun, agents: Arc::clone(&agents) });
            agents
        });
        looked.await.map_err(|cause| Error::internal("cannot look for agent programs", cause))
    }
}

impl Known {
    fn serves(&self, asked: Instant, freshness: Freshness) -> bool {
        match freshness {
            Freshness::Recent => asked.saturating_duration_since(self.begun) < KEPT,
            Freshness::Anew => self.begun >= asked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_serves_for_a_minute_but_not_who_asks_anew_after_it_was_begun() {
        let begun = Instant::now();
        let known = Known { begun, agents: Arc::default() };
        let later = |seconds| begun + Duration::from_secs(seconds);
        assert!(known.serves(later(59), Freshness::Recent));
        assert!(!known.serves(later(60), Freshness::Recent));
        assert!(known.serves(begun, Freshness::Anew), "it was asked for before it began");
        assert!(!known.serves(later(1), Freshness::Anew));
    }
}
