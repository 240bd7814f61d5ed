//! The processes of a run: everything that descends from its keeper.
//!
//! Invariant: on Linux the keeper is a child subreaper, so even a descendant with its own session or without a
//! living parent stays in the tree, and the tree is gone exactly when the keeper has no child left. On other
//! systems the agent's process group is used to find processes that have left the tree.

use std::collections::HashMap;

use forge_os::process::{Entry, Identity, Life, boot, list, with_variable};

/// Set in every agent's environment; identifies the keeper of a process after that keeper is gone.
pub(crate) const MARK: &str = "FORGE_KEEPER";

/// The mark's value for a keeper.
pub(crate) fn mark(keeper: Identity) -> String {
    format!("{}.{}", keeper.pid, keeper.start_time)
}

/// The keeper that a mark names.
pub(crate) fn keeper_of(mark: &str) -> Option<Identity> {
    let (pid, start_time) = mark.split_once('.')?;
    Some(Identity { pid: pid.parse().ok()?, start_time: start_time.parse().ok()?, boot: boot() })
}

/// The living processes of the run kept by `keeper`, without the keeper.
pub(crate) fn members(keeper: u32, agent: Identity) -> Vec<Identity> {
    let table = list();
    let mut found = descendants(&table, keeper);
    if !cfg!(target_os = "linux") {
        add_missing(&mut found, group_of(&table, agent));
    }
    found
}

/// Whether nothing of the run is left, given that the keeper has no child any more.
pub(crate) fn is_gone_without_children(keeper: u32, agent: Identity) -> bool {
    cfg!(target_os = "linux") || members(keeper, agent).is_empty()
}

/// What is left of a run whose keeper is gone: the agent, its group, its descendants and every process with the
/// mark.
pub(crate) fn leftovers(keeper: Identity, agent: Option<Identity>) -> Vec<Identity> {
    let table = list();
    let mut found = with_variable(MARK, &mark(keeper));
    if let Some(agent) = agent.filter(|agent| agent.is_alive()) {
        add_missing(&mut found, vec![agent]);
        add_missing(&mut found, group_of(&table, agent));
        add_missing(&mut found, descendants(&table, agent.pid));
    }
    found.retain(|identity| identity.pid != std::process::id());
    found
}

fn descendants(table: &[Entry], root: u32) -> Vec<Identity> {
    let mut children: HashMap<u32, Vec<&Entry>> = HashMap::new();
    for entry in table {
        children.entry(entry.parent).or_default().push(entry);
    }
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(parent) = open.pop() {
        for entry in children.remove(&parent).unwrap_or_default() {
            open.push(entry.identity.pid);
            if entry.life == Life::Alive {
                found.push(entry.identity);
            }
        }
    }
    found
}

/// A group is named after its leader's pid, so it may be a different group once the leader is gone.
fn group_of(table: &[Entry], leader: Identity) -> Vec<Identity> {
    let ours = table.iter().any(|entry| entry.identity == leader);
    let of_group = |entry: &&Entry| ours && entry.group == leader.pid && entry.life == Life::Alive;
    table.iter().filter(of_group).map(|entry| entry.identity).collect()
}

fn add_missing(found: &mut Vec<Identity>, more: Vec<Identity>) {
    for identity in more {
        if !found.contains(&identity) {
            found.push(identity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: u32, parent: u32, life: Life) -> Entry {
        let identity = Identity { pid, start_time: 1, boot: boot() };
        let (name, resident_bytes, has_terminal) = (String::new(), 0, false);
        Entry { identity, parent, group: pid, session: pid, has_terminal, life, name, resident_bytes }
    }

    #[test]
    fn the_tree_is_everything_below_and_nothing_else() {
        use Life::{Alive, Zombie};
        let table = [
            entry(1, 0, Alive),
            entry(10, 1, Alive),
            entry(11, 10, Alive),
            entry(12, 11, Zombie),
            entry(13, 12, Alive),
            entry(20, 1, Alive),
        ];
        let mut pids: Vec<_> = descendants(&table, 10).iter().map(|i| i.pid).collect();
        pids.sort_unstable();
        assert_eq!(pids, [11, 13]);
    }
}
