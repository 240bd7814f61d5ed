//! Binding the port, reporting who uses it if it is taken, and noting the address.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use forge_os::private::{Others, take_private};
use tokio::net::TcpListener;

use crate::home;
use crate::note::Note;

/// Listens, or reports who already does and how to choose another port.
pub async fn bind(host: IpAddr, port: u16) -> Result<TcpListener> {
    let address = SocketAddr::new(host, port);
    let error = match TcpListener::bind(address).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return Err(error).with_context(|| format!("cannot listen on {address}"));
    }
    let holder = match owner_of(port) {
        Some((pid, name)) => format!("process {pid} ({name})"),
        None => "another process".to_owned(),
    };
    let who = match is_forge(port).await {
        true => format!("another Forge, {holder}, at http://{host}:{port}"),
        false => holder,
    };
    bail!(
        "port {port} is taken by {who}. Choose another with --port <n> (0 for any free one), or the \
         variables BACKEND_PORT or PORT"
    )
}

pub async fn is_forge(port: u16) -> bool {
    let client = forge_client::Client::new(&format!("http://127.0.0.1:{port}"), None);
    tokio::time::timeout(Duration::from_secs(1), client.is_forge()).await.unwrap_or(false)
}

/// The process that listens on a TCP port, as far as `/proc` shows it.
pub fn owner_of(port: u16) -> Option<(u32, String)> {
    const LISTEN: &str = "0A";
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|path| std::fs::read_to_string(path).unwrap_or_default());
    let inode = tables.iter().flat_map(|table| table.lines().skip(1)).find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let local = u16::from_str_radix(fields.get(1)?.rsplit_once(':')?.1, 16).ok()?;
        (local == port && fields.get(3) == Some(&LISTEN))
            .then(|| fields.get(9).map(|inode| (*inode).to_owned()))?
    })?;
    let socket = PathBuf::from(format!("socket:[{inode}]"));
    let processes = std::fs::read_dir("/proc").ok()?.flatten();
    let mut pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let pid = pids.find(|pid| {
        let files = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|file| std::fs::read_link(file.path()).ok()).any(|target| target == socket)
    })?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    Some((pid, name.trim().to_owned()))
}

/// Notes the server's address for other programs while it is running: in its home and where programs on this machine
/// have always looked. Any user can create that folder, so nothing is written to one that belongs to another user.
pub fn leave_notes(home: &Path, port: u16, url: String) -> Vec<Note> {
    // On another address of this machine the port may belong to another user, who must not get the token.
    let mut notes = vec![Note::leave(home.join(home::ADDRESS_FILE), url)];
    let shared = std::env::temp_dir().join("automagik-forge");
    match take_private(&shared, Others::Read) {
        Ok(_) => notes.push(Note::leave(shared.join("automagik-forge.port"), port.to_string())),
        Err(untrusted) => {
            tracing::warn!(%untrusted, "no port file is written there; programs that look for one will not find this server");
        }
    }
    // Last, because whoever waits for the start waits for this one.
    notes.push(Note::leave(home.join("port"), port.to_string()));
    notes
}
