//! The cost of runs, per UTC day, user and workspace.

use headwater_model::time::EpochMs;
use headwater_store::{DayUsage, EndedRun, Owner, Spender, StoreError, Usage};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    row::{signed, unsigned},
    run_hours::RunHours,
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

    pub(crate) async fn write(self, connection: &Connection) -> Result<(), StoreError> {
        let failed = failed("counting usage");
        for Share { owner, day, usage } in &self.shares {
            let workspace = owner.workspace_id.as_ref().map(|id| id.as_str());
            let ids = std::iter::once(owner.user_id.as_str()).chain(workspace);
            connection
                .execute(
                    "INSERT INTO daily_usage AS counted (owner_id, day, invocations, compute_ms)
                     SELECT id, $2, $3, $4 FROM unnest($1::text[]) AS id
                     ON CONFLICT (owner_id, day) DO UPDATE
                     SET invocations = counted.invocations + $3, compute_ms = counted.compute_ms + $4",
                    &[
                        &ids.collect::<Vec<_>>(),
                        &signed(*day),
                        &signed(usage.invocations),
                        &signed(usage.compute_ms),
                    ],
                )
                .await
                .map_err(&failed)?;
        }
        self.hours.write(connection).await
    }
}
