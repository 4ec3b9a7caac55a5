//! Values that are typed: lines, texts, numbers, JSON, secrets, names of data stores.

use headwater_model::prop::InputType;
use maud::{Markup, html};

use super::frame::Field;
use crate::{
    assets::EDITOR,
    form::{Part, field as name_of},
};

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
        Some(InputType::String) => area(field, &name, typed, None),
        Some(InputType::Object) => json(field, &name, typed),
        Some(InputType::Sql) => area(field, &name, typed, Some("A query, or the JSON of one")),
        Some(InputType::Any | InputType::Unknown | InputType::Boolean) | None => {
            area(field, &name, typed, Some("JSON, or text"))
        }
    }
}

/// A list, one item a line.
pub(super) fn lines(field: &Field<'_>) -> Markup {
    let prop = &field.prop.name;
    let mut typed: Vec<&str> = field.entered.parts(Part::Value, prop).collect();
    typed.extend(field.entered.part(Part::Own, prop));
    let name = name_of(Part::Own, prop);
    area(
        field,
        &name,
        &typed.join("\n"),
        Some(per_line(field.prop.input_type())),
    )
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

fn area(field: &Field<'_>, name: &str, typed: &str, hint: Option<&str>) -> Markup {
    let rows = typed.lines().count().clamp(3, 16);
    html! {
        // The parser drops a first line break.
        textarea #(field.id) name=(name) rows=(rows) spellcheck="false" placeholder=[hint]
            aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()] { "\n" (typed) }
    }
}

/// A JSON object, which the editor opens for.
fn json(field: &Field<'_>, name: &str, typed: &str) -> Markup {
    html! {
        textarea #(field.id) name=(name) rows=(typed.lines().count().clamp(3, 16)) spellcheck="false"
            placeholder="A JSON object, such as {\"a\": 1}" data-editor=(EDITOR.path()) data-language="json" data-at="press"
            aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()] { "\n" (typed) }
    }
}

/// A value that is never shown.
pub(super) fn secret(field: &Field<'_>) -> Markup {
    let prop = field.prop;
    let is_kept = field.around.kept.contains(&prop.name);
    let placeholder = is_kept.then_some("kept if empty");
    let was_typed = field.entered.part(Part::Value, &prop.name).is_some();
    html! {
        @if prop.is_list() {
            textarea #(field.id) name=(name_of(Part::Own, &prop.name)) rows="3" spellcheck="false" autocomplete="off" placeholder=[placeholder]
                aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()] {}
        } @else {
            input #(field.id) type="password" name=(name_of(Part::Value, &prop.name)) autocomplete="new-password" spellcheck="false"
                placeholder=[placeholder] aria-describedby=[field.described_by()] aria-invalid=[field.is_wrong()];
        }
        @if is_kept { p.hint { "A value is stored. Leave this empty to keep it." } }
        @else if was_typed { p.hint.again { "Secrets are not sent back to the browser: enter it again." } }
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
