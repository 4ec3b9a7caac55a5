//! Events that wait in the log, in their order, for workflows that had no room, while dispatch goes on for everybody else.
//! An event that is deleted from the log meanwhile, or whose emitter is, waits no longer.

use std::collections::BTreeMap;

use headwater_model::limits::HOPS_MAX;
use headwater_store::StoreError;

use super::{
    held::{self, Held, Waiting},
    pairs,
    passing::{self, Passing},
    room::ListeningSource,
    step::{AHEAD, Step},
};

impl Step<'_> {
    /// Whether the event waits in the log for that workflow, because there is no room, or because others wait before it.
    pub(super) async fn is_held_back(
        &mut self,
        event: &Passing,
        pair: &pairs::Pair,
    ) -> Result<bool, StoreError> {
        if !pair.is_workflow() || event.hops >= HOPS_MAX {
            return Ok(false);
        }
        if self.held.0.contains_key(&pair.subscription) {
            return Ok(true);
        }
        if self.has_room(pair).await? {
            return Ok(false);
        }
        let waiting = Waiting {
            listener: pair.listener.clone(),
            position: event.position - 1,
        };
        held::insert(self.connection, pair.subscription, &waiting).await?;
        self.held.0.insert(pair.subscription, waiting);
        Ok(true)
    }

    async fn has_room(&mut self, pair: &pairs::Pair) -> Result<bool, StoreError> {
        let Some(owner) = &pair.runnable_owner else {
            return Ok(true);
        };
        Ok(self.rooms.is_free(self.connection, owner).await?
            && self.may_wait(&pair.listener).await?)
    }

    /// Passes on what waits, as far as there is room now: up to the cursor. True: there is more that finds room.
    pub(super) async fn pass_held_on(&mut self, cursor: i64) -> Result<bool, StoreError> {
        let mut left = AHEAD;
        let held = std::mem::take(&mut self.held);
        let mut still = BTreeMap::new();
        let mut more = false;
        for (subscription, mut waiting) in held.0 {
            let up_to = waiting.position;
            let end = self
                .pass_one_on(subscription, &mut waiting, cursor, &mut left)
                .await?;
            more |= end == End::StepIsFull;
            match end {
                End::Done => held::write(self.connection, subscription, None).await?,
                End::NoRoom | End::StepIsFull => {
                    if waiting.position != up_to {
                        held::write(self.connection, subscription, Some(waiting.position)).await?;
                    }
                    still.insert(subscription, waiting);
                }
            }
        }
        self.held = Held(still);
        Ok(more)
    }

    /// Passes on the events of one subscription.
    async fn pass_one_on(
        &mut self,
        subscription: i64,
        waiting: &mut Waiting,
        cursor: i64,
        left: &mut u32,
    ) -> Result<End, StoreError> {
        if !held::is_there(self.connection, subscription, &waiting.listener).await? {
            return Ok(End::Done);
        }
        while waiting.position < cursor {
            if !self.may_wait(&waiting.listener).await? {
                return Ok(End::NoRoom);
            }
            if *left == 0 {
                return Ok(End::StepIsFull);
            }
            let events = passing::after(self.connection, waiting.position, AHEAD).await?;
            for event in events.iter().take_while(|event| event.position <= cursor) {
                if *left == 0 {
                    return Ok(End::StepIsFull);
                }
                *left -= 1;
                if let Some(end) = self.pass_to(event, subscription).await? {
                    return Ok(end);
                }
                waiting.position = event.position;
            }
            if events.last().is_none_or(|event| event.position >= cursor) {
                waiting.position = cursor;
            }
        }
        Ok(End::Done)
    }

    /// Passes an event on to that subscription, if it matches. `Some`: the step cannot.
    async fn pass_to(
        &mut self,
        event: &Passing,
        subscription: i64,
    ) -> Result<Option<End>, StoreError> {
        let (Some(owner), true) = (&event.owner, event.is_passed_on()) else {
            return Ok(None);
        };
        let (up_to, after) = (event.position, subscription - 1);
        let found = pairs::of(self.connection, event, owner, up_to, after, 1).await?;
        let Some(pair) = found
            .first()
            .filter(|pair| pair.subscription == subscription && pair.is_workflow())
        else {
            return Ok(None);
        };
        if !self.has_room(pair).await? {
            return Ok(Some(End::NoRoom));
        }
        if !self.may_copy(event.bytes) {
            return Ok(Some(End::StepIsFull));
        }
        let to = ListeningSource {
            id: &pair.listener,
            owner: pair.runnable_owner.as_deref().unwrap_or_default(),
        };
        self.rooms
            .take(self.connection, event, to, self.now_ms)
            .await?;
        self.pairs_passed.enqueue(event, pair);
        self.woken.insert(pair.runnable()?);
        Ok(None)
    }
}

/// The end of passing on what waits for one subscription.
#[derive(PartialEq, Eq)]
enum End {
    /// Nothing waits any more.
    Done,
    /// There is no room for more.
    NoRoom,
    /// The step has done as much as it may.
    StepIsFull,
}
