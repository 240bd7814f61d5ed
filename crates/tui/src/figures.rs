//! Numbers as people read them: how long, how much, how large.
//!
//! Invariant: a figure fits a column, and a small sum never shows as zero.

use std::time::Duration;

use forge_types::Millis;

/// How long something took.
pub fn duration(took: Duration) -> String {
    match took.as_secs() {
        seconds if seconds < 10 => format!("{:.1} s", took.as_secs_f64()),
        seconds if seconds < 60 => format!("{seconds} s"),
        seconds if seconds < 3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Time as on a stopwatch.
pub fn clock(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds / 3600 {
        0 => format!("{}:{:02}", seconds / 60, seconds % 60),
        hours => format!("{hours}:{:02}:{:02}", seconds / 60 % 60, seconds % 60),
    }
}

/// From one moment to another; zero if the clock was set back.
pub fn between(from: Millis, to: Millis) -> Duration {
    Duration::from_millis(u64::try_from(to.0 - from.0).unwrap_or(0))
}

/// How long ago a moment was, in one unit.
pub fn age(at: Millis, now: Millis) -> String {
    let (count, unit) = elapsed(at, now);
    format!("{count}{unit}")
}

/// An age as a number and its unit.
pub(crate) fn elapsed(at: Millis, now: Millis) -> (u64, char) {
    match between(at, now).as_secs() {
        seconds if seconds < 60 => (seconds, 's'),
        seconds if seconds < 3600 => (seconds / 60, 'm'),
        seconds if seconds < 86_400 => (seconds / 3600, 'h'),
        seconds => (seconds / 86_400, 'd'),
    }
}

pub fn tokens(count: u64) -> String {
    match count {
        n if n >= 1_000_000 => format!("{:.1}M", n as f64 / 1e6),
        n if n >= 10_000 => format!("{}k", n / 1000),
        n if n >= 1000 => format!("{:.1}k", n as f64 / 1e3),
        n => n.to_string(),
    }
}

/// Dollars.
pub fn money(usd: f64) -> String {
    match usd > 0.0 && usd < 0.01 {
        true => format!("${usd:.4}"),
        false => format!("${usd:.2}"),
    }
}

/// Changed files and lines.
pub fn changes(files: usize, added: u64, removed: u64) -> String {
    match files {
        0 => "no changes".to_owned(),
        files => format!("{} +{added} -{removed}", count(files, "file")),
    }
}

pub fn size(bytes: u64) -> String {
    match bytes as f64 {
        b if b >= 1e9 => format!("{:.1} GB", b / 1e9),
        b if b >= 1e6 => format!("{:.1} MB", b / 1e6),
        b => format!("{:.1} kB", b / 1e3),
    }
}

/// "1 task", "2 tasks".
pub fn count(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        number => format!("{number} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_small_sums_are_not_zero() {
        let ages = [0, 59_000, 61_000, 7_200_000, 200_000_000].map(|ms| age(Millis(0), Millis(ms)));
        assert_eq!(ages, ["0s", "59s", "1m", "2h", "2d"]);
        assert_eq!(age(Millis(5), Millis(0)), "0s");
        assert_eq!([0.0, 0.004, 0.417, 12.0].map(money), ["$0.00", "$0.0040", "$0.42", "$12.00"]);
        assert_eq!([7, 2468, 31_000, 2_500_000].map(tokens), ["7", "2.5k", "31k", "2.5M"]);
        assert_eq!([count(1, "task"), count(0, "task")], ["1 task", "0 tasks"]);
    }
}
