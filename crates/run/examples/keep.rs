//! What the tests run as separate processes: a keeper, as the `forge` binary offers it (`keep keep <run dir>`), and
//! a process that launches a shell script and can be killed (`keep launch <run dir> <script>`).

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use forge_run::{Spec, StdinPlan, keep, launch};

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let verb = words.first().and_then(|verb| verb.to_str());
    match (verb, words.get(1..).unwrap_or_default()) {
        (Some("keep"), [dir]) => keep(Path::new(dir)),
        (Some("launch"), [dir, script]) => launch_and_wait(Path::new(dir), &script.to_string_lossy()),
        _ => ExitCode::from(2),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn launch_and_wait(dir: &Path, script: &str) -> ExitCode {
    let spec = Spec {
        program: "/bin/sh".into(),
        args: vec!["-c".into(), script.into()],
        cwd: "/".into(),
        env: Vec::new(),
        env_remove: Vec::new(),
        stdin: StdinPlan::Closed,
        time_limit_ms: None,
        silence_limit_ms: None,
    };
    let exe = std::env::current_exe().unwrap_or_default();
    match launch(&exe, dir, &spec).await {
        Ok(_live) => {
            println!("launched");
            std::future::pending().await
        }
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}
