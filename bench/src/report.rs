//! The table: for each line the peer's figure, Forge's, the ratio, the goal and whether it was met.
//!
//! A line is printed as soon as both sides of its row are measured; all of them are saved as JSON at the end, with the
//! tables of growth. A side that failed is shown with its reason and never counts as a goal met.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::figures::Figures;
use crate::growth::Table;

#[derive(Clone, Copy)]
pub enum Better {
    Lower,
    Higher,
}

#[derive(Clone, Copy)]
pub enum Goal {
    /// So many times better than the peer.
    Times(f64),
    AtMost(f64),
    Exactly(f64),
    /// At most so many times another of Forge's own figures.
    AtMostOf(&'static str, f64),
    /// Shown, not judged.
    Shown,
}

pub struct Line {
    pub key: &'static str,
    pub label: &'static str,
    pub unit: &'static str,
    pub better: Better,
    pub goal: Goal,
}

impl Line {
    pub const fn lower(key: &'static str, label: &'static str, unit: &'static str, goal: Goal) -> Line {
        Line { key, label, unit, better: Better::Lower, goal }
    }

    pub const fn higher(key: &'static str, label: &'static str, unit: &'static str, goal: Goal) -> Line {
        Line { key, label, unit, better: Better::Higher, goal }
    }
}

/// What one side of a row came to.
pub enum Outcome {
    Measured(Figures),
    Failed(String),
    Skipped,
}

impl Outcome {
    fn figure(&self, key: &str) -> Option<f64> {
        match self {
            Outcome::Measured(figures) => figures.get(key).copied(),
            Outcome::Failed(_) | Outcome::Skipped => None,
        }
    }

    fn failure(&self) -> Option<&str> {
        match self {
            Outcome::Failed(reason) => Some(reason),
            Outcome::Measured(_) | Outcome::Skipped => None,
        }
    }
}

#[derive(Default)]
pub struct Report {
    lines: Vec<Value>,
    growth: Vec<Value>,
    ours: Figures,
    misses: usize,
}

impl Report {
    pub fn print_head(&self) {
        println!("{:<52} {:>13} {:>13} {:>9}  {:<22}", "", "peer", "forge", "ratio", "goal");
    }

    pub fn add(&mut self, row: &str, lines: &[Line], peer: &Outcome, ours: &Outcome) {
        if let Outcome::Measured(figures) = ours {
            self.ours.extend(figures.iter().map(|(key, value)| (*key, *value)));
        }
        for (side, outcome) in [("peer", peer), ("forge", ours)] {
            if let Some(reason) = outcome.failure() {
                println!("{row}: {side}: failed ({})", reason.lines().next().unwrap_or_default());
                self.lines.push(json!({"row": row, "side": side, "failed": reason}));
            }
        }
        for line in lines {
            self.add_line(row, line, peer.figure(line.key), ours);
        }
    }

    fn add_line(&mut self, row: &str, line: &Line, peer: Option<f64>, outcome: &Outcome) {
        let ours = outcome.figure(line.key);
        let ratio = peer.zip(ours).and_then(|(peer, ours)| ratio(line.better, peer, ours));
        let met = match (ours, outcome) {
            (Some(value), _) => self.judge(line.goal, value, ratio),
            (None, Outcome::Failed(_)) => Some(false),
            (None, _) => None,
        };
        let verdict = match (line.goal, met) {
            (Goal::Shown, _) | (_, None) => "",
            (_, Some(true)) => "ok",
            (_, Some(false)) => "MISS",
        };
        self.misses += usize::from(verdict == "MISS");
        let goal = describe(line.goal, line.unit);
        println!(
            "{:<52} {:>13} {:>13} {:>9}  {goal:<22} {verdict}",
            format!("{row}: {}", line.label),
            show(peer, line.unit),
            show(ours, line.unit),
            ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.1}×")),
        );
        self.lines
            .push(json!({"row": row, "key": line.key, "label": line.label, "unit": line.unit, "peer": peer,
            "forge": ours, "ratio": ratio, "goal": goal, "met": met}));
    }

    fn judge(&self, goal: Goal, ours: f64, ratio: Option<f64>) -> Option<bool> {
        match goal {
            Goal::Times(wanted) => ratio.map(|ratio| ratio >= wanted),
            Goal::AtMost(limit) => Some(ours <= limit),
            Goal::Exactly(wanted) => Some((ours - wanted).abs() < 1e-9),
            Goal::AtMostOf(key, times) => self.ours.get(key).map(|other| ours <= other * times),
            Goal::Shown => None,
        }
    }

    /// A part that cannot be measured here; no miss.
    pub fn skip(&mut self, part: &str, reason: &str) {
        println!("{part}: skipped ({reason})");
        self.lines.push(json!({"row": part, "skipped": reason}));
    }

    /// A table of growth, or why there is none.
    pub fn add_growth(&mut self, name: &str, table: Result<Table>) {
        match table {
            Ok(table) => {
                table.print();
                self.misses += table.misses();
                self.growth.push(table.as_json());
            }
            Err(error) => {
                println!("{name}: failed ({error:#})");
                self.misses += 1;
                self.growth.push(json!({"table": name, "failed": format!("{error:#}")}));
            }
        }
    }

    pub fn misses(&self) -> usize {
        self.misses
    }

    pub fn save(&self, path: &Path, machine: &Value) -> Result<()> {
        let all =
            json!({"machine": machine, "misses": self.misses, "lines": self.lines, "growth": self.growth});
        std::fs::write(path, serde_json::to_string_pretty(&all)?)?;
        Ok(())
    }
}

fn ratio(better: Better, peer: f64, ours: f64) -> Option<f64> {
    let (over, under) = match better {
        Better::Lower => (peer, ours),
        Better::Higher => (ours, peer),
    };
    (under > 0.0).then(|| over / under)
}

pub fn show(value: Option<f64>, unit: &str) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if unit.is_empty() => format!("{value:.0}"),
        Some(value) if value.abs() < 10.0 => format!("{value:.2} {unit}"),
        Some(value) => format!("{value:.0} {unit}"),
    }
}

fn describe(goal: Goal, unit: &str) -> String {
    match goal {
        Goal::Times(times) => format!("{times}× the peer"),
        Goal::AtMost(limit) => format!("≤ {limit} {unit}"),
        Goal::Exactly(wanted) => format!("= {wanted} {unit}"),
        Goal::AtMostOf(key, times) => format!("≤ {times} × {key}"),
        Goal::Shown => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINES: &[Line] = &[Line::lower("time_ms", "time", "ms", Goal::Times(5.0))];

    fn measured(value: f64) -> Outcome {
        Outcome::Measured(Figures::from([("time_ms", value)]))
    }

    #[test]
    fn a_goal_is_judged_against_the_peer_of_the_same_run() {
        let mut report = Report::default();
        report.add("row", LINES, &measured(10.0), &measured(2.0));
        assert_eq!(report.misses(), 0);
        report.add("row", LINES, &measured(10.0), &measured(3.0));
        assert_eq!(report.misses(), 1);
    }

    #[test]
    fn a_failure_of_forge_is_a_miss_and_one_of_the_peer_is_not() {
        let mut report = Report::default();
        report.add("row", LINES, &Outcome::Failed("gone".into()), &measured(2.0));
        assert_eq!(report.misses(), 0);
        report.add("row", LINES, &measured(2.0), &Outcome::Failed("gone".into()));
        assert_eq!(report.misses(), 1);
    }
}
