//! `kill -9` at random moments: of the server, of keepers, of agents, of several at once, of servers that are just
//! starting, and of first starts in an empty home.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::process::Identity;
use super::table::Promise;
use super::witness::Witness;
use super::world::{Stage, tail};
use crate::{PATIENCE, Rng};

/// Each as often as it stands here.
const KINDS: [&str; 20] = [
    "server",
    "server",
    "server",
    "server",
    "server",
    "server",
    "starting",
    "starting",
    "starting",
    "keeper",
    "keeper",
    "keeper",
    "keeper",
    "agent",
    "agent",
    "keeper+agent",
    "keeper+server",
    "keeper+server",
    "first start",
    "first start",
];

/// Kills until the tale is over, or until there were `enough`.
pub async fn reap(stage: &Stage<'_>, mut rng: Rng, enough: Option<usize>) {
    let mut orphans = Vec::new();
    while !stage.server.is_over() {
        let pause = Duration::from_millis(20 + rng.below(600) as u64);
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = stage.server.until_over() => break,
        }
        look_after(stage, &mut orphans).await;
        strike(stage, &mut rng, &mut orphans).await;
        if enough.is_some_and(|enough| stage.server.tally().kills() >= enough) {
            stage.server.end();
        }
    }
    let begun = Instant::now();
    while !orphans.is_empty() && begun.elapsed() < PATIENCE {
        look_after(stage, &mut orphans).await;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

async fn strike(stage: &Stage<'_>, rng: &mut Rng, orphans: &mut Vec<Witness>) {
    let server = stage.server;
    let kind = *rng.pick(&KINDS);
    match kind {
        "server" => {
            server.crash().await;
            server.tally().note_kill(kind);
            server.start_again().await;
        }
        "starting" => {
            server.crash().await;
            server.tally().note_kill("server");
            for _ in 0..=rng.below(3) {
                server.launch().await;
                tokio::time::sleep(Duration::from_millis(rng.below(150) as u64)).await;
                server.crash().await;
                server.tally().note_kill(kind);
            }
            server.start_again().await;
        }
        "first start" => first_start(stage, rng).await,
        _ => {
            let Some(victim) = some_run(stage, rng) else { return };
            kill_run(stage, kind, &victim);
            if kind == "keeper+server" {
                server.crash().await;
                server.start_again().await;
            }
            server.tally().note_kill(kind);
            if kind != "agent" {
                orphans.push(victim.witness);
            }
        }
    }
}

/// A run at work.
struct Victim {
    witness: Witness,
    keeper: Identity,
    /// When the keeper began, in milliseconds.
    began_ms: i64,
    agent: Identity,
}

fn some_run(stage: &Stage<'_>, rng: &mut Rng) -> Option<Victim> {
    let victim = |witness: Witness| {
        let agent = *witness.processes().first()?;
        let state =
            std::fs::read(stage.server.home.join("runs").join(&witness.run).join("state.json")).ok()?;
        let state: Value = serde_json::from_slice(&state).ok()?;
        let keeper = &state["keeper"];
        let pid = keeper["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok())?;
        let keeper = Identity { pid, start_time: keeper["start_time"].as_u64()? };
        let began_ms = state["started_ms"].as_i64()?;
        Some(Victim { witness, keeper, began_ms, agent })
            .filter(|victim| victim.keeper.is_alive() && agent.is_alive())
    };
    let all = Witness::all(&stage.root).into_iter().filter(|witness| witness.exit().is_none());
    let mut all: Vec<Victim> = all.filter_map(victim).collect();
    all.sort_by(|a, b| a.witness.run.cmp(&b.witness.run));
    (!all.is_empty()).then(|| all.swap_remove(rng.below(all.len())))
}

/// It is noted before it is done: the result of the run is reported at once.
fn kill_run(stage: &Stage<'_>, kind: &str, victim: &Victim) {
    let run = &victim.witness.run;
    if kind.contains("agent") {
        stage.ledger().killed_agents.insert(run.clone());
    }
    if kind.contains("keeper") {
        stage.ledger().killed_keepers.insert(run.clone());
        stage.server.note_killed_keeper(victim.began_ms);
        victim.keeper.kill();
    }
    if kind.contains("agent") {
        victim.agent.kill();
    }
}

/// Whose keeper was killed has nothing left at work as soon as its end is reported.
async fn look_after(stage: &Stage<'_>, orphans: &mut Vec<Witness>) {
    let mut waiting = Vec::new();
    for witness in orphans.drain(..) {
        let reported = stage.server.read(&format!("/api/execution-processes/{}", witness.run)).await;
        match reported.as_ref().map(|run| &run["status"]) {
            Some(status) if status == "running" => waiting.push(witness),
            // A stop is reported before it is done. Whether all is gone is checked in the end.
            Some(status) if status == "killed" => {}
            None => waiting.push(witness),
            // Reported as failed, or deleted since.
            Some(status) => {
                let living: Vec<Identity> =
                    witness.processes().into_iter().filter(|process| process.is_alive()).collect();
                if !living.is_empty() {
                    let run = &witness.run;
                    let what =
                        format!("run {run} is {status} since its keeper was killed; alive: {living:?}");
                    stage.server.broke(Promise::Left, what);
                }
            }
        }
    }
    *orphans = waiting;
}

/// An empty home whose first server is killed, perhaps more than once, has to serve the next one.
async fn first_start(stage: &Stage<'_>, rng: &mut Rng) {
    let number = stage.server.tally().kills();
    let home = stage.server.dir.join(format!("first-{number}-{}", rng.below(1 << 20)));
    let log = home.with_extension("log");
    let template = stage.server.command().await;
    let serve = || {
        let mut command = Command::new(template.get_program());
        for (key, value) in template.get_envs() {
            match value {
                Some(value) => command.env(key, value),
                None => command.env_remove(key),
            };
        }
        command.env("FORGE_HOME", &home).env("FORGE_WORKTREE_DIR", home.with_extension("worktrees"));
        command.args(["serve", "--port", "0"]).stdin(Stdio::null()).stdout(Stdio::null());
        let log = File::options().create(true).append(true).open(&log).expect("a log file");
        command.stderr(log).current_dir(&stage.server.dir);
        tokio::process::Command::from(command).kill_on_drop(true).spawn().expect("the forge program")
    };
    for _ in 0..=rng.below(2) {
        let mut server = serve();
        tokio::time::sleep(Duration::from_millis(rng.below(80) as u64)).await;
        let _ = server.kill().await;
        stage.server.tally().note_kill("first start");
    }
    let _ = std::fs::remove_file(home.join("port"));
    let mut server = serve();
    let begun = Instant::now();
    while !is_written(&home.join("port")) {
        if begun.elapsed() > PATIENCE || server.try_wait().ok().flatten().is_some() {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            let what =
                format!("{} does not start after a first start was killed:\n{}", home.display(), tail(&log));
            stage.server.broke(Promise::Dead, what);
            break;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let _ = server.kill().await;
}

fn is_written(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
}
