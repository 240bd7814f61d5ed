//! `Check` reports what is wrong with a launcher: each bad one here has its finding, and the good one has none.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use forge_fleet::launcher::{Check, Fault, Findings};
use forge_fleet::process::Identity;

use crate::fixture::{Fixture, LONG, good_launcher};

async fn check(path: &Path) -> Findings {
    Check::new(path).with_timeout(LONG).run().await.unwrap()
}

async fn check_text(fixture: &Fixture, text: &str) -> Findings {
    check(&fixture.script("launcher", text)).await
}

#[tokio::test]
async fn a_good_launcher_has_no_faults_and_nothing_is_left_of_the_check() {
    let fixture = Fixture::new();
    let pid = fixture.dir.path().join("pid");
    let agent = format!("echo $$ >{}; exec sleep 600", pid.display());
    let findings = check_text(&fixture, &good_launcher(&agent)).await;
    assert_eq!(findings.faults, []);
    assert!(findings.is_usable() && findings.stdout.contains("\"pid\""), "{findings:?}");
    let pid: u32 = std::fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    assert!(Identity::of(pid).is_none_or(|process| !process.is_alive()));
    assert_eq!(fixture.tmux.list().await.unwrap(), [], "the check spoke to another server than its own");
}

#[tokio::test]
async fn a_file_that_is_no_program_is_named_before_it_is_run() {
    let fixture = Fixture::new();
    assert_eq!(check(&fixture.dir.path().join("missing")).await.faults, [Fault::Missing]);
    let path = fixture.script("launcher", "#!/bin/sh\n");
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    assert_eq!(check(&path).await.faults, [Fault::NotExecutable]);
    assert_eq!(check_text(&fixture, "echo hello\n").await.faults, [Fault::NoShebang]);
    assert_eq!(check_text(&fixture, "#!/bin/sh\r\necho\r\n").await.faults, [Fault::WindowsLineEnds]);
}

#[tokio::test]
async fn the_printed_template_can_be_used_and_what_could_be_better_is_said() {
    let fixture = Fixture::new();
    let template = include_str!("../data/launcher-template.sh").replace("$AGENT_COMMAND", "sleep 600");
    let findings = check_text(&fixture, &template).await;
    assert_eq!(findings.faults, [Fault::NoPid, Fault::AgentInShell]);
    assert!(findings.is_usable() && findings.faults[0].to_string().contains("#{pane_pid}"));
    let corrected = check_text(&fixture, &template.replace("session_pid", "pane_pid")).await;
    assert_eq!(corrected.faults, [Fault::AgentInShell]);
}

#[tokio::test]
async fn what_it_says_and_does_is_compared() {
    let fixture = Fixture::new();
    let session = r#"tmux new-session -d -s "$1" -e FORGE_WORKER_ID="$FORGE_WORKER_ID" sleep 600"#;
    let faults = async |body: &str| check_text(&fixture, &format!("#!/bin/sh\n{body}\n")).await.faults;
    assert_eq!(faults(session).await, [Fault::NoJson { printed: String::new() }]);
    let named = faults(&format!("{session}; echo \"$1\"")).await;
    assert!(
        matches!(&named[..], [Fault::NoJson { printed }] if printed.starts_with("forge-check-")),
        "{named:?}"
    );
    let printed = "all is well".to_owned();
    assert_eq!(faults(&format!("{session}; echo {printed}")).await, [Fault::NoAnswer { printed }]);
    assert_eq!(faults(&format!("{session}; echo '{{\"model\": \"x\"}}'")).await, [Fault::NoPid]);
    let wrong = faults(&format!("{session}; echo '{{\"pid\": 1}}'")).await;
    assert!(matches!(wrong[..], [Fault::WrongPid { pid: 1, .. }]), "{wrong:?}");
    let absent = faults("echo '{\"pid\": 1}'").await;
    assert!(matches!(absent[..], [Fault::NoSession { .. }]), "{absent:?}");
    let other = faults("tmux new-session -d -s mine sleep 600; echo '{\"pid\": 1}'").await;
    assert!(matches!(&other[..], [Fault::OtherSession { made, .. }] if made == "mine"), "{other:?}");
    let failed = faults("echo broken >&2; exit 2").await;
    assert_eq!(failed, [Fault::Fails { message: "broken".into() }]);
    let reported = faults("echo '{\"error\": \"no key\"}'").await;
    assert_eq!(reported, [Fault::Fails { message: "no key".into() }]);
}

#[tokio::test]
async fn variables_that_stay_with_the_launcher_are_a_fault() {
    let fixture = Fixture::new();
    let text = "#!/bin/sh\nenv -u FORGE_WORKER_ID tmux new-session -d -s \"$1\" sleep 600\n\
                echo \"{\\\"pid\\\": $(tmux display-message -p -t \"=$1:\" '#{pane_pid}')}\"\n";
    assert_eq!(check_text(&fixture, text).await.faults, [Fault::NoVariables]);
}

#[tokio::test]
async fn a_launcher_that_hangs_is_ended() {
    let fixture = Fixture::new();
    let path = fixture.script("launcher", "#!/bin/sh\nsleep 600\n");
    let findings = Check::new(path).with_timeout(Duration::from_secs(1)).run().await.unwrap();
    assert_eq!(findings.faults, [Fault::Hangs { secs: 1 }]);
}

#[tokio::test]
async fn processes_that_outlive_the_session_are_named_and_ended() {
    let fixture = Fixture::new();
    let pid = fixture.dir.path().join("pid");
    let good = good_launcher("exec sleep 600");
    let text = format!("{good}\nsetsid sleep 600 >/dev/null 2>&1 & echo $! >{}\n", pid.display());
    let findings = check_text(&fixture, &text).await;
    let pid = std::fs::read_to_string(&pid).unwrap().trim().to_owned();
    assert_eq!(findings.faults, [Fault::LeavesProcesses { names: vec![format!("sleep ({pid})")] }]);
    let left = Identity::of(pid.parse().unwrap());
    forge_fleet::process::await_exits(left.as_slice(), LONG).await;
    assert!(left.is_none_or(|process| !process.is_alive()));
}
