//! The page of a failure.

use axum::http::StatusCode;
use headwater_platform::request_id;
use maud::{Markup, html};
use url::form_urlencoded;

use crate::{
    part::{
        icon::{Icon, icon},
        text,
    },
    problem::{Problem, Told},
    reply::Page,
    visit::Visit,
};

/// The page that tells of it.
pub(crate) fn page(problem: &Problem, visit: &Visit) -> Page {
    match problem {
        Problem::SignedOut => Page::new("Signed out", html! {}),
        Problem::Told(told) => Page::new(&told.title, markup(told, visit)).with_status(told.status),
    }
}

/// The page in the place of a form's effect when the session has ended. The browser still has the form: it sends it again
/// when this page is loaded anew.
pub(crate) fn signed_out_meanwhile(came_from: &str) -> Page {
    let next: String = form_urlencoded::byte_serialize(came_from.as_bytes()).collect();
    let sign_in = format!("/signin?next={next}");
    let body = html! {
        section.problem {
            h1 { (icon(Icon::Warning)) "You were signed out meanwhile" }
            p { "Nothing was changed. To keep what you entered, sign in in another tab, then reload this page: the browser sends the form again." }
            p.actions {
                a.button.primary href=(sign_in) target="_blank" { "Sign in in another tab" }
                a.button.quiet href=(sign_in) { "Sign in and go back to the form" }
            }
        }
    };
    Page::new("Signed out", body).with_status(StatusCode::UNAUTHORIZED)
}

fn markup(told: &Told, visit: &Visit) -> Markup {
    html! {
        section.problem {
            h1 { (icon(Icon::Warning)) (text::value(&told.title)) }
            p { (text::sentence(&told.text)) }
            @if let Some(stack) = &told.stack { (text::stack(stack)) }
            @if let Some(seconds) = told.retry_after_s {
                p { "Try again in " span data-countdown=(seconds) { (seconds) " s" } "." }
            }
            @if told.status.is_server_error() && let Some(id) = request_id() {
                p.note { "The node's log has the cause under request " code { (id) } "." }
            }
            p.actions {
                @match &visit.came_from {
                    Some(page) if *page != visit.location => { a.button href=(page) { "Back" } }
                    // Nothing comes to an address where there is nothing.
                    Some(_) | None if told.status != StatusCode::NOT_FOUND => { a.button href=(visit.location) { "Try again" } }
                    Some(_) | None => {}
                }
                a.button.quiet href="/" { "Home" }
            }
        }
    }
}
