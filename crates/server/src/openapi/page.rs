//! The description as a page: one foldable line per route, readable without a script.

use std::fmt::Write;

use serde_json::Value;

use crate::page::escape;

/// HTML of the document that [`super::document`] makes.
pub(crate) fn render(document: &Value) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Forge API</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" href=\"/plain.css\"></head>\n\
         <body><main><h1>Forge API</h1>\n<p>Every JSON response is \
         <code>{\"success\", \"data\", \"error_data\", \"message\"}</code>; failures have their reason in \
         <code>message</code> and, for programs, in <code>error_code</code>. For machines: <a href=\"/api/openapi.json\">openapi.json</a>, \
         <a href=\"/api/routes\">list of routes</a>.</p>\n",
    );
    let mut group = "";
    for (path, method, operation) in operations(document) {
        let tag = operation["tags"][0].as_str().unwrap_or_default();
        if tag != group {
            group = tag;
            let _ = writeln!(page, "<h2>{}</h2>", escape(&tag.replace('_', " ")));
        }
        write_operation(&mut page, path, method, operation);
    }
    page.push_str("<h2>objects</h2>\n");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let _ = writeln!(
            page,
            "<details id=\"{name}\"><summary><code>{name}</code></summary><pre>{}</pre></details>",
            escape(&format!("{schema:#}"))
        );
    }
    page.push_str("</main></body></html>\n");
    page
}

/// Routes in the order of the table's groups.
fn operations(document: &Value) -> Vec<(&str, &str, &Value)> {
    let mut list = Vec::new();
    for (path, methods) in document["paths"].as_object().into_iter().flatten() {
        for (method, operation) in methods.as_object().into_iter().flatten() {
            list.push((path.as_str(), method.as_str(), operation));
        }
    }
    list.sort_by_key(|(path, method, operation)| (operation["tags"][0].to_string(), *path, *method));
    list
}

fn write_operation(page: &mut String, path: &str, method: &str, operation: &Value) {
    let _ = writeln!(
        page,
        "<details><summary><code>{} {}</code></summary><ul>",
        method.to_ascii_uppercase(),
        escape(path)
    );
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let text = |key: &str| escape(parameter[key].as_str().unwrap_or_default());
        let need = if parameter["required"] == true { "required" } else { "optional" };
        let _ = writeln!(page, "<li><code>{}</code> in {}, {need}</li>", text("name"), text("in"));
    }
    for (media, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        let need = if operation["requestBody"]["required"] == true { "required" } else { "optional" };
        let _ = writeln!(page, "<li>body: {} {}, {need}</li>", escape(media), link(&content["schema"]));
    }
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        if response.get("$ref").is_some() {
            continue;
        }
        let content = response["content"].as_object().into_iter().flatten().next();
        let (media, schema) =
            content.map_or(("", &Value::Null), |(media, content)| (media.as_str(), &content["schema"]));
        let envelope = schema.get("anyOf").map_or(schema, |forms| &forms[0]);
        let data = envelope["allOf"][1]["properties"].get("data").unwrap_or(schema);
        let _ = writeln!(page, "<li>response: {status} {} {}</li>", escape(media), link(data));
    }
    page.push_str("</ul></details>\n");
}

/// A short name for a schema, linked to its description when it has one.
fn link(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("<a href=\"#{name}\"><code>{name}</code></a>");
    }
    if schema["type"] == "array" {
        return format!("list of {}", link(&schema["items"]));
    }
    format!("<code>{}</code>", escape(schema["type"].as_str().unwrap_or("")))
}
