use super::*;
use pretty_assertions::assert_eq;
use serde_json::json;

fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join("demo/.genie").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    dir
}

fn scanned(files: &[(&str, &str)]) -> Scan {
    let dir = project(files);
    scan(&dir.path().join("demo"))
}

fn names(scan: &Scan) -> Vec<String> {
    let all = scan.agents.variants.iter();
    all.flat_map(|(executor, variants)| variants.keys().map(move |name| format!("{executor}:{name}")))
        .collect()
}

#[test]
fn agents_are_found_where_they_belong_and_nowhere_else() {
    let scan = scanned(&[
        ("agents/plain.md", "just words\n"),
        ("agents/deep/er/two-words.md", "---\nname: Two Words\n---\n\nbody"),
        ("agents/README.md", "no"),
        ("agents/reports/r.md", "no"),
        ("code/AGENTS.md", "---\nname: code\n---\n# Common\n"),
        ("code/agents/explore.md", "---\nname: explore\n---\nLook.\n"),
        ("code/wish.md", "no"),
        ("loose/agents/x.md", "no AGENTS.md here"),
        ("neurons/forge.md", "---\nforge_profile_name: my-Master\n---\n"),
        ("wishes/agents/w.md", "no"),
    ]);
    assert_eq!(scan.agents.problems, Vec::<String>::new());
    assert_eq!(
        names(&scan),
        ["CLAUDE_CODE:CODE_EXPLORE", "CLAUDE_CODE:MY_MASTER", "CLAUDE_CODE:PLAIN", "CLAUDE_CODE:TWO_WORDS"]
    );
    let variants = &scan.agents.variants[&Executor::ClaudeCode];
    assert_eq!(variants["CODE_EXPLORE"]["append_prompt"], "# Common\n\n---\n\nLook.\n");
    assert_eq!(variants["PLAIN"]["append_prompt"], "just words\n");
    assert_eq!(variants["PLAIN"]["dangerously_skip_permissions"], true, "as the default variant");
    assert_eq!(scan.agents.project, "DEMO");
}

#[test]
fn options_are_flat_or_by_executor_and_each_executor_gets_a_profile() {
    let scan = scanned(&[
        ("agents/flat.md", "---\ngenie:\n  executor: [CLAUDE_CODE, codex]\nforge:\n  model: opus\n---\n"),
        ("agents/by.md", "---\nforge:\n  GEMINI:\n    yolo: true\n  CODEX: {sandbox: read-only}\n---\n"),
    ]);
    assert_eq!(scan.agents.problems, Vec::<String>::new());
    assert_eq!(names(&scan), ["CLAUDE_CODE:FLAT", "GEMINI:BY", "CODEX:BY", "CODEX:FLAT"]);
    let codex = &scan.agents.variants[&Executor::Codex];
    assert_eq!((&codex["FLAT"]["model"], &codex["BY"]["sandbox"]), (&json!("opus"), &json!("read-only")));
    assert_eq!(scan.agents.variants[&Executor::Gemini]["BY"]["model"], "default");
}

#[test]
fn a_file_that_cannot_be_used_is_named_and_costs_only_itself() {
    let scan = scanned(&[
        ("agents/a-broken.md", "---\nname: [unclosed\n---\n"),
        ("agents/b-mixed.md", "---\nforge:\n  model: m\n  CODEX: {}\n---\n"),
        ("agents/c-type.md", "---\nforge:\n  yolo: maybe\n---\n"),
        ("agents/d-executor.md", "---\ngenie: {executor: NOPE}\n---\n"),
        ("agents/e-name.md", "---\nforge_profile_name: __x\n---\n"),
        ("agents/f-large.md", &"x".repeat(2 << 20)),
        ("agents/good.md", "fine"),
        ("agents/sub/good.md", "the same name"),
    ]);
    assert_eq!(names(&scan), ["CLAUDE_CODE:GOOD"]);
    assert_eq!(scan.agents.problems.len(), 7, "{:#?}", scan.agents.problems);
    assert!(scan.agents.problems[1].contains("b-mixed.md: forge: mixes"), "{:#?}", scan.agents.problems);
}

#[test]
fn pipes_and_links_that_lead_out_are_named_and_cost_only_themselves() {
    let dir = project(&[("agents/good.md", "fine"), ("code/agents/x.md", "of the collective")]);
    let genie = dir.path().join("demo/.genie");
    std::fs::write(dir.path().join("secret.md"), "secret").unwrap();
    let pipe = |name: &str| {
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        rustix::fs::mkfifoat(rustix::fs::CWD, genie.join(name), mode).unwrap();
    };
    pipe("agents/pipe.md");
    pipe("code/AGENTS.md");
    for (target, name) in [("/dev/zero", "zero"), ("../../../secret.md", "out"), ("good.md", "again")] {
        std::os::unix::fs::symlink(target, genie.join(format!("agents/{name}.md"))).unwrap();
    }
    let scan = scan(&dir.path().join("demo"));
    assert_eq!(names(&scan), ["CLAUDE_CODE:AGAIN", "CLAUDE_CODE:GOOD"], "a link that stays inside is a file");
    let problems = scan.agents.problems.join("\n");
    assert_eq!(scan.agents.problems.len(), 4, "{problems}");
    for part in [
        "agents/pipe.md is a pipe",
        "code/AGENTS.md is a pipe",
        "agents/zero.md leads",
        "agents/out.md leads",
    ] {
        assert!(problems.contains(part), "{part} in\n{problems}");
    }
}
