//! Where a connection comes from, and whether its other end is the user that runs this server.
//!
//! Invariant: only connections with both ends on loopback can be the user's, and each costs at most one request to the
//! kernel, when it is accepted. If that request fails, the peer counts as a stranger. Only where the kernel cannot
//! answer at all, which is determined once, does every connection on loopback count as the user's.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use rustix::io::Errno;

#[cfg(target_os = "linux")]
use super::diag::owner_of;
use crate::OpenTo;

/// Where a request comes from. [`crate::serve`] puts it beside every request; one without it is a stranger's.
#[derive(Clone, Copy, Debug)]
pub struct Peer {
    pub address: IpAddr,
    /// Whether it comes from loopback and from the user that runs the server.
    pub is_user: bool,
}

impl Default for Peer {
    fn default() -> Self {
        Self { address: Ipv4Addr::UNSPECIFIED.into(), is_user: false }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Peer {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get().copied().unwrap_or_default())
    }
}

/// What is known about the other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sight {
    /// Its user, who also runs this server.
    User(u32),
    /// Only its address.
    Address,
}

impl Sight {
    pub(crate) fn open(open_to: OpenTo) -> Self {
        match probe() {
            Ok(()) => Sight::User(own_user()),
            Err(_) if open_to != OpenTo::User => Sight::Address,
            Err(error) => {
                tracing::warn!(
                    %error,
                    "this system does not report the user of a connection; every user of this machine can use the \
                     API on loopback. Start the server with --require-token to prevent that"
                );
                Sight::Address
            }
        }
    }

    pub(crate) fn see(self, peer: SocketAddr, local: SocketAddr) -> Peer {
        let (address, local_address) = (peer.ip().to_canonical(), local.ip().to_canonical());
        let is_loopback = address.is_loopback() && local_address.is_loopback();
        let is_user = is_loopback
            && match self {
                Sight::User(own) => owner_of(peer, local).is_ok_and(|owner| owner == own),
                Sight::Address => true,
            };
        Peer { address, is_user }
    }
}

fn own_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether the kernel reports the user of a connection, tried with a connection of our own.
pub fn probe() -> io::Result<()> {
    match ask_about_ourselves() {
        // Somebody may have used up what the request needs; that must not open the door.
        Err(error) if is_shortage(&error) => Ok(()),
        Ok(Some(owner)) if owner != own_user() => {
            Err(io::Error::other(format!("a connection of user {} is reported as of {owner}", own_user())))
        }
        asked => asked.map(drop),
    }
}

/// `None` where no connection can be made.
fn ask_about_ourselves() -> io::Result<Option<u32>> {
    let loopback: [SocketAddr; 2] = [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()];
    let connect = || {
        let listener = TcpListener::bind(&loopback[..])?;
        let server = listener.local_addr()?;
        let client = TcpStream::connect(server)?;
        Ok::<_, io::Error>((client.local_addr()?, server, client, listener))
    };
    let Ok((client, server, ..)) = &connect() else { return Ok(None) };
    owner_of(*client, *server).map(Some)
}

fn is_shortage(error: &io::Error) -> bool {
    let shortages = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM, Errno::AGAIN];
    Errno::from_io_error(error).is_some_and(|errno| shortages.contains(&errno))
}

#[cfg(not(target_os = "linux"))]
fn owner_of(_: SocketAddr, _: SocketAddr) -> io::Result<u32> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn connection(address: &str) -> (TcpListener, TcpStream, TcpStream) {
        let listener = TcpListener::bind(address).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        (listener, client, server)
    }

    fn see(sight: Sight, server: &TcpStream) -> Peer {
        sight.see(server.peer_addr().unwrap(), server.local_addr().unwrap())
    }

    #[test]
    fn a_connection_of_another_user_is_a_strangers() {
        let (_listener, _client, server) = connection("127.0.0.1:0");
        assert!(see(Sight::User(own_user()), &server).is_user);
        assert!(!see(Sight::User(own_user() + 1), &server).is_user);
        // Where the owner cannot be determined, loopback is open.
        assert!(see(Sight::Address, &server).is_user);
    }

    #[test]
    fn a_closed_connection_is_a_strangers() {
        let (_listener, client, server) = connection("127.0.0.1:0");
        drop(client);
        assert!(!see(Sight::User(own_user()), &server).is_user);
        // The kernel reports a closed socket like this.
        assert!(!see(Sight::User(0), &server).is_user);
    }

    #[test]
    fn a_client_of_a_dual_stack_listener_is_known() {
        let Ok(listener) = TcpListener::bind("[::]:0") else {
            return println!("not tried: no IPv6 here");
        };
        let port = listener.local_addr().unwrap().port();
        let client = TcpStream::connect(("127.0.0.1", port));
        let (Ok(_client), Ok((server, peer))) = (client, listener.accept()) else {
            return println!("not tried: no dual-stack listeners here");
        };
        assert!(peer.is_ipv6(), "{peer}");
        let seen = see(Sight::User(own_user()), &server);
        assert_eq!((seen.address, seen.is_user), (IpAddr::from([127, 0, 0, 1]), true));
    }

    #[test]
    fn only_loopback_at_both_ends_is_loopback() {
        let address = |text: &str| text.parse::<SocketAddr>().unwrap();
        for (peer, local, is_user) in [
            ("127.0.0.1:5", "127.0.0.1:8887", true),
            ("127.3.2.1:5", "127.0.1.1:8887", true),
            ("[::1]:5", "[::1]:8887", true),
            ("[::ffff:127.0.0.1]:5", "[::ffff:127.0.0.1]:8887", true),
            ("127.0.0.1:5", "192.168.0.2:8887", false),
            ("192.168.0.2:5", "127.0.0.1:8887", false),
            ("[::ffff:192.168.0.2]:5", "[::ffff:192.168.0.2]:8887", false),
        ] {
            assert_eq!(Sight::Address.see(address(peer), address(local)).is_user, is_user, "{peer} {local}");
        }
    }

    #[test]
    fn what_others_can_use_up_does_not_open_the_door() {
        for errno in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM] {
            assert!(is_shortage(&errno.into()));
        }
        for errno in [Errno::PROTONOSUPPORT, Errno::PERM, Errno::NOENT] {
            assert!(!is_shortage(&errno.into()));
        }
    }
}
