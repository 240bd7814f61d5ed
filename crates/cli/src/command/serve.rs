//! `forge serve`: the server, from the flags to its end.

pub mod background;

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use forge_core::{AgentsOnExit, Forge};
use forge_server::{Door, OpenTo};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::home::{self, LOGIN_FILE};
use crate::logging::{self, LogFormat};
use crate::note::Note;
use crate::port;
use crate::settings::{self, Env};
use crate::token::{self, Token};

/// Too long to guess at ten tries a minute.
const SHORTEST_TOKEN: usize = 16;

#[derive(clap::Args, Clone, Default)]
pub struct Flags {
    /// Port to listen on; 0 for any free one [default: 8887; env: BACKEND_PORT, PORT]
    #[arg(short, long)]
    pub port: Option<u16>,
    /// Address to listen on; clients beyond loopback need a token [default: 127.0.0.1; env: HOST]
    #[arg(long)]
    pub host: Option<IpAddr>,
    /// Show the login wall of the board [env: AUTH_REQUIRED]
    #[arg(short, long)]
    pub auth: bool,
    /// Require the token on loopback too, where your own processes need none
    #[arg(long)]
    pub require_token: bool,
    /// Require no token: everybody who can reach the address can run commands here
    #[arg(long, conflicts_with = "require_token")]
    pub no_token: bool,
    /// Additional Host names to accept, e.g. forge.example.org
    #[arg(long, value_name = "HOST")]
    pub allow_host: Vec<String>,
    /// Additional web origins that may use the API, e.g. https://forge.example.org
    #[arg(long, value_name = "ORIGIN")]
    pub allow_origin: Vec<String>,
    /// Stop running agents when the server stops, instead of leaving them running
    #[arg(long)]
    pub stop_agents: bool,
    /// Folder for worktrees [env: FORGE_WORKTREE_DIR]
    #[arg(long, value_name = "DIR")]
    pub worktree_dir: Option<PathBuf>,
    /// Spare worktrees kept per project; 0 for none [default: 3; env: FORGE_SPARES]
    #[arg(long, value_name = "N")]
    pub spares: Option<usize>,
    /// Stop a run after this many seconds [env: FORGE_TIME_LIMIT_S]
    #[arg(long, value_name = "S")]
    pub time_limit_s: Option<u64>,
    /// Stop a run after this many seconds without output [env: FORGE_SILENCE_LIMIT_S]
    #[arg(long, value_name = "S")]
    pub silence_limit_s: Option<u64>,
    /// How long an agent's question waits for an answer, in seconds [default: 3600; env: FORGE_APPROVAL_LIMIT_S]
    #[arg(long, value_name = "S")]
    pub approval_limit_s: Option<u64>,
    /// Retire worktrees unused for this many hours [default: 72; env: FORGE_EXPIRY_H]
    #[arg(long, value_name = "H")]
    pub expiry_h: Option<u64>,
    /// Format of the log on standard error
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub log_format: LogFormat,
    /// Do not open the board in a browser [env: DISABLE_BROWSER_OPEN]
    #[arg(long)]
    pub no_open: bool,
}

/// The flags of `forge serve` itself, besides those of any server.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  forge serve --port 9000\n  forge serve --background\n  forge serve --stop"
)]
pub struct Command {
    #[command(flatten)]
    flags: Flags,
    /// Start it in the background, print its address, and exit
    #[arg(long, conflicts_with = "stop")]
    background: bool,
    /// Stop the server of this home; its agents continue
    #[arg(long)]
    stop: bool,
    /// Leave the session of the terminal first
    #[arg(long, hide = true, conflicts_with_all = ["background", "stop"])]
    detached: bool,
}

impl Command {
    pub fn run(self) -> Result<()> {
        if self.stop {
            return block_on(background::stop());
        }
        if self.background {
            return block_on(start_in_background());
        }
        if self.detached {
            // Neither Ctrl-C nor the end of the terminal reaches another session. Fails only for a session leader.
            let _ = rustix::process::setsid();
        }
        run(self.flags)
    }
}

/// The same command, but detached.
async fn start_in_background() -> Result<()> {
    let args = std::env::args_os().skip(1);
    let args = args.map(|arg| if arg == "--background" { "--detached".into() } else { arg });
    let served = background::start(args.collect()).await?;
    let verb = if served.found { "is already running" } else { "listens" };
    let pid = served.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
    println!("Forge {verb} at {}{pid}", served.client.base());
    println!("  log   {}\n  stop  forge serve --stop", served.log.display());
    if let Some(login) = served.login(std::io::stdout().is_terminal()) {
        println!("  login {login}");
    }
    Ok(())
}

pub fn run(flags: Flags) -> Result<()> {
    let env = Env::load();
    // The protocol library logs every request, which the server's `trace` does already.
    logging::start(flags.log_format, "info,rmcp=warn", env.get("RUST_LOG"));
    block_on(serve(flags, env))
}

/// Runs a command to its end and does not wait for remaining threads.
pub fn block_on<T>(command: impl Future<Output = Result<T>>) -> Result<T> {
    let runtime = runtime()?;
    let result = runtime.block_on(command);
    runtime.shutdown_background();
    result
}

/// Few threads are enough for a server that mostly waits; more only cost memory.
fn runtime() -> Result<tokio::runtime::Runtime> {
    let workers = std::thread::available_parallelism().map_or(2, |n| n.get().clamp(2, 8));
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build()?)
}

async fn serve(flags: Flags, env: &Env) -> Result<()> {
    let home = settings::home(env)?;
    let mut config = settings::config(&flags, env, home.clone())?;
    let _lock = home::take(&home).await?;
    let _pid = Note::leave(home.join("pid"), std::process::id().to_string());
    let host = settings::host(flags.host, env);
    let open_to = choose_openness(&flags, host);
    let token = choose_token(open_to, env, host, &home)?;
    let listener = port::bind(host, settings::port(flags.port, env)).await?;
    let address = listener.local_addr()?;
    let url = url(address);
    config.backend_url = url.clone();
    if config.public_url.is_empty() {
        config.public_url = url.clone();
    }
    let forge = Forge::open(config).await.context("cannot start")?;
    let login_code = needs_token(open_to, host).then(token::random);
    let door = Door {
        bind: address,
        open_to,
        token: token.as_ref().map(|token| token.text().to_owned()),
        allowed_hosts: flags.allow_host.clone(),
        allowed_origins: flags.allow_origin.clone(),
        auth_required: flags.auth || env.has("AUTH_REQUIRED"),
        version: version(env),
        login_code: login_code.clone(),
    };
    // From now on it can be found and stopped, and then removes its files.
    let shutdown = CancellationToken::new();
    stop_on_signal(shutdown.clone())?;
    let _port = port::leave_notes(&home, address.port(), url.clone());
    // Standard output may be a log, which must not contain a secret.
    let _login = login_code
        .as_ref()
        .map(|code| Note::leave(home.join(LOGIN_FILE), format!("{url}/login?code={code}\n")));
    greet(&url, &forge, token.as_ref(), login_code.as_deref());
    tracing::info!("Forge app listening on {address}");
    if !flags.no_open && !env.has("DISABLE_BROWSER_OPEN") {
        forge_run::open_page(&url);
    }
    forge_server::serve(listener, forge.clone(), door, shutdown).await?;
    forge.close(if flags.stop_agents { AgentsOnExit::Stop } else { AgentsOnExit::Keep }).await;
    tracing::info!("stopped");
    Ok(())
}

fn choose_openness(flags: &Flags, host: IpAddr) -> OpenTo {
    if flags.no_token {
        eprintln!(
            "forge: listening on {host} WITHOUT a token: everybody who can reach it can run commands here"
        );
        return OpenTo::Everybody;
    }
    if flags.require_token { OpenTo::Nobody } else { OpenTo::User }
}

/// Whether some clients need a token.
fn needs_token(open_to: OpenTo, host: IpAddr) -> bool {
    open_to == OpenTo::Nobody || (open_to == OpenTo::User && !host.is_loopback())
}

fn choose_token(open_to: OpenTo, env: &Env, host: IpAddr, home: &Path) -> Result<Option<Token>> {
    let given = env.get("FORGE_TOKEN");
    let place = match given {
        Some(_) => "FORGE_TOKEN".to_owned(),
        None => home.join("token").display().to_string(),
    };
    let token = match open_to {
        OpenTo::Everybody => None,
        _ if needs_token(open_to, host) => Some(token::load_or_make(home, given)?),
        _ => token::load(home, given)?,
    };
    let length = token.as_ref().map_or(usize::MAX, |token| token.text().chars().count());
    if !host.is_loopback() && length < SHORTEST_TOKEN {
        bail!(
            "{place}: the token has {length} characters; listening on {host} needs at least {SHORTEST_TOKEN}, so that \
             nobody can guess it. Create one with `openssl rand -hex 32`, or remove it and Forge creates one"
        );
    }
    Ok(token)
}

pub fn version(env: &Env) -> String {
    env.get("FORGE_VERSION").unwrap_or_else(|| env!("CARGO_PKG_VERSION").to_owned())
}

/// Where people and programs on this machine reach the server. Never by a name: `localhost` has two addresses, and on
/// the one that the server does not use, another user may wait for a token or a login code.
pub fn url(address: SocketAddr) -> String {
    let ip = match address.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    format!("http://{}", SocketAddr::new(ip, address.port()))
}

/// Prints secrets only to a terminal, never to a log.
fn greet(url: &str, forge: &Forge, token: Option<&Token>, login_code: Option<&str>) {
    let config = forge.config();
    println!("Forge {} listens on {url}", env!("CARGO_PKG_VERSION"));
    println!("  data       {}", config.home.display());
    println!("  worktrees  {}", config.worktree_base.display());
    let is_shown = std::io::stdout().is_terminal();
    match token {
        Some(Token::Fresh(text)) if is_shown => {
            println!("  token      {text}  (shown once; stored in {})", config.home.join("token").display());
        }
        Some(Token::Fresh(_)) => println!("  token      in {}", config.home.join("token").display()),
        _ => {}
    }
    match login_code {
        Some(code) if is_shown => {
            println!("Next: open {url}/login?code={code} (works once), or send the token as a bearer token.")
        }
        Some(_) => println!(
            "Next: open the link in {} (works once), or send the token as a bearer token.",
            config.home.join(LOGIN_FILE).display()
        ),
        None => println!("Next: open {url}, or run `forge demo` in another terminal to see it work."),
    }
}

fn stop_on_signal(shutdown: CancellationToken) -> Result<()> {
    let (mut term, mut int) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
        }
        tracing::info!("stopping; agents continue unless --stop-agents was given");
        shutdown.cancel();
    });
    Ok(())
}
