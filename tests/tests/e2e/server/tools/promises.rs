//! What a list of tools says about them holds for every one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use forge_tests::{TestForge, git, text};
use serde_json::{Map, Value, json};

/// A Forge in which everything that a tool can be asked about is there once.
struct World {
    forge: TestForge,
    repo: std::path::PathBuf,
    /// By the name of the parameter.
    known: BTreeMap<&'static str, Value>,
}

impl World {
    async fn make() -> Self {
        let socket = format!("forge-test-{}", uuid::Uuid::new_v4().simple());
        let settings = json!({"fleet": {"socket": socket}});
        let forge = TestForge::with_settings(&[], &[], &settings).await;
        let (project, repo) = forge.project("repo").await;
        // One that cannot be started is there all the same.
        let worker = json!({"id": "w", "launcher": "scripted", "workspace": repo});
        assert!(forge.post("/api/workers", &worker).await.message().contains("FORGE_SCRIPT"));
        std::fs::create_dir(repo.join(".beads")).unwrap();
        let task = forge.start_scripted(&project, "Work", "write a.txt one\nsay done").await;
        let attempt = task.attempt();
        let runs = forge.settled(&attempt).await;
        let errand = json!({"project_id": project, "prompt": "say done", "executor": "SCRIPTED"});
        let errand = text(&forge.tool("start_execution_run", errand).await["execution_run_id"]);
        let path = format!("/api/execution-runs/{errand}/processes");
        let ended = |runs: &Value| {
            runs.as_array().is_some_and(|runs| runs.iter().all(|run| run["status"] != "running"))
        };
        forge.until(&path, "the errand has ended", ended).await;
        let known = BTreeMap::from([
            ("project_id", json!(project)),
            ("task_id", task["id"].clone()),
            ("attempt_id", json!(attempt)),
            ("process_id", runs[0]["id"].clone()),
            ("execution_run_id", json!(errand)),
            ("status", json!("In_Review")),
            ("bead_status", json!("open")),
            ("ready", json!(true)),
            ("limit", json!(5)),
            ("worker_id", json!("w")),
            ("wait_s", json!(1)),
            ("max_bytes", json!(1000)),
            ("group_by", json!("project,day")),
            ("from", json!("2020-01-01")),
            ("to", json!("2100-01-01")),
        ]);
        Self { forge, repo, known }
    }

    /// Arguments for a tool: those it needs, and on demand all that it takes.
    fn arguments(&self, tool: &Value, all: bool) -> Value {
        let schema = &tool["inputSchema"];
        let required: BTreeSet<String> =
            schema["required"].as_array().into_iter().flatten().map(text).collect();
        let names = schema["properties"].as_object().expect("parameters").keys();
        let wanted = names.filter(|name| all || required.contains(*name));
        let filled = wanted.map(|name| {
            // Beads have statuses of their own.
            let known = if tool["name"] == "list_beads" && name == "status" { "bead_status" } else { name };
            let value = self.known.get(known);
            (name.clone(), value.unwrap_or_else(|| panic!("{}: what is {name}?", tool["name"])).clone())
        });
        Value::Object(filled.collect::<Map<_, _>>())
    }

    /// All that a reader could have changed: every row, every ref, every file of the worktree.
    fn state(&self, place: &Path) -> Vec<Vec<u8>> {
        // Whatever is written goes through one of these files; a reader leaves both as they are.
        let rows =
            ["db.sqlite", "db.sqlite-wal"].map(|name| std::fs::read(self.forge.home().join(name)).unwrap());
        let refs = git(&self.repo, &["for-each-ref"]);
        let files =
            if place.exists() { git(place, &["status", "--porcelain", "--ignored"]) } else { String::new() };
        [rows.to_vec(), vec![refs.into_bytes(), files.into_bytes()]].concat()
    }
}

fn hints(tool: &Value, hint: &str) -> bool {
    tool["annotations"][hint].as_bool().unwrap_or_else(|| panic!("{} has no {hint}", tool["name"]))
}

#[tokio::test]
async fn a_tool_that_only_reads_changes_nothing_and_tells_where_people_see_it() {
    let world = World::make().await;
    let attempt =
        world.forge.get(&format!("/api/task-attempts/{}", text(&world.known["attempt_id"]))).await.data();
    let place = std::path::PathBuf::from(text(&attempt["worktree_path"]));
    let board = text(&world.forge.tool("list_projects", json!({})).await["url"]);
    let readers: Vec<Value> =
        world.forge.tools().await.into_iter().filter(|tool| hints(tool, "readOnlyHint")).collect();
    assert!(readers.len() > 20, "{} tools read", readers.len());
    let before = world.state(&place);
    for tool in &readers {
        let name = text(&tool["name"]);
        for all in [false, true] {
            let told = world.forge.tool(&name, world.arguments(tool, all)).await;
            assert!(
                told.to_string().contains(&format!("\"url\":\"{board}")),
                "{name} tells no url: {told:#}"
            );
            assert!(world.state(&place) == before, "{name} has changed something");
        }
    }

    // A worktree that was put away stays where it is, too.
    let retire = format!("/api/worktrees/{}/retire", text(&world.known["attempt_id"]));
    world.forge.post(&retire, &json!({})).await.data();
    let before = world.state(&place);
    for tool in &readers {
        let result = world.forge.ask_tool(&text(&tool["name"]), &world.arguments(tool, true)).await;
        assert!(
            world.state(&place) == before && !place.exists(),
            "{} has changed something: {result:#}",
            tool["name"]
        );
    }
}

/// What a tool does begins its name, so that neither a model nor its user has to guess.
#[tokio::test]
async fn names_and_annotations_agree() {
    let forge = TestForge::start().await;
    let starts = |name: &str, words: &[&str]| words.iter().any(|word| name.starts_with(word));
    for tool in forge.tools().await {
        let name = text(&tool["name"]);
        let reads = starts(&name, &["list_", "get_", "wait_"]);
        assert_eq!(hints(&tool, "readOnlyHint"), reads, "{name}");
        let ends = ["delete_", "update_", "stop_", "abort_", "rebase_", "change_", "save_", "close_"];
        assert_eq!(hints(&tool, "destructiveHint"), starts(&name, &ends), "{name}");
        let out = [
            "start_",
            "create_task_",
            "create_and_",
            "follow_",
            "resolve_",
            "set_",
            "push_",
            "attach_",
            "spawn_",
            "send_",
        ];
        let reaches_out = starts(&name, &out) || name == "create_pr";
        assert_eq!(hints(&tool, "openWorldHint"), reaches_out, "{name}");
    }
}

/// The beginning of a tool's row: its name, what it does to the world, and what it takes.
fn row(tool: &Value) -> String {
    let effect = match (hints(tool, "readOnlyHint"), hints(tool, "destructiveHint")) {
        (true, _) => "reads",
        (_, true) => "changes or ends",
        _ => "adds",
    };
    let required: Vec<String> =
        tool["inputSchema"]["required"].as_array().into_iter().flatten().map(text).collect();
    let names = tool["inputSchema"]["properties"].as_object().expect("parameters").keys();
    let (needed, free): (Vec<&String>, Vec<&String>) = names.partition(|name| required.contains(name));
    let all = needed.into_iter().cloned().chain(free.into_iter().map(|name| format!("{name}?")));
    format!("| `{}` | {effect} | {} |", text(&tool["name"]), all.collect::<Vec<_>>().join(", "))
}

#[tokio::test]
async fn the_page_about_tools_lists_those_that_are_served() {
    let forge = TestForge::start().await;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/mcp.md");
    let page = std::fs::read_to_string(page).unwrap();
    // Without the last column, which is for people alone.
    let cut = |line: &str| line.match_indices(" | ").nth(2).map(|(at, _)| format!("{} |", &line[..at]));
    let listed: BTreeSet<String> =
        page.lines().filter(|line| line.starts_with("| `")).filter_map(cut).collect();
    let served: BTreeSet<String> = forge.tools().await.iter().map(row).collect();
    assert_eq!(listed, served);
}
