//! One piece of work that an actor waits for beside everything else.

use futures::future::BoxFuture;

/// Work in flight, or none.
pub(crate) struct InFlight<T>(Option<BoxFuture<'static, T>>);

impl<T> Default for InFlight<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T> InFlight<T> {
    /// Whether nothing is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.is_none()
    }

    /// Starts work, in place of the former.
    pub(crate) fn start(&mut self, work: impl Future<Output = T> + Send + 'static) {
        self.0 = Some(Box::pin(work));
    }

    /// Abandons the work.
    pub(crate) fn abandon(&mut self) {
        self.0 = None;
    }

    /// Waits for the work to end; forever if none is in flight. A wait that is dropped loses nothing.
    pub(crate) async fn ended(&mut self) -> T {
        let Some(work) = &mut self.0 else {
            return std::future::pending().await;
        };
        let ended = work.await;
        self.0 = None;
        ended
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_wait_that_is_dropped_loses_nothing() {
        let mut work = InFlight::default();
        assert!(work.is_idle() && work.ended().now_or_never().is_none());
        let (end, ended) = oneshot::channel();
        work.start(ended);
        assert!(work.ended().now_or_never().is_none());
        end.send(7).unwrap();
        assert!(!work.is_idle());
        assert_eq!(work.ended().await, Ok(7));
        assert!(work.is_idle());
    }

    #[tokio::test]
    async fn abandoned_work_ends_nothing() {
        let mut work = InFlight::default();
        work.start(std::future::ready(1));
        work.abandon();
        assert!(work.is_idle() && work.ended().now_or_never().is_none());
    }
}
