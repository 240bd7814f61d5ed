//! A server for the duration of one command, in this process and on a free port.
//!
//! Invariant: it uses the same home and worktrees as `forge serve`, under the same lock, so the next server finds
//! whatever it leaves.

use std::fs::File;
use std::time::Duration;

use anyhow::{Context, Result};
use forge_core::{AgentsOnExit, Forge};
use forge_server::Door;
use tokio_util::sync::CancellationToken;

use crate::client::Client;
use crate::command::serve;
use crate::home;
use crate::logging::{self, LogFormat};
use crate::port;
use crate::settings::{self, Env};

const FAREWELL_LIMIT: Duration = Duration::from_secs(3);

pub struct Standalone {
    forge: Forge,
    shutdown: CancellationToken,
    server: tokio::task::JoinHandle<std::io::Result<()>>,
    _lock: File,
}

impl Standalone {
    pub async fn open() -> Result<(Self, Client)> {
        let env = Env::load();
        logging::start(LogFormat::Text, "error", env.get("RUST_LOG"));
        let home = settings::home(env)?;
        let lock = home::take(&home).await?;
        // Spare worktrees are not worth it for one run.
        let flags = serve::Flags { spares: Some(0), no_open: true, ..Default::default() };
        let mut config = settings::config(&flags, env, home)?;
        let listener = port::bind([127, 0, 0, 1].into(), 0).await?;
        let address = listener.local_addr()?;
        config.backend_url = serve::url(address);
        if config.public_url.is_empty() {
            config.public_url = serve::url(address);
        }
        let forge = Forge::open(config).await.context("cannot start")?;
        let door = Door::local(address, serve::version(env));
        let shutdown = CancellationToken::new();
        let server = tokio::spawn(forge_server::serve(listener, forge.clone(), door, shutdown.clone()));
        let client = Client::new(serve::url(address), None);
        Ok((Self { forge, shutdown, server, _lock: lock }, client))
    }

    /// A running agent keeps running.
    pub async fn close(self) {
        self.shutdown.cancel();
        let _ = tokio::time::timeout(FAREWELL_LIMIT, self.server).await;
        self.forge.close(AgentsOnExit::Keep).await;
    }
}
