//! What agents, repositories and other people wrote reaches a terminal without its control characters, whichever command
//! shows it.

use std::path::Path;
use std::process::{Command, Stdio};

use forge_tests::{Terminal, git, out, output, text};
use serde_json::json;

use crate::workers::Stage;

/// Sets the clipboard and the title, clears the screen, goes up, hides what was written and rings.
const EVIL: &str = "\u{1b}]52;c;aGk=\u{7}\u{1b}]0;evil\u{1b}\\\u{1b}[2J\u{1b}[9A\u{9b}2J\u{9d}0;evil\u{9c}\u{1b}cX\u{8}\u{7f}\u{7}\u{1b}P1q";
/// The same for `printf` of a shell.
const PRINTED: &str = r"\033]52;c;aGk=\007\033]0;evil\033\\\033[2J\033[9A\302\2332J\302\2350;evil\302\234\033cX\010\177\007\033P1q";

/// How a command uses the terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// It writes lines, in colours.
    Lines,
    /// It takes rows back that it wrote itself.
    Rows,
}

/// What of the bytes could do harm, with what stands around it.
fn harm(bytes: &[u8], manner: Manner) -> Option<String> {
    let found = String::from_utf8_lossy(bytes);
    let mut rest = &*found;
    while let Some(c) = rest.chars().next() {
        let after = &rest[c.len_utf8()..];
        let is_harmless = match c {
            '\u{1b}' => {
                let inner = after.strip_prefix('[').unwrap_or("?");
                let end =
                    inner.find(|c: char| !c.is_ascii_digit() && !";:".contains(c)).unwrap_or(inner.len());
                match (inner[end..].chars().next(), manner) {
                    (Some('m'), _) => true,
                    // Behind the sign of a row.
                    (Some('G'), _) => &inner[..end] == "4",
                    (Some('K' | 'J'), Manner::Rows) => end == 0,
                    (Some('A' | 'C'), Manner::Rows) => true,
                    _ => false,
                }
            }
            // The terminal itself makes a line break of both.
            '\r' => after.starts_with('\n') || manner == Manner::Rows,
            '\n' | '\t' => true,
            c => !c.is_control(),
        };
        if !is_harmless {
            return Some(format!("{:?}", rest.chars().take(40).collect::<String>()));
        }
        rest = after;
    }
    None
}

fn command(stage: &Stage, place: &Path, args: &[&str]) -> Command {
    let mut command = stage.forge.command();
    command.args(args).current_dir(place).stdin(Stdio::null()).env("TERM", "xterm").env("FORGE_PAGER", "cat");
    command.env_remove("NO_COLOR");
    command
}

async fn shown(stage: &Stage, place: &Path, args: &[&str]) -> Vec<u8> {
    Terminal::start(command(stage, place, args), 100).everything().await
}

#[tokio::test]
async fn no_command_hands_control_characters_of_others_to_a_terminal() {
    let stage = Stage::with(&[crate::beads::BARE], json!({})).await;
    let forge = &stage.forge;
    let (project, repo) = crate::beads::project(forge).await;
    // git takes no other control characters in the name of a branch; Forge takes none, and names it.
    let branch = "base\u{9b}2J\u{9d}0;evil";
    git(&repo, &["branch", branch]);
    let title = format!("T{EVIL}itle");
    let script =
        format!("printf 'log \\033[31mred\\033[0m {PRINTED}\\n'; printf x > \"$(printf 'f{PRINTED}.txt')\"");
    let task = forge.start_with(&project, "SHELL", &title, &script).await;
    let (id, task_id) = (task.attempt(), text(&task["id"]));
    let place = text(&task["task_attempt"]["worktree_path"]);
    let settled = forge.settled(&id).await;
    assert_eq!(settled[0]["status"], "completed", "{settled:#?}");
    let bead = forge.post("/api/beads", &json!({"project_id": project, "title": title})).await.data();
    let bead = text(&bead["id"]);
    stage.spawn("alpha", &format!("printf '{PRINTED}\\n'; sleep 1000")).await;
    std::fs::write(
        forge.home().join("status/evil.json"),
        json!({"status": EVIL, "current_task": EVIL}).to_string(),
    )
    .unwrap();
    std::fs::create_dir_all(repo.join(".genie/agents")).unwrap();
    std::fs::write(repo.join(format!(".genie/agents/a{EVIL}.md")), "x".repeat(2 << 20)).unwrap();
    let batch = json!([{"title": title, "description": "true"}]);
    std::fs::write(repo.join("tasks.json"), batch.to_string()).unwrap();

    let unknown = format!("no{EVIL}");
    let live = format!("{script} # {EVIL}");
    let (short, worktree) = (&id[..8], Path::new(&place));
    let lines: &[(&Path, &[&str])] = &[
        (&repo, &["list"]),
        (&repo, &["list", "tasks"]),
        (&repo, &["list", "projects", "--all"]),
        (&repo, &["list", "agents"]),
        (&repo, &["list", "tasks", "--json"]),
        (&repo, &["status"]),
        (&repo, &["status", short]),
        (&repo, &["status", short, "--json"]),
        (&repo, &["view", short]),
        (&repo, &["view", short, "--raw"]),
        (&repo, &["view", short, "--json"]),
        (&repo, &["view", short, "--diff"]),
        (&repo, &["logs", short]),
        (&repo, &["logs", short, "--json"]),
        (&repo, &["logs", short, "-F"]),
        (&repo, &["diff", short]),
        (&repo, &["diff", short, "--name-only"]),
        (&repo, &["diff", short, "--stat"]),
        (&repo, &["diff", short, "--json"]),
        (&repo, &["task", "list"]),
        (&repo, &["task", "show", &task_id]),
        (&repo, &["task", "show", &unknown]),
        (&repo, &["task", "edit", &task_id, "--title", &title]),
        (&repo, &["task", "start", &task_id, "-x", "SHELL", "-b", branch]),
        (&repo, &["project", "list"]),
        (&repo, &["project", "show"]),
        (&repo, &["worktree", "list"]),
        (&repo, &["usage"]),
        (&repo, &["usage", "models"]),
        (&repo, &["beads", "list"]),
        (&repo, &["beads", "ready"]),
        (&repo, &["beads", "show", &bead]),
        (&repo, &["beads", "claim", &bead]),
        (&repo, &["beads", "show", &unknown]),
        (&repo, &["route", "explain", &bead]),
        (&repo, &["dispatch", "--dry-run"]),
        (&repo, &["worker", "list"]),
        (&repo, &["worker", "status", "alpha"]),
        (&repo, &["worker", "peek", "alpha"]),
        (&repo, &["worker", "logs", "alpha"]),
        (&repo, &["worker", "status", &unknown]),
        (&repo, &["alerts", "--all"]),
        (&repo, &["approve"]),
        (&repo, &["restore"]),
        (&repo, &["config", "get"]),
        (&repo, &["open", short, "--path"]),
        (worktree, &["whoami"]),
        (worktree, &["whoami", "--json"]),
        (&repo, &["doctor"]),
        (&repo, &["view", &unknown]),
        (&repo, &["run", "-x", &unknown, "x"]),
        (&repo, &["batch", "tasks.json", "-x", "SHELL", "--dry-run"]),
        (&repo, &["rebase", short]),
        (&repo, &["merge", short]),
        (&repo, &["merge", short]),
        (&repo, &["worktree", "retire", short]),
        (&repo, &["restore", short]),
    ];
    let rows: &[&[&str]] =
        &[&["run", "-x", "SHELL", &live], &["batch", "tasks.json", "-x", "SHELL"], &["resume", short, &live]];
    let lines = lines.iter().map(|(place, args)| (*place, *args, Manner::Lines));
    for (place, args, manner) in lines.chain(rows.iter().map(|args| (&*repo, *args, Manner::Rows))) {
        let bytes = shown(&stage, place, args).await;
        assert!(!bytes.is_empty(), "{args:?} shows nothing");
        assert_eq!(harm(&bytes, manner), None, "{args:?} shows {}", String::from_utf8_lossy(&bytes));
    }
}

#[tokio::test]
async fn at_a_terminal_a_log_keeps_its_colours_and_a_name_is_quoted_and_elsewhere_every_byte_stays() {
    let stage = Stage::set(json!({})).await;
    let (project, repo) = stage.forge.project("repo").await;
    let script = r"printf '\033[31mred\033[0m\r\n\033]0;t\007\233\n'; echo x > $(printf 'f\033]0;t\007')";
    let task = stage.forge.start_with(&project, "SHELL", "A title", script).await;
    let id = task.attempt();
    stage.forge.settled(&id).await;
    for (args, here, elsewhere) in [
        (
            vec!["logs", &id],
            "\u{1b}[31mred\u{1b}[0m\r\n^[]0;t^G\u{fffd}\r\n",
            &b"\x1b[31mred\x1b[0m\r\n\x1b]0;t\x07\x9b\n"[..],
        ),
        (vec!["diff", "--name-only", &id], "\"f\\033]0;t\\a\"\r\n", b"f\x1b]0;t\x07\n"),
    ] {
        let at_terminal = shown(&stage, &repo, &args).await;
        assert_eq!(String::from_utf8_lossy(&at_terminal), here, "{args:?}");
        let piped = output(command(&stage, &repo, &args)).await;
        assert_eq!(piped.stdout, elsewhere, "{args:?}: {}", out(&piped));
    }
}

/// The dashboard draws with sequences of its own, which are never strings.
#[tokio::test]
async fn the_dashboard_shows_titles_without_their_control_characters() {
    let stage = Stage::set(json!({})).await;
    let (project, repo) = stage.forge.project("repo").await;
    let script = format!("printf '{PRINTED}\\n'");
    let task = stage.forge.start_with(&project, "SHELL", &format!("Evil{EVIL}One"), &script).await;
    stage.forge.settled(&task.attempt()).await;
    let mut terminal = Terminal::start(command(&stage, &repo, &["tui"]), 110);
    terminal.until("Overview").await;
    terminal.type_line("2");
    let screen = terminal.until("Evil").await;
    for part in ["\u{1b}]", "\u{1b}P", "\u{1b}c"] {
        assert!(!screen.contains(part), "{part:?} in {screen:?}");
    }
    assert!(!screen.contains(|c| ('\u{7f}'..='\u{9f}').contains(&c)), "{screen:?}");
}
