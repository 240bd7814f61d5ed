//! What standard output is: a terminal of some width, with or without colours, or something else.

use std::io::IsTerminal;

use crate::transcript::{Colours, Page};

/// Narrower than this nothing can be read anyway.
const LEAST_COLUMNS: usize = 20;

/// Standard output as a page. `NO_COLOR` and a `dumb` terminal get no colours; what is no terminal gets lines of any
/// length, because it is read by programs.
pub fn page() -> Page {
    let out = std::io::stdout();
    if !out.is_terminal() {
        return Page { width: usize::MAX, colours: Colours::Off };
    }
    let size = rustix::termios::tcgetwinsize(&out).ok().map(|size| usize::from(size.ws_col));
    let width = size.filter(|width| *width > 0).unwrap_or(80).max(LEAST_COLUMNS);
    let set = |key: &str| std::env::var_os(key).filter(|value| !value.is_empty());
    let plain = set("NO_COLOR").is_some() || set("TERM").is_some_and(|term| term == "dumb");
    Page { width, colours: if plain { Colours::Off } else { Colours::On } }
}
