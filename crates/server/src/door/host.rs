//! The `Host` header: its syntax, and which names are ours.
//!
//! Invariant: every request has exactly one, which is a name or an address and optionally a port, and nothing else. A
//! rebound DNS name is not ours unless somebody configured it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use axum::http::{HeaderMap, header};

use super::denied;
use crate::envelope::Fault;

/// An authority without a user, in lower case.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Host {
    text: String,
    name: String,
    address: Option<IpAddr>,
    port: Option<u16>,
}

impl Host {
    pub(crate) fn of(headers: &HeaderMap) -> Result<Self, Fault> {
        let mut values = headers.get_all(header::HOST).iter();
        let (Some(value), None) = (values.next(), values.next()) else {
            return Err(denied("Host: exactly one is needed, such as 'localhost:8887'".to_owned()));
        };
        value.to_str().ok().and_then(Self::parse).ok_or_else(|| {
            let given = String::from_utf8_lossy(value.as_bytes());
            denied(format!(
                "Host: '{given}' is not a name or address with at most a port, such as 'localhost:8887'"
            ))
        })
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.to_ascii_lowercase();
        let end = match text.starts_with('[') {
            true => text.find(']')? + 1,
            false => text.find(':').unwrap_or(text.len()),
        };
        let (name, rest) = text.split_at(end);
        let address = match name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            Some(inner) => Some(IpAddr::V6(inner.parse::<Ipv6Addr>().ok()?)),
            None => name.parse::<Ipv4Addr>().ok().map(IpAddr::V4),
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        if address.is_none() && (name.is_empty() || !name.bytes().all(is_plain)) {
            return None;
        }
        let port = match rest.strip_prefix(':') {
            Some(digits) => Some(parse_port(digits)?),
            None if rest.is_empty() => None,
            None => return None,
        };
        Some(Self { name: name.to_owned(), address, port, text })
    }

    /// Whether `origin` (`scheme://authority`) is the server of this name; a missing port means the scheme's default.
    pub(crate) fn is_origin(&self, origin: &str) -> bool {
        let Some((scheme, authority)) = origin.split_once("://") else { return false };
        let port = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return false,
        };
        Self::parse(authority).is_some_and(|page| {
            page.name == self.name && page.port.unwrap_or(port) == self.port.unwrap_or(port)
        })
    }
}

/// Digits only: a plain number may have a sign.
fn parse_port(digits: &str) -> Option<u16> {
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    digits.parse().ok().filter(|port| *port > 0)
}

/// The names of this server.
pub(super) struct Names {
    bind: SocketAddr,
    /// With or without a port.
    others: Vec<String>,
}

impl Names {
    pub(crate) fn new(bind: SocketAddr, others: Vec<String>) -> Self {
        Self { bind, others }
    }

    pub(crate) fn check(&self, host: &Host) -> Result<(), Fault> {
        let is_bound = match host.address {
            // Only a name can be rebound.
            Some(_) if self.bind.ip().is_unspecified() => true,
            Some(address) => address.is_loopback() || address == self.bind.ip(),
            None => host.name == "localhost",
        };
        if is_bound || self.others.iter().any(|name| *name == host.text || *name == host.name) {
            return Ok(());
        }
        Err(denied(format!(
            "Host: '{}' is not allowed; allowed: localhost, 127.0.0.1, [::1], {} and the configured hosts. Start the \
             server with --allow-host to use another name",
            host.text, self.bind
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_compared_with_its_port() {
        for (origin, host, same) in [
            ("http://localhost:8887", "localhost:8887", true),
            ("http://localhost:3000", "localhost:8887", false),
            ("http://127.0.0.1:8887", "localhost:8887", false),
            ("http://[::1]:8887", "[::1]:8887", true),
            ("https://forge.example", "forge.example", true),
            ("https://forge.example", "forge.example:443", true),
            ("http://forge.example", "forge.example:443", false),
            ("http://evil@localhost:8887", "localhost:8887", false),
            ("null", "localhost:8887", false),
            ("file://", "localhost:8887", false),
        ] {
            assert_eq!(Host::parse(host).unwrap().is_origin(origin), same, "{origin} on {host}");
        }
    }

    #[test]
    fn a_host_is_a_name_or_address_and_perhaps_a_port() {
        for text in ["localhost", "LocalHost:8887", "127.0.0.1:1", "[::1]", "[::1]:65535", "my_host-1.lan"] {
            assert!(Host::parse(text).is_some(), "{text}");
        }
        for text in [
            "",
            ":8887",
            "evil@127.0.0.1",
            "127.0.0.1@evil:8887",
            "127.0.0.1:8887.evil",
            "127.0.0.1:",
            "127.0.0.1:0",
            "127.0.0.1:65536",
            "127.0.0.1:+80",
            "127.0.0.1:80:80",
            "::1",
            "[::1",
            "[::1]8887",
            "[[::1]]",
            "[127.0.0.1]",
            "[localhost]",
            "localhost/path",
            "localhost evil",
            "localhost,evil",
        ] {
            assert_eq!(Host::parse(text), None, "{text}");
        }
    }
}
