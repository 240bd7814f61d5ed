//! The peer: npm package `@automagik/forge`, started so that it can touch nothing of the user's.
//!
//! At start it deletes every directory it does not know below a fixed worktree root in `/var/tmp`. It therefore runs
//! only in a private mount namespace with a private directory over `/var/tmp`; where that cannot be had it is refused.
//! It gets its own home, analytics off before the first start, and listens on loopback only.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::json;
use tokio::process::Command;

use crate::server::{Launch, Side, free_port};
use crate::work::Work;

const PACKAGE: &str = "@automagik/forge";
const VERSION: &str = "0.7.4";

/// Program the peer starts its agents with; run under this name the bench is the agent.
pub const AGENT_NAME: &str = "npx";

/// Run with the private directory as `$0` and the program as `$1`.
const ENTER: &str = r#"mount --bind "$0" /var/tmp && exec "$1""#;
const EXTRACT: &str = "new (require(process.argv[1]))(process.argv[2]).extractAllTo(process.argv[3], true)";

/// Everything needed to start the peer; installs the package when it is missing.
pub async fn prepare(work: &Work, install_dir: &Path) -> Result<Launch> {
    let program = install(install_dir).await?;
    let home = work.dir("peer")?;
    let var_tmp = work.dir("peer-var-tmp")?;
    let temp = work.dir("peer-tmp")?;
    let path = place_agent(&work.dir("peer-bin")?)?;
    let unshare = namespace(&var_tmp).await?;
    write_config(&home)?;
    let mut command: Vec<_> = unshare.iter().map(Into::into).collect();
    command.extend(["sh".into(), "-c".into(), ENTER.into(), var_tmp.into(), program.clone().into()]);
    Ok(Launch {
        side: Side::Peer,
        command,
        envs: vec![
            ("HOME".into(), home.clone().into()),
            ("PATH".into(), path),
            ("TMPDIR".into(), temp.into()),
            ("RUST_LOG".into(), "info".into()),
        ],
        log: work.log("peer"),
        home,
        program,
        port: free_port()?,
        run: work.run.clone(),
    })
}

/// Puts the fake agent first on the search path under the name the peer starts agents with: it forgets stored profiles
/// as soon as a project is created.
fn place_agent(folder: &Path) -> Result<OsString> {
    let link = folder.join(AGENT_NAME);
    std::os::unix::fs::symlink(std::env::current_exe()?, link)?;
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(folder.to_owned()).chain(std::env::split_paths(&rest));
    Ok(std::env::join_paths(folders)?)
}

/// The words that enter a private mount namespace here: as root, or through a user namespace.
async fn namespace(var_tmp: &Path) -> Result<Vec<&'static str>> {
    for words in [vec!["unshare", "--mount"], vec!["unshare", "-r", "--mount"]] {
        let test = Command::new(words[0])
            .args(&words[1..])
            .args(["sh", "-c", ENTER])
            .arg(var_tmp)
            .arg("true")
            .output()
            .await;
        if test.is_ok_and(|output| output.status.success()) {
            return Ok(words);
        }
    }
    bail!(
        "refusing to start the peer: no private mount namespace (`unshare --mount` and `unshare -r --mount` both \
         fail), and outside one it would delete foreign directories below /var/tmp; run with --no-peer"
    )
}

async fn install(dir: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(dir)?;
    let dir = dir.canonicalize()?;
    let package = dir.join("node_modules").join(PACKAGE);
    if !package.join("package.json").exists() {
        let npm = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix"])
            .arg(&dir)
            .arg(format!("{PACKAGE}@{VERSION}"))
            .output()
            .await
            .context("npm is needed to install the peer; or run with --no-peer")?;
        if !npm.status.success() {
            bail!("npm install {PACKAGE}@{VERSION}: {}", String::from_utf8_lossy(&npm.stderr));
        }
    }
    let platform = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => "linux-x64",
        ("linux", "aarch64") => "linux-arm64",
        (os, arch) => bail!("the peer is measured on Linux only, not on {os} {arch}; run with --no-peer"),
    };
    let folder = package.join("dist").join(platform);
    let program = folder.join("automagik-forge");
    if !program.exists() {
        let node = Command::new("node")
            .args(["-e", EXTRACT])
            .args([dir.join("node_modules/adm-zip"), folder.join("automagik-forge.zip"), folder])
            .output()
            .await
            .context("node is needed to unpack the peer")?;
        if !node.status.success() {
            bail!("unpack the peer: {}", String::from_utf8_lossy(&node.stderr));
        }
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&program, executable)?;
    }
    Ok(program.canonicalize()?)
}

fn write_config(home: &Path) -> Result<()> {
    let folder = home.join(".local/share/automagik-forge");
    std::fs::create_dir_all(&folder)?;
    let config = json!({
        "config_version": "v7", "theme": "SYSTEM", "executor_profile": {"executor": "CLAUDE_CODE"},
        "disclaimer_acknowledged": true, "onboarding_acknowledged": true, "github_login_acknowledged": true,
        "telemetry_acknowledged": true,
        "notifications": {"sound_enabled": false, "push_enabled": false, "sound_file": "GENIE_NOTIFY1"},
        "editor": {"editor_type": "VS_CODE", "custom_command": null, "remote_ssh_host": null, "remote_ssh_user": null},
        "github": {"pat": null, "oauth_token": null, "username": null, "primary_email": null, "default_pr_base": "main"},
        "analytics_enabled": false, "contact_email_opt_in": null, "contact_username_opt_in": null,
        "workspace_dir": null, "last_app_version": null, "show_release_notes": false, "language": "BROWSER",
        "git_branch_prefix": "af", "showcases": {"seen_features": []}
    });
    std::fs::write(folder.join("config.json"), config.to_string())?;
    Ok(())
}
