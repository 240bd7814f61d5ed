//! The process table at one moment, and the trees in it.

use std::collections::HashMap;

use forge_os::process::{Entry, Identity, Life, arguments, list};

/// Programs that show a prompt if they have nothing to run.
const SHELLS: &[&str] =
    &["sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "ash", "tcsh", "csh", "nu", "busybox"];

/// What runs in a pane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Something runs: this process.
    Agent(Identity),
    /// A shell that waits for input: the agent has ended and left it behind, or was never started.
    IdleShell,
    Gone,
}

/// One reading of all processes. Reads files or runs `ps`: not for async code.
#[derive(Clone, Debug)]
pub struct Table {
    entries: HashMap<u32, Entry>,
    children: HashMap<u32, Vec<u32>>,
}

impl Table {
    pub fn read() -> Table {
        Table::new(list())
    }

    /// Where nothing could be read.
    pub(crate) fn empty() -> Table {
        Table::new(Vec::new())
    }

    fn new(all: Vec<Entry>) -> Table {
        let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
        for entry in &all {
            children.entry(entry.parent).or_default().push(entry.identity.pid);
        }
        Table { entries: all.into_iter().map(|entry| (entry.identity.pid, entry)).collect(), children }
    }

    pub fn get(&self, pid: u32) -> Option<&Entry> {
        self.entries.get(&pid)
    }

    pub fn life(&self, process: Identity) -> Life {
        self.get(process.pid).filter(|entry| entry.identity == process).map_or(Life::Gone, |entry| entry.life)
    }

    /// The living processes below `root`, at any depth, without itself.
    pub fn below(&self, root: u32) -> Vec<&Entry> {
        let mut found = Vec::new();
        // Everything is below process 1, and no pane is process 1: the caller's pid is wrong.
        let mut open = if root > 1 { vec![root] } else { Vec::new() };
        while let Some(parent) = open.pop() {
            for pid in self.children.get(&parent).into_iter().flatten().filter(|pid| **pid != parent) {
                open.push(*pid);
                found.extend(self.get(*pid).filter(|entry| entry.life == Life::Alive));
            }
        }
        found
    }

    /// `root` and everything that lives below it.
    pub fn tree(&self, root: u32) -> Vec<&Entry> {
        let itself = self.get(root).filter(|entry| root > 1 && entry.life == Life::Alive);
        itself.into_iter().chain(self.below(root)).collect()
    }

    /// The tree of a pane's process, and processes that left the tree but not the pane's session when a parent died.
    pub fn pane(&self, root: u32) -> Vec<&Entry> {
        let mut found = self.tree(root);
        // An unknown session is 0, as is that of processes that must not be ended.
        let same = |entry: &&Entry| root > 1 && entry.session == root && entry.life == Life::Alive;
        let strays = self.entries.values().filter(same);
        for stray in strays {
            if !found.iter().any(|entry| entry.identity == stray.identity) {
                found.push(stray);
            }
        }
        found
    }

    /// Resident memory of the whole tree.
    pub fn resident_bytes(&self, root: u32) -> u64 {
        self.tree(root).iter().map(|entry| entry.resident_bytes).sum()
    }

    /// Whether the process is a shell that waits at its prompt, now or when what it runs has ended.
    pub(crate) fn is_prompt(&self, pid: u32) -> bool {
        self.get(pid).is_some_and(is_shell) && is_prompt(&arguments(pid))
    }

    /// Whether an agent runs in the pane whose process is `root`.
    pub fn work(&self, root: u32) -> Work {
        let Some(entry) = self.get(root).filter(|entry| entry.life == Life::Alive) else { return Work::Gone };
        if !is_shell(entry) {
            return Work::Agent(entry.identity);
        }
        let below = self.below(root);
        // A child that is not a shell is the agent rather than a wrapper around it.
        let agent = below.iter().find(|entry| !is_shell(entry)).or(below.first());
        match agent {
            Some(agent) => Work::Agent(agent.identity),
            None if is_prompt(&arguments(root)) => Work::IdleShell,
            None => Work::Agent(entry.identity),
        }
    }
}

fn is_shell(entry: &Entry) -> bool {
    SHELLS.contains(&entry.name.trim_start_matches('-'))
}

/// A shell without a script and without `-c` reads from its terminal.
fn is_prompt(arguments: &[String]) -> bool {
    let rest = arguments.get(1..).unwrap_or_default();
    rest.iter().all(|word| word.starts_with("--") || word.starts_with('-') && !word.contains('c'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(pid: u32, parent: u32, life: Life) -> Entry {
        let identity = Identity { pid, start_time: 1, boot: forge_os::process::boot() };
        let (name, resident_bytes) = (format!("p{pid}"), u64::from(pid));
        Entry { identity, parent, group: 10, session: 10, has_terminal: true, life, name, resident_bytes }
    }

    fn pids(entries: Vec<&Entry>) -> Vec<u32> {
        let mut pids: Vec<_> = entries.iter().map(|entry| entry.identity.pid).collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn a_tree_is_everything_below_and_nothing_else() {
        use Life::{Alive, Zombie};
        let stray = entry(30, 1, Alive);
        let other = Entry { session: 1, ..entry(20, 1, Alive) };
        let table = Table::new(vec![
            Entry { session: 1, ..entry(1, 0, Alive) },
            entry(10, 1, Alive),
            entry(11, 10, Alive),
            entry(12, 11, Zombie),
            entry(13, 12, Alive),
            other,
            stray,
        ]);
        assert_eq!(pids(table.below(10)), [11, 13]);
        assert_eq!(pids(table.tree(10)), [10, 11, 13]);
        assert_eq!(pids(table.pane(10)), [10, 11, 13, 30]);
        assert_eq!(table.resident_bytes(10), 34);
        assert_eq!(table.work(12), Work::Gone);
        assert_eq!(table.work(99), Work::Gone);
    }

    #[test]
    fn a_pid_that_is_none_has_no_tree() {
        let outside = |pid, parent| Entry { session: 0, ..entry(pid, parent, Life::Alive) };
        let table = Table::new(vec![outside(1, 0), outside(2, 0), outside(5, 1)]);
        for root in [0, 1] {
            assert_eq!(pids(table.pane(root)), Vec::<u32>::new(), "{root}");
        }
    }

    #[test]
    fn a_shell_is_a_prompt_unless_it_was_given_something_to_run() {
        let is = |words: &[&str]| is_prompt(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        for prompt in
            [&["-bash"][..], &["bash", "-l"], &["zsh", "-i", "--no-rcs"], &["sh"], &["bash", "--norc"]]
        {
            assert!(is(prompt), "{prompt:?}");
        }
        for script in
            [&["sh", "-c", "sleep 1"][..], &["bash", "-lc", "x"], &["sh", "worker.sh"], &["bash", "-x", "a"]]
        {
            assert!(!is(script), "{script:?}");
        }
    }
}
