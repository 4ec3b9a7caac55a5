//! The sources and workflows that use a data store.

use headwater_model::page::PageRequest;
use headwater_platform::{DataStoreUser, NamedDataStore, PlatformError, Scanned};
use maud::{Markup, html};

use crate::{
    address::Address as _,
    part::text::{self, counted},
    state::Ui,
    visit::Visitor,
};

/// Those that are named; the API lists all.
const NAMED: u32 = 50;

/// The first of them, and how many there are.
pub(super) async fn of(
    ui: &Ui,
    visitor: &Visitor,
    store: &NamedDataStore,
) -> Result<Scanned<DataStoreUser>, PlatformError> {
    let page = PageRequest::first(NAMED);
    let users = ui.platform.data_store_users(visitor.caller(), store, &page);
    users.await
}

/// A list of links, each with the props that name the data store, and the limit of the search where it was met.
pub(super) fn list(users: &Scanned<DataStoreUser>) -> Markup {
    let shown = &users.page.items;
    let others = users.page.total_count.saturating_sub(shown.len() as u64);
    html! {
        @if !shown.is_empty() {
            ul {
                @for user in shown {
                    li {
                        a href=(user.runnable.address()) { (text::line(&user.name)) }
                        " " span.note {
                            "by "
                            @for (at, prop) in user.props.iter().enumerate() {
                                @if at > 0 { ", " }
                                code { (text::line(prop)) }
                            }
                        }
                    }
                }
                @if others > 0 { li { "and " (counted(others, "other", "others")) } }
            }
        }
        @if !users.is_whole { p.note { "The first 1,000 workflows were looked at. There may be others that use it." } }
    }
}
