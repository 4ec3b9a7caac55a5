//! `/data/{name}/record?key=&at=`: one record as a tree, and the form that writes it or another one.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_platform::{NamedDataStore, PlatformError, Record, WriteRecord};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use url::form_urlencoded::byte_serialize;

use super::{StoreName, address};
use crate::{
    assets::EDITOR,
    fields::Fields,
    part::{
        code::quoted,
        confirm::{Question, confirm},
        icon::{Icon, icon},
        payload, text, time,
        tree::Tree,
    },
    problem::{Problem, capital},
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Written {
    key: String,
    value: String,
    /// Seconds until it expires; never if empty.
    #[serde(default)]
    ttl: String,
    /// Whether the form is that of a record which is there.
    #[serde(default)]
    is_change: bool,
}

/// The record to delete.
#[derive(Deserialize)]
pub(crate) struct Named {
    key: String,
}

/// Shows a record, or the form for a new one.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
) -> PageReply {
    let named = name.named(&visitor);
    let Some(key) = visitor.parameter("key") else {
        return Ok(page(&visitor, &named, None, &Written::default(), None));
    };
    let record = ui
        .platform
        .data_store_record(visitor.caller(), &named, &key)
        .await?;
    let written = Written {
        key,
        value: pretty(&record.value),
        ttl: record.expires_at_ms.map_or_else(String::new, |at| {
            at.since(visitor.now_ms).as_secs().max(1).to_string()
        }),
        is_change: true,
    };
    Ok(page(&visitor, &named, Some(&record), &written, None))
}

/// Writes a record.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
    Fields(given): Fields<Written>,
) -> FormReply {
    let named = name.named(&visitor);
    let write = match read(&given) {
        Ok(write) => write,
        Err(reason) => return refused(&ui, &visitor, &named, &given, &reason).await,
    };
    let done = ui
        .platform
        .write_data_store_record(visitor.caller(), &named, write);
    match done.await {
        Ok(record) => {
            let target = address(&visitor, &named.name, "/record", &[("key", &record.key)]);
            Ok(see_other_saying(&visitor, &target, "The record is written"))
        }
        Err(error @ (PlatformError::Invalid(_) | PlatformError::Conflict(_))) => {
            let reason = capital(&error.to_string());
            refused(&ui, &visitor, &named, &given, &reason).await
        }
        Err(error) => Err(error.into()),
    }
}

/// The form with what was entered, about the record that was to be changed.
async fn refused(
    ui: &Ui,
    visitor: &Visitor,
    named: &NamedDataStore,
    given: &Written,
    reason: &str,
) -> FormReply {
    let record = match given.is_change {
        true => {
            let record = ui
                .platform
                .data_store_record(visitor.caller(), named, &given.key);
            record.await.ok()
        }
        false => None,
    };
    let page = page(visitor, named, record.as_ref(), given, Some(reason));
    let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
    Ok(page.into_response())
}

/// The record that the fields mean.
fn read(given: &Written) -> Result<WriteRecord, String> {
    let value: Box<RawValue> = serde_json::from_str(&given.value)
        .map_err(|error| format!("The value is not JSON: {error}."))?;
    let ttl = match given.ttl.trim() {
        "" => 0.0,
        text => text
            .parse()
            .map_err(|_| format!("`{text}` is not a number of seconds."))?,
    };
    Ok(WriteRecord {
        key: given.key.clone(),
        value,
        ttl,
    })
}

/// The value with its lines, if it is read without loss.
fn pretty(value: &RawValue) -> String {
    let read = serde_json::from_str::<Value>(value.get());
    let is_whole = |read: &Value| serde_json::to_string(read).is_ok_and(|text| text == value.get());
    match read {
        Ok(read) if is_whole(&read) => serde_json::to_string_pretty(&read).unwrap_or_default(),
        _ => value.get().to_owned(),
    }
}

fn page(
    visitor: &Visitor,
    named: &NamedDataStore,
    record: Option<&Record>,
    written: &Written,
    wrong: Option<&str>,
) -> Page {
    let name = &named.name;
    let title = match record {
        Some(record) => record.key.clone(),
        None => "Add a record".to_owned(),
    };
    let body = html! {
        p.crumbs { a href=(visitor.to("/data")) { "Data stores" } " / " a href=(address(visitor, name, "", &[])) { (text::line(name)) } }
        header.title {
            h1 { (text::line(&title)) }
            @if let Some(record) = record {
                div.actions { a.button.danger href=(address(visitor, name, "/record/delete", &[("key", &record.key)])) { "Delete" } }
            }
        }
        @if let Some(record) = record { (shown(visitor, name, record)) h2 { "Change it" } }
        (form(visitor, name, record.is_some(), written, wrong))
    };
    let page = Page::of(Section::Data, title, body);
    match record {
        Some(record) => page.command(format!(
            "headwater data-stores get {} {}",
            quoted(name),
            quoted(&record.key)
        )),
        None => page.command(format!(
            "headwater data-stores set {} KEY VALUE",
            quoted(name)
        )),
    }
}

fn shown(visitor: &Visitor, name: &str, record: &Record) -> Markup {
    let whole: Value = serde_json::from_str(record.value.get()).unwrap_or_default();
    let at = visitor.parameter("at").unwrap_or_default();
    let value = whole.pointer(&at).unwrap_or(&whole);
    let part = |pointer: &str| {
        let pointer: String = byte_serialize(pointer.as_bytes()).collect();
        let record = address(visitor, name, "/record", &[("key", &record.key)]);
        format!("{record}&at={pointer}")
    };
    html! {
        dl.facts {
            dt { "Written" } dd { (time::exact(record.updated_at_ms)) " (" (time::ago(record.updated_at_ms, visitor.now_ms)) ")" }
            dt { "Expires" } dd { @match record.expires_at_ms { Some(at) => { (time::exact(at)) " (" (time::ago(at, visitor.now_ms)) ")" } None => { "never" } } }
            dt { "Size" } dd { (text::bytes(record.value.get().len())) }
        }
        @if !at.is_empty() { p { a href=(address(visitor, name, "/record", &[("key", &record.key)])) { "The whole value" } " / " (text::value(&at)) } }
        @match value {
            Value::String(text) if !at.is_empty() => { (payload::block(html! { pre tabindex="0" { (text::value(text)) } })) }
            value => { (Tree { part: Some(&part), name: "value", at: &at, from: Some(visitor.first_child()), raw: None }.markup(value)) }
        }
    }
}

fn form(
    visitor: &Visitor,
    name: &str,
    is_there: bool,
    written: &Written,
    wrong: Option<&str>,
) -> Markup {
    html! {
        form method="post" action=(address(visitor, name, "/record", &[])) {
            @if let Some(wrong) = wrong { p.wrong role="alert" #wrong { (icon(Icon::Warning)) (wrong) } }
            @if is_there { input type="hidden" name="is_change" value="true"; }
            div.field {
                label for="record-key" { "Key" }
                input #record-key type="text" name="key" value=(written.key) required readonly[is_there] spellcheck="false" autocomplete="off";
            }
            (payload::block(html! { div.field {
                label for="record-value" { "Value" }
                textarea #record-value name="value" rows="10" required spellcheck="false" data-editor=(EDITOR.path()) data-language="json" data-at="press" aria-describedby=[wrong.map(|_| "wrong")] { (written.value) }
                p.hint { "JSON. A record with this key is replaced." }
            } }))
            div.field {
                label for="record-ttl" { "Expires after" }
                input #record-ttl type="text" inputmode="decimal" name="ttl" value=(written.ttl) autocomplete="off";
                p.hint { "Seconds from now; empty: never." }
            }
            button.primary data-saves { "Write" }
        }
    }
}

/// Asks whether to delete a record.
pub(crate) async fn ask_to_delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
) -> PageReply {
    let named = name.named(&visitor);
    let key = visitor.parameter("key").unwrap_or_default();
    let record = ui
        .platform
        .data_store_record(visitor.caller(), &named, &key)
        .await?;
    let question = Question {
        title: "Delete this record?",
        consequences: html! { p { "The record " code { (text::visible(&record.key)) } " of " (text::value(&named.name)) " is gone then. Components that read it get nothing." } },
        action: &address(&visitor, &named.name, "/record/delete", &[]),
        fields: &[("key", &record.key)],
        button: "Delete the record",
        back: &address(&visitor, &named.name, "/record", &[("key", &record.key)]),
    };
    Ok(
        Page::of(Section::Data, "Delete a record", confirm(&question)).command(format!(
            "headwater data-stores delete {} {}",
            quoted(&named.name),
            quoted(&record.key)
        )),
    )
}

/// Deletes a record.
pub(crate) async fn delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
    Fields(given): Fields<Named>,
) -> Result<Response, Problem> {
    let named = name.named(&visitor);
    ui.platform
        .delete_data_store_record(visitor.caller(), &named, &given.key)
        .await?;
    let target = address(&visitor, &named.name, "", &[]);
    Ok(see_other_saying(&visitor, &target, "The record is deleted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &str, ttl: &str) -> Written {
        Written {
            key: "k".to_owned(),
            value: value.to_owned(),
            ttl: ttl.to_owned(),
            is_change: false,
        }
    }

    #[test]
    fn a_value_is_written_digit_for_digit() {
        let read = read(&written(r#"{"a": 1.0}"#, " 2.5 ")).unwrap();
        assert_eq!(read.value.get(), r#"{"a": 1.0}"#);
        assert!((read.ttl - 2.5).abs() < f64::EPSILON);
        for (value, ttl, reason) in [("{", "", "not JSON"), ("1", "soon", "number of seconds")] {
            let error = super::read(&written(value, ttl)).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }

    #[test]
    fn a_value_that_would_lose_something_is_edited_as_it_is() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).unwrap();
        assert_eq!(pretty(&raw(r#"{"a":1}"#)), "{\n  \"a\": 1\n}");
        for text in [r#"{"a":1,"a":2}"#, "123456789012345678901234567890"] {
            assert_eq!(pretty(&raw(text)), text);
        }
    }
}
