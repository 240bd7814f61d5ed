//! Where commands look for a server, and who gets the token.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::process::Command;

use forge_tests::{TestForge, err, forge_exe, output, text, until_exists, words};

const TOKEN: &str = "t0ken-of-the-home";

/// Somebody who would like to have a token.
struct Stranger(TcpListener);

impl Stranger {
    fn new() -> Self {
        Self(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// Whether anybody came by.
    fn was_asked(&self) -> bool {
        self.0.set_nonblocking(true).unwrap();
        match self.0.accept() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => false,
            other => other.map(|_| true).unwrap(),
        }
    }

    /// Answers one request and returns its head.
    fn answer(self) -> std::thread::JoinHandle<String> {
        std::thread::spawn(move || {
            let (mut caller, _) = self.0.accept().unwrap();
            let mut head = [0; 4096];
            let count = caller.read(&mut head).unwrap();
            caller
                .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
                .unwrap();
            String::from_utf8_lossy(&head[..count]).into_owned()
        })
    }
}

/// A home with a token and no server.
async fn at_rest() -> TestForge {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    std::fs::write(forge.home().join("token"), TOKEN).unwrap();
    forge
}

fn list(forge: &TestForge) -> Command {
    let mut command = forge.command();
    command.args(["list", "projects"]);
    command
}

#[tokio::test]
async fn a_port_that_somebody_planted_in_the_temporary_folder_is_not_asked() {
    let forge = at_rest().await;
    let stranger = Stranger::new();
    let shared = forge.dir().join("automagik-forge");
    std::fs::create_dir_all(&shared).unwrap();
    std::fs::write(shared.join("automagik-forge.port"), stranger.port().to_string()).unwrap();
    let mut command = list(&forge);
    command.env_remove("PORT");
    output(command).await;
    assert!(!stranger.was_asked());
}

#[tokio::test]
async fn the_port_of_a_server_that_is_gone_is_not_asked() {
    let forge = at_rest().await;
    let stranger = Stranger::new();
    let url = format!("http://127.0.0.1:{}", stranger.port());
    std::fs::write(forge.home().join("address"), url).unwrap();
    let ended = output(list(&forge)).await;
    assert_eq!(ended.status.code(), Some(3), "{}", words(&ended));
    assert!(!stranger.was_asked());
}

#[tokio::test]
async fn an_env_file_in_a_clone_names_no_server() {
    let forge = at_rest().await;
    let stranger = Stranger::new();
    let clone = forge.repository("clone");
    let lines = format!("FORGE_BACKEND_URL=http://127.0.0.1:{}\nFORGE_SPARES=1\n", stranger.port());
    std::fs::write(clone.join(".env"), lines).unwrap();
    for named in [&[][..], &["--env-file", ".env"]] {
        let mut command = list(&forge);
        command.args(named).current_dir(&clone);
        let ended = output(command).await;
        assert_eq!(ended.status.code(), Some(3), "{}", words(&ended));
        assert!(!stranger.was_asked());
        let said = err(&ended);
        assert_eq!(said.matches("FORGE_BACKEND_URL").count(), 2, "ignored, and what to do: {said}");
        assert!(!said.contains("FORGE_SPARES"), "{said}");
    }
}

#[tokio::test]
async fn an_env_file_is_read_when_it_is_named() {
    let forge = at_rest().await;
    std::fs::write(forge.dir().join("limits"), "FORGE_SPARES=many\n").unwrap();
    let mut command = forge.command();
    command.args(["serve", "--env-file", "limits"]);
    let ended = output(command).await;
    let said = err(&ended);
    assert!(said.contains("FORGE_SPARES: 'many' is not a number"), "{said}");
    let mut command = forge.command();
    command.args(["serve", "--env-file", "missing"]);
    let said = err(&output(command).await);
    assert!(said.contains("--env-file: cannot read missing"), "{said}");
}

#[tokio::test]
async fn the_token_goes_to_a_server_that_the_user_or_the_home_names() {
    let forge = at_rest().await;
    let stranger = Stranger::new();
    let mut command = list(&forge);
    command
        .env("FORGE_BACKEND_URL", format!("http://127.0.0.1:{}", stranger.port()))
        .env("BACKEND_PORT", "1");
    let asked = stranger.answer();
    output(command).await;
    let head = asked.join().unwrap().to_lowercase();
    assert!(head.contains(&format!("authorization: bearer {TOKEN}")), "{head}");

    let forge = TestForge::with(&["--require-token"], &[]).await;
    let found = output(list(&forge)).await;
    assert!(found.status.success(), "{}", words(&found));
}

#[tokio::test]
async fn the_token_does_not_go_to_the_servers_port_on_another_address() {
    let forge = TestForge::with(&["--require-token", "--host", "127.0.0.2"], &[]).await;
    let port = forge.base().rsplit_once(':').unwrap().1.to_owned();
    let stranger = Stranger(TcpListener::bind(format!("127.0.0.1:{port}")).unwrap());
    for named in ["0", &port] {
        let mut command = list(&forge);
        command.env("PORT", named);
        let found = output(command).await;
        assert!(found.status.success(), "{}", words(&found));
    }
    assert!(!stranger.was_asked());
}

#[tokio::test]
async fn a_login_link_names_the_address_and_not_a_name_that_has_another_one_too() {
    let forge = TestForge::with(&["--host", "0.0.0.0"], &[]).await;
    let file = forge.home().join("login");
    until_exists(&file).await;
    let link = std::fs::read_to_string(file).unwrap();
    assert!(link.starts_with(&format!("{}/login?code=", forge.base())), "{link}");
}

#[tokio::test]
async fn agents_have_the_servers_address_and_none_of_its_secrets() {
    let hosts = serde_json::json!({"hosts": {"git.example": {"kind": "gitea", "token_env": "MY_HOST"}}});
    let secrets = [
        "FORGE_TOKEN",
        "GITHUB_TOKEN",
        "GH_TOKEN",
        "GITLAB_TOKEN",
        "GITEA_TOKEN",
        "FORGEJO_TOKEN",
        "MY_HOST",
    ];
    let mut env: Vec<(&str, &str)> = secrets.iter().map(|name| (*name, "s3cret")).collect();
    env.extend([("HOST", "127.0.0.1"), ("COPILOT_GITHUB_TOKEN", "copilots")]);
    let forge = TestForge::with_settings(&[], &env, &hosts).await;
    let (project, _) = forge.project("repo").await;
    // The agent's parent is its keeper.
    let script = format!(
        "env; echo; tr '\\0' '\\n' </proc/$PPID/environ; echo; FORGE_HOME=/nowhere {} list projects --json",
        forge_exe().display()
    );
    let task = forge.start_with(&project, "SHELL", "t", &script).await;
    let runs = forge.settled(&task.attempt()).await;
    let log = forge.raw_log(&text(&runs[0]["id"])).await;
    let [agent, keeper, listed] = log.split("\n\n").collect::<Vec<_>>()[..] else { panic!("{log}") };
    for environment in [agent, keeper] {
        assert!(!environment.contains("s3cret"), "{environment}");
        let has = |name: &str| environment.lines().any(|line| line.starts_with(&format!("{name}=")));
        for name in ["PORT", "BACKEND_PORT", "HOST"] {
            assert!(!has(name), "{name}: {environment}");
        }
        assert!(has("COPILOT_GITHUB_TOKEN") && has("FORGE_HOME"), "{environment}");
    }
    let address = format!("FORGE_BACKEND_URL={}", forge.base());
    assert!(agent.lines().any(|line| line == address), "{agent}");
    assert!(listed.contains(&project), "a command of the agent reaches the server: {listed}");
}
