//! Results of attempts: their effect on the deliveries, and on the health of the webhook.

use std::collections::HashMap;

use futures::try_join;
use headwater_model::{id::WebhookId, time::EpochMs, webhook::AnswerKind};
use headwater_store::{
    AfterAttempt, Attempt, AttemptRecord, Conflict, DisabledWebhook, RecordedAttempts, StoreError,
};

use super::untrimmed;
use crate::{
    append,
    connection::{Connection, failed},
    emitters,
    row::{get, list, name_of, signed, to_json},
    webhook_rows::{self, Standing},
};

pub(super) async fn record(
    connection: &Connection,
    webhook: &WebhookId,
    attempts: &[AttemptRecord],
    disabled: Option<&DisabledWebhook>,
    now_ms: EpochMs,
) -> Result<RecordedAttempts, StoreError> {
    let webhook_id = webhook.as_str();
    let standing = webhook_rows::kept_standing(connection, webhook_id).await?;
    let Some(Standing { generation, .. }) = standing else {
        let refused = |_: &_| Err(webhook_rows::gone(webhook));
        return Ok(RecordedAttempts {
            results: attempts.iter().map(refused).collect(),
            disabled: false,
        });
    };
    let ended = end(connection, webhook_id, generation, attempts, now_ms).await?;
    let results = (1..).zip(attempts).map(|(place, _)| {
        let is_ended = ended.contains_key(&place).then_some(());
        is_ended.ok_or_else(|| Conflict::LeaseLost.into())
    });
    let results: Vec<Result<(), StoreError>> = results.collect();
    let taken = || {
        attempts
            .iter()
            .zip(&results)
            .filter(|(_, result)| result.is_ok())
    };
    try_join!(
        insert(connection, attempts, &ended),
        note_failing(connection, webhook_id, taken().map(|(record, _)| record)),
    )?;
    // Attempts that ended too late, or went to another URL, say nothing about the webhook's present health.
    let is_current = attempts.is_empty() || taken().next().is_some();
    let mut is_disabled = false;
    if let Some(disabled) = disabled.filter(|_| is_current) {
        is_disabled = webhook_rows::is_active_at(connection, webhook_id, &disabled.url).await?;
        if is_disabled {
            disable(connection, webhook_id, disabled, now_ms).await?;
        }
    }
    Ok(RecordedAttempts {
        results,
        disabled: is_disabled,
    })
}

/// Ends the leases that still hold and applies the consequences of their attempts: of several of one lease, the first one's.
/// Returns the deliveries' positions by the attempts' places, which begin with 1.
async fn end(
    connection: &Connection,
    webhook_id: &str,
    generation: i64,
    attempts: &[AttemptRecord],
    now_ms: EpochMs,
) -> Result<HashMap<i64, i64>, StoreError> {
    let after: Vec<_> = attempts
        .iter()
        .map(|record| match record.after {
            AfterAttempt::Delivered => ("delivered", 0, Some(signed(now_ms))),
            // 0 is for those that were never attempted.
            AfterAttempt::RetryAt(at_ms) => ("pending", signed(at_ms).max(1), None),
            AfterAttempt::Dead => ("dead", 0, Some(signed(now_ms))),
        })
        .collect();
    let ended = connection
        .query(
            "UPDATE deliveries
             SET state = ended.state, due_at_ms = ended.due_at_ms, ended_at_ms = ended.at_ms, attempts = attempts + 1,
                 lease_epoch = NULL, lease_expires_at_ms = NULL, is_again = (is_again AND ended.state = 'pending'),
                 answer = ended.answer
             FROM (SELECT DISTINCT ON (id, epoch, number) *
                   FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[])
                        WITH ORDINALITY AS one (id, epoch, number, state, due_at_ms, at_ms, answer, place)
                   ORDER BY id, epoch, number, place) AS ended
             WHERE deliveries.id = ended.id AND lease_epoch = epoch AND lease_number = number
               AND (webhook_id = $8 AND generation = $9) IS TRUE
             RETURNING place, position",
            &[
                &list(attempts, |of| of.lease.delivery_id.as_str()),
                &list(attempts, |of| signed(of.lease.epoch.0)),
                &list(attempts, |of| signed(of.lease.number)),
                &list(&after, |(state, _, _)| *state),
                &list(&after, |(_, due_at_ms, _)| *due_at_ms),
                &list(&after, |(_, _, ended_at_ms)| *ended_at_ms),
                &list(attempts, |of| {
                    AnswerKind::of(of.attempt.status, of.attempt.failure).to_string()
                }),
                &webhook_id,
                &generation,
            ],
        )
        .await
        .map_err(failed("recording attempts"))?;
    let ended = ended.iter();
    ended
        .map(|row| Ok((get(row, "place")?, get(row, "position")?)))
        .collect()
}

/// Writes the attempts whose leases held.
async fn insert(
    connection: &Connection,
    attempts: &[AttemptRecord],
    ended: &HashMap<i64, i64>,
) -> Result<(), StoreError> {
    let rows = (1..).zip(attempts).filter_map(|(place, of)| {
        let position = ended.get(&place)?;
        Some(AttemptRow::of(*position, of))
    });
    let rows: Vec<AttemptRow<'_>> = rows.collect::<Result<_, _>>()?;
    if rows.is_empty() {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO attempts (delivery_position, number, at_ms, latency_ms, status, response_excerpt, error, failure,
                                   request_headers, response_headers, cause)
             SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[],
                                  $7::text[], $8::text[], $9::text[], $10::text[], $11::text[])",
            &[
                &list(&rows, |row| row.position),
                &list(&rows, |row| signed(row.number)),
                &list(&rows, |row| signed(row.attempt.at_ms)),
                &list(&rows, |row| signed(row.attempt.latency_ms)),
                &list(&rows, |row| row.attempt.status.map(signed)),
                &list(&rows, |row| row.attempt.response_excerpt.as_deref()),
                &list(&rows, |row| row.attempt.error.as_deref()),
                &list(&rows, |row| row.failure.as_deref()),
                &list(&rows, |row| row.request_headers.as_deref()),
                &list(&rows, |row| row.response_headers.as_deref()),
                &list(&rows, |row| row.cause.as_deref()),
            ],
        )
        .await
        .map_err(failed("recording attempts"))
        .map(drop)
}

/// An attempt as its row.
struct AttemptRow<'a> {
    position: i64,
    number: u32,
    attempt: &'a Attempt,
    failure: Option<String>,
    request_headers: Option<String>,
    response_headers: Option<String>,
    cause: Option<String>,
}

impl<'a> AttemptRow<'a> {
    fn of(position: i64, record: &'a AttemptRecord) -> Result<Self, StoreError> {
        let attempt = &record.attempt;
        let headers = attempt.headers.as_ref();
        let response = headers.map(|headers| &headers.response);
        let response = response.filter(|headers| !headers.is_empty());
        Ok(Self {
            position,
            number: record.lease.number,
            attempt,
            failure: attempt.failure.as_ref().map(name_of).transpose()?,
            request_headers: headers.map(|of| to_json(&of.request)).transpose()?,
            response_headers: response.map(to_json).transpose()?,
            cause: attempt.cause.as_ref().map(name_of).transpose()?,
        })
    }
}

/// Records since when every attempt of the webhook has failed, and that it has delivered ones to trim.
async fn note_failing<'a>(
    connection: &Connection,
    webhook_id: &str,
    recorded: impl Iterator<Item = &'a AttemptRecord>,
) -> Result<(), StoreError> {
    let (mut has_recorded, mut has_delivered, mut failing_since_ms) = (false, false, None);
    for record in recorded {
        has_recorded = true;
        if record.after == AfterAttempt::Delivered {
            (has_delivered, failing_since_ms) = (true, None);
        } else {
            failing_since_ms = failing_since_ms.or(Some(signed(record.attempt.at_ms)));
        }
    }
    let since = match (has_recorded, has_delivered) {
        (false, _) => return Ok(()),
        (true, true) => "$2",
        (true, false) => "coalesce(failing_since_ms, $2)",
    };
    let noted = format!(
        "UPDATE webhooks SET failing_since_ms = {since} WHERE id = $1 AND failing_since_ms IS DISTINCT FROM {since}"
    );
    let since = async {
        connection
            .execute(&noted, &[&webhook_id, &failing_since_ms])
            .await
            .map_err(failed("noting since when a webhook fails"))
    };
    let to_trim = async {
        match has_delivered {
            true => untrimmed::note(connection, webhook_id).await,
            false => Ok(()),
        }
    };
    try_join!(since, to_trim).map(drop)
}

async fn disable(
    connection: &Connection,
    webhook_id: &str,
    disabled: &DisabledWebhook,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    webhook_rows::disable(connection, webhook_id, &disabled.reason, now_ms).await?;
    let emitter = disabled.emitter.as_str();
    let has_log = emitters::is_there(connection, emitter).await?;
    // The emitter may be deleted by now; then there is no log for the event.
    match has_log {
        true => {
            append::alone(
                connection,
                emitter,
                None,
                std::slice::from_ref(&disabled.event),
                now_ms,
            )
            .await
        }
        false => Ok(()),
    }
}
