//! Numbers a row yields, and how samples become numbers.

use std::collections::BTreeMap;
use std::time::Duration;

pub type Figures = BTreeMap<&'static str, f64>;

pub fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// The value below which `share` (0 to 1) of the samples lie; 0 without samples.
pub fn percentile(samples: &[f64], share: f64) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_taken_from_sorted_samples() {
        let samples: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert_eq!(percentile(&samples, 0.5), 50.0);
        assert_eq!(percentile(&samples, 0.99), 99.0);
        assert_eq!(percentile(&[], 0.5), 0.0);
    }
}
