//! `/data`: the data stores, by name.

use std::sync::Arc;

use axum::extract::State;
use headwater_platform::DataStore;
use maud::{Markup, html};

use super::address;
use crate::{
    part::{
        code::copyable,
        empty::empty,
        pager::{Ends, pager},
        text::{self, grouped},
        time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Lists the data stores.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let page = visitor.page_request();
    let workspace = visitor.workspace.clone();
    let stores = ui
        .platform
        .data_stores(visitor.caller(), workspace, &page)
        .await?;
    let body = html! {
        header.title { h1 { "Data stores" } }
        @if stores.items.is_empty() {
            (empty("There are no data stores here yet.", html! {
                p { "A store exists from its first record on. A component that has this prop writes one:" }
                pre { code { "props: { seen: { type: \"data_store\" } },\nasync run() { await this.seen.set(\"last\", Date.now()); }" } }
                p { "Or in a terminal: " (copyable("headwater data-stores set NAME KEY '{\"any\": \"JSON\"}'")) }
            }))
        } @else {
            (table(&visitor, &stores.items))
            (pager(&visitor, &Ends::of(&stores, |store| &store.name)))
        }
    };
    Ok(Page::of(Section::Data, "Data stores", body).command("headwater data-stores list"))
}

fn table(visitor: &Visitor, stores: &[DataStore]) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Name" }
                    th.number scope="col" { "Records" }
                    th.number scope="col" { "Size" }
                    th scope="col" { "Written" }
                    th scope="col" { "Created" }
                }
            }
            tbody {
                @for store in stores {
                    @let name = store.name.to_string();
                    tr {
                        th scope="row" { a href=(address(visitor, &name, "", &[])) { (text::line(&name)) } }
                        td.number data-label="Records" { (grouped(store.records)) }
                        td.number data-label="Size" { (text::bytes(usize::try_from(store.bytes).unwrap_or(usize::MAX))) }
                        td data-label="Written" { (time::ago(store.updated_at_ms, visitor.now_ms)) }
                        td data-label="Created" { (time::ago(store.created_at_ms, visitor.now_ms)) }
                    }
                }
            }
        }
    }
}
