//! Parses when a limit ends.

use forge_types::Millis;
use jiff::civil::{Date, Time};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Zoned};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const SPANS: &[&str] = &["try again in ", "retrying in ", "resets in ", "reset in ", "retry in "];
const MOMENTS: &[&str] = &["try again at ", "resets at ", "reset at ", "resets "];

pub(super) fn find(text: &str, now: &Zoned) -> Option<Millis> {
    let low = text.to_lowercase();
    if let Some((_, rest)) = low.split_once("limit reached|") {
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        return digits.parse::<i64>().ok().map(|seconds| Millis(seconds * 1000));
    }
    let after =
        |words: &[&str]| words.iter().find_map(|word| low.split_once(word)).map(|(_, rest)| rest.to_owned());
    if let Some(rest) = after(SPANS) {
        let end = now.timestamp().checked_add(span(&rest)?).ok()?;
        return Some(Millis(end.as_millisecond()));
    }
    // The zone is taken from the text as it was written: its name is case-sensitive on some machines.
    moment(&after(MOMENTS)?, &zone(text, now)?, now)
}

/// `2 days 17 hours 14 minutes`, `2m 5s`, `30s`.
fn span(text: &str) -> Option<SignedDuration> {
    let mut total = SignedDuration::ZERO;
    let mut words = text
        .split(|c: char| c.is_whitespace() || ",.]".contains(c))
        .filter(|word| !word.is_empty())
        .peekable();
    let mut any = false;
    while let Some(word) = words.next() {
        let digits = word.chars().take_while(char::is_ascii_digit).count();
        let Ok(count) = word[..digits].parse::<i64>() else { break };
        let unit = if digits < word.len() { &word[digits..] } else { words.next()? };
        let seconds = match unit {
            _ if unit.starts_with("ms") => 0,
            _ if unit.starts_with('d') => 86_400,
            _ if unit.starts_with('h') => 3600,
            _ if unit.starts_with('m') => 60,
            _ if unit.starts_with('s') => 1,
            _ => break,
        };
        total += SignedDuration::from_secs(count.checked_mul(seconds)?);
        any = true;
    }
    any.then_some(total)
}

/// `12pm`, `6:44 pm`, `18:44`, `mar 7, 5:30pm`, `mar 10th, 2026 6:44 pm`.
fn moment(text: &str, zone: &TimeZone, now: &Zoned) -> Option<Millis> {
    let now = now.with_time_zone(zone.clone());
    let text = text.split('(').next().unwrap_or_default();
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c == ',').map(|word| word.trim_end_matches('.')).collect();
    let mut words = words.into_iter().filter(|word| !word.is_empty() && *word != "at").peekable();
    let month = words.peek().and_then(|word| MONTHS.iter().position(|name| word.starts_with(name)));
    let mut date = None;
    if let Some(month) = month {
        words.next();
        let day: i8 = words.next()?.trim_end_matches(|c: char| c.is_ascii_alphabetic()).parse().ok()?;
        let year = words.peek().filter(|word| word.len() == 4).and_then(|word| word.parse::<i16>().ok());
        if year.is_some() {
            words.next();
        }
        let month = i8::try_from(month + 1).ok()?;
        let this_year = Date::new(year.unwrap_or(now.year()), month, day).ok()?;
        // Without a year it is the next such date.
        let passed = year.is_none() && this_year < now.date();
        date = Some(if passed { Date::new(now.year() + 1, month, day).ok()? } else { this_year });
    }
    let time = time(words.next()?, words.next())?;
    let today = date.unwrap_or(now.date()).to_datetime(time).to_zoned(zone.clone()).ok()?;
    let at = match date.is_none() && today <= now {
        true => now.date().tomorrow().ok()?.to_datetime(time).to_zoned(zone.clone()).ok()?,
        false => today,
    };
    Some(Millis(at.timestamp().as_millisecond()))
}

fn time(word: &str, next: Option<&str>) -> Option<Time> {
    let half =
        ["am", "pm"].into_iter().find(|half| word.ends_with(half) || next.is_some_and(|next| next == *half));
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (hour, minute) = digits.split_once(':').unwrap_or((digits, "0"));
    let (hour, minute): (i8, i8) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match half {
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some("pm") => hour % 12 + 12,
        Some(_) => hour % 12,
        None if digits.contains(':') => hour,
        None => return None,
    };
    Time::new(hour, minute, 0, 0).ok()
}

/// The zone in parentheses, else that of `now`. A zone unknown to this machine gives no time at all.
fn zone(text: &str, now: &Zoned) -> Option<TimeZone> {
    let named = text.split_once('(').and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name.trim());
    match named {
        Some(name) if name.contains('/') || name == "UTC" => TimeZone::get(name).ok(),
        _ => Some(now.time_zone().clone()),
    }
}
