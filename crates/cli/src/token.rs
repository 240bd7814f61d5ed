//! The secret that a server requires once it can be reached from other machines.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use anyhow::{Context, Result};

/// Whether this start created the token, which is the only time it is shown.
pub enum Token {
    Known(String),
    Fresh(String),
}

impl Token {
    pub fn text(&self) -> &str {
        match self {
            Token::Known(text) | Token::Fresh(text) => text,
        }
    }
}

/// The token of this installation: given by the environment, else read from its file.
pub fn load(home: &Path, given: Option<String>) -> Result<Option<Token>> {
    if let Some(token) = given {
        return Ok(Some(Token::Known(token)));
    }
    let path = home.join("token");
    match std::fs::read_to_string(&path) {
        Ok(text) => {
            Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Token::Known(text.to_owned())))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// The token of this installation, created if necessary.
pub fn load_or_make(home: &Path, given: Option<String>) -> Result<Token> {
    if let Some(token) = load(home, given)? {
        return Ok(token);
    }
    let path = home.join("token");
    let token = random();
    let mut options = std::fs::OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = file.and_then(|mut file| writeln!(file, "{token}"));
    written.with_context(|| format!("cannot write {}", path.display()))?;
    Ok(Token::Fresh(token))
}

/// 244 random bits as text.
pub fn random() -> String {
    format!("{}{}", uuid::Uuid::new_v4().simple(), uuid::Uuid::new_v4().simple())
}
