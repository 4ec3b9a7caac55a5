//! Records of runs as rows: written with their last commit, read one by one or in pages.

use std::{collections::HashSet, sync::Arc};

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
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    event_row,
    row::{
        get, json_opt, list, name_of, named, parsed, parsed_opt, signed, to_json, trace, unsigned,
        unsigned_opt,
    },
};

/// A text that sorts after every id.
const LAST: &str = "~";

/// A run whose record is written.
pub(crate) struct Ending<'a> {
    pub(crate) id: &'a InvocationId,
    pub(crate) runnable: &'a str,
    pub(crate) ended: &'a EndedRun,
    pub(crate) caused_by: Option<EventRef>,
    pub(crate) last: Option<EventId>,
    pub(crate) has_scheduled: bool,
}

impl Ending<'_> {
    fn dropped_keys(&self) -> Result<Option<String>, StoreError> {
        let keys = self.ended.dropped.keys.iter().take(DROPPED_KEYS_MAX);
        as_array(keys.map(String::as_str))
    }

    fn changed_keys(&self) -> Result<Option<String>, StoreError> {
        as_array(self.ended.facts.changed.kept())
    }

    fn response(&self) -> Option<SentResponse> {
        self.ended.facts.response
    }
}

/// A JSON array, unless there is nothing.
fn as_array<'a>(items: impl Iterator<Item = &'a str>) -> Result<Option<String>, StoreError> {
    let items: Vec<&str> = items.collect();
    (!items.is_empty()).then(|| to_json(&items)).transpose()
}

/// Those of the runs that have records.
pub(crate) async fn recorded(
    connection: &Connection,
    ids: &[&str],
) -> Result<HashSet<String>, StoreError> {
    if ids.is_empty() {
        return Ok(HashSet::new());
    }
    let sql = "SELECT id FROM runs WHERE id = ANY($1)";
    let found = connection.query(sql, &[&ids]).await;
    let found = found.map_err(failed("recording runs"))?;
    found.iter().map(|row| get(row, "id")).collect()
}

/// Writes the records of runs, which have none.
pub(crate) async fn insert(connection: &Connection, runs: &[Ending<'_>]) -> Result<(), StoreError> {
    if runs.is_empty() {
        return Ok(());
    }
    let triggers = runs.iter().map(|run| name_of(&run.ended.trigger));
    let triggers: Vec<String> = triggers.collect::<Result<_, _>>()?;
    let dropped_keys = runs.iter().map(Ending::dropped_keys);
    let dropped_keys: Vec<Option<String>> = dropped_keys.collect::<Result<_, _>>()?;
    let changed_keys = runs.iter().map(Ending::changed_keys);
    let changed_keys: Vec<Option<String>> = changed_keys.collect::<Result<_, _>>()?;
    connection
        .execute(
            "INSERT INTO runs (runnable_id, failed, id, version, trigger, queued_at_ms, started_at_ms, ended_at_ms,
                               outcome, error, emitted, dropped, dropped_keys, request_id, traceparent, last_ms,
                               last_sequence, has_scheduled, cause_emitter_id, cause_ms, cause_sequence, replay_of,
                               starts, time_limit_ms, response_status, response_bytes, changed, changed_keys)
             SELECT * FROM unnest($1::text[], $2::boolean[], $3::text[], $4::text[], $5::text[], $6::bigint[],
                                  $7::bigint[], $8::bigint[], $9::text[], $10::text[], $11::bigint[], $12::bigint[],
                                  $13::text[], $14::text[], $15::text[], $16::bigint[], $17::bigint[], $18::boolean[],
                                  $19::text[], $20::bigint[], $21::bigint[], $22::text[], $23::bigint[], $24::bigint[],
                                  $25::bigint[], $26::bigint[], $27::bigint[], $28::text[])",
            &[
                &list(runs, |run| run.runnable),
                &list(runs, |run| run.ended.outcome.is_failure()),
                &list(runs, |run| run.id.as_str()),
                &list(runs, |run| run.ended.version.as_str()),
                &triggers,
                &list(runs, |run| signed(run.ended.queued_at_ms)),
                &list(runs, |run| signed(run.ended.started_at_ms)),
                &list(runs, |run| signed(run.ended.ended_at_ms)),
                &list(runs, |run| run.ended.outcome.name()),
                &list(runs, |run| run.ended.kept_error()),
                &list(runs, |run| signed(run.ended.emitted)),
                &list(runs, |run| signed(run.ended.dropped.count)),
                &dropped_keys,
                &list(runs, |run| run.ended.origin.request_id()),
                &list(runs, |run| run.ended.origin.trace.as_ref().map(ToString::to_string)),
                &list(runs, |run| run.last.map(|last| signed(last.ms))),
                &list(runs, |run| run.last.map(|last| signed(last.sequence))),
                &list(runs, |run| run.has_scheduled || run.ended.has_scheduled),
                &list(runs, |run| run.caused_by.as_ref().map(|cause| cause.emitter.as_str())),
                &list(runs, |run| run.caused_by.as_ref().map(|cause| signed(cause.id.ms))),
                &list(runs, |run| run.caused_by.as_ref().map(|cause| signed(cause.id.sequence))),
                &list(runs, |run| run.ended.replay_of.as_ref().map(InvocationId::as_str)),
                &list(runs, |run| signed(run.ended.facts.starts)),
                &list(runs, |run| run.ended.facts.time_limit_ms.map(signed)),
                &list(runs, |run| run.response().map(|response| i64::from(response.status))),
                &list(runs, |run| run.response().map(|response| signed(response.bytes))),
                &list(runs, |run| signed(run.ended.facts.changed.count)),
                &changed_keys,
            ],
        )
        .await
        .map_err(failed("recording runs"))
        .map(drop)
}

pub(crate) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<RunRecord>, StoreError> {
    let failed = failed("reading a run");
    let rows = connection
        .query("SELECT * FROM runs WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    rows.first().map(record).transpose()
}

pub(crate) fn record(row: &Row) -> Result<RunRecord, StoreError> {
    let last_event = match unsigned_opt(row, "last_ms")? {
        None => None,
        Some(ms) => Some(EventId {
            ms,
            sequence: unsigned(row, "last_sequence")?,
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

fn ended(row: &Row) -> Result<EndedRun, StoreError> {
    Ok(EndedRun {
        version: parsed(row, "version")?,
        trigger: named(&get::<String>(row, "trigger")?)?,
        replay_of: parsed_opt(row, "replay_of")?,
        queued_at_ms: unsigned(row, "queued_at_ms")?,
        started_at_ms: unsigned(row, "started_at_ms")?,
        ended_at_ms: unsigned(row, "ended_at_ms")?,
        outcome: RunOutcome::named(&get::<String>(row, "outcome")?)?,
        error: get(row, "error")?,
        emitted: unsigned(row, "emitted")?,
        dropped: Dropped {
            count: unsigned(row, "dropped")?,
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

fn facts(row: &Row) -> Result<RunFacts, StoreError> {
    let status = unsigned_opt::<u16>(row, "response_status")?;
    let bytes = unsigned_opt(row, "response_bytes")?;
    let response = status
        .zip(bytes)
        .map(|(status, bytes)| SentResponse { status, bytes });
    Ok(RunFacts {
        starts: unsigned(row, "starts")?,
        response,
        changed: ChangedKeys {
            count: unsigned(row, "changed")?,
            keys: json_opt(row, "changed_keys")?.unwrap_or_default(),
        },
        time_limit_ms: unsigned_opt(row, "time_limit_ms")?,
    })
}

/// The condition on a part of a runnable's runs: `$1` the runnable, `$2` the earliest start.
fn part(has_failed: bool, filter: &RunFilter) -> Result<String, StoreError> {
    let mut part = format!("runnable_id = $1 AND failed = {has_failed} AND started_at_ms >= $2");
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

pub(crate) async fn page(
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
        .value(
            &format!("SELECT {}", counts.join(" + ")),
            &[&runnable, &since_ms],
        )
        .await
        .map_err(&failed)?;
    let (bound, order, from) = match &page.position {
        Position::First => ("id < $3", "DESC", LAST),
        Position::After(after) => ("id < $3", "DESC", after.as_str()),
        Position::Before(before) => ("id > $3", "ASC", before.as_str()),
    };
    // Each arm reads the primary key in the listed order, and PostgreSQL merges them.
    let arms = parts.iter();
    let arms = arms.map(|part| format!("SELECT * FROM runs WHERE {part} AND {bound}"));
    let arms: Vec<String> = arms.collect();
    let sql = format!("{} ORDER BY id {order} LIMIT $4", arms.join(" UNION ALL "));
    let rows = connection
        .query(&sql, &[&runnable, &since_ms, &from, &signed(page.limit)])
        .await
        .map_err(&failed)?;
    let mut items = Vec::new();
    for row in &rows {
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
