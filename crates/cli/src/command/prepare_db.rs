//! `forge prepare-db`: the database as the next server wants it, without starting one.
//!
//! Invariant: nothing but the database is touched, no agent is started or settled, and never below a running server.

use anyhow::{Context, Result};

use crate::command::serve;
use crate::settings::{self, Env};

pub fn run() -> Result<()> {
    serve::block_on(prepare())
}

async fn prepare() -> Result<()> {
    let env = Env::load();
    let home = settings::home(&env)?;
    let database = settings::database(&env, &home)?;
    let _lock = serve::take_home(&home).await?;
    let prepared = forge_core::prepare_database(&database).await;
    prepared.with_context(|| format!("cannot prepare {}", database.display()))?;
    println!("The database is up to date: {}", database.display());
    Ok(())
}
