//! The memory that messages under way may take together. Without it the largest message times the number
//! of connections would be the bound.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The unit of accounting.
const BLOCK_BYTES: usize = 64 * 1024;

/// The room of a server.
#[derive(Debug, Clone)]
pub(super) struct Room {
    blocks: Arc<Semaphore>,
}

impl Room {
    pub(super) fn new(bytes: usize) -> Self {
        let blocks = bytes.div_ceil(BLOCK_BYTES).min(Semaphore::MAX_PERMITS);
        Self {
            blocks: Arc::new(Semaphore::new(blocks)),
        }
    }

    /// A share that holds nothing yet.
    pub(super) fn share(&self) -> Share {
        Share {
            room: self.clone(),
            held: None,
        }
    }
}

/// The room that one message takes, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    room: Room,
    held: Option<OwnedSemaphorePermit>,
}

impl Share {
    /// Makes the share large enough for so many bytes. False if there is no room left; it stays as it was then.
    pub(super) fn grow_to(&mut self, bytes: usize) -> bool {
        let held = self
            .held
            .as_ref()
            .map_or(0, OwnedSemaphorePermit::num_permits);
        let missing = bytes.div_ceil(BLOCK_BYTES).saturating_sub(held);
        if missing == 0 {
            return true;
        }
        let Ok(missing) = u32::try_from(missing) else {
            return false;
        };
        let Ok(more) = self.room.blocks.clone().try_acquire_many_owned(missing) else {
            return false;
        };
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
        true
    }

    /// Gives everything back.
    pub(super) fn release(&mut self) {
        self.held = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_together_stay_within_the_room_and_give_back_what_they_held() {
        let room = Room::new(4 * BLOCK_BYTES);
        let mut first = room.share();
        let mut second = room.share();
        assert!(first.grow_to(3 * BLOCK_BYTES));
        assert!(second.grow_to(1));
        assert!(second.grow_to(BLOCK_BYTES));
        assert!(!second.grow_to(BLOCK_BYTES + 1));
        first.release();
        assert!(second.grow_to(4 * BLOCK_BYTES));
        drop(second);
        assert!(first.grow_to(4 * BLOCK_BYTES));
    }
}
