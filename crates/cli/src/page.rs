//! Opening the board in the user's browser, when there is a screen to open it on.

use std::process::{Command, Stdio};

pub fn open(url: &str) {
    let screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|key| std::env::var_os(key).is_some());
    let program = match std::env::consts::OS {
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
        // The opener ends by itself; waiting for it elsewhere keeps it from becoming a zombie.
        std::thread::spawn(move || child.wait());
    }
}
