//! A program at a terminal of its own, and somebody who types.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::eventually;

pub struct Terminal {
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    /// Ends when nothing more can come.
    reader: Option<JoinHandle<()>>,
    child: Child,
}

impl Terminal {
    /// Starts the command at a terminal that is so many columns wide.
    pub fn start(mut command: Command, columns: u16) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).and_then(|()| unlockpt(&master)).expect("an open terminal");
        let size = Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&master, size).expect("a size");
        let name = ptsname(&master, Vec::new()).expect("its name");
        let path = std::path::Path::new(std::ffi::OsStr::from_bytes(name.to_bytes()));
        let end = File::options().read(true).write(true).open(path).expect("its other end");
        let stdio = || Stdio::from(OwnedFd::from(end.try_clone().expect("a handle")));
        let child = command.stdin(stdio()).stdout(stdio()).stderr(stdio()).spawn().expect("the program");
        let keyboard = File::from(master);
        let mut output = keyboard.try_clone().expect("a handle");
        let screen = Arc::new(Mutex::new(Vec::new()));
        let shared = screen.clone();
        let reader = std::thread::spawn(move || {
            let mut buffer = [0; 4096];
            // The terminal of a program that has ended cannot be read any more.
            while let Ok(count @ 1..) = output.read(&mut buffer) {
                shared.lock().expect("the screen").extend_from_slice(&buffer[..count]);
            }
        });
        Self { keyboard, screen, reader: Some(reader), child }
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Everything that was written so far.
    pub fn screen(&self) -> String {
        shown(&self.screen)
    }

    /// Every byte that was written, once the program has ended.
    pub async fn everything(mut self) -> Vec<u8> {
        self.ended().await;
        if let Some(reader) = self.reader.take() {
            tokio::task::spawn_blocking(move || reader.join()).await.expect("a thread").expect("a reader");
        }
        self.screen.lock().expect("the screen").clone()
    }

    /// Waits until the text was written.
    pub async fn until(&self, text: &str) -> String {
        let look = || Some(self.screen()).filter(|screen| screen.contains(text)).ok_or_else(|| self.screen());
        eventually(&format!("{text:?} is shown"), look).await
    }

    pub fn type_line(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").expect("a keyboard");
    }

    pub async fn ended(&mut self) -> ExitStatus {
        let (child, screen) = (&mut self.child, &self.screen);
        eventually("it has ended", || child.try_wait().expect("wait").ok_or_else(|| shown(screen))).await
    }
}

fn shown(screen: &Mutex<Vec<u8>>) -> String {
    String::from_utf8_lossy(&screen.lock().expect("the screen")).into_owned()
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
