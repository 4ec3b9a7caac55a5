//! Following a list that grows at its front (events, logs): hands out new items, oldest first, none
//! twice and none left out as long as the node retains it. The node pushes new items; a node that goes
//! away is asked again. Prints none of them.

use std::time::Duration;

use anyhow::Result;
use headwater_model::time::EpochMs;
use serde_json::Value;

use crate::client::{Client, ClientError, Feed};
use crate::output;
use crate::timestamp;
use crate::usage_error::UsageError;

const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Before every event.
const BEGINNING: &str = "0-0";

/// The items of a list that come before those that are followed.
#[derive(Clone, Copy)]
pub(crate) struct Latest {
    /// So many of the newest.
    pub(crate) count: usize,
    /// Those of this time and later.
    pub(crate) since: Option<EpochMs>,
}

impl Latest {
    /// As a command line asks: with a time, all of them unless it says how many.
    pub(crate) fn asked(
        limit: Option<usize>,
        otherwise: usize,
        since: Option<&str>,
    ) -> Result<Self, UsageError> {
        let all_or = match since {
            Some(_) => usize::MAX,
            None => otherwise,
        };
        Ok(Self {
            count: limit.unwrap_or(all_or),
            since: timestamp::given_since(since, timestamp::now_ms())?,
        })
    }

    /// Of a list that begins with the newest.
    pub(crate) async fn newest_first(
        &self,
        client: &Client,
        list: &Followed<'_>,
        count: usize,
    ) -> Result<Vec<Value>> {
        let is_wanted = |item: &Value| match self.since {
            Some(since) => item["indexed_at_ms"].as_u64() >= Some(since.0),
            None => true,
        };
        let page = client.first_while(list.path, count, list.filter, is_wanted);
        Ok(page.await?.data)
    }
}

/// A list and the stream of its new items.
#[derive(Clone, Copy)]
pub(crate) struct Followed<'a> {
    /// The list.
    pub(crate) path: &'a [&'a str],
    /// The part of it.
    pub(crate) filter: &'a [(&'a str, String)],
    /// The stream.
    pub(crate) feed: &'a [&'a str],
    /// The channel that the stream is of, if it is one.
    pub(crate) channel: Option<&'a str>,
}

pub(crate) struct Follow<'a> {
    client: &'a Client,
    followed: Followed<'a>,
    /// The newest item handed out so far.
    last_id: String,
    feed: Option<Feed<'a>>,
    pause: Duration,
    connected: bool,
    /// Whether it says that the node went away and came back.
    tells: bool,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(client: &'a Client, followed: Followed<'a>) -> Self {
        Self {
            client,
            followed,
            last_id: BEGINNING.to_owned(),
            feed: None,
            pause: FIRST_PAUSE,
            connected: true,
            tells: true,
        }
    }

    /// Leaves it to another stream of the same node to say that the node went away and came back.
    pub(crate) fn silent(self) -> Self {
        Self {
            tells: false,
            ..self
        }
    }

    /// The latest items, oldest first; `next` goes on right after them.
    pub(crate) async fn latest(&mut self, latest: &Latest) -> Result<Vec<Value>> {
        if let Some(since) = latest.since {
            self.begin_at(since);
        }
        // One item is read even when none is wanted: it is where following starts.
        let wanted = latest.count.max(1);
        let mut items = latest
            .newest_first(self.client, &self.followed, wanted)
            .await?;
        items.reverse();
        self.advance(&items);
        Ok(items.split_off(items.len().saturating_sub(latest.count)))
    }

    /// `next` begins with the items of this time.
    pub(crate) fn begin_at(&mut self, since: EpochMs) {
        self.last_id = right_before(since);
    }

    /// Leaves out the items that are there already.
    pub(crate) async fn skip_past(&mut self) -> Result<()> {
        let none = Latest {
            count: 0,
            since: None,
        };
        self.latest(&none).await.map(drop)
    }

    /// Waits for new items, oldest first; at least one.
    pub(crate) async fn next(&mut self) -> Result<Vec<Value>> {
        loop {
            match self.newer().await {
                Ok(Some(items)) => {
                    self.pause = FIRST_PAUSE;
                    self.advance(&items);
                    return Ok(items);
                }
                // The node has ended the stream, as it does when it stops.
                Ok(None) => {}
                Err(error) => self.survive(error)?,
            }
            self.feed = None;
            tokio::time::sleep(self.pause).await;
            self.pause = LONGEST_PAUSE.min(self.pause * 2);
        }
    }

    async fn newer(&mut self) -> Result<Option<Vec<Value>>> {
        let mut feed = match self.feed.take() {
            Some(feed) => feed,
            None => self.open().await?,
        };
        let items = feed.next().await;
        self.feed = Some(feed);
        items
    }

    async fn open(&mut self) -> Result<Feed<'a>> {
        let Followed { feed, channel, .. } = self.followed;
        let channel = channel.map(|channel| ("event_name", channel.to_owned()));
        let query: Vec<_> = channel.into_iter().collect();
        let feed = self.client.feed(feed, &query, &self.last_id).await?;
        if !std::mem::replace(&mut self.connected, true) {
            self.tell("connected again");
        }
        Ok(feed)
    }

    fn advance(&mut self, items: &[Value]) {
        if let Some(id) = items.last().and_then(|item| item["id"].as_str()) {
            self.last_id = id.to_owned();
        }
    }

    /// A node that restarts or is busy does not end the following; anything else does.
    fn survive(&mut self, error: anyhow::Error) -> Result<()> {
        let transient = error
            .downcast_ref::<ClientError>()
            .is_some_and(ClientError::is_transient);
        if !transient {
            return Err(error);
        }
        if std::mem::replace(&mut self.connected, false) {
            self.tell(&format!("{error:#}; still trying"));
        }
        Ok(())
    }

    fn tell(&self, text: &str) {
        if self.tells {
            output::tell(text);
        }
    }
}

/// An id that is before every event of that time, and after all earlier ones.
fn right_before(time: EpochMs) -> String {
    match time.0.checked_sub(1) {
        Some(ms) => format!("{ms}-{}", u32::MAX),
        None => BEGINNING.to_owned(),
    }
}
