//! The description of the API as a page for people.
//!
//! Owns: the page's HTML, and what a browser may load with it: one style sheet. Never: scripts, or words of its own about a
//! route; all of them come from the document.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value};

use crate::openapi;

const POLICY: &str =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const STYLE: &str = "\
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
summary { cursor: pointer; padding: .2rem 0; }
summary b { display: inline-block; min-width: 4rem; }
details > :not(summary) { margin-left: 1rem; }
table { border-collapse: collapse; width: 100%; }
td { border-top: 1px solid #8886; padding: .2rem .5rem .2rem 0; vertical-align: top; }
code { font-family: ui-monospace, monospace; }
";

/// Limits of a field, as the document names them.
const BOUNDS: [&str; 9] = [
    "default",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "pattern",
];

/// The page.
pub(crate) async fn page() -> Response {
    static PAGE: LazyLock<String> = LazyLock::new(|| {
        let document = serde_json::from_str(openapi::text()).expect("the document is JSON");
        rendered(&document)
    });
    served("text/html; charset=utf-8", &PAGE)
}

/// Its style sheet.
pub(crate) async fn style() -> Response {
    served("text/css; charset=utf-8", STYLE)
}

fn served(kind: &'static str, text: &'static str) -> Response {
    let headers = [
        (CONTENT_TYPE, kind),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    (headers, text).into_response()
}

fn rendered(document: &Value) -> String {
    let info = &document["info"];
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n<link rel=\"stylesheet\" href=\"/docs/style.css\">\n\
         <h1>{title} {version}</h1>\n<p>{about}</p>\n<p>The same for programs: <a href=\"/openapi.json\">openapi.json</a>. An answer \
         of a route under <code>/api</code> has <code>request_id</code> and <code>data</code>: its type here is that of \
         <code>data</code>.</p>\n",
        title = prose(&info["title"]),
        version = prose(&info["version"]),
        about = prose(&info["description"]),
    );
    for tag in document["tags"].as_array().into_iter().flatten() {
        let (name, about) = (prose(&tag["name"]), prose(&tag["description"]));
        let _ = write!(html, "<h2>{name}</h2>\n<p>{about}</p>\n");
        for (path, item) in entries(&document["paths"]) {
            for (method, operation) in entries(item).filter(|(_, one)| one["tags"][0] == tag["name"]) {
                html.push_str(&shown(method, path, operation, document));
            }
        }
    }
    let components = &document["components"];
    html.push_str("<h2>Failures</h2>\n<p>Any route can answer these.</p>\n");
    html.push_str(&answers(&failures(document)));
    html.push_str("<h2>Types</h2>\n");
    for (name, schema) in entries(&components["schemas"]).filter(|(name, _)| !name.starts_with(ENVELOPE)) {
        let (about, body) = (prose(&schema["description"]), fields(schema));
        let name = escaped(name);
        let _ = write!(html, "<h3 id=\"{name}\">{name}</h3>\n<p>{about}</p>\n{body}");
    }
    html
}

/// The data of an answer stands in an envelope; a reader needs the type of the data.
const ENVELOPE: &str = "Envelope_";

/// One operation, folded.
fn shown(method: &str, path: &str, operation: &Value, document: &Value) -> String {
    let mut html = format!(
        "<details id=\"{id}\"><summary><b>{method}</b> <code>{path}</code> {summary}</summary>\n<p>{about}</p>\n",
        id = prose(&operation["operationId"]),
        method = method.to_uppercase(),
        path = escaped(path),
        summary = prose(&operation["summary"]),
        about = prose(&operation["description"]),
    );
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    let rows: String = parameters
        .map(|one| {
            let name = one["name"].as_str().unwrap_or_default();
            let place = if one["in"] == "path" { "path" } else { "query" };
            let required = one["required"] == true && place == "query";
            row(name, place, required, &one["schema"], &one["description"])
        })
        .collect();
    html.push_str(&table("Parameters", &rows));
    for (kind, content) in entries(&operation["requestBody"]["content"]) {
        let body = fields(resolved(&content["schema"], document));
        let _ = write!(html, "<h4>Body: {}</h4>\n{body}", escaped(kind));
    }
    let own = operation["responses"].as_object().into_iter().flatten();
    let own: Map<String, Value> = own
        .filter(|(_, answer)| answer["$ref"].is_null())
        .map(|(status, answer)| (status.clone(), answer.clone()))
        .collect();
    html.push_str("<h4>Answers</h4>\n");
    html.push_str(&answers(&Value::Object(own)));
    html.push_str("</details>\n");
    html
}

/// What all operations refer to, by status.
fn failures(document: &Value) -> Value {
    let operations = entries(&document["paths"]).flat_map(|(_, item)| entries(item));
    let failures = operations.flat_map(|(_, operation)| entries(&operation["responses"]));
    let described = failures.filter_map(|(status, failure)| {
        let name = referred(failure)?;
        Some((status.clone(), document["components"]["responses"][name].clone()))
    });
    Value::Object(described.collect())
}

/// Statuses with meaning and type.
fn answers(responses: &Value) -> String {
    let mut rows = String::new();
    for (status, answer) in entries(responses) {
        let kinds = entries(&answer["content"]).map(|(_, content)| kind(&content["schema"]));
        let kinds = kinds.collect::<Vec<_>>().join(" or ");
        let (status, about) = (escaped(status), prose(&answer["description"]));
        let _ = writeln!(rows, "<tr><td>{status}<td>{about}<td>{kinds}");
    }
    format!("<table>\n{rows}</table>\n")
}

/// The fields of an object; of another schema what it may be.
fn fields(schema: &Value) -> String {
    let is_required = |name: &str| {
        let mut required = schema["required"].as_array().into_iter().flatten();
        required.any(|one| one == name)
    };
    let rows: String = entries(&schema["properties"])
        .map(|(name, field)| row(name, "", is_required(name), field, &field["description"]))
        .collect();
    if rows.is_empty() {
        format!("<p>{}</p>\n", kind(schema))
    } else {
        table("", &rows)
    }
}

fn table(title: &str, rows: &str) -> String {
    match (title, rows) {
        (_, "") => String::new(),
        ("", rows) => format!("<table>\n{rows}</table>\n"),
        (title, rows) => format!("<h4>{title}</h4>\n<table>\n{rows}</table>\n"),
    }
}

fn row(name: &str, place: &str, required: bool, schema: &Value, about: &Value) -> String {
    let required = if required { "required" } else { place };
    let mut bounds = String::new();
    for key in BOUNDS.into_iter().filter(|key| !schema[*key].is_null()) {
        let bound = escaped(&schema[key].to_string());
        let _ = write!(bounds, " {key}: <code>{bound}</code>");
    }
    let (name, kind, about) = (escaped(name), kind(schema), prose(about));
    format!("<tr><td><code>{name}</code><td>{required}<td>{kind}<td>{about}{bounds}\n")
}

/// The type of a value, with links to named types.
fn kind(schema: &Value) -> String {
    if let Some(name) = referred(schema) {
        let name = escaped(name.strip_prefix(ENVELOPE).unwrap_or(name));
        return format!("<a href=\"#{name}\">{name}</a>");
    }
    if let Some(values) = schema["enum"].as_array() {
        let values = values
            .iter()
            .map(|value| format!("<code>{}</code>", prose(value)));
        return values.collect::<Vec<_>>().join(" or ");
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema[key].as_array() {
            return parts.iter().map(kind).collect::<Vec<_>>().join(" or ");
        }
    }
    let one = |name: &Value| match name.as_str() {
        Some("array") => format!("array of {}", kind(&schema["items"])),
        Some(other) => escaped(other),
        None => "any".to_owned(),
    };
    match &schema["type"] {
        Value::Array(names) => names.iter().map(one).collect::<Vec<_>>().join(" or "),
        name => one(name),
    }
}

fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

fn resolved<'a>(schema: &'a Value, document: &'a Value) -> &'a Value {
    referred(schema).map_or(schema, |name| &document["components"]["schemas"][name])
}

fn entries(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
    object.as_object().into_iter().flatten()
}

/// Text of the document as HTML; what stands between backticks is code.
fn prose(text: &Value) -> String {
    let text = escaped(text.as_str().unwrap_or_default());
    let mut html = String::with_capacity(text.len());
    for (at, part) in text.split('`').enumerate() {
        if at % 2 == 1 {
            let _ = write!(html, "<code>{part}</code>");
        } else {
            html.push_str(part);
        }
    }
    html
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
