//! Changing deliveries across webhooks, in bounded steps, oldest first.

use std::collections::BTreeSet;

use headwater_model::id::DeliveryId;
use headwater_store::{
    ChangedDeliveries, DeliveryChange, DeliveryFilter, DeliveryStep, StoreError, Viewer,
};

use super::{again, arms::Scope, discard, listing, reading::Reading, search};
use crate::{connection::Connection, walk::Direction};

pub(super) async fn step(
    connection: &Connection,
    viewer: &Viewer,
    filter: &DeliveryFilter,
    step: &DeliveryStep,
) -> Result<ChangedDeliveries, StoreError> {
    let scope = Scope::of(connection, viewer, filter).await?;
    let after = step.after.as_ref().map(DeliveryId::as_str);
    let oldest = Direction::Oldest;
    let mut walk = search::walk(connection, &scope, filter, oldest, (after, None)).await?;
    let mut done = ChangedDeliveries::default();
    let mut webhooks = BTreeSet::new();
    // Nothing is changed while the walk reads ahead.
    let mut reading = Reading::of(filter);
    let (mut found, mut last, mut searched) = (Vec::new(), None, 0);
    while searched < step.limit && !reading.is_over() {
        let Some(next) = walk.next(connection).await? else {
            break;
        };
        searched += 1;
        last = Some(next.id.clone());
        if reading.finds(connection, &next).await? {
            found.push(next);
        }
    }
    if let (Some(last), false) = (last, walk.is_over()) {
        done.continue_after = Some(listing::id(&last)?);
    }
    for one in found {
        let Some(standing) = scope.webhooks.get(&one.webhook_id) else {
            continue;
        };
        let is_changed = match step.change {
            DeliveryChange::Retry if !standing.is_active => {
                done.left_out += 1;
                false
            }
            DeliveryChange::Discard if !discard::is_possible(&one.state) => false,
            _ if step.is_dry => true,
            DeliveryChange::Retry => {
                again::make_due(connection, &one.id, standing.generation, step.now_ms).await?;
                true
            }
            DeliveryChange::Discard => discard::end(connection, &one.id, step.now_ms).await?,
        };
        if is_changed {
            done.changed += 1;
            webhooks.insert(one.webhook_id);
        }
    }
    let webhooks = webhooks.iter().map(|id| {
        id.parse()
            .map_err(|error| StoreError::Corrupt(format!("a delivery's webhook: {error}")))
    });
    done.webhooks = webhooks.collect::<Result<_, _>>()?;
    Ok(done)
}
