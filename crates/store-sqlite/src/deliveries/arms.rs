//! The stretches of indexes in which deliveries of a viewer's webhooks are found, each in the order of ids.

use std::collections::{BTreeMap, BTreeSet};

use headwater_model::{
    id::DeliveryId,
    time::EpochMs,
    webhook::{AnswerKind, DeliveryState},
};
use headwater_store::{DeliveryFilter, StoreError, Viewer};
use rusqlite::{Connection, ToSql, params, types::Value};

use super::listing::{STATE, parts};
use crate::{
    connection::failed,
    row::{get, signed, to_json},
    walk::Direction,
    webhook_rows::Standing,
};

/// Ids have 48 bits of milliseconds.
const MS_MAX: u64 = (1 << 48) - 2;

/// A stretch of an index.
pub(super) struct Arm {
    /// Its condition on `?1` and `?2`, after the name of the index.
    condition: String,
    /// The webhook or the position of the event.
    key: Value,
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
    pub(super) fn of(
        connection: &Connection,
        viewer: &Viewer,
        filter: &DeliveryFilter,
    ) -> Result<Self, StoreError> {
        let since = filter.since_ms.unwrap_or_default().0.min(MS_MAX);
        let until = filter.until_ms.map_or(MS_MAX, |until| until.0.min(MS_MAX));
        let at = |ms: u64| DeliveryId::new(EpochMs(ms), 0).to_string();
        Ok(Self {
            webhooks: webhooks(connection, viewer, filter)?,
            after: at(since),
            before: at(until + 1),
            emitter: filter.emitter.as_ref().map(ToString::to_string),
            answer: filter.answer,
            is_mixed: !filter.ids.is_empty() || filter.event.is_some() || failure(filter).is_some(),
        })
    }

    /// The arms in which a filter's deliveries in these states are.
    pub(super) fn arms(
        &self,
        connection: &Connection,
        filter: &DeliveryFilter,
        states: &[DeliveryState],
    ) -> Result<Vec<Arm>, StoreError> {
        if !filter.ids.is_empty() {
            return Ok(of_ids(&filter.ids));
        }
        if filter.event.is_some() {
            return of_event(connection, filter);
        }
        let failure = failure(filter);
        let mut arms = Vec::new();
        for (id, standing) in &self.webhooks {
            let conditions = match failure {
                Some(_) => vec![
                    "INDEXED BY deliveries_failed WHERE webhook_id = ?1 AND answer = ?7
                     AND answer IS NOT NULL AND answer <> '2xx' AND ?2 IS NOT NULL"
                        .to_owned(),
                ],
                None => {
                    let parts = states
                        .iter()
                        .flat_map(|state| parts(standing, Some(*state)));
                    parts
                        .map(|part| format!("INDEXED BY deliveries_by_webhook WHERE {part}"))
                        .collect()
                }
            };
            arms.extend(conditions.into_iter().map(|condition| Arm {
                condition,
                key: Value::from(id.clone()),
                generation: standing.generation,
            }));
        }
        Ok(arms)
    }

    /// Up to `limit` deliveries of an arm, between two ids.
    pub(super) fn look(
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
                    (?6 IS NULL OR (SELECT emitter_id FROM delivered_events WHERE position = event_position) IS ?6)
                    AND (?7 IS NULL OR answer IS ?7)
                    AND (?8 IS NULL OR (SELECT {STATE} FROM webhooks WHERE id = webhook_id)
                         IN (SELECT value FROM json_each(?8))) AS matches
             FROM deliveries {} AND id > ?3 AND id < ?4 ORDER BY id {order} LIMIT ?5",
            arm.condition
        );
        let states = match self.is_mixed {
            true => Some(to_json(&states)?),
            false => None,
        };
        let answer = self.answer.map(|answer| answer.to_string());
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
        let parameters: [&dyn ToSql; 8] = [
            &arm.key,
            &arm.generation,
            &after,
            &before,
            &limit,
            &self.emitter,
            &answer,
            &states,
        ];
        let mut rows = statement.query(&parameters[..]).map_err(&failed)?;
        let mut looked = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
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
        condition: "WHERE id = ?1 AND ?2 IS NOT NULL".to_owned(),
        key: Value::from(id.to_owned()),
        generation: 0,
    };
    each.into_iter().map(arm).collect()
}

/// The answer that leads to deliveries through the index of failures.
fn failure(filter: &DeliveryFilter) -> Option<AnswerKind> {
    filter.answer.filter(|answer| !answer.is_success())
}

/// The arms of each event with that id: of one emitter, or of all that have one.
fn of_event(connection: &Connection, filter: &DeliveryFilter) -> Result<Vec<Arm>, StoreError> {
    let failed = failed("looking for the events of deliveries");
    let Some(id) = filter.event else {
        return Ok(Vec::new());
    };
    let mut statement = connection
        .prepare_cached(
            "SELECT position FROM delivered_events INDEXED BY delivered_events_by_id
             WHERE ms = ?1 AND sequence = ?2 AND (?3 IS NULL OR emitter_id = ?3)",
        )
        .map_err(&failed)?;
    let emitter = filter.emitter.as_ref().map(ToString::to_string);
    let positions = statement
        .query_map(params![signed(id.ms), id.sequence, emitter], |row| {
            row.get::<_, i64>(0)
        })
        .map_err(&failed)?;
    let arm = |position| Arm {
        condition: "INDEXED BY deliveries_by_event WHERE event_position = ?1 AND ?2 IS NOT NULL"
            .to_owned(),
        key: Value::from(position),
        generation: 0,
    };
    let arms = positions.map(|position| position.map(arm));
    arms.collect::<Result<_, _>>().map_err(&failed)
}

/// The webhooks of a filter that the viewer may see.
fn webhooks(
    connection: &Connection,
    viewer: &Viewer,
    filter: &DeliveryFilter,
) -> Result<BTreeMap<String, Standing>, StoreError> {
    let failed = failed("looking for webhooks");
    let workspaces: Vec<&str> = viewer.workspace_ids.iter().map(|id| id.as_str()).collect();
    let one = match &filter.webhook_id {
        Some(_) => "id = ?3",
        None => "?3 IS NULL",
    };
    let mut statement = connection
        .prepare_cached(&format!(
            "SELECT id, active, generation, given_up_at_ms FROM webhooks
             WHERE (user_id = ?1 OR workspace_id IN (SELECT value FROM json_each(?2))) AND {one}
               AND (?4 IS NULL OR workspace_id = ?4)"
        ))
        .map_err(&failed)?;
    let parameters = params![
        viewer.user_id.as_str(),
        to_json(&workspaces)?,
        filter.webhook_id.as_ref().map(|id| id.as_str()),
        filter.workspace_id.as_ref().map(|id| id.as_str())
    ];
    let webhooks = statement
        .query_map(parameters, |row| {
            let standing = Standing {
                is_active: row.get("active")?,
                generation: row.get("generation")?,
                given_up_at_ms: row.get("given_up_at_ms")?,
            };
            Ok((row.get("id")?, standing))
        })
        .map_err(&failed)?;
    webhooks.collect::<Result<_, _>>().map_err(&failed)
}

#[cfg(test)]
mod tests {
    use headwater_model::webhook::AttemptFailure;

    use super::*;
    use crate::{connection, migration};

    #[test]
    fn every_arm_reads_an_index_in_its_order() {
        let connection = connection::in_memory().unwrap();
        migration::run(&connection).unwrap();
        let standing = Standing {
            is_active: true,
            generation: 1,
            given_up_at_ms: Some(1),
        };
        let scope = Scope {
            webhooks: BTreeMap::from([("wh_1".to_owned(), standing)]),
            after: String::new(),
            before: "~".to_owned(),
            emitter: None,
            answer: None,
            is_mixed: true,
        };
        let failed = DeliveryFilter {
            answer: Some(AnswerKind::None(AttemptFailure::Timeout)),
            ..DeliveryFilter::default()
        };
        let mut arms = scope
            .arms(&connection, &failed, &[DeliveryState::Dead])
            .unwrap();
        let all = DeliveryFilter::default();
        arms.extend(scope.arms(&connection, &all, &DeliveryState::ALL).unwrap());
        assert_eq!(arms.len(), 8);
        for arm in arms {
            let sql = format!(
                "EXPLAIN QUERY PLAN SELECT ?7, id FROM deliveries {} AND id > ?3 AND id < ?4 ORDER BY id DESC",
                arm.condition
            );
            let mut statement = connection.prepare(&sql).unwrap();
            let steps = statement.raw_query().mapped(|row| row.get("detail"));
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(steps[0].contains("id>? AND id<?"), "{steps:?}");
            assert_eq!(steps.len(), 1, "{steps:?}");
        }
    }
}
