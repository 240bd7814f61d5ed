//! A control group for each run, where the system lets us make one (cgroup v2, delegated to us).
//!
//! It is one more net: whoever cleared its environment, left its session and lost its keeper is still a member.
//! Invariant: only groups that a keeper made for its own run are looked into, and an empty one goes with its keeper.
//! Without permission, or on another system, there is simply no group.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::Identity;

/// The group of one run.
#[derive(Debug)]
pub(crate) struct Leaf(PathBuf);

impl Leaf {
    /// A new group below our own, with us in it: what we start from now on is born inside.
    pub(crate) fn enter(name: &str) -> Option<Leaf> {
        let dir = own_group()?.join(format!("forge-{name}"));
        fs::create_dir(&dir).ok()?;
        let leaf = Leaf(dir);
        move_self(&leaf.0).then_some(leaf)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Leaf {
    fn drop(&mut self) {
        if let Some(parent) = self.0.parent() {
            move_self(parent);
        }
        // Refused by the system as long as somebody is inside.
        let _ = fs::remove_dir(&self.0);
    }
}

fn move_self(group: &Path) -> bool {
    fs::write(group.join("cgroup.procs"), std::process::id().to_string()).is_ok()
}

/// Who is in the group at `path`.
pub(crate) fn members(path: &Path) -> Vec<Identity> {
    let text = fs::read_to_string(path.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|pid| Identity::of(pid.trim().parse().ok()?)).collect()
}

/// Our own group in the unified hierarchy.
fn own_group() -> Option<PathBuf> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let mount = mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        kind.starts_with("cgroup2 ").then(|| place.split(' ').nth(4))?
    })?;
    Some(Path::new(mount).join(group))
}
