//! The frame around every response, and what the server reports about itself.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ErrorCode;

/// Around every JSON response.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Envelope")]
pub struct Envelope<Data = Value, ErrorData = Value> {
    pub success: bool,
    pub data: Data,
    pub error_data: ErrorData,
    pub message: Option<String>,
}

/// Around every failure.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Failure")]
pub struct Failure<ErrorData = Value> {
    pub success: bool,
    pub data: (),
    /// What clients branched on before there were codes; most failures have none.
    pub error_data: ErrorData,
    /// What is wrong and, after `; `, the hint.
    pub message: Option<String>,
    pub error_code: ErrorCode,
    /// What helps.
    pub hint: Option<String>,
    /// The part of the request that is wrong.
    pub field: Option<String>,
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
