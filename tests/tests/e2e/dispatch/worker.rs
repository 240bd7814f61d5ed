//! Beads that are given to workers in tmux: each is done once, whoever dies meanwhile, and nothing is left behind.

use std::time::Duration;

use forge_tests::{eventually, git, read, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::Field;

#[tokio::test]
async fn a_bead_is_done_by_a_worker_in_a_worktree_of_its_own() {
    let script =
        "echo I work on $FORGE_ASSIGNED_BEAD\ncp \"$FORGE_PROMPT_FILE\" prompt.txt\npwd >\"$FIELD/place\"";
    let field = Field::plough(json!({}), script).await;
    let id = field.bead("Paint the fence", &[]).await;
    field.switch(json!({"enabled": true})).await;
    let bead = field.closed(&id).await;
    let attempt = &field.attempts(&bead).await[0];
    assert_eq!(attempt["status"], "completed");
    let place = text(&attempt["container_ref"]);
    assert_eq!(
        read(&field.stage.forge.dir().join("place")).trim(),
        place,
        "it worked in the attempt's worktree"
    );
    let prompt = git(&field.repo, &["show", &format!("{}:prompt.txt", text(&attempt["branch"]))]);
    assert!(prompt.starts_with("Paint the fence") && prompt.contains(&id), "its work is committed: {prompt}");
    let runs = field.stage.forge.runs(&text(&attempt["id"])).await;
    assert_eq!((runs.len(), &runs[0]["status"], &runs[0]["exit_code"]), (1, &json!("completed"), &json!(0)));
    let log = field.stage.forge.raw_log(&text(&runs[0]["id"])).await;
    assert!(log.contains(&format!("I work on {id}")), "what it said is kept: {log}");
    let path = format!("/api/routing/explain?bead={id}&project_id={}", field.project);
    let routing = field.stage.forge.get(&path).await.data();
    assert_eq!((&routing[0]["worker"], &routing[0]["outcome"]), (&json!("repo-1"), &json!("closed")));
    let task =
        field.stage.forge.get(&format!("/api/tasks/{}", text(&bead["standing"]["task_id"]))).await.data();
    assert_eq!(task["status"], "inreview");
    field.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_worker_that_ends_with_1_waits_for_what_it_found_or_for_a_person() {
    // The first time it writes down what must come first.
    let script = r#"
        case $(head -n 1 "$FORGE_PROMPT_FILE") in
        Roof*)
            [ -e "$FIELD/wall" ] || exit 1 ;;
        Wall*) echo done >"$FIELD/wall" ;;
        *) echo which colour?; exit 1 ;;
        esac"#;
    let field = Field::plough(json!({"max_workers": 1}), script).await;
    let roof = field.bead("Roof", &[]).await;
    // As the agent would do before it ends: the wall comes first.
    let wall = field.bead("Wall", &[&roof]).await;
    let paint = field.bead("Paint", &[]).await;
    let bead = {
        field.switch(json!({"enabled": true})).await;
        field.parked(&paint).await
    };
    assert!(text(&bead["standing"]["parked"]).contains("exit code 1"), "{bead:#}");
    assert_eq!((&bead["status"], &bead["standing"]["failures"]), (&json!("open"), &json!(1)));
    let roof_bead = field.parked(&roof).await;
    assert!(field.beads().await.iter().any(|bead| bead["id"] == *wall && bead["status"] == "open"));
    assert_eq!(field.attempts(&roof_bead).await[0]["status"], "failed");
    field.until_nothing_is_left().await;
}

#[tokio::test]
async fn what_a_worker_finds_to_come_first_is_done_first() {
    let script = r#"
        case $(head -n 1 "$FORGE_PROMPT_FILE") in
        Roof*)
            [ ! -e "$FIELD/wall" ] || { echo done >"$PLACE/roof.txt"; exit 0; }
            "$FORGE" beads create Wall --json >"$FIELD/made" && wall=$(sed -n 's/.*"id": "\([^"]*\)".*/\1/p' "$FIELD/made" | head -n 1)
            "$FORGE" beads dep "$FORGE_ASSIGNED_BEAD" "$wall"
            exit 1 ;;
        *) echo done >"$FIELD/wall"; echo done >"$PLACE/wall.txt" ;;
        esac"#;
    let field = Field::plough(json!({}), "").await;
    let forge = field.stage.forge.command().get_program().to_owned();
    let home = field.stage.forge.home();
    let script = format!(
        "export FORGE='{}' FORGE_HOME='{}' PLACE=$PWD\ncd '{}'\n{script}",
        forge.to_string_lossy(),
        home.display(),
        field.repo.display()
    );
    field.teach(&script);
    let roof = field.bead("Roof", &[]).await;
    field.switch(json!({"enabled": true})).await;
    let roof = field.closed(&roof).await;
    assert_eq!(roof["standing"]["failures"], 0, "to be blocked is no failure");
    let beads = field.beads().await;
    let wall = beads.iter().find(|bead| bead["title"] == "Wall").expect("the wall");
    assert!(text(&wall["closed_at"]) <= text(&roof["closed_at"]));
    field.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_worker_that_is_stopped_or_dies_gives_its_bead_back() {
    let field = Field::plough(json!({"max_failures": 2}), "echo $$ >\"$FIELD/pid\"; exec sleep 600").await;
    let id = field.bead("Dig", &[]).await;
    field.switch(json!({"enabled": true})).await;
    let mut last = 0;
    for _ in 0..2 {
        let written = || read(&field.stage.forge.dir().join("pid")).trim().parse().ok();
        last = eventually("another worker has begun", || written().filter(|pid| *pid != last)).await;
        signal(last, Signal::KILL);
    }
    let bead = field.parked(&id).await;
    assert_eq!(bead["standing"]["failures"], 2);
    assert_eq!(bead["comments"].as_array().unwrap().len(), 2, "each end left a word: {bead:#}");
    field.until_nothing_is_left().await;

    let path = format!("/api/beads/{id}/release");
    field.stage.forge.post(&path, &json!({"project_id": field.project})).await.data();
    field.stage.until("repo-1", "it works again", |worker| worker["phase"] == "running").await;
    let attempts = field.attempts(&bead).await;
    assert_eq!(attempts.iter().filter(|one| one["status"] == "running").count(), 1, "{attempts:#?}");
    let held = field.stage.forge.post(&path, &json!({"project_id": field.project})).await;
    assert!(held.message().contains("worker repo-1 works on it"), "{}", held.message());
    // The attempt that it works in can be stopped like any other.
    let running = attempts.iter().find(|one| one["status"] == "running").unwrap();
    field
        .stage
        .forge
        .post(&format!("/api/task-attempts/{}/stop", text(&running["id"])), &json!({}))
        .await
        .data();
    let bead = field.parked(&id).await;
    assert!(text(&bead["standing"]["parked"]).contains("stopped by a person"), "{bead:#}");
    field.until_nothing_is_left().await;
}

#[tokio::test]
async fn a_worker_that_a_person_gave_a_bead_closes_it_or_gives_it_back() {
    let field = Field::plough(json!({}), "echo done >made.txt").await;
    let (first, second) = (field.bead("First", &[]).await, field.bead("Second", &[]).await);
    let order =
        |id: &str, bead: &str| json!({"definition": "hand", "id": id, "workspace": field.repo, "bead": bead});
    field.stage.forge.post("/api/workers", &order("alpha", &first)).await.data();
    let bead = field.closed(&first).await;
    assert!(text(&bead["close_reason"]).contains("alpha"), "{bead:#}");
    let again = field.stage.forge.post("/api/workers", &order("bravo", &first)).await;
    assert!(again.message().contains("closed"), "{}", again.message());

    field.teach("exec sleep 600");
    field.stage.forge.post("/api/workers", &order("alpha", &second)).await.data();
    let taken = field.until(&second, "it is taken", |bead| bead["status"] == "in_progress").await;
    assert!(text(&taken["assignee"]).contains("/alpha/"), "{taken:#}");
    let refused = field.stage.forge.post("/api/workers", &order("charlie", &second)).await;
    assert!(refused.message().contains("alpha has it"), "{}", refused.message());
    field.stage.act("alpha", "stop").await;
    let free = field.until(&second, "it is given back", |bead| bead["standing"]["lease"].is_null()).await;
    assert_eq!((&free["status"], &free["standing"]["failures"]), (&json!("open"), &json!(0)));
    field.until_nothing_is_left().await;
}

/// The same in every run of the test.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

#[tokio::test]
async fn thirty_beads_are_done_once_each_whoever_dies_meanwhile() {
    let script = r#"
        echo $$ >"$FIELD/agent-$FORGE_WORKER_ID"
        printf '{"type":"assistant","session_id":"s%s","message":{"id":"m%s","model":"claude-haiku-4-5","usage":%s}}\n' \
            $$ $$ '{"input_tokens":7,"output_tokens":3}'
        sleep 0.2
        echo "$FORGE_ASSIGNED_BEAD" >"$FORGE_ASSIGNED_BEAD.txt"
        sleep 0.1"#;
    let mut field = Field::plough(json!({"max_workers": 10}), script).await;
    let mut made: Vec<String> = Vec::new();
    for number in 0..30_usize {
        // Ten to begin with; each of the others waits for two that were there before it.
        let before: Vec<&str> = match number {
            0..10 => Vec::new(),
            _ => vec![&made[number - 10], &made[number - 7]].into_iter().map(String::as_str).collect(),
        };
        let id = field.bead(&format!("Bead {number}"), &before).await;
        made.push(id);
    }
    field.switch(json!({"enabled": true})).await;
    let mut chance = Chance(0x2545_F491_4F6C_DD1D);
    for _ in 0..24 {
        tokio::time::sleep(Duration::from_millis(50 + chance.below(250))).await;
        match chance.below(8) {
            0 => {
                field.stage.forge.crash();
                field.stage.forge.up().await;
            }
            1 => {
                if let Ok(pid) = field.stage.tmux(&["display-message", "-p", "#{pid}"]).parse() {
                    signal(pid, Signal::KILL);
                }
            }
            2 | 3 => {
                // The shell in a pane.
                let panes = field.stage.tmux(&["list-panes", "-a", "-F", "#{pane_pid}"]);
                let panes: Vec<u32> = panes.lines().filter_map(|pid| pid.parse().ok()).collect();
                if !panes.is_empty() {
                    signal(panes[chance.below(panes.len() as u64) as usize], Signal::KILL);
                }
            }
            _ => {
                // An agent, if it is still there under its number.
                let name = format!("repo-{}", 1 + chance.below(10));
                let pid =
                    read(&field.stage.forge.dir().join(format!("agent-{name}"))).trim().parse().unwrap_or(0);
                let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
                if String::from_utf8_lossy(&environ).contains(&format!("FORGE_WORKER_ID={name}\0")) {
                    signal(pid, Signal::KILL);
                }
            }
        }
    }
    // Whatever was given up too often is let be tried again, now that nobody dies.
    loop {
        let beads = field.settled().await;
        assert_eq!(beads.len(), 30);
        let parked: Vec<&Value> =
            beads.iter().filter(|bead| bead["standing"]["parked"].is_string()).collect();
        if parked.is_empty() {
            break;
        }
        for bead in parked {
            assert!(!text(&bead["standing"]["parked"]).is_empty(), "it has a reason: {bead:#}");
            let path = format!("/api/beads/{}/release", text(&bead["id"]));
            field.stage.forge.post(&path, &json!({"project_id": field.project})).await.data();
        }
    }
    let routings = field.stage.forge.get("/api/routing?limit=1000").await.data();
    for bead in field.beads().await {
        assert_eq!(bead["status"], "closed", "{bead:#}");
        let of_bead = routings.as_array().unwrap().iter().filter(|one| one["work"] == bead["id"]);
        let closed = of_bead.filter(|one| one["outcome"] == "closed").count();
        assert_eq!(closed, 1, "{} is closed once", bead["id"]);
        let attempts = field.attempts(&bead).await;
        let done: Vec<&Value> = attempts.iter().filter(|one| one["status"] == "completed").collect();
        assert_eq!(done.len(), 1, "{}: {attempts:#?}", bead["id"]);
        let (id, branch) = (text(&bead["id"]), text(&done[0]["branch"]));
        let files = git(&field.repo, &["ls-tree", "--name-only", &branch]);
        let log = field.stage.forge.log();
        assert!(
            files.lines().any(|file| file == format!("{id}.txt")),
            "{id} is not on {branch}: {files}\n{log}"
        );
    }
    field.until_nothing_is_left().await;
    // Every life that came to say so has used 7 tokens in and 3 out, and no other has.
    let mut lives = std::collections::BTreeSet::new();
    for log in std::fs::read_dir(field.stage.forge.home().join("logs")).unwrap().flatten() {
        let log = std::fs::read_to_string(log.path()).unwrap();
        lives.extend(
            log.split("\"id\":\"").skip(1).filter_map(|rest| Some(rest.split_once('"')?.0.to_owned())),
        );
    }
    assert!(lives.len() >= 30, "{lives:?}");
    let expected = json!([7 * lives.len(), 3 * lives.len()]);
    let used = |report: &Value| json!([report["total"]["input_tokens"], report["total"]["output_tokens"]]);
    let by_bead = "/api/usage?group_by=bead";
    let report = field.stage.forge.until(by_bead, "the use is told", |report| used(report) == expected).await;
    assert_eq!(report["groups"].as_array().unwrap().len(), 30, "each bead has cost something: {report:#}");
}

#[tokio::test]
async fn beads_that_are_kept_in_git_do_not_stand_in_the_way_of_a_merge() {
    let field = Field::plough(json!({}), "echo new >\"$FORGE_ASSIGNED_BEAD.txt\"").await;
    let (first, second) = (field.bead("First", &[]).await, field.bead("Second", &[]).await);
    git(&field.repo, &["add", ".beads"]);
    git(&field.repo, &["commit", "-qm", "Write the beads down"]);
    // Taking a bead changes the file that git knows.
    field.switch(json!({"enabled": true, "landing": "merge"})).await;
    for bead in [&first, &second] {
        field.closed(bead).await;
        let merged = git(&field.repo, &["show", &format!("HEAD:{bead}.txt")]);
        assert_eq!(merged.trim(), "new", "its work is merged");
    }
    let closed = std::fs::read_to_string(field.repo.join(".beads/issues.jsonl")).unwrap();
    assert_eq!(
        closed.matches("\"status\":\"closed\"").count(),
        2,
        "and what the tracker says is not lost: {closed}"
    );
    field.until_nothing_is_left().await;
}

#[tokio::test]
async fn tasks_that_wait_on_the_board_are_given_out_where_that_is_wanted() {
    let script = r#"case $(head -n 1 "$FORGE_PROMPT_FILE") in Bad*) exit 3 ;; esac; echo x >"done.txt""#;
    let field = Field::plough(json!({"max_failures": 2}), script).await;
    std::fs::remove_dir(field.repo.join(".beads")).unwrap();
    let create = async |title: &str| {
        let body = json!({"project_id": field.project, "title": title});
        text(&field.stage.forge.post("/api/tasks", &body).await.data()["id"])
    };
    let (good, bad) = (create("Good").await, create("Bad").await);
    let path = format!("/api/projects/{}/dispatch", field.project);
    let refused = field.stage.forge.put(&path, &json!({"enabled": true})).await;
    assert!(refused.message().contains(".beads"), "without beads only tasks are left");
    field.switch(json!({"enabled": true, "tasks": true})).await;
    let reviewed = |task: &Value| task["status"] == "inreview";
    field.stage.forge.until(&format!("/api/tasks/{good}"), "it is done", reviewed).await;
    let routed = "/api/routing?limit=100";
    let outcomes = |all: &Value, work: &str| {
        let of_work = all.as_array().unwrap().iter().filter(|one| one["work"] == *work);
        of_work.map(|one| text(&one["outcome"])).collect::<Vec<_>>()
    };
    let all = field
        .stage
        .forge
        .until(routed, "the bad one is given up", |all| outcomes(all, &bad) == ["parked", "released"])
        .await;
    assert_eq!(outcomes(&all, &good), ["closed"]);
    let task = field.stage.forge.get(&format!("/api/tasks/{bad}")).await.data();
    assert_eq!(task["status"], "inreview", "it waits for a person");
    // Who puts it back wants it to be tried again.
    field.teach("echo better >done.txt");
    field.stage.forge.put(&format!("/api/tasks/{bad}"), &json!({"status": "todo"})).await.data();
    field
        .stage
        .forge
        .until(routed, "it is done", |all| outcomes(all, &bad) == ["closed", "parked", "released"])
        .await;
    field.until_nothing_is_left().await;
}
