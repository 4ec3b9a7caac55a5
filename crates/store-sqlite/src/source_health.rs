//! The health of sources and workflows: for each a few seeks in indexes, all at one moment.

use async_trait::async_trait;
use headwater_model::{
    channel::Channel,
    id::{EventId, InvocationId, SourceId, WorkflowId},
    time::EpochMs,
};
use headwater_store::{
    LastEvent, OPEN_RUNS_COUNTED_MAX, RECENT_RUNS_COUNTED_MAX, RecentRuns, RunRecord, SourceHealth,
    SourcesHealth, StoreError, WorkflowHealth,
};
use rusqlite::{Connection, OptionalExtension as _, Params, params};

use crate::{
    connection::failed,
    event_row,
    row::{get, moment, unsigned},
    run_records,
    run_retention::FIRST_FAILURE,
    store::SqliteStore,
};

#[async_trait]
impl SourcesHealth for SqliteStore {
    async fn sources_health(
        &self,
        ids: &[SourceId],
        since_ms: EpochMs,
    ) -> Result<Vec<SourceHealth>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection| {
            let kept = kept(connection)?;
            let of_each = ids.iter();
            let of_each = of_each.map(|id| health(connection, id.as_str(), since_ms, kept));
            of_each.collect()
        })
        .await
    }

    async fn workflows_health(
        &self,
        ids: &[WorkflowId],
    ) -> Result<Vec<WorkflowHealth>, StoreError> {
        let ids = ids.to_vec();
        self.read(move |connection| {
            let of_each = ids.iter();
            let of_each = of_each.map(|id| workflow_health(connection, id.as_str()));
            of_each.collect()
        })
        .await
    }
}

/// The records that are kept of each source at most: successes and failures.
type Kept = [u32; 2];

/// The numbers to which records were last trimmed. None before any trim, when every count is one of what is left.
fn kept(connection: &Connection) -> Result<Kept, StoreError> {
    connection
        .prepare_cached("SELECT keep_runs, keep_failed_runs FROM retention")
        .and_then(|mut statement| {
            statement.query_row((), |row| Ok([row.get::<_, u32>(0)?, row.get(1)?]))
        })
        .map_err(failed("reading how many runs are kept"))
}

fn health(
    connection: &Connection,
    id: &str,
    since_ms: EpochMs,
    kept: Kept,
) -> Result<SourceHealth, StoreError> {
    let (last_run, failing_since_ms) = last_run(connection, id)?;
    Ok(SourceHealth {
        last_run,
        failing_since_ms,
        last_event: last_event(connection, id)?,
        next_tick_at_ms: next_tick(connection, id, "sources")?,
        recent: recent(connection, id, since_ms, kept)?,
    })
}

fn workflow_health(connection: &Connection, id: &str) -> Result<WorkflowHealth, StoreError> {
    const OPEN: &str = "SELECT count(*) FROM
        (SELECT 1 FROM invocations WHERE runnable_id = ?1 LIMIT ?2)";
    let (last_run, failing_since_ms) = last_run(connection, id)?;
    let open_runs = connection
        .prepare_cached(OPEN)
        .and_then(|mut statement| {
            statement.query_row(params![id, OPEN_RUNS_COUNTED_MAX], |row| row.get(0))
        })
        .map_err(failed("counting a workflow's open runs"))?;
    Ok(WorkflowHealth {
        last_run,
        failing_since_ms,
        last_event: last_event(connection, id)?,
        open_runs,
        next_tick_at_ms: next_tick(connection, id, "workflows")?,
    })
}

/// The newest run of a runnable, and since when they fail if it failed.
fn last_run(
    connection: &Connection,
    id: &str,
) -> Result<(Option<RunRecord>, Option<EpochMs>), StoreError> {
    let succeeded = newest_run(connection, id, false)?;
    let has_failed = newest_run(connection, id, true)?;
    let fails = match (&succeeded, &has_failed) {
        (Some(succeeded), Some(has_failed)) => has_failed.id > succeeded.id,
        (_, has_failed) => has_failed.is_some(),
    };
    Ok(match fails {
        true => (has_failed, failing_since(connection, id)?),
        false => (succeeded, None),
    })
}

fn newest_run(
    connection: &Connection,
    id: &str,
    has_failed: bool,
) -> Result<Option<RunRecord>, StoreError> {
    let failed = failed("reading a source's last run");
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM runs WHERE runnable_id = ? AND failed = ? ORDER BY id DESC LIMIT 1",
        )
        .map_err(&failed)?;
    let mut rows = statement.query(params![id, has_failed]).map_err(&failed)?;
    let row = rows.next().map_err(&failed)?;
    row.map(run_records::record).transpose()
}

fn failing_since(connection: &Connection, id: &str) -> Result<Option<EpochMs>, StoreError> {
    let sql = format!(
        "SELECT started_at_ms FROM runs WHERE runnable_id = ?1 AND failed = 1 AND id = ({FIRST_FAILURE})"
    );
    time(connection, &sql, [id])
}

/// A timer that stands still keeps its time.
fn next_tick(
    connection: &Connection,
    id: &str,
    table: &str,
) -> Result<Option<EpochMs>, StoreError> {
    let sql = format!(
        "SELECT min(next_fire_at_ms) FROM timers
         WHERE runnable_id = ?1 AND EXISTS (SELECT 1 FROM {table} WHERE id = ?1 AND state = 'active')"
    );
    time(connection, &sql, [id])
}

/// The moment that a query finds, if any.
fn time(
    connection: &Connection,
    sql: &str,
    params: impl Params,
) -> Result<Option<EpochMs>, StoreError> {
    let found: Option<Option<i64>> = connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row(params, |row| row.get(0)).optional())
        .map_err(failed("reading a source's health"))?;
    Ok(found.flatten().map(moment))
}

fn last_event(connection: &Connection, id: &str) -> Result<Option<LastEvent>, StoreError> {
    let failed = failed("reading a source's last event");
    let sql = format!(
        "SELECT ms, sequence, indexed_at_ms, channel, summary {}",
        event_row::last_event("?1")
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let Some(row) = rows.next().map_err(&failed)? else {
        return Ok(None);
    };
    Ok(Some(LastEvent {
        id: EventId {
            ms: unsigned(row, "ms")?,
            sequence: get(row, "sequence")?,
        },
        indexed_at_ms: unsigned(row, "indexed_at_ms")?,
        channel: Channel::named(get::<String>(row, "channel")?),
        summary: get(row, "summary")?,
    }))
}

/// The runs that were queued since then: ids begin with the time.
fn recent(
    connection: &Connection,
    id: &str,
    since_ms: EpochMs,
    kept: Kept,
) -> Result<RecentRuns, StoreError> {
    const SQL: &str = "SELECT count(*) FROM
        (SELECT 1 FROM runs WHERE runnable_id = ?1 AND failed = ?2 AND id >= ?3 LIMIT ?4)";
    let first = InvocationId::new(since_ms, 0);
    let mut recent = RecentRuns::default();
    for (has_failed, kept) in [(false, kept[0]), (true, kept[1])] {
        let params = params![id, has_failed, first.as_str(), RECENT_RUNS_COUNTED_MAX];
        let counted: u32 = connection
            .prepare_cached(SQL)
            .and_then(|mut statement| statement.query_row(params, |row| row.get(0)))
            .map_err(failed("counting a source's runs"))?;
        recent.runs += counted;
        recent.failures += if has_failed { counted } else { 0 };
        recent.are_at_least |= counted >= kept.min(RECENT_RUNS_COUNTED_MAX);
    }
    Ok(recent)
}
