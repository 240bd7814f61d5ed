//! One file of an attempt: its part of the patch, and its bytes before and after. Nothing outside of the worktree.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use forge_client::Method;
use forge_tests::{TestForge, git, text};
use serde_json::{Value, json};

/// An attempt that changed `README.md` and added `a.txt`, its worktree, and the repository.
async fn start(forge: &TestForge) -> (String, PathBuf, PathBuf) {
    let repo = forge.repository("repo");
    let long: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    std::fs::write(repo.join("long.txt"), long).unwrap();
    git(&repo, &["add", "."]);
    git(&repo, &["commit", "-qm", "A long file"]);
    let body = json!({"name": "repo", "git_repo_path": repo, "use_existing_repo": true});
    let project = text(&forge.post("/api/projects", &body).await.data()["id"]);
    let task =
        forge.start_scripted(&project, "files", "write a.txt one\nappend README.md more\\n\nsay done").await;
    let id = task.attempt();
    forge.settled(&id).await;
    (id, text(&task["task_attempt"]["worktree_path"]).into(), repo)
}

async fn diff(forge: &TestForge, id: &str, query: &str) -> Value {
    forge.get(&format!("/api/task-attempts/{id}/diff?{query}")).await.data()
}

struct File {
    status: u16,
    headers: forge_client::header::HeaderMap,
    bytes: Vec<u8>,
}

impl File {
    fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }

    fn message(&self) -> String {
        text(&serde_json::from_slice::<Value>(&self.bytes).unwrap()["message"])
    }
}

async fn file(forge: &TestForge, id: &str, path: &str, side: &str) -> File {
    let query = forge_client::query([("path", path), ("side", side)]);
    let request = forge.client().request(Method::GET, &format!("/api/task-attempts/{id}/file?{query}"));
    let answer = request.send().await.unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    File { status, headers, bytes: answer.bytes().await.unwrap().to_vec() }
}

#[tokio::test]
async fn the_patch_of_one_file_has_that_file_alone_by_either_of_its_names() {
    let forge = TestForge::start().await;
    let (id, place, _) = start(&forge).await;
    git(&place, &["mv", "long.txt", "moved.txt"]);
    let moved =
        std::fs::read_to_string(place.join("moved.txt")).unwrap().replace("line 15\n", "line fifteen\n");
    std::fs::write(place.join("moved.txt"), moved).unwrap();
    std::fs::write(place.join("[a].txt"), "a name like a pattern\n").unwrap();

    let whole = diff(&forge, &id, "").await;
    assert_eq!(whole["files_changed"], 4);
    let one = diff(&forge, &id, "path=README.md").await;
    assert_eq!(
        (&one["files_changed"], &one["additions"], &one["files"][0]["path"]),
        (&json!(1), &json!(1), &json!("README.md"))
    );
    assert_eq!(text(&one["diff"]).matches("diff --git").count(), 1);
    assert!(text(&one["diff"]).contains("+more"), "{one}");

    let by_new = diff(&forge, &id, "path=moved.txt").await;
    assert!(text(&by_new["diff"]).contains("rename from long.txt\nrename to moved.txt"), "{by_new}");
    assert_eq!(by_new, diff(&forge, &id, "path=long.txt").await);
    let lines = |diff: &Value| text(&diff["diff"]).lines().filter(|line| line.starts_with(" line")).count();
    assert_eq!(lines(&by_new), 6, "three before and three after");
    assert_eq!(lines(&diff(&forge, &id, "path=moved.txt&context=0").await), 0);
    assert_eq!(lines(&diff(&forge, &id, "path=moved.txt&context=1000").await), 29);

    let pattern = diff(&forge, &id, "path=%5Ba%5D.txt").await;
    assert_eq!((&pattern["files_changed"], &pattern["files"][0]["path"]), (&json!(1), &json!("[a].txt")));
    for same in ["nothing.txt", "*.txt", ".", "", "../README.md", ":(glob)**", "/etc/passwd", "--output=x"] {
        let none = diff(&forge, &id, &format!("path={}", same.replace('*', "%2A"))).await;
        assert_eq!((&none["diff"], &none["files"]), (&json!(""), &json!([])), "{same}");
    }
    let refused = forge.get(&format!("/api/task-attempts/{id}/diff?context=1001")).await;
    assert!(refused.message().starts_with("context: '1001' is not allowed"), "{}", refused.message());

    git(&place, &["add", "-A"]);
    git(&place, &["commit", "-qm", "moved"]);
    forge.post(&format!("/api/task-attempts/{id}/merge"), &json!(null)).await.data();
    let landed = diff(&forge, &id, "path=long.txt").await;
    assert!(text(&landed["diff"]).contains("rename to moved.txt"), "{landed}");
}

#[tokio::test]
async fn both_sides_of_a_file_are_told_while_the_worktree_is_there_away_and_landed() {
    let forge = TestForge::start().await;
    let (id, place, _) = start(&forge).await;
    let read = async |path: &str, side: &str| {
        let file = file(&forge, &id, path, side).await;
        (file.status, String::from_utf8_lossy(&file.bytes).into_owned())
    };
    std::fs::create_dir(place.join("sub")).unwrap();
    std::fs::write(place.join("sub/ü b.txt"), "not committed").unwrap();
    assert_eq!(read("README.md", "old").await, (200, "# test\n".into()));
    assert_eq!(read("README.md", "new").await, (200, "# test\nmore\n".into()));
    assert_eq!(read("sub/ü b.txt", "new").await, (200, "not committed".into()));
    let absent = file(&forge, &id, "a.txt", "old").await;
    assert_eq!(absent.status, 404);
    assert!(absent.message().contains("path: there is no 'a.txt' in commit"), "{}", absent.message());
    assert!(file(&forge, &id, "b.txt", "new").await.message().contains("path: there is no 'b.txt'"));

    std::fs::remove_file(place.join("sub/ü b.txt")).unwrap();
    forge.post(&format!("/api/worktrees/{id}/retire"), &json!(null)).await.data();
    assert_eq!(read("a.txt", "new").await, (200, "one".into()), "from its branch");
    assert_eq!(read("README.md", "old").await, (200, "# test\n".into()));
    assert!(!place.exists(), "looking brings no worktree back");

    forge.post(&format!("/api/task-attempts/{id}/merge"), &json!(null)).await.data();
    assert_eq!(read("README.md", "new").await, (200, "# test\nmore\n".into()));
    assert_eq!(read("README.md", "old").await, (200, "# test\n".into()));
    assert_eq!(read("a.txt", "old").await.0, 404);
}

#[tokio::test]
async fn no_path_leads_out_of_the_worktree() {
    let forge = TestForge::start().await;
    let (id, place, _) = start(&forge).await;
    std::fs::write(forge.dir().join("secret"), "secret").unwrap();
    let secret = forge.dir().join("secret");
    symlink(&secret, place.join("absolute")).unwrap();
    symlink("../../secret", place.join("relative")).unwrap();
    symlink(forge.dir(), place.join("folder")).unwrap();
    symlink("a.txt", place.join("inside")).unwrap();
    std::fs::create_dir(place.join("dir")).unwrap();
    let outside = secret.to_str().unwrap();
    let paths = [
        outside,
        "../../secret",
        "dir/../../../secret",
        "absolute",
        "relative",
        "folder/secret",
        "inside",
        ".git",
        ".git/HEAD",
        "dir/.Git/config",
        "dir",
        ".",
        "",
    ];
    for side in ["new", "old"] {
        for path in paths {
            let refused = file(&forge, &id, path, side).await;
            assert!(matches!(refused.status, 404 | 422), "{side} {path}: {}", refused.status);
            assert!(side == "old" || refused.status == 422, "{path}: {}", refused.status);
            assert!(refused.message().contains("path: "), "{path}: {}", refused.message());
        }
    }
    git(&place, &["add", "-A"]);
    git(&place, &["commit", "-qm", "links"]);
    forge.post(&format!("/api/worktrees/{id}/retire"), &json!(null)).await.data();
    for path in ["absolute", "folder", "folder/secret", "inside"] {
        let refused = file(&forge, &id, path, "new").await;
        assert!(matches!(refused.status, 404 | 422), "{path}: {}", refused.status);
    }
    let wrong = file(&forge, &id, "a.txt", "both").await;
    assert_eq!(
        (wrong.status, wrong.message().as_str()),
        (400, "side: 'both' is not allowed; allowed: old, new")
    );
}

fn put(place: &Path, name: &str, bytes: &[u8]) {
    std::fs::write(place.join(name), bytes).unwrap();
}

#[tokio::test]
async fn a_file_is_what_its_content_says_and_can_do_nothing_in_a_browser() {
    let forge = TestForge::start().await;
    let (id, place, _) = start(&forge).await;
    put(&place, "picture.txt", b"\x89PNG\r\n\x1a\nrest");
    put(&place, "page.html", b"<script>alert(1)</script>");
    put(&place, "drawing", b"<svg onload='alert(1)'/>");
    put(&place, "bytes.png", b"\xff\x00\xfe");
    for (name, kind) in [
        ("picture.txt", "image/png"),
        ("page.html", "text/plain; charset=utf-8"),
        ("drawing", "image/svg+xml"),
        ("bytes.png", "application/octet-stream"),
    ] {
        let file = file(&forge, &id, name, "new").await;
        assert_eq!((file.status, file.header("content-type")), (200, kind), "{name}");
        assert_eq!(file.bytes, std::fs::read(place.join(name)).unwrap());
        assert_eq!(file.header("x-content-type-options"), "nosniff");
        let policy = "default-src 'none'; style-src 'unsafe-inline'; sandbox";
        assert_eq!(file.header("content-security-policy"), policy);
        assert_eq!(file.header("cache-control"), "no-store");
    }
    let large = std::fs::File::create(place.join("large")).unwrap();
    large.set_len(16 << 20).unwrap();
    assert_eq!(file(&forge, &id, "large", "new").await.status, 200);
    large.set_len((16 << 20) + 1).unwrap();
    let refused = file(&forge, &id, "large", "new").await;
    assert_eq!(refused.status, 413);
    assert!(
        refused.message().contains("path: 'large' has more than 16777216 bytes"),
        "{}",
        refused.message()
    );
}
