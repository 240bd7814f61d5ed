use super::*;

fn find(profiles: &Profiles, id: &str) -> Result<Options, String> {
    let found = profiles.find(&id.parse().unwrap(), &Agents::default());
    found.map(|(_, options)| options).map_err(|error| error.to_string())
}

#[test]
fn variants_are_found_in_every_spelling() {
    let profiles = Profiles::built_in();
    let cases = [
        ("CLAUDE_CODE", "dangerously_skip_permissions", json!(true)),
        ("CLAUDE_CODE:DEFAULT", "dangerously_skip_permissions", json!(true)),
        ("CLAUDE_CODE:plan", "plan", json!(true)),
        ("claude-code:Approvals", "approvals", json!(true)),
        ("CODEX:high", "model_reasoning_effort", json!("high")),
        ("CURSOR:sonnet-4.5", "model", json!("sonnet-4.5")),
        ("COPILOT:gpt 5", "model", json!("gpt-5")),
        ("GEMINI:flash", "yolo", json!(true)),
    ];
    for (id, option, want) in cases {
        assert_eq!(find(&profiles, id).unwrap().own[option], want, "{id}");
    }
    for executor in Executor::ALL {
        assert!(profiles.find(&ProfileId::new(*executor), &Agents::default()).is_ok(), "{executor}");
    }
}

#[test]
fn an_unknown_variant_is_refused_with_the_known_ones() {
    assert_eq!(
        find(&Profiles::built_in(), "CLAUDE_CODE:CODE_X").unwrap_err(),
        "executor_profile_id.variant: unknown variant CODE_X for CLAUDE_CODE; known: APPROVALS, GENIE, PLAN"
    );
}

#[test]
fn a_projects_agents_are_found_with_and_without_prefixes_and_before_others() {
    let words = |text: &str| Map::from_iter([("append_prompt".to_owned(), json!(text))]);
    let named = ["CODE_EXPLORE", "CODE_TWO_WORDS", "CREATE_TWO_WORDS", "PLAN", "SOLO"];
    let variants = named.map(|name| (name.to_owned(), words(name))).into();
    let agents = Agents {
        variants: BTreeMap::from([(Executor::ClaudeCode, variants)]),
        collectives: ["CODE", "CREATE"].map(str::to_owned).into(),
        project: "DEMO".to_owned(),
        problems: Vec::new(),
    };
    let find = |name: &str| {
        let id = ProfileId { variant: Some(name.to_owned()), ..ProfileId::new(Executor::ClaudeCode) };
        let found = Profiles::built_in().find(&id, &agents).map_err(|error| error.to_string())?;
        Ok::<_, String>((found.0.variant.unwrap_or_default(), found.1.append_prompt.unwrap_or_default()))
    };
    for name in ["CODE_EXPLORE", "code/explore", "EXPLORE", "DEMO_CODE_EXPLORE", "demo-explore"] {
        assert_eq!(find(name).unwrap().0, "CODE_EXPLORE", "{name}");
    }
    assert_eq!(find("CODE_TWO-WORDS").unwrap().0, "CODE_TWO_WORDS");
    assert_eq!(find("CODE_SOLO").unwrap().0, "SOLO");
    assert!(find("CREATE_EXPLORE").is_err(), "an agent of another collective is another agent");
    assert_eq!(find("plan").unwrap().1, "PLAN", "the project's own comes before the built-in one");
    assert_eq!(find("APPROVALS").unwrap().0, "APPROVALS");
    assert!(find("two words").unwrap_err().contains("CODE_TWO_WORDS, CREATE_TWO_WORDS; name one"));
    let unknown = find("CODE_APPROVALS").unwrap_err();
    assert!(
        unknown
            .ends_with("known: APPROVALS, CODE_EXPLORE, CODE_TWO_WORDS, CREATE_TWO_WORDS, GENIE, PLAN, SOLO")
    );
}

#[test]
fn the_request_names_the_model() {
    let id = ProfileId { model: Some("opus".into()), ..ProfileId::new(Executor::ClaudeCode) };
    let (_, options) = Profiles::built_in().find(&id, &Agents::default()).unwrap();
    assert_eq!(options.text("model"), Some("opus"));
}

#[test]
fn a_users_profiles_change_and_add_but_never_remove() {
    let user = json!({"executors": {"claude-code": {
        "default": {"CLAUDE_CODE": {"model": "m", "append_prompt": " be brief", "plan": null}},
        "my own": {"CLAUDE_CODE": {"additional_params": ["--a b"], "base_command_override": "x y", "novel": 1}},
    }}});
    let merged = Profiles::built_in().merged_with(&user.to_string()).unwrap();
    let changed = find(&merged, "CLAUDE_CODE").unwrap();
    assert_eq!(changed.append_prompt.as_deref(), Some(" be brief"));
    assert_eq!(Value::Object(changed.own), json!({"model": "m"}));
    let added = find(&merged, "CLAUDE_CODE:MY_OWN").unwrap();
    assert_eq!((added.additional_params, added.own["novel"].clone()), (vec!["--a b".to_owned()], json!(1)));
    assert!(find(&merged, "CLAUDE_CODE:PLAN").is_ok() && find(&merged, "AMP").is_ok());
    assert_eq!(Profiles::built_in().merged_with(&merged.to_json().to_string()), Ok(merged));
}

#[test]
fn a_wrong_profile_is_refused_with_its_place() {
    let one = |variant: &str, inner: Value| json!({"executors": {"AMP": {variant: inner}}}).to_string();
    let cases = [
        ("{".to_owned(), "profiles: not JSON"),
        ("{}".to_owned(), "executors: must be a JSON object"),
        (
            json!({"executors": {"NOPE": {}}}).to_string(),
            "executors.NOPE: unknown executor 'NOPE'; allowed: CLAUDE",
        ),
        (one("__x", json!({"AMP": {}})), "executors.AMP.__x: is not a variant name"),
        (
            one("X", json!({"CODEX": {}})),
            "executors.AMP.X: holds options of CODEX; the inner key must be AMP",
        ),
        (one("X", json!({})), "executors.AMP.X: must hold exactly one key, AMP"),
        (
            one("X", json!({"AMP": {"yolo": "y"}})),
            "executors.AMP.X.AMP.yolo: is \"y\"; allowed: true or false",
        ),
        (
            one("X", json!({"AMP": {"sandbox": "open"}})),
            "executors.AMP.X.AMP.sandbox: is \"open\"; allowed: auto, read-only, workspace-write, danger-full-access",
        ),
        (
            json!({"executors": {"AMP": {"DEFAULT": {"AMP": {}}, "GENIE": {"AMP": {}}}}}).to_string(),
            "executors.AMP.GENIE: is the same variant as DEFAULT",
        ),
    ];
    for (json, want) in cases {
        let error = Profiles::built_in().merged_with(&json).unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
    }
}

#[test]
fn options_are_listed_with_append_prompt_and_without_nulls() {
    let json = Profiles::built_in().to_json();
    assert_eq!(
        json["executors"]["CLAUDE_CODE"]["PLAN"],
        json!({"CLAUDE_CODE": {"append_prompt": null, "plan": true}})
    );
    assert_eq!(json["executors"].as_object().unwrap().len(), Executor::ALL.len());
}

#[test]
fn an_option_means_one_thing_and_variants_set_only_options_of_their_agent() {
    for agent in ALL {
        for AgentOption { key, kind, .. } in agent.options() {
            assert_eq!(kind_of(key), Some(*kind), "{key} of {}", agent.executor);
        }
        for (variant, given) in agent.variants.iter().chain([&("described", agent.described_with)]) {
            let mut options = Map::new();
            fill(&mut options, given);
            for (name, value) in options {
                let known = agent.options().find(|option| option.key == name);
                assert!(
                    known.is_some_and(|option| option.kind.allows(&value)),
                    "{}:{variant} sets {name} to {value}",
                    agent.executor
                );
            }
        }
    }
}
