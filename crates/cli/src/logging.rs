//! Where log lines go: standard error, level per module by `RUST_LOG`, JSON on request.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    #[default]
    Text,
    Json,
}

pub fn start(format: LogFormat, default: &str, rust_log: Option<String>) {
    let filter = EnvFilter::try_new(rust_log.as_deref().unwrap_or(default));
    let filter = filter.unwrap_or_else(|error| {
        eprintln!("forge: RUST_LOG: {error}; using '{default}'");
        EnvFilter::new(default)
    });
    let colour = std::io::stderr().is_terminal();
    let log =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_ansi(colour);
    // A second start in one process (the demo) keeps the first subscriber.
    let _ = match format {
        LogFormat::Text => log.with_target(false).try_init(),
        LogFormat::Json => log.json().try_init(),
    };
}
