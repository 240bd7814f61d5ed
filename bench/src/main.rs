//! The bench: the same work against the peer and against Forge, in one run, side by side.
//!
//! Rows alternate between the two servers so that the noise of the machine hits both; the one that is not measured is
//! held still. Two further parts measure Forge alone: `board` in a browser, `scale` at several sizes. Tables are printed
//! as they grow and saved as JSON. The program is also the agent both servers run (`fake-claude`).

mod board;
mod client;
mod copies;
mod fake;
mod figures;
mod flow;
mod growth;
mod line;
mod options;
mod ours;
mod peer;
mod processes;
mod report;
mod rows;
mod scale;
mod server;
mod work;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, anyhow};
use serde_json::json;
use tokio::signal::unix::{SignalKind, signal};

use crate::options::{Options, Part, Sides};
use crate::ours::Spares;
use crate::report::{Outcome, Report};
use crate::rows::Row;
use crate::server::{Launch, Server};
use crate::work::Work;

/// Between two measurements.
const REST: Duration = Duration::from_millis(500);

fn main() -> ExitCode {
    let mut words = std::env::args();
    let called = words.next().unwrap_or_default();
    if Path::new(&called).file_name().is_some_and(|name| name == peer::AGENT_NAME) {
        return fake::run();
    }
    let mut words = words.peekable();
    match words.peek().map(String::as_str) {
        Some("fake-claude") => fake::run(),
        Some("fake-child") => fake::run_child(),
        _ => run(words),
    }
}

fn run(words: impl Iterator<Item = String>) -> ExitCode {
    let outcome =
        Options::parse(words).and_then(|options| tokio::runtime::Runtime::new()?.block_on(bench(options)));
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(2),
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Returns how many goals were missed.
async fn bench(options: Options) -> Result<usize> {
    let work = Work::new(options.size, options.forge.clone(), options.out.clone())?;
    let mut terminated = signal(SignalKind::terminate())?;
    let result = tokio::select! {
        result = run_parts(&options, &work) => result,
        _ = tokio::signal::ctrl_c() => Err(anyhow!("interrupted")),
        _ = terminated.recv() => Err(anyhow!("terminated")),
    };
    processes::end_marked(&work.run).await;
    eprintln!("removing the working files in {}", work.path("").display());
    result
}

async fn run_parts(options: &Options, work: &Work) -> Result<usize> {
    let mut report = Report::default();
    if options.wants(Part::Rows) {
        compare(options, work, &mut report).await;
    }
    if options.wants(Part::Board) {
        board::measure(work, &mut report).await;
    }
    if options.wants(Part::Scale) {
        scale::measure(work, &mut report).await;
    }
    let machine = json!({"cores": std::thread::available_parallelism().map_or(0, usize::from),
        "load": std::fs::read_to_string("/proc/loadavg").unwrap_or_default().trim(),
        "kernel": std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim(),
        "quick": work.size == work::Size::Quick});
    report.save(&work.result(), &machine)?;
    println!("{} goals missed; saved to {}", report.misses(), work.result().display());
    Ok(report.misses())
}

async fn compare(options: &Options, work: &Work, report: &mut Report) {
    let mut peer = match options.sides {
        Sides::ForgeOnly => Err(None),
        Sides::Both | Sides::PeerOnly => launch(peer::prepare(work, &options.peer_dir).await).await,
    };
    let mut forge = match options.sides {
        Sides::PeerOnly => Err(None),
        Sides::Both | Sides::ForgeOnly => {
            launch(ours::prepare(work, &work.forge, "forge", Spares::Kept)).await
        }
    };
    report.print_head();
    for row in options.rows() {
        let of_peer = measure_alone(row, work, &mut peer, &forge).await;
        let of_forge = measure_alone(row, work, &mut forge, &peer).await;
        report.add(row.name(), row.lines(), &of_peer, &of_forge);
    }
    for server in [peer, forge].into_iter().flatten() {
        server.stop().await;
    }
}

/// A running server with the fake agent installed, or why there is none (`None`: not wanted).
async fn launch(prepared: Result<Launch>) -> Result<Server, Option<String>> {
    let start = async {
        let server = Server::start(prepared?).await?;
        flow::install_agent(&server.client).await?;
        Ok::<_, anyhow::Error>(server)
    };
    start.await.map_err(|error| Some(format!("{error:#}")))
}

/// Lets the disk come to rest and holds the other server still before one is measured.
async fn measure_alone(
    row: Row,
    work: &Work,
    server: &mut Result<Server, Option<String>>,
    other: &Result<Server, Option<String>>,
) -> Outcome {
    let _ = tokio::task::spawn_blocking(rustix::fs::sync).await;
    tokio::time::sleep(REST).await;
    other.iter().for_each(Server::pause);
    let outcome = measure(row, work, server).await;
    other.iter().for_each(Server::resume);
    outcome
}

async fn measure(row: Row, work: &Work, server: &mut Result<Server, Option<String>>) -> Outcome {
    match server {
        Ok(server) => match row.measure(work, server).await {
            Ok(figures) => Outcome::Measured(figures),
            Err(error) => Outcome::Failed(format!("{error:#}")),
        },
        Err(Some(reason)) => Outcome::Failed(reason.clone()),
        Err(None) => Outcome::Skipped,
    }
}
