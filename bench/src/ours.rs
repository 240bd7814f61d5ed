//! Forge itself: the release binary with its own home and worktree directory.

use std::path::Path;

use anyhow::{Context, Result};

use crate::server::{Launch, Side, free_port};
use crate::work::Work;

/// Whether the server keeps worktrees in stock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Spares {
    Kept,
    None,
}

pub fn prepare(work: &Work, program: &Path, name: &str, spares: Spares) -> Result<Launch> {
    let program = program.canonicalize().with_context(|| {
        format!("{} is missing; build it with `cargo build --release`", program.display())
    })?;
    let home = work.dir(name)?;
    let worktrees = work.dir(&format!("{name}-worktrees"))?;
    let mut envs = vec![
        ("HOME".into(), home.clone().into()),
        ("FORGE_HOME".into(), home.clone().into()),
        ("FORGE_WORKTREE_DIR".into(), worktrees.into()),
    ];
    if spares == Spares::None {
        envs.push(("FORGE_SPARES".into(), "0".into()));
    }
    Ok(Launch {
        side: Side::Forge,
        command: vec![program.clone().into(), "serve".into()],
        envs,
        log: work.log(name),
        home,
        program,
        port: free_port()?,
        run: work.run.clone(),
    })
}
