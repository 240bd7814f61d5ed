//! How Forge's costs grow: with the tasks of a project, with those who watch, and with the runs that have ended.
//!
//! Each table has a server and a home of its own, so that no size contains another table's work.

mod runs;
mod subscribers;
mod tasks;

use std::time::Duration;

use anyhow::Result;

use crate::figures::Figures;
use crate::flow::install_agent;
use crate::ours::{self, Spares};
use crate::processes::{cpu_ms, resident_mb};
use crate::report::Report;
use crate::server::Server;
use crate::work::Work;

/// Before a server counts as idle, and for how long it is watched then.
const SETTLE: Duration = Duration::from_secs(3);
const IDLE: Duration = Duration::from_secs(5);

pub async fn measure(work: &Work, report: &mut Report) {
    report.add_growth("tasks", tasks::measure(work).await);
    report.add_growth("subscribers", subscribers::measure(work).await);
    report.add_growth("ended runs", runs::measure(work).await);
}

async fn start_server(work: &Work, name: &str) -> Result<Server> {
    let server = Server::start(ours::prepare(work, &work.forge, name, Spares::Kept)?).await?;
    install_agent(&server.client).await?;
    Ok(server)
}

/// What a server costs that nobody asks anything of.
async fn measure_idle(server: &Server) -> Figures {
    tokio::time::sleep(SETTLE).await;
    let before = cpu_ms(server.pid());
    tokio::time::sleep(IDLE).await;
    let spent = cpu_ms(server.pid()) - before;
    Figures::from([("idle_cpu", spent / IDLE.as_secs_f64()), ("idle_mb", resident_mb(server.pid()))])
}
