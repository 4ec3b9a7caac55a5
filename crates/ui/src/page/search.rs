//! `/search`: an id jumps to its thing; words find things by their names, and events by what is in them.

mod found;
mod ids;
mod names;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use maud::{Markup, html};
use serde_json::json;

use self::found::Found;
use crate::{
    part::{empty::empty, text},
    problem::Problem,
    reply::{Page, see_other},
    state::Ui,
    visit::Visitor,
};

/// Things that the palette shows.
const NAMES_MAX: usize = 10;

/// Finds things.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> Result<Response, Problem> {
    let words = visitor.parameter("q").unwrap_or_default();
    let words = words.trim();
    let mut found = ids::of(&ui, &visitor, words).await?;
    if let [only] = &*found {
        return Ok(see_other(&only.address));
    }
    found.extend(names::with(&ui, &visitor, words).await?);
    let body = html! {
        header.title { h1 { "Search" } }
        @if words.is_empty() { p { "Enter a name, words of an event, or an id of any kind: of a thing, an event, a request or a trace." } }
        @else if found.is_empty() { (empty("Nothing of yours has this id, or a name like this.", further(&visitor, words))) }
        @else {
            (table(&found))
            h2 { "Elsewhere" }
            (further(&visitor, words))
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
    let mut found = ids::of(&ui, &visitor, words).await?;
    found.extend(names::with(&ui, &visitor, words).await?);
    let found: Vec<_> = found
        .iter()
        .take(NAMES_MAX)
        .map(|one| json!({"name": text::visible(&one.name), "kind": one.kind, "address": one.address}))
        .collect();
    Ok(Json(json!({ "found": found })).into_response())
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
                th scope="row" { a href=(one.address) { (text::line(&one.name)) } }
                td data-label="Kind" { (one.kind) }
            } } }
        }
    }
}
