//! `/webhooks/{id}/secret`: another secret for the signatures. A secret is shown once, when it is new.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::WebhookId;
use headwater_platform::WebhookWithSecret;
use maud::{Markup, html};

use super::list::name;
use crate::{
    part::{
        code::copyable,
        confirm::{Question, confirm},
        text,
        verification::snippets,
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Asks whether to replace the secret.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    let webhook = ui.platform.webhook(visitor.caller(), &id).await?;
    let base = format!("/webhooks/{id}");
    let question = Question {
        title: &format!("Replace the secret of {}?", name(&webhook)),
        consequences: html! {
            p { "Deliveries are signed with the new secret at once, and with the former one, too, for 24 hours, so that a receiver that checks either takes them." }
        },
        action: &format!("{base}/secret"),
        fields: &[],
        button: "Replace the secret",
        back: &base,
    };
    Ok(
        Page::of(Section::Webhooks, "Replace the secret", confirm(&question))
            .command(format!("headwater webhooks rotate-secret {id}")),
    )
}

/// Replaces the secret.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<WebhookId>,
) -> PageReply {
    let rotated = ui
        .platform
        .rotate_webhook_secret(visitor.caller(), &id, None)
        .await?;
    Ok(shown_once(&rotated, html! {}))
}

/// The page that shows a new secret, and what there is to say besides.
pub(crate) fn shown_once(new: &WebhookWithSecret, besides: Markup) -> Page {
    let body = html! {
        h1 { (text::value(name(&new.webhook))) }
        (besides)
        // Loading the page again must not create another one.
        section.card data-address={ "/webhooks/" (new.webhook.id) } {
            p { b { "The secret is shown only here." } " The receiver checks the signatures of deliveries with it:" }
            p { (copyable(&new.secret)) }
            p { a.button.primary href={ "/webhooks/" (new.webhook.id) } { "Done" } }
        }
        h2 { "Checking signatures" }
        (snippets())
    };
    Page::of(Section::Webhooks, "The secret", body)
}
