//! The stretches of indexes in which deliveries of a viewer's webhooks are found, each in the order of ids.

use std::collections::{BTreeMap, BTreeSet};

use headwater_model::{
    id::DeliveryId,
    time::EpochMs,
    webhook::{AnswerKind, DeliveryState},
};
use headwater_store::{DeliveryFilter, StoreError, Viewer};

use super::listing::{STATE, parts};
use crate::{
    connection::{Connection, Params, failed},
    page::Parameter,
    row::{get, name_of, signed},
    walk::Direction,
    webhook_rows::Standing,
};

/// Ids have 48 bits of milliseconds.
const MS_MAX: u64 = (1 << 48) - 2;

/// A stretch of an index.
pub(super) struct Arm {
    /// Its condition on `$1` and `$2`.
    condition: String,
    /// The webhook or the position of the event.
    key: Parameter<'static>,
    generation: i64,
}

/// A delivery that was looked at.
pub(super) struct Looked {
    pub(super) id: String,
    pub(super) webhook_id: String,
    /// As it is written: pending also where it is dead since its webhook became inactive.
    pub(super) state: String,
    /// Whether the filter describes it.
    pub(super) matches: bool,
}

/// A filter with the webhooks of its viewer.
pub(super) struct Scope {
    pub(super) webhooks: BTreeMap<String, Standing>,
    /// Ids between these two alone.
    pub(super) after: String,
    pub(super) before: String,
    emitter: Option<String>,
    answer: Option<AnswerKind>,
    /// Whether the arms do not tell states apart.
    is_mixed: bool,
}

impl Scope {
    pub(super) async fn of(
        connection: &Connection,
        viewer: &Viewer,
        filter: &DeliveryFilter,
    ) -> Result<Self, StoreError> {
        let since = filter.since_ms.unwrap_or_default().0.min(MS_MAX);
        let until = filter.until_ms.map_or(MS_MAX, |until| until.0.min(MS_MAX));
        let at = |ms: u64| DeliveryId::new(EpochMs(ms), 0).to_string();
        Ok(Self {
            webhooks: webhooks(connection, viewer, filter).await?,
            after: at(since),
            before: at(until + 1),
            emitter: filter.emitter.as_ref().map(ToString::to_string),
            answer: filter.answer,
            is_mixed: !filter.ids.is_empty() || filter.event.is_some() || failure(filter).is_some(),
        })
    }

    /// The arms in which a filter's deliveries in these states are.
    pub(super) async fn arms(
        &self,
        connection: &Connection,
        filter: &DeliveryFilter,
        states: &[DeliveryState],
    ) -> Result<Vec<Arm>, StoreError> {
        if !filter.ids.is_empty() {
            return Ok(of_ids(&filter.ids));
        }
        if filter.event.is_some() {
            return of_event(connection, filter).await;
        }
        let failure = failure(filter);
        let mut arms = Vec::new();
        for (id, standing) in &self.webhooks {
            let conditions = match failure {
                Some(_) => vec![
                    "webhook_id = $1 AND answer = $7
                     AND answer IS NOT NULL AND answer <> '2xx' AND $2::bigint IS NOT NULL"
                        .to_owned(),
                ],
                None => {
                    let states = states.iter();
                    states
                        .flat_map(|state| parts(standing, Some(*state)))
                        .collect()
                }
            };
            arms.extend(conditions.into_iter().map(|condition| Arm {
                condition,
                key: Box::new(id.clone()),
                generation: standing.generation,
            }));
        }
        Ok(arms)
    }

    /// Up to `limit` deliveries of an arm, between two ids.
    pub(super) async fn look(
        &self,
        connection: &Connection,
        arm: &Arm,
        (after, before): (&str, &str),
        states: &[DeliveryState],
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Looked>, StoreError> {
        let failed = failed("searching deliveries");
        let order = direction.order();
        let sql = format!(
            "SELECT id, webhook_id, state,
                    ($6::text IS NULL OR (SELECT emitter_id FROM delivered_events
                                          WHERE delivered_events.position = event_position) IS NOT DISTINCT FROM $6)
                    AND ($7::text IS NULL OR answer IS NOT DISTINCT FROM $7)
                    AND ($8::text[] IS NULL OR (SELECT {STATE} FROM webhooks
                                                WHERE webhooks.id = webhook_id) = ANY($8)) AS matches
             FROM deliveries WHERE {} AND id > $3 AND id < $4 ORDER BY id {order} LIMIT $5",
            arm.condition
        );
        let states = states.iter().map(name_of);
        let states = match self.is_mixed {
            true => Some(states.collect::<Result<Vec<_>, _>>()?),
            false => None,
        };
        let answer = self.answer.map(|answer| answer.to_string());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let parameters: Params<'_> = &[
            &*arm.key,
            &arm.generation,
            &after,
            &before,
            &limit,
            &self.emitter,
            &answer,
            &states,
        ];
        let rows = connection.query(&sql, parameters).await.map_err(&failed)?;
        let mut looked = Vec::new();
        for row in &rows {
            let webhook_id: String = get(row, "webhook_id")?;
            let is_visible = self.webhooks.contains_key(&webhook_id);
            looked.push(Looked {
                id: get(row, "id")?,
                webhook_id,
                state: get(row, "state")?,
                matches: is_visible && get(row, "matches")?,
            });
        }
        Ok(looked)
    }
}

/// An arm for each of the ids.
fn of_ids(ids: &[DeliveryId]) -> Vec<Arm> {
    let each: BTreeSet<&str> = ids.iter().map(DeliveryId::as_str).collect();
    let arm = |id: &str| Arm {
        condition: "id = $1 AND $2::bigint IS NOT NULL".to_owned(),
        key: Box::new(id.to_owned()),
        generation: 0,
    };
    each.into_iter().map(arm).collect()
}

/// The answer that leads to deliveries through the index of failures.
fn failure(filter: &DeliveryFilter) -> Option<AnswerKind> {
    filter.answer.filter(|answer| !answer.is_success())
}

/// The arms of each event with that id: of one emitter, or of all that have one.
async fn of_event(
    connection: &Connection,
    filter: &DeliveryFilter,
) -> Result<Vec<Arm>, StoreError> {
    let failed = failed("looking for the events of deliveries");
    let Some(id) = filter.event else {
        return Ok(Vec::new());
    };
    let emitter = filter.emitter.as_ref().map(|id| id.as_str());
    let rows = connection
        .query(
            "SELECT position FROM delivered_events
             WHERE ms = $1 AND sequence = $2 AND ($3::text IS NULL OR emitter_id = $3)",
            &[&signed(id.ms), &signed(id.sequence), &emitter],
        )
        .await
        .map_err(&failed)?;
    let arm = |row| {
        Ok(Arm {
            condition: "event_position = $1 AND $2::bigint IS NOT NULL".to_owned(),
            key: Box::new(get::<i64>(row, "position")?),
            generation: 0,
        })
    };
    rows.iter().map(arm).collect()
}

/// The webhooks of a filter that the viewer may see.
async fn webhooks(
    connection: &Connection,
    viewer: &Viewer,
    filter: &DeliveryFilter,
) -> Result<BTreeMap<String, Standing>, StoreError> {
    let failed = failed("looking for webhooks");
    let workspaces: Vec<&str> = viewer.workspace_ids.iter().map(|id| id.as_str()).collect();
    let one = filter.webhook_id.as_ref().map(|id| id.as_str());
    let within = filter.workspace_id.as_ref().map(|id| id.as_str());
    let rows = connection
        .query(
            "SELECT id, active, generation, given_up_at_ms FROM webhooks
             WHERE (user_id = $1 OR workspace_id = ANY($2)) AND ($3::text IS NULL OR id = $3)
               AND ($4::text IS NULL OR workspace_id = $4)",
            &[&viewer.user_id.as_str(), &workspaces, &one, &within],
        )
        .await
        .map_err(&failed)?;
    let of_each = rows
        .iter()
        .map(|row| Ok((get(row, "id")?, Standing::of(row)?)));
    of_each.collect()
}
