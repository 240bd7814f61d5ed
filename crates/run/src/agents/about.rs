//! What is known about each executor's program, as data.
//!
//! Invariant: package versions are exact, because npm silently takes another one when it may.

use forge_types::Executor;

/// The language an agent is spoken to in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Claude's stream-json, both ways.
    StreamJson,
    /// Codex's JSON-RPC.
    AppServer,
    /// The Agent Client Protocol.
    Acp,
    /// Stream-json from the agent only; the prompt is all it is told.
    Headless,
    /// Whatever it prints.
    Text,
}

impl Protocol {
    pub fn as_str(self) -> &'static str {
        match self {
            Protocol::StreamJson => "stream-json",
            Protocol::AppServer => "app-server",
            Protocol::Acp => "ACP",
            Protocol::Headless => "headless",
            Protocol::Text => "text",
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
pub struct About {
    /// As its makers write it.
    pub name: &'static str,
    pub program: &'static str,
    /// The npm package that `npx` runs when the program is not installed.
    pub package: Option<&'static str>,
    pub protocol: Protocol,
    /// The command that installs the program.
    pub install: &'static str,
    /// What makes the program ask a person to log in; nothing where it asks as soon as it is started.
    pub log_in: &'static [&'static str],
    /// Variables that hold a key for it.
    pub keys: &'static [&'static str],
    /// Files, below the home directory, that exist once somebody has logged in.
    pub logins: &'static [&'static str],
}

/// `None` for executors without a program of their own.
pub fn about(executor: Executor) -> Option<&'static About> {
    Some(match executor {
        Executor::ClaudeCode => &About {
            name: "Claude Code",
            program: "claude",
            package: Some("@anthropic-ai/claude-code@2.1.197"),
            protocol: Protocol::StreamJson,
            install: "npm install -g @anthropic-ai/claude-code",
            log_in: &[],
            keys: &["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
            logins: &[".claude/.credentials.json"],
        },
        Executor::Codex => &About {
            name: "Codex",
            program: "codex",
            package: Some("@openai/codex@0.166.0"),
            protocol: Protocol::AppServer,
            install: "npm install -g @openai/codex",
            log_in: &["login"],
            keys: &["OPENAI_API_KEY", "CODEX_API_KEY"],
            logins: &[".codex/auth.json"],
        },
        Executor::Copilot => &About {
            name: "GitHub Copilot",
            program: "copilot",
            package: Some("@github/copilot@1.0.102"),
            protocol: Protocol::Acp,
            install: "npm install -g @github/copilot",
            log_in: &["login"],
            keys: &["COPILOT_PROVIDER_API_KEY", "COPILOT_GITHUB_TOKEN"],
            logins: &[".copilot/config.json"],
        },
        Executor::Gemini => &About {
            name: "Gemini CLI",
            program: "gemini",
            package: Some("@google/gemini-cli@0.61.0"),
            protocol: Protocol::Acp,
            install: "npm install -g @google/gemini-cli",
            log_in: &[],
            keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
            logins: &[".gemini/oauth_creds.json"],
        },
        Executor::QwenCode => &About {
            name: "Qwen Code",
            program: "qwen",
            package: Some("@qwen-code/qwen-code@0.15.10"),
            protocol: Protocol::Acp,
            install: "npm install -g @qwen-code/qwen-code",
            log_in: &[],
            keys: &["OPENAI_API_KEY", "DASHSCOPE_API_KEY"],
            logins: &[".qwen/oauth_creds.json"],
        },
        Executor::Opencode => &About {
            name: "opencode",
            program: "opencode",
            package: Some("opencode-ai@1.18.33"),
            protocol: Protocol::Acp,
            install: "npm install -g opencode-ai",
            log_in: &["auth", "login"],
            keys: &["OPENCODE_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
            logins: &[".local/share/opencode/auth.json"],
        },
        Executor::Droid => &About {
            name: "Droid",
            program: "droid",
            package: Some("droid@0.215.0"),
            protocol: Protocol::Acp,
            install: "npm install -g droid",
            log_in: &[],
            keys: &["FACTORY_API_KEY"],
            logins: &[".factory/auth.json"],
        },
        Executor::Amp => &About {
            name: "Amp",
            program: "amp",
            package: Some("@sourcegraph/amp@0.0.1769314944-g5070a1"),
            protocol: Protocol::Headless,
            install: "npm install -g @sourcegraph/amp",
            log_in: &["login"],
            keys: &["AMP_API_KEY"],
            logins: &[".local/share/amp/secrets.json"],
        },
        Executor::CursorAgent => &About {
            name: "Cursor Agent",
            program: "cursor-agent",
            package: None,
            protocol: Protocol::Headless,
            install: "curl https://cursor.com/install -fsS | bash",
            log_in: &["login"],
            keys: &["CURSOR_API_KEY"],
            logins: &[".cursor/cli-config.json"],
        },
        Executor::Acp | Executor::Shell | Executor::Scripted => return None,
    })
}
