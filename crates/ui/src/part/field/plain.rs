//! Values that are typed: lines, texts, numbers, JSON, secrets, names of data stores.

use headwater_model::prop::InputType;
use maud::{Markup, html};

use super::frame::{Field, title};
use crate::{
    assets::EDITOR,
    form::{Items, Part, field as name_of},
};

/// Empty fields that a list of secrets has without script.
const SECRETS: usize = 3;

/// One value.
pub(super) fn value(field: &Field<'_>) -> Markup {
    let name = name_of(Part::Value, &field.prop.name);
    let typed = field
        .entered
        .part(Part::Value, &field.prop.name)
        .unwrap_or_default();
    match field.prop.input_type() {
        Some(InputType::Integer) => html! {
            input #(field.id) name=(name) value=(typed) inputmode="numeric" autocomplete="off"
                aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()];
        },
        Some(InputType::String) if !typed.contains('\n') => html! {
            input #(field.id) name=(name) value=(typed) autocomplete="off"
                aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()];
        },
        Some(InputType::String) => area(field, &name, typed, None, "text"),
        Some(InputType::Object) => {
            let hint = "A JSON object, such as {\"a\": 1}";
            area(field, &name, typed, Some(hint), "json")
        }
        Some(InputType::Sql) => {
            let hint = "A query, or the JSON of one";
            area(field, &name, typed, Some(hint), "text")
        }
        Some(InputType::Any | InputType::Unknown | InputType::Boolean) | None => {
            area(field, &name, typed, Some("JSON, or text"), "json")
        }
    }
}

/// A list: one item a line, or with script one field for each.
pub(super) fn lines(field: &Field<'_>, id: &str) -> Markup {
    let prop = &field.prop.name;
    let items = Items::of(field.prop, field.entered);
    let item_type = field.prop.input_type();
    let mode = (item_type == Some(InputType::Integer)).then_some("numeric");
    // The editor is for items that no line holds.
    let editor = items.texts.is_none().then(|| EDITOR.path());
    let texts = items.texts.and_then(|it| serde_json::to_string(&it).ok());
    let rows = items.text.lines().count().clamp(3, 16);
    let row = html! {
        input name=(name_of(Part::Item, prop)) inputmode=[mode] autocomplete="off" aria-invalid=[field.is_wrong()];
    };
    html! {
        div.list data-list=[texts] data-title=(title(field.prop)) {
            textarea #(id) name=(name_of(Part::Own, prop)) rows=(rows) spellcheck="false" placeholder=(per_line(item_type))
                data-editor=[editor] data-language="json" data-at="press"
                aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()] { "\n" (items.text) }
            (row_of_list(row))
        }
    }
}

/// One item of a list, for the script.
fn row_of_list(input: Markup) -> Markup {
    html! { template { li { (input) button.quiet type="button" data-removes { "Remove" } } } }
}

/// The way in which the items of a list are written.
pub(super) fn per_line(item_type: Option<InputType>) -> &'static str {
    match item_type {
        Some(InputType::Object) => "One JSON object per line, or a JSON array",
        Some(InputType::Integer) => "One whole number per line",
        Some(InputType::Boolean) => "true or false, one per line",
        Some(InputType::Any | InputType::Sql | InputType::Unknown) | None => {
            "One value per line, or a JSON array"
        }
        Some(InputType::String) => "One per line",
    }
}

/// A text of several lines, which the editor opens for.
fn area(field: &Field<'_>, name: &str, typed: &str, hint: Option<&str>, language: &str) -> Markup {
    let rows = typed.lines().count().clamp(3, 16);
    html! {
        // The parser drops a first line break.
        textarea #(field.id) name=(name) rows=(rows) spellcheck="false" placeholder=[hint]
            data-editor=(EDITOR.path()) data-language=(language) data-at="press"
            aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()] { "\n" (typed) }
    }
}

/// A value that is never shown.
pub(super) fn secret(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    let is_kept = field.around.kept.contains(&prop.name);
    let placeholder = is_kept.then_some("kept if empty");
    let part = if prop.is_list() {
        Part::Item
    } else {
        Part::Value
    };
    let parts = [Part::Value, Part::Item, Part::Own];
    let typed = parts.map(|part| field.entered.parts(part, &prop.name).count());
    let typed: usize = typed.iter().sum();
    let name = name_of(part, &prop.name);
    let input = |id: Option<&str>, label: Option<&str>| {
        html! {
            input id=[id] type="password" name=(name) autocomplete="new-password" spellcheck="false" data-secret aria-label=[label]
                placeholder=[placeholder] aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()];
        }
    };
    html! {
        @if prop.is_list() {
            div.list data-list="[]" data-title=(title(prop)) {
                (input(Some(&field.id), None))
                @for at in 2..=typed + SECRETS { (input(None, Some(&format!("{} {at}", title(prop))))) }
                button name="action" value="show" { "More fields" }
                (row_of_list(input(None, None)))
            }
        } @else {
            (input(Some(&field.id), None))
        }
        @if is_kept { p.hint { "A value is stored. Leave this empty to keep it." } }
        @else if typed > 0 { p.hint.again { "Secrets are not sent back to the browser: enter it again." } }
    }
}

/// The name of a data store, one that there is or a new one.
pub(super) fn data_store(field: &Field<'_>) -> Markup {
    let typed = field
        .entered
        .part(Part::Value, &field.prop.name)
        .unwrap_or_default();
    let list = format!("{}-stores", field.id);
    html! {
        input #(field.id) name=(name_of(Part::Value, &field.prop.name)) value=(typed) list=(list) autocomplete="off"
            aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()];
        datalist #(list) { @for name in &field.around.stores { option value=(name) {} } }
        p.hint { "The name of a data store. One that is not there yet is created with its first record." }
    }
}
