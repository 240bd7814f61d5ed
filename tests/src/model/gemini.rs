//! Gemini's generateContent API.

use serde_json::{Value, json};

use super::answer::{Gone, Sink};
use super::script::{Reply, Said, Who};
use super::tools::Tools;
use super::usage;

pub(super) fn said(body: &Value) -> Vec<Said> {
    let mut said = Vec::new();
    for content in body["contents"].as_array().into_iter().flatten() {
        let who = if content["role"] == "model" { Who::Agent } else { Who::Person };
        for part in content["parts"].as_array().into_iter().flatten() {
            if part["functionResponse"].is_object() {
                said.push(Said::new(Who::Tool, part["functionResponse"]["response"].to_string()));
            } else if let Some(text) = part["text"].as_str() {
                said.push(Said::new(who, text));
            }
        }
    }
    said
}

pub(super) fn tools(body: &Value) -> Tools {
    let mut tools = Tools::default();
    for group in body["tools"].as_array().into_iter().flatten() {
        for tool in group["functionDeclarations"].as_array().into_iter().flatten() {
            let schema = [&tool["parametersJsonSchema"], &tool["parameters"]];
            let schema = schema.into_iter().find(|schema| schema.is_object()).cloned().unwrap_or_default();
            tools.add(tool["name"].as_str().unwrap_or_default(), schema);
        }
    }
    tools
}

/// The model is in the path.
pub(super) fn model(path: &str) -> String {
    let name = path.rsplit_once("/models/").map_or(path, |(_, name)| name);
    name.split(':').next().unwrap_or_default().to_owned()
}

/// The agent asks on the side who is to speak next and how hard a task is, and wants JSON.
pub(super) fn adapt(body: &Value, reply: Reply) -> Reply {
    let wanted = body["generationConfig"]["responseMimeType"].as_str().unwrap_or_default();
    if !wanted.contains("json") {
        return reply;
    }
    let opinion = json!({"next_speaker": "user", "reasoning": "as scripted", "model_choice": "pro",
        "complexity_reasoning": "as scripted", "complexity_score": 90, "title": "Scripted"});
    Reply::Text(opinion.to_string())
}

fn cost() -> Value {
    json!({"promptTokenCount": usage::INPUT, "candidatesTokenCount": usage::OUTPUT,
        "totalTokenCount": usage::INPUT + usage::OUTPUT + usage::REASONING,
        "cachedContentTokenCount": usage::CACHED, "thoughtsTokenCount": usage::REASONING})
}

fn chunk(model: &str, part: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], "modelVersion": model,
        "responseId": "test"})
}

fn ended(mut chunk: Value) -> Value {
    chunk["candidates"][0]["finishReason"] = json!("STOP");
    chunk["usageMetadata"] = cost();
    chunk
}

pub(super) fn whole(model: &str, reply: &Reply, text: &str) -> Value {
    let part = match reply {
        Reply::Use(used) => json!({"functionCall": {"name": used.name, "args": used.object()}}),
        _ => json!({"text": text}),
    };
    ended(chunk(model, part))
}

pub(super) async fn stream(model: &str, reply: &Reply, sink: &Sink) -> Result<(), Gone> {
    if let Reply::Use(used) = reply {
        let part = json!({"functionCall": {"name": used.name, "args": used.object()}});
        sink.data(&chunk(model, part).to_string()).await?;
    }
    for piece in reply.pieces() {
        tokio::time::sleep(piece.after).await;
        sink.data(&chunk(model, json!({"text": piece.text})).to_string()).await?;
    }
    sink.data(&ended(chunk(model, json!({"text": ""}))).to_string()).await
}
