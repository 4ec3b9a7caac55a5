//! `/webhooks/new`: another webhook, and the source that it is to get the events of. Its secret is shown once.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{id::SourceId, page::PageRequest};
use headwater_platform::{NewWebhook, PlatformError, SourceView, Wanted};
use maud::{Markup, html};
use serde::Deserialize;

use super::secret::shown_once;
use crate::{
    fields::Fields,
    part::{
        icon::{Icon, icon},
        text,
    },
    problem::capital,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Sources that are offered; others are subscribed to from their page.
const SOURCES: u32 = 100;

/// The choice of every source, also of those to come.
const EVERY: &str = "dc_*";

/// The form's fields.
#[derive(Default, Deserialize)]
pub(crate) struct New {
    #[serde(default)]
    url: String,
    #[serde(default)]
    name: String,
    /// The source whose events it gets, if one was chosen.
    #[serde(default)]
    source: String,
}

/// Asks for the address.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let given = New {
        source: visitor.parameter("source").unwrap_or_default(),
        ..New::default()
    };
    form(&ui, &visitor, &given, None).await
}

/// Creates the webhook and its subscription.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<New>,
) -> PageReply {
    let new = NewWebhook {
        url: given.url.trim().to_owned(),
        name: Some(given.name.trim().to_owned()).filter(|name| !name.is_empty()),
        workspace_id: visitor.workspace.clone(),
        ..NewWebhook::default()
    };
    let created = match ui.platform.create_webhook(visitor.caller(), new).await {
        Ok(created) => created,
        Err(error @ PlatformError::Invalid(_)) => {
            return form(&ui, &visitor, &given, Some(&capital(&error.to_string()))).await;
        }
        Err(error) => return Err(error.into()),
    };
    let id = created.webhook.id.clone();
    if given.source.is_empty() {
        return Ok(shown_once(&created, html! {}));
    }
    let subscribed = ui
        .platform
        .subscribe(visitor.caller(), &given.source, id.as_str(), "");
    // The secret is shown only now, so the page comes in any case.
    Ok(match subscribed.await {
        Ok(_) => shown_once(&created, earlier(&given.source)),
        Err(error) => {
            let wrong = format!("It is subscribed to nothing: {error}");
            let told = html! { p.flash.warning role="alert" { (text::sentence(&wrong)) } };
            shown_once(&created, told)
        }
    })
}

/// The way to send it what came before it was there.
fn earlier(source: &str) -> Markup {
    let events = match source {
        EVERY => "/events".to_owned(),
        id => format!("/sources/{id}/events"),
    };
    html! {
        p.note {
            "It gets the events that come from now on. To send it earlier ones, too, select them in the "
            a href=(events) { "list of events" } ", and choose " b { "Send again to listeners" } "."
        }
    }
}

async fn form(ui: &Ui, visitor: &Visitor, given: &New, wrong: Option<&str>) -> PageReply {
    let page = PageRequest::first(SOURCES);
    let workspace = visitor.workspace.clone();
    let sources = ui
        .platform
        .sources(visitor.caller(), workspace, Wanted::default(), &page)
        .await?;
    let mut offered = sources.items;
    let is_offered = |id: &str| offered.iter().any(|view| view.source.id.as_str() == id);
    let mut unknown = None;
    if !matches!(given.source.as_str(), "" | EVERY) && !is_offered(&given.source) {
        match chosen(ui, visitor, &given.source).await? {
            Some(view) => offered.insert(0, view),
            None => unknown = Some(given.source.as_str()),
        }
    }
    let options = offered
        .iter()
        .map(|view| (view.source.id.as_str(), view.source.spec.name.as_str()));
    let body = html! {
        p.crumbs { a href=(visitor.to("/webhooks")) { "Webhooks" } }
        header.title { h1 { "New webhook" } }
        form method="post" action=(visitor.to("/webhooks/new")) {
            @if let Some(wrong) = wrong { div.summary-of-errors role="alert" #wrong { (icon(Icon::Warning)) a href="#url" { (text::sentence(wrong)) } } }
            div.field {
                label for="url" { "Address" }
                input #url type="url" name="url" required value=(given.url) placeholder="https://example.com/hooks" aria-describedby="url-hint"
                    aria-invalid=[wrong.map(|_| "true")] autofocus[wrong.is_some()];
                p.hint #url-hint { "Events are POSTed there as JSON, signed, with up to eight attempts over more than a day." }
            }
            div.field {
                label for="name" { "Name " span.note { "optional" } }
                input #name name="name" value=(given.name) autocomplete="off";
            }
            (source_field(options, &given.source, unknown))
            button.primary { "Create" }
        }
    };
    Ok(Page::of(Section::Webhooks, "New webhook", body)
        .command("headwater webhooks create URL --name NAME"))
}

/// The source that was chosen, though it is not among those that are offered: there are more, or it is another member's.
async fn chosen(ui: &Ui, visitor: &Visitor, id: &str) -> Result<Option<SourceView>, PlatformError> {
    let Ok(id) = id.parse::<SourceId>() else {
        return Ok(None);
    };
    match ui.platform.source(visitor.caller(), &id).await {
        Ok(view) => Ok(Some(view)),
        Err(PlatformError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn source_field<'a>(
    options: impl Iterator<Item = (&'a str, &'a str)>,
    chosen: &str,
    unknown: Option<&str>,
) -> Markup {
    html! {
        div.field {
            label for="source" { "Gets the events of" }
            select #source name="source" aria-describedby=[unknown.map(|_| "source-hint")] {
                option value="" selected[chosen.is_empty()] { "nothing yet" }
                option value=(EVERY) selected[chosen == EVERY] { "every source, later ones too" }
                @for (id, name) in options { option value=(id) selected[chosen == id] { (text::visible(name)) } }
            }
            @if let Some(id) = unknown {
                p.wrong #source-hint { (icon(Icon::Warning)) "There is no source " code { (text::line(id)) } " that you can see. Choose another one, or none." }
            }
        }
    }
}
