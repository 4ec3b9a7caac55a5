//! Results of attempts: their effect on the deliveries, and on the health of the webhook.

use headwater_model::{id::WebhookId, time::EpochMs, webhook::AnswerKind};
use headwater_store::{
    AfterAttempt, Attempt, AttemptRecord, Conflict, DisabledWebhook, RecordedAttempts, StoreError,
};
use rusqlite::{Connection, OptionalExtension as _, params};

use crate::{
    append,
    connection::{ExecutePrepared as _, failed},
    emitters,
    row::{name_of, signed, to_json},
    webhook_rows::{self, Standing},
};

pub(super) fn record(
    connection: &Connection,
    webhook: &WebhookId,
    attempts: &[AttemptRecord],
    disabled: Option<DisabledWebhook>,
    now_ms: EpochMs,
) -> Result<RecordedAttempts, StoreError> {
    let webhook_id = webhook.as_str();
    let Some(Standing { generation, .. }) = webhook_rows::standing(connection, webhook_id)? else {
        let refused = |_: &_| Err(webhook_rows::gone(webhook));
        return Ok(RecordedAttempts {
            results: attempts.iter().map(refused).collect(),
            disabled: false,
        });
    };
    let mut results = Vec::with_capacity(attempts.len());
    for record in attempts {
        results.push(
            match end(connection, webhook_id, generation, record, now_ms)? {
                true => Ok(()),
                false => Err(Conflict::LeaseLost.into()),
            },
        );
    }
    let taken = || {
        attempts
            .iter()
            .zip(&results)
            .filter(|(_, result)| result.is_ok())
    };
    note_failing(connection, webhook_id, taken().map(|(record, _)| record))?;
    // Attempts that ended too late, or went to another URL, say nothing about the webhook's present health.
    let is_current = attempts.is_empty() || taken().next().is_some();
    let mut is_disabled = false;
    if let Some(disabled) = disabled.filter(|_| is_current) {
        is_disabled = webhook_rows::is_active_at(connection, webhook_id, &disabled.url)?;
        if is_disabled {
            disable(connection, webhook_id, &disabled, now_ms)?;
        }
    }
    Ok(RecordedAttempts {
        results,
        disabled: is_disabled,
    })
}

/// Ends the lease and applies the attempt's consequence. False: the lease was lost.
fn end(
    connection: &Connection,
    webhook_id: &str,
    generation: i64,
    AttemptRecord {
        lease,
        attempt,
        after,
    }: &AttemptRecord,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let (state, due_at_ms, ended_at_ms) = match after {
        AfterAttempt::Delivered => ("delivered", 0, Some(signed(now_ms))),
        // 0 is for those that were never attempted.
        AfterAttempt::RetryAt(at_ms) => ("pending", signed(*at_ms).max(1), None),
        AfterAttempt::Dead => ("dead", 0, Some(signed(now_ms))),
    };
    let position: Option<i64> = connection
        .prepare_cached(
            "UPDATE deliveries SET state = ?5, due_at_ms = ?6, ended_at_ms = ?7, attempts = attempts + 1,
                                   lease_epoch = NULL, lease_expires_at_ms = NULL,
                                   is_again = (is_again AND ?5 = 'pending'), answer = ?9
             WHERE id = ?1 AND lease_epoch = ?2 AND lease_number = ?3 AND webhook_id = ?4 AND generation = ?8
             RETURNING position",
        )
        .and_then(|mut statement| {
            let parameters = params![
                lease.delivery_id.as_str(),
                signed(lease.epoch.0),
                lease.number,
                webhook_id,
                state,
                due_at_ms,
                ended_at_ms,
                generation,
                AnswerKind::of(attempt.status, attempt.failure).to_string()
            ];
            statement.query_row(parameters, |row| row.get(0)).optional()
        })
        .map_err(failed("recording an attempt"))?;
    if let Some(position) = position {
        insert(connection, position, lease.number, attempt)?;
    }
    Ok(position.is_some())
}

fn insert(
    connection: &Connection,
    delivery_position: i64,
    number: u32,
    attempt: &Attempt,
) -> Result<(), StoreError> {
    let headers = attempt.headers.as_ref();
    let response = headers.map(|headers| &headers.response);
    let response = response.filter(|headers| !headers.is_empty());
    connection
        .execute_prepared(
            "INSERT INTO attempts (delivery_position, number, at_ms, latency_ms, status, response_excerpt, error, failure,
                                   request_headers, response_headers, cause)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                delivery_position,
                number,
                signed(attempt.at_ms),
                signed(attempt.latency_ms),
                attempt.status,
                attempt.response_excerpt,
                attempt.error,
                attempt.failure.as_ref().map(name_of).transpose()?,
                headers.map(|headers| to_json(&headers.request)).transpose()?,
                response.map(to_json).transpose()?,
                attempt.cause.as_ref().map(name_of).transpose()?
            ],
        )
        .map_err(failed("recording an attempt"))
        .map(drop)
}

/// Records since when every attempt of the webhook has failed, and that it has delivered ones to trim.
fn note_failing<'a>(
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
    let failed = failed("noting since when a webhook fails");
    if has_delivered {
        connection
            .execute_prepared(
                "INSERT INTO untrimmed_deliveries (webhook_id) VALUES (?) ON CONFLICT DO NOTHING",
                [webhook_id],
            )
            .map_err(&failed)?;
    }
    let since = match (has_recorded, has_delivered) {
        (false, _) => return Ok(()),
        (true, true) => "?2",
        (true, false) => "coalesce(failing_since_ms, ?2)",
    };
    let noted = format!(
        "UPDATE webhooks SET failing_since_ms = {since} WHERE id = ?1 AND failing_since_ms IS NOT {since}"
    );
    connection
        .execute_prepared(&noted, params![webhook_id, failing_since_ms])
        .map_err(&failed)
        .map(drop)
}

fn disable(
    connection: &Connection,
    webhook_id: &str,
    disabled: &DisabledWebhook,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    webhook_rows::disable(connection, webhook_id, &disabled.reason, now_ms)?;
    let emitter = disabled.emitter.as_str();
    let has_log = emitters::is_there(connection, emitter)?;
    // The emitter may be deleted by now; then there is no log for the event.
    match has_log {
        true => append::alone(
            connection,
            emitter,
            None,
            std::slice::from_ref(&disabled.event),
            now_ms,
        ),
        false => Ok(()),
    }
}
