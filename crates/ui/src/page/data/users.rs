//! The sources and workflows that use a data store.

use headwater_model::page::{Page, PageRequest};
use headwater_platform::{DataStoreUser, NamedDataStore, PlatformError};
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
) -> Result<Page<DataStoreUser>, PlatformError> {
    let page = PageRequest::first(NAMED);
    let users = ui.platform.data_store_users(visitor.caller(), store, &page);
    users.await
}

/// A list of links, each with the props that name the data store.
pub(super) fn list(users: &Page<DataStoreUser>) -> Markup {
    let others = users.total_count.saturating_sub(users.items.len() as u64);
    html! {
        ul {
            @for user in &users.items {
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
}
