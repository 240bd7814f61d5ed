//! What agents used and what it cost.
//!
//! Invariant: an invalid value is a 400 that names the parameter, the value and what is allowed.

use std::str::FromStr;

use axum::extract::State;
use forge_core::Forge;
use forge_types::UsageQuery;

use crate::envelope::{Answer, Fault, ok};
use crate::extract::Params;

pub(crate) async fn show(State(forge): State<Forge>, params: Params) -> Answer {
    let group_by = params.get("group_by").into_iter().flat_map(|list| list.split(','));
    let group_by = group_by.map(|key| read("group_by", key)).collect::<Result<_, _>>()?;
    Ok(ok(forge.usage(UsageQuery { group_by, ..asked(&params)? }).await?))
}

pub(crate) async fn workers(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.worker_efficiency(asked(&params)?).await?))
}

pub(crate) async fn models(State(forge): State<Forge>, params: Params) -> Answer {
    Ok(ok(forge.model_performance(asked(&params)?).await?))
}

/// Whose use, and of which days.
fn asked(params: &Params) -> Result<UsageQuery, Fault> {
    Ok(UsageQuery {
        group_by: Vec::new(),
        project_id: params.optional_id("project_id")?,
        attempt_id: params.optional_id("task_attempt_id")?,
        from: params.get("from").map(|day| read("from", day)).transpose()?,
        to: params.get("to").map(|day| read("to", day)).transpose()?,
    })
}

fn read<T: FromStr<Err = String>>(name: &str, text: &str) -> Result<T, Fault> {
    text.trim().parse().map_err(|wrong| Fault::bad_request(format!("{name}: {wrong}")))
}
