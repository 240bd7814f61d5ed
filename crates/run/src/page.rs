//! Opening an address in the user's browser, when there is a screen to open it on.
//!
//! Invariant: only `http` and `https` addresses are passed on, as one argument; nothing goes through a shell.

use std::process::{Command, Stdio};

pub fn open_page(url: &str) {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|key| std::env::var_os(key).is_some());
    let program = match std::env::consts::OS {
        _ if !url.starts_with("http://") && !url.starts_with("https://") => return,
        "macos" => "open",
        "linux" if screen => "xdg-open",
        _ => return,
    };
    let started = Command::new(program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut child) = started {
        // The opener exits on its own; waiting for it on another thread keeps it from becoming a zombie.
        std::thread::spawn(move || child.wait());
    }
}
