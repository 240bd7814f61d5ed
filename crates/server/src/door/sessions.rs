//! Browsers that are logged in, and the codes with which they log in.
//!
//! Invariant: a code opens one session, once. A session ends [`LIFETIME`] after its last use, when its browser logs
//! out, or when [`MOST_SESSIONS`] others are younger, and the streams that it opened end with it. All are kept in
//! memory, so they end with the server.

use std::time::{Duration, SystemTime};

use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use super::equal;

const LIFETIME: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const MOST_SESSIONS: usize = 64;
const MOST_CODES: usize = 8;

#[derive(Default)]
pub(super) struct Sessions {
    /// Not yet used, the oldest first.
    codes: Vec<String>,
    /// The one that was used last at the end.
    open: Vec<Session>,
}

struct Session {
    secret: String,
    used: SystemTime,
    /// Cancelled when the session ends.
    end: CancellationToken,
    _end: DropGuard,
}

impl Sessions {
    /// From now on the code opens a session, once.
    pub(crate) fn expect(&mut self, code: String) {
        if self.codes.len() == MOST_CODES {
            self.codes.remove(0);
        }
        self.codes.push(code);
    }

    pub(crate) fn open(&mut self, code: &str, now: SystemTime) -> Option<String> {
        let place = self.codes.iter().position(|known| equal(known, code))?;
        self.codes.remove(place);
        if self.open.len() == MOST_SESSIONS {
            self.open.remove(0);
        }
        let (secret, end) = (random(), CancellationToken::new());
        self.open.push(Session {
            secret: secret.clone(),
            used: now,
            end: end.clone(),
            _end: end.drop_guard(),
        });
        Some(secret)
    }

    /// Whether the secret belongs to a session. The session counts as used.
    pub(crate) fn use_one(&mut self, secret: &str, now: SystemTime) -> bool {
        // A clock that was set back ages no session.
        self.open.retain(|session| session.used + LIFETIME > now);
        let Some(mut session) = self.take(secret) else { return false };
        session.used = now;
        self.open.push(session);
        true
    }

    /// The token that is cancelled when the session with this secret ends.
    pub(crate) fn end_of(&self, secret: &str) -> Option<CancellationToken> {
        self.open.iter().find(|session| equal(&session.secret, secret)).map(|session| session.end.clone())
    }

    pub(crate) fn end(&mut self, secret: &str) {
        self.take(secret);
    }

    fn take(&mut self, secret: &str) -> Option<Session> {
        let place = self.open.iter().position(|session| equal(&session.secret, secret))?;
        Some(self.open.remove(place))
    }
}

/// 244 random bits as text.
pub(super) fn random() -> String {
    format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple())
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    fn open(sessions: &mut Sessions, now: SystemTime) -> String {
        let code = random();
        sessions.expect(code.clone());
        sessions.open(&code, now).unwrap()
    }

    #[test]
    fn a_session_ends_seven_days_after_its_last_use() {
        let (mut sessions, start) = (Sessions::default(), SystemTime::now());
        let [used, idle] = [(); 2].map(|()| open(&mut sessions, start));
        assert!(sessions.use_one(&used, start + 6 * DAY));
        assert!(!sessions.use_one(&idle, start + 7 * DAY));
        assert!(sessions.use_one(&used, start + 12 * DAY));
        assert!(sessions.use_one(&used, start), "the clock was set back");
        assert!(!sessions.use_one(&used, start + 7 * DAY));
    }

    #[test]
    fn the_end_of_one_session_leaves_the_others() {
        let (mut sessions, now) = (Sessions::default(), SystemTime::now());
        let [one, other] = [(); 2].map(|()| open(&mut sessions, now));
        sessions.end(&one);
        assert!(!sessions.use_one(&one, now));
        assert!(sessions.use_one(&other, now));
    }

    #[test]
    fn a_code_opens_one_session() {
        let (mut sessions, now) = (Sessions::default(), SystemTime::now());
        sessions.expect("once".into());
        assert!(sessions.open("one", now).is_none());
        assert!(sessions.open("once", now).is_some());
        assert!(sessions.open("once", now).is_none());
    }

    #[test]
    fn what_was_not_used_for_longest_makes_room() {
        let (mut sessions, now) = (Sessions::default(), SystemTime::now());
        let first = open(&mut sessions, now);
        let second = open(&mut sessions, now);
        for _ in 2..MOST_SESSIONS {
            open(&mut sessions, now);
        }
        assert!(sessions.use_one(&first, now));
        open(&mut sessions, now);
        assert_eq!(sessions.open.len(), MOST_SESSIONS);
        assert!(sessions.use_one(&first, now) && !sessions.use_one(&second, now));
        for n in 0..=MOST_CODES {
            sessions.expect(n.to_string());
        }
        assert!(sessions.open("0", now).is_none() && sessions.open("1", now).is_some());
    }
}
