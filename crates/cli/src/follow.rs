//! Following a list that grows at its front (events, logs): hands out what is new, oldest first,
//! nothing twice and nothing left out as long as the node retains it. It polls; a stream the node
//! pushes can take its place behind the same methods. Prints nothing of what it finds.

use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::client::{Client, ClientError, PAGE_LIMIT, Page};
use crate::output;

const POLL_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct Follow<'a> {
    client: &'a Client,
    path: &'a [&'a str],
    filter: &'a [(&'a str, String)],
    /// The newest item handed out so far; none while the list was empty.
    cursor: Option<String>,
    connected: bool,
}

impl<'a> Follow<'a> {
    pub(crate) fn new(
        client: &'a Client,
        path: &'a [&'a str],
        filter: &'a [(&'a str, String)],
    ) -> Self {
        Self {
            client,
            path,
            filter,
            cursor: None,
            connected: true,
        }
    }

    /// The latest `count` items, oldest first; `next` goes on right after them.
    pub(crate) async fn latest(&mut self, count: usize) -> Result<Vec<Value>> {
        // One item is read even when none is wanted: it is where following starts.
        let wanted = count.max(1);
        let mut page = self.client.first(self.path, wanted, self.filter).await?;
        page.data.truncate(count);
        Ok(self.advance(page))
    }

    /// Waits for new items, oldest first; at least one.
    pub(crate) async fn next(&mut self) -> Result<Vec<Value>> {
        loop {
            match self.newer().await {
                Ok(items) if !items.is_empty() => return Ok(items),
                Ok(_) => {}
                Err(error) => self.survive(error)?,
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }

    async fn newer(&mut self) -> Result<Vec<Value>> {
        let page = match &self.cursor {
            Some(cursor) => {
                let mut query = self.filter.to_vec();
                query.push(("before", cursor.clone()));
                query.push(("limit", PAGE_LIMIT.to_string()));
                self.client.page(self.path, &query).await?
            }
            // Nothing was there before, so everything is new.
            None => {
                let all = self.client.first(self.path, usize::MAX, self.filter);
                all.await?
            }
        };
        if !self.connected {
            output::note("connected again");
            self.connected = true;
        }
        Ok(self.advance(page))
    }

    /// Moves past a page (listed newest first) and turns it into reading order.
    fn advance(&mut self, page: Page) -> Vec<Value> {
        if let Some(cursor) = page.page_info.start_cursor {
            self.cursor = Some(cursor);
        }
        page.data.into_iter().rev().collect()
    }

    /// A node that restarts or is busy does not end the following; anything else does.
    fn survive(&mut self, error: anyhow::Error) -> Result<()> {
        let transient = error
            .downcast_ref::<ClientError>()
            .is_some_and(ClientError::is_transient);
        if !transient {
            return Err(error);
        }
        if self.connected {
            output::note(&format!("{error:#}; still trying"));
            self.connected = false;
        }
        Ok(())
    }
}
