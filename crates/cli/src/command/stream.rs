//! The part that `events` and `logs` share: the latest items, then, when asked, those that follow. Each
//! gives the list's address and the format of an item as a line.

use anyhow::Result;
use serde_json::Value;

use crate::exit::Exit;
use crate::follow::{Follow, Followed, Latest};
use crate::output;
use crate::session::Session;

/// A list that grows, and which part of it is wanted.
pub(super) struct Stream<'a> {
    pub(super) followed: Followed<'a>,
    pub(super) latest: Latest,
    pub(super) follow: bool,
    pub(super) show: fn(&Value) -> String,
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

    /// From the oldest down, for people and programs alike.
    async fn print_once(&self, session: &Session) -> Result<Exit> {
        let count = self.latest.count;
        let items = self
            .latest
            .newest_first(&session.client, &self.followed, count);
        let mut items = items.await?;
        items.reverse();
        if session.json {
            output::json(&Value::from(items))?;
        } else {
            self.note_if_nothing(&items);
            for item in &items {
                output::data(&(self.show)(item))?;
            }
        }
        Ok(Exit::Success)
    }

    fn note_if_nothing(&self, items: &[Value]) {
        if items.is_empty() && self.latest.count > 0 {
            output::tell(&self.nothing);
        }
    }

    async fn follow(&self, session: &Session) -> Result<Exit> {
        let mut follow = Follow::new(&session.client, self.followed);
        let mut items = follow.latest(&self.latest).await?;
        if !session.json {
            self.note_if_nothing(&items);
        }
        loop {
            for item in &items {
                match session.json {
                    true => output::json_line(item)?,
                    false => output::data(&(self.show)(item))?,
                }
            }
            items = follow.next().await?;
        }
    }
}
