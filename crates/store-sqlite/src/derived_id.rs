//! Ids that follow from stored rows, so that a step that is taken again makes none twice.

use headwater_model::id::{DeliveryId, InvocationId, SubscriptionId};

/// The id of an invocation that follows from stored rows: unique per pair, and time-ordered like any.
pub(crate) fn invocation(now_ms: u64, pair: (i64, i64)) -> InvocationId {
    InvocationId::new(now_ms, entropy_of(pair))
}

/// The bits that stand for random ones in an id that follows from stored rows: 40 of each.
fn entropy_of((first, second): (i64, i64)) -> u128 {
    let half = |number: i64| u128::from(number.unsigned_abs() & 0xFF_FFFF_FFFF);
    (half(first) << 88) | (half(second) << 48)
}

/// The id of a delivery that follows from stored rows.
pub(crate) fn delivery(now_ms: u64, pair: (i64, i64)) -> DeliveryId {
    DeliveryId::new(now_ms, entropy_of(pair))
}

/// The id of a subscription that follows from stored rows.
pub(crate) fn subscription(now_ms: u64, pair: (i64, i64)) -> SubscriptionId {
    SubscriptionId::new(now_ms, entropy_of(pair))
}
