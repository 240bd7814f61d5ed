//! MCP servers in the configuration files of agent programs, which belong to the user.

use std::os::unix::fs::PermissionsExt;

use forge_tests::TestForge;
use serde_json::json;

const CODEX: &str =
    "# my settings\nmodel = \"o3\" # fast\n\n[mcp_servers.docs] # mine\ncommand = 'docs'\n\n[tui]\n";
const OPENCODE: &str = "{\n  // colours\n  \"theme\": \"x\",\n  \"mcp\": {\n    \"docs\": {\"type\": \"local\", \
                        \"command\": [\"docs\"]}, // mine\n  },\n  \"keep\": [1, 2,], /* as it is */\n}\n";

async fn forge_with_home() -> (TestForge, tempfile::TempDir) {
    let home = tempfile::tempdir().unwrap();
    let env = [("HOME", home.path().to_str().unwrap()), ("XDG_CONFIG_HOME", "")];
    (TestForge::with(&[], &env).await, home)
}

#[tokio::test]
async fn a_commented_file_keeps_every_byte_but_those_of_the_server_that_is_added() {
    let (forge, home) = forge_with_home().await;
    std::fs::create_dir_all(home.path().join(".codex")).unwrap();
    std::fs::create_dir_all(home.path().join(".config/opencode")).unwrap();
    let toml = home.path().join(".codex/config.toml");
    // The file is kept elsewhere, as people do who keep their settings in a repository.
    let real = home.path().join("dotfiles.jsonc");
    let jsonc = home.path().join(".config/opencode/opencode.json");
    std::fs::write(&toml, CODEX).unwrap();
    std::fs::write(&real, OPENCODE).unwrap();
    std::fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, &jsonc).unwrap();

    let codex = forge.get("/api/mcp-config?executor=CODEX").await.data();
    assert_eq!(codex["mcp_config"]["servers"], json!({"docs": {"command": "docs"}}));
    assert_eq!((&codex["mcp_config"]["is_toml_config"], &codex["config_path"]), (&json!(true), &json!(toml)));
    let mut servers = codex["mcp_config"]["servers"].clone();
    servers["new"] = json!({"command": "npx", "args": ["-y", "x"]});
    let answer = forge.post("/api/mcp-config?executor=CODEX", &json!({"servers": servers})).await.data();
    assert_eq!(answer, "Updated MCP server configuration (was 1, now 2)");
    let added = "\n[mcp_servers.new]\nargs = [\"-y\", \"x\"]\ncommand = \"npx\"\n";
    assert_eq!(
        std::fs::read_to_string(&toml).unwrap(),
        CODEX.replacen("\n[tui]", &format!("{added}\n[tui]"), 1)
    );
    assert_eq!(std::fs::read_to_string(home.path().join(".codex/config.toml.forge-backup")).unwrap(), CODEX);

    let servers =
        json!({"docs": {"type": "local", "command": ["docs"]}, "new": {"type": "remote", "url": "http://u"}});
    forge.post("/api/mcp-config?executor=OPENCODE", &servers).await.data();
    let added = "// mine\n    \"new\": {\n      \"type\": \"remote\",\n      \"url\": \"http://u\"\n    }\n";
    assert_eq!(std::fs::read_to_string(&jsonc).unwrap(), OPENCODE.replace("// mine\n", added));
    assert!(jsonc.is_symlink(), "a link stays a link");
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(
        std::fs::read_dir(home.path()).unwrap().count(),
        4,
        "nothing but the backup is left beside it"
    );
}

#[tokio::test]
async fn a_file_that_cannot_be_understood_is_not_written() {
    let (forge, home) = forge_with_home().await;
    let file = home.path().join(".claude.json");
    std::fs::write(&file, "{\"oauth\": \"precious\", ").unwrap();
    for answer in [
        forge.get("/api/mcp-config?executor=CLAUDE_CODE").await,
        forge.post("/api/mcp-config?executor=CLAUDE_CODE", &json!({"servers": {}})).await,
    ] {
        assert_eq!((answer.status, &answer.body["success"]), (200, &json!(false)), "{}", answer.text);
        assert!(answer.message().contains(".claude.json") && !answer.message().contains("precious"));
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "{\"oauth\": \"precious\", ");
}

#[tokio::test]
async fn a_new_file_is_made_and_wrong_requests_are_told_why() {
    let (forge, home) = forge_with_home().await;
    let path = "/api/mcp-config?executor=GEMINI";
    let empty = forge.post(path, &json!({"servers": {}})).await.data();
    assert_eq!(empty, "No MCP servers configured");
    assert!(!home.path().join(".gemini").exists(), "nothing to write, nothing written");
    assert_eq!(forge.post(path, &json!({"x": {"command": "echo"}})).await.data(), "Added 1 MCP server(s)");
    let file = home.path().join(".gemini/settings.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let again = forge.post(path, &json!({"servers": {"x": {"command": "cat"}}})).await.data();
    assert_eq!(again, "Updated MCP server configuration (1 server(s))");

    let wrong = forge.post(path, &json!({"servers": {"x": 3}})).await;
    assert_eq!(wrong.status, 422);
    assert!(wrong.message().contains("servers.x"), "{}", wrong.text);
    let unsupported = forge.get("/api/mcp-config?executor=SHELL").await;
    assert_eq!((unsupported.status, &unsupported.body["success"]), (200, &json!(false)));
    let unknown = forge.get("/api/mcp-config?executor=NOPE").await;
    assert_eq!(unknown.status, 400);
    assert!(unknown.message().contains("CLAUDE_CODE"), "{}", unknown.text);
}
