//! Ids derived from stored rows, so that a repeated step creates the same ids.

use headwater_model::{
    id::{DeliveryId, InvocationId, SubscriptionId},
    time::EpochMs,
};

/// The stored numbers that an id is derived from; unique among the ids of its kind.
#[derive(Clone, Copy)]
pub struct Seed {
    /// The position of a row.
    pub row: i64,
    /// Distinguishes the ids derived from one row.
    pub number: i64,
}

impl Seed {
    /// The bits used in place of random ones in an id: 40 of each number.
    fn entropy(self) -> u128 {
        let half = |number: i64| u128::from(number.unsigned_abs() & 0xFF_FFFF_FFFF);
        (half(self.row) << 88) | (half(self.number) << 48)
    }
}

/// The id of an invocation derived from stored rows: unique per seed, and time-ordered like any.
pub fn invocation(now_ms: EpochMs, seed: Seed) -> InvocationId {
    InvocationId::new(now_ms, seed.entropy())
}

/// The id of a delivery derived from stored rows.
pub fn delivery(now_ms: EpochMs, seed: Seed) -> DeliveryId {
    DeliveryId::new(now_ms, seed.entropy())
}

/// The id of a subscription derived from stored rows.
pub fn subscription(now_ms: EpochMs, seed: Seed) -> SubscriptionId {
    SubscriptionId::new(now_ms, seed.entropy())
}
