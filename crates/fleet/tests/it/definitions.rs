//! Definitions are read with notes for what is unknown and errors that name file, key and value.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use forge_fleet::definition::{Prices, Quota, Surroundings, read_kinds, read_workers};
use forge_fleet::worker::WorkerTier;
use tempfile::TempDir;

fn variable(name: &str) -> Option<String> {
    (name == "PROJECTS").then(|| "/projects".to_owned())
}

fn around() -> Surroundings<'static> {
    Surroundings { home: Path::new("/home/me"), variable: &variable }
}

#[test]
fn workers_are_read_with_home_and_variables() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("workers.yaml");
    assert_eq!(read_workers(&file, around()).unwrap().workers, []);
    let text = "workers:\n  claude-code-sonnet-alpha:\n    model: sonnet\n    tier: standard\n    \
                workspace: ${PROJECTS}/one\n    launcher: ~/.forge/launchers/claude-launcher\n    colour: red\n    \
                env: {AGENT_COMMAND: 'claude --model ${model}', PORT: 7}\n  \
                b:\n    model: 4.5\n    launcher: codex\nother: 1\n";
    fs::write(&file, text).unwrap();
    let read = read_workers(&file, around()).unwrap();
    assert_eq!(read.workers.len(), 2);
    let (b, alpha) = (&read.workers[0], &read.workers[1]);
    assert_eq!((alpha.id.as_str(), alpha.tier), ("claude-code-sonnet-alpha", WorkerTier::Standard));
    assert_eq!(alpha.workspace, Some(PathBuf::from("/projects/one")));
    assert_eq!(alpha.launcher, PathBuf::from("/home/me/.forge/launchers/claude-launcher"));
    assert_eq!((b.model.as_str(), b.workspace.as_ref(), b.tier), ("4.5", None, WorkerTier::Standard));
    let worker = BTreeMap::from([("model", "sonnet".to_owned())]);
    let env = around().resolve(&file, &alpha.env, &worker).unwrap();
    assert_eq!((env["AGENT_COMMAND"].as_str(), env["PORT"].as_str()), ("claude --model sonnet", "7"));
    let error = around().resolve(&file, &alpha.env, &BTreeMap::new()).unwrap_err().to_string();
    assert!(error.contains("`env.AGENT_COMMAND` uses `${model}`"), "{error}");
    let notes = read.notes.join("\n");
    assert!(
        notes.contains("`workers.claude-code-sonnet-alpha.colour`") && notes.contains("`other`"),
        "{notes}"
    );
    assert_eq!(read.notes.len(), 2);
}

#[test]
fn errors_name_file_key_and_value() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("workers.yaml");
    for (text, words) in [
        (
            "workers:\n  a: {model: m, launcher: l, tier: gold}",
            "`workers.a.tier` is `gold`, but must be premium,",
        ),
        ("workers:\n  a: {launcher: l}", "`workers.a.model` is missing"),
        ("workers:\n  a: {model: [1], launcher: l}", "`workers.a.model` is `- 1`, but must be a text"),
        (
            "workers:\n  a: {model: m, launcher: '${NOPE}/l'}",
            "`workers.a.launcher` uses `${NOPE}`, which is not set",
        ),
        ("workers:\n  ../a: {model: m, launcher: l}", "`../a`"),
        ("workers: 7", "`workers` is `7`"),
        ("- a", "must be keys with values"),
        ("workers: {", "workers.yaml: "),
    ] {
        fs::write(&file, text).unwrap();
        let error = read_workers(&file, around()).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains("workers.yaml"), "{error}");
    }
}

#[test]
fn a_type_is_read_whole_and_a_bad_one_hinders_no_other() {
    let dir = TempDir::new().unwrap();
    let text = "name: glm\nlauncher: glm\nmodel: glm-4.7\ntier: free\nversion: 1.0\n\
                cost_per_million_tokens: {input: 1, output: 2.5}\n\
                subscription: {enabled: true, monthly_cost: 3, quota_type: tokens, quota_limit: 500}\n\
                environment: {KEY: '${SECRET}', N: 5}\n\
                spawn_args: ['--session=${session_name}', '${model}']\n\
                health_check: {enabled: false, interval_seconds: 30, command: 'pgrep x', extra: 1}\n\
                capabilities: [rust, docs]\nmax_context_tokens: 200000\nsupports_tools: true\nnew_key: {a: 1}\n";
    fs::write(dir.path().join("glm.yaml"), text).unwrap();
    fs::write(dir.path().join("bad.yml"), "name: bad\nlauncher: x\nmodel: y\n").unwrap();
    fs::write(dir.path().join("notes.txt"), "not one").unwrap();
    let read = read_kinds(dir.path(), around());
    assert_eq!((read.kinds.len(), read.errors.len(), read.notes.len()), (1, 1, 2), "{read:?}");
    assert!(read.errors[0].to_string().contains("`tier` is missing"), "{}", read.errors[0]);
    let kind = &read.kinds[0];
    assert_eq!((kind.tier, kind.version.as_deref()), (WorkerTier::Free, Some("1.0")));
    assert_eq!(kind.prices, Some(Prices { input: 1.0, output: 2.5 }));
    assert_eq!(kind.subscription.unwrap().quota, Quota::Tokens(Some(500)));
    assert_eq!((kind.max_context_tokens, kind.supports_tools), (Some(200_000), Some(true)));

    let worker: BTreeMap<&str, String> = [("session_name", "s-1"), ("model", "glm-4.7"), ("worker_id", "w")]
        .map(|(k, v)| (k, v.to_owned()))
        .into();
    let error = kind.resolve(&worker, around()).unwrap_err().to_string();
    assert!(error.contains("`env.KEY` uses `${SECRET}`"), "{error}");
    let secret = |name: &str| (name == "SECRET").then(|| "s3cret".to_owned());
    let resolved = kind.resolve(&worker, Surroundings { variable: &secret, ..around() }).unwrap();
    assert_eq!((resolved.environment["KEY"].as_str(), resolved.environment["N"].as_str()), ("s3cret", "5"));
    assert_eq!(resolved.spawn_args, ["--session=s-1", "glm-4.7"]);
}
