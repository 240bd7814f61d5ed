//! Workers live in tmux sessions: they are started, watched, started again and ended, and nothing else is touched.

use forge_tests::{await_file, err, is_alive, output, signal, text};
use rustix::process::Signal;
use serde_json::{Value, json};

use super::{Stage, waiting, words};

#[tokio::test]
async fn three_workers_run_and_all_of_them_is_gone_when_they_are_stopped() {
    let stage = Stage::set(json!({})).await;
    let mut pids = Vec::new();
    for id in ["a", "b", "c"] {
        let worker = stage.spawn(id, &waiting(id)).await;
        assert_eq!(words(&worker), ("running", "healthy"), "{worker:#}");
        assert_eq!(worker["config"]["env"]["SECRET"], "********");
        pids.push(worker["process"]["pid"].as_u64().unwrap() as u32);
        pids.push(stage.pid(id).await);
    }
    assert!(pids.iter().all(|pid| is_alive(*pid)));
    stage.until("a", "its status file is read", |a| a["status"]["status"] == "idle").await;
    let twice = stage.forge.post("/api/workers", &stage.order("a", "true")).await;
    assert!(twice.status == 409 && twice.message().contains("'a' is there already"), "{}", twice.text);

    stage.tmux(&["new-session", "-d", "-s", "forge-worker-mine", "sleep 600"]);
    let (out, err, code) = stage.run(&["worker", "list"]).await;
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("unmanaged") && out.lines().count() == 5, "{out}");
    let (out, err, code) = stage.run(&["worker", "stop", "--all", "--yes", "--json"]).await;
    assert_eq!(code, 0, "{err}");
    let stopped: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        stopped.as_array().unwrap().iter().map(words).collect::<Vec<_>>(),
        [("stopped", "healthy"); 3]
    );
    assert!(pids.iter().all(|pid| !is_alive(*pid)));
    assert_eq!(stage.sessions(), ["forge-worker-mine"], "what is not Forge's stays");
    assert_eq!(stage.alerts().await, [], "a stop is no crash");
}

#[tokio::test]
async fn a_killed_agent_is_told_by_an_alert_and_stays_down_until_a_person_decides() {
    let stage = Stage::set(json!({})).await;
    stage.spawn("a", &waiting("pid")).await;
    signal(stage.pid("pid").await, Signal::KILL);
    let dead = stage.until("a", "the death is seen", |a| a["phase"] == "failed").await;
    assert_eq!(words(&dead), ("failed", "critical"));
    assert_eq!(dead["note"], "its agent ended with exit code 137");
    assert_eq!(stage.alerts().await, [("worker_crashed".to_owned(), "a".to_owned())]);
    let health = stage.forge.get("/api/health/workers").await.data();
    assert_eq!((&health["critical"], &health["workers"][0]["id"]), (&json!(1), &json!("a")));

    let (out, err, code) = stage.run(&["alerts", "ack", "--all"]).await;
    assert!(code == 0 && out.contains("a died: its agent ended"), "{out}{err}");
    std::fs::remove_file(stage.forge.dir().join("pid")).unwrap();
    assert_eq!(words(&stage.act("a", "restart").await).0, "running");
    assert!(is_alive(stage.pid("pid").await));
    stage.until("a", "it is well again", |a| a["health"]["level"] == "healthy").await;
    assert_eq!(stage.alerts().await, [("worker_recovered".to_owned(), "a".to_owned())]);
}

#[tokio::test]
async fn a_worker_that_dies_is_started_again_so_often_and_then_given_up() {
    let stage = Stage::recovering(2).await;
    stage.spawn("a", &waiting("pid")).await;
    signal(stage.pid("pid").await, Signal::KILL);
    let back = stage
        .until("a", "it is started again", |a| a["restarts"][0].is_string() && a["phase"] == "running")
        .await;
    assert!(back["process"]["pid"].is_u64() && back["has_session"] == true, "{back:#}");

    let gate = stage.forge.dir().join("gate");
    stage.spawn("b", &format!("{}; exit 3", await_file(&gate))).await;
    std::fs::write(&gate, "").unwrap();
    let lost = stage.until("b", "it is given up", |b| b["phase"] == "failed").await;
    assert_eq!(
        (lost["restarts"].as_array().unwrap().len(), words(&lost)),
        (2, ("failed", "failed")),
        "{lost:#}"
    );
    assert!(stage.alerts().await.contains(&("recovery_exhausted".to_owned(), "b".to_owned())));
}

#[tokio::test]
async fn an_agent_that_ends_with_its_work_done_has_finished() {
    let stage = Stage::recovering(2).await;
    let gate = stage.forge.dir().join("gate");
    stage.spawn("a", &await_file(&gate)).await;
    std::fs::write(&gate, "").unwrap();
    let done = stage.until("a", "it has finished", |a| a["phase"] == "finished").await;
    assert_eq!((&done["restarts"], &done["status"]["exit_code"]), (&json!([]), &json!(0)));
    assert_eq!(stage.alerts().await, []);
}

#[tokio::test]
async fn a_server_that_was_killed_knows_its_workers_and_what_died_meanwhile() {
    let mut stage = Stage::set(json!({})).await;
    stage.spawn("lives", &waiting("lives")).await;
    stage.spawn("dies", &waiting("dies")).await;
    let lives = stage.pid("lives").await;
    stage.forge.crash();
    signal(stage.pid("dies").await, Signal::KILL);
    stage.forge.up().await;
    let dead = stage.until("dies", "the death is seen", |a| a["phase"] == "failed").await;
    assert_eq!(dead["note"], "its agent ended with exit code 137");
    let known = stage.until("lives", "it is known", |a| a["has_session"] == true).await;
    assert_eq!((words(&known), is_alive(lives)), (("running", "healthy"), true));
    signal(lives, Signal::KILL);
    stage.until("lives", "it is watched", |a| a["phase"] == "failed").await;
}

#[tokio::test]
async fn a_session_of_somebody_else_is_shown_and_left_alone_until_it_is_adopted() {
    let stage = Stage::set(json!({})).await;
    stage.tmux(&["new-session", "-d", "-s", "claude-code-opus-alpha", "sleep 600"]);
    let id = "claude-code-opus-alpha";
    let seen = stage.forge.get(&format!("/api/workers/{id}")).await.data();
    assert_eq!(
        (&seen["managed"], &seen["model"], &seen["tier"]),
        (&json!(false), &json!("opus"), &json!("premium"))
    );
    for verb in ["stop", "kill", "restart", "pause"] {
        let refused = stage.forge.post(&format!("/api/workers/{id}/{verb}"), &json!({})).await;
        assert!(
            refused.status == 409 && refused.message().contains("adopt it first"),
            "{verb}: {}",
            refused.text
        );
    }
    let refused = stage.forge.post(&format!("/api/workers/{id}/send"), &json!({"line": "x"})).await;
    assert!(refused.message().contains("adopt it first"), "{}", refused.text);
    assert_eq!(stage.sessions(), [id]);

    let adopted = stage.act(id, "adopt").await;
    assert_eq!((&adopted["phase"], &adopted["tier"]), (&json!("running"), &json!("premium")));
    let refused = stage.forge.post(&format!("/api/workers/{id}/restart"), &json!({})).await;
    assert!(refused.status == 409 && refused.message().contains("cannot start it again"), "{}", refused.text);
    assert_eq!(stage.act(id, "kill").await["phase"], "stopped");
    assert_eq!(stage.sessions(), Vec::<String>::new());
}

#[tokio::test]
async fn the_users_own_tmux_is_looked_at_and_left_alone_until_a_session_is_adopted() {
    let stage = Stage::set(json!({})).await;
    stage.spawn("mine", &waiting("pid")).await;
    let begin = |name: &str| stage.tmux_on("default", &["new-session", "-d", "-s", name, "sleep 600"]);
    begin("claude-code-haiku-alpha");
    begin("notes");
    let (id, sessions) = ("claude-code-haiku-alpha", || {
        stage.tmux_on("default", &["list-sessions", "-F", "#{session_name} #{@forge_worker_id}"])
    });
    let seen = stage.forge.get("/api/workers").await.data();
    let ids: Vec<String> = seen.as_array().unwrap().iter().map(|worker| text(&worker["id"])).collect();
    assert_eq!(ids, ["mine", id]);
    let found = &seen[1];
    assert_eq!(
        (&found["managed"], &found["model"], &found["tier"], &found["has_session"]),
        (&json!(false), &json!("haiku"), &json!("budget"), &json!(true))
    );
    let (_, err, code) = stage.run(&["worker", "stop", id]).await;
    assert!(code == 5 && err.contains("adopt it first with `forge worker adopt"), "{code} {err}");
    let refused = stage.forge.post(&format!("/api/workers/{id}/send"), &json!({"line": "x"})).await;
    assert!(refused.message().contains("adopt it first"), "{}", refused.text);
    assert_eq!(sessions(), format!("{id} \nnotes"), "nothing there was touched");
    let (out, ..) = stage.run(&["worker", "attach", id, "--print"]).await;
    assert!(out.contains("/default attach-session"), "{out}");

    stage.act(id, "adopt").await;
    let ours = stage.forge.get(&format!("/api/workers/{id}")).await.data();
    assert_eq!((&ours["managed"], &ours["has_session"]), (&json!(true), &json!(true)), "{ours:#}");
    stage.forge.post(&format!("/api/workers/{id}/interrupt"), &json!({})).await.data();
    let gone = stage.until(id, "its end is seen", |worker| worker["phase"] == "failed").await;
    assert_eq!(words(&gone), ("failed", "critical"));
    assert_eq!(sessions(), "notes");
}

#[tokio::test]
async fn what_a_launcher_says_is_kept_and_shown() {
    let stage = Stage::set(json!({})).await;
    let launcher = stage.script(
        "#!/bin/sh\ntmux new-session -d -s \"$1\" sleep 600\n\
         echo '{\"pid\": , \"session\": \"'\"$1\"'\", \"model\": \"sonnet\", \"message\": \"Started successfully\", \
         \"bead_id\": \"fg-123\", \"bead_title\": \"Implement feature X\"}'\n",
    );
    std::fs::set_permissions(&launcher, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let order = json!({"id": "a", "launcher": launcher, "workspace": stage.forge.dir()});
    stage.forge.post("/api/workers", &order).await.data();
    let (out, err, _) = stage.run(&["worker", "status", "a", "--json"]).await;
    let worker: Value = serde_json::from_str(&out).expect(&err);
    assert_eq!(worker["model"], "sonnet");
    let answer = json!({"model": "sonnet", "message": "Started successfully", "bead_id": "fg-123",
        "bead_title": "Implement feature X"});
    assert_eq!(worker["answer"], answer);
    let (out, ..) = stage.run(&["worker", "list"]).await;
    assert!(out.contains("sonnet") && out.contains("fg-123: Implement feature X"), "{out}");
    let (out, ..) = stage.run(&["worker", "status", "a"]).await;
    assert!(out.contains("Started successfully"), "{out}");
}

#[tokio::test]
async fn a_status_file_tells_of_illness_pauses_and_says_failed_of_the_dead() {
    let stage = Stage::set(json!({})).await;
    let pid = stage.spawn("a", "trap '' HUP; echo $$ >pid; exec sleep 600").await;
    assert_eq!(pid["phase"], "running");
    stage.until("a", "its status file is read", |a| a["status"]["status"] == "idle").await;
    for (body, finding) in [
        (r#"{"worker_id": "a", "status": "failed"}"#, "says_failed"),
        (r#"{"worker_id": "a", "status": "stopped"}"#, "says_stopped"),
        (r#"{"worker_id": "a", "status": "error"}"#, "says_error"),
        (r#"{"worker_id": "a", "status": "act"#, "says_error"),
    ] {
        stage.write_status("a", body);
        let found = |a: &Value| a["health"]["findings"] == json!([finding]);
        let ill = stage.until("a", finding, found).await;
        assert_eq!(words(&ill), ("running", "degraded"), "{body}");
        assert_eq!(stage.alerts().await, [("status_bad".to_owned(), "a".to_owned())], "{body}");
    }
    stage.write_status("a", r#"{"worker_id": "a", "status": "active"}"#);
    stage.until("a", "it is well again", |a| a["health"]["level"] == "healthy").await;
    assert_eq!(stage.alerts().await, []);

    stage.write_status("a", r#"{"worker_id": "a", "status": "paused"}"#);
    stage.until("a", "its file pauses it", |a| a["phase"] == "paused").await;
    stage.write_status("a", r#"{"worker_id": "a", "status": "active"}"#);
    stage.until("a", "its file lets it go on", |a| a["phase"] == "running").await;
    // What a person paused goes on when a person says so.
    stage.act("a", "pause").await;
    stage.write_status("a", r#"{"worker_id": "a", "status": "active", "note": "still here"}"#);
    let paused = stage.until("a", "the file is read", |a| a["status"]["note"] == "still here").await;
    assert_eq!(paused["phase"], "paused");

    stage.tmux(&["kill-session", "-t", "forge-worker-a"]);
    signal(stage.pid("pid").await, Signal::KILL);
    stage.until("a", "the death is seen", |a| a["phase"] == "failed").await;
    stage.until("a", "its file says so", |a| a["status"]["status"] == "failed").await;
}

#[tokio::test]
async fn a_worker_is_looked_into_typed_to_paused_and_forgotten() {
    let stage = Stage::set(json!({})).await;
    stage.spawn("a", "while read line; do echo \"got $line\"; done").await;
    let (_, err, code) = stage.run(&["worker", "send", "a", "hello there"]).await;
    assert_eq!(code, 0, "{err}");
    let path = "/api/workers/a/peek?lines=20";
    stage.forge.until(path, "it answers", |pane| text(&pane["text"]).contains("got hello there")).await;
    let (out, ..) = stage.run(&["worker", "peek", "a"]).await;
    assert!(out.contains("got hello there"), "{out}");
    let (out, ..) = stage.run(&["worker", "attach", "a", "--print"]).await;
    assert!(out.contains(&stage.socket) && out.contains("attach-session -t '=forge-worker-a'"), "{out}");

    stage.until("a", "its status file is read", |a| a["status"]["status"] == "idle").await;
    stage.run(&["worker", "pause", "a", "--reason", "lunch"]).await;
    let paused = stage.until("a", "the file says so", |a| a["status"]["status"] == "paused").await;
    assert_eq!((&paused["phase"], &paused["status"]["pause_reason"]), (&json!("paused"), &json!("lunch")));
    stage.act("a", "resume").await;
    let file = stage.forge.home().join("status/a.json");
    stage
        .until("a", "the file says so", |a| a["status"]["status"] == "idle" && a["phase"] == "running")
        .await;
    // Another tool pauses it.
    std::fs::write(&file, r#"{"worker_id": "a", "status": "paused", "pause_reason": "by hand"}"#).unwrap();
    stage.until("a", "that is noticed", |a| a["phase"] == "paused" && a["note"] == "by hand").await;

    let refused = stage.forge.delete("/api/workers/a").await;
    assert!(refused.status == 409 && refused.message().contains("stop it first"), "{}", refused.text);
    stage.act("a", "kill").await;
    let (_, err, code) = stage.run(&["worker", "delete", "a"]).await;
    assert_eq!(code, 0, "{err}");
    let (_, err, code) = stage.run(&["worker", "status", "a"]).await;
    assert!(code == 4 && err.contains("there is no worker 'a'"), "{err}");
}

#[tokio::test]
async fn definitions_launchers_and_mistakes_are_told() {
    let stage = Stage::set(json!({"max_workers": 1})).await;
    let workspace = stage.forge.dir().canonicalize().unwrap();
    let script = stage.script(&waiting("pid"));
    std::fs::create_dir_all(stage.forge.home().join("workers")).unwrap();
    let kind = format!(
        "name: idler\nlauncher: scripted\nmodel: none\ntier: free\nenvironment: {{FORGE_SCRIPT: {}}}\n",
        script.display()
    );
    std::fs::write(stage.forge.home().join("workers/idler.yaml"), kind).unwrap();
    let yaml = format!(
        "workers:\n  one:\n    model: m\n    launcher: nope\n    workspace: {}\n    colour: red\n",
        workspace.display()
    );
    std::fs::write(stage.forge.home().join("workers.yaml"), yaml).unwrap();

    let dir = workspace.display().to_string();
    // A type has no folder of its own; the current one counts.
    let mut command = stage.forge.command();
    command.args(["worker", "spawn", "idler", "--json"]).current_dir(&workspace);
    let done = output(command).await;
    let err = err(&done);
    assert!(done.status.success() && err.contains("`workers.one.colour` is unknown"), "{err}");
    let worker: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert!(text(&worker["id"]).starts_with("idler-") && worker["tier"] == "free", "{worker:#}");
    assert_eq!(worker["workspace"], dir);
    for (body, words) in [
        (json!({"definition": "one"}), "'nope' is not in"),
        (json!({"definition": "two"}), "has a worker 'two'"),
        (json!({"launcher": "scripted"}), "workspace: missing"),
        (json!({"launcher": "scripted", "workspace": "/nowhere"}), "'/nowhere' is no directory"),
        (json!({"launcher": "scripted", "workspace": dir}), "1 workers are the most"),
    ] {
        let refused = stage.forge.post("/api/workers", &body).await;
        assert!(
            (400..500).contains(&refused.status) && refused.message().contains(words),
            "{}",
            refused.text
        );
    }
    stage.act(&text(&worker["id"]), "kill").await;
    let kind =
        "name: odd\nlauncher: scripted\nmodel: none\ntier: free\nspawn_args: ['--session=${session_name}']\n";
    std::fs::write(stage.forge.home().join("workers/odd.yaml"), kind).unwrap();
    let odd = json!({"id": "o", "definition": "odd", "workspace": dir});
    let refused = stage.forge.post("/api/workers", &odd).await;
    assert!(refused.message().contains("unknown option --session=forge-worker-o"), "{}", refused.text);
    let failed =
        json!({"id": "x", "launcher": "scripted", "workspace": dir, "env": {"FORGE_SCRIPT": "/nowhere"}});
    let refused = stage.forge.post("/api/workers", &failed).await;
    assert!(refused.message().contains("`/nowhere`, which is no file"), "{}", refused.text);
    let row = stage.forge.get("/api/workers/x").await.data();
    assert!(row["phase"] == "failed" && text(&row["note"]).contains("/nowhere"), "{row:#}");

    let (out, ..) = stage.run(&["launcher", "list"]).await;
    assert!(out.contains("claude-code") && out.contains("scripted"), "{out}");
    let broken = stage.script("echo hello\n");
    let (out, _, code) = stage.run(&["launcher", "check", &broken.display().to_string()]).await;
    assert!(code == 1 && out.contains("not executable"), "{out}");
}
