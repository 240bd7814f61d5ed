//! The keeper that the tests start agents with, as the `forge` binary offers it: `keeper keep <run dir>`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    match words.as_slice() {
        [verb, dir] if verb == "keep" => forge_run::keep(Path::new(dir)),
        _ => ExitCode::from(2),
    }
}
