//! `/live`: what a page follows, over one stream: new events of an emitter, as rows that the same code rendered as those
//! on the page, the word that something else on the page has changed, and the progress of a form that deploys
//! (docs/guide/web-ui.md, "Live").
//!
//! The page says up to which event it was rendered, so that nothing is missed between page and stream, and nothing comes
//! twice. A reader that is slow loses its place at the feed, comes again with the last event it has, and goes on there.
//! Changes only say that there are some: the page is fetched again, at most once a second, and its parts take each
//! other's place. So they cannot miss or double anything either, and pages alone decide what may be seen.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::{
    Stream, StreamExt as _,
    stream::{self, BoxStream},
};
use headwater_model::{
    event::Event,
    event_search::EventPlace,
    id::{EmitterId, EventId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{
    Change, DeployPart, Follow, LogPosition, News, Portion, default_channels,
};
use serde::Deserialize;
use serde_json::json;
use tokio::time::{Instant, Interval, interval, sleep_until};

use crate::{
    part::{
        event_row,
        news::{self, Line},
        progress,
    },
    problem::Problem,
    reply::FormReply,
    state::{StreamPlace, Ui},
    topic::Topics,
    visit::Visitor,
};

/// The longest time without a message.
const HANDSHAKE_EVERY: Duration = Duration::from_secs(15);
/// The time after which it is asked again whether the session still is one.
const SESSION_EVERY: Duration = Duration::from_secs(30);
/// The shortest time between two messages of changes, each of which has the page fetched again.
const CHANGES_EVERY: Duration = Duration::from_secs(1);
/// Rows of one message; of the rest it has the number.
const ROWS_MAX: usize = 50;

/// The topics of a page, and up to where it shows them.
#[derive(Deserialize)]
pub(crate) struct Followed {
    /// `source:dc_…`, `workflow:p_…` or `news:…` for rows, `changes:…` for parts, `work:…` for the progress of a form, with commas
    /// between.
    of: String,
    /// The newest event that the page shows; of news, the position of the log up to which it shows them.
    #[serde(default)]
    after: Option<String>,
    #[serde(default)]
    channel: Option<String>,
    /// The moment at which the page was read.
    #[serde(default)]
    since: Option<u64>,
}

/// Follows what one page shows.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    headers: HeaderMap,
    Query(given): Query<Followed>,
) -> FormReply {
    let topics = Topics::parse(&given.of).ok_or_else(|| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "This is not a stream",
            "Load the page again.",
        )
    })?;
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
    let portions = match &topics.rows {
        Some(emitter) => portions(&ui, &visitor, emitter, &headers, &given).await?,
        None => stream::pending().boxed(),
    };
    let news = match &topics.news {
        Some(workspace) => news(&ui, &visitor, workspace.clone(), &headers, &given).await?,
        None => stream::pending().boxed(),
    };
    let work = match &topics.work {
        Some(name) => {
            let session = &visitor.signed_in().session.id;
            ui.works.of(session, name).followed().boxed()
        }
        None => stream::pending().boxed(),
    };
    let changes = match topics.changes.is_empty() {
        true => stream::pending().boxed(),
        false => {
            let since_ms = EpochMs(given.since.unwrap_or_default());
            ui.platform.changes(visitor.caller(), since_ms).boxed()
        }
    };
    let now = Instant::now();
    let following = Following {
        secret: visitor.session_secret(),
        ui,
        topics,
        portions,
        news,
        changes,
        work,
        ticks: interval(HANDSHAKE_EVERY),
        asked_at: now,
        has_changed: false,
        may_tell_at: now,
        _place: place,
    };
    let messages = stream::unfold(following, |mut following| async move {
        let message = following.next().await?;
        Some((message, following))
    });
    Ok(answer(messages))
}

/// The events of the emitter after those that the page has.
async fn portions(
    ui: &Ui,
    visitor: &Visitor,
    emitter: &EmitterId,
    headers: &HeaderMap,
    given: &Followed,
) -> Result<BoxStream<'static, Portion>, Problem> {
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
    Ok(ui.platform.follow(visitor.caller(), follow).await?.boxed())
}

/// The events of everything after the position that the page has.
async fn news(
    ui: &Ui,
    visitor: &Visitor,
    workspace: Option<WorkspaceId>,
    headers: &HeaderMap,
    given: &Followed,
) -> Result<BoxStream<'static, News>, Problem> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok());
    let after = last.or(given.after.as_deref());
    let after = match after.and_then(|position| position.parse().ok()) {
        Some(position) => LogPosition(position),
        None => ui.platform.news_begin().await?,
    };
    let news = ui.platform.news(visitor.caller(), workspace, after);
    Ok(news.await?.boxed())
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

/// One stream, until a feed, the session or the node ends.
struct Following {
    ui: Arc<Ui>,
    secret: String,
    topics: Topics,
    portions: BoxStream<'static, Portion>,
    news: BoxStream<'static, News>,
    changes: BoxStream<'static, Change>,
    work: BoxStream<'static, Vec<DeployPart>>,
    ticks: Interval,
    /// When the session was last known to be one.
    asked_at: Instant,
    /// Whether something has changed that the page was not told of.
    has_changed: bool,
    may_tell_at: Instant,
    _place: StreamPlace,
}

impl Following {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            tokio::select! {
                portion = self.portions.next() => {
                    let emitter = self.topics.rows.as_ref()?;
                    return Some(rows(emitter, portion?.events(), &self.ui));
                }
                news = self.news.next() => return Some(news_rows(&news?, &self.ui)),
                change = self.changes.next() => {
                    let change = change?;
                    self.has_changed |= self.topics.changes.iter().any(|topic| topic.covers(&change));
                }
                parts = self.work.next() => return Some(begun(&parts?)),
                () = sleep_until(self.may_tell_at), if self.has_changed => {
                    self.has_changed = false;
                    self.may_tell_at = Instant::now() + CHANGES_EVERY;
                    let data = json!({ "since": self.ui.env().now_ms().0 });
                    return Some(Bytes::from(format!("event: changed\ndata: {data}\n\n")));
                }
                _ = self.ticks.tick() => {
                    self.is_signed_in().await.then_some(())?;
                    // The first comes at once, so that the browser knows of its stream.
                    return Some(Bytes::from_static(b":handshake\n\n"));
                }
            }
        }
    }

    /// Whether the session still is one; asked once in a while.
    async fn is_signed_in(&mut self) -> bool {
        if self.asked_at.elapsed() < SESSION_EVERY {
            return true;
        }
        self.asked_at = Instant::now();
        matches!(self.ui.platform.signed_in(&self.secret).await, Ok(Some(_)))
    }
}

/// One message with the parts of a deployment that have begun.
fn begun(parts: &[DeployPart]) -> Bytes {
    let html = progress::progress(parts).into_string();
    let said = parts.last().map(|part| progress::told(*part));
    let data = json!({ "html": html, "said": said });
    Bytes::from(format!("event: progress\ndata: {data}\n\n"))
}

/// The same for events of everything. A message without rows says how far the log was read.
fn news_rows(news: &News, ui: &Ui) -> Bytes {
    let now_ms = ui.env().now_ms();
    let shown = news.events.iter().rev().take(news::ROWS);
    let html: String = shown
        .map(|new| {
            let line = Line {
                place: EventPlace {
                    id: new.event.id,
                    emitter: new.emitter.clone(),
                },
                indexed_at_ms: new.event.indexed_at_ms,
                name: &new.name,
                summary: &event_row::summary(&new.event),
            };
            news::row(&line, now_ms).into_string()
        })
        .collect();
    let data = json!({ "list": "events", "html": html, "count": news.events.len() });
    Bytes::from(format!(
        "id: {}\nevent: rows\ndata: {data}\n\n",
        news.up_to.0
    ))
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
        .map(|event| event_row::row(emitter, event, false, now_ms).into_string())
        .collect();
    let data = json!({ "list": "events", "html": html, "count": events.len() });
    Bytes::from(format!("id: {}\nevent: rows\ndata: {data}\n\n", last.id))
}
