//! What agents use and what it costs: meters of running agents, prices, budgets and the quotas of providers.
//!
//! Invariant: no agent starts while a budget that concerns it is used up, and no price is guessed.

pub(crate) mod budget;
pub(crate) mod price;
pub(crate) mod quota;
pub(crate) mod usage;

use price::Prices;
use quota::Quotas;

pub(crate) struct Costs {
    prices: Prices,
    quotas: Quotas,
}

impl Costs {
    pub(crate) fn load(home: &std::path::Path) -> Self {
        Self { prices: Prices::load(home), quotas: Quotas::default() }
    }

    pub(crate) fn prices(&self) -> &Prices {
        &self.prices
    }

    pub(crate) fn quotas(&self) -> &Quotas {
        &self.quotas
    }
}
