//! A table of growth: what each thing costs at each size, how much more than at the size before, and whether it grows
//! as slowly as it should.

use serde_json::{Value, json};

use crate::figures::Figures;
use crate::report::show;

#[derive(Clone, Copy)]
pub enum Limit {
    /// From the first size to the last at most so many times as much.
    WholeGrowth(f64),
    /// From the second size to the third at most so many times as much.
    MiddleGrowth(f64),
    /// At most so much at the third size.
    AtThird(f64),
    /// Shown, not judged.
    Shown,
}

pub struct Cost {
    pub key: &'static str,
    pub label: &'static str,
    pub unit: &'static str,
    pub limit: Limit,
}

impl Cost {
    pub const fn new(key: &'static str, label: &'static str, unit: &'static str, limit: Limit) -> Cost {
        Cost { key, label, unit, limit }
    }
}

/// The figures of one size after the other.
pub struct Table {
    name: &'static str,
    costs: &'static [Cost],
    sizes: Vec<(usize, Figures)>,
}

impl Table {
    pub fn new(name: &'static str, costs: &'static [Cost]) -> Table {
        Table { name, costs, sizes: Vec::new() }
    }

    pub fn add(&mut self, size: usize, figures: Figures) {
        eprintln!("{}: {} measured", self.name, group(size));
        self.sizes.push((size, figures));
    }

    pub fn print(&self) {
        let heads: String = self.sizes.iter().map(|(size, _)| format!("{:>19}", group(*size))).collect();
        println!("\n{:<40}{heads}  goal", self.name);
        for cost in self.costs {
            let cells: String =
                (0..self.sizes.len()).map(|at| format!("{:>19}", self.cell(cost, at))).collect();
            let verdict = match self.is_met(cost) {
                Some(true) => "ok",
                Some(false) => "MISS",
                None => "",
            };
            println!("{:<40}{cells}  {:<22} {verdict}", cost.label, self.describe(cost));
        }
    }

    pub fn misses(&self) -> usize {
        self.costs.iter().filter(|cost| self.is_met(cost) == Some(false)).count()
    }

    pub fn as_json(&self) -> Value {
        let costs = self.costs.iter().map(|cost| {
            let values: Vec<_> = (0..self.sizes.len()).map(|at| self.value(cost, at)).collect();
            json!({"key": cost.key, "label": cost.label, "unit": cost.unit, "values": values,
                "goal": self.describe(cost), "met": self.is_met(cost)})
        });
        let sizes: Vec<_> = self.sizes.iter().map(|(size, _)| size).collect();
        json!({"table": self.name, "sizes": sizes, "costs": costs.collect::<Vec<_>>()})
    }

    fn value(&self, cost: &Cost, at: usize) -> Option<f64> {
        self.sizes.get(at)?.1.get(cost.key).copied()
    }

    fn growth(&self, cost: &Cost, from: usize, to: usize) -> Option<f64> {
        let before = self.value(cost, from).filter(|value| *value > 0.0)?;
        Some(self.value(cost, to)? / before)
    }

    fn cell(&self, cost: &Cost, at: usize) -> String {
        let value = show(self.value(cost, at), cost.unit);
        match at.checked_sub(1).and_then(|before| self.growth(cost, before, at)) {
            Some(growth) => format!("{value} {:>6}", format!("{growth:.1}×")),
            None => format!("{value}{:7}", ""),
        }
    }

    fn is_met(&self, cost: &Cost) -> Option<bool> {
        let (found, limit) = match cost.limit {
            Limit::WholeGrowth(limit) => (self.growth(cost, 0, self.sizes.len().checked_sub(1)?), limit),
            Limit::MiddleGrowth(limit) => (self.growth(cost, 1, 2), limit),
            Limit::AtThird(limit) => (self.value(cost, 2), limit),
            Limit::Shown => return None,
        };
        // Without a figure a goal is not met.
        Some(found.is_some_and(|found| found <= limit))
    }

    fn describe(&self, cost: &Cost) -> String {
        let size = |at: usize| self.sizes.get(at).map_or_else(String::new, |(size, _)| group(*size));
        match cost.limit {
            Limit::WholeGrowth(limit) => format!("first → last ≤ {limit}×"),
            Limit::MiddleGrowth(limit) => format!("{} → {} ≤ {limit}×", size(1), size(2)),
            Limit::AtThird(limit) => format!("≤ {limit} {} at {}", cost.unit, size(2)),
            Limit::Shown => String::new(),
        }
    }
}

/// `100000` as `100,000`.
fn group(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: &[Cost] = &[
        Cost::new("flat", "flat", "ms", Limit::WholeGrowth(1.2)),
        Cost::new("steep", "steep", "ms", Limit::MiddleGrowth(5.5)),
        Cost::new("gone", "gone", "ms", Limit::AtThird(1.0)),
    ];

    #[test]
    fn growth_is_judged_between_sizes_and_a_missing_figure_is_a_miss() {
        let mut table = Table::new("tasks", COSTS);
        for (size, flat, steep) in [(1000, 1.0, 1.0), (10_000, 5.0, 10.0), (50_000, 1.1, 60.0)] {
            table.add(size, Figures::from([("flat", flat), ("steep", steep)]));
        }
        let met: Vec<_> = COSTS.iter().map(|cost| table.is_met(cost)).collect();
        assert_eq!(met, [Some(true), Some(false), Some(false)]);
        assert_eq!(table.describe(&COSTS[1]), "10,000 → 50,000 ≤ 5.5×");
        assert_eq!(group(999), "999");
    }
}
