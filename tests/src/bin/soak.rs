//! `npm run soak`: the chaos tale for an hour, or for as long as asked, on the program beside this one.

use std::process::ExitCode;
use std::time::Duration;

use forge_tests::chaos::{Length, Tale};

const USAGE: &str = "usage: soak [--minutes N] [--seed N]   (an hour and a seed from the clock by default)";

/// After each era everything is compared, so that a long soak does not end with a surprise.
const ERA: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    let Some((minutes, seed)) = arguments() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let whole = Duration::from_secs(minutes * 60);
    let tale = Tale { seed, length: Length::Time { whole, era: ERA.min(whole) }, hands: 4, attempts: 16 };
    println!("chaos for {minutes} minutes, seed {seed}; Ctrl-C ends it");
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let outcome = runtime.block_on(tale.run(interrupt(), |era, tally| println!("after era {era}:\n{tally}")));
    println!("{outcome}");
    match (outcome.holds(), outcome.interrupted) {
        (false, _) => ExitCode::FAILURE,
        (true, true) => ExitCode::from(130),
        (true, false) => ExitCode::SUCCESS,
    }
}

async fn interrupt() {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).expect("a signal handler");
    let mut hang_up = signal(SignalKind::hangup()).expect("a signal handler");
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
        _ = hang_up.recv() => {}
    }
}

fn arguments() -> Option<(u64, u64)> {
    let clock = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    let (mut minutes, mut seed) = (60, clock);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let value: u64 = args.next()?.parse().ok()?;
        match arg.as_str() {
            "--minutes" => minutes = value.max(1),
            "--seed" => seed = value,
            _ => return None,
        }
    }
    Some((minutes, seed))
}
