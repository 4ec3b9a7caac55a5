//! The part that `events` and `logs` share: the latest items, then, when asked, those that follow. Each
//! gives the list's address and the format of an item as a line.

use anyhow::Result;
use serde_json::Value;

use crate::client::Client;
use crate::exit::Exit;
use crate::follow::{Follow, Followed};
use crate::output;
use crate::session::Session;

/// A list that grows, and which part of it is wanted.
pub(super) struct Stream<'a> {
    pub(super) followed: Followed<'a>,
    pub(super) limit: usize,
    pub(super) follow: bool,
    pub(super) line: fn(&Value) -> String,
    /// The note to the person where there is nothing to show.
    pub(super) nothing: String,
}

impl Stream<'_> {
    pub(super) async fn print(&self, session: &Session) -> Result<Exit> {
        match self.follow {
            true => self.follow(session).await,
            false => self.print_once(session).await,
        }
    }

    /// People read from the oldest down; `--json` is the API's list as it is, newest first.
    async fn print_once(&self, session: &Session) -> Result<Exit> {
        let items = self.latest(&session.client).await?;
        if session.json {
            output::json(&Value::from(items))?;
        } else {
            self.note_if_nothing(&items);
            for item in items.iter().rev() {
                output::data(&(self.line)(item))?;
            }
        }
        Ok(Exit::Success)
    }

    fn note_if_nothing(&self, items: &[Value]) {
        if items.is_empty() && self.limit > 0 {
            output::note(&self.nothing);
        }
    }

    async fn latest(&self, client: &Client) -> Result<Vec<Value>> {
        let Followed { path, filter, .. } = self.followed;
        let page = client.first(path, self.limit, filter).await?;
        Ok(page.data)
    }

    async fn follow(&self, session: &Session) -> Result<Exit> {
        let mut follow = Follow::new(&session.client, self.followed);
        let mut items = follow.latest(self.limit).await?;
        if !session.json {
            self.note_if_nothing(&items);
        }
        loop {
            for item in &items {
                match session.json {
                    true => output::json_line(item)?,
                    false => output::data(&(self.line)(item))?,
                }
            }
            items = follow.next().await?;
        }
    }
}
