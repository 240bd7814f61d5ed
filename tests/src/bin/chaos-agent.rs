//! An agent of the chaos tale: works as its arguments say, and keeps a copy of everything where Forge does not look.
//!
//! `chaos-agent work <witness> <token> [lines=n] [pause=ms] [exit=code] [heavy=MiB] [daemon=1]` writes numbered lines and
//! files; `chaos-agent pass <witness> <program>` stands between Forge and another agent; `chaos-agent linger` is the
//! child in a session of its own that no agent should leave behind.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use forge_tests::chaos::{Identity, LONGEST_WRITE, Witness};

/// Longer than any tale waits.
const LINGER: Duration = Duration::from_secs(3600);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["work", root, token, options @ ..] => work(Path::new(root), token, options),
        ["pass", root, program, ..] => pass(Path::new(root), program),
        ["linger"] => {
            // Refused only to one that leads a group already, which a new process does not.
            let _ = rustix::process::setsid();
            std::thread::sleep(LINGER);
            Ok(0)
        }
        _ => Ok(2),
    };
    match done {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(error) => {
            eprintln!("chaos-agent: {error}");
            ExitCode::from(3)
        }
    }
}

fn witness(root: &Path) -> Witness {
    Witness::of(root, &std::env::var("FORGE_RUN_ID").unwrap_or_else(|_| "nobody".to_owned()))
}

struct Agent {
    witness: Witness,
    token: String,
    place: PathBuf,
    options: Vec<(String, u64)>,
}

impl Agent {
    fn option(&self, name: &str) -> u64 {
        self.options.iter().find(|(key, _)| key == name).map_or(0, |(_, value)| *value)
    }

    /// Into the copy, then into the pipe. A keeper that is gone does not keep an agent from its work.
    fn write(&self, stream: &str, bytes: &[u8]) -> std::io::Result<()> {
        for bytes in bytes.chunks(LONGEST_WRITE) {
            self.witness.append(stream, bytes)?;
            let _ = match stream {
                "stdout" => std::io::stdout().write_all(bytes).and_then(|()| std::io::stdout().flush()),
                _ => std::io::stderr().write_all(bytes),
            };
        }
        Ok(())
    }

    /// Lines of many lengths: short ones, long ones, characters in two parts, bytes that are no text.
    fn say(&self, number: u64) -> std::io::Result<()> {
        let token = &self.token;
        match number % 16 {
            5 | 11 => self.write("stderr", format!("{token} warns {number}\n").as_bytes()),
            7 => {
                let line = format!("{token} says {number} žluťoučký kůň\n").into_bytes();
                let middle = line.iter().position(|byte| *byte > 127).unwrap_or(0) + 1;
                self.write("stdout", &line[..middle])?;
                self.write("stdout", &line[middle..])
            }
            9 => self.write("stdout", b"\xff\x00\xfe\r\n"),
            13 => self.write("stdout", &[token.as_bytes(), &vec![b'x'; 3 * LONGEST_WRITE], b"\n"].concat()),
            _ => self.write("stdout", format!("{token} says {number}\n").as_bytes()),
        }
    }

    /// One file that git takes and one that it has to ignore.
    fn leave_work(&self) -> std::io::Result<()> {
        for name in [format!("work-{}.txt", self.token), format!("work-{}.log", self.token)] {
            let bytes = format!("{name} of run {}\n", self.witness.run);
            std::fs::write(&name, &bytes)?;
            self.witness.note_file(&name, bytes.as_bytes())?;
        }
        Ok(())
    }

    fn act(&self) -> std::io::Result<()> {
        let heavy = self.option("heavy");
        if heavy > 0 {
            // Nothing on the disk, and much to read for whoever saves it.
            File::create("heavy.log")?.set_len(heavy << 20)?;
        }
        let lines = self.option("lines");
        for number in 0..lines {
            self.say(number)?;
            if number == lines / 2 {
                self.leave_work()?;
            }
            std::thread::sleep(Duration::from_millis(self.option("pause")));
        }
        Ok(())
    }
}

fn work(root: &Path, token: &str, options: &[&str]) -> std::io::Result<i32> {
    let witness = witness(root);
    let _lock = witness.begin(root, &format!("{token}\n"))?;
    let pairs = options.iter().filter_map(|option| option.split_once('='));
    let options = pairs.filter_map(|(key, value)| Some((key.to_owned(), value.parse().ok()?))).collect();
    let place = std::env::current_dir()?;
    let agent = Agent { witness, token: token.to_owned(), place, options };
    if agent.option("daemon") > 0 {
        let mut child = Command::new(std::env::current_exe()?);
        child.arg("linger").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(child) = Identity::of(child.spawn()?.id()) {
            agent.witness.note_process(child)?;
        }
    }
    let acted = agent.act();
    let now = std::env::current_dir().unwrap_or_default();
    if now != agent.place {
        agent.witness.note_odd(&format!(
            "its directory {} was moved to {} while it worked",
            agent.place.display(),
            now.display()
        ))?;
    }
    acted?;
    let code = i32::try_from(agent.option("exit")).unwrap_or(1);
    agent.witness.note_exit(code)?;
    Ok(code)
}

/// Stands between Forge and a program that speaks a protocol, and notes what both say.
fn pass(root: &Path, program: &str) -> std::io::Result<i32> {
    let witness = witness(root);
    let _lock = witness.begin(root, "")?;
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (mut to, mut from) = (child.stdin.take(), child.stdout.take());
    let heard = witness.clone();
    std::thread::spawn(move || {
        let mut bytes = [0; LONGEST_WRITE];
        while let Ok(count @ 1..) = std::io::stdin().read(&mut bytes) {
            let passed = to.as_mut().map(|to| to.write_all(&bytes[..count]).and_then(|()| to.flush()));
            let noted = heard.append("heard", &bytes[..count]);
            if !matches!((passed, noted), (Some(Ok(())), Ok(()))) {
                break;
            }
        }
        // The end of the input is passed on as well.
        drop(to.take());
    });
    let mut bytes = [0; LONGEST_WRITE];
    while let Some(count @ 1..) = from.as_mut().and_then(|from| from.read(&mut bytes).ok()) {
        witness.append("stdout", &bytes[..count])?;
        let _ = std::io::stdout().write_all(&bytes[..count]).and_then(|()| std::io::stdout().flush());
    }
    let code = child.wait()?.code().unwrap_or(-1);
    witness.note_exit(code)?;
    Ok(code)
}
