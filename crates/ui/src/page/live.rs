//! `/live`: what a page follows, over one stream: new events of an emitter, as rows that the same code rendered as those
//! on the page, the word that something else on the page has changed, and the progress of a form that deploys
//! (docs/guide/web-ui.md, "Live").
//!
//! The page says up to which event it was rendered, so that nothing is missed between page and stream, and nothing comes
//! twice. A reader that is slow loses its place at the feed, comes again with the last event it has, and goes on there.
//! Changes only say that there are some: the page is fetched again, at most once a second, and its parts take each
//! other's place. So they cannot miss or double anything either, and pages alone decide what may be seen.

mod message;

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
    id::{EmitterId, EventId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{
    Change, DeployPart, Follow, LogPosition, News, Portion, default_channels,
};
use serde::Deserialize;
use tokio::time::{Instant, Interval, interval, sleep_until};

use self::message::Bye;
use crate::{
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
    visitor: Result<Visitor, Problem>,
    headers: HeaderMap,
    Query(given): Query<Followed>,
) -> FormReply {
    // A browser's stream takes no other answer than a stream: what it would be told otherwise is a message.
    let ends = |bye: Bye, problem: Problem| match is_stream_wanted(&headers) {
        true => Ok(answer(stream::iter([bye.message()]))),
        false => Err(problem),
    };
    let visitor = match visitor {
        Ok(visitor) => visitor,
        Err(problem) => return ends(Bye::SignedOut, problem),
    };
    let topics = Topics::parse(&given.of).ok_or_else(|| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "This is not a stream",
            "Load the page again.",
        )
    })?;
    let Some(place) = ui.streams.enter(&visitor.signed_in().session.id) else {
        return ends(Bye::TooMany, too_many());
    };
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
        is_over: false,
        _place: place,
    };
    let messages = stream::unfold(following, |mut following| async move {
        let message = following.message().await?;
        Some((message, following))
    });
    Ok(answer(messages))
}

/// Whether a stream's reader asks.
fn is_stream_wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get(header::ACCEPT);
    let accepted = accepted.and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/event-stream"))
}

fn too_many() -> Problem {
    Problem::new(
        StatusCode::TOO_MANY_REQUESTS,
        "This browser follows too many pages at once",
        "Close some of its tabs; the page itself works without its stream.",
    )
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
    /// Whether the last word was said.
    is_over: bool,
    _place: StreamPlace,
}

impl Following {
    /// The next message, which is the last word where the browser is to know why nothing more comes.
    async fn message(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let next = self.next().await;
        self.is_over = next.is_err();
        match next {
            Ok(message) => Some(message),
            Err(Some(bye)) => Some(bye.message()),
            // A feed has ended: the reader was slow, or its thing is gone. It comes again and is told.
            Err(None) if self.ui.platform.is_stopping() => Some(Bye::Restart.message()),
            Err(None) => None,
        }
    }

    async fn next(&mut self) -> Result<Bytes, Option<Bye>> {
        loop {
            tokio::select! {
                portion = self.portions.next() => {
                    let emitter = self.topics.rows.as_ref().ok_or(None)?;
                    return Ok(message::rows(emitter, portion.ok_or(None)?.events(), &self.ui));
                }
                news = self.news.next() => return Ok(message::news_rows(&news.ok_or(None)?, &self.ui)),
                change = self.changes.next() => {
                    let change = change.ok_or(None)?;
                    self.has_changed |= self.topics.changes.iter().any(|topic| topic.covers(&change));
                }
                parts = self.work.next() => return Ok(message::begun(&parts.ok_or(None)?)),
                () = sleep_until(self.may_tell_at), if self.has_changed => {
                    self.has_changed = false;
                    self.may_tell_at = Instant::now() + CHANGES_EVERY;
                    return Ok(message::changed(self.ui.env().now_ms()));
                }
                _ = self.ticks.tick() => {
                    self.check_session().await?;
                    // The first comes at once, so that the browser knows of its stream.
                    return Ok(message::handshake());
                }
            }
        }
    }

    /// Ends the stream of a session that is none any more; asked once in a while.
    async fn check_session(&mut self) -> Result<(), Option<Bye>> {
        if self.asked_at.elapsed() < SESSION_EVERY {
            return Ok(());
        }
        self.asked_at = Instant::now();
        match self.ui.platform.signed_in(&self.secret).await {
            Ok(Some(_)) => Ok(()),
            Ok(None) => Err(Some(Bye::SignedOut)),
            Err(_) => Err(None),
        }
    }
}
