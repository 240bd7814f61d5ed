//! The order of work: a sum of four parts, 0 to 100, all of them kept.

use forge_types::ScoreComponents;

use crate::complexity::Complexity;
use crate::route::Candidate;
use crate::work::Work;

/// Scores pieces of work.
#[derive(Clone, Copy, Debug)]
pub struct TaskScorer {
    /// New workers that may still be started.
    room: usize,
}

/// The score of a piece of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scored {
    pub components: ScoreComponents,
    pub complexity: Complexity,
}

impl Default for TaskScorer {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskScorer {
    /// For a fleet that may always start a new worker.
    pub fn new() -> Self {
        Self { room: usize::MAX }
    }

    pub fn with_room(mut self, room: usize) -> Self {
        self.room = room;
        self
    }

    /// If no worker is free and none may be started, the work waits behind what the workers have.
    pub fn score_bead(&self, work: &Work, workers: &[Candidate]) -> Scored {
        let complexity = Complexity::of(work);
        let wait = match self.room > 0 || workers.iter().any(|worker| worker.free) {
            true => Wait::None,
            false => Wait::Behind(workers.len()),
        };
        Scored { components: score(work, &complexity, wait), complexity }
    }
}

/// How long work waits for a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wait {
    /// A worker is free, or a new one may be started.
    None,
    /// This many pieces of work are ahead of it.
    Behind(usize),
}

fn score(work: &Work, complexity: &Complexity, wait: Wait) -> ScoreComponents {
    ScoreComponents {
        priority: 40 - 10 * work.priority.get(),
        kind: match work.kind.as_str() {
            "bug" => 30,
            "feature" => 20,
            "task" => 15,
            "epic" => 0,
            _ => 10,
        },
        // At most 15, so the conversion is exact.
        complexity: (0.15 * complexity.total()).round() as u8,
        availability: match wait {
            Wait::None => 15,
            Wait::Behind(count) => {
                12u8.saturating_sub(u8::try_from(count).unwrap_or(u8::MAX).saturating_mul(3))
            }
        },
    }
}

/// Highest score first; among equals the older one.
pub fn order(work: &mut [(Work, ScoreComponents)]) {
    work.sort_by(|(a, one), (b, other)| {
        other.total().cmp(&one.total()).then(a.created_at_ms.cmp(&b.created_at_ms)).then(a.id.cmp(&b.id))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Priority;

    fn work(id: &str, priority: u8, kind: &str, created_at_ms: i64) -> Work {
        Work {
            id: id.to_owned(),
            title: "Something of a usual length".to_owned(),
            description: String::new(),
            priority: Priority::new(priority),
            kind: kind.to_owned(),
            labels: Vec::new(),
            created_at_ms,
            blocks: 0,
            files: None,
        }
    }

    fn scored(work: Work, wait: Wait) -> (Work, ScoreComponents) {
        let components = score(&work, &Complexity::of(&work), wait);
        (work, components)
    }

    #[test]
    fn the_parts_have_their_bounds() {
        let (_, best) = scored(work("a", 0, "bug", 0), Wait::None);
        assert_eq!((best.priority, best.kind, best.availability), (40, 30, 15));
        assert!(best.complexity <= 15 && best.total() <= 100);
        let (_, least) = scored(work("b", 9, "epic", 0), Wait::Behind(50));
        assert_eq!((least.priority, least.kind, least.availability), (0, 0, 0));
    }

    #[test]
    fn work_is_worth_less_where_it_has_to_wait() {
        let busy = Candidate {
            id: forge_types::WorkerId::new("w").unwrap(),
            model: "m".to_owned(),
            free: false,
            knows: Vec::new(),
        };
        let free = Candidate { free: true, ..busy.clone() };
        let availability = |scorer: TaskScorer, workers: &[Candidate]| {
            scorer.score_bead(&work("a", 2, "task", 0), workers).components.availability
        };
        let full = TaskScorer::new().with_room(0);
        assert_eq!(availability(TaskScorer::new(), &[]), 15);
        assert_eq!(availability(full, std::slice::from_ref(&busy)), 9);
        assert_eq!(availability(full, &[busy, free]), 15);
    }

    #[test]
    fn urgent_bugs_come_first_and_of_equals_the_older() {
        let mut queue = vec![
            scored(work("later", 2, "task", 20), Wait::None),
            scored(work("chore", 3, "chore", 1), Wait::None),
            scored(work("earlier", 2, "task", 10), Wait::None),
            scored(work("fire", 0, "bug", 99), Wait::None),
        ];
        order(&mut queue);
        let ids: Vec<&str> = queue.iter().map(|(work, _)| work.id.as_str()).collect();
        assert_eq!(ids, ["fire", "earlier", "later", "chore"]);
    }
}
