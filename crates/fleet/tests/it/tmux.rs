//! Sessions: made with their environment, found exactly, read, spoken to and ended one at a time.

use forge_fleet::process::Identity;
use forge_fleet::tmux::{NewSession, Socket, Tmux, TmuxError, WORKER_OPTION};

use crate::fixture::{Fixture, content_of, until};

#[tokio::test]
async fn without_a_server_there_are_no_sessions() {
    let fixture = Fixture::new();
    assert_eq!(fixture.tmux.list().await.unwrap(), []);
    assert!(!fixture.tmux.has("x").await.unwrap());
    let error = fixture.tmux.capture("x", 10).await.unwrap_err();
    assert!(matches!(&error, TmuxError::NoSession { name } if name == "x"), "{error}");
    fixture.tmux.version().await.unwrap();
}

#[tokio::test]
async fn a_session_gets_its_command_its_variables_and_its_owner_at_once() {
    let fixture = Fixture::new();
    let seen = fixture.dir.path().join("seen");
    let env =
        [("WITH".to_owned(), "a 'quoted' $HOME;".to_owned()), ("SEEN".into(), seen.display().to_string())];
    let words =
        ["sh", "-c", r#"printf '%s|%s|%s\n' "$WITH" "$1" "$PWD" >"$SEEN"; exec sleep 600"#, "sh", "end;"];
    let command = words.map(str::to_owned);
    let dir = fixture.workspace();
    let new = NewSession { name: "w-1", dir: &dir, env: &env, command: &command, worker_id: Some("alpha") };
    let session = fixture.tmux.create(new.clone()).await.unwrap();
    let dir = std::fs::canonicalize(&dir).unwrap();
    assert_eq!(content_of(&seen).await, format!("a 'quoted' $HOME;|end;|{}\n", dir.display()));
    assert_eq!(
        (session.name.as_str(), session.worker_id.as_deref(), session.attached),
        ("w-1", Some("alpha"), 0)
    );
    assert!(Identity::of(session.pane_pid).unwrap().is_alive());
    assert_eq!(fixture.tmux.list().await.unwrap(), [session]);

    let error = fixture.tmux.create(new).await.unwrap_err();
    assert!(matches!(error, TmuxError::SessionExists { .. }), "{error}");
}

#[tokio::test]
async fn a_name_is_never_taken_for_a_longer_one() {
    let fixture = Fixture::new();
    let long = fixture.session("worker-alpha", "sleep 600").await;
    assert!(!fixture.tmux.has("worker").await.unwrap());
    assert_eq!(fixture.tmux.find("worker").await.unwrap(), None);
    assert!(matches!(fixture.tmux.interrupt("worker").await, Err(TmuxError::NoSession { .. })));
    assert!(matches!(
        fixture.tmux.set_option("worker", WORKER_OPTION, "x").await,
        Err(TmuxError::NoSession { .. })
    ));
    let short = fixture.session("worker", "sleep 600").await;
    fixture.tmux.kill(&short).await.unwrap();
    assert_eq!(fixture.tmux.list().await.unwrap(), std::slice::from_ref(&long));
    // The same name again is another session: only the one that was to be ended is gone.
    let again = fixture.session("worker", "sleep 600").await;
    fixture.tmux.kill(&short).await.unwrap();
    assert_eq!(fixture.tmux.list().await.unwrap(), [long, again]);
}

#[tokio::test]
async fn the_owner_can_be_set_and_read_later() {
    let fixture = Fixture::new();
    fixture.session("s", "sleep 600").await;
    assert_eq!(fixture.tmux.option("s", WORKER_OPTION).await.unwrap(), None);
    fixture.tmux.set_option("s", WORKER_OPTION, "beta").await.unwrap();
    assert_eq!(fixture.tmux.option("s", WORKER_OPTION).await.unwrap().as_deref(), Some("beta"));
    assert_eq!(fixture.tmux.list().await.unwrap()[0].worker_id.as_deref(), Some("beta"));
}

#[tokio::test]
async fn a_pane_is_read_from_its_end_and_takes_lines_and_interrupts() {
    let fixture = Fixture::new();
    fixture
        .session(
            "s",
            r#"trap 'echo caught' INT; seq 1 120; while :; do read -r line && echo "got <$line>"; done"#,
        )
        .await;
    until("the numbers", async || fixture.tmux.capture("s", 1).await.ok().filter(|text| text == "120")).await;
    assert_eq!(fixture.tmux.capture("s", 100).await.unwrap().lines().next(), Some("21"));

    fixture.tmux.send_line("s", "-l $HOME; Enter;").await.unwrap();
    let got = async || {
        fixture.tmux.capture("s", 3).await.ok().filter(|text| text.contains("got <-l $HOME; Enter;>"))
    };
    until("the line", got).await;
    fixture.tmux.interrupt("s").await.unwrap();
    until("the interrupt", async || fixture.tmux.capture("s", 5).await.ok().filter(|t| t.contains("caught")))
        .await;
    assert!(matches!(fixture.tmux.send_line("s", "a\nb").await, Err(TmuxError::InvalidLine)));
}

#[test]
fn a_person_is_switched_within_the_server_and_attached_from_anywhere_else() {
    let tmux = Tmux::new(Socket::Name("forge-x".into()));
    let words = |inside: Option<&str>| {
        let command = tmux.attach("w", inside).unwrap();
        let args: Vec<_> = command.get_args().map(|arg| arg.to_str().unwrap().to_owned()).collect();
        (args.join(" "), command.get_envs().any(|(key, value)| key == "TMUX" && value.is_none()))
    };
    let here = format!("{},123,0", tmux.socket_path().display());
    assert_eq!(words(Some(&here)), ("-L forge-x switch-client -t =w".into(), false));
    assert_eq!(words(Some("/tmp/tmux-0/default,1,0")), ("-L forge-x attach-session -t =w".into(), true));
    assert_eq!(words(None), ("-L forge-x attach-session -t =w".into(), true));
    assert!(tmux.attach("w:1", None).is_err());
}
