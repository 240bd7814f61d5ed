//! What the dashboard shows of an error.

use forge_client::{Error, Kind};

pub fn words(error: &Error) -> String {
    match (error.kind, error.status) {
        (kind, _) if kind.is_away() => error.message.clone(),
        (Kind::NotServed, _) => "this server does not serve it".to_owned(),
        (Kind::Foreign, Some(status)) => format!("the server answered {status}"),
        _ => error.to_string(),
    }
}
