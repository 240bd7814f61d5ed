//! Where log lines go: standard error, or a file while the dashboard uses the screen; level per module by `RUST_LOG`,
//! JSON on request.

use std::fs::OpenOptions;
use std::io::IsTerminal;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::EnvFilter;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

pub fn start(format: LogFormat, default: &str, rust_log: Option<String>) {
    let colour = std::io::stderr().is_terminal();
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter(default, rust_log))
        .with_writer(std::io::stderr)
        .with_ansi(colour);
    // A second start in one process (the demo) keeps the first subscriber.
    let _ = match format {
        LogFormat::Text => log.with_target(false).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
}

/// Logs to a file, which is overwritten each time.
pub fn start_in(path: &Path, default: &str, rust_log: Option<String>) -> std::io::Result<()> {
    let file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(path)?;
    let log = tracing_subscriber::fmt().with_env_filter(filter(default, rust_log)).with_ansi(false);
    let _ = log.with_writer(Mutex::new(file)).try_init();
    Ok(())
}

fn filter(default: &str, rust_log: Option<String>) -> EnvFilter {
    let filter = EnvFilter::try_new(rust_log.as_deref().unwrap_or(default));
    filter.unwrap_or_else(|error| {
        eprintln!("forge: RUST_LOG: {error}; using '{default}'");
        EnvFilter::new(default)
    })
}
