//! Command lines: which program, which arguments, what on stdin, for each executor and variant.

use std::os::unix::fs::PermissionsExt;

use forge_types::{AgentSource, ProfileId};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::acp::Acp;
use super::agent::Driver;
use super::mcp::Mcp;
use super::profiles::OptionValue;
use super::*;

const NEW: Request<'_> = Request::New { prompt: "do it" };

/// A directory of programs that is the entire PATH.
fn programs(names: &[&str]) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in names {
        let file = dir.path().join(name);
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
    dir
}

fn options(id: &str) -> Options {
    Profiles::built_in().find(&id.parse::<ProfileId>().unwrap(), &Agents::default()).unwrap().1
}

fn planned(id: &str, options: &Options, request: Request<'_>, path: &TempDir) -> Result<Plan, PlanError> {
    let executor = id.parse::<ProfileId>().unwrap().executor;
    let place = LaunchContext {
        worktree: Path::new("/"),
        forge_exe: Path::new("/opt/forge"),
        path_env: path.path().as_os_str(),
    };
    plan(executor, options, request, &place)
}

fn command_line(plan: &Plan) -> String {
    let name = plan.program.file_name().unwrap().to_str().unwrap();
    format!("{name} {}", plan.args.join(" "))
}

#[test]
fn claude_is_started_as_its_variant_says() {
    let path = programs(&["claude"]);
    let tail = "--verbose --output-format=stream-json --input-format=stream-json --include-partial-messages";
    let cases = [
        ("CLAUDE_CODE", NEW, format!("claude -p --dangerously-skip-permissions {tail}")),
        (
            "CLAUDE_CODE:PLAN",
            NEW,
            format!("claude -p --permission-prompt-tool=stdio --permission-mode=bypassPermissions {tail}"),
        ),
        (
            "CLAUDE_CODE:APPROVALS",
            Request::Resume { prompt: "more", session_id: "s-1" },
            format!(
                "claude -p --permission-prompt-tool=stdio --permission-mode=default {tail} --fork-session --resume s-1"
            ),
        ),
    ];
    for (id, request, want) in cases {
        let plan = planned(id, &options(id), request, &path).unwrap();
        assert_eq!(command_line(&plan), want);
        assert_eq!(plan.script, Some(crate::talk::ConversationPlan::Claude));
    }
}

#[test]
fn claude_without_a_program_of_its_own_comes_by_npx() {
    let path = programs(&["npx"]);
    let place = LaunchContext {
        worktree: Path::new("/"),
        forge_exe: Path::new("/"),
        path_env: path.path().as_os_str(),
    };
    // The machine's login shell may find a real one, which is then correct.
    let want = match program::find("claude", &place) {
        None => "npx -y @anthropic-ai/claude-code@2.1.197 -p ",
        Some(_) => "claude -p ",
    };
    let plan = planned("CLAUDE_CODE", &options("CLAUDE_CODE"), NEW, &path).unwrap();
    assert!(command_line(&plan).starts_with(want));
    let mut router = options("CLAUDE_CODE");
    router.own.insert("claude_code_router".into(), json!(true));
    let plan = planned("CLAUDE_CODE", &router, NEW, &programs(&["npx", "claude"])).unwrap();
    assert!(command_line(&plan).starts_with("npx -y @musistudio/claude-code-router@1.0.58 code -p "));
}

#[test]
fn claude_gets_the_prompt_on_stdin_after_the_control_lines() {
    let path = programs(&["claude"]);
    let lines = |id: &str| {
        let options = Options { append_prompt: Some("!".into()), ..options(id) };
        let StdinPlan::Duplex { first, close_on } = planned(id, &options, NEW, &path).unwrap().stdin else {
            panic!("{id} has no conversation");
        };
        assert_eq!(close_on, Some(crate::Cue::Type("result".into())));
        first.iter().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let user = json!({"type": "user", "message": {"role": "user", "content": "do it!"}});
    assert_eq!(lines("CLAUDE_CODE"), std::slice::from_ref(&user));
    for (id, mode) in [("CLAUDE_CODE:PLAN", "plan"), ("CLAUDE_CODE:APPROVALS", "default")] {
        let lines = lines(id);
        assert_eq!(lines[0]["request"]["subtype"], "initialize");
        assert_eq!(lines[1]["request"], json!({"subtype": "set_permission_mode", "mode": mode}));
        assert_eq!(lines[2], user);
        assert_eq!(lines.len(), 3);
    }
}

#[test]
fn only_a_run_that_skips_permissions_may_claim_a_sandbox() {
    let path = programs(&["claude"]);
    let claims = |id: &str| {
        let plan = planned(id, &options(id), NEW, &path).unwrap();
        plan.env.iter().any(|(name, _)| name == "IS_SANDBOX")
    };
    assert_eq!(claims("CLAUDE_CODE"), rustix::process::geteuid().is_root());
    assert!(!claims("CLAUDE_CODE:APPROVALS"));
}

#[test]
fn model_parameters_and_command_come_from_the_profile() {
    let path = programs(&["wrap"]);
    let mut options = options("CLAUDE_CODE:PLAN");
    options.base_command_override = Some("wrap --in 'a box' claude".into());
    options.additional_params = vec!["--add-dir '/x y'".into(), "--last".into()];
    options.own = json!({"model": "opus"}).as_object().unwrap().clone();
    let plan = planned("CLAUDE_CODE", &options, NEW, &path).unwrap();
    assert_eq!(plan.args[..6], ["--in", "a box", "claude", "-p", "--model", "opus"]);
    assert!(plan.args.ends_with(&["--add-dir".into(), "/x y".into(), "--last".into()]));
    options.base_command_override = Some("wrap 'open".into());
    let error = planned("CLAUDE_CODE", &options, NEW, &path).unwrap_err().to_string();
    assert!(error.contains("base_command_override") && error.contains("wrap 'open"), "{error}");
}

#[test]
fn codex_is_started_as_an_app_server() {
    let path = programs(&["codex", "wrap"]);
    let plan = planned("CODEX", &options("CODEX"), NEW, &path).unwrap();
    assert_eq!(command_line(&plan), "codex app-server");
    assert!(plan.env.contains(&("RUST_LOG".into(), "error".into())));
    let StdinPlan::Duplex { first, close_on } = &plan.stdin else { panic!("it has no conversation") };
    assert!(matches!(close_on, Some(crate::Cue::Method { method, .. }) if method == "turn/completed"));
    let first: Value = serde_json::from_str(&first[0]).unwrap();
    assert_eq!((&first["id"], &first["method"]), (&json!(1), &json!("initialize")));
    let Some(ConversationPlan::Codex(opening)) = plan.script else { panic!("it has no script") };
    assert_eq!((opening.prompt.as_str(), opening.resume), ("do it", None));
    let mut wrapped = options("CODEX");
    wrapped.base_command_override = Some("wrap codex app-server".into());
    wrapped.additional_params = vec!["--strict-config".into()];
    let plan = planned("CODEX", &wrapped, NEW, &path).unwrap();
    assert_eq!(command_line(&plan), "wrap codex app-server --strict-config");
}

#[test]
fn the_shell_runs_the_prompt_as_one_argument() {
    let path = programs(&["bash", "sh", "cat"]);
    let prompt = "echo $(id); rm 'x'";
    let plan = planned("SHELL", &options("SHELL"), Request::New { prompt }, &path).unwrap();
    assert_eq!(
        (plan.program, plan.args, plan.stdin),
        (path.path().join("bash"), vec!["-c".to_owned(), prompt.to_owned()], StdinPlan::Closed,)
    );
    let cat = Options { base_command_override: Some("cat -n".into()), ..options("SHELL") };
    let plan = planned("SHELL", &cat, NEW, &path).unwrap();
    assert_eq!(command_line(&plan), "cat -n");
    assert_eq!(plan.stdin, StdinPlan::Feed { text: "do it".into() });
    let plan = planned("SHELL", &options("SHELL"), NEW, &programs(&["sh"])).unwrap();
    assert_eq!(command_line(&plan), "sh -c do it");
}

#[test]
fn the_scripted_agent_is_forge_itself() {
    let plan = planned("SCRIPTED", &options("SCRIPTED"), NEW, &programs(&[])).unwrap();
    assert_eq!(
        (plan.program.as_path(), plan.args),
        (Path::new("/opt/forge"), vec!["scripted-agent".to_owned()])
    );
    assert_eq!(plan.stdin, StdinPlan::Feed { text: "do it".into() });
}

#[test]
fn a_missing_program_is_named() {
    let error = planned("CURSOR", &options("CURSOR"), NEW, &programs(&[])).unwrap_err();
    assert!(error.to_string().starts_with("Executable `cursor-agent` not found in PATH; "), "{error}");
    let nowhere = Options { base_command_override: Some("no-such-program-here".into()), ..options("SHELL") };
    let error = planned("SHELL", &nowhere, NEW, &programs(&[])).unwrap_err();
    assert!(
        matches!(&error, PlanError::NotFound { program, .. } if program == "no-such-program-here"),
        "{error}"
    );
}

#[test]
fn a_script_is_run_by_a_shell_with_closed_stdin() {
    let path = std::env::var_os("PATH").unwrap();
    let place =
        LaunchContext { worktree: Path::new("/"), forge_exe: Path::new("/opt/forge"), path_env: &path };
    let plan = plan_script("exit 3", &place).unwrap();
    assert_eq!(
        (&plan.args[..], &plan.stdin),
        (&["-c".to_owned(), "exit 3".to_owned()][..], &StdinPlan::Closed)
    );
    let status = std::process::Command::new(plan.program).args(plan.args).status().unwrap();
    assert_eq!(status.code(), Some(3));
}

#[test]
fn agents_that_speak_acp_are_started_as_their_variants_say() {
    let resume = Request::Resume { prompt: "more", session_id: "s-1" };
    let cases = [
        ("COPILOT", "copilot --acp --no-auto-update --allow-all-tools"),
        ("COPILOT:GPT_5", "copilot --acp --no-auto-update --allow-all-tools --model gpt-5"),
        ("COPILOT:APPROVALS", "copilot --acp --no-auto-update"),
        ("GEMINI", "gemini --acp --yolo"),
        ("GEMINI:FLASH", "gemini --acp --yolo --model gemini-2.5-flash"),
        ("GEMINI:APPROVALS", "gemini --acp"),
        ("QWEN_CODE", "qwen --acp --yolo"),
        ("QWEN_CODE:APPROVALS", "qwen --acp"),
        ("OPENCODE", "opencode acp"),
        ("DROID", "droid exec --output-format acp"),
    ];
    let path = programs(&["copilot", "gemini", "qwen", "opencode", "droid"]);
    for (id, want) in cases {
        for request in [NEW, resume] {
            let plan = planned(id, &options(id), request, &path).unwrap();
            assert_eq!(command_line(&plan).trim_end(), want);
            let StdinPlan::Duplex { first, close_on } = plan.stdin else {
                panic!("{id} has no conversation")
            };
            assert_eq!(first.len(), 1);
            // Only an agent that asks nobody may end without a server.
            let asks = id.ends_with("APPROVALS");
            assert_eq!(close_on, (!asks).then_some(crate::Cue::Reply(3)), "{id}");
            assert!(plan.env.contains(&("NODE_NO_WARNINGS".into(), "1".into())));
            let Some(ConversationPlan::Acp(opening)) = plan.script else { panic!("{id} has no script") };
            assert_eq!(opening.session.as_deref(), request.session());
        }
    }
}

#[test]
fn copilots_options_become_arguments() {
    let mut options = options("COPILOT:APPROVALS");
    options.own = json!({
        "allow_tool": "write", "deny_tool": "shell(rm)", "add_dir": ["/a b", "/c"], "disable_mcp_server": ["x"],
    })
    .as_object()
    .unwrap()
    .clone();
    let plan = planned("COPILOT", &options, NEW, &programs(&["copilot"])).unwrap();
    let want = [
        "--allow-tool=write",
        "--deny-tool=shell(rm)",
        "--add-dir=/a b",
        "--add-dir=/c",
        "--disable-mcp-server=x",
    ];
    assert_eq!(plan.args[2..], want);
    let Some(ConversationPlan::Acp(opening)) = plan.script else { panic!("no script") };
    assert_eq!(opening.permissions, crate::talk::acp::Permissions::Asked, "no option allows everything");
}

#[test]
fn a_model_is_an_argument_or_chosen_in_the_session() {
    let path = programs(&["opencode", "qwen"]);
    let chosen = |id: &str| {
        let mut options = options(id);
        options.own.extend(json!({"model": "m", "agent": "plan"}).as_object().unwrap().clone());
        let plan = planned(id, &options, NEW, &path).unwrap();
        let Some(ConversationPlan::Acp(opening)) = plan.script.clone() else { panic!("no script") };
        (plan.args.ends_with(&["--model".into(), "m".into()]), opening.model, opening.mode)
    };
    assert_eq!(chosen("QWEN_CODE"), (true, None, None));
    assert_eq!(chosen("OPENCODE"), (false, Some("m".into()), Some("plan".into())));
}

#[test]
fn any_command_may_speak_acp_if_it_is_named() {
    let error = planned("ACP", &options("ACP"), NEW, &programs(&[])).unwrap_err().to_string();
    assert!(error.starts_with("base_command_override: is not set; ACP has no program"), "{error}");
    let named = Options { base_command_override: Some("mine --acp".into()), ..options("ACP") };
    let plan = planned("ACP", &named, NEW, &programs(&["mine"])).unwrap();
    assert_eq!(command_line(&plan), "mine --acp");
}

#[test]
fn headless_agents_read_the_prompt_and_nothing_else() {
    let resume = Request::Resume { prompt: "do it", session_id: "T-1" };
    let cases = [
        ("AMP", NEW, "amp --execute --stream-json --dangerously-allow-all"),
        ("AMP", resume, "amp threads continue T-1 --execute --stream-json --dangerously-allow-all"),
        ("CURSOR", NEW, "cursor-agent -p --output-format=stream-json --force --model auto"),
        ("CURSOR", resume, "cursor-agent -p --output-format=stream-json --force --model auto --resume T-1"),
    ];
    let path = programs(&["amp", "cursor-agent"]);
    for (id, request, want) in cases {
        let plan = planned(id, &options(id), request, &path).unwrap();
        assert_eq!(command_line(&plan), want);
        assert_eq!((plan.stdin, plan.script), (StdinPlan::Feed { text: "do it".into() }, None));
    }
}

/// An agent that only these tests know, in place of one that Forge has.
static NOVEL: Agent = Agent {
    executor: Executor::Droid,
    name: "Novel",
    software: Some(Software {
        program: "sh",
        package: None,
        install: "get novel",
        log_in: &["enter"],
        keys: &[],
        logins: &[".no-such-agent/login"],
        moved: None,
    }),
    driver: Driver::Acp(Acp { args: &["--novel"], ..Acp::ORDINARY }),
    variants: &[("GENIE", &[]), ("BOLD", &[("model", OptionValue::Text("bold"))])],
    mcp: Some(Mcp { key: "novelServers", ..Mcp::usual(".no-such-agent/mcp.json") }),
    ..Agent::ORDINARY
};

#[test]
fn an_agent_is_known_everywhere_by_its_one_value() {
    let id = NOVEL.executor.as_str();
    let profiles = Profiles::of(&[&NOVEL]);
    let bold = json!({"model": "bold", "append_prompt": null});
    assert_eq!(profiles.to_json()["executors"][id]["BOLD"][id], bold);
    let seen = survey::survey_of(&[&NOVEL]).agents;
    assert_eq!(
        seen[0].fix().as_deref(),
        Some(if seen[0].version.is_some() { "sh enter" } else { "get novel" })
    );
    let found = found_agents(&seen, Path::new("/opt/forge"));
    assert_eq!(found.len(), 3, "it and the two that are built in");
    let novel = &found[0];
    assert_eq!((novel.name.as_str(), novel.protocol.as_str(), novel.ready), ("Novel", "ACP", false));
    assert_eq!((novel.install.as_str(), novel.log_in.as_deref()), ("get novel", Some("sh enter")));
    let (config, file) = mcp::read(&NOVEL).unwrap();
    assert!(file.ends_with(".no-such-agent/mcp.json"), "{file:?}");
    assert_eq!(config.servers_path, ["novelServers"]);
    assert!(config.preconfigured["forge"].is_object());
    let path = programs(&["sh"]);
    let place = LaunchContext {
        worktree: Path::new("/"),
        forge_exe: Path::new("/"),
        path_env: path.path().as_os_str(),
    };
    let (_, options) = profiles.find(&ProfileId::new(NOVEL.executor), &Agents::default()).unwrap();
    let plan = NOVEL.plan(&options, NEW, &place).unwrap();
    assert_eq!(command_line(&plan), "sh --novel");
    assert!(matches!(plan.script, Some(ConversationPlan::Acp(_))));
    assert_eq!(NOVEL.dialect(), crate::fold::Dialect::Acp);
}

#[test]
fn every_agent_has_all_data_that_agents_need() {
    let found = |about: &'static Agent| {
        let software = about.software.as_ref()?;
        let (found, version) = (Some((AgentSource::Path, "/bin/it".into())), Some("1.0".to_owned()));
        Some(SurveyedAgent { about, software, found, version, keys: Vec::new(), login: None })
    };
    let seen: Vec<_> = ALL.into_iter().filter_map(found).collect();
    let found = found_agents(&seen, Path::new("/opt/forge"));
    let profiles = Profiles::built_in().to_json();
    let mut names = std::collections::BTreeSet::new();
    for about in ALL {
        let id = about.executor.as_str();
        assert!(names.insert(about.name), "{id} has the name of another agent");
        assert!(profiles["executors"][id]["GENIE"][id].is_object(), "{id}");
        // Only a profile says which program `ACP` is.
        let listed = found.iter().find(|agent| agent.executor == about.executor);
        assert_eq!(listed.is_some(), about.executor != Executor::Acp, "{id}");
        let Some(software) = &about.software else { continue };
        let listed = listed.unwrap();
        assert_eq!(listed.name, about.name);
        assert!(
            listed.log_in.as_deref().is_some_and(|command| command.starts_with(software.program)),
            "{id}"
        );
        assert!(!listed.install.is_empty() && !software.keys.is_empty() && !software.logins.is_empty());
        let version = |package: &str| package.rsplit_once('@').map(|(_, version)| version.to_owned());
        let is_exact = |version: String| version.starts_with(|c: char| c.is_ascii_digit());
        assert!(software.package.is_none_or(|package| version(package).is_some_and(is_exact)), "{id}");
        let presets = about.mcp.as_ref().map(|mcp| mcp::presets::written(mcp.adapt));
        assert!(presets.is_some_and(|presets| presets["forge"].is_object()), "{id}");
    }
}
