//! The description as a page: one foldable line per route, readable without a script.

use std::fmt::Write;

use serde_json::Value;

use crate::page::escape;

/// HTML of the document that [`super::document`] makes.
pub(crate) fn render(document: &Value) -> String {
    let operations = operations(document);
    let mut groups: Vec<&str> = operations.iter().map(|(.., operation)| group_of(operation)).collect();
    groups.dedup();
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Forge API</title>\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\"><link rel=\"stylesheet\" href=\"/plain.css\"></head>\n\
         <body><main class=\"docs\"><header><h1>Forge API</h1>\n<p>Every JSON response is \
         <code>{\"success\", \"data\", \"error_data\", \"message\"}</code>; failures have their reason in \
         <code>message</code> and, for programs, in <code>error_code</code>.</p>\n<p>For machines: \
         <a href=\"/api/openapi.json\">openapi.json</a>, <a href=\"/api/routes\">list of routes</a>. \
         <a href=\"/\">To the board</a>.</p></header>\n<nav aria-label=\"Groups\">",
    );
    for group in groups.iter().chain(&["objects"]) {
        let _ = write!(page, "<a href=\"#{group}\">{}</a>", group.replace('_', " "));
    }
    page.push_str("</nav>\n");
    let mut group = "";
    for (path, method, operation) in operations {
        if group_of(operation) != group {
            group = group_of(operation);
            let _ = writeln!(page, "<h2 id=\"{group}\">{}</h2>", group.replace('_', " "));
        }
        write_operation(&mut page, path, method, operation);
    }
    page.push_str("<h2 id=\"objects\">objects</h2>\n");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let _ = writeln!(
            page,
            "<details id=\"{name}\"><summary><code>{name}</code><span>{}</span></summary><pre>{}</pre></details>",
            text(&schema["description"]),
            escape(&format!("{schema:#}"))
        );
    }
    page.push_str("</main></body></html>\n");
    page
}

fn group_of(operation: &Value) -> &str {
    operation["tags"][0].as_str().unwrap_or_default()
}

/// Routes in the order of the table's groups.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut list = Vec::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            list.push((path.as_str(), method.as_str(), operation));
        }
    }
    list.sort_by_key(|(path, method, operation)| (group_of(operation), *path, *method));
    list
}

fn write_operation(page: &mut String, path: &str, method: &str, operation: &Value) {
    let _ = writeln!(
        page,
        "<details id=\"{}\"><summary><code><b class=\"{method}\">{}</b>{}</code><span>{}</span></summary><dl>",
        text(&operation["operationId"]),
        method.to_ascii_uppercase(),
        escape(path),
        text(&operation["summary"])
    );
    let mut line = |name: String, words: String| {
        let _ = writeln!(page, "<dt>{name}</dt><dd>{words}</dd>");
    };
    let need = |one: &Value| if one["required"] == true { "" } else { " <em>optional</em>" };
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let name = format!("<code>{}</code>{}", text(&parameter["name"]), need(parameter));
        line(name, format!("{} <em>{}</em>", text(&parameter["description"]), text(&parameter["in"])));
    }
    let body = &operation["requestBody"];
    for (media, content) in body["content"].as_object().into_iter().flatten() {
        let shown =
            format!("{} <em>{}</em>{}", link(&content["schema"]), escape(media), sample(&content["example"]));
        line(format!("body{}", need(body)), shown);
    }
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let content = response["content"].as_object().into_iter().flatten().next();
        let (media, schema) =
            content.map_or(("", &Value::Null), |(media, content)| (media.as_str(), &content["schema"]));
        if status.starts_with(['4', '5']) {
            line(status.clone(), codes(schema).unwrap_or_default());
            continue;
        }
        let forms = schema["anyOf"].as_array().map_or(std::slice::from_ref(schema), Vec::as_slice);
        let data = forms[0]["allOf"][1]["properties"].get("data").unwrap_or(&forms[0]);
        let refused = forms.iter().find_map(codes).map(|codes| format!(", or without success: {codes}"));
        line(
            status.clone(),
            format!("{} <em>{}</em>{}", link(data), escape(media), refused.unwrap_or_default()),
        );
    }
    page.push_str("</dl></details>\n");
}

/// The codes that a failure can have.
fn codes(schema: &Value) -> Option<String> {
    let codes = schema["allOf"][1]["properties"]["error_code"]["enum"].as_array()?;
    Some(codes.iter().map(|code| format!("<code>{}</code>", text(code))).collect::<Vec<_>>().join(", "))
}

fn sample(example: &Value) -> String {
    match example.as_object().is_some_and(|fields| !fields.is_empty()) {
        true => format!("<pre>{}</pre>", escape(&format!("{example:#}"))),
        false => String::new(),
    }
}

fn text(value: &Value) -> String {
    escape(value.as_str().unwrap_or_default())
}

/// A short name for a schema, linked to its description when it has one.
fn link(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("<a href=\"#{name}\"><code>{name}</code></a>");
    }
    if let Some(choice) = schema["anyOf"].get(0) {
        return link(choice);
    }
    if schema["type"] == "array" {
        return format!("list of {}", link(&schema["items"]));
    }
    format!("<code>{}</code>", text(&schema["type"]))
}
