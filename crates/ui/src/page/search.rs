//! `/search`: an id jumps to its thing; words find things by their names, acts on them, pages, components and apps, and
//! events by what is in them.

mod acts;
mod found;
mod ids;
mod names;
mod places;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use serde_json::json;

use self::{found::Found, ids::ById};
use crate::{
    part::{empty::empty, text},
    problem::Problem,
    reply::{Page, see_other},
    state::Ui,
    visit::Visitor,
};

/// Things that the palette shows.
const NAMES_MAX: usize = 11;

/// Finds things.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> Result<Response, Problem> {
    let words = visitor.parameter("q").unwrap_or_default();
    let words = words.trim();
    let mut by_id = ids::of(&ui, &visitor, words).await?;
    if let ([only], false) = (&*by_id.found, by_id.is_chosen) {
        return Ok(see_other(&only.address));
    }
    let older = by_id.older.take();
    let found = with_names(by_id, names::with(&ui, &visitor, words).await?);
    let body = html! {
        header.title { h1 { "Search" } }
        @if words.is_empty() { p { "Enter a name, words of an event, or an id of any kind: of a thing, an event, a request or a trace." } }
        @else if found.is_empty() { (empty("Nothing of yours has this id, or a name like this.", further(&visitor, words))) }
        @else {
            (table(&found))
            h2 { "Elsewhere" }
            (further(&visitor, words))
        }
        @if let Some(list) = older {
            p.note { "The newest runs are of no such request or trace. " a href=(list) { "Look for it among older runs" } }
        }
    };
    Ok(Page::new("Search", body).into_response())
}

/// The same for the palette.
pub(crate) async fn names(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
) -> Result<Response, Problem> {
    let words = visitor.parameter("q").unwrap_or_default();
    let words = words.trim();
    let by_id = ids::of(&ui, &visitor, words).await?;
    let found = with_names(by_id, names::with(&ui, &visitor, words).await?);
    let found: Vec<_> = found.iter().take(NAMES_MAX).map(Found::json).collect();
    Ok(Json(json!({ "found": found })).into_response())
}

/// All that was found. Those by an id that a caller may have chosen come after one's own names.
fn with_names(by_id: ById, mut names: Vec<Found>) -> Vec<Found> {
    let mut found = by_id.found;
    if by_id.is_chosen {
        names.append(&mut found);
        return names;
    }
    found.append(&mut names);
    found
}

/// The ways to what has the words in it, rather than in its name.
fn further(visitor: &Visitor, words: &str) -> Markup {
    let encoded: String = url::form_urlencoded::byte_serialize(words.as_bytes()).collect();
    let address = |path: &str| {
        let path = visitor.to(path);
        let and = if path.contains('?') { '&' } else { '?' };
        format!("{path}{and}q={encoded}")
    };
    html! {
        ul {
            li { a href=(address("/events")) { "Search the kept events for " (text::line(words)) } }
            li { a href=(address("/deploy")) { "Search the components to deploy for " (text::line(words)) } }
        }
    }
}

fn table(found: &[Found]) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Name" } th scope="col" { "Kind" } } }
            tbody { @for one in found { tr {
                th scope="row" { (one.markup()) }
                td data-label="Kind" { (one.kind) }
            } } }
        }
    }
}
