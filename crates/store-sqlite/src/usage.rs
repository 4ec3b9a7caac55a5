//! The cost of runs, per UTC day, user and workspace.

use headwater_model::time::EpochMs;
use headwater_store::{DayUsage, EndedRun, Owner, Spender, StoreError, Usage};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::failed,
    row::{signed, unsigned},
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
        by_day.push(DayUsage {
            day: unsigned(row, "day")?,
            usage: from_row(row)?,
        });
    }
    Ok(by_day)
}

fn id_of(spender: &Spender) -> &str {
    match spender {
        Spender::User(id) => id.as_str(),
        Spender::Workspace(id) => id.as_str(),
    }
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

/// Usage added up before it is written once per user or workspace and day.
#[derive(Default)]
pub(crate) struct Spent {
    shares: Vec<Share>,
    hours: RunHours,
}

struct Share {
    owner: Owner,
    day: u64,
    usage: Usage,
}

impl Spent {
    pub(crate) fn add(&mut self, owner: &Owner, usage: Usage, now_ms: EpochMs) {
        if usage == Usage::default() {
            return;
        }
        let day = now_ms.day();
        let shares = &mut self.shares;
        match shares
            .iter_mut()
            .find(|share| share.day == day && share.owner == *owner)
        {
            Some(share) => {
                share.usage.invocations += usage.invocations;
                share.usage.compute_ms += usage.compute_ms;
            }
            None => shares.push(Share {
                owner: owner.clone(),
                day,
                usage,
            }),
        }
    }

    /// Counts the end of a run, and of others that returned.
    pub(crate) fn count_run(&mut self, owner: &Owner, ended: &EndedRun, others: u64) {
        self.hours.count(owner, ended, others);
    }

    pub(crate) fn write(self, connection: &Connection) -> Result<(), StoreError> {
        let failed = failed("counting usage");
        for Share { owner, day, usage } in &self.shares {
            let mut statement = connection
                .prepare_cached(
                    "INSERT INTO daily_usage (owner_id, day, invocations, compute_ms) VALUES (?1, ?2, ?3, ?4)
                     ON CONFLICT DO UPDATE SET invocations = invocations + ?3, compute_ms = compute_ms + ?4",
                )
                .map_err(&failed)?;
            let workspace = owner.workspace_id.as_ref().map(|id| id.as_str());
            for id in std::iter::once(owner.user_id.as_str()).chain(workspace) {
                let (invocations, compute_ms) = (usage.invocations, usage.compute_ms);
                statement
                    .execute(params![
                        id,
                        signed(*day),
                        signed(invocations),
                        signed(compute_ms)
                    ])
                    .map_err(&failed)?;
            }
        }
        self.hours.write(connection)
    }
}
