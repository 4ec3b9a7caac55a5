//! The fields of an account as a form asks for them, and as it sends them. Values of secrets are never shown.

use headwater_model::{
    app::{AppDefinition, AppField},
    error::Invalid,
};
use maud::{Markup, html};
use serde_json::{Map, Value};

use crate::{
    part::{
        icon::{Icon, icon},
        markdown::markdown,
        text,
    },
    problem::capital,
};

/// Fields of an account are named like this in the form.
const FIELD: &str = "field.";

/// The things that a form of fields is shown with.
#[derive(Default)]
pub(super) struct Shown<'a> {
    /// The fields as they came, or as they are stored.
    pub(super) given: &'a [(String, String)],
    /// Secrets that are stored, which stay where nothing is entered.
    pub(super) kept: &'a [String],
    /// The field that does not fit.
    pub(super) wrong: Option<&'a Invalid>,
}

impl Shown<'_> {
    /// The value of a field of the form.
    pub(super) fn typed(&self, name: &str) -> Option<&str> {
        let found = self.given.iter().find(|(key, _)| key == name);
        found.map(|(_, text)| text.as_str())
    }

    fn reason(&self, field: &AppField) -> Option<&str> {
        let wrong = self.wrong?;
        (name_of(wrong) == field.name).then_some(&*wrong.reason)
    }

    /// The error above the form, with the way to its field.
    pub(super) fn summary(&self, app: Option<&AppDefinition>) -> Markup {
        let Some(wrong) = self.wrong else {
            return html! {};
        };
        let name = name_of(wrong);
        let field = app.and_then(|app| app.fields.iter().find(|field| field.name == name));
        html! {
            section.summary-of-errors role="alert" {
                p {
                    (icon(Icon::Warning))
                    @match field {
                        Some(field) => { a href={ "#" (id_of(field)) } { (text::line(&field.label)) } ": " (text::sentence(&wrong.reason)) }
                        None => { (text::sentence(&capital(&format!("{name}: {}", wrong.reason)))) }
                    }
                }
            }
        }
    }
}

/// The field that an error is about.
fn name_of(wrong: &Invalid) -> &str {
    wrong.field.strip_prefix("fields.").unwrap_or(&wrong.field)
}

fn id_of(field: &AppField) -> String {
    format!("field-{}", field.name)
}

/// All fields of an app.
pub(super) fn fields(app: &AppDefinition, shown: &Shown<'_>) -> Markup {
    html! { @for field in &app.fields { (one(field, shown)) } }
}

fn one(field: &AppField, shown: &Shown<'_>) -> Markup {
    let name = format!("{FIELD}{}", field.name);
    let id = id_of(field);
    let is_kept = shown.kept.contains(&field.name);
    let typed = shown.typed(&name).unwrap_or(&field.default);
    let value = if field.secret { "" } else { typed };
    let wrong = shown.reason(field);
    let is_wrong = wrong.map(|_| "true");
    let has_hint = !field.hint.is_empty();
    let parts = [
        ("wrong", wrong.is_some()),
        ("kept", is_kept),
        ("hint", has_hint),
    ];
    let parts = parts.iter().filter(|(_, is_there)| *is_there);
    let parts: Vec<_> = parts.map(|(part, _)| format!("{id}-{part}")).collect();
    let described = (!parts.is_empty()).then(|| parts.join(" "));
    let is_required = !field.optional && !is_kept;
    html! {
        div.field {
            label for=(id) { (text::line(&field.label)) @if field.optional { " " span.note { "optional" } } }
            @if !field.options.is_empty() {
                select #(id) name=(name) required[is_required] aria-describedby=[described] aria-invalid=[is_wrong] {
                    option value="" { "—" }
                    @for option in &field.options { option value=(option.value) selected[option.value == value] { (option.label) } }
                }
            } @else if field.multiline {
                textarea #(id) name=(name) rows="6" required[is_required] spellcheck="false" autocomplete="off" aria-describedby=[described] aria-invalid=[is_wrong] { "\n" (value) }
            } @else if field.secret {
                input #(id) type="password" name=(name) required[is_required] autocomplete="new-password" spellcheck="false"
                    placeholder=[is_kept.then_some("kept if empty")] aria-describedby=[described] aria-invalid=[is_wrong];
            } @else if field.port {
                input.short #(id) type="number" name=(name) value=(value) min="1" max="65535" required[is_required] autocomplete="off" aria-describedby=[described] aria-invalid=[is_wrong];
            } @else {
                input #(id) name=(name) value=(value) required[is_required] autocomplete="off" spellcheck="false" aria-describedby=[described] aria-invalid=[is_wrong];
            }
            @if is_kept { p.hint #{ (id) "-kept" } { "A value is stored. Leave this empty to keep it." } }
            @if let Some(wrong) = wrong { p.wrong #{ (id) "-wrong" } { (icon(Icon::Warning)) (text::sentence(wrong)) } }
            @if has_hint { div.hint #{ (id) "-hint" } { (markdown(&field.hint)) } }
        }
    }
}

/// The fields of the form for values that are stored.
pub(super) fn stored(values: &Map<String, Value>) -> Vec<(String, String)> {
    let text = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let pairs = values.iter();
    pairs
        .map(|(name, value)| (format!("{FIELD}{name}"), text(value)))
        .collect()
}

/// The values that stored ones are changed to: an empty field takes its value away, but that of a secret keeps it.
pub(super) fn changes(
    app: &AppDefinition,
    given: &[(String, String)],
    kept: &[String],
) -> Map<String, Value> {
    let mut changes = entered(given);
    for field in &app.fields {
        if !changes.contains_key(&field.name) && !kept.contains(&field.name) {
            changes.insert(field.name.clone(), Value::Null);
        }
    }
    changes
}

/// The fields of the account: one of the form for each, or lines of names and values.
pub(super) fn entered(given: &[(String, String)]) -> Map<String, Value> {
    let named = given
        .iter()
        .filter_map(|(name, text)| Some((name.strip_prefix(FIELD)?, text)));
    let mut fields: Map<String, Value> = named
        .filter(|(_, text)| !text.is_empty())
        .map(|(name, text)| (name.to_owned(), Value::from(text.replace("\r\n", "\n"))))
        .collect();
    let lines = given.iter().filter(|(name, _)| name == "lines");
    for (name, value) in lines.flat_map(|(_, text)| in_lines(text)) {
        fields.insert(name, Value::from(value));
    }
    fields
}

/// Names and values, one pair per line; a key or a certificate (PEM) goes on until its last line.
fn in_lines(text: &str) -> Vec<(String, String)> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (pairs.last_mut(), line.split_once('=')) {
            (Some((_, value)), _) if is_open(value) => *value = format!("{value}\n{}", line.trim()),
            (_, Some((name, value))) => {
                pairs.push((name.trim().to_owned(), value.trim().to_owned()))
            }
            (_, None) => {}
        }
    }
    pairs
}

/// Whether a value is a key or a certificate without its last line.
fn is_open(value: &str) -> bool {
    value.starts_with("-----BEGIN ") && !value.contains("-----END ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_empty_field_takes_a_value_away_unless_it_is_a_secret() {
        let definition = json!({"name": "Acme", "auth": "fields", "fields": [
            {"name": "host"}, {"name": "ca"}, {"name": "password", "secret": true}]});
        let app: AppDefinition = serde_json::from_value(definition).unwrap();
        let given = [
            ("field.host", "h"),
            ("field.ca", ""),
            ("field.password", ""),
        ];
        let given = given.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let kept = ["password".to_owned()];
        let expected = json!({"host": "h", "ca": null});
        assert_eq!(Value::Object(changes(&app, &given, &kept)), expected);
    }

    #[test]
    fn fields_come_one_by_one_or_in_lines() {
        let given = [
            ("app", "x"),
            ("field.key", "a\r\nb"),
            ("field.empty", ""),
            (
                "lines",
                "token = t=1\r\nnothing\r\nuser=me\r\npem=-----BEGIN KEY-----\r\nAB==\r\n-----END KEY-----\r\nlast=1",
            ),
        ];
        let given = given.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let expected = json!({"key": "a\nb", "token": "t=1", "user": "me",
            "pem": "-----BEGIN KEY-----\nAB==\n-----END KEY-----", "last": "1"});
        assert_eq!(Value::Object(entered(&given)), expected);
    }
}
