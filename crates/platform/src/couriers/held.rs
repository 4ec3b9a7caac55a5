//! The leases of one webhook's deliveries that this node holds.
//!
//! After a jump of the clock a claim may hand out deliveries that are here already. Then the new lease
//! takes the place of the one that ran out; and if the attempt had just been recorded, the claim
//! counts.

use std::collections::{HashMap, hash_map::Entry};

use headwater_model::id::DeliveryId;
use headwater_store::{AttemptRecord, ClaimedDelivery, DeliveryLease};

struct Holding {
    lease: DeliveryLease,
    /// Claimed again since the lease was last used.
    again: Option<Box<ClaimedDelivery>>,
}

/// Leases by delivery.
#[derive(Default)]
pub(super) struct HeldLeases(HashMap<DeliveryId, Holding>);

impl HeldLeases {
    pub(super) fn leases(&self) -> Vec<DeliveryLease> {
        let held = self.0.values();
        held.map(|holding| holding.lease.clone()).collect()
    }

    /// Keeps the lease of a claimed delivery, and returns the delivery unless it is here already.
    pub(super) fn insert(&mut self, claimed: ClaimedDelivery) -> Option<ClaimedDelivery> {
        let lease = claimed.lease.clone();
        match self.0.entry(lease.delivery_id.clone()) {
            Entry::Occupied(mut holding) => {
                *holding.get_mut() = Holding {
                    lease,
                    again: Some(Box::new(claimed)),
                };
                None
            }
            Entry::Vacant(free) => {
                free.insert(Holding { lease, again: None });
                Some(claimed)
            }
        }
    }

    /// Puts the latest lease into a record that is about to be written.
    pub(super) fn renew(&mut self, record: &mut AttemptRecord) {
        if let Some(holding) = self.0.get_mut(&record.lease.delivery_id) {
            holding.again = None;
            record.lease = holding.lease.clone();
        }
    }

    /// Whether the delivery was claimed again since this lease was used.
    pub(super) fn has_newer(&self, lease: &DeliveryLease) -> bool {
        let holding = self.0.get(&lease.delivery_id);
        holding.is_some_and(|holding| holding.lease != *lease)
    }

    /// Takes the latest lease out, to be given back.
    pub(super) fn take_lease(&mut self, id: &DeliveryId) -> Option<DeliveryLease> {
        self.0.remove(id).map(|holding| holding.lease)
    }

    /// Lets go of a delivery; returns it if it has been claimed again, to be attempted again.
    pub(super) fn let_go(&mut self, id: &DeliveryId) -> Option<ClaimedDelivery> {
        self.0.remove(id)?.again.map(|again| *again)
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;
    use headwater_store::{AfterAttempt, Attempt, NodeEpoch};

    use super::*;
    use crate::couriers::queue::tests::delivery;

    fn claimed(number: u32) -> ClaimedDelivery {
        let mut claimed = delivery(1, 1, 0);
        claimed.lease.number = number;
        claimed
    }

    fn record(lease: DeliveryLease) -> AttemptRecord {
        AttemptRecord {
            lease,
            attempt: Attempt {
                at_ms: EpochMs(0),
                cause: None,
                latency_ms: 0,
                status: Some(200),
                response_excerpt: None,
                error: None,
                failure: None,
                headers: None,
            },
            after: AfterAttempt::Delivered,
        }
    }

    #[test]
    fn what_is_claimed_twice_is_attempted_once_and_recorded_under_the_later_lease() {
        let mut held = HeldLeases::default();
        let first = held.insert(claimed(1)).unwrap();
        assert!(held.insert(claimed(2)).is_none());
        let mut record = record(first.lease.clone());
        held.renew(&mut record);
        assert_eq!(record.lease.number, 2);
        assert!(held.let_go(&first.lease.delivery_id).is_none());
        assert!(held.leases().is_empty());
    }

    #[test]
    fn a_claim_after_the_recording_is_attempted_again() {
        let mut held = HeldLeases::default();
        let first = held.insert(claimed(1)).unwrap();
        let mut record = record(first.lease.clone());
        held.renew(&mut record);
        assert!(!held.has_newer(&record.lease));
        assert!(held.insert(claimed(2)).is_none());
        assert!(held.has_newer(&record.lease));
        let again = held.let_go(&first.lease.delivery_id).unwrap();
        assert_eq!(again.lease.number, 2);
        assert_eq!(again.lease.epoch, NodeEpoch(1));
    }
}
