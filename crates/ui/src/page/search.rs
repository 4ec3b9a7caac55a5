//! `/search`: an id jumps to its thing; words find sources, workflows and webhooks by their names, and events by what is
//! in them.

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    response::{IntoResponse as _, Response},
};
use headwater_model::page::PageRequest;
use headwater_platform::Wanted;
use maud::{Markup, html};
use serde_json::json;

use super::webhooks::list::name;
use crate::{
    address::Address as _,
    part::{empty::empty, text},
    problem::Problem,
    query::ROWS,
    reply::{Page, see_other},
    state::Ui,
    visit::Visitor,
};

/// Things that the palette shows.
const NAMES_MAX: usize = 10;

/// Something that was found.
struct Found {
    kind: &'static str,
    name: String,
    address: String,
}

/// Finds things.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> Result<Response, Problem> {
    let words = visitor.parameter("q").unwrap_or_default();
    let words = words.trim();
    if let Some(address) = address_of(words) {
        return Ok(see_other(&address));
    }
    let found = named(&ui, &visitor, words).await?;
    let encoded: String = url::form_urlencoded::byte_serialize(words.as_bytes()).collect();
    let body = html! {
        header.title { h1 { "Search" } }
        @if words.is_empty() { p { "Enter a name, words of an event, or an id of any kind." } }
        @else {
            p { a href={ "/events?q=" (encoded) } { "Search the kept events for " (text::line(words)) } }
            @if found.is_empty() { (empty("No source, workflow or webhook has a name like this.", html! {})) }
            @else { (table(&found)) }
        }
    };
    Ok(Page::new("Search", body).into_response())
}

/// The same for the palette: things by their names, or the one that has the id.
pub(crate) async fn names(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
) -> Result<Response, Problem> {
    let words = visitor.parameter("q").unwrap_or_default();
    let words = words.trim();
    let by_id = address_of(words).map(|address| Found {
        kind: "id",
        name: words.to_owned(),
        address,
    });
    let mut found = named(&ui, &visitor, words).await?;
    found.splice(0..0, by_id);
    let found: Vec<_> = found
        .iter()
        .take(NAMES_MAX)
        .map(|one| json!({"name": text::visible(&one.name), "kind": one.kind, "address": one.address}))
        .collect();
    Ok(Json(json!({ "found": found })).into_response())
}

/// The page of the thing that has this id.
fn address_of(id: &str) -> Option<String> {
    let is_id = id
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let before = match id.split_once('_')?.0 {
        "dc" => "/sources/",
        "p" => "/workflows/",
        "wh" => "/webhooks/",
        "dlv" => "/deliveries/",
        "inv" => "/runs/",
        "apn" => "/accounts/",
        "sc" => "/deploy/",
        "o" => "/settings/members?workspace=",
        // A user has no page; the acts are known.
        "u" => "/settings/audit?actor=",
        _ => return None,
    };
    is_id.then(|| format!("{before}{id}"))
}

async fn named(ui: &Ui, visitor: &Visitor, words: &str) -> Result<Vec<Found>, Problem> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    let wanted = Wanted {
        words: words.split_whitespace().map(str::to_lowercase).collect(),
        standing: None,
    };
    let mut found = Vec::new();
    if wanted.words.is_empty() {
        return Ok(found);
    }
    let workspace = || visitor.workspace.clone();
    let sources = platform
        .sources(
            caller,
            workspace(),
            wanted.clone(),
            &PageRequest::first(ROWS),
        )
        .await?;
    for view in sources.items {
        found.push(Found {
            kind: "source",
            name: view.source.spec.name,
            address: view.source.id.address(),
        });
    }
    let workflows = platform
        .listed_workflows(
            caller,
            workspace(),
            wanted.clone(),
            &PageRequest::first(ROWS),
        )
        .await?;
    for workflow in workflows.items {
        found.push(Found {
            kind: "workflow",
            address: workflow.id.address(),
            name: workflow.name,
        });
    }
    let webhooks = platform
        .find_webhooks(
            caller,
            workspace(),
            &wanted.words,
            &PageRequest::first(ROWS),
        )
        .await?;
    for webhook in &webhooks.items {
        found.push(Found {
            kind: "webhook",
            name: name(webhook).to_owned(),
            address: format!("/webhooks/{}", webhook.id),
        });
    }
    Ok(found)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_lead_to_their_things_and_nowhere_else() {
        for (text, address) in [
            ("dc_0123", Some("/sources/dc_0123")),
            ("inv_a", Some("/runs/inv_a")),
            ("o_1", Some("/settings/members?workspace=o_1")),
            ("u_1", Some("/settings/audit?actor=u_1")),
            ("u_1&x", None),
            ("dc_../../evil", None),
            ("orders", None),
            ("some_words", None),
        ] {
            assert_eq!(address_of(text).as_deref(), address, "{text}");
        }
    }
}
