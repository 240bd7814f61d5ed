//! The frame around every response, and what the server reports about itself.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::ErrorCode;

/// Around every JSON response.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(
    rename = "Envelope",
    bound = "Data: JsonSchema + Serialize + Default, ErrorData: JsonSchema + Serialize + Default"
)]
pub struct Envelope<Data = Value, ErrorData = Value> {
    pub success: bool,
    #[serde(default)]
    pub data: Data,
    #[serde(default)]
    pub error_data: ErrorData,
    pub message: Option<String>,
}

/// Around every failure.
// It is read as far as it goes: an older server leaves keys out and has no codes, a newer one has other codes.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Failure", bound = "ErrorData: JsonSchema + Serialize + Default")]
pub struct Failure<ErrorData = Value> {
    #[serde(default)]
    pub success: bool,
    #[serde(default)]
    pub data: (),
    /// What clients branched on before there were codes; most failures have none.
    #[serde(default)]
    pub error_data: ErrorData,
    /// What is wrong and, after `; `, the hint.
    pub message: Option<String>,
    #[serde(default, deserialize_with = "if_known")]
    #[schemars(with = "ErrorCode")]
    pub error_code: Option<ErrorCode>,
    /// What helps.
    pub hint: Option<String>,
    /// The part of the request that is wrong.
    pub field: Option<String>,
}

fn if_known<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ErrorCode>, D::Error> {
    Ok(Value::deserialize(from)?.as_str().and_then(|code| code.parse().ok()))
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ready {
    pub status: String,
    pub service: String,
    pub version: String,
    pub message: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteList {
    pub version: String,
    /// The routes by their heading.
    pub routes: BTreeMap<String, Vec<String>>,
    pub note: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuthRequired {
    pub auth_required: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoginLink {
    pub path: String,
}

/// A body that is not read: older clients send anything there.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Anything;

impl JsonSchema for Anything {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Anything".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({})
    }
}
