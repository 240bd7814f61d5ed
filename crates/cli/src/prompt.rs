//! Where a prompt comes from: the command line, a file or standard input.
//!
//! Invariant: a prompt is accepted whole or refused, before any request to a server.

use std::io::{IsTerminal, Read};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::exit::{self, Misused};

/// What a server accepts in one request, less some room for the rest of the request.
const LIMIT_BYTES: usize = (2 << 20) - (16 << 10);
/// Nothing beyond this is read.
const READ_BYTES: u64 = 8 << 20;

#[derive(clap::Args)]
pub struct Prompt {
    /// What the agent should do; `-`, or nothing with a pipe, reads standard input
    #[arg(value_name = "PROMPT")]
    text: Option<String>,
    /// Read the prompt from a file
    #[arg(short, long, value_name = "FILE", conflicts_with = "text")]
    file: Option<PathBuf>,
}

impl Prompt {
    pub fn is_given(&self) -> bool {
        self.text.is_some() || self.file.is_some()
    }

    /// The full prompt. An empty one is an error: it does not wait for a person at a terminal.
    pub fn read(&self) -> Result<String> {
        let prompt = match (&self.file, self.text.as_deref()) {
            (Some(file), _) => std::fs::File::open(file)
                .and_then(read_bounded)
                .map_err(|cause| exit::unreadable("--file: ", file, &cause))?,
            (None, Some(text)) if text != "-" => text.to_owned(),
            (None, None) if std::io::stdin().is_terminal() => String::new(),
            (None, _) => {
                read_bounded(std::io::stdin()).context("cannot read the prompt from standard input")?
            }
        };
        check(&prompt)?;
        Ok(prompt)
    }
}

/// Reads just enough to detect that it is too long: a pipe may have no end.
fn read_bounded(source: impl Read) -> std::io::Result<String> {
    let mut text = Vec::new();
    source.take(READ_BYTES).read_to_end(&mut text)?;
    // Text that was cut off may end in half a character; it is refused for its length.
    if text.len() as u64 == READ_BYTES {
        return Ok(String::from_utf8_lossy(&text).into_owned());
    }
    String::from_utf8(text).map_err(|error| std::io::Error::new(std::io::ErrorKind::InvalidData, error))
}

fn check(prompt: &str) -> Result<()> {
    if prompt.trim().is_empty() {
        let text = "the prompt is empty; say what the agent should do, e.g. \"Fix the typo in the README\", or use \
             --file FILE or standard input";
        return Err(Misused(text.to_owned()).into());
    }
    // As sent, with escaped line breaks.
    let bytes = serde_json::to_string(prompt).map_or(prompt.len(), |json| json.len());
    if bytes > LIMIT_BYTES {
        let text = format!(
            "the prompt takes {bytes} bytes and a server accepts {LIMIT_BYTES}; put the long part into a file in the \
             repository and ask the agent to read it"
        );
        return Err(Misused(text).into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_whole_or_refused() {
        assert!(check("x".repeat(1 << 20).as_str()).is_ok());
        let error = check(&"x\n".repeat(1 << 20)).unwrap_err();
        assert!(error.is::<Misused>() && error.to_string().contains("3145730 bytes"), "{error}");
        assert!(check(" \n").unwrap_err().to_string().contains("empty"));
    }

    #[test]
    fn a_pipe_without_an_end_is_refused() {
        let text = read_bounded(std::io::repeat(b'x')).unwrap();
        assert!(check(&text).unwrap_err().is::<Misused>());
        assert_eq!(read_bounded(&b"Fix it\n"[..]).unwrap(), "Fix it\n");
        assert!(read_bounded(&b"\xff"[..]).is_err());
    }
}
