//! Who may come in: `Host`, `Origin` and token, in this order, before any handler runs.
//!
//! Invariant: no web page of a foreign origin and no rebound DNS name reaches a handler, whatever the method or body.
//! With a token, nothing but health and login is answered without it; a browser is told how to log in. Secrets are compared in constant time and are
//! never logged or sent back. The login code opens one session, once; the session lives as long as the server.

use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};

use axum::extract::{Request, State};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect};
use subtle::ConstantTimeEq;
use uuid::Uuid;

use crate::envelope::{Answer, Fault};
use crate::extract::Params;
use crate::{App, Door, page};

const COOKIE: &str = "forge_session";
/// The style is that of the page which says how to log in.
const OPEN_PATHS: [&str; 4] = ["/health", "/api/health", "/login", "/plain.css"];
const CORS_METHODS: &str = "GET, POST, PUT, DELETE";
const CORS_HEADERS: &str =
    "authorization, content-type, last-event-id, mcp-protocol-version, mcp-method, mcp-name";

pub(crate) struct Guard {
    bind: SocketAddr,
    token: Option<String>,
    hosts: Vec<String>,
    origins: Vec<String>,
    pub auth_required: bool,
    pub version: String,
    login: Mutex<Login>,
}

/// The code until it is used, then the session it opened.
struct Login {
    code: Option<String>,
    session: Option<String>,
}

/// What the `Origin` header says about the caller.
enum Caller {
    /// No page, or a page of this server.
    Own,
    /// A page of a configured origin.
    Friend(HeaderValue),
}

impl Guard {
    pub fn new(door: Door) -> Self {
        let tidy = |text: String| text.trim().trim_end_matches('/').to_ascii_lowercase();
        Self {
            bind: door.bind,
            token: door.token,
            hosts: door.allowed_hosts.into_iter().map(tidy).collect(),
            origins: door.allowed_origins.into_iter().map(tidy).collect(),
            auth_required: door.auth_required,
            version: door.version,
            login: Mutex::new(Login { code: door.login_code, session: None }),
        }
    }

    /// On an open address with a token any name is fine: a rebound name has no token.
    fn check_host(&self, headers: &HeaderMap) -> Result<(), Fault> {
        if self.token.is_some() && !self.bind.ip().is_loopback() {
            return Ok(());
        }
        for value in headers.get_all(header::HOST) {
            let host = value.to_str().unwrap_or("?").to_ascii_lowercase();
            let known = host.parse().is_ok_and(|authority| self.knows_host(&host, &authority));
            if !known {
                return Err(denied(format!(
                    "Host: '{host}' is not allowed; allowed: localhost, 127.0.0.1, [::1], {} and the configured \
                     hosts. Start the server with --allow-host to use another name",
                    self.bind
                )));
            }
        }
        Ok(())
    }

    fn knows_host(&self, whole: &str, authority: &Authority) -> bool {
        let name = authority.host();
        let address: Option<IpAddr> = name.trim_start_matches('[').trim_end_matches(']').parse().ok();
        let bound = match address {
            Some(_) if self.bind.ip().is_unspecified() => true,
            Some(address) => address.is_loopback() || address == self.bind.ip(),
            None => name == "localhost",
        };
        bound || self.hosts.iter().any(|allowed| allowed == whole || allowed == name)
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<Caller, Fault> {
        let Some(value) = headers.get(header::ORIGIN) else { return Ok(Caller::Own) };
        let origin = value.to_str().unwrap_or("?").to_ascii_lowercase();
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        if is_same_origin(&origin, &host.to_ascii_lowercase()) {
            return Ok(Caller::Own);
        }
        if self.origins.contains(&origin) {
            return Ok(Caller::Friend(value.clone()));
        }
        Err(denied(format!(
            "Origin: '{origin}' is not allowed; pages of this server and of the configured origins may call it. \
             Start the server with --allow-origin to let its pages in"
        )))
    }

    fn check_token(&self, path: &str, headers: &HeaderMap) -> Result<(), Fault> {
        let Some(token) = &self.token else { return Ok(()) };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let bearer = bearer.and_then(|value| value.split_once(' '));
        let has_token = bearer.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("bearer") && equal(given.trim(), token)
        });
        if has_token || OPEN_PATHS.contains(&path) || self.has_session(headers) {
            return Ok(());
        }
        Err(Fault::new(
            StatusCode::UNAUTHORIZED,
            "a token is required: send 'Authorization: Bearer <token>', or open the login link that the server \
             printed when it started",
        ))
    }

    fn has_session(&self, headers: &HeaderMap) -> bool {
        let login = self.login.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(session) = &login.session else { return false };
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(name, value)| name == COOKIE && equal(value, session))
    }

    /// Turns the login code into a session, the first time it is shown.
    fn open_session(&self, given: &str) -> Option<String> {
        let mut login = self.login.lock().unwrap_or_else(PoisonError::into_inner);
        if !login.code.as_deref().is_some_and(|code| equal(code, given)) {
            return None;
        }
        login.code = None;
        let session = format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple());
        login.session = Some(session.clone());
        Some(session)
    }
}

/// The middleware in front of every route and of the page.
pub(crate) async fn guard(State(app): State<App>, request: Request, next: Next) -> Answer {
    let headers = request.headers();
    app.guard.check_host(headers)?;
    let Caller::Friend(origin) = app.guard.check_origin(headers)? else {
        return match app.guard.check_token(request.uri().path(), headers) {
            Ok(()) => Ok(next.run(request).await),
            Err(_) if page::is_asked_for(&request) => Ok(page::locked()),
            Err(fault) => Err(fault),
        };
    };
    // Browsers send the question before the token, so it is answered without one.
    let mut response = match request.method() {
        &Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => match app.guard.check_token(request.uri().path(), headers) {
            Ok(()) => next.run(request).await,
            Err(fault) => fault.into_response(),
        },
    };
    let reply = response.headers_mut();
    reply.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    reply.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(CORS_METHODS));
    reply.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(CORS_HEADERS));
    // The answer may depend on more than who asks.
    reply.append(header::VARY, HeaderValue::from_static("origin"));
    Ok(response)
}

/// `GET /login?code=…`
pub(crate) async fn login(State(app): State<App>, params: Params) -> Answer {
    let session = app.guard.open_session(params.require("code")?).ok_or_else(|| {
        denied("code: unknown or already used; restart the server to get a new login link".to_owned())
    })?;
    let cookie = format!("{COOKIE}={session}; Path=/; HttpOnly; SameSite=Strict");
    Ok(([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response())
}

fn denied(message: String) -> Fault {
    Fault::new(StatusCode::FORBIDDEN, message)
}

fn equal(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}

/// Whether `origin` (`scheme://authority`) is the server that `host` names; a missing port is the scheme's own.
fn is_same_origin(origin: &str, host: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else { return false };
    let port = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return false,
    };
    let (Ok(page), Ok(own)) = (authority.parse::<Authority>(), host.parse::<Authority>()) else {
        return false;
    };
    page.host() == own.host() && page.port_u16().unwrap_or(port) == own.port_u16().unwrap_or(port)
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
            ("null", "localhost:8887", false),
            ("file://", "localhost:8887", false),
        ] {
            assert_eq!(is_same_origin(origin, host), same, "{origin} on {host}");
        }
    }
}
