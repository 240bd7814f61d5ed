use forge_types::PrStatus;
use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn hosts(value: Value) -> Hosts {
    let mut settings = Settings::default();
    settings.other.insert("hosts".to_owned(), value);
    Hosts::of(&settings)
}

#[test]
fn hosts_are_recognised_by_their_name_or_by_the_settings() {
    let hosts = hosts(json!({
        "git.corp.example": {"kind": "gitlab"},
        "code.example:3000": {"kind": "forgejo", "api": "http://127.0.0.1:3000/api/v1/"},
        "broken.example": {"kind": "sourceforge"},
    }));
    let cases = [
        (
            "git@github.com:acme/widgets.git",
            Some((HostKind::Github, "https://api.github.com", "acme/widgets")),
        ),
        (
            "https://github.corp.example/a/b",
            Some((HostKind::Github, "https://github.corp.example/api/v3", "a/b")),
        ),
        ("https://acme.ghe.com/a/b", Some((HostKind::Github, "https://api.acme.ghe.com", "a/b"))),
        ("https://gitlab.com/g/s/r.git", Some((HostKind::Gitlab, "https://gitlab.com/api/v4", "g/s/r"))),
        (
            "ssh://git@git.corp.example:22/g/r",
            Some((HostKind::Gitlab, "https://git.corp.example/api/v4", "g/r")),
        ),
        ("http://code.example:3000/sub/a/b", Some((HostKind::Gitea, "http://127.0.0.1:3000/api/v1", "a/b"))),
        ("https://codeberg.org/a/b", Some((HostKind::Gitea, "https://codeberg.org/api/v1", "a/b"))),
        ("https://broken.example/a/b", None),
        ("/srv/git/b.git", None),
    ];
    for (remote, want) in cases {
        let found = hosts.recognise(remote);
        let found = found.as_ref().map(|host| (host.kind, host.api.as_str(), host.path.as_str()));
        assert_eq!(found, want, "{remote}");
    }
}

#[test]
fn an_issue_of_another_repository_is_not_ours() {
    let hosts = Hosts::default();
    let number = |remote: &str, url: &str| hosts.recognise(remote).and_then(|host| host.issue_number(url));
    let remote = "git@github.com:acme/widgets.git";
    assert_eq!(number(remote, "https://github.com/Acme/widgets/issues/12#issuecomment-3"), Some(12));
    assert_eq!(number(remote, "https://github.com/acme/other/issues/12"), None);
    assert_eq!(number(remote, "https://evil.example/acme/widgets/issues/12"), None);
    assert_eq!(number(remote, "https://github.com/acme/widgets/issues/-4"), None);
    assert_eq!(number("git@gitlab.com:g/s/r.git", "https://gitlab.com/g/s/r/-/issues/7/"), Some(7));
}

#[test]
fn addresses_carry_any_branch_name() {
    let host = Hosts::default().recognise("https://gitlab.com/g/s/r.git").unwrap_or_else(|| panic!("known"));
    let url = gitlab::from_branch(&host, "feat/ü&x=1").map(|url| url.to_string()).unwrap_or_default();
    assert_eq!(
        url,
        "https://gitlab.com/api/v4/projects/g%2Fs%2Fr/merge_requests?state=all&source_branch=feat%2F%C3%BC%26x%3D1&per_page=100"
    );
}

#[test]
fn states_of_every_host_are_read() {
    let github = json!({"number": 1, "html_url": "u", "state": "closed", "merged_at": "2026-01-02T03:04:05Z",
        "merge_commit_sha": "c", "head": {"ref": "h"}, "base": {"ref": "b"}});
    let merged = github::pull(&github).map(|pull| (pull.status, pull.merge_commit));
    assert_eq!(merged, Some((PrStatus::Merged, Some("c".to_owned()))));
    let open = json!({"number": 1, "state": "open", "merged_at": null, "merge_commit_sha": "trial"});
    let open = github::pull(&open).map(|pull| (pull.status, pull.merge_commit));
    assert_eq!(open, Some((PrStatus::Open, None)));
    for (state, status) in
        [("opened", PrStatus::Open), ("closed", PrStatus::Closed), ("merged", PrStatus::Merged)]
    {
        let value = json!({"iid": 3, "state": state, "sha": "s"});
        assert_eq!(gitlab::pull(&value).map(|pull| pull.status), Some(status), "{state}");
    }
    assert_eq!(github::pull(&json!({"state": "open"})), None, "without a number it is not a pull request");
}
