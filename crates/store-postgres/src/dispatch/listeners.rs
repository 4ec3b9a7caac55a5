//! The subscriptions that events of one emitter and channel match, read once per step, all of
//! whose statements see the same moment. Not responsible for reading them.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use headwater_model::channel::Channel;
use headwater_store::StoreError;

use super::{
    pairs::{self, Pair},
    passing::Passing,
};
use crate::connection::Connection;

/// More are read anew for each event, in bounded parts.
const KEPT: u32 = 16;

/// Those of all events of an emitter and channel; `None` if they are too many.
type Kept = Option<Vec<Arc<Pair>>>;

#[derive(Default)]
pub(super) struct Listeners(HashMap<(String, Channel), Kept>);

impl Listeners {
    /// Up to `limit` pairs of the event after a subscription.
    pub(super) async fn of(
        &mut self,
        connection: &Connection,
        event: &Passing,
        owner: &str,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Arc<Pair>>, StoreError> {
        let kept = match self.0.entry((event.emitter.clone(), event.channel.clone())) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                // Those of events that come after this one, too.
                let all = pairs::of(connection, event, owner, i64::MAX, 0, KEPT + 1).await?;
                unknown.insert((all.len() <= KEPT as usize).then_some(all))
            }
        };
        match kept {
            None => pairs::of(connection, event, owner, event.position, after, limit).await,
            Some(kept) => {
                let of_event =
                    |pair: &&Arc<Pair>| pair.since < event.position && pair.subscription > after;
                let of_event = kept.iter().filter(of_event);
                Ok(of_event.take(limit as usize).cloned().collect())
            }
        }
    }
}
