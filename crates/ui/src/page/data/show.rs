//! `/data/{name}?prefix=&after=`: the records of a data store, by key.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::page::Position;
use headwater_platform::Record;
use maud::{Markup, html};

use super::{StoreName, address, users};
use crate::{
    part::{
        code::quoted,
        empty::empty,
        icon::{Icon, icon},
        pager::{Ends, pager},
        payload, text, time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Lists the records whose keys begin with a prefix.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
) -> PageReply {
    let prefix = visitor.parameter("prefix").unwrap_or_default();
    let named = name.named(&visitor);
    let records = ui
        .platform
        .data_store_records(visitor.caller(), &named, &prefix, &visitor.page_request())
        .await?;
    // The answer reads the deployments of many workflows, and is the same on all other pages.
    let page = visitor.page_request::<String>();
    let users = match page.position == Position::First && prefix.is_empty() {
        true => Some(users::of(&ui, &visitor, &named).await?),
        false => None,
    };
    let name = &named.name;
    let exported: Vec<_> = [("prefix", prefix.as_str())]
        .into_iter()
        .filter(|(_, prefix)| !prefix.is_empty())
        .collect();
    let body = html! {
        p.crumbs { a href=(visitor.to("/data")) { "Data stores" } }
        header.title {
            h1 { (text::value(name)) }
            div.actions {
                a.button.primary href=(address(&visitor, name, "/record", &[])) data-key="n" { (icon(Icon::Plus)) "Add a record" }
                a.button href=(address(&visitor, name, "/export", &exported)) download { "Download" }
                a.button.danger href=(address(&visitor, name, "/delete", &[])) { "Delete" }
            }
        }
        form.filters method="get" action=(address(&visitor, name, "", &[])) {
            @if let Some(id) = &visitor.workspace { input type="hidden" name="workspace" value=(id); }
            label { "Keys that begin with " input type="search" name="prefix" value=(prefix) spellcheck="false" autocomplete="off"; }
            button { "Show" }
        }
        @if records.items.is_empty() {
            @match prefix.is_empty() {
                true => { (empty("It has no records.", html! { p { "Those that had a time to live may have expired." } })) }
                false => { (empty("No key begins with that.", html! { p { a href=(address(&visitor, name, "", &[])) { "Show all records" } } })) }
            }
        } @else {
            (table(&visitor, name, &records.items))
            (pager(&visitor, &Ends::of(&records, |record| &record.key)))
        }
        @if let Some(users) = &users {
            h2 { "Used by" }
            @if users.page.items.is_empty() { p.note { "No source and no workflow names it in its props." } }
            (users::list(users))
            p.note { "Of workflows, the first 1,000 are looked at." }
        }
    };
    Ok(Page::of(Section::Data, name.clone(), body)
        .command(format!("headwater data-stores show {}", quoted(name))))
}

fn table(visitor: &Visitor, name: &str, records: &[Record]) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Key" }
                    th scope="col" { "Value" }
                    th.number scope="col" { "Size" }
                    th scope="col" { "Expires" }
                    th scope="col" { "Written" }
                }
            }
            tbody {
                @for record in records {
                    tr {
                        th scope="row" { a href=(address(visitor, name, "/record", &[("key", &record.key)])) { (text::line(&record.key)) } }
                        td data-label="Value" { (payload::inline(html! { code { (text::line(record.value.get())) } })) }
                        td.number data-label="Size" { (text::bytes(record.value.get().len())) }
                        td data-label="Expires" { @if let Some(at) = record.expires_at_ms { (time::ago(at, visitor.now_ms)) } }
                        td data-label="Written" { (time::ago(record.updated_at_ms, visitor.now_ms)) }
                    }
                }
            }
        }
    }
}
