//! Calls that are in progress, so that a client can cancel its own.
//!
//! Over HTTP a cancellation is a separate request, and contains only the number that its sender gave the call. So every
//! client that begins with a handshake gets a name, sends it along (`Mcp-Session-Id`), and a call is known by both.
//! Invariant: a name is nothing but a name. It is remembered only while one of its bearer's calls is in progress, any
//! name is as good as another, and one from before a restart still works.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

pub(crate) const NAME_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

/// Who called, and which of its calls it is.
type Key = (HeaderValue, Value);

#[derive(Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<HashMap<Key, CancellationToken>>>);

/// Removes the call when dropped.
pub(crate) struct UnderWay {
    calls: Calls,
    key: Option<Key>,
}

/// The parts of a message that matter here.
#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Default, Deserialize)]
struct Params {
    #[serde(default, rename = "requestId")]
    request_id: Value,
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a call that `left` cancels. One without a name ends when its connection does.
    pub(crate) fn begin(&self, headers: Option<&HeaderMap>, id: Value, left: &CancellationToken) -> UnderWay {
        let name = headers.and_then(|headers| headers.get(NAME_HEADER)).cloned();
        let key = name.map(|name| (name, id));
        if let Some(key) = &key {
            self.lock().insert(key.clone(), left.clone());
        }
        UnderWay { calls: self.clone(), key }
    }

    /// Reads an incoming message: ends the call that it cancels, and returns whether it begins a handshake.
    pub(crate) fn notice(&self, headers: &HeaderMap, body: &[u8]) -> Notice {
        let Ok(Message { method, params }) = serde_json::from_slice(body) else { return Notice::Other };
        match (method.as_str(), headers.get(NAME_HEADER)) {
            ("initialize", _) => Notice::Handshake,
            ("notifications/cancelled", Some(name)) => {
                if let Some(left) = self.lock().get(&(name.clone(), params.request_id)) {
                    left.cancel();
                }
                Notice::Other
            }
            _ => Notice::Other,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notice {
    Handshake,
    Other,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.calls.lock().remove(key);
        }
    }
}

/// A name for a client.
pub(crate) fn new_name() -> HeaderValue {
    // A UUID is letters, digits and hyphens, which a header takes.
    HeaderValue::from_str(&uuid::Uuid::new_v4().to_string()).unwrap_or(HeaderValue::from_static("client"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(name: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(NAME_HEADER, HeaderValue::from_static(name))])
    }

    fn take_back(id: Value) -> Vec<u8> {
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})
            .to_string()
            .into_bytes()
    }

    #[test]
    fn a_call_is_taken_back_by_its_own_client_alone_and_forgotten_when_it_ends() {
        let calls = Calls::default();
        let left = CancellationToken::new();
        let call = calls.begin(Some(&named("a")), json!(3), &left);
        for (name, id) in [("b", json!(3)), ("a", json!(4)), ("a", json!("3")), ("a", Value::Null)] {
            calls.notice(&named(name), &take_back(id));
            assert!(!left.is_cancelled());
        }
        calls.notice(&HeaderMap::new(), &take_back(json!(3)));
        assert!(!left.is_cancelled());
        calls.notice(&named("a"), &take_back(json!(3)));
        assert!(left.is_cancelled());
        drop(call);
        assert!(calls.lock().is_empty());
    }

    #[test]
    fn only_a_handshake_is_one() {
        let calls = Calls::default();
        let look = |body: &str| calls.notice(&HeaderMap::new(), body.as_bytes());
        assert_eq!(look(r#"{"id": 1, "method": "initialize", "params": {}}"#), Notice::Handshake);
        for other in [r#"{"id": 1, "method": "tools/list"}"#, "[]", "{", r#"{"id": 1, "result": {}}"#] {
            assert_eq!(look(other), Notice::Other, "{other}");
        }
    }
}
