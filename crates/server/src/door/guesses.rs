//! How often an address may send a wrong token, cookie or login code.
//!
//! Invariant: at most [`MOST_WRONG`] wrong ones are checked within [`WINDOW`]; after that none is checked, right or
//! wrong, until the window ends. No more than [`MOST_ADDRESSES`] are remembered.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_secs(60);
const MOST_WRONG: u32 = 10;
const MOST_ADDRESSES: usize = 1024;

/// What a client sends to be let in.
#[derive(Clone, Copy)]
pub(super) enum Shown<'a> {
    /// By a program, or by a person who follows a link.
    OnPurpose,
    /// Sent with every request of every page, long after it ended; so the same one counts once.
    Cookie(&'a str),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Right,
    Wrong,
    /// Nothing is checked for this many seconds.
    Wait(u64),
}

#[derive(Default)]
pub(super) struct Guesses {
    hasher: RandomState,
    addresses: Mutex<HashMap<IpAddr, Tries>>,
}

struct Tries {
    since: Instant,
    wrong: u32,
    /// Hashes of the cookies among them.
    cookies: Vec<u64>,
}

impl Guesses {
    /// The comparison is made under the lock, so that parallel requests cannot get around the limit.
    pub(crate) fn judge(
        &self,
        address: IpAddr,
        shown: Shown<'_>,
        now: Instant,
        is_right: impl FnOnce() -> bool,
    ) -> Verdict {
        let address = network(address);
        let mut addresses = self.addresses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tries) = addresses.get(&address) {
            let left = WINDOW.saturating_sub(now.duration_since(tries.since));
            if left.is_zero() {
                addresses.remove(&address);
            } else if tries.wrong >= MOST_WRONG {
                return Verdict::Wait(left.as_secs() + 1);
            }
        }
        if is_right() {
            return Verdict::Right;
        }
        if !addresses.contains_key(&address) {
            make_room(&mut addresses);
        }
        let tries = addresses.entry(address).or_insert(Tries { since: now, wrong: 0, cookies: Vec::new() });
        if let Shown::Cookie(cookie) = shown {
            let hash = self.hasher.hash_one(cookie);
            if tries.cookies.contains(&hash) {
                return Verdict::Wrong;
            }
            tries.cookies.push(hash);
        }
        tries.wrong += 1;
        Verdict::Wrong
    }
}

/// Whoever has one IPv6 address has all of its /64.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

fn make_room(addresses: &mut HashMap<IpAddr, Tries>) {
    if addresses.len() < MOST_ADDRESSES {
        return;
    }
    let oldest = addresses.iter().min_by_key(|(_, tries)| tries.since).map(|(address, _)| *address);
    if let Some(oldest) = oldest {
        addresses.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u32) -> IpAddr {
        IpAddr::V4(n.into())
    }

    #[test]
    fn after_ten_wrong_ones_nothing_is_looked_at_until_the_minute_ends() {
        let (guesses, start) = (Guesses::default(), Instant::now());
        let judge = |from, now, right| guesses.judge(address(from), Shown::OnPurpose, now, || right);
        for _ in 0..MOST_WRONG {
            assert_eq!(judge(1, start, true), Verdict::Right);
            assert_eq!(judge(1, start, false), Verdict::Wrong);
        }
        let later = start + Duration::from_secs(20);
        let looked_at = || panic!("it was looked at");
        assert_eq!(guesses.judge(address(1), Shown::OnPurpose, later, looked_at), Verdict::Wait(41));
        assert_eq!(judge(2, later, true), Verdict::Right, "another address");
        assert_eq!(judge(1, start + WINDOW, false), Verdict::Wrong);
        assert_eq!(judge(1, start + WINDOW, true), Verdict::Right);
    }

    #[test]
    fn a_page_with_an_ended_session_counts_once() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        let judge = |cookie: &str| guesses.judge(address(1), Shown::Cookie(cookie), now, || false);
        for _ in 0..100 {
            assert_eq!(judge("ended"), Verdict::Wrong);
        }
        for n in 1..MOST_WRONG {
            assert_eq!(judge(&n.to_string()), Verdict::Wrong);
        }
        assert!(matches!(judge("ended"), Verdict::Wait(_)), "others were tried meanwhile");
    }

    #[test]
    fn many_addresses_take_no_more_than_their_room() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        for n in 0..MOST_ADDRESSES as u32 + 100 {
            guesses.judge(address(n), Shown::OnPurpose, now, || false);
        }
        assert_eq!(guesses.addresses.lock().unwrap().len(), MOST_ADDRESSES);
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let (guesses, now) = (Guesses::default(), Instant::now());
        let judge = |text: &str| guesses.judge(text.parse().unwrap(), Shown::OnPurpose, now, || false);
        for n in 0..MOST_WRONG {
            judge(&format!("2001:db8::{n:x}"));
        }
        assert!(matches!(judge("2001:db8::ffff:1"), Verdict::Wait(_)));
        assert_eq!(judge("2001:db8:0:1::1"), Verdict::Wrong);
    }
}
