//! Work that takes long and waits for nothing, done beside the tasks: others are served meanwhile.
//!
//! Not responsible for work that waits, such as for a file or a process.

use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::error::PlatformError;

/// Pieces of work at once. The others wait in the order in which they came.
const AT_ONCE: usize = 4;

/// The place for such work.
pub(crate) struct Aside {
    room: Arc<Semaphore>,
}

impl Default for Aside {
    fn default() -> Self {
        Self {
            room: Arc::new(Semaphore::new(AT_ONCE)),
        }
    }
}

impl Aside {
    /// Does work on a thread that nobody else waits for.
    ///
    /// # Errors
    /// `Internal` when it panics.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PlatformError> {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            // The one who has asked may have gone meanwhile: it is the work that takes the room.
            drop(room);
            done
        });
        done.await
            .map_err(|error| PlatformError::Internal(format!("work ended early: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::{
            atomic::{AtomicBool, Ordering},
            mpsc,
        },
    };

    use super::*;

    #[tokio::test]
    async fn so_many_pieces_are_done_at_once_even_if_nobody_waits_for_them() {
        let aside = Aside::default();
        let mut ends = Vec::new();
        for _ in 0..AT_ONCE {
            let (end, ended) = mpsc::channel::<()>();
            ends.push(end);
            let mut work = pin!(aside.run(move || ended.recv()));
            assert!(futures::poll!(&mut work).is_pending());
        }
        assert_eq!(aside.room.available_permits(), 0);
        let has_begun = Arc::new(AtomicBool::new(false));
        let begun = Arc::clone(&has_begun);
        let mut next = pin!(aside.run(move || begun.store(true, Ordering::SeqCst)));
        assert!(futures::poll!(&mut next).is_pending());
        assert!(!has_begun.load(Ordering::SeqCst));
        ends.pop();
        next.await.unwrap();
        assert!(has_begun.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn work_that_panics_is_told_and_gives_its_room_back() {
        let aside = Aside::default();
        let failed = aside.run(|| panic!("no")).await;
        assert!(matches!(failed, Err::<(), _>(PlatformError::Internal(_))));
        assert_eq!(aside.room.available_permits(), AT_ONCE);
    }
}
