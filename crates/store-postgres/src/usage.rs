//! The cost of runs, per UTC day: of users, workspaces, sources and workflows.

use std::collections::{BTreeMap, BTreeSet};

use headwater_model::{id::RunnableId, time::EpochMs};
use headwater_store::{
    DayUsage, EndedRun, Owner, RUNNABLE_USAGE_DAYS, RunnableUsage, Spender, StoreError, Usage,
};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    row::{get, list, parsed, signed, to_json, unsigned},
    run_hours::{ADDED, RunHours},
};

pub(crate) async fn between(
    connection: &Connection,
    spender: &Spender,
    since_ms: EpochMs,
    until_ms: EpochMs,
) -> Result<Usage, StoreError> {
    let id = id_of(spender);
    let failed = failed("reading usage");
    let (since, until) = (signed(since_ms.day()), signed(until_ms.day()));
    let rows = connection.query("SELECT coalesce(sum(invocations), 0)::bigint AS invocations, coalesce(sum(compute_ms), 0)::bigint AS compute_ms
             FROM daily_usage WHERE owner_id = $1 AND day BETWEEN $2 AND $3", &[&id, &since, &until]).await.map_err(&failed)?;
    match rows.first() {
        None => Ok(Usage::default()),
        Some(row) => from_row(row),
    }
}

/// The same day by day.
pub(crate) async fn by_day(
    connection: &Connection,
    spender: &Spender,
    since_ms: EpochMs,
    until_ms: EpochMs,
) -> Result<Vec<DayUsage>, StoreError> {
    let failed = failed("reading daily usage");
    let (since, until) = (signed(since_ms.day()), signed(until_ms.day()));
    let rows = connection
        .query(
            "SELECT day, invocations, compute_ms FROM daily_usage
             WHERE owner_id = $1 AND day BETWEEN $2 AND $3 ORDER BY day",
            &[&id_of(spender), &since, &until],
        )
        .await
        .map_err(&failed)?;
    let mut by_day = Vec::new();
    for row in &rows {
        by_day.push(day_of(row)?);
    }
    Ok(by_day)
}

/// The same of each source and workflow, those with most runs first.
pub(crate) async fn by_runnable(
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
             SELECT id, name FROM sources WHERE {whose} = $1
             UNION ALL SELECT id, name FROM workflows WHERE {whose} = $1),
         most (id, name, runs) AS (
             SELECT id, name, sum(invocations) FROM owned JOIN daily_usage ON owner_id = id
             WHERE day BETWEEN $2 AND $3 GROUP BY id, name ORDER BY 3 DESC, id LIMIT $4)
         SELECT id, name, day, invocations, compute_ms FROM most JOIN daily_usage ON owner_id = id
         WHERE day BETWEEN $2 AND $3 ORDER BY runs DESC, id, day"
    );
    let (since, until) = (signed(since_ms.day()), signed(until_ms.day()));
    let rows = connection
        .query(&sql, &[&id_of(spender), &since, &until, &signed(limit)])
        .await
        .map_err(&failed)?;
    let mut found: Vec<RunnableUsage> = Vec::new();
    for row in &rows {
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

fn day_of(row: &Row) -> Result<DayUsage, StoreError> {
    Ok(DayUsage {
        day: unsigned(row, "day")?,
        usage: from_row(row)?,
    })
}

fn from_row(row: &Row) -> Result<Usage, StoreError> {
    Ok(Usage {
        invocations: unsigned(row, "invocations")?,
        compute_ms: unsigned(row, "compute_ms")?,
    })
}

/// Adds to the day's usage of the user, and of the workspace if there is one.
pub(crate) async fn add(
    connection: &Connection,
    owner: Owner,
    usage: Usage,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let mut spent = Spent::default();
    spent.add(&owner, usage, now_ms);
    spent.write(connection).await
}

/// Usage added up before it is written once per day of a user, workspace, source or workflow.
#[derive(Default)]
pub(crate) struct Spent {
    /// In the order in which every transaction locks them.
    shares: BTreeMap<(String, u64), Usage>,
    runnables: BTreeSet<String>,
    hours: RunHours,
}

impl Spent {
    pub(crate) fn add(&mut self, owner: &Owner, usage: Usage, now_ms: EpochMs) {
        let workspace = owner.workspace_id.as_ref().map(|id| id.as_str());
        for id in std::iter::once(owner.user_id.as_str()).chain(workspace) {
            self.add_share(id, usage, now_ms);
        }
    }

    /// Adds that of a run: to its owner, and to its source or workflow.
    pub(crate) fn add_run(&mut self, of: (&Owner, &str), usage: Usage, now_ms: EpochMs) {
        let (owner, runnable) = of;
        self.add(owner, usage, now_ms);
        self.add_share(runnable, usage, now_ms);
        self.runnables.insert(runnable.to_owned());
    }

    fn add_share(&mut self, id: &str, usage: Usage, now_ms: EpochMs) {
        if usage != Usage::default() {
            let share = (id.to_owned(), now_ms.day());
            self.shares.entry(share).or_default().add(usage);
        }
    }

    /// Counts the end of a run, and of others that returned.
    pub(crate) fn count_run(&mut self, owner: &Owner, ended: &EndedRun, others: u64) {
        self.hours.count(owner, ended, others);
    }

    /// Writes all of it with one statement, and forgets days of sources and workflows that are past.
    pub(crate) async fn write(self, connection: &Connection) -> Result<(), StoreError> {
        let (shares, hours) = (&self.shares, self.hours.of_days());
        let days: BTreeSet<_> = shares.keys().chain(hours.keys()).collect();
        if days.is_empty() {
            return Ok(());
        }
        let days: Vec<_> = days.into_iter().collect();
        let share = |day: &&(String, u64)| shares.get(*day).copied().unwrap_or_default();
        let of_hours = days
            .iter()
            .map(|day| hours.get(*day).map(to_json).transpose());
        let of_hours: Vec<Option<String>> = of_hours.collect::<Result<_, _>>()?;
        let rows = connection
            .query(
                &format!(
                    "INSERT INTO daily_usage AS counted (owner_id, day, invocations, compute_ms, runs_by_hour)
                     SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
                     ON CONFLICT (owner_id, day) DO UPDATE
                     SET invocations = counted.invocations + excluded.invocations,
                         compute_ms = counted.compute_ms + excluded.compute_ms, runs_by_hour = {ADDED}
                     RETURNING owner_id, day, xmax = 0 AS is_first"
                ),
                &[
                    &list(&days, |(id, _)| id.as_str()),
                    &list(&days, |(_, day)| signed(*day)),
                    &list(&days, |day| signed(share(day).invocations)),
                    &list(&days, |day| signed(share(day).compute_ms)),
                    &of_hours,
                ],
            )
            .await
            .map_err(failed("counting usage"))?;
        for row in &rows {
            let id: String = get(row, "owner_id")?;
            if get(row, "is_first")? && self.runnables.contains(&id) {
                let day: u64 = unsigned(row, "day")?;
                let first = day.saturating_sub(RUNNABLE_USAGE_DAYS - 1);
                connection
                    .execute(
                        "DELETE FROM daily_usage WHERE owner_id = $1 AND day < $2",
                        &[&id, &signed(first)],
                    )
                    .await
                    .map_err(failed("forgetting old usage"))?;
            }
        }
        Ok(())
    }
}
