//! Money: millionths of a dollar inside, dollars on the wire.
//!
//! Invariant: a [`Budget`] is greater than zero, so a limit of 0, set by mistake, is refused instead of stopping
//! everything.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// More than anybody spends, and low enough that sums cannot overflow.
const MAX_USD: f64 = 1e9;

/// Millionths of a dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MicroUsd(pub i64);

crate::shape::inline_schema! {
    MicroUsd => {"type": "number"},
    Budget => {"type": "number", "minimum": 1e-6, "maximum": MAX_USD},
}

impl MicroUsd {
    fn from_usd(usd: f64) -> Self {
        Self((usd * 1e6).round() as i64)
    }

    pub fn usd(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// In dollars and cents; amounts below a cent with as many digits as they need.
impl fmt::Display for MicroUsd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 % 10_000 == 0 || self.0.abs() >= 1_000_000 {
            return write!(f, "${:.2}", self.usd());
        }
        write!(f, "${}", self.usd())
    }
}

impl Serialize for MicroUsd {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.usd())
    }
}

impl<'de> Deserialize<'de> for MicroUsd {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        f64::deserialize(from).map(Self::from_usd)
    }
}

/// The most that may be spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Budget(pub MicroUsd);

impl<'de> Deserialize<'de> for Budget {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let given = Value::deserialize(from)?;
        let usd = given.as_f64().filter(|usd| *usd > 0.0 && *usd <= MAX_USD);
        let budget = usd.map(MicroUsd::from_usd).filter(|budget| budget.0 > 0);
        budget.map(Self).ok_or_else(|| {
            D::Error::custom(format!(
                "{given} is not allowed; allowed: a number of dollars greater than 0, such as 5 or 0.50, or null for no limit"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn money_is_said_in_dollars() {
        let said = [5_030_000, 500_000, 6_140, 12_345_678, 0].map(|micro| MicroUsd(micro).to_string());
        assert_eq!(said, ["$5.03", "$0.50", "$0.00614", "$12.35", "$0.00"]);
        assert_eq!(serde_json::to_value(MicroUsd(6_140)).unwrap(), json!(0.00614));
    }

    #[test]
    fn a_budget_is_a_number_above_zero() {
        let budget: Budget = serde_json::from_value(json!(0.5)).unwrap();
        assert_eq!(budget.0, MicroUsd(500_000));
        for wrong in [json!(0), json!(-1), json!("5"), json!(1e12), json!(true), json!([5])] {
            let error = serde_json::from_value::<Budget>(wrong.clone()).unwrap_err().to_string();
            assert!(error.contains(&wrong.to_string()) && error.contains("greater than 0"), "{error}");
        }
    }
}
