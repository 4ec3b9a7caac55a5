//! Records of runs as rows: written with their last commit, read one by one or in pages.

use std::sync::Arc;

use headwater_model::{
    event::EventRef,
    id::{EventId, InvocationId},
    origin::Origin,
    page::{Page, PageRequest, Position},
};
use headwater_store::{
    ChangedKeys, DROPPED_KEYS_MAX, Dropped, EndedRun, OutcomeFilter, RunFacts, RunFilter,
    RunOutcome, RunRecord, SentResponse, StoreError,
};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::failed,
    event_row,
    row::{
        get, json_opt, name_of, named, parsed, parsed_opt, signed, to_json, trace, unsigned,
        unsigned_opt,
    },
};

/// A text that sorts after every id.
const LAST: &str = "~";

/// A run whose record is written.
pub(crate) struct Ending<'a> {
    pub(crate) id: &'a InvocationId,
    pub(crate) runnable: &'a str,
    pub(crate) caused_by: Option<&'a EventRef>,
    pub(crate) last: Option<EventId>,
    pub(crate) has_scheduled: bool,
}

/// Writes the record of a run. False: it has one already.
pub(crate) fn insert(
    connection: &Connection,
    of: &Ending<'_>,
    ended: &EndedRun,
) -> Result<bool, StoreError> {
    let dropped = ended.dropped.keys.iter().take(DROPPED_KEYS_MAX);
    let dropped = as_array(dropped.map(String::as_str))?;
    let facts = &ended.facts;
    let changed = as_array(facts.changed.kept())?;
    let response = facts.response;
    let failed = failed("recording a run");
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO runs (runnable_id, failed, id, version, trigger, queued_at_ms, started_at_ms, ended_at_ms,
                               outcome, error, emitted, dropped, dropped_keys, request_id, traceparent, last_ms,
                               last_sequence, has_scheduled, cause_emitter_id, cause_ms, cause_sequence, replay_of,
                               starts, time_limit_ms, response_status, response_bytes, changed, changed_keys)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
        )
        .map_err(&failed)?;
    statement
        .execute(params![
            of.runnable,
            ended.outcome.is_failure(),
            of.id.as_str(),
            ended.version.as_str(),
            name_of(&ended.trigger)?,
            signed(ended.queued_at_ms),
            signed(ended.started_at_ms),
            signed(ended.ended_at_ms),
            ended.outcome.name(),
            ended.kept_error(),
            ended.emitted,
            ended.dropped.count,
            dropped,
            ended.origin.request_id(),
            ended.origin.trace.as_ref().map(ToString::to_string),
            of.last.map(|last| signed(last.ms)),
            of.last.map(|last| last.sequence),
            of.has_scheduled || ended.has_scheduled,
            of.caused_by.map(|cause| cause.emitter.as_str()),
            of.caused_by.map(|cause| signed(cause.id.ms)),
            of.caused_by.map(|cause| cause.id.sequence),
            ended.replay_of.as_ref().map(InvocationId::as_str),
            facts.starts,
            facts.time_limit_ms.map(signed),
            response.map(|response| response.status),
            response.map(|response| signed(response.bytes)),
            facts.changed.count,
            changed,
        ])
        .map_err(&failed)
        .map(|written| written > 0)
}

/// A JSON array, unless there is nothing.
fn as_array<'a>(items: impl Iterator<Item = &'a str>) -> Result<Option<String>, StoreError> {
    let items: Vec<&str> = items.collect();
    (!items.is_empty()).then(|| to_json(&items)).transpose()
}

pub(crate) fn by_id(connection: &Connection, id: &str) -> Result<Option<RunRecord>, StoreError> {
    let failed = failed("reading a run");
    let mut statement = connection
        .prepare_cached("SELECT * FROM runs WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(record).transpose()
}

pub(crate) fn record(row: &Row<'_>) -> Result<RunRecord, StoreError> {
    let last_event = match unsigned_opt(row, "last_ms")? {
        None => None,
        Some(ms) => Some(EventId {
            ms,
            sequence: get(row, "last_sequence")?,
        }),
    };
    Ok(RunRecord {
        id: parsed(row, "id")?,
        runnable: parsed(row, "runnable_id")?,
        caused_by: event_row::cause(row)?,
        ended: ended(row)?,
        last_event,
    })
}

fn ended(row: &Row<'_>) -> Result<EndedRun, StoreError> {
    Ok(EndedRun {
        version: parsed(row, "version")?,
        trigger: named(&get::<String>(row, "trigger")?)?,
        replay_of: parsed_opt(row, "replay_of")?,
        queued_at_ms: unsigned(row, "queued_at_ms")?,
        started_at_ms: unsigned(row, "started_at_ms")?,
        ended_at_ms: unsigned(row, "ended_at_ms")?,
        outcome: RunOutcome::named(&get::<String>(row, "outcome")?)?,
        error: get(row, "error")?,
        emitted: get(row, "emitted")?,
        dropped: Dropped {
            count: get(row, "dropped")?,
            keys: json_opt(row, "dropped_keys")?.unwrap_or_default(),
        },
        has_scheduled: get(row, "has_scheduled")?,
        origin: Origin {
            request_id: get::<Option<String>>(row, "request_id")?.map(Arc::from),
            trace: trace(row)?,
        },
        facts: facts(row)?,
    })
}

fn facts(row: &Row<'_>) -> Result<RunFacts, StoreError> {
    let status: Option<u16> = get(row, "response_status")?;
    let bytes = unsigned_opt(row, "response_bytes")?;
    let response = status
        .zip(bytes)
        .map(|(status, bytes)| SentResponse { status, bytes });
    Ok(RunFacts {
        starts: get(row, "starts")?,
        response,
        changed: ChangedKeys {
            count: get(row, "changed")?,
            keys: json_opt(row, "changed_keys")?.unwrap_or_default(),
        },
        time_limit_ms: unsigned_opt(row, "time_limit_ms")?,
    })
}

/// The condition on a part of a runnable's runs: `?1` the runnable, `?2` the earliest start.
fn part(has_failed: bool, filter: &RunFilter) -> Result<String, StoreError> {
    let mut part = format!(
        "runnable_id = ?1 AND failed = {} AND started_at_ms >= ?2",
        u8::from(has_failed)
    );
    if let Some(OutcomeFilter::Exactly(outcome)) = filter.outcome {
        part += &format!(" AND outcome = '{}'", outcome.name());
    }
    if let Some(trigger) = &filter.trigger {
        part += &format!(" AND trigger = '{}'", name_of(trigger)?);
    }
    match filter.has_dropped {
        Some(true) => part += " AND dropped > 0",
        Some(false) => part += " AND dropped = 0",
        None => {}
    }
    Ok(part)
}

fn parts(filter: &RunFilter) -> Result<Vec<String>, StoreError> {
    let wanted: &[bool] = match filter.outcome {
        None => &[false, true],
        Some(OutcomeFilter::Succeeded) => &[false],
        Some(OutcomeFilter::Failed) => &[true],
        Some(OutcomeFilter::Exactly(outcome)) => match outcome.is_failure() {
            true => &[true],
            false => &[false],
        },
    };
    let parts = wanted.iter().map(|failed| part(*failed, filter));
    parts.collect()
}

pub(crate) fn page(
    connection: &Connection,
    runnable: &str,
    filter: &RunFilter,
    page: &PageRequest<InvocationId>,
) -> Result<Page<RunRecord>, StoreError> {
    let failed = failed("reading runs");
    let parts = parts(filter)?;
    let since_ms = signed(filter.since_ms.unwrap_or_default());
    let counts = parts.iter();
    let counts = counts.map(|part| format!("(SELECT count(*) FROM runs WHERE {part})"));
    let counts: Vec<String> = counts.collect();
    let total: i64 = connection
        .prepare_cached(&format!("SELECT {}", counts.join(" + ")))
        .and_then(|mut statement| {
            statement.query_row(params![runnable, since_ms], |row| row.get(0))
        })
        .map_err(&failed)?;
    let (bound, order, from) = match &page.position {
        Position::First => ("id < ?3", "DESC", LAST),
        Position::After(after) => ("id < ?3", "DESC", after.as_str()),
        Position::Before(before) => ("id > ?3", "ASC", before.as_str()),
    };
    // Each arm reads the primary key in the listed order, and SQLite merges them.
    let arms = parts.iter();
    let arms = arms.map(|part| format!("SELECT * FROM runs WHERE {part} AND {bound}"));
    let arms: Vec<String> = arms.collect();
    let sql = format!("{} ORDER BY id {order} LIMIT ?4", arms.join(" UNION ALL "));
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement
        .query(params![runnable, since_ms, from, page.limit])
        .map_err(&failed)?;
    let mut items = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        items.push(record(row)?);
    }
    if order == "ASC" {
        items.reverse();
    }
    Ok(Page {
        total_count: total.unsigned_abs(),
        items,
    })
}
