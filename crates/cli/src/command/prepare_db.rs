//! `forge prepare-db`: the database as the next server wants it, without starting one.
//!
//! Invariant: nothing but the database is touched, no agent is started or settled, and never below a running server.

use anyhow::{Context, Result};

use crate::command::serve;
use crate::home;
use crate::settings::{self, Env};

pub fn run() -> Result<()> {
    serve::block_on(prepare())
}

async fn prepare() -> Result<()> {
    let env = Env::load();
    let home = settings::home(env)?;
    let config = settings::config(&serve::Flags::default(), env, home.clone())?;
    let _lock = home::take(&home).await?;
    let (database, prepared) = (config.database.display(), forge_core::prepare_database(&config).await);
    prepared.with_context(|| format!("cannot prepare {database}"))?;
    println!("The database is up to date: {database}");
    Ok(())
}
