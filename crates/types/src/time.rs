//! Time as the product stores it: whole milliseconds since 1970, written on the wire as RFC 3339 UTC with `Z`.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Milliseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub i64);

crate::shape::inline_schema! { Millis => {"type": "string", "format": "date-time"} }

impl Millis {
    /// The current time. Everything that can take the time as an argument should do so instead.
    pub fn now() -> Self {
        Self(Timestamp::now().as_millisecond())
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_millisecond(self.0) {
            Ok(at) => write!(f, "{at:.3}"),
            Err(_) => write!(f, "{}", self.0),
        }
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl FromStr for Millis {
    type Err = jiff::Error;

    fn from_str(text: &str) -> Result<Self, jiff::Error> {
        Ok(Self(text.parse::<Timestamp>()?.as_millisecond()))
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_written_with_three_digits_and_z() {
        assert_eq!(Millis(1_763_237_295_631).to_string(), "2025-11-15T20:08:15.631Z");
        assert_eq!(Millis(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn reads_any_number_of_fraction_digits() {
        for text in ["2026-11-15T19:21:36Z", "2026-11-15T19:21:36.262Z", "2026-11-15T19:21:36.426802869Z"] {
            let at: Millis = serde_json::from_value(text.into()).expect(text);
            assert_eq!(at.0 / 1000, 1_794_770_496);
        }
    }
}
