//! Reading a source's events, and waiting for them.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{node::Node, source::Source};

/// Far beyond what anything here takes, also on a machine that is busy with other tests.
const DEADLINE: Duration = Duration::from_secs(90);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(25);
/// The largest page.
const LIMIT: usize = 100;

/// The payloads of events, in their order.
pub fn payloads(events: &[Value]) -> Vec<Value> {
    events.iter().map(|event| event["event"].clone()).collect()
}

/// One field of what was emitted, oldest first.
pub fn fields(events: &[Value], name: &str) -> Vec<Value> {
    events
        .iter()
        .map(|event| event["event"][name].clone())
        .collect()
}

impl Node {
    /// Every event on a source's ordinary channels, whole, oldest first.
    pub async fn events(&self, source: &Source) -> Vec<Value> {
        self.read_events(source, "").await
    }

    /// Every event on one channel of a source, whole, oldest first.
    pub async fn channel(&self, source: &Source, name: &str) -> Vec<Value> {
        self.read_events(source, &format!("&event_name={name}"))
            .await
    }

    /// Waits until a source's events are as wanted, and returns them oldest first.
    pub async fn events_until(
        &self,
        source: &Source,
        wanted: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        self.poll_events(source, "", wanted).await
    }

    /// The same for one channel.
    pub async fn channel_until(
        &self,
        source: &Source,
        name: &str,
        wanted: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        self.poll_events(source, &format!("&event_name={name}"), wanted)
            .await
    }

    async fn poll_events(
        &self,
        source: &Source,
        filter: &str,
        wanted: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        match self.poll_list(&listing(source, filter), wanted).await {
            Ok(events) => events,
            Err(events) => {
                let errors = self.read_events(source, "&event_name=$errors").await;
                panic!(
                    "the events of {} did not become as wanted; events: {:#}\nerrors: {:#}",
                    source.id,
                    Value::from(events),
                    Value::from(errors),
                );
            }
        }
    }

    /// Waits until a listing has no items any more. The path has a query.
    pub async fn until_empty(&self, path: &str) {
        if let Err(items) = self.poll_list(path, <[Value]>::is_empty).await {
            panic!("{path} still lists {:#}", Value::from(items));
        }
    }

    /// Waits until a listing that begins with the newest is as wanted, and returns it oldest first. The path has a query.
    pub async fn list_until(&self, path: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        match self.poll_list(path, wanted).await {
            Ok(items) => items,
            Err(items) => panic!("{path} did not become as wanted: {:#}", Value::from(items)),
        }
    }

    /// Waits until the newest hundred events of a source, newest first, are as wanted.
    pub async fn newest_until(&self, source: &Source, wanted: impl Fn(&[Value]) -> bool) {
        let path = format!(
            "{}/event_summaries?expand=event&limit={LIMIT}",
            source.path()
        );
        let read = async || self.get(&path).await.is(200).items();
        if let Err(newest) = poll(read, wanted).await {
            panic!(
                "the newest events did not become as wanted: {:#}",
                Value::from(newest)
            );
        }
    }

    async fn read_events(&self, source: &Source, filter: &str) -> Vec<Value> {
        self.read_list(&listing(source, filter)).await
    }

    /// Waits until a whole listing is as wanted; what is there then, if it does not become so.
    pub(crate) async fn poll_list(
        &self,
        path: &str,
        wanted: impl Fn(&[Value]) -> bool,
    ) -> Result<Vec<Value>, Vec<Value>> {
        poll(async || self.read_list(path).await, wanted).await
    }

    /// Every page of a listing that begins with the newest, oldest first. The path has a query.
    async fn read_list(&self, path: &str) -> Vec<Value> {
        let mut newest_first = Vec::new();
        let mut after = String::new();
        loop {
            let page = self
                .get(&format!("{path}&limit={LIMIT}{after}"))
                .await
                .is(200);
            let items = page.items();
            let is_last = items.len() < LIMIT;
            newest_first.extend(items);
            if is_last {
                newest_first.reverse();
                return newest_first;
            }
            let cursor = page.json()["page_info"]["end_cursor"].clone();
            after = format!(
                "&after={}",
                cursor.as_str().expect("a full page has a cursor")
            );
        }
    }
}

/// The only place where the tests wait by looking again and again: a listing cannot be awaited.
/// It fails on its own deadline, with what is there then, and never proves that something happens
/// *in time*.
async fn poll(
    read: impl AsyncFn() -> Vec<Value>,
    wanted: impl Fn(&[Value]) -> bool,
) -> Result<Vec<Value>, Vec<Value>> {
    let deadline = Instant::now() + DEADLINE;
    loop {
        let items = read().await;
        if wanted(&items) {
            return Ok(items);
        }
        if Instant::now() > deadline {
            return Err(items);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn listing(source: &Source, filter: &str) -> String {
    format!("{}/event_summaries?expand=event{filter}", source.path())
}
