//! Requests that a component sends: method, URL, and the rest as JSON.

use maud::{Markup, html};

use super::frame::{Field, shown};
use crate::{
    assets::EDITOR,
    form::{Part, field as name_of},
};

const METHODS: [&str; 7] = ["", "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"];

/// The field of a request.
pub(super) fn request(field: &Field<'_>) -> Markup {
    let prop = &field.prop.name;
    let part = |part| field.entered.part(part, prop).unwrap_or_default();
    let default = |name: &str| {
        let default = field
            .prop
            .default_value()
            .and_then(|default| default.get(name));
        default.map(shown)
    };
    let id = |name: &str| format!("{}-{name}", field.id);
    let method = part(Part::Method);
    let is_own = !METHODS.contains(&method);
    field.group(html! {
        div.row {
            select name=(name_of(Part::Method, prop)) aria-label="Method" {
                @for known in METHODS {
                    option value=(known) selected[known == method] {
                        @if known.is_empty() { (default("method").unwrap_or_else(|| "GET".to_owned())) " (as proposed)" } @else { (known) }
                    }
                }
                @if is_own { option value=(method) selected { (method) } }
            }
            input.wide #(id("url")) name=(name_of(Part::Url, prop)) value=(part(Part::Url)) placeholder=[default("url")] inputmode="url"
                autocomplete="off" spellcheck="false" aria-label="URL" aria-invalid=[field.is_wrong()];
        }
        label for=(id("rest")) { "Headers, parameters, authentication and body" }
        textarea #(id("rest")) name=(name_of(Part::Value, prop)) rows="4" spellcheck="false" data-editor=(EDITOR.path()) data-language="json" data-at="press"
            placeholder="{\"headers\": {\"accept\": \"application/json\"}, \"auth\": {\"type\": \"bearer\", \"token\": \"…\"}}" {
            "\n" (part(Part::Value))
        }
    })
}
