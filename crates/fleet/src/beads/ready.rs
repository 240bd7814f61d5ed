//! Which beads can be worked on now, by the rules of each tool.
//!
//! Owns [`ReadyPolicy`], one per flavour: the tools agree on the terms and differ in the details. Invariant: the work
//! is linear in beads and edges. A blocked parent is passed down to its children once, never looked up again.

use std::cmp::Reverse;
use std::collections::HashSet;

use jiff::Timestamp;

use super::bead::{Bead, Dependency, Status, Time};
use super::snapshot::Snapshot;

/// What the tools do differently.
#[derive(Debug, PartialEq, Eq)]
pub struct ReadyPolicy {
    /// Whether a pinned blocker still blocks.
    pinned_blocks: bool,
    /// Whether `waits-for` means the target itself; else it means the target's children.
    waits_for_target: bool,
    /// Whether an epic waits until its children are closed.
    epic_waits: bool,
    /// Whether a parent with a date in the future hides its children.
    deferred_parent_hides: bool,
    /// Whether `parent_child` is `parent-child`.
    joins_spellings: bool,
    /// Whether an edge to another project, which cannot be looked up here, blocks.
    external_blocks: bool,
    /// Whether templates and beads named `-wisp-` are left out.
    skips_templates: bool,
    hidden_types: &'static [&'static str],
    order: Order,
}

#[derive(Debug, PartialEq, Eq)]
enum Order {
    /// By priority, the newest first.
    PriorityThenNewest,
    /// By priority, the oldest first.
    PriorityThenOldest,
    /// P0 and P1 first, and within both groups the oldest first.
    UrgentThenOldest,
}

/// Whether a bead can be worked on, or what prevents it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Standing {
    Ready,
    /// Its status is not open.
    NotOpen,
    /// It is not work: pinned, ephemeral, a template, or of a type that the tool hides.
    Hidden,
    /// It, or its parent, waits for a date.
    Deferred,
    /// These beads, or their children, must be closed first.
    Blocked(Vec<String>),
    /// This parent is blocked.
    ParentBlocked(String),
    /// An epic whose children are not closed.
    OpenChildren(Vec<String>),
}

/// Selects among the ready beads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub unassigned: bool,
    pub assignee: Option<String>,
    /// All of them.
    pub labels: Vec<String>,
    /// One of them; empty means any.
    pub types: Vec<String>,
    /// At least as urgent as this.
    pub max_priority: Option<i64>,
    pub limit: Option<usize>,
}

impl ReadyPolicy {
    pub const BD: Self = Self {
        pinned_blocks: false,
        waits_for_target: false,
        epic_waits: false,
        deferred_parent_hides: true,
        joins_spellings: false,
        external_blocks: false,
        skips_templates: false,
        hidden_types: &["merge-request", "gate", "molecule", "message", "agent", "role", "rig"],
        order: Order::PriorityThenNewest,
    };

    /// bd up to 0.49: as far as recorded, it differs in the order alone.
    pub const CLASSIC_BD: Self = Self { order: Order::PriorityThenOldest, ..Self::BD };

    pub const BR: Self = Self {
        pinned_blocks: true,
        waits_for_target: true,
        epic_waits: true,
        deferred_parent_hides: false,
        joins_spellings: true,
        external_blocks: true,
        skips_templates: true,
        hidden_types: &[],
        order: Order::UrgentThenOldest,
    };

    /// The ready beads that pass the filter, in the order of the tool.
    pub fn ready<'a>(&self, snapshot: &'a Snapshot, filter: &Filter, now: Timestamp) -> Vec<&'a Bead> {
        let standings = self.standings(snapshot, now);
        let beads = snapshot.beads().iter().zip(&standings);
        let ready = beads.filter(|(bead, standing)| **standing == Standing::Ready && filter.wants(bead));
        let mut ready: Vec<&Bead> = ready.map(|(bead, _)| bead).collect();
        let created = |bead: &Bead| bead.created_at.as_ref().and_then(Time::at);
        match self.order {
            Order::PriorityThenNewest => {
                ready.sort_by_key(|bead| (bead.priority(), Reverse(created(bead)), bead.id.as_str()));
            }
            Order::PriorityThenOldest => {
                ready.sort_by_key(|bead| (bead.priority(), created(bead), bead.id.as_str()));
            }
            Order::UrgentThenOldest => {
                ready.sort_by_key(|bead| (bead.priority() > 1, created(bead), bead.id.as_str()));
            }
        }
        ready.truncate(filter.limit.unwrap_or(usize::MAX));
        ready
    }

    /// The state of each bead, in the snapshot's order.
    pub fn standings(&self, snapshot: &Snapshot, now: Timestamp) -> Vec<Standing> {
        Evaluation::new(self, snapshot).standings(now)
    }

    /// The beads that must be closed before this one, not counting those of its parents.
    pub fn blockers(&self, snapshot: &Snapshot, id: &str) -> Vec<String> {
        let evaluation = Evaluation::new(self, snapshot);
        snapshot.place(id).map(|place| evaluation.blockers(place)).unwrap_or_default()
    }

    pub(super) fn edge(&self, dependency: &Dependency) -> Edge {
        let joined;
        let kind = match dependency.kind() {
            kind if self.joins_spellings && kind.contains('_') => {
                joined = kind.replace('_', "-");
                joined.as_str()
            }
            kind => kind,
        };
        match kind {
            "blocks" | "conditional-blocks" => Edge::Blocks,
            "waits-for" => Edge::WaitsFor,
            "parent-child" => Edge::Parent,
            _ => Edge::Other,
        }
    }

    /// Whether a bead no longer holds up those that depend on it.
    fn lets_go(&self, bead: &Bead) -> bool {
        bead.is_over() || (!self.pinned_blocks && *bead.status() == Status::Pinned)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Edge {
    Blocks,
    WaitsFor,
    Parent,
    Other,
}

impl Filter {
    pub fn wants(&self, bead: &Bead) -> bool {
        !(self.unassigned && bead.assignee().is_some())
            && self.assignee.as_deref().is_none_or(|name| bead.assignee() == Some(name))
            && self.labels.iter().all(|label| bead.labels.contains(label))
            && (self.types.is_empty() || self.types.iter().any(|kind| kind == bead.issue_type()))
            && self.max_priority.is_none_or(|most| bead.priority() <= most)
    }
}

struct Evaluation<'a> {
    policy: &'a ReadyPolicy,
    snapshot: &'a Snapshot,
    parents: Vec<Vec<usize>>,
    children: Vec<Vec<usize>>,
    /// For each bead, how many of its children still block their dependents, and how many are closed.
    open_children: Vec<usize>,
    closed_children: Vec<usize>,
    #[cfg(test)]
    steps: std::cell::Cell<usize>,
}

impl<'a> Evaluation<'a> {
    fn new(policy: &'a ReadyPolicy, snapshot: &'a Snapshot) -> Self {
        let count = snapshot.beads().len();
        let (mut parents, mut children) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        let (mut open_children, mut closed_children) = (vec![0; count], vec![0; count]);
        for (place, bead) in snapshot.beads().iter().enumerate() {
            for dependency in &bead.dependencies {
                if policy.edge(dependency) == Edge::Parent
                    && let Some(parent) = snapshot.place(&dependency.depends_on_id)
                {
                    parents[place].push(parent);
                    children[parent].push(place);
                    open_children[parent] += usize::from(!policy.lets_go(bead));
                    closed_children[parent] += usize::from(*bead.status() == Status::Closed);
                }
            }
        }
        Self {
            policy,
            snapshot,
            parents,
            children,
            open_children,
            closed_children,
            #[cfg(test)]
            steps: std::cell::Cell::new(0),
        }
    }

    fn standings(&self, now: Timestamp) -> Vec<Standing> {
        let beads = self.snapshot.beads();
        let blockers: Vec<Vec<String>> = (0..beads.len()).map(|place| self.blockers(place)).collect();
        let blocked_parent = self.push_down(&blockers);
        let mut standings = Vec::with_capacity(beads.len());
        for (place, blockers) in blockers.into_iter().enumerate() {
            let bead = &beads[place];
            let open_children = || self.names(&self.children[place], |child| !child.is_over());
            standings.push(if *bead.status() != Status::Open {
                Standing::NotOpen
            } else if self.is_hidden(bead) {
                Standing::Hidden
            } else if bead.is_deferred(now) || self.has_deferred_parent(place, now) {
                Standing::Deferred
            } else if !blockers.is_empty() {
                Standing::Blocked(blockers)
            } else if let Some(parent) = blocked_parent[place] {
                Standing::ParentBlocked(beads[parent].id.clone())
            } else if self.policy.epic_waits && bead.issue_type() == "epic" && !open_children().is_empty() {
                Standing::OpenChildren(open_children())
            } else {
                Standing::Ready
            });
        }
        standings
    }

    fn is_hidden(&self, bead: &Bead) -> bool {
        let is_template = bead.is_template == Some(true) || bead.id.contains("-wisp-");
        bead.pinned == Some(true)
            || bead.ephemeral == Some(true)
            || (self.policy.skips_templates && is_template)
            || self.policy.hidden_types.contains(&bead.issue_type())
    }

    fn has_deferred_parent(&self, place: usize, now: Timestamp) -> bool {
        let beads = self.snapshot.beads();
        self.policy.deferred_parent_hides
            && self.parents[place].iter().any(|parent| beads[*parent].is_deferred(now))
    }

    /// What blocks a bead itself. A target that does not exist blocks nothing.
    fn blockers(&self, place: usize) -> Vec<String> {
        let bead = &self.snapshot.beads()[place];
        let mut found = Vec::new();
        if self.policy.lets_go(bead) {
            return found;
        }
        for dependency in &bead.dependencies {
            self.step();
            let edge = self.policy.edge(dependency);
            if !matches!(edge, Edge::Blocks | Edge::WaitsFor) {
                continue;
            }
            let on = &dependency.depends_on_id;
            let Some(target) = self.snapshot.place(on) else {
                if self.policy.external_blocks && on.starts_with("external:") {
                    found.push(on.clone());
                }
                continue;
            };
            let blocker = &self.snapshot.beads()[target];
            let is_template = self.policy.skips_templates && blocker.is_template == Some(true);
            let blocks = match edge {
                Edge::WaitsFor if !self.policy.waits_for_target => self.awaits_children(target, dependency),
                _ => !self.policy.lets_go(blocker) && !is_template,
            };
            if blocks {
                found.push(on.clone());
            }
        }
        found
    }

    /// Whether an edge that waits for the children of its target still waits.
    fn awaits_children(&self, target: usize, dependency: &Dependency) -> bool {
        let is_released =
            gate(dependency).as_deref() == Some("any-children") && self.closed_children[target] > 0;
        self.open_children[target] > 0 && !is_released
    }

    /// For each bead the blocked parent that blocks it, through any number of generations.
    fn push_down(&self, blockers: &[Vec<String>]) -> Vec<Option<usize>> {
        let beads = self.snapshot.beads();
        let mut by = vec![None; beads.len()];
        let mut waiting: Vec<usize> = (0..beads.len()).filter(|place| !blockers[*place].is_empty()).collect();
        let mut seen: HashSet<usize> = waiting.iter().copied().collect();
        while let Some(parent) = waiting.pop() {
            for &child in &self.children[parent] {
                self.step();
                if self.policy.lets_go(&beads[child]) {
                    continue;
                }
                by[child] = Some(parent);
                if seen.insert(child) {
                    waiting.push(child);
                }
            }
        }
        by
    }

    fn names(&self, places: &[usize], wanted: impl Fn(&Bead) -> bool) -> Vec<String> {
        let beads = places.iter().map(|place| &self.snapshot.beads()[*place]);
        beads.filter(|bead| wanted(bead)).map(|bead| bead.id.clone()).collect()
    }

    /// Counts visited edges: a test compares the sum with the number of edges.
    fn step(&self) {
        #[cfg(test)]
        self.steps.set(self.steps.get() + 1);
    }
}

/// The gate of an edge, from its metadata, which is JSON within a string.
fn gate(dependency: &Dependency) -> Option<String> {
    let metadata = dependency.rest.get("metadata")?.as_str()?;
    let metadata: serde_json::Value = serde_json::from_str(metadata).ok()?;
    metadata.get("gate")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests;
