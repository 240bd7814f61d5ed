//! Whether a new edge would make beads wait for each other forever.

use std::collections::{HashMap, HashSet};

use super::bead::{Bead, Dependency};
use super::ready::{Edge, ReadyPolicy};
use super::snapshot::Snapshot;

/// Whether `edge`, added to `id`, closes a cycle. A bead waits for its blockers, for the blockers of its parents, and,
/// when it is an epic, for its children.
pub(super) fn closes(snapshot: &Snapshot, policy: &ReadyPolicy, id: &str, edge: &Dependency) -> bool {
    let kind = policy.edge(edge);
    if kind == Edge::Other {
        return false;
    }
    let mut graph = Graph::new(snapshot, policy);
    graph.add(id, edge.depends_on_id.as_str(), kind);
    // Beads that are parents of each other stay so.
    if kind == Edge::Parent {
        return graph.ancestors(id).contains(id) || graph.waits_for_itself(id);
    }
    graph.waits_for_itself(&edge.depends_on_id)
}

struct Graph<'a> {
    snapshot: &'a Snapshot,
    blockers: HashMap<&'a str, Vec<&'a str>>,
    parents: HashMap<&'a str, Vec<&'a str>>,
    children: HashMap<&'a str, Vec<&'a str>>,
}

impl<'a> Graph<'a> {
    fn new(snapshot: &'a Snapshot, policy: &ReadyPolicy) -> Self {
        let mut graph =
            Self { snapshot, blockers: HashMap::new(), parents: HashMap::new(), children: HashMap::new() };
        for bead in snapshot.beads().iter().filter(|bead| !bead.is_over()) {
            for edge in &bead.dependencies {
                graph.add(&bead.id, &edge.depends_on_id, policy.edge(edge));
            }
        }
        graph
    }

    fn add(&mut self, from: &'a str, to: &'a str, kind: Edge) {
        match kind {
            Edge::Blocks | Edge::WaitsFor => self.blockers.entry(from).or_default().push(to),
            Edge::Parent => {
                self.parents.entry(from).or_default().push(to);
                self.children.entry(to).or_default().push(from);
            }
            Edge::Other => {}
        }
    }

    /// The bead's parents and theirs, and so on.
    fn ancestors(&self, id: &str) -> HashSet<&'a str> {
        let mut found = HashSet::new();
        let mut waiting: Vec<&str> = targets(&self.parents, id).to_vec();
        while let Some(parent) = waiting.pop() {
            if found.insert(parent) {
                waiting.extend(targets(&self.parents, parent));
            }
        }
        found
    }

    fn waits_for_itself(&self, id: &str) -> bool {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut waiting = self.awaited(id);
        while let Some(next) = waiting.pop() {
            if next == id {
                return true;
            }
            if seen.insert(next) {
                waiting.extend(self.awaited(next));
            }
        }
        false
    }

    fn awaited(&self, id: &str) -> Vec<&'a str> {
        let mut found = targets(&self.blockers, id).to_vec();
        for parent in self.ancestors(id) {
            found.extend(targets(&self.blockers, parent));
        }
        if self.snapshot.get(id).is_some_and(|bead: &Bead| bead.issue_type() == "epic") {
            found.extend(targets(&self.children, id));
        }
        found
    }
}

fn targets<'a, 'b>(edges: &'b HashMap<&'a str, Vec<&'a str>>, id: &str) -> &'b [&'a str] {
    edges.get(id).map_or(&[], Vec::as_slice)
}
