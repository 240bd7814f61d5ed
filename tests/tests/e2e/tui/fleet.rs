//! The dashboard over a fleet: real workers in tmux, real beads, driven by keys.

use forge_tests::{Proxy, Treatment, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::dashboard::Dashboard;
use crate::beads::BARE;
use crate::workers::Stage;

/// Says what it is given and repeats what it is told.
const PARROT: &str = "echo $$ >pid; echo here with ${FORGE_ASSIGNED_BEAD:-nothing}
while read -r line; do echo heard $line; done
exec sleep 600";

/// A type of worker that forms know by name.
fn define(stage: &Stage, script: &str) {
    let dir = stage.forge.home().join("workers");
    std::fs::create_dir_all(&dir).unwrap();
    let script = stage.script(script);
    let kind = format!(
        "name: parrot\nlauncher: scripted\nmodel: none\ntier: budget\nenvironment:\n  FORGE_SCRIPT: {}\n",
        script.display()
    );
    std::fs::write(dir.join("parrot.yaml"), kind).unwrap();
}

async fn spawn(stage: &Stage, id: &str, workspace: &std::path::Path) -> Value {
    let order = json!({"definition": "parrot", "id": id, "workspace": workspace});
    stage.forge.post("/api/workers", &order).await.data()
}

#[tokio::test]
async fn a_worker_is_started_by_a_form_looked_at_typed_to_paused_stopped_and_started_again() {
    let stage = Stage::set(json!({})).await;
    let (_, repo) = stage.forge.project("shop").await;
    define(&stage, PARROT);
    let dashboard = Dashboard::open(&stage.forge, &[]);
    dashboard.until_shown("Nothing is running").await;
    dashboard.press(&["5"]);
    dashboard.until_shown("No worker").await;
    dashboard.press(&["n"]);
    // What was read meanwhile is offered.
    dashboard.until_shown("Ctrl-N: parrot").await;
    dashboard.press(&["C-n", "Enter"]);
    dashboard.write("w-1");
    dashboard.press(&["Enter", "Enter", "Enter", "Enter"]);
    dashboard.press(&["C-n", "Enter", "Enter"]);
    let asked = dashboard.until_shown("Sure?").await;
    assert!(asked.contains("Start worker w-1 as parrot"), "{asked}");
    assert_eq!(stage.forge.get("/api/workers").await.data(), json!([]), "nothing starts before the yes");
    dashboard.press(&["y"]);
    dashboard.until("it runs", |screen| row(screen, "w-1").contains("running  healthy")).await;
    let worker = stage.forge.get("/api/workers/w-1").await.data();
    assert_eq!(worker["workspace"], json!(repo));

    dashboard.press(&["p"]);
    dashboard.until_shown("here with nothing").await;
    dashboard.press(&["q", "i"]);
    dashboard.until_shown("type into w-1:").await;
    dashboard.write("good morning");
    dashboard.press(&["Enter"]);
    dashboard.until_shown("sent to w-1").await;
    // The screen that is looked at stays fresh.
    dashboard.press(&["p"]);
    dashboard.until_shown("heard good morning").await;
    stage.forge.post("/api/workers/w-1/send", &json!({"line": "again"})).await.data();
    dashboard.until_shown("heard again").await;
    dashboard.press(&["q", "z"]);
    dashboard.until("it is paused", |screen| row(screen, "w-1").contains("paused")).await;
    dashboard.press(&["z"]);
    dashboard.until("it goes on", |screen| row(screen, "w-1").contains("running")).await;

    // The terminal is lent to the session and comes back.
    dashboard.press(&["t"]);
    dashboard
        .until("the session", |screen| screen.contains("heard again") && !screen.contains("5 Workers"))
        .await;
    dashboard.press(&["C-b", "d"]);
    dashboard.until_shown("5 Workers").await;

    dashboard.press(&["s"]);
    dashboard.until_shown("Stop worker w-1?").await;
    assert_eq!(stage.sessions().len(), 1, "not before the yes");
    dashboard.press(&["y"]);
    // The row says what is wanted at once; the session ends a moment later.
    dashboard.until_shown("stopped w-1").await;
    assert!(row(&dashboard.screen(), "w-1").contains("stopped"));
    assert_eq!(stage.sessions(), Vec::<String>::new());
    dashboard.press(&["r"]);
    dashboard.until_shown("Restart worker w-1 as it was?").await;
    dashboard.press(&["y"]);
    dashboard.until("it runs again", |screen| row(screen, "w-1").contains("running")).await;
    dashboard.press(&["X"]);
    dashboard.until_shown("Kill worker w-1 at once?").await;
    dashboard.press(&["y"]);
    dashboard.until_shown("killed w-1").await;
    dashboard.press(&["d"]);
    dashboard.until_shown("Remove w-1 from the list?").await;
    dashboard.press(&["y"]);
    dashboard.until_shown("No worker").await;
}

/// The line of the list that begins with this id, after its mark.
fn row<'a>(screen: &'a str, id: &str) -> &'a str {
    let names = |line: &&str| line.split_whitespace().nth(1) == Some(id);
    screen.lines().find(names).unwrap_or_default()
}

#[tokio::test]
async fn a_foreign_session_is_left_alone_until_it_is_adopted() {
    let stage = Stage::set(json!({})).await;
    stage.tmux(&["new-session", "-d", "-s", "claude-code-sonnet-bravo", "sleep 600"]);
    let dashboard = Dashboard::open(&stage.forge, &[]);
    dashboard.press(&["5"]);
    dashboard.until_shown("unmanaged").await;
    dashboard.press(&["s"]);
    dashboard.until_shown("Forge does not manage it; press a to adopt it").await;
    assert_eq!(stage.forge.get("/api/workers").await.data()[0]["managed"], false);
    dashboard.press(&["a"]);
    dashboard.until_shown("Adopt the session claude-code-sonnet-bravo?").await;
    dashboard.press(&["y"]);
    let id = text(&stage.forge.get("/api/workers").await.data()[0]["id"]);
    dashboard.until("it is ours", |screen| row(screen, &id).contains("running")).await;
    dashboard.press(&["s"]);
    dashboard.until_shown("Stop worker").await;
    dashboard.press(&["y"]);
    dashboard.until_shown(&format!("stopped {id}")).await;
    assert_eq!(stage.sessions(), Vec::<String>::new());
}

#[tokio::test]
async fn beads_are_listed_by_section_written_taken_and_closed_and_one_goes_to_a_worker() {
    let stage = Stage::with(&[BARE], json!({})).await;
    let (project, repo) = stage.forge.project("shop").await;
    std::fs::create_dir(repo.join(".beads")).unwrap();
    define(&stage, PARROT);
    let bead = |title: &str, priority: i64, after: Vec<String>| json!({"project_id": project, "title": title, "priority": priority, "depends_on": after});
    let floor = stage.forge.post("/api/beads", &bead("Lay the floor", 1, vec![])).await.data();
    let floor = text(&floor["id"]);
    let house = stage.forge.post("/api/beads", &bead("Build the house", 2, vec![floor.clone()])).await.data();
    let house = text(&house["id"]);
    let dashboard = Dashboard::open(&stage.forge, &[]);
    dashboard.press(&["4"]);
    let listed = dashboard
        .until("both sections", |screen| {
            screen.contains("Ready (1)") && screen.contains("Blocked (1)") && screen.contains("needed by")
        })
        .await;
    assert!(
        row(&listed, &floor).contains("P1") && listed.contains(&format!("needed by  {house}")),
        "{listed}"
    );
    dashboard.press(&["-"]);
    dashboard.until("it is less urgent", |screen| row(screen, &floor).contains("P2")).await;
    dashboard.press(&["c"]);
    dashboard
        .until("it is taken", |screen| {
            screen.contains("In progress (1)") && row(screen, &floor).contains("person")
        })
        .await;
    dashboard.press(&["r"]);
    dashboard.until_shown("away from person?").await;
    dashboard.press(&["y"]);
    dashboard.until_shown("Ready (1)").await;
    dashboard.press(&["x"]);
    dashboard.until_shown(&format!("close {floor}, because:")).await;
    dashboard.write("It lies");
    dashboard.press(&["Enter"]);
    // What waited for it can be done now.
    dashboard
        .until("the house is ready", |screen| {
            screen.contains("Closed (1)") && row(screen, &house).contains("ready")
        })
        .await;
    let closed = stage.forge.get(&format!("/api/beads/{floor}?project_id={project}")).await.data();
    assert_eq!(closed["close_reason"], "It lies");
    dashboard.press(&["n"]);
    dashboard.until_shown("Create a bead").await;
    dashboard.write("Paint the door");
    dashboard.press(&["Enter", "Enter", "Enter", "Enter", "Enter"]);
    dashboard.until_shown("Ready (2)").await;

    // A worker that has nothing gets the house.
    spawn(&stage, "w-1", &repo).await;
    dashboard.press(&["5"]);
    dashboard.until("it runs", |screen| row(screen, "w-1").contains("running")).await;
    dashboard.press(&["b"]);
    dashboard.until_shown("Give the worker another bead").await;
    dashboard.press(&["Enter"]);
    let asked = dashboard.until_shown("End w-1 and start it again with").await;
    dashboard.press(&["y"]);
    let worker = stage
        .until("w-1", "it has the bead", |worker| {
            !worker["config"]["bead_id"].is_null() && worker["phase"] == "running"
        })
        .await;
    let given = text(&worker["config"]["bead_id"]);
    assert!(asked.contains(&given), "{given} of {asked}");
    dashboard.until_shown(&format!("w-1 has {given} now")).await;
    dashboard.press(&["p"]);
    dashboard.until_shown(&format!("here with {given}")).await;
}

#[tokio::test]
async fn a_crash_is_told_and_seen_and_a_killed_server_comes_back_with_its_workers() {
    let mut stage = Stage::set(json!({})).await;
    define(&stage, PARROT);
    let dir = stage.forge.dir().canonicalize().unwrap();
    spawn(&stage, "lives", &dir).await;
    stage.pid("pid").await;
    std::fs::remove_file(dir.join("pid")).unwrap();
    spawn(&stage, "dies", &dir).await;
    let proxy = Proxy::start(stage.forge.base(), Treatment::Passes, Treatment::Passes).await;
    let dashboard = Dashboard::open(&stage.forge, &[("FORGE_BACKEND_URL", proxy.base())]);
    dashboard.press(&["5"]);
    dashboard
        .until("both run", |screen| ["lives", "dies"].iter().all(|id| row(screen, id).contains("running")))
        .await;
    signal(stage.pid("pid").await, Signal::KILL);
    dashboard
        .until("the death", |screen| row(screen, "dies").contains("failed") && screen.contains("Alerts(1)"))
        .await;
    dashboard.press(&["8"]);
    dashboard.until_shown("worker crashed").await;
    dashboard.press(&["x"]);
    dashboard.until("it is seen", |screen| screen.contains("seen") && !screen.contains("Alerts(1)")).await;

    stage.forge.crash();
    dashboard.until_shown("disconnected for").await;
    dashboard.press(&["5"]);
    dashboard.until("what was known", |screen| row(screen, "lives").contains("running")).await;
    stage.forge.up().await;
    proxy.aim(stage.forge.base());
    dashboard.until_shown("the server is back").await;
    dashboard.press(&["g", "/"]);
    dashboard.write("lives");
    dashboard.press(&["Enter", "z"]);
    dashboard.until("it is paused", |screen| row(screen, "lives").contains("paused")).await;
}
