//! `/live`: what a page follows, as rows that the same code rendered as those on the page (docs/guide/web-ui.md,
//! "Live").
//!
//! The page says up to which event it was rendered, so that nothing is missed between page and stream, and nothing comes
//! twice. A reader that is slow loses its place at the feed, comes again with the last event it has, and goes on there.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use headwater_model::{
    event::Event,
    id::{EmitterId, EventId},
};
use headwater_platform::{Follow, Portion, default_channels};
use serde::Deserialize;
use serde_json::json;

use crate::{
    part::event_row,
    problem::Problem,
    reply::FormReply,
    state::{StreamPlace, Ui},
    visit::Visitor,
};

/// The longest time without a message.
const HANDSHAKE_EVERY: Duration = Duration::from_secs(15);
/// How often it is asked whether the session still is one.
const SESSION_EVERY: Duration = Duration::from_secs(30);
/// Rows of one message; of the rest it has the number.
const ROWS_MAX: usize = 50;

/// The emitter that a page follows.
#[derive(Deserialize)]
pub(crate) struct Followed {
    /// `source:dc_…` or `workflow:p_…`.
    of: String,
    /// The newest event that the page shows.
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    channel: Option<String>,
}

/// Follows an emitter for one page.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    headers: HeaderMap,
    Query(given): Query<Followed>,
) -> FormReply {
    let unreadable = || {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "This is not a stream",
            "Load the page again.",
        )
    };
    let emitter = match given.of.split_once(':') {
        Some(("source", id)) => id.parse().ok().map(EmitterId::Source),
        Some(("workflow", id)) => id.parse().ok().map(EmitterId::Workflow),
        _ => None,
    };
    let emitter = emitter.ok_or_else(unreadable)?;
    let place = ui
        .streams
        .enter(&visitor.signed_in().session.id)
        .ok_or_else(|| {
            Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "This browser follows too many pages at once",
                "Close some of its tabs; the page itself works without its stream.",
            )
        })?;
    // That of a browser that comes back is newer than the page's.
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = last
        .or(given.after.as_deref())
        .and_then(|id| id.parse::<EventId>().ok());
    let follow = Follow {
        emitter: emitter.clone(),
        channels: default_channels(given.channel.as_deref()),
        after,
    };
    let portions = ui.platform.follow(visitor.caller(), follow).await?;
    Ok(answer(messages(ui, visitor, emitter, portions, place)))
}

fn answer(messages: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store"),
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    let body = Body::from_stream(messages.map(Ok::<_, Infallible>));
    (headers, body).into_response()
}

/// The messages of one stream, until the feed, the session or the node ends.
fn messages(
    ui: Arc<Ui>,
    visitor: Visitor,
    emitter: EmitterId,
    portions: impl Stream<Item = Portion> + Send + 'static,
    place: StreamPlace,
) -> impl Stream<Item = Bytes> + Send + 'static {
    let secret = visitor.session_secret();
    let begin = stream::iter([Bytes::from_static(b":handshake\n\n")]);
    let state = (
        Box::pin(portions),
        tokio::time::interval(HANDSHAKE_EVERY),
        Duration::ZERO,
        place,
    );
    let following = stream::unfold(
        state,
        move |(mut portions, mut ticks, mut unchecked, place)| {
            let (ui, emitter, secret) = (Arc::clone(&ui), emitter.clone(), secret.clone());
            async move {
                let message = tokio::select! {
                    portion = portions.next() => rows(&emitter, portion?.events(), &ui),
                    _ = ticks.tick() => {
                        unchecked += HANDSHAKE_EVERY;
                        if unchecked >= SESSION_EVERY {
                            unchecked = Duration::ZERO;
                            let is_open = matches!(ui.platform.signed_in(&secret).await, Ok(Some(_)));
                            if !is_open {
                                return None;
                            }
                        }
                        Bytes::from_static(b":handshake\n\n")
                    }
                };
                Some((message, (portions, ticks, unchecked, place)))
            }
        },
    );
    begin.chain(following)
}

/// One message with the rows of some events, newest first as the page has them.
fn rows<'a>(emitter: &EmitterId, events: impl Iterator<Item = &'a Event>, ui: &Ui) -> Bytes {
    let events: Vec<_> = events.collect();
    let Some(last) = events.last() else {
        return Bytes::from_static(b":\n\n");
    };
    let now_ms = ui.env().now_ms();
    let shown = events.iter().rev().take(ROWS_MAX);
    let html: String = shown
        .map(|event| event_row::row(emitter, event, now_ms).into_string())
        .collect();
    let data = json!({ "list": "events", "html": html, "count": events.len() });
    Bytes::from(format!("id: {}\nevent: rows\ndata: {data}\n\n", last.id))
}
