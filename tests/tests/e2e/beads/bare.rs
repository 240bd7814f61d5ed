//! Beads on a bare clone, without any beads program: read, written and taken through Forge.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use forge_tests::{Terminal, TestForge, err, out, output, text};
use serde_json::{Value, json};

/// No `br` and no `bd` is found: Forge keeps the file itself.
pub const BARE: (&str, &str) = ("PATH", "/usr/bin:/bin");

async fn beads(forge: &TestForge, repo: &Path, args: &[&str]) -> Output {
    let mut command = forge.command();
    command.arg("beads").args(args).current_dir(repo);
    output(command).await
}

async fn told(forge: &TestForge, repo: &Path, args: &[&str]) -> Value {
    let done = beads(forge, repo, &[args, &["--json"]].concat()).await;
    assert!(done.status.success(), "{args:?}: {}", err(&done));
    serde_json::from_slice(&done.stdout).expect("JSON")
}

fn error_of(done: &Output) -> String {
    err(done)
}

/// A project with an empty list of beads.
pub async fn project(forge: &TestForge) -> (String, std::path::PathBuf) {
    let (id, repo) = forge.project("repo").await;
    std::fs::create_dir(repo.join(".beads")).unwrap();
    (id, repo)
}

#[tokio::test]
async fn a_bead_is_created_waits_is_taken_and_closed() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (_, repo) = project(&forge).await;
    let first = text(&told(&forge, &repo, &["create", "Lay the floor", "-p", "1", "-t", "bug"]).await["id"]);
    let then = told(&forge, &repo, &["create", "Build the house", "--depends-on", &first]).await;
    let then = text(&then["id"]);

    let ready = told(&forge, &repo, &["ready"]).await;
    assert_eq!(ready.as_array().unwrap().len(), 1, "{ready:#}");
    assert_eq!((&ready[0]["id"], &ready[0]["priority"]), (&json!(first), &json!(1)));
    let waiting = told(&forge, &repo, &["show", &then]).await;
    assert_eq!(waiting["standing"]["blocked_by"], json!([first]));

    let early = beads(&forge, &repo, &["claim", &then]).await;
    assert_eq!(early.status.code(), Some(5), "a bead that waits is not given out");
    assert!(error_of(&early).contains(&first), "{}", error_of(&early));
    let unknown = beads(&forge, &repo, &["show", "repo-nope"]).await;
    assert_eq!(unknown.status.code(), Some(4), "{}", error_of(&unknown));

    let taken = told(&forge, &repo, &["claim", &first, "--worker", "alpha"]).await;
    let actor = text(&taken["assignee"]);
    assert!(actor.starts_with("forge/") && actor.contains("/alpha/"), "{actor}");
    assert_eq!(taken["standing"]["lease"]["worker"], "alpha");
    let given = told(&forge, &repo, &["release", &first, "-m", "no wood"]).await;
    assert_eq!((&given["status"], &given["standing"]["lease"]), (&json!("open"), &Value::Null));
    assert_eq!(given["comments"][0]["text"], "no wood");

    told(&forge, &repo, &["claim", &first]).await;
    let closed = told(&forge, &repo, &["close", &first, "-r", "It lies"]).await;
    assert_eq!((&closed["status"], &closed["close_reason"]), (&json!("closed"), &json!("It lies")));
    assert_eq!(told(&forge, &repo, &["ready"]).await[0]["id"], then);
    let listed = beads(&forge, &repo, &["list"]).await;
    let listed = out(&listed);
    assert!(listed.contains("Build the house") && !listed.contains("Lay the floor"), "{listed}");
    let listed = told(&forge, &repo, &["list", "--status", "closed"]).await;
    assert_eq!((listed.as_array().unwrap().len(), &listed[0]["id"]), (1, &json!(first)));

    let over = beads(&forge, &repo, &["release", &first]).await;
    assert!(over.status.code() == Some(5) && error_of(&over).contains("is closed"), "{}", error_of(&over));
    let gone = told(&forge, &repo, &["undep", &then, &first]).await;
    assert_eq!(gone["removed"], true);
    assert_eq!(told(&forge, &repo, &["undep", &then, &first]).await["removed"], false);
}

#[tokio::test]
async fn words_that_no_tracker_knows_are_refused_with_the_allowed_ones() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (_, repo) = project(&forge).await;
    let one = text(&told(&forge, &repo, &["create", "One"]).await["id"]);
    let two = text(&told(&forge, &repo, &["create", "Two"]).await["id"]);
    for (args, allowed) in [
        (vec!["list", "--status", "bogus"], "in_progress"),
        (vec!["create", "Three", "-t", "weird"], "feature"),
        (vec!["dep", &one, &two, "--type", "bogus"], "parent-child"),
    ] {
        let refused = beads(&forge, &repo, &args).await;
        let why = error_of(&refused);
        assert!(!refused.status.success() && why.contains(allowed), "{args:?}: {why}");
    }
    let kept = told(&forge, &repo, &["list", "--all"]).await;
    assert_eq!(kept.as_array().unwrap().len(), 2, "{kept:#}");
}

#[tokio::test]
async fn of_eight_processes_that_race_for_a_bead_one_wins() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (_, repo) = project(&forge).await;
    for round in 0..3 {
        let bead = told(&forge, &repo, &["create", &format!("Round {round}")]).await;
        let bead = text(&bead["id"]);
        let racer = |number: usize| {
            let mut command = forge.command();
            command.args(["beads", "claim", &bead, "--worker", &format!("racer-{number}")]);
            command.current_dir(&repo);
            output(command)
        };
        let ended = futures_util::future::join_all((0..8).map(racer)).await;
        let won: Vec<usize> = (0..8).filter(|number| ended[*number].status.success()).collect();
        assert_eq!(won.len(), 1, "{ended:#?}");
        for (number, lost) in ended.iter().enumerate().filter(|(number, _)| *number != won[0]) {
            assert_eq!(lost.status.code(), Some(5), "racer {number}: {}", error_of(lost));
        }
        let holder = text(&told(&forge, &repo, &["show", &bead]).await["assignee"]);
        assert!(holder.contains(&format!("/racer-{}/", won[0])), "{holder}");
    }
}

#[tokio::test]
async fn what_a_stranger_took_stays_theirs() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let line =
        json!({"id": "repo-1", "title": "t", "status": "in_progress", "priority": 2, "assignee": "alice"});
    let file = repo.join(".beads/issues.jsonl");
    std::fs::write(&file, format!("{line}\n")).unwrap();
    let before = std::fs::read(&file).unwrap();
    let refused = beads(&forge, &repo, &["release", "repo-1"]).await;
    assert_eq!(refused.status.code(), Some(5));
    assert!(error_of(&refused).contains("'alice'"), "{}", error_of(&refused));
    let claimed = forge.post("/api/beads/repo-1/claim", &json!({"project_id": id})).await;
    assert_eq!(claimed.status, 409, "{claimed:?}");
    assert_eq!(std::fs::read(&file).unwrap(), before, "nothing was written");
}

#[tokio::test]
async fn only_folders_that_forge_knows_are_looked_at() {
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join(".beads")).unwrap();
    let folder = other.path().to_str().unwrap();
    let strange = tempfile::tempdir().unwrap();
    std::fs::create_dir(strange.path().join(".beads")).unwrap();
    let forge = TestForge::with(&[], &[BARE, ("FORGE_WORKSPACES", folder)]).await;
    let made = forge.post("/api/beads", &json!({"workspace": folder, "title": "Here"})).await.data();
    assert_eq!(forge.get("/api/beads").await.data()[0]["id"], made["id"], "the only one needs no name");
    let refused = forge.get(&format!("/api/beads?workspace={}", strange.path().display())).await;
    assert_eq!(refused.status, 404, "{refused:?}");
}

#[tokio::test]
async fn a_project_without_beads_has_none_and_that_is_said() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = forge.project("bare").await;
    let has_beads =
        async || forge.get(&format!("/api/projects/{id}/dispatch")).await.data()["has_beads"].clone();
    assert_eq!(forge.get(&format!("/api/beads?project_id={id}")).await.data(), json!([]));
    assert_eq!(has_beads().await, false);
    for args in [vec!["list"], vec!["ready"], vec!["create", "One"]] {
        let verb = args[0];
        let refused = beads(&forge, &repo, &args).await;
        assert_eq!(refused.status.code(), Some(4), "{verb}");
        assert!(error_of(&refused).contains("`forge beads init`"), "{verb}: {}", error_of(&refused));
    }
    let refused = forge.post("/api/beads", &json!({"project_id": id, "title": "t"})).await;
    assert!(refused.status == 404 && refused.message().contains(".beads"), "{refused:?}");
    let unknown = forge.get("/api/beads?project_id=00000000-0000-4000-8000-000000000000").await;
    assert_eq!(unknown.status, 404, "{unknown:?}");

    std::fs::create_dir(repo.join(".beads")).unwrap();
    assert_eq!(has_beads().await, true);
    assert_eq!(forge.get(&format!("/api/beads?project_id={id}")).await.data(), json!([]));
    let listed = beads(&forge, &repo, &["list"]).await;
    assert!(listed.status.success() && error_of(&listed).contains("no beads"), "{}", error_of(&listed));
}

#[tokio::test]
async fn at_a_terminal_the_first_bead_begins_the_list_after_a_yes() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (_, repo) = forge.project("bare").await;
    let create = || {
        let mut command = forge.command();
        command.args(["beads", "create", "One"]).current_dir(&repo);
        Terminal::start(command, 120)
    };
    let mut terminal = create();
    terminal.until("has no beads yet").await;
    terminal.type_line("n");
    assert_eq!(terminal.ended().await.code(), Some(4));
    assert!(!repo.join(".beads").exists());
    let mut terminal = create();
    terminal.until("has no beads yet").await;
    terminal.type_line("y");
    assert!(terminal.ended().await.success(), "{}", terminal.screen());
    assert_eq!(told(&forge, &repo, &["ready"]).await[0]["title"], "One");
}

/// What a repository carries, or an agent lays down, in place of the file.
#[tokio::test]
async fn a_device_or_a_pipe_in_place_of_beads_is_refused_with_its_path() {
    let forge = TestForge::with(&[], &[BARE]).await;
    let (id, repo) = project(&forge).await;
    let file = repo.join(".beads/issues.jsonl");
    let pipe =
        || rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let zero = || symlink("/dev/zero", &file).unwrap();
    let lay: [&dyn Fn(); 2] = [&pipe, &zero];
    for lay in lay {
        lay();
        for path in [format!("/api/beads?project_id={id}"), "/api/beads".to_owned()] {
            let refused = forge.get(&path).await;
            assert_eq!(refused.status, 409, "{}", refused.message());
            assert!(refused.message().contains(file.to_str().unwrap()), "{}", refused.message());
        }
        let made = forge.post("/api/beads", &json!({"project_id": id, "title": "New"})).await;
        assert_eq!(made.status, 409, "{}", made.message());
        std::fs::remove_file(&file).unwrap();
    }
    symlink("/dev/zero", repo.join(".beads/metadata.json")).unwrap();
    for path in [format!("/api/beads?project_id={id}"), "/api/beads".to_owned()] {
        let refused = forge.get(&path).await;
        assert_eq!(refused.status, 409, "{}", refused.message());
        assert!(refused.message().contains("metadata.json leads out"), "{}", refused.message());
    }
    std::fs::remove_file(repo.join(".beads/metadata.json")).unwrap();
    assert_eq!(forge.get(&format!("/api/beads?project_id={id}")).await.data(), json!([]));
}

/// A description that is not used is named where it would have been.
#[tokio::test]
async fn an_agent_that_is_no_file_is_a_problem_in_the_list_of_profiles() {
    let forge = TestForge::start().await;
    let (id, repo) = forge.project("repo").await;
    std::fs::create_dir_all(repo.join(".genie/agents")).unwrap();
    symlink("/dev/zero", repo.join(".genie/agents/zero.md")).unwrap();
    let profiles = forge.get(&format!("/api/forge/projects/{id}/profiles")).await.data();
    let problems = profiles["problems"].to_string();
    assert!(problems.contains(".genie/agents/zero.md leads out of"), "{problems}");
    let refused = forge.task(&id, "x").agent("CLAUDE_CODE:ZERO").ask().await;
    assert!(
        refused.status == 422 && refused.message().contains("zero.md leads out of"),
        "{}",
        refused.message()
    );
}
