//! The bytes of a request, and what counts as an answer.

use std::net::{TcpListener, TcpStream};

use super::*;

fn ends(client: &str, server: &str) -> (SocketAddr, SocketAddr) {
    (client.parse().unwrap(), server.parse().unwrap())
}

/// As the kernel answers: the ends as they are in the request, then state, user and inode.
fn answer(question: &[u8], state: u8, uid: u32, inode: u32) -> Vec<u8> {
    let mut bytes = question[..HEADER_LEN].to_vec();
    bytes.extend([question[16], state, 0, 0]);
    bytes.extend(&question[24..72]);
    bytes.extend([0; 12]);
    bytes.extend(uid.to_ne_bytes());
    bytes.extend(inode.to_ne_bytes());
    bytes
}

#[test]
fn a_question_names_both_ends_of_the_connection() {
    let bytes = question(ends("127.0.0.1:43690", "127.0.0.2:8887")).unwrap();
    let mut expected = Vec::new();
    expected.extend(72u32.to_ne_bytes());
    expected.extend(20u16.to_ne_bytes());
    expected.extend(1u16.to_ne_bytes());
    expected.extend(1u32.to_ne_bytes());
    expected.extend(0u32.to_ne_bytes());
    expected.extend([2, 6, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    expected.extend([0xaa, 0xaa, 0x22, 0xb7]);
    expected.extend([127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([127, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    expected.extend([0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
    assert_eq!(bytes.as_slice(), expected);

    let bytes = question(ends("[::1]:1", "[::1]:2")).unwrap();
    assert_eq!((bytes[16], bytes[43], bytes[59]), (10, 1, 1));
    assert!(question(ends("[::1]:1", "127.0.0.1:2")).is_err());
}

#[test]
fn only_an_open_socket_with_the_same_ends_is_an_answer() {
    let pair = ends("127.0.0.1:40000", "127.0.0.1:8887");
    let asked = question(pair).unwrap();
    for state in CONNECTED {
        assert_eq!(read_answer(&answer(&asked, state, 1000, 7), pair).unwrap(), 1000);
    }
    let refused = |bytes: &[u8]| read_answer(bytes, pair).is_err();
    // A connection that opens, one that is closed, a listener; and one that is open, but owned by nobody.
    for (state, inode) in [(2, 7), (6, 7), (7, 7), (8, 7), (10, 7), (1, 0)] {
        assert!(refused(&answer(&asked, state, 1000, inode)), "state {state}, inode {inode}");
    }
    for other in [
        ends("127.0.0.1:40001", "127.0.0.1:8887"),
        ends("127.0.0.1:40000", "127.0.0.1:8888"),
        ends("127.0.0.9:40000", "127.0.0.1:8887"),
        ends("127.0.0.1:40000", "0.0.0.0:0"),
    ] {
        assert!(refused(&answer(&question(other).unwrap(), 1, 1000, 7)), "{other:?}");
    }
    let whole = answer(&asked, 1, 1000, 7);
    for length in 0..whole.len() {
        assert!(refused(&whole[..length]), "{length} bytes");
    }
    for (at, what) in [(4, "its kind"), (8, "its number"), (16, "its family")] {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        assert!(refused(&changed), "{what}");
    }
}

#[test]
fn an_error_of_the_kernel_is_that_error() {
    let pair = ends("127.0.0.1:40000", "127.0.0.1:8887");
    let mut bytes = question(pair).unwrap()[..HEADER_LEN].to_vec();
    bytes[4..6].copy_from_slice(&NLMSG_ERROR.to_ne_bytes());
    bytes.extend((-2i32).to_ne_bytes());
    assert_eq!(read_answer(&bytes, pair).unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn a_socket_of_ipv6_that_speaks_ipv4_has_the_same_ends() {
    let pair = ends("127.0.0.1:40000", "127.0.0.1:8887");
    let mapped = question(ends("[::ffff:127.0.0.1]:40000", "[::ffff:127.0.0.1]:8887")).unwrap();
    assert_eq!(read_answer(&answer(&mapped, 1, 1000, 7), pair).unwrap(), 1000);
}

#[test]
fn the_kernel_knows_the_owner_until_the_socket_is_closed() {
    let own = rustix::process::geteuid().as_raw();
    for address in ["127.0.0.1:0", "[::1]:0"] {
        let Ok(listener) = TcpListener::bind(address) else {
            println!("not tried: nothing can listen on {address} here");
            continue;
        };
        let server = listener.local_addr().unwrap();
        let client = TcpStream::connect(server).unwrap();
        let from = client.local_addr().unwrap();
        assert_eq!(owner_of(from, server).unwrap(), own, "{address}");
        client.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(owner_of(from, server).unwrap(), own, "{address}: it still reads");
        drop(client);
        assert!(owner_of(from, server).is_err(), "{address}: nobody has it open");
        // A listener on the port of the client is another socket.
        assert!(owner_of(server, from).is_err(), "{address}");
    }
}
