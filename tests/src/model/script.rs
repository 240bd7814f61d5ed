//! What the model does, chosen by the last directive in the last prompt that has one.
//!
//! `[[write:PATH:TEXT]]` uses the agent's tool for files, `[[bash:COMMAND]]` the one for commands,
//! `[[mcp:SERVER:TOOL:JSON]]` a tool of an MCP server; the next call, which carries the tool's result, is answered with
//! "Done". `[[say:TEXT]]` just answers, `[[slow:SECONDS]]` says a word each second, `[[hang:SECONDS]]` says nothing for so
//! long, `[[status:CODE]]` fails, `[[flaky:CODE:N]]` fails N times.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::Value;

use super::tools::{Tools, Use, find_place};

/// How often each `flaky` was met.
pub(super) type Flaky = HashMap<String, u32>;

const RESULT_CHARS: usize = 120;
/// The longest pause a prompt can ask for.
const MAX_PAUSE_S: u64 = 600;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    Person,
    Agent,
    Tool,
}

/// A part of the conversation that a request carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub who: Who,
    pub text: String,
}

impl Said {
    pub(super) fn new(who: Who, text: impl Into<String>) -> Said {
        Said { who, text: text.into() }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Text(String),
    Use(Use),
    Slow { words: u64 },
    Hang { pause: Duration },
    Status(u16),
}

/// Words, and how long it takes to find them.
pub(super) struct Piece {
    pub after: Duration,
    pub text: String,
}

impl Reply {
    /// What is said; nothing when a tool is used.
    pub(super) fn pieces(&self) -> Vec<Piece> {
        let piece = |after, text: &str| Piece { after, text: text.to_owned() };
        match self {
            Reply::Text(text) => text.split_inclusive(' ').map(|word| piece(Duration::ZERO, word)).collect(),
            Reply::Slow { words } => {
                let mut pieces = vec![piece(Duration::ZERO, "Starting. ")];
                pieces.extend((0..*words).map(|n| piece(Duration::from_secs(1), &format!("word{n} "))));
                pieces
            }
            Reply::Hang { pause } => vec![piece(Duration::ZERO, "Thinking "), piece(*pause, "finished.")],
            Reply::Use(_) | Reply::Status(_) => Vec::new(),
        }
    }
}

struct Directive<'a> {
    kind: &'a str,
    argument: &'a str,
}

/// The last `[[kind]]` or `[[kind:argument]]`.
fn directive(text: &str) -> Option<Directive<'_>> {
    let mut rest = text;
    let mut last = None;
    while let Some((_, tail)) = rest.split_once("[[") {
        rest = tail;
        let word =
            tail.len() - tail.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_').len();
        let (kind, after) = tail.split_at(word);
        let argument = match after.strip_prefix(':') {
            Some(after) => after.split_once("]]").map(|(argument, _)| argument),
            None => after.starts_with("]]").then_some(""),
        };
        if let Some(argument) = argument.filter(|_| word > 0) {
            last = Some(Directive { kind, argument });
        }
    }
    last
}

pub(super) fn decide(said: &[Said], tools: &Tools, body: &Value, flaky: &mut Flaky) -> Reply {
    let prompts = said.iter().enumerate().rev().filter(|(_, said)| said.who == Who::Person);
    let found = prompts.filter_map(|(at, said)| Some((at, directive(&said.text)?))).next();
    let Some((at, Directive { kind, argument })) = found else {
        return Reply::Text("Hello from the test model.".to_owned());
    };
    let seconds = || argument.parse::<u64>().unwrap_or(30).min(MAX_PAUSE_S);
    match kind {
        "say" => return Reply::Text(argument.to_owned()),
        "slow" => return Reply::Slow { words: seconds() },
        "hang" => return Reply::Hang { pause: Duration::from_secs(seconds()) },
        "status" => return Reply::Status(argument.parse().unwrap_or(500)),
        "flaky" => {
            let (status, times) = argument.split_once(':').unwrap_or((argument, "1"));
            let met = flaky.entry(argument.to_owned()).or_default();
            *met += 1;
            let fails = *met <= times.parse().unwrap_or(1);
            return if fails {
                Reply::Status(status.parse().unwrap_or(500))
            } else {
                Reply::Text("OK after retry.".to_owned())
            };
        }
        _ => {}
    }
    // Titles and summaries are asked for without tools.
    if tools.is_empty() {
        return Reply::Text("Scripted session".to_owned());
    }
    if let Some(result) = said[at..].iter().rev().find(|said| said.who == Who::Tool) {
        let result: String = result.text.chars().take(RESULT_CHARS).collect();
        return Reply::Text(format!("Done. Tool said: {result}"));
    }
    let (first, rest) = argument.split_once(':').unwrap_or((argument, ""));
    let used = match kind {
        "write" => tools.write(first, rest, find_place(body).as_deref()),
        "bash" => tools.run(argument),
        "mcp" => {
            let (tool, arguments) = rest.split_once(':').unwrap_or((rest, "{}"));
            Some(tools.use_served(first, tool, serde_json::from_str(arguments).unwrap_or_default()))
        }
        _ => return Reply::Text(format!("unknown directive {kind}")),
    };
    used.map_or_else(|| Reply::Text(format!("no usable tool among {}", tools.names())), Reply::Use)
}
