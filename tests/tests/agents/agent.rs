//! The agents as data: how each finds the scripted model and keeps its retries short.
//!
//! `{url}`, `{key}` and `{home}` in values and files are replaced by what the case has.

/// Whether the whole run fails without it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    Yes,
    No,
}

/// What is said of money.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    ByAgent,
    Unknown,
}

pub struct Agent {
    pub name: &'static str,
    pub executor: &'static str,
    pub program: &'static str,
    pub version: &'static str,
    pub gate: Gate,
    pub env: &'static [(&'static str, &'static str)],
    /// Below the home directory.
    pub files: &'static [(&'static str, &'static str)],
    pub cost: Cost,
    pub words: Words,
}

/// What an agent says when the provider refuses: some have words of their own.
pub struct Words {
    pub on_401: &'static str,
    pub on_429: &'static str,
    pub on_500: &'static str,
}

pub const AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        executor: "CLAUDE_CODE",
        program: "claude",
        version: "2.1.197",
        gate: Gate::Yes,
        env: &[
            ("ANTHROPIC_BASE_URL", "{url}"),
            ("ANTHROPIC_API_KEY", "{key}"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
        ],
        files: &[],
        cost: Cost::ByAgent,
        words: Words { on_401: "Invalid API key", on_429: "rate limited", on_500: "scripted error 500" },
    },
    Agent {
        name: "codex",
        executor: "CODEX",
        program: "codex",
        version: "0.166.0",
        gate: Gate::Yes,
        env: &[("CODEX_HOME", "{home}/.codex"), ("SCRIPTED_API_KEY", "{key}")],
        files: &[(
            ".codex/config.toml",
            r#"model = "gpt-5-codex"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.scripted]
name = "Scripted"
base_url = "{url}/v1"
env_key = "SCRIPTED_API_KEY"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
"#,
        )],
        cost: Cost::Unknown,
        words: Words { on_401: "Incorrect API key", on_429: "429", on_500: "high demand" },
    },
    Agent {
        name: "copilot",
        executor: "COPILOT",
        program: "copilot",
        version: "1.0.102",
        gate: Gate::Yes,
        env: &[
            ("COPILOT_PROVIDER_BASE_URL", "{url}/v1"),
            ("COPILOT_PROVIDER_API_KEY", "{key}"),
            ("COPILOT_MODEL", "gpt-4.1"),
            ("COPILOT_OFFLINE", "true"),
        ],
        files: &[],
        cost: Cost::Unknown,
        words: Words { on_401: "401", on_429: "429", on_500: "scripted error 500" },
    },
    Agent {
        name: "gemini",
        executor: "GEMINI",
        program: "gemini",
        version: "0.61.0",
        gate: Gate::No,
        env: &[
            ("GEMINI_API_KEY", "{key}"),
            ("GOOGLE_GEMINI_BASE_URL", "{url}"),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ],
        files: &[(
            ".gemini/settings.json",
            r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
"telemetry": {"enabled": false}, "general": {"enableAutoUpdate": false, "maxAttempts": 2}}"#,
        )],
        cost: Cost::Unknown,
        words: Words { on_401: "API key not valid", on_429: "rate limited", on_500: "scripted error 500" },
    },
    Agent {
        name: "qwen",
        executor: "QWEN_CODE",
        program: "qwen",
        version: "0.15.10",
        gate: Gate::No,
        env: &[("OPENAI_API_KEY", "{key}"), ("OPENAI_BASE_URL", "{url}/v1"), ("OPENAI_MODEL", "fake-model")],
        files: &[(
            ".qwen/settings.json",
            r#"{"security": {"auth": {"selectedType": "openai"}}, "privacy": {"usageStatisticsEnabled": false},
"telemetry": {"enabled": false}, "general": {"disableAutoUpdate": true}}"#,
        )],
        cost: Cost::Unknown,
        words: Words { on_401: "Incorrect API key", on_429: "rate limited", on_500: "scripted error 500" },
    },
    Agent {
        name: "opencode",
        executor: "OPENCODE",
        program: "opencode",
        version: "1.18.33",
        gate: Gate::No,
        env: &[
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
            ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ],
        files: &[(
            ".config/opencode/opencode.json",
            r#"{"provider": {"fake": {"npm": "@ai-sdk/openai-compatible", "name": "Fake",
"options": {"baseURL": "{url}/v1", "apiKey": "{key}"},
"models": {"fake-model": {"name": "Fake", "limit": {"context": 100000, "output": 8000},
"cost": {"input": 1, "output": 2, "cache_read": 0.1}}}}},
"model": "fake/fake-model", "autoupdate": false, "share": "disabled",
"permission": {"bash": "ask", "edit": "ask"}}"#,
        )],
        cost: Cost::ByAgent,
        words: Words { on_401: "Incorrect API key", on_429: "rate limited", on_500: "scripted error 500" },
    },
    Agent {
        name: "droid",
        executor: "DROID",
        program: "droid",
        version: "0.215.0",
        gate: Gate::No,
        env: &[("FACTORY_API_KEY", "fk-test"), ("FACTORY_DROID_AUTO_UPDATE_ENABLED", "false")],
        files: &[(
            ".factory/settings.json",
            r#"{"customModels": [{"model": "fake-model", "displayName": "Fake", "baseUrl": "{url}/v1", "apiKey": "{key}",
"provider": "generic-chat-completion-api", "maxOutputTokens": 8000}]}"#,
        )],
        cost: Cost::Unknown,
        words: Words { on_401: "401", on_429: "429", on_500: "500" },
    },
];
