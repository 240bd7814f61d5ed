//! The launchers of the repository, run for real: with scripts, and with stand-ins for the agents on the PATH.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use forge_fleet::launcher::{Check, Fault, Grace, LaunchConfig, LauncherError, SpawnRequest, WorkerHandle};
use forge_fleet::process::{Table, await_exits};
use forge_fleet::status_file::{self, StatusFile};
use forge_fleet::worker::{WorkerStatus, WorkerTier};
use forge_types::wire::CallStyle;

use crate::fixture::{Fixture, LONG, content_of, until};

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../launchers").join(name)
}

/// What the stand-in for an agent was given: arguments and variables, between marks that no value has.
const STAND_IN: &str = r#"#!/bin/sh
{ for word in "$@"; do printf 'arg<%s>\n' "$word"; done; env; echo end; } >"$SEEN.draft"
mv "$SEEN.draft" "$SEEN"
[ "$1" = --hold ] || [ -z "$HOLD" ] || exec sleep 600
"#;

impl Fixture {
    fn config(&self, launcher: &str, model: &str) -> LaunchConfig {
        let path = format!("{}:{}", self.dir.path().join("bin").display(), std::env::var("PATH").unwrap());
        LaunchConfig::new(shipped(launcher), "w-a", self.workspace(), model)
            .with_timeout(LONG.as_secs())
            .with_tier(WorkerTier::Budget)
            .with_env("PATH", path)
            .with_env("HOME", self.dir.path().display().to_string())
            .with_env("SEEN", self.dir.path().join("seen").display().to_string())
    }

    async fn start(&self, config: LaunchConfig) -> WorkerHandle {
        self.launcher().spawn(SpawnRequest::new("a", config)).await.unwrap()
    }

    async fn status(&self, wanted: WorkerStatus) -> StatusFile {
        let id = "a".parse().unwrap();
        let found = async || status_file::find(&self.status_dir(), &id).filter(|file| file.status == wanted);
        until(&format!("status {wanted}"), found).await
    }

    /// The arguments and variables that the stand-in got.
    async fn seen(&self) -> (Vec<String>, BTreeMap<String, String>) {
        let text = content_of(&self.dir.path().join("seen")).await;
        let (args, rest) = text.split_at(text.rfind(">\n").map_or(0, |at| at + 2));
        let args = args.split("arg<").skip(1).map(|word| word.trim_end().trim_end_matches('>').to_owned());
        let pairs = rest.lines().filter_map(|line| line.split_once('='));
        (args.collect(), pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect())
    }

    fn log_of(&self, program: &str) -> Vec<String> {
        let text = fs::read_to_string(self.dir.path().join(program)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// A stand-in for a beads program, which writes down how it is called.
    fn beads(&self, program: &str) {
        let log = self.dir.path().join("beads");
        let text = format!(
            "#!/bin/sh\necho \"{program} $*\" >>{}\n[ \"$1\" != show ] || echo '[{{\"title\":\"Paint it\"}}]'\n",
            log.display()
        );
        self.script(program, &text);
    }

    fn agent_script(&self, text: &str) -> String {
        let path = self.dir.path().join("agent.sh");
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

#[tokio::test]
async fn a_script_runs_and_its_status_file_follows_it_to_the_end() {
    let fixture = Fixture::new();
    let go = fixture.dir.path().join("go");
    let script = format!("until [ -e {} ]; do sleep 0.02; done; exit \"$CODE\"\n", go.display());
    for (code, status) in [("0", WorkerStatus::Stopped), ("7", WorkerStatus::Failed)] {
        let config = fixture
            .config("scripted", "haiku")
            .with_env("FORGE_SCRIPT", fixture.agent_script(&script))
            .with_env("CODE", code);
        let handle = fixture.start(config).await;
        let file = fixture.status(WorkerStatus::Idle).await;
        assert_eq!((file.pid, file.model.as_deref()), (Some(handle.session.pane_pid), Some("haiku")));
        assert_eq!((file.tier, file.workspace), (Some(WorkerTier::Budget), Some(fixture.workspace())));
        fs::write(&go, "").unwrap();
        let file = fixture.status(status).await;
        assert_eq!(file.fields["exit_code"].to_string(), code);
        until("the session to end", async || fixture.tmux.list().await.unwrap().is_empty().then_some(()))
            .await;
        fs::remove_file(&go).unwrap();
    }
    let drafts = fs::read_dir(fixture.status_dir()).unwrap().count();
    assert_eq!(drafts, 1);
}

#[tokio::test]
async fn a_stopped_worker_says_so_itself() {
    let fixture = Fixture::new();
    let config =
        fixture.config("scripted", "x").with_env("FORGE_SCRIPT", fixture.agent_script("sleep 600\n"));
    let handle = fixture.start(config.clone()).await;
    fixture.status(WorkerStatus::Idle).await;
    let grace = Grace { exit_command: None, patience: LONG };
    assert!(fixture.launcher().stop_with(&handle.id, &grace).await.unwrap().graceful);
    fixture.status(WorkerStatus::Stopped).await;

    // Also when its session is killed: nothing keeps running, and it still writes its last status. Who killed it is
    // unknown, so it does not count as a stop.
    let prompt = fixture.dir.path().join("prompt");
    fs::write(&prompt, "do it\n").unwrap();
    let working = config.clone().with_env("FORGE_PROMPT_FILE", prompt.display().to_string());
    for (config, begun) in [(config, WorkerStatus::Idle), (working, WorkerStatus::Active)] {
        let handle = fixture.start(config).await;
        fixture.status(begun).await;
        let pane = handle.session.pane_pid;
        let agent =
            async || Table::read().below(pane).into_iter().find(|entry| entry.name == "sleep").cloned();
        until("the agent", agent).await;
        let all: Vec<_> = Table::read().pane(pane).iter().map(|entry| entry.identity).collect();
        fixture.tmux.kill(&handle.session).await.unwrap();
        assert_eq!(await_exits(&all, LONG).await, []);
        let file = fixture.status(WorkerStatus::Failed).await;
        assert_eq!(file.fields["exit_code"], 129);
    }
}

#[tokio::test]
async fn a_tmux_server_that_dies_stops_no_worker_on_purpose() {
    let fixture = Fixture::new();
    let prompt = fixture.dir.path().join("prompt");
    fs::write(&prompt, "do it\n").unwrap();
    // Agents that die of the hang-up, that end well because of it, and that give up because of it.
    let scripts = ["exec sleep 600\n", "trap 'exit 0' HUP; sleep 600\n", "trap 'exit 1' HUP; sleep 600\n"];
    let mut all = Vec::new();
    for (number, script) in scripts.iter().enumerate() {
        let path = fixture.dir.path().join(format!("agent-{number}.sh"));
        fs::write(&path, script).unwrap();
        let mut config = fixture
            .config("scripted", "x")
            .with_env("FORGE_SCRIPT", path.display().to_string())
            .with_env("FORGE_LOGS_DIR", fixture.dir.path().join("logs").display().to_string())
            .with_env("FORGE_PROMPT_FILE", prompt.display().to_string());
        config.session_name = format!("w-{number}");
        let request = SpawnRequest::new(format!("w{number}"), config);
        let pane = fixture.launcher().spawn(request).await.unwrap().session.pane_pid;
        let agent =
            async || Table::read().below(pane).into_iter().find(|entry| entry.name == "sleep").cloned();
        until("the agent", agent).await;
        all.extend(Table::read().pane(pane).iter().map(|entry| entry.identity));
    }
    let server = fixture.server_pid();
    rustix::process::kill_process(server, rustix::process::Signal::KILL).unwrap();
    assert_eq!(await_exits(&all, LONG).await, []);
    for number in 0..scripts.len() {
        let id = format!("w{number}").parse().unwrap();
        let file = status_file::find(&fixture.status_dir(), &id).unwrap();
        assert_eq!((file.status, &file.fields["exit_code"]), (WorkerStatus::Failed, &129.into()), "{number}");
    }
}

#[tokio::test]
async fn claude_gets_its_model_and_the_variables_that_are_meant_for_it() {
    let fixture = Fixture::new();
    fixture.script("claude", STAND_IN);
    let config = fixture
        .config("claude-code", "opus")
        .with_env("HOLD", "1")
        .with_env("ODD", "two words; 'quoted' \"$HOME\";")
        .with_env("FORGE_AGENT_ARGS", "--permission-mode\naccept edits *");
    let handle = fixture.start(config).await;
    assert_eq!((handle.model.as_deref(), handle.process.pid), (Some("opus"), handle.session.pane_pid));
    let (args, variables) = fixture.seen().await;
    assert_eq!(args, ["--model", "opus", "--permission-mode", "accept edits *"]);
    assert_eq!(variables["ODD"], "two words; 'quoted' \"$HOME\";");
    let workspace = fixture.workspace().display().to_string();
    for (key, value) in [
        ("FORGE_WORKER_ID", "a"),
        ("FORGE_SESSION", "w-a"),
        ("FORGE_MODEL", "opus"),
        ("FORGE_WORKSPACE", workspace.as_str()),
        ("FORGE_TIER", "budget"),
    ] {
        assert_eq!(variables[key], value, "{key}");
    }
}

#[tokio::test]
async fn every_agent_is_called_in_its_own_words() {
    let prompt = "-- do it; all of it";
    for (launcher, program, model, waiting, working) in [
        (
            "claude-code",
            "claude",
            "claude-haiku",
            "--model haiku",
            "--model haiku --print --verbose --output-format stream-json --dangerously-skip-permissions",
        ),
        (
            "glm",
            "claude",
            "glm-4.7",
            "--model glm-4.7",
            "--model glm-4.7 --print --verbose --output-format stream-json --dangerously-skip-permissions",
        ),
        (
            "codex",
            "codex",
            "gpt-5",
            "--model gpt-5",
            "exec --json --dangerously-bypass-approvals-and-sandbox --model gpt-5",
        ),
        ("codex", "codex", "", "", "exec --json --dangerously-bypass-approvals-and-sandbox"),
        ("opencode", "opencode", "zai/glm", "--model zai/glm", "run --format json --model zai/glm"),
    ] {
        for (prompted, expected) in [(false, waiting), (true, working)] {
            let fixture = Fixture::new();
            fixture.script(program, STAND_IN);
            let file = fixture.dir.path().join("prompt");
            fs::write(&file, format!("{prompt}\n")).unwrap();
            let mut config = fixture
                .config(launcher, model)
                .with_env("HOLD", "1")
                .with_env("ANTHROPIC_BASE_URL", "http://proxy");
            if prompted {
                config = config.with_env("FORGE_PROMPT_FILE", file.display().to_string());
            }
            fixture.start(config).await;
            let (args, variables) = fixture.seen().await;
            let mut expected: Vec<String> = expected.split_whitespace().map(str::to_owned).collect();
            expected.extend(prompted.then(|| format!(" {prompt}")));
            assert_eq!(args, expected, "{launcher}");
            assert_eq!(variables["ANTHROPIC_BASE_URL"], "http://proxy");
            fixture.status(if prompted { WorkerStatus::Active } else { WorkerStatus::Idle }).await;
        }
    }
}

#[tokio::test]
async fn a_bead_is_taken_worked_on_and_closed_when_it_is_done() {
    for (tool, code, managed) in [("br", "0", false), ("br", "1", false), ("br", "0", true)] {
        let fixture = Fixture::new();
        fixture.beads(tool);
        let script = fixture.agent_script("printf 'log <%s>\\n' \"$1\"; exit \"$CODE\"\n");
        let mut config = fixture
            .config("scripted", "x")
            .with_bead("fg-7")
            .with_env("FORGE_SCRIPT", script)
            .with_env("CODE", code)
            .with_env("FORGE_LOGS_DIR", fixture.dir.path().join("logs").display().to_string());
        if managed {
            config = config.with_env("FORGE_MANAGED", "1");
        }
        let request = SpawnRequest::new("a", config);
        // The script may end before it is examined; then the launch is reported as failed, but the bead is done.
        match fixture.launcher().spawn(request).await {
            Ok(handle) => assert_eq!(handle.bead_id.as_deref(), Some("fg-7")),
            Err(LauncherError::LauncherFailed { .. } | LauncherError::SessionCreationFailed { .. }) => {}
            Err(error) => panic!("{error}"),
        }
        let ended = if code == "0" { WorkerStatus::Stopped } else { WorkerStatus::Failed };
        let file = fixture.status(ended).await;
        assert_eq!(file.current_task.and_then(|task| task.bead_id).as_deref(), Some("fg-7"));
        let show = "br show fg-7 --format json".to_owned();
        let take = "br update fg-7 --status in_progress --assignee a".to_owned();
        let close = "br close fg-7 --reason Done by a".to_owned();
        let expected = match (code, managed) {
            (_, true) => vec![show],
            ("0", _) => vec![show, take, close],
            _ => vec![show, take],
        };
        assert_eq!(fixture.log_of("beads"), expected);
        let log = content_of(&fixture.dir.path().join("logs/a.log")).await;
        assert!(log.contains("log <Work on the bead fg-7") && log.contains("Paint it"), "{log}");
    }
}

#[tokio::test]
async fn what_is_missing_is_said_in_the_launchers_words() {
    let fixture = Fixture::new();
    let cases = [
        (fixture.config("glm", "glm-4.7"), "ANTHROPIC_BASE_URL is not set"),
        (fixture.config("scripted", "x").with_env("FORGE_SCRIPT", "/missing"), "FORGE_SCRIPT is `/missing`"),
        (fixture.config("codex", "x").with_env("PATH", "/usr/bin:/bin"), "codex is not on the PATH"),
    ];
    for (config, words) in cases {
        let error = fixture.launcher().spawn(SpawnRequest::new("a", config)).await.unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(error.matches(words).count(), 1, "{error}");
    }
}

#[tokio::test]
async fn the_shipped_launchers_take_flags_and_pass_the_check() {
    let fixture = Fixture::new();
    fixture.script("claude", STAND_IN);
    let config = fixture.config("claude-code", "haiku").with_style(CallStyle::Flags).with_env("HOLD", "1");
    fixture.start(config).await;
    assert_eq!(fixture.seen().await.0, ["--model", "haiku"]);

    // The check has no settings of its own, so that a launcher around the shipped one brings them.
    let script = fixture.agent_script("exec sleep 600\n");
    let around = format!("#!/bin/sh\nFORGE_SCRIPT={script} exec {} \"$@\"\n", shipped("scripted").display());
    let findings = Check::new(fixture.script("around", &around)).with_timeout(LONG).run().await.unwrap();
    assert_eq!(findings.faults, []);
    let failing = format!("#!/bin/sh\nexec {} \"$@\"\n", shipped("scripted").display());
    let findings = Check::new(fixture.script("failing", &failing)).with_timeout(LONG).run().await.unwrap();
    assert!(matches!(&findings.faults[..], [Fault::Fails { .. }]), "{findings:?}");
}
