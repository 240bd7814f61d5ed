//! What a person types while a run is shown.

use std::io::BufRead;

use tokio::sync::mpsc;

/// Lines from the keyboard, once opened.
#[derive(Default)]
pub struct Keyboard(Option<mpsc::Receiver<String>>);

impl Keyboard {
    /// Starts reading. The program does not wait for the thread when it ends.
    pub fn open() -> Self {
        let (lines, typed) = mpsc::channel(8);
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if lines.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self(Some(typed))
    }

    /// The next line; `None` when the keyboard is gone. Waits forever if not opened.
    pub async fn next(&mut self) -> Option<String> {
        match &mut self.0 {
            Some(typed) => typed.recv().await,
            None => std::future::pending().await,
        }
    }
}
