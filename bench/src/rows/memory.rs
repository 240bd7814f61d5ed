//! Memory of the server, right after its start and after all the work before this row.

use std::time::Duration;

use anyhow::Result;

use crate::figures::Figures;
use crate::processes::resident_mb;
use crate::report::{Goal, Line};
use crate::server::Server;

const SETTLE: Duration = Duration::from_secs(5);

pub const LINES: &[Line] = &[
    Line::lower("fresh_mb", "memory of the fresh server", "MB", Goal::AtMost(40.0)),
    Line::lower("after_mb", "memory after all", "MB", Goal::AtMost(40.0)),
];

pub async fn measure(server: &Server) -> Result<Figures> {
    tokio::time::sleep(SETTLE).await;
    Ok(Figures::from([("fresh_mb", server.fresh_mb), ("after_mb", resident_mb(server.pid()))]))
}
