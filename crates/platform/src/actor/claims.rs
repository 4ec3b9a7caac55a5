//! Claims of work, which wait for the store.

use headwater_store::{LeaseTerm, StoreError};

use super::store_returns;
use crate::core::Core;

/// Claims under a lease of this node; as long as the store is unavailable, tries again, because nobody else comes back to
/// the work. A claim may have leased it although its answer was lost: that is given back first, or it would wait for the
/// lease's end, and what comes later would be before it.
pub(crate) async fn claimed<T, C, G>(
    core: &Core,
    claim: impl Fn(LeaseTerm) -> C,
    give_back: impl Fn(LeaseTerm) -> G,
) -> Result<T, StoreError>
where
    C: Future<Output = Result<T, StoreError>>,
    G: Future<Output = Result<(), StoreError>>,
{
    let mut lost: Option<LeaseTerm> = None;
    loop {
        let is_first = lost.is_none();
        let step = async {
            if let Some(term) = lost {
                give_back(term).await?;
            }
            let term = core.lease_term();
            lost = Some(term);
            claim(term).await
        };
        match step.await {
            Err(error @ StoreError::Unavailable { .. }) if !core.stopping.is_cancelled() => {
                if is_first {
                    tracing::error!(error = error.in_full(), "a claim waits for the store");
                }
                store_returns(&core.stopping).await;
            }
            ended => return ended,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering},
    };

    use super::*;
    use crate::testing::{HandClock, NoEngine, T0, config, core, memory};

    fn unavailable() -> StoreError {
        StoreError::unavailable("claiming", "connection closed")
    }

    /// Claims, and gives back, at a store that is away for some of the steps; returns them with the seconds of their terms.
    async fn steps(away: &[usize]) -> Vec<(&'static str, u64)> {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let engine = Arc::new(NoEngine);
        let core = core(memory(), engine, config(), Arc::clone(&clock)).await;
        let first_ms = core.lease_term().expires_at_ms;
        let steps = Mutex::new(Vec::new());
        let step = |name, term: LeaseTerm| {
            clock.0.fetch_add(1_000, Ordering::SeqCst);
            let mut steps = steps.lock().unwrap();
            steps.push((name, (term.expires_at_ms.0 - first_ms.0) / 1_000));
            match away.contains(&steps.len()) {
                true => Err(unavailable()),
                false => Ok(()),
            }
        };
        let claim = |term| std::future::ready(step("claim", term));
        let give_back = |term| std::future::ready(step("give back", term));
        claimed(&core, claim, give_back).await.unwrap();
        steps.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_is_tried_until_the_store_is_there_and_each_lost_one_is_given_back_first() {
        assert_eq!(steps(&[]).await, [("claim", 0)]);
        let all = [
            ("claim", 0),
            ("give back", 0),
            ("give back", 0),
            ("claim", 3),
            ("give back", 3),
            ("claim", 5),
        ];
        assert_eq!(steps(&[1, 2, 4]).await, all);
    }

    #[tokio::test(start_paused = true)]
    async fn a_node_that_stops_waits_for_no_store() {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let core = core(memory(), Arc::new(NoEngine), config(), clock).await;
        core.stopping.cancel();
        let claim = |_| std::future::ready(Err::<(), _>(unavailable()));
        let ended = claimed(&core, claim, |_| std::future::ready(Ok(()))).await;
        assert!(
            matches!(ended, Err(StoreError::Unavailable { .. })),
            "{ended:?}"
        );
    }
}
