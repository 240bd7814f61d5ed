//! The login at GitHub, the releases, and the project's own checkout against its remote.

use forge_tests::{CodeHost, Dialect, TestForge, git, text};
use serde_json::{Value, json};

async fn at_github(env: &[(&str, &str)]) -> (CodeHost, TestForge) {
    let host = CodeHost::start(Dialect::Github).await;
    let forge = with_github_at(host.port, env).await;
    (host, forge)
}

async fn with_github_at(port: u16, env: &[(&str, &str)]) -> TestForge {
    let base = format!("http://127.0.0.1:{port}");
    let settings = json!({"hosts": {"github.com": {"api": base, "web": base}}, "future": {"kept": 1}});
    TestForge::with_settings(&[], env, &settings).await
}

#[tokio::test]
async fn a_login_is_finished_on_githubs_page_and_survives_a_restart() {
    let (host, mut forge) = at_github(&[("GITHUB_CLIENT_ID", "app")]).await;
    host.require("oauth-5ecret");
    let poll = "/api/auth/github/device/poll";
    let early = forge.post(poll, &json!({"device_code": "x"})).await;
    assert_eq!((early.status, early.message()), (409, "Device flow not started; start the login first"));
    assert_eq!(forge.get("/api/auth/github/check").await.data(), "INVALID");

    let start = forge.send(forge_client::Method::POST, "/api/auth/github/device/start", None).await.data();
    assert_eq!(
        (&start["user_code"], &start["expires_in"], &start["interval"]),
        (&json!("ABCD-1234"), &json!(900), &json!(5))
    );
    assert_eq!(start.as_object().unwrap().len(), 4, "the device code stays inside: {start}");
    host.answer_login(vec![
        json!({"error": "authorization_pending"}),
        json!({"error": "slow_down"}),
        json!({"access_token": "oauth-5ecret", "token_type": "bearer"}),
    ]);
    for word in ["AUTHORIZATION_PENDING", "SLOW_DOWN", "SUCCESS"] {
        assert_eq!(forge.post(poll, &Value::Null).await.data(), word);
    }
    assert_eq!(forge.post(poll, &Value::Null).await.status, 409, "it is over");
    assert_eq!(forge.get("/api/auth/github/check").await.data(), "VALID");

    forge.terminate().await;
    forge.up().await;
    assert_eq!(forge.get("/api/auth/github/check").await.data(), "VALID");
    let file = forge.home().join("config.json");
    let stored: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert_eq!(
        (&stored["github"]["username"], &stored["github"]["primary_email"]),
        (&json!("octo"), &json!("a@x"))
    );
    assert_eq!((&stored["github_login_acknowledged"], &stored["future"]["kept"]), (&json!(true), &json!(1)));
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(!forge.log().contains("5ecret"));
    host.require("revoked");
    assert_eq!(forge.get("/api/auth/github/check").await.data(), "INVALID");
}

#[tokio::test]
async fn a_login_without_an_app_says_what_to_do() {
    let (_host, forge) = at_github(&[]).await;
    let answer = forge.post("/api/auth/github/device/start", &json!({})).await;
    assert_eq!(answer.status, 409, "{}", answer.text);
    assert!(answer.message().contains("GITHUB_CLIENT_ID"), "{}", answer.text);
}

#[tokio::test]
async fn releases_are_passed_on_and_a_host_that_is_away_is_a_502() {
    let (_host, forge) = at_github(&[]).await;
    let releases = forge.get("/api/forge/releases").await.data();
    assert_eq!(releases[0]["tag_name"], "v1");
    assert_eq!(releases[0].as_object().unwrap().len(), 7, "{releases}");
    // Nobody listens on the first port.
    let forge = with_github_at(1, &[]).await;
    let away = forge.get("/api/forge/releases").await;
    assert_eq!(away.status, 502, "{}", away.text);
}

#[tokio::test]
async fn the_projects_checkout_is_compared_and_pulled_without_losing_anything() {
    let forge = TestForge::start().await;
    let (project, repo) = forge.project("repo").await;
    let bare = forge.dir().join("origin.git");
    git(forge.dir(), &["init", "-q", "--bare", "-b", "main", &bare.to_string_lossy()]);
    let status = format!("/api/forge/projects/{project}/branch-status");
    let lonely = forge.get(&status).await.data();
    assert_eq!((&lonely["commits_behind"], &lonely["target_branch_name"]), (&Value::Null, &json!("main")));
    assert_eq!(lonely["merges"], json!([]));

    git(&repo, &["remote", "add", "origin", &bare.to_string_lossy()]);
    git(&repo, &["push", "-q", "-u", "origin", "main"]);
    let other = forge.dir().join("other");
    git(forge.dir(), &["clone", "-q", &bare.to_string_lossy(), &other.to_string_lossy()]);
    std::fs::write(other.join("theirs.txt"), "theirs").unwrap();
    git(&other, &["add", "."]);
    git(&other, &["-c", "user.name=C", "-c", "user.email=c@c", "commit", "-q", "-m", "theirs"]);
    git(&other, &["push", "-q"]);
    std::fs::write(repo.join("README.md"), "mine\n").unwrap();
    let behind = forge.until(&status, "it is behind", |now| now["commits_behind"] == 1).await;
    assert_eq!((&behind["commits_ahead"], &behind["remote_commits_behind"]), (&json!(0), &json!(1)));
    assert_eq!((&behind["has_uncommitted_changes"], &behind["uncommitted_count"]), (&json!(true), &json!(1)));

    let pull = format!("/api/forge/projects/{project}/pull");
    let dirty = forge.post(&pull, &Value::Null).await;
    assert_eq!((dirty.status, &dirty.body["success"]), (200, &json!(false)), "{}", dirty.text);
    assert!(text(&dirty.body["details"]).contains("README.md"), "{}", dirty.text);
    assert_eq!(std::fs::read_to_string(repo.join("README.md")).unwrap(), "mine\n");
    git(&repo, &["commit", "-q", "-am", "mine"]);
    let done = forge.post(&pull, &Value::Null).await;
    assert_eq!(
        done.body,
        json!({"success": true, "message": "Successfully pulled updates from origin/main"})
    );
    assert_eq!(git(&repo, &["log", "--format=%s"]), "mine\ntheirs\nBegin");
    assert_eq!(
        forge.get("/api/forge/projects/00000000-0000-4000-8000-000000000000/branch-status").await.status,
        404
    );
}
