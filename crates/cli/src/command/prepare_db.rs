//! `forge prepare-db`: creates or migrates the database without starting a server.
//!
//! Invariant: touches only the database, starts and ends no agent, and never runs while a server does.

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
