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

use crate::{
    connection::{Connection, Params, failed},
    event_row,
    row::{get, moment, signed, unsigned},
    run_records,
    run_retention::FIRST_FAILURE,
    store::PostgresStore,
};

#[async_trait]
impl SourcesHealth for PostgresStore {
    async fn sources_health(
        &self,
        ids: &[SourceId],
        since_ms: EpochMs,
    ) -> Result<Vec<SourceHealth>, StoreError> {
        self.read(|connection| async move {
            let kept = kept(&connection).await?;
            let mut of_each = Vec::with_capacity(ids.len());
            for id in ids {
                of_each.push(health(&connection, id.as_str(), since_ms, kept).await?);
            }
            Ok(of_each)
        })
        .await
    }

    async fn workflows_health(
        &self,
        ids: &[WorkflowId],
    ) -> Result<Vec<WorkflowHealth>, StoreError> {
        self.read(|connection| async move {
            let mut of_each = Vec::with_capacity(ids.len());
            for id in ids {
                of_each.push(workflow_health(&connection, id.as_str()).await?);
            }
            Ok(of_each)
        })
        .await
    }
}

/// The records that are kept of each source at most: successes and failures.
type Kept = [u32; 2];

/// The numbers to which records were last trimmed. None before any trim, when every count is one of what is left.
async fn kept(connection: &Connection) -> Result<Kept, StoreError> {
    let sql = "SELECT keep_runs, keep_failed_runs FROM retention";
    let row = connection.query_one(sql, &[]).await;
    let row = row.map_err(failed("reading how many runs are kept"))?;
    Ok([
        unsigned(&row, "keep_runs")?,
        unsigned(&row, "keep_failed_runs")?,
    ])
}

async fn health(
    connection: &Connection,
    id: &str,
    since_ms: EpochMs,
    kept: Kept,
) -> Result<SourceHealth, StoreError> {
    let (last_run, failing_since_ms) = last_run(connection, id).await?;
    Ok(SourceHealth {
        last_run,
        failing_since_ms,
        last_event: last_event(connection, id).await?,
        next_tick_at_ms: next_tick(connection, id, "sources").await?,
        recent: recent(connection, id, since_ms, kept).await?,
    })
}

async fn workflow_health(connection: &Connection, id: &str) -> Result<WorkflowHealth, StoreError> {
    const OPEN: &str = "SELECT count(*) FROM
        (SELECT 1 FROM invocations WHERE runnable_id = $1 LIMIT $2) AS open";
    let (last_run, failing_since_ms) = last_run(connection, id).await?;
    let open_runs = connection
        .value(OPEN, &[&id, &signed(OPEN_RUNS_COUNTED_MAX)])
        .await;
    let open_runs: i64 = open_runs.map_err(failed("counting a workflow's open runs"))?;
    Ok(WorkflowHealth {
        last_run,
        failing_since_ms,
        last_event: last_event(connection, id).await?,
        open_runs: u32::try_from(open_runs).unwrap_or(u32::MAX),
        next_tick_at_ms: next_tick(connection, id, "workflows").await?,
    })
}

/// The newest run of a runnable, and since when they fail if it failed.
async fn last_run(
    connection: &Connection,
    id: &str,
) -> Result<(Option<RunRecord>, Option<EpochMs>), StoreError> {
    let succeeded = newest_run(connection, id, false).await?;
    let has_failed = newest_run(connection, id, true).await?;
    let fails = match (&succeeded, &has_failed) {
        (Some(succeeded), Some(has_failed)) => has_failed.id > succeeded.id,
        (_, has_failed) => has_failed.is_some(),
    };
    Ok(match fails {
        true => (has_failed, failing_since(connection, id).await?),
        false => (succeeded, None),
    })
}

async fn newest_run(
    connection: &Connection,
    id: &str,
    has_failed: bool,
) -> Result<Option<RunRecord>, StoreError> {
    let failed = failed("reading a source's last run");
    let rows = connection
        .query(
            "SELECT * FROM runs WHERE runnable_id = $1 AND failed = $2 ORDER BY id DESC LIMIT 1",
            &[&id, &has_failed],
        )
        .await
        .map_err(&failed)?;
    let row = rows.first();
    row.map(run_records::record).transpose()
}

async fn failing_since(connection: &Connection, id: &str) -> Result<Option<EpochMs>, StoreError> {
    let sql = format!(
        "SELECT started_at_ms FROM runs WHERE runnable_id = $1 AND failed AND id = ({FIRST_FAILURE})"
    );
    time(connection, &sql, &[&id]).await
}

/// A timer that stands still keeps its time.
async fn next_tick(
    connection: &Connection,
    id: &str,
    table: &str,
) -> Result<Option<EpochMs>, StoreError> {
    let sql = format!(
        "SELECT min(next_fire_at_ms) FROM timers
         WHERE runnable_id = $1 AND EXISTS (SELECT 1 FROM {table} WHERE id = $1 AND state = 'active')"
    );
    time(connection, &sql, &[&id]).await
}

/// The moment that a query finds, if any.
async fn time(
    connection: &Connection,
    sql: &str,
    params: Params<'_>,
) -> Result<Option<EpochMs>, StoreError> {
    let found: Option<Option<i64>> = connection
        .value_opt(sql, params)
        .await
        .map_err(failed("reading a source's health"))?;
    Ok(found.flatten().map(moment))
}

async fn last_event(connection: &Connection, id: &str) -> Result<Option<LastEvent>, StoreError> {
    let failed = failed("reading a source's last event");
    let sql = format!(
        "SELECT ms, sequence, indexed_at_ms, channel, summary {}",
        event_row::last_event("$1")
    );
    let rows = connection.query(&sql, &[&id]).await.map_err(&failed)?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    Ok(Some(LastEvent {
        id: EventId {
            ms: unsigned(row, "ms")?,
            sequence: unsigned(row, "sequence")?,
        },
        indexed_at_ms: unsigned(row, "indexed_at_ms")?,
        channel: Channel::named(get::<String>(row, "channel")?),
        summary: get(row, "summary")?,
    }))
}

/// The runs that were queued since then: ids begin with the time.
async fn recent(
    connection: &Connection,
    id: &str,
    since_ms: EpochMs,
    kept: Kept,
) -> Result<RecentRuns, StoreError> {
    const SQL: &str = "SELECT count(*) FROM
        (SELECT 1 FROM runs WHERE runnable_id = $1 AND failed = $2 AND id >= $3 LIMIT $4) AS recent";
    let first = InvocationId::new(since_ms, 0);
    let mut recent = RecentRuns::default();
    for (has_failed, kept) in [(false, kept[0]), (true, kept[1])] {
        let most = signed(RECENT_RUNS_COUNTED_MAX);
        let params: Params<'_> = &[&id, &has_failed, &first.as_str(), &most];
        let counted: i64 = connection
            .value(SQL, params)
            .await
            .map_err(failed("counting a source's runs"))?;
        let counted = u32::try_from(counted).unwrap_or(u32::MAX);
        recent.runs += counted;
        recent.failures += if has_failed { counted } else { 0 };
        recent.are_at_least |= counted >= kept.min(RECENT_RUNS_COUNTED_MAX);
    }
    Ok(recent)
}
