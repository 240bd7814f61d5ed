//! Who is let in: `Host`, `Origin`, `Sec-Fetch-Site`, then user or token, before any handler runs.
//!
//! Invariant: no web page of a foreign origin and no rebound DNS name reaches a handler, whatever the method or body; a
//! foreign page can at most send its reader to one of ours. Without a token or session only the user that runs the
//! server is let in, over loopback and by a name of ours; everybody else gets health and login, and a browser gets a
//! page about how to log in. Secrets are compared in constant time, at most a few wrong ones a minute, and are never
//! logged or sent back.

#[cfg(target_os = "linux")]
mod diag;
mod guesses;
mod host;
mod peer;
mod sessions;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use forge_types::wire::LoginLink;
use futures_util::StreamExt;
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use crate::envelope::{Answer, Fault, ok};
use crate::extract::Params;
use crate::{App, Door, OpenTo, page};
use guesses::{Guesses, Shown, Verdict};
use host::{Host, Names};
pub(crate) use peer::Sight;
pub use peer::{Peer, probe};
use sessions::Sessions;

/// How much of an upload, and for how long, is read from somebody who may not make it.
const UNHEARD_BYTES: usize = 32 << 20;
const UNHEARD_LIMIT: Duration = Duration::from_secs(5);
/// The style belongs to the page that explains how to log in.
const OPEN_PATHS: [&str; 4] = ["/health", "/api/health", "/login", "/plain.css"];
const CORS_METHODS: &str = "GET, POST, PUT, DELETE";
const CORS_HEADERS: &str =
    "authorization, content-type, last-event-id, mcp-protocol-version, mcp-method, mcp-name";
/// How many are checked in one request.
const MOST_COOKIES: usize = 4;
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");
const FETCH_DEST: HeaderName = HeaderName::from_static("sec-fetch-dest");

pub(crate) struct Guard {
    names: Names,
    /// Whether the first check refuses every foreign name. On an open address whoever has a token or a session may use
    /// any name: a rebound one has neither.
    always_named: bool,
    token: Option<String>,
    open_to: OpenTo,
    origins: Vec<String>,
    pub auth_required: bool,
    pub version: String,
    /// Browsers send cookies to every port of a host, so each server has its own cookie name.
    cookie: String,
    sessions: Mutex<Sessions>,
    guesses: Guesses,
}

/// Beside a request that came in with a session: cancelled when that session ends.
#[derive(Clone)]
pub(crate) struct SessionEnd(pub CancellationToken);

/// What the `Origin` header says about the caller.
enum Caller {
    /// No page, or a page of this server.
    Own,
    /// A page of a configured origin.
    Friend(HeaderValue),
}

impl Guard {
    pub(crate) fn new(door: Door) -> Self {
        let tidy = |text: String| text.trim().trim_end_matches('/').to_ascii_lowercase();
        let mut sessions = Sessions::default();
        if let Some(code) = door.login_code {
            sessions.expect(code);
        }
        Self {
            names: Names::new(door.bind, door.allowed_hosts.into_iter().map(tidy).collect()),
            always_named: door.token.is_none() || door.bind.ip().is_loopback(),
            token: door.token,
            open_to: door.open_to,
            origins: door.allowed_origins.into_iter().map(tidy).collect(),
            auth_required: door.auth_required,
            version: door.version,
            cookie: format!("forge_session_{}", door.bind.port()),
            sessions: Mutex::new(sessions),
            guesses: Guesses::default(),
        }
    }

    fn check_origin(&self, host: &Host, headers: &HeaderMap) -> Result<Caller, Fault> {
        let Some(value) = headers.get(header::ORIGIN) else { return Ok(Caller::Own) };
        let origin = value.to_str().unwrap_or("?").to_ascii_lowercase();
        if host.is_origin(&origin) {
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

    fn admit(&self, host: &Host, peer: Peer, path: &str, headers: &HeaderMap) -> Result<(), Fault> {
        let named = self.names.check(host);
        let is_welcome = match self.open_to {
            OpenTo::Everybody => true,
            OpenTo::User => peer.is_user,
            OpenTo::Nobody => false,
        };
        if OPEN_PATHS.contains(&path) || (is_welcome && named.is_ok()) || self.has_secret(peer, headers)? {
            return Ok(());
        }
        if is_welcome {
            // The user's own browser brings pages under rebound names here.
            return named;
        }
        let way = match self.token {
            Some(_) => {
                "send 'Authorization: Bearer <token>', or open the login link (the file `login` in the home of Forge)"
            }
            None => {
                "this server has none and is open to the user that runs it alone, who can make a login link with \
                 POST /api/auth/login-link, or start it with FORGE_TOKEN set"
            }
        };
        Err(Fault::new(StatusCode::UNAUTHORIZED, "a token is required").hint(way))
    }

    fn has_secret(&self, peer: Peer, headers: &HeaderMap) -> Result<bool, Fault> {
        let (bearer, mut cookies) = (bearer(headers), self.session_cookies(headers).peekable());
        let shown = match (bearer, cookies.peek().copied()) {
            (Some(_), _) => Shown::OnPurpose,
            (None, Some(cookie)) => Shown::Cookie(cookie),
            (None, None) => return Ok(false),
        };
        self.judge(peer, shown, || {
            let has_token =
                bearer.zip(self.token.as_deref()).is_some_and(|(given, token)| equal(given, token));
            has_token || cookies.any(|cookie| self.sessions().use_one(cookie, SystemTime::now()))
        })
    }

    fn judge(&self, peer: Peer, shown: Shown<'_>, is_right: impl FnOnce() -> bool) -> Result<bool, Fault> {
        match self.guesses.judge(peer.address, shown, Instant::now(), is_right) {
            Verdict::Right => Ok(true),
            Verdict::Wrong => Ok(false),
            Verdict::Wait(seconds) => Err(Fault::later(
                seconds,
                format!("too many wrong tokens, cookies or login codes from here; try again in {seconds} s"),
            )),
        }
    }

    /// A page on another port of this host can put a cookie of the same name before ours.
    fn session_cookies<'a>(&self, headers: &'a HeaderMap) -> impl Iterator<Item = &'a str> {
        let lines = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.filter(|(name, _)| *name == self.cookie).map(|(_, value)| value).take(MOST_COOKIES)
    }

    /// Handles a request that was let in. A stream that a session opened would otherwise outlive the session.
    async fn pass(&self, mut request: Request, next: Next) -> Response {
        let end = self.session_cookies(request.headers()).find_map(|cookie| self.sessions().end_of(cookie));
        let Some(end) = end else { return next.run(request).await };
        request.extensions_mut().insert(SessionEnd(end.clone()));
        let response = next.run(request).await;
        match response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream") {
            true => response
                .map(|body| Body::from_stream(body.into_data_stream().take_until(end.cancelled_owned()))),
            false => response,
        }
    }

    fn set_cookie(&self, value: &str, life: &str) -> (HeaderName, String) {
        (header::SET_COOKIE, format!("{}={value}; Path=/; HttpOnly; SameSite=Strict{life}", self.cookie))
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The middleware in front of every route and of the page.
pub(crate) async fn guard(State(app): State<App>, peer: Peer, request: Request, next: Next) -> Answer {
    let guard = &app.guard;
    let (path, headers) = (request.uri().path(), request.headers());
    let host = Host::of(headers)?;
    if guard.always_named {
        guard.names.check(&host)?;
    }
    let caller = guard.check_origin(&host, headers)?;
    let admit = || guard.admit(&host, peer, path, headers);
    let Caller::Friend(origin) = caller else {
        check_site(&request)?;
        return match admit() {
            Ok(()) => Ok(guard.pass(request, next).await),
            Err(fault) if fault.status != StatusCode::TOO_MANY_REQUESTS && page::is_asked_for(&request) => {
                Ok(page::locked())
            }
            Err(fault) => {
                if fault.status == StatusCode::UNAUTHORIZED {
                    hear_out(request).await;
                }
                Err(fault)
            }
        };
    };
    // Browsers send the preflight request before the token, so it needs none.
    let mut response = match request.method() {
        &Method::OPTIONS => StatusCode::NO_CONTENT.into_response(),
        _ => match admit() {
            Ok(()) => guard.pass(request, next).await,
            Err(fault) => fault.into_response(),
        },
    };
    let reply = response.headers_mut();
    reply.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    reply.insert(header::ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(CORS_METHODS));
    reply.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(CORS_HEADERS));
    // The response may depend on more than who asks.
    reply.append(header::VARY, HeaderValue::from_static("origin"));
    Ok(response)
}

/// Reads and discards the rest of the request: a client that is cut off in the middle of an upload never reads why.
async fn hear_out(request: Request) {
    let (mut body, mut heard) = (request.into_body().into_data_stream(), 0);
    let hear = async {
        while let Some(Ok(chunk)) = body.next().await
            && heard < UNHEARD_BYTES
        {
            heard += chunk.len();
        }
    };
    let _ = tokio::time::timeout(UNHEARD_LIMIT, hear).await;
}

/// Images, scripts and the like of a foreign page have no `Origin`, but browsers send where they come from. A page of
/// another port is `same-site`. Links to our pages are allowed: their reader leaves the foreign page.
fn check_site(request: &Request) -> Result<(), Fault> {
    let headers = request.headers();
    let foreign = headers.get_all(FETCH_SITE).iter().find(|site| *site != "same-origin" && *site != "none");
    let is = |name: HeaderName, value: &str| headers.get(name).is_some_and(|given| given == value);
    let is_visit = || is(FETCH_MODE, "navigate") && is(FETCH_DEST, "document") && page::is_visit(request);
    match foreign {
        Some(site) if !is_visit() => Err(denied(format!(
            "Sec-Fetch-Site: '{}' is not allowed; pages of this server and of the configured origins may call it. \
             Start the server with --allow-origin to let a page in",
            site.to_str().unwrap_or("?")
        ))),
        _ => Ok(()),
    }
}

/// `GET /login?code=…`. A `HEAD` request, which only checks the link, does not use it up.
pub(crate) async fn login(State(app): State<App>, peer: Peer, method: Method, params: Params) -> Answer {
    let code = params.require("code")?;
    if method == Method::HEAD {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut session = None;
    app.guard.judge(peer, Shown::OnPurpose, || {
        session = app.guard.sessions().open(code, SystemTime::now());
        session.is_some()
    })?;
    let session = session.ok_or_else(|| {
        denied(
            "code: unknown or already used; POST /api/auth/login-link with the token, or a restart of the server, \
             gives a new login link"
                .to_owned(),
        )
    })?;
    Ok(([app.guard.set_cookie(&session, "")], Redirect::to("/")).into_response())
}

/// `POST /api/auth/login-link`: for another browser of somebody who is logged in.
pub(crate) async fn make_link(State(app): State<App>) -> Response {
    let code = sessions::random();
    app.guard.sessions().expect(code.clone());
    ok(LoginLink { path: format!("/login?code={code}") })
}

/// `POST /logout`
pub(crate) async fn logout(State(app): State<App>, headers: HeaderMap) -> Response {
    for cookie in app.guard.session_cookies(&headers) {
        app.guard.sessions().end(cookie);
    }
    ([app.guard.set_cookie("", "; Max-Age=0")], Redirect::to("/")).into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, given) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| given.trim())
}

fn denied(message: String) -> Fault {
    Fault::new(StatusCode::FORBIDDEN, message)
}

fn equal(a: &str, b: &str) -> bool {
    a.as_bytes().ct_eq(b.as_bytes()).into()
}
