//! Estimates the difficulty of work, from 0 to 100.
//!
//! Invariant: pure and explainable: a weighted sum of five parts, all of them kept. Only whole words count: there is no
//! "ai" in *main* and no "log" in *login*.

use forge_types::WorkerTier;
use serde::{Deserialize, Serialize};

use crate::work::Work;

const HARD: &[&str] = &[
    "architecture",
    "refactor",
    "redesign",
    "concurrency",
    "race",
    "deadlock",
    "security",
    "migration",
    "performance",
    "distributed",
    "algorithm",
    "protocol",
    "integration",
    "rewrite",
];
const EASY: &[&str] = &[
    "typo",
    "rename",
    "comment",
    "docs",
    "readme",
    "bump",
    "formatting",
    "cleanup",
    "simple",
    "trivial",
    "lint",
];
const REASONING: &[&str] =
    &["why", "investigate", "design", "analyse", "analyze", "prove", "tradeoff", "root"];
const HARD_LABELS: &[&str] = &["architecture", "critical", "complex", "security", "performance"];
const EASY_LABELS: &[&str] = &["docs", "good-first-issue", "trivial", "chore", "cleanup"];

/// Each part from 0 to 100; [`Complexity::total`] weighs them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Complexity {
    pub text: f64,
    pub labels: f64,
    pub files: f64,
    pub blocks: f64,
    pub kind: f64,
    /// The text asks for reasoning rather than for doing.
    pub reasoning: bool,
}

impl Complexity {
    pub fn of(work: &Work) -> Self {
        let words = words(&format!("{} {}", work.title, work.description));
        let reasoning = count(&words, REASONING) > 0;
        Self {
            text: rate_text(work, &words, reasoning),
            labels: rate_labels(&work.labels),
            files: rate_files(work.files),
            blocks: rate_blocks(work.blocks),
            kind: match (reasoning, work.kind.as_str()) {
                (true, _) => 80.0,
                (false, "feature") => 60.0,
                (false, _) => 50.0,
            },
            reasoning,
        }
    }

    pub fn total(&self) -> f64 {
        let sum =
            0.30 * self.text + 0.25 * self.labels + 0.20 * self.files + 0.15 * self.blocks + 0.10 * self.kind;
        sum.clamp(0.0, 100.0)
    }

    /// The tier for this difficulty alone.
    pub fn tier(&self, cuts: Cuts) -> WorkerTier {
        match self.total() {
            total if total <= cuts.budget => WorkerTier::Budget,
            total if total <= cuts.standard => WorkerTier::Standard,
            _ => WorkerTier::Premium,
        }
    }
}

/// The highest complexity of each tier.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cuts {
    pub budget: f64,
    pub standard: f64,
}

impl Default for Cuts {
    fn default() -> Self {
        Self { budget: 30.0, standard: 60.0 }
    }
}

fn rate_text(work: &Work, words: &[String], reasoning: bool) -> f64 {
    let mut rating = 50.0 + 8.0 * count(words, HARD) as f64 - 8.0 * count(words, EASY) as f64;
    if reasoning {
        rating += 15.0;
    }
    match work.title.chars().count() {
        length if length < 20 => rating -= 5.0,
        length if length > 80 => rating += 5.0,
        _ => {}
    }
    rating.clamp(0.0, 100.0)
}

fn rate_labels(labels: &[String]) -> f64 {
    let has =
        |known: &[&str]| labels.iter().filter(|label| known.contains(&label.to_lowercase().as_str())).count();
    (50.0 + 12.0 * has(HARD_LABELS) as f64 - 10.0 * has(EASY_LABELS) as f64).clamp(0.0, 100.0)
}

fn rate_files(files: Option<usize>) -> f64 {
    match files {
        None => 50.0,
        Some(0) => 30.0,
        Some(1) => 35.0,
        Some(2..=3) => 45.0,
        Some(4..=5) => 55.0,
        Some(6..=10) => 65.0,
        Some(count) => (65.0 + 3.5 * (count as f64 - 10.0)).min(100.0),
    }
}

fn rate_blocks(blocks: usize) -> f64 {
    match blocks {
        0 => 40.0,
        1 => 50.0,
        2 => 60.0,
        3..=5 => 70.0,
        _ => 85.0,
    }
}

fn words(text: &str) -> Vec<String> {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric() && c != '-').map(str::to_owned).collect()
}

/// Each known word counts once, however often it occurs.
fn count(words: &[String], known: &[&str]) -> usize {
    known.iter().filter(|name| words.iter().any(|word| word == **name)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Priority;

    pub fn work(title: &str, kind: &str, labels: &[&str]) -> Work {
        Work {
            id: "fg-1".to_owned(),
            title: title.to_owned(),
            description: String::new(),
            priority: Priority::new(2),
            kind: kind.to_owned(),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            created_at_ms: 0,
            blocks: 0,
            files: None,
        }
    }

    #[test]
    fn words_count_whole() {
        let plain = Complexity::of(&work("Maintain the login email chain", "task", &[]));
        assert_eq!(plain.text, 50.0);
        let said = Complexity::of(&work("Redesign the storage architecture", "task", &[]));
        assert_eq!(said.text, 66.0);
    }

    #[test]
    fn easy_work_is_budget_and_hard_work_is_premium() {
        let cuts = Cuts::default();
        let mut easy = work("Fix typo in readme docs", "task", &["docs", "trivial", "good-first-issue"]);
        easy.files = Some(0);
        assert_eq!(Complexity::of(&easy).tier(cuts), WorkerTier::Budget, "{:?}", Complexity::of(&easy));
        let mut hard = work(
            "Investigate the deadlock in the distributed protocol",
            "bug",
            &["architecture", "critical"],
        );
        (hard.files, hard.blocks) = (Some(30), 6);
        assert_eq!(Complexity::of(&hard).tier(cuts), WorkerTier::Premium, "{:?}", Complexity::of(&hard));
        let usual = work("Add a button that exports the table", "feature", &[]);
        assert_eq!(Complexity::of(&usual).tier(cuts), WorkerTier::Standard);
    }
}
