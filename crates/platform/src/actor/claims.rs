//! Claims of work that an actor asks for one after the other, over times at which the store is away.

use std::{mem, sync::Arc};

use headwater_model::time::EpochMs;
use headwater_store::{LeaseTerm, StoreError};
use tokio::sync::Mutex;

use super::store_returns;
use crate::core::Core;

/// The claims of one actor. One whose answer is lost may have leased work, which nobody else comes back to before the
/// lease's end: it is given back before the next claim of this actor, or what comes later would be before it.
#[derive(Clone, Default)]
pub(crate) struct Claims(Arc<Mutex<Claiming>>);

#[derive(Default)]
struct Claiming {
    /// The term of a claim that was not answered.
    lost: Option<LeaseTerm>,
    /// When the term of the last claim ends: no two have the same.
    last_ms: EpochMs,
    /// Whether the store is away, as far as is known.
    is_waiting: bool,
}

impl Claims {
    /// Claims under a lease of this node. If the store is unavailable, waits a moment before it says so: the actor may
    /// claim again at once.
    ///
    /// # Errors
    /// Those of the store.
    pub(crate) async fn claim<T, C, G>(
        &self,
        core: &Core,
        claim: impl FnOnce(LeaseTerm) -> C,
        give_back: impl FnOnce(LeaseTerm) -> G,
    ) -> Result<T, StoreError>
    where
        C: Future<Output = Result<T, StoreError>>,
        G: Future<Output = Result<(), StoreError>>,
    {
        let mut claiming = self.0.lock().await;
        let claimed = async {
            let now_ms = core.env.now_ms();
            if let Some(term) = claiming.lost.filter(|term| term.expires_at_ms > now_ms) {
                give_back(term).await?;
            }
            let term = core.claim_term(claiming.last_ms);
            claiming.last_ms = term.expires_at_ms;
            claiming.lost = Some(term);
            claim(term).await
        }
        .await;
        if let Err(error @ StoreError::Unavailable { .. }) = &claimed {
            if !mem::replace(&mut claiming.is_waiting, true) {
                tracing::error!(error = error.in_full(), "claims wait for the store");
            }
            store_returns(&core.stopping).await;
        } else {
            claiming.lost = None;
            claiming.is_waiting = false;
        }
        claimed
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::ready,
        sync::{
            Mutex,
            atomic::{AtomicU64, Ordering},
        },
    };

    use headwater_store::Conflict;

    use super::*;
    use crate::testing::{HandClock, NoEngine, T0, config, core, memory};

    /// The ends of the terms of claims, and of those that were given back, at a store that is away for some of the steps.
    async fn steps(claims: usize, away: &[usize]) -> Vec<(&'static str, u64)> {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let core = core(memory(), Arc::new(NoEngine), config(), clock).await;
        let begun_ms = core.lease_term().expires_at_ms.0;
        let steps = Mutex::new(Vec::new());
        let step = |name, term: LeaseTerm| {
            let mut steps = steps.lock().unwrap();
            steps.push((name, term.expires_at_ms.0 - begun_ms));
            ready(match away.contains(&steps.len()) {
                true => Err(StoreError::unavailable("claiming", "connection closed")),
                false => Ok(()),
            })
        };
        let of_actor = Claims::default();
        for _ in 0..claims {
            let claim = |term| step("claim", term);
            let claimed = of_actor
                .claim(&core, claim, |term| step("give back", term))
                .await;
            let is_away = away.contains(&steps.lock().unwrap().len());
            assert_eq!(claimed.is_err(), is_away);
        }
        steps.into_inner().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn no_two_claims_have_the_same_term_nor_one_that_other_leases_have() {
        // The clock stands still, and the terms of other leases are even.
        assert_eq!(
            steps(3, &[]).await,
            [("claim", 1), ("claim", 3), ("claim", 5)]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_that_was_lost_is_given_back_before_the_next() {
        let all = [
            ("claim", 1),
            ("give back", 1),
            ("give back", 1),
            ("claim", 3),
            ("give back", 3),
            ("claim", 5),
            ("claim", 7),
        ];
        assert_eq!(steps(5, &[1, 2, 4]).await, all);
    }

    #[tokio::test(start_paused = true)]
    async fn a_lost_claim_that_has_run_out_is_left() {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let core = core(memory(), Arc::new(NoEngine), config(), Arc::clone(&clock)).await;
        let claims = Claims::default();
        let away = |_| ready(Err::<(), _>(StoreError::unavailable("claiming", "away")));
        let give_back = |_| async { panic!("nothing is leased any more") };
        assert!(claims.claim(&core, away, give_back).await.is_err());
        clock.0.fetch_add(2 * 60_000, Ordering::SeqCst);
        let claimed = claims.claim(&core, |_| ready(Ok(())), give_back).await;
        claimed.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_claim_that_is_refused_has_leased_nothing() {
        let clock = Arc::new(HandClock(AtomicU64::new(T0.0)));
        let core = core(memory(), Arc::new(NoEngine), config(), clock).await;
        let claims = Claims::default();
        let refused = |_| ready(Err::<(), _>(Conflict::LeaseLost.into()));
        let give_back = |_| async { panic!("nothing was leased") };
        assert!(claims.claim(&core, refused, give_back).await.is_err());
        let claimed = claims.claim(&core, |_| ready(Ok(())), give_back).await;
        claimed.unwrap();
    }
}
