//! A launch results in a living run or in an error that says what to do, and leaves nothing half done.

use std::os::unix::fs::PermissionsExt;

use forge_run::{ExitReason, Found, Kind, LaunchError, Secrets, find};

use crate::stage::{Stage, exists, exit_of, keeper, text_of, until};

#[tokio::test]
async fn the_agent_gets_its_directory_arguments_and_environment() {
    let stage = Stage::new();
    let mut spec = stage.spec("pwd; echo \"$1 $TOLD ${HOME-none}\"");
    spec.args.extend(["sh".into(), "it's; an $argument".into()]);
    spec.env = vec![("TOLD".into(), "s3cret".into())];
    spec.env_remove = vec!["HOME".into()];
    let live = stage.launch_spec(&spec).await;
    exit_of(&live).await;
    let cwd = spec.cwd.canonicalize().expect("cwd");
    assert_eq!(
        text_of(Kind::Stdout, &stage.records()),
        format!("{}\nit's; an $argument s3cret none\n", cwd.display())
    );
}

#[tokio::test]
async fn what_is_withheld_reaches_neither_keeper_nor_agent_unless_it_is_given_by_name() {
    let stage = Stage::new();
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "cargo sets this and the next one for every test");
    let mut spec = stage.spec("echo \"${CARGO_PKG_NAME-none} $CARGO_PKG_VERSION\"; exec sleep 60");
    spec.env_remove = vec!["CARGO_PKG_NAME".into(), "CARGO_PKG_VERSION".into()];
    spec.env = vec![("CARGO_PKG_VERSION".into(), "given".into())];
    let live = stage.launch_spec(&spec).await;
    until(|| text_of(Kind::Stdout, &stage.records()) == "none given\n").await;
    let keeper = std::fs::read(format!("/proc/{}/environ", stage.keeper_pid())).expect("its environment");
    let keeper = String::from_utf8_lossy(&keeper);
    assert!(
        keeper.contains("PATH=")
            && !keeper.contains("CARGO_PKG_NAME")
            && !keeper.contains("CARGO_PKG_VERSION=")
    );
    live.stop(None).await.expect("stop");
}

#[tokio::test]
async fn environment_values_do_not_stay_on_disk() {
    let stage = Stage::new();
    let mut spec = stage.spec("sleep 60");
    spec.env = vec![("TOKEN".into(), "s3cret-value".into())];
    let live = stage.launch_spec(&spec).await;
    for entry in std::fs::read_dir(stage.dir()).expect("run dir") {
        let path = entry.expect("entry").path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        // The file that is used to mask the output; see `secrets`.
        let is_kept = path.ends_with("secrets");
        assert_eq!(String::from_utf8_lossy(&bytes).contains("s3cret-value"), is_kept, "{}", path.display());
        assert_eq!(path.metadata().expect("metadata").permissions().mode() & 0o077, 0, "{}", path.display());
    }
    assert_eq!(stage.dir().metadata().expect("metadata").permissions().mode() & 0o777, 0o700);
    live.stop(None).await.expect("stop");
    Secrets::read(&stage.dir()).expect("secrets").forget_unseen(&stage.dir()).expect("forget");
    assert!(!stage.dir().join("secrets").exists(), "the agent showed none");
}

#[tokio::test]
async fn a_missing_program_is_an_error_and_a_note() {
    let stage = Stage::new();
    let mut spec = stage.spec("");
    spec.env = vec![("TOKEN".into(), "s3cret-value".into())];
    spec.program = stage.path("no-such-agent");
    let error = forge_run::launch(&keeper(), &stage.dir(), &spec).await.expect_err("no program");
    let LaunchError::Agent { message, not_found: true } = &error else { panic!("{error:?}") };
    assert!(message.contains("no-such-agent"), "{message}");
    let records = stage.records();
    assert_eq!(text_of(Kind::Note, &records), format!("Failed to start execution: {message}\n"));
    assert_eq!(records.last().map(|record| record.kind), Some(Kind::End));
    let Found::Ended(exit) = find(&stage.dir()).await else { panic!("ended") };
    assert!(matches!(exit.reason, ExitReason::NeverStarted { not_found: true, .. }));
    assert!(!stage.dir().join("spec.json").exists());
    assert!(!stage.dir().join("secrets").exists(), "nothing was printed that needs masking");
}

#[tokio::test]
async fn a_missing_directory_is_not_a_missing_program() {
    let stage = Stage::new();
    let mut spec = stage.spec("true");
    spec.cwd = stage.path("gone");
    let error = forge_run::launch(&keeper(), &stage.dir(), &spec).await.expect_err("no directory");
    assert!(
        matches!(&error, LaunchError::Agent { not_found: false, message } if message.contains("gone")),
        "{error}"
    );
}

#[tokio::test]
async fn a_program_that_is_not_a_keeper_is_an_error() {
    let stage = Stage::new();
    for exe in ["/bin/true", "/no/such/forge"] {
        let error =
            forge_run::launch(exe.as_ref(), &stage.dir(), &stage.spec("true")).await.expect_err("no keeper");
        assert!(matches!(&error, LaunchError::Keeper { message } if message.contains(exe)), "{error}");
        assert!(matches!(find(&stage.dir()).await, Found::NeverLaunched));
    }
}

#[tokio::test]
async fn a_directory_serves_one_run_only() {
    let stage = Stage::new();
    let live = stage.launch("echo first").await;
    exit_of(&live).await;
    let error =
        forge_run::launch(&keeper(), &stage.dir(), &stage.spec("echo second")).await.expect_err("used");
    assert!(matches!(error, LaunchError::Keeper { .. }), "{error}");
    assert_eq!(text_of(Kind::Stdout, &stage.records()), "first\n");
}

#[tokio::test]
async fn a_run_directory_may_have_a_very_long_path() {
    let stage = Stage::new();
    let dir = stage.path(&"long-name/".repeat(30)).join("run");
    let live = forge_run::launch(&keeper(), &dir, &stage.spec("sleep 60")).await.expect("launch");
    let Found::Live(again) = find(&dir).await else { panic!("live") };
    assert_eq!(again.pid(), live.pid());
    assert_eq!(again.stop(None).await.expect("stop").reason, ExitReason::Stopped);
}

#[tokio::test]
async fn a_keeper_leaves_no_zombie() {
    let stage = Stage::new();
    let live = stage.launch("true").await;
    exit_of(&live).await;
    let keeper = stage.keeper_pid();
    until(|| !exists(keeper)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_runs_at_once_do_not_mix() {
    let stages: Vec<Stage> = (0..50).map(|_| Stage::new()).collect();
    let runs: Vec<_> = stages
        .into_iter()
        .enumerate()
        .map(|(number, stage)| {
            tokio::spawn(async move {
                let live = stage.launch(&format!("echo run {number}; exit {number}")).await;
                let exit = exit_of(&live).await;
                (text_of(Kind::Stdout, &stage.records()), exit.code)
            })
        })
        .collect();
    for (number, run) in runs.into_iter().enumerate() {
        assert_eq!(run.await.expect("run"), (format!("run {number}\n"), Some(number as i32)));
    }
}
