//! Which user owns the other end of a connection within this machine: one netlink request to the kernel.
//!
//! Invariant: the answer is about exactly the requested socket, while a process has it open. The kernel falls back to a
//! listener on the same port, and reports user 0 for a socket that was closed; neither counts as an answer. A request
//! never blocks: the kernel has replied by the time that sending it returns.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

const HEADER_LEN: usize = 16;
/// `struct inet_diag_req_v2` behind its header.
const QUESTION_LEN: usize = HEADER_LEN + 56;
/// `struct inet_diag_msg` behind its header; attributes follow.
const ANSWER_LEN: usize = HEADER_LEN + 72;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLMSG_ERROR: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
/// Established, or closed for writing by a process that still reads (FIN_WAIT1, FIN_WAIT2).
const CONNECTED: [u8; 3] = [1, 4, 5];
/// Each request has its own socket, so one number is enough.
const SEQUENCE: u32 = 1;

/// The user that owns the `client` end of a connection to `server`.
pub(super) fn owner_of(client: SocketAddr, server: SocketAddr) -> io::Result<u32> {
    let ends = (canonical(client), canonical(server));
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::NETLINK, SocketType::DGRAM, flags, Some(netlink::SOCK_DIAG))?;
    send(&socket, &question(ends)?, SendFlags::empty())?;
    let mut buffer = [0; 1024];
    let (length, _) = recv(&socket, &mut buffer[..], RecvFlags::empty())?;
    read_answer(&buffer[..length], ends)
}

/// A client of a dual-stack listener may itself speak plain IPv4, or the other way round.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn question((client, server): (SocketAddr, SocketAddr)) -> io::Result<[u8; QUESTION_LEN]> {
    let family = match (client.ip(), server.ip()) {
        (IpAddr::V4(_), IpAddr::V4(_)) => AF_INET,
        (IpAddr::V6(_), IpAddr::V6(_)) => AF_INET6,
        _ => return Err(io::ErrorKind::InvalidInput.into()),
    };
    let mut bytes = [0; QUESTION_LEN];
    let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
    put(0, &(QUESTION_LEN as u32).to_ne_bytes());
    put(4, &SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    put(6, &NLM_F_REQUEST.to_ne_bytes());
    put(8, &SEQUENCE.to_ne_bytes());
    put(16, &[family, IPPROTO_TCP]);
    // Sockets in any state, on any interface, with any cookie.
    put(20, &[0xff; 4]);
    put(24, &client.port().to_be_bytes());
    put(26, &server.port().to_be_bytes());
    for (at, end) in [(28, client), (44, server)] {
        match end.ip() {
            IpAddr::V4(ip) => put(at, &ip.octets()),
            IpAddr::V6(ip) => put(at, &ip.octets()),
        }
    }
    put(64, &[0xff; 8]);
    Ok(bytes)
}

fn read_answer(bytes: &[u8], ends: (SocketAddr, SocketAddr)) -> io::Result<u32> {
    let malformed = || io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer is malformed");
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let kind = bytes.get(4..6).and_then(|kind| kind.try_into().ok()).map(u16::from_ne_bytes);
    if word(8) != Some(SEQUENCE) {
        return Err(malformed());
    }
    if kind == Some(NLMSG_ERROR) {
        let errno = word(HEADER_LEN).ok_or_else(malformed)? as i32;
        return Err(io::Error::from_raw_os_error(errno.saturating_neg()));
    }
    if kind != Some(SOCK_DIAG_BY_FAMILY) || bytes.len() < ANSWER_LEN {
        return Err(malformed());
    }
    let (family, state) = (bytes[16], bytes[17]);
    let found = (end(bytes, family, 20, 24), end(bytes, family, 22, 40));
    let inode = word(84).ok_or_else(malformed)?;
    if found != (Some(ends.0), Some(ends.1)) || !CONNECTED.contains(&state) || inode == 0 {
        return Err(Errno::NOENT.into());
    }
    word(80).ok_or_else(malformed)
}

/// One end of the socket in an answer. An IPv6 socket that speaks IPv4 is reported with mapped addresses.
fn end(bytes: &[u8], family: u8, port: usize, address: usize) -> Option<SocketAddr> {
    let port = u16::from_be_bytes(bytes.get(port..port + 2)?.try_into().ok()?);
    let address: [u8; 16] = bytes.get(address..address + 16)?.try_into().ok()?;
    let ip = match family {
        AF_INET => IpAddr::V4(Ipv4Addr::new(address[0], address[1], address[2], address[3])),
        AF_INET6 => IpAddr::V6(Ipv6Addr::from(address)),
        _ => return None,
    };
    Some(canonical(SocketAddr::new(ip, port)))
}

#[cfg(test)]
mod tests;
