//! Omni, a gateway to messengers: listing its accounts, and sending a text through one.
//!
//! Invariant: the key is sent in a header to the configured host and nowhere else.

use forge_types::{OmniInstance, RecipientType};
use reqwest::{Method, Url};
use serde::Deserialize;
use serde_json::json;

use crate::http::host_of;
use crate::{Http, RemoteError};

const KEY_HEADER: &str = "X-API-Key";

#[derive(Deserialize)]
struct Channels {
    channels: Vec<OmniInstance>,
}

impl Http {
    pub async fn omni_instances(&self, host: &str, api_key: &str) -> Result<Vec<OmniInstance>, RemoteError> {
        let url = address(host, &["instances", ""])?;
        let reply = self.call(Method::GET, &url, &[(KEY_HEADER, api_key)], None).await?;
        let found: Result<Channels, _> = serde_json::from_value(reply.success(&url)?);
        found.map(|found| found.channels).map_err(|error| RemoteError::Unusable {
            host: host_of(host),
            reason: format!("it is not a list of channels: {error}"),
        })
    }

    /// Sends a text through an account of the gateway.
    pub async fn omni_send(
        &self,
        host: &str,
        api_key: &str,
        instance: &str,
        to: (RecipientType, &str),
        text: &str,
    ) -> Result<(), RemoteError> {
        let url = address(host, &["instance", instance, "send-text"])?;
        let body = match to {
            (RecipientType::UserId, id) => json!({"user_id": id, "text": text}),
            (RecipientType::PhoneNumber, number) => json!({"phone_number": number, "text": text}),
        };
        self.call(Method::POST, &url, &[(KEY_HEADER, api_key)], Some(&body)).await?.success(&url)?;
        Ok(())
    }
}

/// Whether this can be the address of a gateway; if not, what is allowed.
pub fn check_host(host: &str) -> Result<(), String> {
    address(host, &[])
        .map(drop)
        .map_err(|_| format!("'{host}' is not allowed; allowed: an http or https address"))
}

fn address(host: &str, path: &[&str]) -> Result<String, RemoteError> {
    let wrong = || RemoteError::Unreachable {
        host: "the given address".to_owned(),
        reason: "it is not an http or https address".to_owned(),
    };
    let mut url = Url::parse(host.trim()).map_err(|_| wrong())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(wrong());
    }
    url.set_query(None);
    url.set_fragment(None);
    url.path_segments_mut().map_err(|()| wrong())?.pop_if_empty().extend(["api", "v1"]).extend(path);
    Ok(url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_built_step_by_step() {
        let build = |host: &str, path: &[&str]| address(host, path).expect(host);
        assert_eq!(build("http://h:8882", &["instances", ""]), "http://h:8882/api/v1/instances/");
        assert_eq!(
            build("https://h/omni/?x=1", &["instance", "../a b?c", "send-text"]),
            "https://h/omni/api/v1/instance/..%2Fa%20b%3Fc/send-text"
        );
        for wrong in ["h:8882", "file:///etc/passwd", "", "http://"] {
            assert!(check_host(wrong).is_err(), "{wrong}");
        }
    }
}
