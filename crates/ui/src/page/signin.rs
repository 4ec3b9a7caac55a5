//! `/signin`: with an API key, or by a link that is good once. Nothing of the node is shown to whoever has neither.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use headwater_platform::{NewSession, PlatformError};
use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    address::own_path,
    cookie::Cookie,
    fields::Fields,
    layout,
    part::{
        code::{copyable, quoted},
        icon::{Icon, icon},
        text,
    },
    problem::Problem,
    reply::{FormReply, Page, PageReply, see_other},
    state::Ui,
    visit::{AnyVisitor, FromBrowser, Theme, Visit, Visitor},
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct SignIn {
    key: String,
    #[serde(default)]
    next: String,
}

/// Asks for a key.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, AnyVisitor(visit): AnyVisitor) -> FormReply {
    if visit.signed_in.is_some() {
        return Ok(see_other(&next_of(&visit)));
    }
    Ok(form(&ui, &visit, &next_of(&visit), None).into_response())
}

/// Begins a session.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    AnyVisitor(visit): AnyVisitor,
    FromBrowser(browser): FromBrowser,
    Fields(given): Fields<SignIn>,
) -> FormReply {
    match ui.platform.sign_in(&given.key, browser).await {
        Ok(new) => Ok(begun(&visit, &new, own_path(&given.next))),
        Err(PlatformError::Unauthenticated) => {
            let page = form(&ui, &visit, &given.next, Some(Refused::Key));
            Ok(page.with_status(StatusCode::UNAUTHORIZED).into_response())
        }
        Err(PlatformError::SignInThrottled { retry_after_s }) => {
            let refused = Refused::Throttled(retry_after_s);
            let page = form(&ui, &visit, &given.next, Some(refused));
            let mut response = page
                .with_status(StatusCode::TOO_MANY_REQUESTS)
                .into_response();
            let headers = response.headers_mut();
            headers.insert(header::RETRY_AFTER, HeaderValue::from(retry_after_s));
            Ok(response)
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks whether to sign in by a link, so that a preview of it does not use it up.
pub(crate) async fn show_link(
    State(ui): State<Arc<Ui>>,
    AnyVisitor(visit): AnyVisitor,
    FromBrowser(browser): FromBrowser,
    Path(token): Path<String>,
) -> PageReply {
    let user = ui.platform.sign_in_link_user(&token, &browser).await?;
    let user = user.ok_or_else(link_ended)?;
    let body = html! {
        (layout::unencrypted(&visit))
        section.signin {
            h1 { (icon(Icon::Source)) "Headwater" }
            form method="post" {
                p { "Sign this browser in as " b { (text::value(&user)) } "?" }
                button.primary { "Sign in" }
            }
            p.note { "This link is good once, for ten minutes." }
        }
    };
    Ok(Page::new("Sign in", body))
}

/// Begins a session by a link.
pub(crate) async fn follow_link(
    State(ui): State<Arc<Ui>>,
    AnyVisitor(visit): AnyVisitor,
    FromBrowser(browser): FromBrowser,
    Path(token): Path<String>,
) -> FormReply {
    let new = ui.platform.sign_in_by_link(&token, browser).await?;
    let new = new.ok_or_else(link_ended)?;
    Ok(begun(&visit, &new, "/"))
}

/// Ends the session of this browser.
pub(crate) async fn sign_out(
    State(ui): State<Arc<Ui>>,
    AnyVisitor(visit): AnyVisitor,
) -> FormReply {
    if let Some(signed_in) = &visit.signed_in {
        let ended = ui
            .platform
            .end_session(&signed_in.caller, &signed_in.session.id);
        match ended.await {
            // Ended elsewhere meanwhile.
            Ok(()) | Err(PlatformError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut response = see_other("/signin");
    let gone = visit.cookies.remove(Cookie::Session);
    response.headers_mut().append(header::SET_COOKIE, gone);
    for cookie in [Cookie::Masking, Cookie::Workspace] {
        let gone = visit.cookies.remove(cookie);
        response.headers_mut().append(header::SET_COOKIE, gone);
    }
    Ok(response)
}

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct ThemeChoice {
    theme: String,
    #[serde(default)]
    next: String,
}

/// Chooses the look of pages in this browser.
pub(crate) async fn set_theme(visitor: Visitor, Fields(given): Fields<ThemeChoice>) -> FormReply {
    let mut response = see_other(own_path(&given.next));
    let cookie = match Theme::parse(&given.theme) {
        Some(Theme::System) | None => visitor.cookies.remove(Cookie::Theme),
        Some(theme @ (Theme::Light | Theme::Dark)) => {
            visitor.cookies.set(Cookie::Theme, theme.name())
        }
    };
    response.headers_mut().append(header::SET_COOKIE, cookie);
    Ok(response)
}

fn link_ended() -> Problem {
    Problem::new(
        StatusCode::GONE,
        "This link signs nobody in",
        "It was used, or is older than ten minutes. Run `headwater open` for another one.",
    )
}

fn begun(visit: &Visit, new: &NewSession, next: &str) -> Response {
    let mut response = see_other(next);
    let cookie = visit.cookies.set(Cookie::Session, &new.secret);
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

fn next_of(visit: &Visit) -> String {
    let next = visit.parameter("next").unwrap_or_default();
    own_path(&next).to_owned()
}

/// The reason why nobody was signed in.
#[derive(Clone, Copy)]
enum Refused {
    Key,
    /// Too many attempts failed; the seconds until the next is heard.
    Throttled(u64),
}

fn form(ui: &Ui, visit: &Visit, next: &str, refused: Option<Refused>) -> Page {
    let url = &ui.platform.config().public_url;
    let body = html! { (layout::unencrypted(visit)) (markup(url, next, refused)) };
    Page::new("Sign in", body)
}

fn reason(refused: Refused) -> Markup {
    html! {
        @match refused {
            Refused::Key => { "Nobody has this key, or it was revoked. Copy it again, or create another with " code { "headwater keys create" } "." }
            Refused::Throttled(seconds) => { "Too many attempts to sign in failed. Try again in " span data-countdown=(seconds) { (seconds) " s" } "." }
        }
    }
}

fn markup(url: &str, next: &str, refused: Option<Refused>) -> Markup {
    html! {
        section.signin {
            h1 { (icon(Icon::Source)) "Headwater" }
            form method="post" action="/signin" {
                @if let Some(refused) = refused {
                    p.wrong role="alert" #wrong { (icon(Icon::Warning)) (reason(refused)) }
                }
                label for="key" { "API key" }
                input #key type="password" name="key" required autofocus autocomplete="current-password"
                    spellcheck="false" aria-describedby=[refused.map(|_| "wrong")] aria-invalid=[refused.map(|_| "true")];
                // Keepers of passwords want to know whose it is.
                input type="text" name="username" value="headwater" autocomplete="username" hidden;
                input type="hidden" name="next" value=(next);
                button.primary { "Sign in" }
            }
            p.note {
                "The first key is in the file " code { "api-key" } " of the node's data folder. On the node's machine, a \
                 command opens this page signed in, with the path of that folder for " code { "DATA_DIR" } ":"
            }
            p { (copyable(&format!("headwater open --url {} --data-dir DATA_DIR", quoted(url)))) }
        }
    }
}
