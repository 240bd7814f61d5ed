//! Which processes use a directory, read from Linux's `/proc`.
//!
//! Invariant: one pass, and only processes of this user; expensive facts are read only for candidates.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use forge_os::process::{Entry, Life, command_of, list};

use super::{GitWork, ProcessFacts, RUN_ID_VAR, RunMark};
use crate::tree::{MARK, keeper_of};

/// The mode bit of a descriptor that is open for writing, as `lstat` reports it.
const WRITES: u32 = 0o200;

/// The living candidates of this user that work inside `dir`. `own` is the mark that this process itself inherited:
/// it means nothing in other processes that inherited it too.
pub(super) fn processes_in(
    dir: &Path,
    own: Option<&str>,
    is_candidate: impl Fn(&ProcessFacts) -> bool,
) -> Vec<(u32, ProcessFacts)> {
    let dir = fs::canonicalize(dir).unwrap_or_else(|_| dir.to_owned());
    let seen: Vec<Entry> = list().into_iter().filter(is_own_and_alive).collect();
    let hosts: HashSet<u32> = seen.iter().filter(|seen| seen.has_terminal).map(|seen| seen.parent).collect();
    let this_program = program(std::process::id());
    let facts = |seen: &Entry| {
        let pid = seen.identity.pid;
        let is_orphan = adopts_orphans(seen.parent);
        ProcessFacts {
            mark: mark(pid, own),
            is_orphan,
            has_terminal: seen.has_terminal || hosts.contains(&pid),
            is_forge: is_orphan && this_program.is_some() && program(pid) == this_program,
            git: program(pid).filter(|path| is_orphan && is_git(path)).map(|_| git_work(&command_of(pid))),
        }
    };
    let others = seen.iter().filter(|seen| seen.identity.pid != std::process::id());
    let others = others.map(|seen| (seen.identity.pid, facts(seen)));
    others.filter(|(pid, facts)| is_candidate(facts) && works_below(*pid, &dir)).collect()
}

fn is_own_and_alive(entry: &Entry) -> bool {
    let owner = fs::metadata(format!("/proc/{}/stat", entry.identity.pid)).map(|stat| stat.uid());
    entry.life == Life::Alive && owner.is_ok_and(|owner| owner == rustix::process::geteuid().as_raw())
}

/// Whether this process adopts orphans.
fn adopts_orphans(pid: u32) -> bool {
    pid <= 1 || fs::read(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_ascii_end() == b"systemd")
}

fn mark(pid: u32, own: Option<&str>) -> Option<RunMark> {
    let environ = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let value = |name: &str| {
        let mut pairs = environ.split(|&byte| byte == 0);
        let value = pairs.find_map(|pair| pair.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        std::str::from_utf8(value).ok()
    };
    let (keeper, run) = (value(MARK), value(RUN_ID_VAR));
    if keeper.is_none() && run.is_none() || keeper.is_some() && keeper == own {
        return None;
    }
    let keeper_lives = keeper.and_then(keeper_of).is_some_and(|keeper| keeper.is_alive());
    Some(RunMark { keeper_lives, run: run.and_then(|run| run.parse().ok()) })
}

fn is_git(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name == "git")
        || program.components().any(|part| part.as_os_str() == "git-core")
}

fn git_work(command: &str) -> GitWork {
    const UPKEEP: [&str; 6] = ["gc", "maintenance", "repack", "pack-objects", "prune", "multi-pack-index"];
    let verb = command.split(' ').skip(1).find(|word| !word.starts_with('-'));
    if verb.is_some_and(|verb| UPKEEP.contains(&verb)) { GitWork::Upkeep } else { GitWork::Worktree }
}

/// The file that a process runs, even if it was replaced meanwhile.
fn program(pid: u32) -> Option<PathBuf> {
    let path = fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let text = path.to_str()?;
    Some(PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(text)))
}

fn works_below(pid: u32, dir: &Path) -> bool {
    let is_below = |link: &Path| fs::read_link(link).is_ok_and(|place| place.starts_with(dir));
    let writes = |link: &Path| fs::symlink_metadata(link).is_ok_and(|meta| meta.mode() & WRITES != 0);
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().filter_map(Result::ok);
    is_below(Path::new(&format!("/proc/{pid}/cwd")))
        || open.map(|entry| entry.path()).any(|link| is_below(&link) && writes(&link))
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::process::{Child, Command, Stdio};

    use super::*;

    fn found(dir: &Path, child: &Child) -> Option<ProcessFacts> {
        let all = processes_in(dir, None, |_| true);
        all.into_iter().find(|(pid, _)| *pid == child.id()).map(|(_, facts)| facts)
    }

    fn sleeper(command: &mut Command) -> Child {
        command.arg("60").stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("sleep")
    }

    fn end(mut child: Child) {
        child.kill().expect("kill");
        child.wait().expect("wait");
    }

    #[test]
    fn a_process_works_where_its_directory_is_and_where_it_writes() {
        let temp = tempfile::tempdir().expect("dir");
        let [here, there] = ["here", "there"].map(|name| temp.path().join(name));
        fs::create_dir_all(here.join("deep")).expect("dir");
        fs::create_dir(&there).expect("dir");
        let file = here.join("file");
        let within = sleeper(Command::new("sleep").current_dir(here.join("deep")));
        let writer = {
            let out = File::create(&file).expect("file");
            Command::new("sleep").arg("60").current_dir("/").stdout(out).spawn().expect("sleep")
        };
        let reader = {
            let input = File::open(&file).expect("file");
            Command::new("sleep").arg("60").current_dir("/").stdin(input).spawn().expect("sleep")
        };
        assert!(found(&here, &within).is_some() && found(&here, &writer).is_some());
        assert!(found(&here, &reader).is_none(), "an indexer only reads");
        assert!([&within, &writer].iter().all(|child| found(&there, child).is_none()));
        let facts = found(&here, &within).expect("facts");
        assert!(facts.mark.is_none() && !facts.is_orphan, "{facts:?}");
        [within, writer, reader].into_iter().for_each(end);
    }

    #[test]
    fn a_mark_is_read_with_what_became_of_its_keeper() {
        let temp = tempfile::tempdir().expect("dir");
        let own = forge_os::process::Identity::own().expect("own");
        let run = forge_types::RunId::random();
        let marks = [crate::tree::mark(own), format!("{}.1", own.pid)];
        let [kept, left] = marks.clone().map(|mark| {
            let mut command = Command::new("sleep");
            sleeper(command.current_dir(temp.path()).env(MARK, mark).env(RUN_ID_VAR, run.to_string()))
        });
        let read = |child: &Child| found(temp.path(), child).and_then(|facts| facts.mark).expect("a mark");
        assert_eq!((read(&kept).keeper_lives, read(&kept).run), (true, Some(run)));
        assert_eq!((read(&left).keeper_lives, read(&left).run), (false, Some(run)));
        let inherited = processes_in(temp.path(), Some(&marks[0]), |facts| facts.mark.is_some());
        assert!(inherited.iter().all(|(pid, _)| *pid != kept.id()), "our own mark");
        [kept, left].into_iter().for_each(end);
    }

    #[test]
    fn a_git_that_tidies_up_is_distinguished_from_one_that_works_in_a_worktree() {
        for command in
            ["git maintenance run --auto --no-quiet --detach", "git gc --auto", "/usr/bin/git repack -d"]
        {
            assert_eq!(git_work(command), GitWork::Upkeep, "{command}");
        }
        for command in ["git rebase -q --merge", "git -C /a gc", "git add -A", "git"] {
            assert_eq!(git_work(command), GitWork::Worktree, "{command}");
        }
    }
}
