//! The part that `events` and `logs` share: the latest items, then, when asked, those that follow. Each
//! gives the addresses of its lists and the format of an item as a line.

use anyhow::Result;
use futures::future::{try_join, try_join_all};
use headwater_model::{channel::Channel, id::EventId, time::EpochMs};
use serde_json::Value;

use super::open_lines::OpenLines;
use crate::exit::Exit;
use crate::follow::{Follow, Followed, Latest};
use crate::output;
use crate::session::Session;
use crate::source::text;

/// Lists of one emitter that grow, and which part of them is wanted.
pub(super) struct Stream<'a> {
    pub(super) lists: &'a [Followed<'a>],
    pub(super) latest: Latest,
    pub(super) follow: bool,
    pub(super) show: &'a (dyn Fn(&Value) -> String + Sync),
    /// Lines that are items only later, which are shown among those that follow.
    pub(super) open: Option<&'a OpenLines<'a>>,
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
        let Self { lists, latest, .. } = self;
        let read = lists
            .iter()
            .map(|list| latest.newest_first(&session.client, list, latest.count));
        let items = self.merged(try_join_all(read).await?);
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

    /// The latest of all lists, from the oldest down.
    fn merged(&self, lists: Vec<Vec<Value>>) -> Vec<Value> {
        let mut items: Vec<_> = lists.into_iter().flatten().collect();
        items.sort_by_key(place);
        items.split_off(items.len().saturating_sub(self.latest.count))
    }

    fn note_if_nothing(&self, items: &[Value]) {
        if items.is_empty() && self.latest.count > 0 {
            output::tell(&self.nothing);
        }
    }

    async fn follow(&self, session: &Session) -> Result<Exit> {
        let follows = self.lists.iter().enumerate().map(|(index, list)| {
            let follow = Follow::new(&session.client, *list);
            match index {
                0 => follow,
                _ => follow.silent(),
            }
        });
        let mut follows: Vec<_> = follows.collect();
        let read = follows.iter_mut().map(|follow| follow.latest(&self.latest));
        let items = self.merged(try_join_all(read).await?);
        if !session.json {
            self.note_if_nothing(&items);
        }
        self.print_each(session, &items)?;
        let followed = follows
            .into_iter()
            .map(|follow| self.print_new(session, follow));
        try_join(try_join_all(followed), self.print_open(session)).await?;
        Ok(Exit::Success)
    }

    async fn print_open(&self, session: &Session) -> Result<()> {
        let Some(open) = self.open else {
            return Ok(());
        };
        loop {
            self.print_each(session, &open.next(&session.client).await?)?;
        }
    }

    /// Prints new items until the list is gone.
    async fn print_new(&self, session: &Session, mut follow: Follow<'_>) -> Result<()> {
        loop {
            let mut items = follow.next().await?;
            if let Some(open) = self.open {
                items.retain(|item| open.is_new(item));
            }
            self.print_each(session, &items)?;
        }
    }

    fn print_each(&self, session: &Session, items: &[Value]) -> Result<()> {
        items.iter().try_for_each(|item| match session.json {
            true => output::json_line(item),
            false => output::data(&(self.show)(item)),
        })
    }
}

/// The place of an item among those of its emitter. The error of a run comes after its logs, which are written with it.
fn place(item: &Value) -> Option<(EpochMs, bool, u32)> {
    let id: EventId = text(item, "id").parse().ok()?;
    let is_error = text(&item["metadata"], "name") == Channel::ERRORS;
    Some((id.ms, is_error, id.sequence))
}
