//! What came of it: agent × case, and below it the story of every failure.

use std::fmt;

use crate::agent::{Agent, Gate};
use crate::cases::Case;

const WHY_CHARS: usize = 160;

pub enum Cell {
    Ok,
    /// Why in a line, and what was seen.
    Failed {
        why: String,
        story: String,
    },
    Skipped(String),
}

impl Cell {
    pub fn failed(why: String) -> Cell {
        Cell::Failed { why, story: String::new() }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Cell::Ok => "ok",
            Cell::Failed { .. } => "FAILED",
            Cell::Skipped(_) => "skipped",
        }
    }
}

pub struct Table {
    cases: Vec<&'static str>,
    rows: Vec<(&'static Agent, Vec<Cell>)>,
}

impl Table {
    pub fn new(cases: &[&'static Case]) -> Table {
        Table { cases: cases.iter().map(|case| case.name).collect(), rows: Vec::new() }
    }

    pub fn add(&mut self, agent: &'static Agent, cells: Vec<Cell>) {
        self.rows.push((agent, cells));
    }

    /// Whether every cell of every gate agent is ok. The others are shown and decide nothing.
    pub fn is_green(&self) -> bool {
        let mut gates = self.rows.iter().filter(|(agent, _)| agent.gate == Gate::Yes);
        gates.all(|(_, cells)| cells.iter().all(|cell| matches!(cell, Cell::Ok)))
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(WHY_CHARS).collect()
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> =
            self.rows.iter().map(|(agent, _)| format!("{} {}", agent.name, agent.version)).collect();
        let first = names.iter().map(String::len).max().unwrap_or(0);
        let width = self.cases.iter().map(|case| case.len()).max().unwrap_or(0).max("skipped".len());
        for (name, (_, cells)) in names.iter().zip(&self.rows) {
            for (case, cell) in self.cases.iter().zip(cells) {
                if let Cell::Failed { why, story } = cell {
                    writeln!(f, "\n--- {name}: {case}\n{why}")?;
                    if !story.is_empty() {
                        writeln!(f, "{}", story.trim_end())?;
                    }
                }
            }
        }
        write!(f, "\n{:first$}", "")?;
        for case in &self.cases {
            write!(f, "  {case:width$}")?;
        }
        writeln!(f)?;
        for (name, (_, cells)) in names.iter().zip(&self.rows) {
            write!(f, "{name:first$}")?;
            for cell in cells {
                write!(f, "  {:width$}", cell.word())?;
            }
            writeln!(f)?;
        }
        for (name, (_, cells)) in names.iter().zip(&self.rows) {
            let mut reasons: Vec<String> = Vec::new();
            for (case, cell) in self.cases.iter().zip(cells) {
                let reason = match cell {
                    Cell::Ok => continue,
                    Cell::Failed { why, .. } => format!("{case}: FAILED ({})", first_line(why)),
                    Cell::Skipped(why) => format!("skipped ({why})"),
                };
                if !reasons.contains(&reason) {
                    reasons.push(reason);
                }
            }
            for reason in reasons {
                writeln!(f, "{name}: {reason}")?;
            }
        }
        Ok(())
    }
}
