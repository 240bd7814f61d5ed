//! A stand-in for the Claude program in tests: speaks stream-json and acts by directives in its prompt.
//!
//! `FAKE: id=x presleep=ms tool=1 stderr=n edit=1 file=name sleep=ms approve=1 withdraw=file repeat=1 hear=1 limit=s
//! lost=1 exit=code`. It answers control requests, waits for one user message, does what it was asked in that order,
//! prints a result and exits. `withdraw` takes a question back once the file exists, `repeat` says how a question was
//! answered, `hear` waits for a second message and says it, `limit` meets a usage limit that ends so many seconds
//! later, `lost` knows no conversation.

use std::io::{BufRead, Write};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Longest the agent waits for anything.
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// How long it thinks before it asks.
const THOUGHT: Duration = Duration::from_millis(700);

/// Messages said so far: each needs an id of its own.
static MESSAGES: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let (prompts_in, prompts) = sync_channel(1);
    let (answers_in, answers) = sync_channel(4);
    std::thread::spawn(move || listen(&prompts_in, &answers_in));
    let Ok(prompt) = prompts.recv_timeout(WAIT_LIMIT) else { return ExitCode::from(2) };
    act(&prompt, &prompts, &answers).unwrap_or(ExitCode::from(141))
}

fn directive<'a>(prompt: &'a str, key: &str) -> Option<&'a str> {
    let (_, tail) = prompt.rsplit_once("FAKE:")?;
    tail.split_whitespace()
        .filter_map(|word| word.split_once('='))
        .find(|(name, _)| *name == key)
        .map(|(_, value)| value)
}

fn number(prompt: &str, key: &str) -> u64 {
    directive(prompt, key).and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn pause(prompt: &str, key: &str) {
    std::thread::sleep(Duration::from_millis(number(prompt, key)).min(WAIT_LIMIT));
}

fn act(prompt: &str, prompts: &Receiver<String>, answers: &Receiver<Value>) -> std::io::Result<ExitCode> {
    let id = directive(prompt, "id").unwrap_or("none");
    let session = format!("fake-{}", std::process::id());
    let folder = std::env::current_dir()?;
    for line in 0..number(prompt, "stderr") {
        eprintln!("stderr line {line}");
    }
    say(
        &json!({"type":"system","subtype":"init","cwd":folder,"session_id":session,"tools":["Bash","Edit"],"mcp_servers":[],
        "model":"fake-model","permissionMode":"bypassPermissions","slash_commands":[],"apiKeySource":"none"}),
    )?;
    speak(&session, json!([{"type":"text","text":format!("hello from fake agent id={id}")}]))?;
    pause(prompt, "presleep");
    if number(prompt, "tool") > 0 {
        use_tools(&session, &folder)?;
    }
    if number(prompt, "approve") > 0 {
        let decision = ask(&session, answers, directive(prompt, "withdraw"))?;
        if number(prompt, "repeat") > 0 {
            speak(&session, json!([{"type":"text","text":format!("was told {decision}")}]))?;
        }
    }
    if number(prompt, "hear") > 0 {
        let more = prompts.recv_timeout(WAIT_LIMIT).unwrap_or_default();
        speak(&session, json!([{"type":"text","text":format!("heard {more}")}]))?;
    }
    if number(prompt, "edit") > 0 {
        let mut readme = std::fs::File::options().append(true).open("README.md")?;
        writeln!(readme, "edited by fake agent {id}")?;
    }
    if let Some(name) = directive(prompt, "file") {
        std::fs::write(name, format!("written by {id}\n"))?;
    }
    if let Some(seconds) = directive(prompt, "limit") {
        return meet_limit(&session, seconds.parse().unwrap_or(0));
    }
    if number(prompt, "lost") > 0 {
        say(
            &json!({"type":"result","subtype":"error_during_execution","is_error":true,"session_id":session,
            "errors":["No conversation found with session ID: 0"]}),
        )?;
        return Ok(ExitCode::FAILURE);
    }
    pause(prompt, "sleep");
    speak(&session, json!([{"type":"text","text":"done"}]))?;
    let exit = u8::try_from(number(prompt, "exit")).unwrap_or(1);
    say(
        &json!({"type":"result","subtype":"success","is_error":exit != 0,"duration_ms":1,"duration_api_ms":1,"num_turns":1,
        "result":"done","session_id":session,"total_cost_usd":0.01,"usage":{"input_tokens":1,"output_tokens":2}}),
    )?;
    Ok(ExitCode::from(exit))
}

fn meet_limit(session: &str, seconds: u64) -> std::io::Result<ExitCode> {
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default().as_secs();
    say(&json!({"type":"rate_limit_event","session_id":session,
        "rate_limit_info":{"status":"rejected","resetsAt":now + seconds,"rateLimitType":"five_hour"}}))?;
    say(
        &json!({"type":"result","subtype":"success","is_error":true,"api_error_status":429,"session_id":session,
        "result":"You've hit your limit","total_cost_usd":0.0,"usage":{"input_tokens":1,"output_tokens":0}}),
    )?;
    Ok(ExitCode::FAILURE)
}

fn use_tools(session: &str, folder: &std::path::Path) -> std::io::Result<()> {
    speak(
        session,
        json!([{"type":"thinking","thinking":"I will edit the file"},
        {"type":"tool_use","id":"toolu_1","name":"Edit",
         "input":{"file_path":folder.join("README.md"),"old_string":"a","new_string":"b"}}]),
    )?;
    result(session, json!([{"type":"tool_result","tool_use_id":"toolu_1","content":"ok","is_error":false}]))?;
    speak(
        session,
        json!([{"type":"tool_use","id":"toolu_2","name":"Bash","input":{"command":"ls -la","description":"list"}},
        {"type":"tool_use","id":"toolu_3","name":"TodoWrite",
         "input":{"todos":[{"content":"do it","status":"in_progress","activeForm":"doing"}]}},
        {"type":"tool_use","id":"toolu_4","name":"Write","input":{"file_path":folder.join("new.txt"),"content":"hello"}},
        {"type":"tool_use","id":"toolu_5","name":"mcp__foo__bar","input":{"x":1}}]),
    )?;
    result(
        session,
        json!([{"type":"tool_result","tool_use_id":"toolu_2","content":"total 0","is_error":false},
        {"type":"tool_result","tool_use_id":"toolu_5","content":"boom","is_error":true}]),
    )
}

/// Announces a command, forwards it to the approval of the server and waits for the decision.
fn ask(session: &str, answers: &Receiver<Value>, withdraw: Option<&str>) -> std::io::Result<Value> {
    let input = json!({"command":"rm -rf build"});
    speak(session, json!([{"type":"tool_use","id":"toolu_ap","name":"Bash","input":input}]))?;
    let hook = json!({"subtype":"hook_callback","callback_id":"tool_approval","tool_use_id":"toolu_ap",
        "input":{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":input}});
    let tool = json!({"subtype":"can_use_tool","tool_name":"Bash","input":input,"tool_use_id":"toolu_ap",
        "permission_suggestions":[]});
    if let Some(file) = withdraw {
        say(&json!({"type":"control_request","request_id":"req-0","request":tool}))?;
        let begun = std::time::Instant::now();
        while !std::path::Path::new(file).exists() && begun.elapsed() < WAIT_LIMIT {
            std::thread::sleep(Duration::from_millis(20));
        }
        say(&json!({"type":"control_cancel_request","request_id":"req-0"}))?;
        return Ok(Value::Null);
    }
    // The request that started the agent is answered before the agent asks, as with agents that think first.
    std::thread::sleep(THOUGHT);
    let mut decision = Value::Null;
    for (request_id, request) in [("req-1", hook), ("req-2", tool)] {
        say(&json!({"type":"control_request","request_id":request_id,"request":request}))?;
        decision = answers.recv_timeout(WAIT_LIMIT).unwrap_or_default();
    }
    Ok(decision["response"]["response"].take())
}

fn listen(prompts: &SyncSender<String>, answers: &SyncSender<Value>) {
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        match message["type"].as_str() {
            Some("control_request") => {
                let reply = json!({"type":"control_response",
                    "response":{"subtype":"success","request_id":message["request_id"],"response":{}}});
                if say(&reply).is_err() || message["request"]["subtype"] == "interrupt" {
                    std::process::exit(0);
                }
            }
            Some("control_response") => drop(answers.try_send(message)),
            Some("user") => {
                let content = &message["message"]["content"];
                drop(prompts.try_send(content.as_str().map_or_else(|| content.to_string(), str::to_owned)));
            }
            _ => {}
        }
    }
}

fn speak(session: &str, content: Value) -> std::io::Result<()> {
    let number = MESSAGES.fetch_add(1, Ordering::Relaxed);
    say(&json!({"type":"assistant","session_id":session,
        "message":{"id":format!("msg_{number}"),"type":"message","role":"assistant","model":"fake-model","content":content}}))
}

fn result(session: &str, content: Value) -> std::io::Result<()> {
    say(&json!({"type":"user","session_id":session,"message":{"role":"user","content":content}}))
}

fn say(message: &Value) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{message}")?;
    out.flush()
}
