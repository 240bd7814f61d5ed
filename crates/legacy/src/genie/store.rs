//! Genie's session stores. Their shape shows how to read them; the number they carry is often wrong.
//!
//! | shape | keyed by |
//! | --- | --- |
//! | a bare map, or one under `agents` | the agent's name |
//! | a map under `sessions` | the agent program's id, a friendly name, or the attempt's id |

use serde_json::{Map, Value};

use super::session::Session;

/// A fault of Genie put these beside the agents.
const STRAYS: [&str; 3] = ["version", "sessions", "executor"];
/// An entry of a bare map has one of these, or the file is about something else.
const SIGNS: [&str; 8] =
    ["agent", "status", "created", "lastUsed", "lastPrompt", "sessionId", "executor", "logFile"];

/// The sessions of a store, and the keys that hold none.
#[derive(Debug, Default, PartialEq)]
pub struct Contents {
    pub sessions: Vec<Session>,
    pub strays: Vec<String>,
}

/// Reads a store of any version. Only what is no JSON at all is an error.
pub fn read(text: &str) -> Result<Contents, String> {
    // Editors of other systems begin a file with a mark.
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Ok(Contents::default());
    }
    let root: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Value::Object(mut root) = root else { return Ok(Contents::default()) };
    let mut found = Contents::default();
    let wrapped = [root.get("sessions"), root.get("agents")].into_iter().flatten().any(Value::is_object);
    if !wrapped {
        found.take(root, Keys::Bare);
        return Ok(found);
    }
    for (field, keys) in [("sessions", Keys::Any), ("agents", Keys::Agents)] {
        if let Some(Value::Object(entries)) = root.remove(field) {
            found.take(entries, keys);
        }
    }
    Ok(found)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys {
    Any,
    Agents,
    Bare,
}

impl Contents {
    fn take(&mut self, entries: Map<String, Value>, keys: Keys) {
        for (key, entry) in entries {
            let stray = keys != Keys::Any && STRAYS.contains(&key.as_str());
            match entry {
                // Sessions that ended up among the agents are sessions all the same.
                Value::Object(inner) if stray && key == "sessions" => self.take(inner, Keys::Any),
                Value::Object(entry) if !stray && (keys != Keys::Bare || is_entry(&entry)) => {
                    self.sessions.push(Session::read(&key, entry, keys != Keys::Any));
                }
                _ if stray => {}
                _ => self.strays.push(key),
            }
        }
    }
}

fn is_entry(entry: &Map<String, Value>) -> bool {
    SIGNS.iter().any(|sign| entry.contains_key(*sign))
}
