//! `/sources/{id}/events/{event_id}/send` and the same of workflows: sends one event to a URL once, and shows the answer.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::IntoResponse as _,
};
use headwater_model::event::EventRef;
use headwater_platform::{Attempt, PlatformError};
use maud::{Markup, html};
use serde::Deserialize;

use super::show::reference;
use crate::{
    address,
    fields::Fields,
    page::{deliveries::attempt, deploy::failure::Failure},
    part::{code::quoted, event_row::summary, payload, text},
    problem::Problem,
    reply::{FormReply, Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Send {
    #[serde(default)]
    url: String,
}

/// Asks for the URL.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> PageReply {
    let of = reference(&emitter, &event)?;
    page(&ui, &visitor, &of, "", html! {}).await
}

/// Sends it, and shows what came of it.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
    Fields(given): Fields<Send>,
) -> FormReply {
    let of = reference(&emitter, &event)?;
    let url = given.url.trim();
    match ui.platform.send_event(visitor.caller(), &of, url).await {
        Ok(attempt) => {
            let page = page(&ui, &visitor, &of, url, answer(&attempt)).await?;
            Ok(page.into_response())
        }
        Err(error) => {
            // The reason of an invalid URL names the field.
            let failure = if let PlatformError::Invalid(invalid) = error {
                Failure::Told(invalid.reason)
            } else {
                Failure::of(error)?
            };
            let failed = failure.markup("It was not sent");
            let page = page(&ui, &visitor, &of, url, failed).await?;
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
    }
}

async fn page(
    ui: &Ui,
    visitor: &Visitor,
    of: &EventRef,
    url: &str,
    above: Markup,
) -> Result<Page, Problem> {
    let logged = ui.platform.event(visitor.caller(), of).await?;
    let event = address::of_event(&of.emitter, &of.id);
    let body = html! {
        p.crumbs { a href="/events" { "Events" } " / " a href=(event) { (payload::inline(text::line(&summary(&logged.event)))) } }
        h1 { "Send it to a URL once" }
        (above)
        form method="post" action={ (event) "/send" } {
            div.field {
                label for="url" { "URL" }
                input #url name="url" type="url" required value=(url) placeholder="https://example.com/events" autocomplete="off" spellcheck="false";
                p.hint { "The event is POSTed as JSON. The node decides which addresses may be reached, as it does for webhooks." }
            }
            div.actions { button.primary { "Send" } a.button.quiet href=(event) { "Back to the event" } }
        }
        p.note {
            "It is sent once and now: nothing is subscribed, kept or repeated. It has the headers of a delivery but no signature, because no webhook has a secret for it. "
            "For every event, " a href="/webhooks/new" { "create a webhook" } "."
        }
    };
    let target = match url {
        "" => "URL".to_owned(),
        url => quoted(url),
    };
    let command = format!(
        "headwater events {} {} --send-to {target}",
        of.emitter, of.id
    );
    Ok(Page::of(Section::Events, "Send an event", body).command(command))
}

fn answer(attempt: &Attempt) -> Markup {
    html! {
        section.card.trial role="status" tabindex="-1" #answer aria-labelledby="answer-title" {
            header.title { h2 #answer-title { "The answer" } (attempt::result(attempt)) }
            (attempt::facts(attempt))
            (attempt::exchange(attempt))
        }
    }
}
