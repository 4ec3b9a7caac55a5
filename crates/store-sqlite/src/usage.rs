//! The cost of runs, per UTC day: of users, workspaces, sources and workflows.

use std::collections::BTreeMap;

use headwater_model::{id::RunnableId, time::EpochMs};
use headwater_store::{
    DayUsage, EndedRun, Owner, RUNNABLE_USAGE_DAYS, RunnableUsage, Spender, StoreError, Usage,
};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, parsed, signed, unsigned},
    run_hours::RunHours,
};

pub(crate) fn between(
    connection: &Connection,
    spender: &Spender,
    since_ms: EpochMs,
    until_ms: EpochMs,
) -> Result<Usage, StoreError> {
    let id = id_of(spender);
    let failed = failed("reading usage");
    let mut statement = connection
        .prepare_cached(
            "SELECT coalesce(sum(invocations), 0) AS invocations, coalesce(sum(compute_ms), 0) AS compute_ms
             FROM daily_usage WHERE owner_id = ? AND day BETWEEN ? AND ?",
        )
        .map_err(&failed)?;
    let days = params![id, signed(since_ms.day()), signed(until_ms.day())];
    let mut rows = statement.query(days).map_err(&failed)?;
    match rows.next().map_err(&failed)? {
        None => Ok(Usage::default()),
        Some(row) => from_row(row),
    }
}

/// The same day by day.
pub(crate) fn by_day(
    connection: &Connection,
    spender: &Spender,
    since_ms: EpochMs,
    until_ms: EpochMs,
) -> Result<Vec<DayUsage>, StoreError> {
    let failed = failed("reading daily usage");
    let mut statement = connection
        .prepare_cached(
            "SELECT day, invocations, compute_ms FROM daily_usage
             WHERE owner_id = ? AND day BETWEEN ? AND ? ORDER BY day",
        )
        .map_err(&failed)?;
    let days = params![
        id_of(spender),
        signed(since_ms.day()),
        signed(until_ms.day())
    ];
    let mut rows = statement.query(days).map_err(&failed)?;
    let mut by_day = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        by_day.push(day_of(row)?);
    }
    Ok(by_day)
}

/// The same of each source and workflow, those with most runs first.
pub(crate) fn by_runnable(
    connection: &Connection,
    spender: &Spender,
    (since_ms, until_ms): (EpochMs, EpochMs),
    limit: u32,
) -> Result<Vec<RunnableUsage>, StoreError> {
    let failed = failed("reading usage by source");
    let whose = match spender {
        Spender::User(_) => "user_id",
        Spender::Workspace(_) => "workspace_id",
    };
    let sql = format!(
        "WITH owned (id, name) AS (
             SELECT id, name FROM sources WHERE {whose} = ?1
             UNION ALL SELECT id, name FROM workflows WHERE {whose} = ?1),
         most (id, name, runs) AS (
             SELECT id, name, sum(invocations) FROM owned CROSS JOIN daily_usage ON owner_id = id
             WHERE day BETWEEN ?2 AND ?3 GROUP BY id, name ORDER BY 3 DESC, id LIMIT ?4)
         SELECT id, name, day, invocations, compute_ms FROM most CROSS JOIN daily_usage ON owner_id = id
         WHERE day BETWEEN ?2 AND ?3 ORDER BY runs DESC, id, day"
    );
    let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
    let (since, until) = (signed(since_ms.day()), signed(until_ms.day()));
    let mut rows = statement
        .query(params![id_of(spender), since, until, limit])
        .map_err(&failed)?;
    let mut found: Vec<RunnableUsage> = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        let runnable: RunnableId = parsed(row, "id")?;
        let day = day_of(row)?;
        match found.last_mut().filter(|last| last.runnable == runnable) {
            Some(last) => last.days.push(day),
            None => found.push(RunnableUsage {
                runnable,
                name: get(row, "name")?,
                days: vec![day],
            }),
        }
    }
    Ok(found)
}

fn id_of(spender: &Spender) -> &str {
    match spender {
        Spender::User(id) => id.as_str(),
        Spender::Workspace(id) => id.as_str(),
    }
}

fn day_of(row: &Row<'_>) -> Result<DayUsage, StoreError> {
    Ok(DayUsage {
        day: unsigned(row, "day")?,
        usage: from_row(row)?,
    })
}

fn from_row(row: &Row<'_>) -> Result<Usage, StoreError> {
    Ok(Usage {
        invocations: unsigned(row, "invocations")?,
        compute_ms: unsigned(row, "compute_ms")?,
    })
}

/// Adds to the day's usage of the user, and of the workspace if there is one.
pub(crate) fn add(
    connection: &Connection,
    owner: Owner,
    usage: Usage,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let mut spent = Spent::default();
    spent.add(&owner, usage, now_ms);
    spent.write(connection)
}

/// Usage added up before it is written once per day of a user, workspace, source or workflow.
#[derive(Default)]
pub(crate) struct Spent {
    of_owners: BTreeMap<(String, u64), Usage>,
    of_runnables: BTreeMap<(String, u64), Usage>,
    hours: RunHours,
}

impl Spent {
    pub(crate) fn add(&mut self, owner: &Owner, usage: Usage, now_ms: EpochMs) {
        if usage == Usage::default() {
            return;
        }
        let workspace = owner.workspace_id.as_ref().map(|id| id.as_str());
        for id in std::iter::once(owner.user_id.as_str()).chain(workspace) {
            let share = (id.to_owned(), now_ms.day());
            self.of_owners.entry(share).or_default().add(usage);
        }
    }

    /// Adds that of a run: to its owner, and to its source or workflow.
    pub(crate) fn add_run(&mut self, of: (&Owner, &str), usage: Usage, now_ms: EpochMs) {
        let (owner, runnable) = of;
        self.add(owner, usage, now_ms);
        if usage != Usage::default() {
            let share = (runnable.to_owned(), now_ms.day());
            self.of_runnables.entry(share).or_default().add(usage);
        }
    }

    /// Counts the end of a run, and of others that returned.
    pub(crate) fn count_run(&mut self, owner: &Owner, ended: &EndedRun, others: u64) {
        self.hours.count(owner, ended, others);
    }

    pub(crate) fn write(self, connection: &Connection) -> Result<(), StoreError> {
        for ((id, day), usage) in &self.of_owners {
            write(connection, (id, *day), *usage)?;
        }
        for ((id, day), usage) in &self.of_runnables {
            if write(connection, (id, *day), *usage)? {
                let first = day.saturating_sub(RUNNABLE_USAGE_DAYS - 1);
                connection
                    .execute_prepared(
                        "DELETE FROM daily_usage WHERE owner_id = ? AND day < ?",
                        params![id, signed(first)],
                    )
                    .map_err(failed("forgetting old usage"))?;
            }
        }
        self.hours.write(connection)
    }
}

/// Adds to the usage of a day. Whether it is the first of that day.
fn write(
    connection: &Connection,
    (id, day): (&str, u64),
    usage: Usage,
) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO daily_usage (owner_id, day, invocations, compute_ms) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET invocations = invocations + ?3, compute_ms = compute_ms + ?4
             RETURNING invocations = ?3",
        )
        .and_then(|mut statement| {
            let (invocations, compute_ms) = (signed(usage.invocations), signed(usage.compute_ms));
            let parameters = params![id, signed(day), invocations, compute_ms];
            statement.query_row(parameters, |row| row.get(0))
        })
        .map_err(failed("counting usage"))
}
