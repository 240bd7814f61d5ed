//! Posting a document to an address that a user has chosen.
//!
//! Invariant: the address is the secret, so errors contain only its host.

use reqwest::{Method, Url};
use serde_json::Value;

use crate::{Http, RemoteError};

impl Http {
    /// Only whether it was accepted counts, not the response.
    pub async fn post_webhook(&self, url: &str, body: &Value) -> Result<(), RemoteError> {
        match self.call(Method::POST, url, &[], Some(body)).await {
            Ok(reply) => reply.success(url).map(drop),
            // A success whose body is not JSON.
            Err(RemoteError::Unusable { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Whether this can be the address of a webhook; if not, what is allowed. The address is not repeated.
pub fn check_webhook(url: &str) -> Result<(), &'static str> {
    match Url::parse(url.trim()) {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(()),
        _ => Err("the value is not an address; allowed: an http or https address"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_addresses_are_taken_and_none_is_repeated() {
        assert_eq!(check_webhook("https://hooks.example/T0/secret"), Ok(()));
        for wrong in ["hooks.example/secret", "file:///secret", "", "http://"] {
            assert!(!check_webhook(wrong).unwrap_err().contains("secret"), "{wrong}");
        }
    }
}
