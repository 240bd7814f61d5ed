//! Workers are started completely or not at all, and existing sessions are not touched.

use std::collections::BTreeMap;
use std::fs;

use forge_fleet::launcher::LauncherError;
use forge_fleet::process::Identity;
use forge_fleet::tmux::WORKER_OPTION;
use forge_fleet::worker::{WorkerId, WorkerStatus};
use forge_types::wire::CallStyle;

use crate::fixture::{Fixture, content_of, good_launcher, until};

#[tokio::test]
async fn a_worker_is_started_marked_and_found_again() {
    let fixture = Fixture::new();
    let request = fixture.request("alpha", &good_launcher("exec sleep 600"));
    let handle = fixture.launcher().spawn(request.clone()).await.unwrap();
    assert_eq!((handle.id.as_str(), handle.session.name.as_str()), ("alpha", "w-alpha"));
    assert_eq!((handle.process.pid, handle.model.as_deref()), (handle.session.pane_pid, Some("sonnet")));
    assert_eq!(fixture.tmux.option("w-alpha", WORKER_OPTION).await.unwrap().as_deref(), Some("alpha"));

    // Another launcher, as after a restart, knows the same worker.
    let listed = fixture.launcher().list_workers().await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].id, listed[0].process), (&handle.id, handle.process));
    assert_eq!(fixture.launcher().check_status(&handle.id).await.unwrap(), WorkerStatus::Active);

    let twin = forge_fleet::launcher::SpawnRequest {
        config: forge_fleet::launcher::LaunchConfig { session_name: "w-other".into(), ..request.config },
        ..request
    };
    let error = fixture.launcher().spawn(twin).await.unwrap_err();
    assert!(matches!(error, LauncherError::WorkerExists { .. }), "{error}");
}

#[tokio::test]
async fn a_launcher_gets_everything_in_the_style_it_wants() {
    let fixture = Fixture::new();
    for (id, style) in
        [("p", CallStyle::Positional), ("f", CallStyle::Flags), ("m", CallStyle::ModelWorkspaceSession)]
    {
        let seen = fixture.dir.path().join(format!("seen-{id}"));
        let text = r#"#!/bin/sh
{ printf '%s\n' "$@"; echo "$PWD"; env | grep -E '^(FORGE_|EXTRA=)' | sort; echo end; } >"$SEEN"
tmux new-session -d -s "$FORGE_SESSION" sleep 600
echo "$FORGE_SESSION"
"#;
        let mut request = fixture.request(id, text);
        request.config = request
            .config
            .with_style(style)
            .with_bead("fg-7")
            .with_env("EXTRA", "a b")
            .with_env("SEEN", seen.display().to_string());
        fixture.launcher().spawn(request).await.unwrap();
        let text = content_of(&seen).await;
        let workspace = fixture.workspace().display().to_string();
        let session = format!("w-{id}");
        let expected = match style {
            CallStyle::Positional => vec![session.clone()],
            CallStyle::Flags => vec![
                "--model=sonnet".to_owned(),
                format!("--workspace={workspace}"),
                format!("--session-name={session}"),
                "--bead-ref=fg-7".to_owned(),
            ],
            CallStyle::ModelWorkspaceSession => {
                vec!["sonnet".to_owned(), workspace.clone(), session.clone()]
            }
        };
        let lines: Vec<&str> = text.lines().collect();
        let (args, rest) = lines.split_at(expected.len());
        assert_eq!(args, expected);
        assert_eq!(fs::canonicalize(rest[0]).unwrap(), fs::canonicalize(&workspace).unwrap());
        let variables: BTreeMap<&str, &str> = rest.iter().filter_map(|line| line.split_once('=')).collect();
        let status_dir = fixture.status_dir().display().to_string();
        let expected = BTreeMap::from([
            ("EXTRA", "a b"),
            ("FORGE_ASSIGNED_BEAD", "fg-7"),
            ("FORGE_ENV_NAMES", "EXTRA SEEN"),
            ("FORGE_MODEL", "sonnet"),
            ("FORGE_SESSION", session.as_str()),
            ("FORGE_STATUS_DIR", status_dir.as_str()),
            ("FORGE_TIER", "standard"),
            ("FORGE_WORKER_ID", id),
            ("FORGE_WORKSPACE", workspace.as_str()),
        ]);
        for (key, value) in expected {
            assert_eq!(variables.get(key), Some(&value), "{key}");
        }
    }
}

#[tokio::test]
async fn what_is_withheld_reaches_no_worker() {
    let fixture = Fixture::new();
    let seen = fixture.dir.path().join("seen");
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some(), "cargo sets this and the next one for every test");
    let script = format!(
        "echo \"${{CARGO_PKG_NAME-none}} $CARGO_PKG_VERSION end\" >{}; exec sleep 600",
        seen.display()
    );
    let mut request = fixture.request("one", &good_launcher(&script));
    request.withheld = vec!["CARGO_PKG_NAME".to_owned(), "CARGO_PKG_VERSION".to_owned()];
    request.config = request.config.with_env("CARGO_PKG_VERSION", "given");
    fixture.launcher().spawn(request).await.unwrap();
    assert_eq!(content_of(&seen).await, "none given end\n");
    let later = fixture.dir.path().join("later");
    let script = format!(
        "echo \"${{CARGO_PKG_NAME-none}} ${{CARGO_PKG_VERSION-none}} end\" >{}; exec sleep 600",
        later.display()
    );
    fixture.session("two", &script).await;
    assert_eq!(content_of(&later).await, "none none end\n", "nor what comes after it");
}

#[tokio::test]
async fn the_variables_of_the_first_worker_are_not_those_of_the_next() {
    let fixture = Fixture::new();
    fixture.launcher().spawn(fixture.request("one", &good_launcher("exec sleep 600"))).await.unwrap();
    let seen = fixture.dir.path().join("seen");
    let script = format!("echo \"id=$FORGE_WORKER_ID\" >{}; exec sleep 600", seen.display());
    fixture.session("two", &script).await;
    assert_eq!(content_of(&seen).await, "id=\n");
}

#[tokio::test]
async fn the_printed_template_gives_every_worker_its_own_variables() {
    let fixture = Fixture::new();
    let mut seen = Vec::new();
    for id in ["one", "two"] {
        let file = fixture.dir.path().join(id);
        // Typed into the pane's shell, so that what it writes is what the agent has.
        let agent = format!(
            "echo \"$FORGE_WORKER_ID $FORGE_SESSION $FORGE_MODEL $FORGE_WORKSPACE $TOKEN\" >{}; sleep 600",
            file.display()
        );
        let mut request = fixture.request(id, include_str!("../data/launcher-template.sh"));
        request.config = request.config.with_env("AGENT_COMMAND", agent).with_env("TOKEN", format!("t-{id}"));
        let handle = fixture.launcher().spawn(request).await.unwrap();
        assert_eq!(handle.process.pid, handle.session.pane_pid, "tmux is asked for the pid");
        seen.push((id, content_of(&file).await));
    }
    let workspace = fixture.workspace().display().to_string();
    for (id, text) in seen {
        assert_eq!(text, format!("{id} w-{id} sonnet {workspace} t-{id}\n"));
    }
}

#[tokio::test]
async fn workers_that_are_started_at_once_on_a_new_server_have_their_own_variables() {
    let fixture = Fixture::new();
    let launcher = fixture.launcher();
    let spawn = async |id: &str| {
        let file = fixture.dir.path().join(id);
        let text = format!(
            "#!/bin/sh\ntmux new-session -d -s \"$1\" 'echo \"$FORGE_WORKER_ID\" >{}; exec sleep 600'\necho \"$1\"\n",
            file.display()
        );
        launcher.spawn(fixture.request(id, &text)).await.unwrap();
        content_of(&file).await
    };
    let (one, two, three) = tokio::join!(spawn("one"), spawn("two"), spawn("three"));
    assert_eq!([one, two, three], ["one\n", "two\n", "three\n"]);
}

#[tokio::test]
async fn an_existing_session_is_an_error_and_stays_as_it_is() {
    let fixture = Fixture::new();
    let old = fixture.session("w-a", "sleep 600").await;
    let ran = fixture.dir.path().join("ran");
    let request = fixture.request("a", &format!("#!/bin/sh\ntouch {}\nexit 1\n", ran.display()));
    let error = fixture.launcher().spawn(request).await.unwrap_err();
    assert!(
        matches!(&error, LauncherError::SessionExists { session_name } if session_name == "w-a"),
        "{error}"
    );
    assert!(!ran.exists(), "the launcher ran");

    // A launcher that hands out a session of somebody else gets it neither marked nor ended.
    let request = fixture.request("b", "#!/bin/sh\necho '{\"pid\": 1, \"session\": \"w-a\"}'\n");
    let error = fixture.launcher().spawn(request).await.unwrap_err();
    assert!(matches!(error, LauncherError::SessionExists { .. }), "{error}");
    assert_eq!(fixture.tmux.list().await.unwrap(), [old]);
}

#[tokio::test]
async fn a_failing_launcher_leaves_its_words_and_nothing_else() {
    let fixture = Fixture::new();
    let cases = [
        (
            "a",
            "tmux new-session -d -s \"$1\" sleep 600\necho 'first line' >&2\necho 'no API key' >&2\nexit 3",
            "first line\nno API key",
        ),
        ("b", "echo '{\"pid\": 0, \"session\": \"\", \"error\": \"no API key\"}'", "no API key"),
        ("c", "exit 4", "exit status: 4"),
        ("d", "echo some text; echo '{\"pid\": ,}'", "neither a JSON object"),
        (
            "e",
            "tmux new-session -d -s \"$1\" sleep 600\necho '{\"status\": \"failed\", \"message\": \"quota\"}'",
            "quota",
        ),
    ];
    for (id, text, words) in cases {
        let error =
            fixture.launcher().spawn(fixture.request(id, &format!("#!/bin/sh\n{text}\n"))).await.unwrap_err();
        match &error {
            LauncherError::LauncherFailed { message } => assert!(message.contains(words), "{id}: {message}"),
            other => panic!("{id}: {other}"),
        }
        assert_eq!(fixture.tmux.list().await.unwrap(), [], "{id}");
    }
    let request = fixture.request("f", "#!/bin/sh\necho '{\"pid\": 1}'\n");
    let error = fixture.launcher().spawn(request).await.unwrap_err();
    let LauncherError::SessionCreationFailed { session_name } = error else { panic!("{error}") };
    assert_eq!(session_name, "w-f");
}

#[tokio::test]
async fn a_launcher_that_takes_too_long_is_ended_with_all_it_made() {
    let fixture = Fixture::new();
    let bystander = fixture.session("w", "sleep 600").await;
    let pids = fixture.dir.path().join("pids");
    let text = format!(
        "#!/bin/sh\ntmux new-session -d -s \"$1\" sleep 600\nsleep 600 &\na=$!\nsetsid sleep 600 &\n\
         echo $$ $a $! >{}\nsleep 600\n",
        pids.display()
    );
    let mut request = fixture.request("slow", &text);
    request.config = request.config.with_timeout(1);
    let error = fixture.launcher().spawn(request).await.unwrap_err();
    assert!(matches!(error, LauncherError::Timeout { secs: 1 }), "{error}");
    assert_eq!(fixture.tmux.list().await.unwrap(), [bystander]);
    for pid in content_of(&pids).await.split_whitespace() {
        let pid: u32 = pid.parse().unwrap();
        let gone = async || Identity::of(pid).is_none_or(|process| !process.is_alive()).then_some(());
        until("the launcher's processes to end", gone).await;
    }
}

#[tokio::test]
async fn a_wrong_pid_is_replaced_and_a_right_one_is_kept() {
    let fixture = Fixture::new();
    let wrong = "#!/bin/sh\ntmux new-session -d -s \"$1\" sleep 600\necho \"{\\\"pid\\\": $$}\"\n";
    let handle = fixture.launcher().spawn(fixture.request("a", wrong)).await.unwrap();
    assert_eq!(handle.process.pid, handle.session.pane_pid);
    let child = fixture.dir.path().join("child");
    let right = format!(
        "#!/bin/sh\ntmux new-session -d -s \"$1\" 'sleep 600 & echo $! >{0}; wait'\n\
         until [ -s {0} ]; do sleep 0.02; done\necho \"{{\\\"pid\\\": $(cat {0})}}\"\n",
        child.display()
    );
    let handle = fixture.launcher().spawn(fixture.request("b", &right)).await.unwrap();
    assert_eq!(handle.process.pid.to_string(), content_of(&child).await.trim());
}

#[tokio::test]
async fn what_cannot_be_started_is_said_before_anything_happens() {
    let fixture = Fixture::new();
    let good = fixture.request("a", &good_launcher("exec sleep 600"));
    let with = |change: &dyn Fn(&mut forge_fleet::launcher::LaunchConfig)| {
        let mut request = good.clone();
        change(&mut request.config);
        request
    };
    let missing = fixture.dir.path().join("missing");
    let cases = [
        (with(&|config| config.session_name = "a:b".into()), "`a:b` is not a session name"),
        (with(&|config| config.workspace = missing.clone()), "is not a directory"),
        (with(&|config| config.launcher = missing.clone()), "does not exist"),
        (with(&|config| config.launcher = fixture.workspace()), "not executable"),
    ];
    for (request, words) in cases {
        let error = fixture.launcher().spawn(request).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
    let nobody = WorkerId::new("nobody").unwrap();
    let error = fixture.launcher().check_status(&nobody).await.unwrap_err();
    assert!(matches!(error, LauncherError::NoWorker { .. }), "{error}");
}
