//! One operation on the page: its purpose, its parameters, its answers, and a call of it.

use serde_json::Value;

use super::{
    document::{Operation, fields, items, resolved, text_of},
    example, schema,
    text::{escape, inline, prose},
};

/// The operation under its own heading.
pub(super) fn article(document: &Value, operation: &Operation<'_>) -> String {
    let said = operation.said;
    format!(
        "<article id=\"{id}\">\n<h3><a href=\"#{id}\">{}</a></h3>\n\
         <p class=\"call\">{}<code>{}</code>{}</p>\n{}{}{}{}\
         <h4>Example</h4>\n<pre>{}</pre>\n</article>\n",
        escape(operation.summary()),
        badge(operation.method),
        path(operation.path),
        open_note(said),
        prose(text_of(&said["description"])),
        parameters(document, said),
        request_body(document, said),
        responses(document, said),
        escape(&example::curl(document, operation)),
        id = operation.id(),
    )
}

/// A method, coloured by its effect.
pub(super) fn badge(method: &str) -> String {
    let shown = method.to_uppercase();
    format!("<b class=\"method {method}\">{shown}</b>")
}

/// The path, its parameters set apart.
fn path(path: &str) -> String {
    escape(path).replace('{', "<i>{").replace('}', "}</i>")
}

fn open_note(said: &Value) -> &'static str {
    match said["security"].is_array() {
        true => "<span class=\"open\">no key needed</span>",
        false => "",
    }
}

fn parameters(document: &Value, said: &Value) -> String {
    let (shared, own): (Vec<_>, Vec<_>) =
        items(&said["parameters"]).partition(|parameter| parameter["$ref"].is_string());
    let rows: String = own
        .into_iter()
        .map(|parameter| {
            let described = match text_of(&parameter["description"]) {
                "" => text_of(&resolved(document, &parameter["schema"])["description"]),
                own => own,
            };
            schema::row(
                text_of(&parameter["name"]),
                parameter["required"] == true,
                &format!(
                    "{}, in the {}",
                    schema::kind(document, &parameter["schema"]),
                    escape(text_of(&parameter["in"])),
                ),
                described,
            )
        })
        .collect();
    let shared: Vec<_> = shared
        .into_iter()
        .map(|parameter| {
            let parameter = resolved(document, parameter);
            let description = escape(text_of(&parameter["description"]));
            let name = escape(text_of(&parameter["name"]));
            format!("<code title=\"{description}\">{name}</code>")
        })
        .collect();
    let also = match shared.is_empty() {
        true => String::new(),
        false => format!(
            "<p class=\"also\">As everywhere: {}.</p>\n",
            shared.join(" and ")
        ),
    };
    match (rows.is_empty(), also.is_empty()) {
        (true, true) => String::new(),
        (true, false) => format!("<h4>Parameters</h4>\n{also}"),
        (false, _) => format!("<h4>Parameters</h4>\n<table>\n{rows}</table>\n{also}"),
    }
}

fn request_body(document: &Value, said: &Value) -> String {
    let contents = fields(&said["requestBody"]["content"]);
    let bodies = contents.map(|(media_type, content)| {
        let wanted = resolved(document, &content["schema"]);
        format!(
            "<h4>Body <small>{}</small></h4>\n{}{}",
            escape(media_type),
            prose(text_of(&wanted["description"])),
            schema::body(document, wanted),
        )
    });
    bodies.collect()
}

fn responses(document: &Value, said: &Value) -> String {
    let all = || fields(&said["responses"]);
    let is_success = |status: &str| status.starts_with('2');
    let successes: String = all()
        .filter(|(status, _)| is_success(status))
        .map(|(status, response)| answer(document, status, response))
        .collect();
    let failures: Vec<_> = all().filter(|(status, _)| !is_success(status)).collect();
    let mut shown = format!("<h4>Answers</h4>\n<table class=\"answers\">\n{successes}</table>\n");
    if !failures.is_empty() {
        let statuses: Vec<_> = failures.iter().map(|(status, _)| escape(status)).collect();
        let rows = failures.iter();
        let rows: String = rows
            .map(|(status, response)| answer(document, status, response))
            .collect();
        shown.push_str(&format!(
            "<details><summary>Failures: {}</summary>\n<table class=\"answers\">\n{rows}</table>\n\
             </details>\n",
            statuses.join(", ")
        ));
    }
    shown
}

fn answer(document: &Value, status: &str, response: &Value) -> String {
    let response = resolved(document, response);
    let shown: String = fields(&response["content"])
        .map(|(media_type, content)| content_kind(document, status, media_type, content))
        .collect();
    let class = status.chars().next().unwrap_or('0');
    format!(
        "<tr><th><b class=\"status s{class}\">{}</b></th><td>{} {shown}</td></tr>\n",
        escape(status),
        inline(text_of(&response["description"])),
    )
}

/// The body of a response. Failures are all alike, so theirs is not repeated.
fn content_kind(document: &Value, status: &str, media_type: &str, content: &Value) -> String {
    let of = &content["schema"];
    if !status.starts_with('2') && of["$ref"] == "#/components/schemas/ErrorBody" {
        return String::new();
    }
    let kind = match media_type {
        "application/json" => schema::kind(document, of),
        other => escape(other),
    };
    format!("<span class=\"kind\">{kind}</span>")
}
