//! Real agent programs against the scripted model, through a real server: a table of agent × case.
//!
//! Not part of the plain test run, which needs no download: there it shows as one ignored test. `npm run test:agents` sees to
//! the programs and runs it. Words after `--ignored` choose agents and cases by name. It fails when a cell of a gate agent
//! is not `ok`; what the other agents do is shown and decides nothing.

#![allow(clippy::unwrap_used, reason = "a test that unwraps nothing has failed")]

mod agent;
mod cases;
mod home;
mod stage;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::sync::Semaphore;

use agent::{AGENTS, Agent, Gate};
use cases::{CASES, Case};
use table::{Cell, Table};

/// The one test that this program is, for test runners.
const NAME: &str = "real_agents";
/// Agents mostly wait for the model, but their start is all work.
const AT_ONCE: usize = 4;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    if has("--list") {
        println!("{NAME}: test");
        return ExitCode::SUCCESS;
    }
    if !has("--ignored") {
        println!("SKIPPED: the tests with real agent programs run by `npm run test:agents`");
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = args.into_iter().filter(|arg| !arg.starts_with("--") && arg != NAME).collect();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(run(&words))
}

/// Without words everything; else the named agents and cases, all of a kind when none of it is named.
fn chosen(words: &[String]) -> (Vec<&'static Agent>, Vec<&'static Case>) {
    let named = |name: &str| words.iter().any(|word| word == name);
    let mut agents: Vec<&Agent> = AGENTS.iter().filter(|agent| named(agent.name)).collect();
    let mut cases: Vec<&Case> = CASES.iter().filter(|case| named(case.name)).collect();
    if agents.is_empty() {
        agents = AGENTS.iter().collect();
    }
    if cases.is_empty() {
        cases = CASES.iter().collect();
    }
    (agents, cases)
}

async fn run(words: &[String]) -> ExitCode {
    let (agents, cases) = chosen(words);
    let known = |word: &String| {
        AGENTS.iter().any(|agent| agent.name == word) || CASES.iter().any(|case| case.name == word)
    };
    if let Some(word) = words.iter().find(|word| !known(word)) {
        let agents: Vec<&str> = AGENTS.iter().map(|agent| agent.name).collect();
        let cases: Vec<&str> = CASES.iter().map(|case| case.name).collect();
        eprintln!(
            "{word}: no such agent or case; agents: {}; cases: {}",
            agents.join(", "),
            cases.join(", ")
        );
        return ExitCode::from(2);
    }
    // What panics is shown in the table.
    std::panic::set_hook(Box::new(|_| {}));
    let mut table = Table::new(&cases);
    let slots = Arc::new(Semaphore::new(AT_ONCE));
    let mut rows = Vec::new();
    for agent in agents {
        let program = home::find_program(agent);
        let cells = cases.iter().map(|case| match &program {
            Ok(folder) => Pending::Runs(tokio::spawn(play(agent, case, folder.clone(), Arc::clone(&slots)))),
            Err(missing) => Pending::Known(match agent.gate {
                Gate::Yes => Cell::failed(missing.clone()),
                Gate::No => Cell::Skipped(missing.clone()),
            }),
        });
        rows.push((agent, cells.collect::<Vec<_>>()));
    }
    for (agent, pending) in rows {
        let mut cells = Vec::new();
        for cell in pending {
            cells.push(match cell {
                Pending::Known(cell) => cell,
                Pending::Runs(task) => task.await.unwrap_or_else(|error| Cell::failed(error.to_string())),
            });
        }
        table.add(agent, cells);
    }
    print!("{table}");
    if table.is_green() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

enum Pending {
    Known(Cell),
    Runs(tokio::task::JoinHandle<Cell>),
}

async fn play(agent: &'static Agent, case: &'static Case, folder: PathBuf, slots: Arc<Semaphore>) -> Cell {
    let Ok(_slot) = slots.acquire_owned().await else { return Cell::failed("no slot".to_owned()) };
    let begun = std::time::Instant::now();
    let cell = stage::play(agent, case, &folder).await;
    eprintln!("{:>6.1} s  {} {}: {}", begun.elapsed().as_secs_f32(), agent.name, case.name, cell.word());
    cell
}
