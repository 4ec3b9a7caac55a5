//! `/settings/sessions`: the browsers that are signed in.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::SessionId;
use headwater_platform::Session;
use maud::{Markup, html};

use super::page;
use crate::{
    part::{
        pager::{Ends, pager},
        text, time,
    },
    path::PathId,
    reply::{FormReply, PageReply, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Lists the sessions.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let sessions = ui
        .platform
        .sessions(visitor.caller(), &visitor.page_request())
        .await?;
    let body = html! {
        p.note { "A session ends 30 days after its beginning, after 7 days without use, and with the key that it was begun with." }
        (table(&visitor, &sessions.items))
        (pager(&visitor, &Ends::of(&sessions, |session| &session.id)))
    };
    Ok(page(&visitor, "sessions", body).request(&ui, "GET", "/sessions"))
}

fn table(visitor: &Visitor, sessions: &[Session]) -> Markup {
    let own = &visitor.signed_in().session.id;
    html! {
        table.list {
            thead {
                tr {
                    th scope="col" { "Browser" }
                    th scope="col" { "Address" }
                    th scope="col" { "Last used" }
                    th scope="col" { "Begun" }
                    th scope="col" { "Ends" }
                    th scope="col" { "End it" }
                }
            }
            tbody {
                @for session in sessions {
                    tr {
                        th scope="row" {
                            @if session.user_agent.is_empty() { "unknown" } @else { (text::line(&session.user_agent)) }
                            @if session.id == *own { " " b { "this browser" } }
                        }
                        td.narrow data-label="Address" { @if let Some(address) = &session.address { (text::line(address)) } }
                        td data-label="Last used" { (time::ago(session.last_used_at_ms, visitor.now_ms)) }
                        td data-label="Begun" { (time::ago(session.created_at_ms, visitor.now_ms)) }
                        td data-label="Ends" { (time::ago(session.expires_at_ms, visitor.now_ms)) }
                        td data-label="End it" {
                            @if session.id == *own {
                                form method="post" action="/signout" { button { "Sign out" } }
                            } @else {
                                form method="post" action={ "/settings/sessions/" (session.id) "/end" } { button.danger { "Sign out there" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Ends a session.
pub(crate) async fn end(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SessionId>,
) -> FormReply {
    ui.platform.end_session(visitor.caller(), &id).await?;
    Ok(see_other_saying(
        &visitor,
        "/settings/sessions",
        "That browser is signed out",
    ))
}
