//! The API calls, in the words of each host.

use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use serde_json::{Value, json};

use super::{Dialect, Pull, Seen, State, reply};

type Reply = Response<Full<Bytes>>;

fn send(status: u16, body: &Value) -> Reply {
    reply(status, &[("content-type", "application/json")], Bytes::from(body.to_string()))
}

pub(super) fn answer(state: &mut State, dialect: Dialect, port: u16, seen: &Seen, admitted: bool) -> Reply {
    let base = ["/api/v3", "/api/v4", "/api/v1"].iter().find_map(|base| seen.path.strip_prefix(base));
    let path = base.unwrap_or(&seen.path).trim_matches('/').to_owned();
    let parts: Vec<&str> = path.split('/').collect();
    match (seen.method.as_str(), parts.as_slice()) {
        ("POST", ["login", "device", "code"]) => {
            let code = json!({"device_code": "the-device", "user_code": "ABCD-1234", "expires_in": 900, "interval": 5,
                "verification_uri": format!("http://127.0.0.1:{port}/login/device")});
            return send(200, &code);
        }
        ("POST", ["login", "oauth", "access_token"]) => {
            let next = if state.login.is_empty() { Value::Null } else { state.login.remove(0) };
            return send(200, &next);
        }
        ("GET", ["repos", _, _, "releases"]) => {
            let release = json!({"tag_name": "v1", "name": "One", "body": null, "prerelease": false, "assets": [],
                "created_at": "2026-01-01T00:00:00Z", "published_at": null, "html_url": "http://host/v1"});
            return send(200, &json!([release]));
        }
        _ if !admitted => return send(401, &json!({"message": "Bad credentials"})),
        ("GET", ["user"]) => return send(200, &json!({"login": "octo", "username": "octo"})),
        ("GET", ["user", "emails"]) => {
            return send(200, &json!([{"email": "b@x"}, {"email": "a@x", "primary": true}]));
        }
        _ => {}
    }
    if seen.method == "POST" && !state.may_write {
        return send(403, &json!({"message": "Resource not accessible"}));
    }
    let rest: Vec<&str> = match (dialect, parts.as_slice()) {
        (Dialect::Gitlab, ["projects", "acme%2Ftools%2Fwidgets", rest @ ..]) => rest.to_vec(),
        (Dialect::Github | Dialect::Gitea, ["repos", "acme", "widgets", rest @ ..]) => rest.to_vec(),
        _ => return send(404, &json!({"message": "Not Found"})),
    };
    let place = format!("http://127.0.0.1:{port}/acme");
    match (seen.method.as_str(), rest.as_slice()) {
        ("GET", ["pulls" | "merge_requests"]) => list(state, dialect, &place, seen),
        ("POST", ["pulls" | "merge_requests"]) => create(state, dialect, &place, seen),
        ("GET", ["pulls" | "merge_requests", number]) => {
            match state.pulls.iter().find(|pull| is(number, pull.number)) {
                Some(pull) => send(200, &show(pull, dialect, &place)),
                None => send(404, &json!({"message": "Not Found"})),
            }
        }
        ("GET", ["issues", number]) => match state.issues.iter().find(|issue| is(number, issue.0)) {
            Some((number, title, body, labels)) => send(
                200,
                &json!({"number": number, "iid": number, "title": title, "body": body, "description": body,
                    "html_url": format!("{place}/widgets/issues/{number}"),
                    "web_url": format!("{place}/tools/widgets/-/issues/{number}"),
                    "labels": shown_labels(labels, dialect)}),
            ),
            None => send(404, &json!({"message": "Not Found"})),
        },
        ("POST", ["issues", number, "comments" | "notes"]) => {
            let text = seen.body["body"].as_str().unwrap_or_default().to_owned();
            state.comments.push((number.parse().unwrap_or_default(), text));
            send(201, &json!({"id": 1}))
        }
        _ => send(404, &json!({"message": "Not Found"})),
    }
}

fn is(text: &str, number: i64) -> bool {
    text.parse() == Ok(number)
}

fn list(state: &State, dialect: Dialect, place: &str, seen: &Seen) -> Reply {
    let etag = format!("\"{}-{}\"", state.revision, seen.query.len());
    if seen.if_none_match.as_deref() == Some(&etag) {
        return reply(304, &[("etag", &etag)], Bytes::new());
    }
    let query = seen.query.replace("%2F", "/").replace("%3A", ":");
    let filter = query.split('&').find_map(|pair| match pair.split_once('=')? {
        ("head", head) => head.split_once(':').map(|(_, branch)| branch.to_owned()),
        ("source_branch", branch) => Some(branch.to_owned()),
        _ => None,
    });
    let number = |key: &str| {
        let value = query.split('&').find_map(|pair| pair.strip_prefix(key)?.strip_prefix('='));
        value.and_then(|value| value.parse::<usize>().ok())
    };
    let page = number("page").unwrap_or(1).max(1);
    let size = number("per_page").or(number("limit")).unwrap_or(30).min(100);
    let mut chosen: Vec<&Pull> =
        state.pulls.iter().filter(|pull| filter.as_ref().is_none_or(|head| *head == pull.head)).collect();
    chosen.sort_by_key(|pull| std::cmp::Reverse(pull.changed));
    let chosen = chosen.into_iter().skip((page - 1) * size).take(size);
    let pulls: Vec<Value> = chosen.map(|pull| show(pull, dialect, place)).collect();
    let body = Bytes::from(Value::Array(pulls).to_string());
    reply(200, &[("etag", &etag), ("content-type", "application/json")], body)
}

fn create(state: &mut State, dialect: Dialect, place: &str, seen: &Seen) -> Reply {
    let text = |keys: [&str; 2]| {
        let found = keys.iter().find_map(|key| seen.body[*key].as_str());
        found.unwrap_or_default().to_owned()
    };
    let (head, base) = (text(["head", "source_branch"]), text(["base", "target_branch"]));
    if state.pulls.iter().any(|pull| pull.head == head && pull.base == base && pull.state == "open") {
        let error =
            json!({"message": "Validation Failed", "errors": [{"message": "A pull request already exists"}]});
        return send(422, &error);
    }
    let number = state.open(&head, &base, &text(["title", "title"]), &text(["body", "description"]));
    match state.pulls.iter().find(|pull| pull.number == number) {
        Some(pull) => send(201, &show(pull, dialect, place)),
        None => send(500, &Value::Null),
    }
}

fn show(pull: &Pull, dialect: Dialect, place: &str) -> Value {
    let merged = pull.state == "merged";
    let merged_at = merged.then_some("2026-01-02T03:04:05Z");
    let commit = merged.then_some("c0ffee0000000000000000000000000000000000");
    let number = pull.number;
    match dialect {
        Dialect::Gitlab => json!({
            "iid": number, "title": pull.title, "description": pull.body,
            "state": if pull.state == "open" { "opened" } else { pull.state },
            "source_branch": pull.head, "target_branch": pull.base, "merged_at": merged_at,
            "merge_commit_sha": commit, "updated_at": "2026-01-02T03:04:05Z",
            "web_url": format!("{place}/tools/widgets/-/merge_requests/{number}"),
        }),
        Dialect::Github | Dialect::Gitea => json!({
            "number": number, "title": pull.title, "body": pull.body,
            "state": if pull.state == "open" { "open" } else { "closed" },
            "head": {"ref": pull.head}, "base": {"ref": pull.base}, "merged_at": merged_at,
            "merge_commit_sha": commit, "updated_at": "2026-01-02T03:04:05Z",
            "html_url": format!("{place}/widgets/pull/{number}"),
        }),
    }
}

/// GitLab's labels are texts, the others' are objects.
fn shown_labels(labels: &[String], dialect: Dialect) -> Value {
    match dialect {
        Dialect::Gitlab => json!(labels),
        Dialect::Github | Dialect::Gitea => labels.iter().map(|name| json!({"name": name})).collect(),
    }
}
