//! Events and logs: read, and waited for.

use std::time::Duration;

use futures::{FutureExt as _, Stream, StreamExt as _};
use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use sse_stream::SseStream;
use tokio::time::{Instant, timeout_at};

use super::{emitter, limit};
use crate::{
    api::{self, Api},
    node::Answer,
    reply::{Refusal, Reply, Shown},
    server::Server,
};

/// The part of an event that a list shows; an assistant reads the whole of the one that it wants.
const SHOWN_BYTES: usize = 4096;
/// Programs that call tools give up after a minute or so.
const WATCH_MAX: Duration = Duration::from_secs(55);
const WATCH: Duration = Duration::from_secs(30);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadEvents {
    /// The id or name of the source whose events to read. Without `source` and `workflow`, those of all.
    source: Option<String>,
    /// The id or name of the workflow whose events to read.
    workflow: Option<String>,
    /// Words that an event has.
    query: Option<String>,
    /// One channel; `$errors` has the errors of runs.
    channel: Option<String>,
    /// Only events of this time or later, such as 2026-01-31T12:00:00Z.
    since: Option<String>,
    /// Only events of this time or earlier.
    until: Option<String>,
    /// So many at most, up to 100; 20 without it.
    limit: Option<u32>,
    /// `page_info.end_cursor` of the part before.
    after: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ShowEvent {
    /// The id or name of the source that emitted it.
    source: String,
    /// The event's id.
    event: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WatchSource {
    /// The source's id or name.
    source: String,
    /// `last_event_id` of the answer before, so that nothing between is missed; without it, only events from now on.
    after: Option<String>,
    /// Seconds to wait for the first event, up to 55; 30 without it.
    timeout_s: Option<u64>,
    /// So many at most, up to 100; 20 without it.
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadLogs {
    /// The source's id or name.
    source: String,
    /// So many lines at most, up to 100; 20 without it.
    limit: Option<u32>,
    /// `page_info.end_cursor` of the page before.
    after: Option<String>,
}

#[tool_router(router = events, vis = "pub(crate)")]
impl Server {
    /// Reads events that are kept, newest first. Of a large event there is a preview: `show_event` has all of it.
    #[tool(annotations(title = "Read events", read_only_hint = true, open_world_hint = false))]
    async fn read_events(&self, api: Api, Parameters(asked): Parameters<ReadEvents>) -> Reply {
        let (source, workflow) = (asked.source.as_deref(), asked.workflow.as_deref());
        let [source, workflow] = emitter(&api, source, workflow).await?;
        let query = [
            source,
            workflow,
            ("q", asked.query),
            ("channel", asked.channel),
            ("since", asked.since),
            ("until", asked.until),
            ("limit", limit(asked.limit)),
            ("after", asked.after),
        ];
        let mut found = api.list(&["events"], &query).await?;
        for event in found["data"].as_array_mut().into_iter().flatten() {
            shorten(event);
        }
        Ok(Shown(found))
    }

    /// Shows one event whole, with its metadata.
    #[tool(annotations(
        title = "Show an event",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn show_event(&self, api: Api, Parameters(asked): Parameters<ShowEvent>) -> Reply {
        let id = api.source_id(&asked.source).await?;
        let path = ["sources", &id, "events", &asked.event];
        api.get(&path, &[]).await.map(api::data).map(Shown)
    }

    /// Waits for the next events of a source, and returns as soon as there are some. An empty answer says that none came
    /// in time. To go on without a gap, pass its `last_event_id` as `after`.
    #[tool(annotations(
        title = "Watch a source",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn watch_source(&self, api: Api, Parameters(asked): Parameters<WatchSource>) -> Reply {
        let id = api.source_id(&asked.source).await?;
        let patience = asked.timeout_s.map_or(WATCH, Duration::from_secs);
        let until = Instant::now() + patience.min(WATCH_MAX);
        let at_most = asked.limit.unwrap_or(20).clamp(1, 100);
        let path = ["sources", id.as_str(), "sse"];
        let answer = api.follow(&path, asked.after.clone()).await?;
        let mut events = next_events(answer, until, at_most as usize).await?;
        let last = events.last().and_then(|event| event["id"].as_str());
        let last = last.map(str::to_owned).or(asked.after);
        events.iter_mut().for_each(shorten);
        Ok(Shown(json!({ "events": events, "last_event_id": last })))
    }

    /// Reads what a source wrote to its log, and its errors, newest first.
    #[tool(annotations(
        title = "Read a source's log",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn read_logs(&self, api: Api, Parameters(asked): Parameters<ReadLogs>) -> Reply {
        let id = api.source_id(&asked.source).await?;
        let query = [
            ("limit", limit(asked.limit)),
            ("after", asked.after),
            ("expand", Some("event".to_owned())),
        ];
        api.get(&["sources", &id, "logs"], &query).await.map(Shown)
    }
}

/// The first events of a stream, and those that came together with them.
async fn next_events(
    answer: Answer,
    until: Instant,
    at_most: usize,
) -> Result<Vec<Value>, Refusal> {
    let mut messages = std::pin::pin!(messages(answer));
    let mut events = Vec::new();
    while events.len() < at_most {
        let next = match events.is_empty() {
            true => timeout_at(until, messages.next()).await.unwrap_or(None),
            false => messages.next().now_or_never().flatten(),
        };
        match next {
            Some(event) => events.push(event?),
            None => break,
        }
    }
    Ok(events)
}

/// The events in a stream, without the comments that keep it open.
fn messages(answer: Answer) -> impl Stream<Item = Result<Value, Refusal>> {
    let messages = SseStream::from_bytes_stream(answer.body);
    messages.filter_map(|message| {
        let event = match message {
            Ok(message) => message.data.map(|data| {
                serde_json::from_str(&data).map_err(|error| Refusal::new(error.to_string()))
            }),
            Err(error) => Some(Err(Refusal::new(format!("the stream broke off: {error}")))),
        };
        std::future::ready(event)
    })
}

/// Leaves a preview of a large event.
fn shorten(event: &mut Value) {
    let whole = event["event"].to_string();
    if whole.len() <= SHOWN_BYTES {
        return;
    }
    let end = whole.floor_char_boundary(SHOWN_BYTES);
    event["event"] = Value::Null;
    event["preview"] = whole[..end].into();
    event["bytes"] = whole.len().into();
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures::stream;
    use http::StatusCode;

    use super::*;

    fn answer(chunks: &'static [&'static str], is_endless: bool) -> Answer {
        let chunks = stream::iter(chunks).map(|chunk| Ok(Bytes::from_static(chunk.as_bytes())));
        let body = match is_endless {
            true => chunks.chain(stream::pending()).boxed(),
            false => chunks.boxed(),
        };
        Answer {
            status: StatusCode::OK,
            body,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_together_is_returned_together() {
        let chunks = &[
            ": hello\n\n",
            "id: 1-0\ndata: {\"id\":\"1-0\"}\n\nid: 2-0\nda",
            "ta: {\"id\":\"2-0\"}\n\n",
        ];
        let until = Instant::now() + WATCH;
        let events = next_events(answer(chunks, true), until, 20).await.unwrap();
        assert_eq!(events, [json!({ "id": "1-0" }), json!({ "id": "2-0" })]);
        let events = next_events(answer(chunks, true), until, 1).await.unwrap();
        assert_eq!(events.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_comes_of_a_silent_stream_or_one_that_ends() {
        for is_endless in [true, false] {
            let until = Instant::now() + WATCH;
            let events = next_events(answer(&[": hello\n\n"], is_endless), until, 20).await;
            assert_eq!(events.unwrap(), [Value::Null; 0]);
        }
    }

    #[test]
    fn large_events_become_previews() {
        let mut event = json!({ "id": "1-0", "event": { "text": "é".repeat(SHOWN_BYTES) } });
        shorten(&mut event);
        assert_eq!(event["event"], Value::Null);
        assert!(event["preview"].as_str().unwrap().len() <= SHOWN_BYTES);
        let small = json!({ "id": "1-0", "event": { "n": 1 } });
        let mut kept = small.clone();
        shorten(&mut kept);
        assert_eq!(kept, small);
    }
}
