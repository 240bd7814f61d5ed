//! The built-in scripted agent: does what its prompt says, word for word.
//!
//! Owns its small language, one directive per line: `say` `think` `write` `append` `edit` `delete` `todo` `run`
//! `sleep` `stderr` `lines` `spawn` `hang` `fail` `exit`; other lines are printed as text. It also understands two
//! prompts that Forge itself writes: review comments, and a conflict to resolve. It speaks Claude's stream-json, so
//! the same fold reads both. Invariants: files are touched only inside the working directory, and none for a prompt
//! without directives; every protocol line is flushed at once; the work ends with a `result` line unless the script
//! asks for a crash.

mod agent;
mod conflict;
mod directive;
mod review;

use std::fs;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use forge_types::Millis;
use serde_json::{Value, json};

pub(super) use agent::AGENT;
pub use conflict::STOPPED;
use directive::{Directive, Item, parse};
use review::Comment;

const MAX_PROMPT_BYTES: u64 = 16 << 20;
const MAX_OUTPUT_BYTES: u64 = 1 << 20;
/// The exit code when not even a result line can be written.
const BROKEN_PIPE: u8 = 141;

/// Reads the prompt from `input`, works in `cwd`, reports on `out`.
pub fn scripted_agent(mut input: impl Read, out: impl Write, cwd: &Path) -> ExitCode {
    let mut prompt = Vec::new();
    if let Err(error) = input.by_ref().take(MAX_PROMPT_BYTES).read_to_end(&mut prompt) {
        eprintln!("scripted agent: cannot read the prompt: {error}");
        return ExitCode::FAILURE;
    }
    let prompt = String::from_utf8_lossy(&prompt);
    let session = format!("scripted-{}-{}", Millis::now().0, std::process::id());
    let mut agent = Agent { out, cwd, session, calls: 0, answer: String::new() };
    match agent.work(&prompt) {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("scripted agent: cannot write: {error}");
            ExitCode::from(BROKEN_PIPE)
        }
    }
}

struct Agent<'a, W> {
    out: W,
    cwd: &'a Path,
    session: String,
    calls: usize,
    answer: String,
}

/// The result of a tool call: the text for the agent, or the reason why it failed.
type ToolOutput = Result<String, String>;

impl<W: Write> Agent<'_, W> {
    fn work(&mut self, prompt: &str) -> io::Result<u8> {
        self.print(json!({
            "type": "system", "subtype": "init", "cwd": self.cwd, "model": "scripted",
            "tools": ["Bash", "Write", "Edit", "TodoWrite"], "permissionMode": "bypassPermissions", "apiKeySource": "none",
        }))?;
        let comments = review::comments(prompt);
        if !comments.is_empty() {
            self.address_comments(&comments)?;
        } else if let Some(command) = conflict::command(prompt) {
            self.resolve_conflict(command)?;
        } else if !prompt.lines().any(|line| parse(line).is_some()) {
            self.improvise(prompt)?;
        } else {
            for line in prompt.lines().filter(|line| !line.trim().is_empty()) {
                let directive = parse(line).unwrap_or(Directive::Say(line));
                if let Some(code) = self.carry_out(directive)? {
                    return Ok(code);
                }
            }
        }
        self.print_result(None)?;
        Ok(0)
    }

    /// A prompt without directives needs a model, which this agent does not have.
    fn improvise(&mut self, prompt: &str) -> io::Result<()> {
        let title = prompt.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing").trim();
        self.say("text", &format!("I was asked: {title}"))?;
        self.say(
            "text",
            "I only follow directives, one per line, such as `say Hello` or `edit README.md old => new`, answer review \
             comments and resolve conflicts. There was none, so I changed nothing.",
        )
    }

    /// Addresses the comments of a review, each by changing the line that it quotes.
    fn address_comments(&mut self, comments: &[Comment<'_>]) -> io::Result<()> {
        let number = comments.len();
        self.say(
            "text",
            &format!("{number} review comment{} to address.", if number == 1 { "" } else { "s" }),
        )?;
        let mut missing = Vec::new();
        for comment in comments {
            let Comment { path, quoted, .. } = comment;
            let file = self.resolve_path(path);
            let text = file.as_ref().ok().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
            let Some(at) = comment.find(&text) else {
                missing.push(format!("{path}, line {}", comment.line));
                continue;
            };
            let new = comment.changed();
            let changed = with_line(&text, at, &new);
            let input = json!({"file_path": path, "old_string": quoted, "new_string": new});
            self.call("Edit", input, |_| {
                fs::write(file?, changed).map_err(|error| format!("{path}: {error}"))?;
                Ok(format!("{path} edited"))
            })?;
        }
        match missing[..] {
            [] => self.say("text", "Every comment is addressed."),
            _ => {
                let places = missing.join("; ");
                self.say("text", &format!("These lines no longer exist, so I skipped them: {places}."))
            }
        }
    }

    /// Keeps both sides of every conflict, stages the files and continues, every time git stops.
    fn resolve_conflict(&mut self, command: &str) -> io::Result<()> {
        const MAX_STOPS: usize = 100;
        for _ in 0..MAX_STOPS {
            let list = run("git diff --name-only --diff-filter=U -z", self.cwd).unwrap_or_default();
            let files: Vec<&str> = list.split('\0').filter(|file| !file.is_empty()).collect();
            for path in &files {
                let text = self.resolve_path(path).ok().and_then(|file| fs::read_to_string(file).ok());
                if let Some(both) = text.as_deref().and_then(conflict::keep_both) {
                    self.write(path, &both, WriteMode::Replace)?;
                }
                let quoted = format!("'{}'", path.replace('\'', r"'\''"));
                let add = format!("git add -- {quoted}");
                self.call("Bash", json!({"command": add}), |cwd| run(&add, cwd))?;
            }
            let next = format!("GIT_EDITOR=true git {command} --continue");
            let mut stopped = false;
            self.call("Bash", json!({"command": next}), |cwd| {
                let done = run(&next, cwd);
                stopped = done.is_err();
                done
            })?;
            // Where git cannot continue although nothing is in conflict, Forge continues once the turn is over.
            let open = run("git diff --name-only --diff-filter=U", self.cwd).unwrap_or_default();
            if !stopped || open.trim().is_empty() {
                break;
            }
        }
        self.say("text", "I kept both sides of every conflict.")
    }

    /// Carries out one directive; returns an exit code if it ends the work.
    fn carry_out(&mut self, directive: Directive<'_>) -> io::Result<Option<u8>> {
        match directive {
            Directive::Say(text) => self.say("text", text)?,
            Directive::Think(text) => self.say("thinking", text)?,
            Directive::Write { path, text } => self.write(path, &text, WriteMode::Replace)?,
            Directive::Append { path, text } => self.write(path, &text, WriteMode::Append)?,
            Directive::Edit { path, old, new } => self.edit(path, &old, &new)?,
            Directive::Todo(items) => self.write_todos(&items)?,
            Directive::Delete(path) => {
                let done =
                    self.resolve_path(path).and_then(|file| fs::remove_file(file).map_err(|e| e.to_string()));
                let done = done.map(|()| String::new()).map_err(|error| format!("{path}: {error}"));
                self.call("Bash", json!({"command": format!("rm {path}")}), |_| done)?;
            }
            Directive::Run(command) => {
                self.call("Bash", json!({"command": command}), |cwd| run(command, cwd))?;
            }
            Directive::Spawn(command) => {
                let mut shell = Command::new("sh");
                shell.args(["-c", command]).current_dir(self.cwd);
                shell.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                let text = match shell.spawn() {
                    Ok(child) => format!("spawned {command} as {}", child.id()),
                    Err(error) => format!("could not spawn {command}: {error}"),
                };
                self.say("text", &text)?;
            }
            Directive::Sleep { wait_ms } => std::thread::sleep(Duration::from_millis(wait_ms)),
            Directive::Stderr(text) => eprintln!("{text}"),
            Directive::Lines { count, size } => self.print_lines(count, size)?,
            Directive::Fail(message) => {
                self.print_result(Some(message))?;
                return Ok(Some(1));
            }
            Directive::Exit { code: 0 } => {
                self.print_result(None)?;
                return Ok(Some(0));
            }
            Directive::Exit { code } => return Ok(Some(code)),
            Directive::Hang => loop {
                std::thread::park();
            },
        }
        Ok(None)
    }

    fn print(&mut self, mut message: Value) -> io::Result<()> {
        message["session_id"] = Value::from(self.session.as_str());
        serde_json::to_writer(&mut self.out, &message)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    fn block(&mut self, block: Value) -> io::Result<()> {
        let message = json!({"role": "assistant", "model": "scripted", "content": [block]});
        self.print(json!({"type": "assistant", "message": message}))
    }

    fn say(&mut self, kind: &str, text: &str) -> io::Result<()> {
        if kind == "text" {
            self.answer = text.to_owned();
        }
        self.block(json!({"type": kind, kind: text}))
    }

    /// Announces a tool call, runs it and reports its result.
    fn call(&mut self, name: &str, input: Value, tool: impl FnOnce(&Path) -> ToolOutput) -> io::Result<()> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        self.block(json!({"type": "tool_use", "id": id, "name": name, "input": input}))?;
        let (content, is_error) = match tool(self.cwd) {
            Ok(text) => (text, false),
            Err(reason) => (reason, true),
        };
        let result =
            json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error});
        self.print(json!({"type": "user", "message": {"role": "user", "content": [result]}}))
    }

    fn write(&mut self, path: &str, text: &str, mode: WriteMode) -> io::Result<()> {
        let file = self.resolve_path(path);
        self.call("Write", json!({"file_path": path, "content": text}), |_| {
            let file = file?;
            let made = file.parent().map_or(Ok(()), fs::create_dir_all);
            made.and_then(|()| mode.write(&file, text)).map_err(|error| format!("{path}: {error}"))?;
            Ok(format!("{path} written, {} bytes", text.len()))
        })
    }

    /// Replaces a text that occurs exactly once in a file.
    fn edit(&mut self, path: &str, old: &str, new: &str) -> io::Result<()> {
        let file = self.resolve_path(path);
        let input = json!({"file_path": path, "old_string": old, "new_string": new});
        self.call("Edit", input, |_| {
            let file = file?;
            let text = fs::read_to_string(&file).map_err(|error| format!("{path}: {error}"))?;
            match text.matches(old).count() {
                1 => {
                    let text = text.replacen(old, new, 1);
                    fs::write(&file, text).map_err(|error| format!("{path}: {error}"))?;
                    Ok(format!("{path} edited"))
                }
                count => Err(format!("{path}: the text to replace occurs {count} times; allowed: once")),
            }
        })
    }

    fn write_todos(&mut self, items: &[Item<'_>]) -> io::Result<()> {
        let todo =
            |item: &Item<'_>| json!({"content": item.text, "status": item.status, "activeForm": item.text});
        let todos: Vec<Value> = items.iter().map(todo).collect();
        self.call("TodoWrite", json!({ "todos": todos }), |_| Ok("the list is saved".to_owned()))
    }

    /// The file that `path` names, if it is inside the working directory.
    fn resolve_path(&self, path: &str) -> Result<PathBuf, String> {
        let plain =
            Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if path.is_empty() || !plain {
            return Err(format!(
                "{path}: refused; allowed: relative paths without .. inside the working directory"
            ));
        }
        let file = self.cwd.join(path);
        let root = self.cwd.canonicalize().map_err(|error| error.to_string())?;
        // Neither the file nor a directory on the way to it may lead outside through a link.
        let real = file.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
        if file.is_symlink() || !real.is_some_and(|real| real.starts_with(root)) {
            return Err(format!(
                "{path}: refused; it goes through a link that may lead outside the working directory"
            ));
        }
        Ok(file)
    }

    fn print_lines(&mut self, count: u64, size: usize) -> io::Result<()> {
        let mut out = BufWriter::new(&mut self.out);
        for number in 1..=count {
            writeln!(out, "{:.<size$}", format!("line {number} "))?;
        }
        out.flush()
    }

    /// The last line of the protocol: success, or why it failed.
    fn print_result(&mut self, failure: Option<&str>) -> io::Result<()> {
        let (subtype, text) = match failure {
            None => ("success", self.answer.clone()),
            Some(message) => ("error_during_execution", message.to_owned()),
        };
        let usage = json!({
            "input_tokens": 10, "output_tokens": 5, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        });
        self.print(json!({
            "type": "result", "subtype": subtype, "is_error": failure.is_some(), "num_turns": self.calls + 1,
            "result": text, "total_cost_usd": 0, "usage": usage,
        }))
    }
}

/// The text with the line at `at` replaced.
fn with_line(text: &str, at: usize, new: &str) -> String {
    let lines = text.lines().enumerate();
    let mut out: String =
        lines.map(|(number, line)| format!("{}\n", if number == at { new } else { line })).collect();
    if !text.ends_with('\n') {
        out.pop();
    }
    out
}

/// How text is added to a file.
enum WriteMode {
    Replace,
    Append,
}

impl WriteMode {
    fn write(self, file: &Path, text: &str) -> io::Result<()> {
        match self {
            WriteMode::Replace => fs::write(file, text),
            WriteMode::Append => {
                fs::OpenOptions::new().create(true).append(true).open(file)?.write_all(text.as_bytes())
            }
        }
    }
}

/// Runs `command` and returns its output, stdout and stderr interleaved.
fn run(command: &str, cwd: &Path) -> ToolOutput {
    let work = || -> io::Result<(Vec<u8>, std::process::ExitStatus)> {
        let (mut reader, writer) = io::pipe()?;
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).current_dir(cwd).stdin(Stdio::null());
        shell.stdout(writer.try_clone()?).stderr(writer);
        let mut child = shell.spawn()?;
        // The command holds the write ends of the pipe, so reading would never reach its end.
        drop(shell);
        let mut output = Vec::new();
        reader.by_ref().take(MAX_OUTPUT_BYTES).read_to_end(&mut output)?;
        io::copy(&mut reader, &mut io::sink())?;
        Ok((output, child.wait()?))
    };
    match work() {
        Ok((output, status)) => {
            let output = String::from_utf8_lossy(&output).trim_end().to_owned();
            match status.code() {
                Some(0) => Ok(output),
                Some(code) => Err(format!("Exit code {code}\n{output}").trim_end().to_owned()),
                None => Err(format!("ended by a signal\n{output}").trim_end().to_owned()),
            }
        }
        Err(error) => Err(format!("could not run: {error}")),
    }
}
