//! A day of the calendar, in UTC.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Millis;

/// Written as `2026-11-16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(Date);

crate::shape::inline_schema! { Day => {"type": "string", "format": "date"} }

impl Day {
    /// The day in which a moment lies.
    pub fn of(at: Millis) -> Self {
        let at = Timestamp::from_millisecond(at.0).unwrap_or_default();
        Self(at.to_zoned(TimeZone::UTC).date())
    }

    /// The first and the last day of its month.
    pub fn month(self) -> (Self, Self) {
        (Self(self.0.first_of_month()), Self(self.0.last_of_month()))
    }

    /// Which day of its month it is, from 1.
    pub fn of_month(self) -> i8 {
        self.0.day()
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.strftime("%Y-%m-%d"))
    }
}

impl FromStr for Day {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let day = Date::strptime("%Y-%m-%d", text).ok().map(Self);
        // Dates have other spellings, which would not sort as text.
        day.filter(|day| day.to_string() == text)
            .ok_or_else(|| format!("'{text}' is not allowed; allowed: a date such as 2026-11-16"))
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_utc() {
        assert_eq!(Day::of(Millis(0)).to_string(), "1970-01-01");
        assert_eq!(Day::of(Millis(86_399_999)).to_string(), "1970-01-01");
        assert_eq!(Day::of(Millis(86_400_000)).to_string(), "1970-01-02");
    }

    #[test]
    fn a_month_has_as_many_days_as_it_has() {
        let (first, last) = "2028-02-10".parse::<Day>().unwrap().month();
        assert_eq!((first.to_string().as_str(), last.of_month()), ("2028-02-01", 29));
    }

    #[test]
    fn only_one_spelling_is_read() {
        assert_eq!("2026-02-28".parse::<Day>().unwrap().to_string(), "2026-02-28");
        for wrong in ["2026-2-28", "2026-02-30", "today", "", "2026-02-28T00:00:00Z"] {
            assert!(wrong.parse::<Day>().unwrap_err().contains(&format!("'{wrong}'")), "{wrong}");
        }
    }
}
