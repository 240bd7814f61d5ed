#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::{Api, Model, usage};

async fn post(model: &Model, path: &str, key: &str, body: &Value) -> (u16, String) {
    let request = crate::client().build().unwrap().post(format!("{}{path}", model.url()));
    let response = request.header("x-api-key", key).json(body).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

async fn ask(model: &Model, path: &str, body: Value) -> Value {
    let (status, text) = post(model, path, "test", &body).await;
    assert_eq!(status, 200, "{text}");
    serde_json::from_str(&text).unwrap()
}

async fn events(model: &Model, path: &str, body: Value) -> Vec<Value> {
    let (status, text) = post(model, path, "test", &body).await;
    assert_eq!(status, 200, "{text}");
    let data = text.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

fn writer() -> Value {
    json!({"type": "object", "properties": {"file_path": {"type": "string"}, "content": {"type": "string"},
        "reason": {"type": "string"}}, "required": ["file_path", "content", "reason"]})
}

fn anthropic(messages: Value, stream: bool) -> Value {
    json!({"model": "m", "stream": stream, "messages": messages,
        "tools": [{"name": "Write", "input_schema": writer()}]})
}

#[tokio::test]
async fn anthropic_uses_a_tool_and_then_says_what_it_heard() {
    let model = Model::start().await;
    let prompt = json!({"role": "user", "content": "do it [[write:a.txt:hello]]"});
    let answer = ask(&model, "/v1/messages?beta=true", anthropic(json!([prompt]), false)).await;
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(answer["content"][0]["name"], "Write");
    let input = json!({"file_path": "a.txt", "content": "hello", "reason": "as scripted"});
    assert_eq!(answer["content"][0]["input"], input);
    assert_eq!(answer["usage"]["input_tokens"], usage::INPUT - usage::CACHED);
    assert_eq!(answer["usage"]["cache_read_input_tokens"], usage::CACHED);
    assert_eq!(answer["usage"]["output_tokens"], usage::OUTPUT);

    let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "written"}]});
    let answer = ask(&model, "/v1/messages", anthropic(json!([prompt, result]), false)).await;
    assert_eq!(answer["content"][0]["text"], "Done. Tool said: \"written\"");
    assert_eq!(model.sent(), 2);
    assert!(model.calls()[1].says("written") && model.calls()[1].says("do it"));
}

#[tokio::test]
async fn anthropic_streams_in_the_order_of_the_api() {
    let model = Model::start().await;
    let prompt = json!({"role": "user", "content": [{"type": "text", "text": "[[write:a.txt:hello]]"}]});
    let shown = events(&model, "/v1/messages", anthropic(json!([prompt]), true)).await;
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let tool = ["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"];
    let all = [&["message_start"][..], &block, &tool, &["message_delta", "message_stop"]].concat();
    assert_eq!(kinds(&shown), all);
    let input: String = shown.iter().filter_map(|event| event["delta"]["partial_json"].as_str()).collect();
    assert_eq!(serde_json::from_str::<Value>(&input).unwrap()["content"], "hello");
    assert_eq!(shown[shown.len() - 2]["usage"]["output_tokens"], usage::OUTPUT);
}

#[tokio::test]
async fn the_last_prompt_with_a_directive_decides() {
    let model = Model::start().await;
    let messages = json!([
        {"role": "user", "content": "[[say:one]]"},
        {"role": "assistant", "content": "[[say:not mine]]"},
        {"role": "user", "content": "[[say:two]] and [[say:three four]]"},
        {"role": "user", "content": "a reminder without one, [[]] [[:x]] [[open"},
    ]);
    let answer = ask(&model, "/v1/messages", anthropic(messages, false)).await;
    assert_eq!(answer["content"][0]["text"], "three four");
    let none =
        ask(&model, "/v1/messages", anthropic(json!([{"role": "user", "content": "hi"}]), false)).await;
    assert_eq!(none["content"][0]["text"], "Hello from the test model.");
    let untooled = json!({"messages": [{"role": "user", "content": "[[bash:ls]]"}]});
    assert_eq!(ask(&model, "/v1/messages", untooled).await["content"][0]["text"], "Scripted session");
}

#[tokio::test]
async fn responses_calls_functions_and_takes_patches_as_they_are() {
    let model = Model::start().await;
    let user = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "[[write:a.txt:x\ny]]"}]});
    let body = json!({"model": "m", "stream": true, "input": [user], "tools": [{"type": "custom", "name": "apply_patch"}]});
    let shown = events(&model, "/v1/responses", body).await;
    let item = &shown.last().unwrap()["response"]["output"][0];
    assert_eq!(item["type"], "custom_tool_call");
    assert_eq!(item["input"], "*** Begin Patch\n*** Add File: a.txt\n+x\n+y\n*** End Patch\n");
    assert_eq!(shown.last().unwrap()["type"], "response.completed");
    assert!(shown.iter().enumerate().all(|(n, event)| event["sequence_number"] == n));
    let cost = &shown.last().unwrap()["response"]["usage"];
    assert_eq!(cost["input_tokens_details"]["cached_tokens"], usage::CACHED);

    let shell = json!({"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {"type": "string"}}}});
    let body = json!({"input": "[[bash:ls -a]]", "tools": [shell]});
    let answer = ask(&model, "/v1/responses", body.clone()).await;
    assert_eq!(answer["output"][0]["arguments"], json!({"cmd": "ls -a"}).to_string());

    let spoken = events(&model, "/v1/responses", json!({"input": "[[say:a b]]", "stream": true})).await;
    let deltas: Vec<&str> = spoken.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(deltas, ["a ", "b"]);
    assert_eq!(spoken.last().unwrap()["response"]["output"][0]["content"][0]["text"], "a b");
}

#[tokio::test]
async fn chat_streams_a_call_its_end_and_its_cost() {
    let model = Model::start().await;
    let tool = json!({"type": "function", "function": {"name": "bash", "parameters": {"properties": {"command": {"type": "string"}}}}});
    let body = json!({"stream": true, "tools": [tool], "messages": [
        {"role": "system", "content": "[[say:no]]"}, {"role": "user", "content": [{"type": "text", "text": "[[bash:ls]]"}]}]});
    let shown = events(&model, "/v1/chat/completions", body.clone()).await;
    let calls = |event: &Value| event["choices"][0]["delta"]["tool_calls"][0]["function"].clone();
    assert_eq!(calls(&shown[1])["name"], "bash");
    assert_eq!(calls(&shown[2])["arguments"], r#"{"command":"ls"}"#);
    assert_eq!(shown[3]["choices"][0]["finish_reason"], "tool_calls");
    assert_eq!(shown[4]["usage"]["completion_tokens"], usage::OUTPUT);

    let mut next = body;
    next["stream"] = json!(false);
    next["messages"].as_array_mut().unwrap().push(json!({"role": "tool", "content": "a file"}));
    let answer = ask(&model, "/v1/chat/completions", next).await;
    assert_eq!(answer["choices"][0]["message"]["content"], "Done. Tool said: a file");
    assert_eq!(answer["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn gemini_calls_functions_and_answers_side_questions_in_json() {
    let model = Model::start().await;
    let tools = json!([{"functionDeclarations": [{"name": "write_file", "parametersJsonSchema": writer()}]}]);
    let contents = json!([{"role": "user", "parts": [{"text": "[[write:a.txt:x]]"}]}]);
    let path = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";
    let shown = events(&model, path, json!({"contents": contents, "tools": tools})).await;
    let part = &shown[0]["candidates"][0]["content"]["parts"][0];
    assert_eq!(
        (&part["functionCall"]["name"], &part["functionCall"]["args"]["content"]),
        (&json!("write_file"), &json!("x"))
    );
    assert_eq!(shown[1]["usageMetadata"]["thoughtsTokenCount"], usage::REASONING);
    assert_eq!(shown[1]["modelVersion"], "gemini-2.5-pro");

    let body = json!({"contents": contents, "generationConfig": {"responseMimeType": "application/json"}});
    let answer = ask(&model, "/v1beta/models/gemini-2.5-flash:generateContent", body).await;
    let opinion = answer["candidates"][0]["content"]["parts"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(opinion).unwrap()["next_speaker"], "user");
}

#[tokio::test]
async fn refusals_have_the_shape_of_their_provider_and_cost_nothing() {
    let model = Model::start().await;
    let prompt = |text: &str| json!({"messages": [{"role": "user", "content": text}]});
    let (status, text) = post(&model, "/v1/messages", "bad", &prompt("[[say:x]]")).await;
    assert!(status == 401 && text.contains("authentication_error"), "{text}");
    let (status, text) = post(&model, "/v1/chat/completions", "test", &prompt("[[status:429]]")).await;
    assert!(status == 429 && text.contains("rate_limit_error"), "{text}");
    let gemini = json!({"contents": [{"parts": [{"text": "[[status:500]]"}]}]});
    let (status, text) = post(&model, "/v1beta/models/x:generateContent", "test", &gemini).await;
    assert!(status == 500 && text.contains("INTERNAL"), "{text}");
    let statuses = async || post(&model, "/v1/messages", "test", &prompt("[[flaky:503:2]]")).await.0;
    assert_eq!([statuses().await, statuses().await, statuses().await], [503, 503, 200]);
    assert_eq!(model.calls().iter().filter(|call| call.sent).count(), 1);
    assert_eq!(model.sent(), 0, "without tools it is no turn");
    assert_eq!(model.calls()[0].status, Some(401));
    assert_eq!(model.calls()[1].api, Api::Chat);
    assert_eq!(post(&model, "/v1/nothing", "test", &json!({})).await.0, 404);
    let count = ask(&model, "/v1/messages/count_tokens", prompt("x")).await;
    assert_eq!(count["input_tokens"], usage::INPUT);
}

#[tokio::test]
async fn a_client_that_leaves_in_the_middle_was_not_told() {
    let model = Model::start().await;
    let body = json!({"stream": true, "messages": [{"role": "user", "content": "[[slow:600]]"}]});
    let request = crate::client().build().unwrap().post(format!("{}/v1/messages", model.url()));
    let mut response = request.json(&body).send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    drop(response);
    assert!(matches!(&model.calls()[..], [call] if !call.sent));
}

#[tokio::test]
async fn a_tool_of_a_server_is_used_by_the_name_that_the_agent_gave_it() {
    let model = Model::start().await;
    let prompt = r#"[[mcp:forge:get_task:{"task_id": "a"}]]"#;
    for (offered, used) in [
        ("mcp__forge__get_task", "mcp__forge__get_task"),
        ("forge-get_task", "forge-get_task"),
        // Not listed before it is looked for; another server's tool of that name is not meant.
        ("other_get_task", "mcp__forge__get_task"),
    ] {
        let body = json!({"messages": [{"role": "user", "content": prompt}], "tools": [{"name": offered}]});
        let content = ask(&model, "/v1/messages", body).await["content"][0].clone();
        assert_eq!(
            (&content["name"], &content["input"]),
            (&json!(used), &json!({"task_id": "a"})),
            "{offered}"
        );
    }
    let group = json!({"type": "namespace", "name": "mcp__forge", "tools": [{"type": "function", "name": "get_task"}]});
    let shell = json!({"type": "function", "name": "shell", "parameters": {}});
    let answer = ask(&model, "/v1/responses", json!({"input": prompt, "tools": [shell, group]})).await;
    let item = &answer["output"][0];
    assert_eq!((&item["name"], &item["namespace"]), (&json!("get_task"), &json!("mcp__forge")), "{answer}");
}
