//! The user's settings: stored whole, changed in part, masked, obeyed.

use std::os::unix::fs::PermissionsExt;

use forge_tests::{TestForge, git, text};
use serde_json::{Value, json};

const SECRETS: [&str; 2] = ["ghp_never_shown_1", "gho_never_shown_2"];

fn stored(forge: &TestForge) -> Value {
    serde_json::from_slice(&std::fs::read(forge.home().join("config.json")).unwrap()).unwrap()
}

#[tokio::test]
async fn a_partial_change_survives_a_restart_and_keeps_everything_else() {
    let mut forge = TestForge::start().await;
    forge.terminate().await;
    let mut file = stored(&forge);
    file["future"] = json!({"kept": [1, 2]});
    file["editor"]["plugin"] = json!("kept too");
    std::fs::write(forge.home().join("config.json"), file.to_string()).unwrap();
    forge.up().await;

    let change = json!({"theme": "DARK", "notifications": {"sound_enabled": false}, "unheard_of": 1});
    let answer = forge.put("/api/config", &change).await.data();
    assert_eq!((&answer["theme"], &answer["language"]), (&json!("DARK"), &json!("BROWSER")));
    assert_eq!(answer["notifications"]["push_enabled"], true);
    forge.crash();
    forge.up().await;
    let after = forge.get("/api/config").await.data();
    assert_eq!((&after["theme"], &after["notifications"]["sound_enabled"]), (&json!("DARK"), &json!(false)));
    let file = stored(&forge);
    assert_eq!((&file["future"]["kept"], &file["editor"]["plugin"]), (&json!([1, 2]), &json!("kept too")));
    assert_eq!(file.get("unheard_of"), None);
    for name in ["config.json", "db.sqlite", "db.sqlite-wal"] {
        let mode = std::fs::metadata(forge.home().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn secrets_are_kept_but_never_told() {
    let mut forge = TestForge::with(&[], &[("RUST_LOG", "debug")]).await;
    let github = json!({"github": {"pat": SECRETS[0], "oauth_token": SECRETS[1], "username": "u"}});
    let mut answers = vec![forge.put("/api/config", &github).await.text];
    answers.push(forge.put("/api/config", &json!({"github": {"pat": 7}})).await.text);
    // What a client was shown comes back with the rest of its form.
    let shown = forge.get("/api/config").await.data();
    assert_eq!(shown["github"]["pat"], "********");
    forge.put("/api/config", &shown).await.data();
    assert_eq!(stored(&forge)["github"]["pat"], SECRETS[0]);
    for path in ["/api/config", "/api/info", "/api/profiles", "/api/forge/config"] {
        answers.push(forge.get(path).await.text);
    }
    let cleared = forge.put("/api/config", &json!({"github": {"oauth_token": null}})).await.data();
    assert_eq!(
        (&cleared["github"]["pat"], &cleared["github"]["oauth_token"]),
        (&json!("********"), &Value::Null)
    );
    forge.terminate().await;
    answers.push(forge.log());
    answers
        .push(String::from_utf8_lossy(&std::fs::read(forge.home().join("db.sqlite")).unwrap()).into_owned());
    for told in &answers {
        assert!(!SECRETS.iter().any(|secret| told.contains(secret)), "{told}");
    }
}

#[tokio::test]
async fn what_is_wrong_is_named_and_changes_nothing() {
    let forge = TestForge::start().await;
    let before = stored(&forge);
    for (change, words) in [
        (json!({"theme": "PINK"}), ["theme", "LIGHT"]),
        (json!({"language": 3}), ["language", "BROWSER"]),
        (json!([]), ["object", "object"]),
        (json!({"notifications": {"sound_file": "MOO"}}), ["notifications.sound_file", "PHONE_VIBRATION"]),
        (json!({"editor": {"editor_type": "ED"}}), ["editor.editor_type", "VS_CODE"]),
        (json!({"executor_profile": {"executor": "NOPE"}}), ["executor_profile", "CLAUDE_CODE"]),
        (json!({"theme": "DARK", "disclaimer_acknowledged": "yes"}), ["disclaimer_acknowledged", "boolean"]),
    ] {
        let answer = forge.put("/api/config", &change).await;
        assert_eq!(answer.status, 422, "{}", answer.text);
        assert!(words.iter().all(|word| answer.message().contains(word)), "{}", answer.text);
    }
    for prefix in ["a/b", "-x", "a b", "x..y"] {
        let answer = forge.put("/api/config", &json!({"git_branch_prefix": prefix, "theme": "DARK"})).await;
        assert_eq!((answer.status, &answer.body["success"]), (200, &json!(false)), "{}", answer.text);
        assert!(answer.message().contains(prefix), "{}", answer.text);
    }
    assert_eq!(stored(&forge), before);
}

#[tokio::test]
async fn new_branches_carry_the_chosen_prefix_unless_the_server_was_told_another() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    forge.put("/api/config", &json!({"git_branch_prefix": "me"})).await.data();
    let task = forge.start_scripted(&project, "t", "say done").await;
    let branch = task.branch();
    assert!(branch.starts_with("me/"), "{branch}");
    assert!(git(&repo, &["branch", "--list", "me/*"]).contains(&branch));

    let told = TestForge::with(&[], &[("FORGE_BRANCH_PREFIX", "told")]).await;
    let (project, _) = told.project("repo").await;
    told.put("/api/config", &json!({"git_branch_prefix": "me"})).await.data();
    let task = told.start_scripted(&project, "t", "say done").await;
    assert!(task.branch().starts_with("told/"));
}

#[tokio::test]
async fn accepting_the_terms_adds_up_to_three_projects_from_the_home_directory() {
    let home = tempfile::tempdir().unwrap();
    let forge = TestForge::with(&[], &[("HOME", home.path().to_str().unwrap())]).await;
    for name in ["a", "b", "c", "d"] {
        let made = forge.repository(name);
        std::fs::rename(made, home.path().join(name)).unwrap();
    }
    forge.put("/api/config", &json!({"disclaimer_acknowledged": true})).await.data();
    let is_three = |projects: &Value| projects.as_array().is_some_and(|list| list.len() == 3);
    forge.until("/api/projects", "three projects exist", is_three).await;
    forge.put("/api/config", &json!({"disclaimer_acknowledged": true})).await.data();
    assert!(is_three(&forge.get("/api/projects").await.data()));
}

#[tokio::test]
async fn the_server_tells_about_itself_and_plays_its_sounds() {
    let forge = TestForge::start().await;
    let info = forge.get("/api/info").await.data();
    assert_eq!(info["config"]["config_version"], "v7");
    assert_eq!(info["capabilities"]["CLAUDE_CODE"], json!(["SESSION_FORK"]));
    assert!(info["executors"]["CLAUDE_CODE"]["GENIE"]["CLAUDE_CODE"].is_object());
    assert!(info["environment"]["os_architecture"].is_string());
    let codex = &info["agents"]["CODEX"];
    assert_eq!(codex["built_in_variants"], json!(["GENIE", "HIGH", "APPROVALS"]));
    let sandbox = json!({"key": "sandbox", "label": "Sandbox", "kind": "choice",
        "choices": ["auto", "read-only", "workspace-write", "danger-full-access"]});
    assert_eq!(codex["options"][1], sandbox);
    let keys = |agent: &Value| {
        agent["options"].as_array().unwrap().iter().map(|option| text(&option["key"])).collect()
    };
    let common: Vec<String> = keys(&info["agents"]["SHELL"]);
    assert_eq!(common, ["append_prompt", "base_command_override", "additional_params"]);
    let unknown = forge.get("/api/info?project_id=00000000-0000-4000-8000-000000000000").await;
    assert_eq!(unknown.status, 404, "{}", unknown.text);
    let sound = forge.get("/api/sounds/GENIE_NOTIFY1").await;
    assert!(sound.status == 200 && sound.text.starts_with("RIFF"));
    let unknown = forge.get("/api/sounds/..%2Fconfig.json").await;
    assert_eq!(unknown.status, 400);
    assert!(unknown.message().contains("PHONE_VIBRATION"), "{}", unknown.text);
}
