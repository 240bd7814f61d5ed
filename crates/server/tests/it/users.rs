//! Users of one machine, over real connections.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;

use rustix::process::{Uid, geteuid};

use crate::world::{World, door};

const NOBODY: u32 = 65534;

/// The world's engine behind a real listener.
async fn serve(world: &World, bind: &str) -> std::io::Result<SocketAddr> {
    let listener = tokio::net::TcpListener::bind((bind, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(forge_server::serve(listener, world.forge.clone(), door(), world.shutdown.clone()));
    Ok(address)
}

/// Runs on a thread that belongs to another user, and so do the sockets it makes. `None` where that is not allowed.
fn as_another_user<T: Send + 'static>(
    act: impl FnOnce() -> T + Send + 'static,
) -> Option<thread::JoinHandle<T>> {
    if !geteuid().is_root() {
        println!("not tried: only root can act as another user");
        return None;
    }
    Some(thread::spawn(|| {
        rustix::thread::set_thread_uid(Uid::from_raw(NOBODY)).unwrap();
        act()
    }))
}

/// The status of a request that changes something.
fn ask(address: SocketAddr) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let body = r#"{"tag_name": "t", "content": "c"}"#;
    let head =
        "POST /api/tags HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json";
    write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.split(' ').nth(1).unwrap_or_default().to_owned()
}

/// Passes one connection on, byte by byte.
fn relay(listener: TcpListener, server: SocketAddr) {
    let (mut client, _) = listener.accept().unwrap();
    let mut server = TcpStream::connect(server).unwrap();
    let (mut requests, mut onward) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let there = thread::spawn(move || {
        let _ = std::io::copy(&mut requests, &mut onward);
    });
    let _ = std::io::copy(&mut server, &mut client);
    let _ = client.shutdown(Shutdown::Both);
    there.join().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn another_user_of_the_machine_is_refused_on_every_kind_of_loopback() {
    for (bind, from) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("::", "::1"), ("::", "127.0.0.1")] {
        let world = World::new().await;
        let Ok(address) = serve(&world, bind).await else {
            println!("not tried: nothing can listen on {bind} here");
            continue;
        };
        let address = SocketAddr::new(from.parse().unwrap(), address.port());
        assert_eq!(ask(address), "200", "{from} on {bind}: the user");
        if let Some(other) = as_another_user(move || ask(address)) {
            assert_eq!(other.join().unwrap(), "401", "{from} on {bind}: another user");
        }
        world.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_relay_is_the_user_that_runs_it() {
    let world = World::new().await;
    let address = serve(&world, "127.0.0.1").await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    let own = thread::spawn(move || relay(listener, address));
    assert_eq!(ask(place), "200");
    own.join().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap();
    if let Some(other) = as_another_user(move || relay(listener, address)) {
        assert_eq!(ask(place), "401");
        other.join().unwrap();
    }
    world.close().await;
}
