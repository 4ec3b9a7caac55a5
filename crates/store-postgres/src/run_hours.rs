//! Runs that have ended, counted by the hour in which they were queued: per tenant, in the rows of daily usage.

use std::collections::BTreeMap;

use headwater_model::{id::WorkspaceId, time::EpochMs};
use headwater_store::{EndedRun, Owner, RunHour, RunOutcome, StoreError, Viewer};

use crate::{
    connection::{Connection, failed},
    row::{from_json, get, signed, unsigned},
};

const HOURS: usize = 24;

/// The runs of a day: of each hour those that returned, then of each hour those that went wrong.
pub(crate) type OfDay = Vec<u64>;

/// Counts that are added up before they are written once per tenant and day.
#[derive(Default)]
pub(crate) struct RunHours(BTreeMap<(String, u64), OfDay>);

impl RunHours {
    /// Counts a run, and others that returned. A cancelled one does not count.
    pub(crate) fn count(&mut self, owner: &Owner, ended: &EndedRun, others: u64) {
        let (returned, wrong) = match ended.outcome {
            RunOutcome::Returned => (1 + others, 0),
            RunOutcome::Threw | RunOutcome::LimitExceeded(_) | RunOutcome::Lost => (others, 1),
            RunOutcome::Cancelled => (others, 0),
        };
        if returned + wrong == 0 {
            return;
        }
        let queued = ended.queued_at_ms;
        let key = (owner.tenant().to_owned(), queued.day());
        let of_day = self.0.entry(key).or_insert_with(|| vec![0; 2 * HOURS]);
        let hour = (queued.hour() % HOURS as u64) as usize;
        of_day[hour] += returned;
        of_day[HOURS + hour] += wrong;
    }

    pub(crate) fn of_days(&self) -> &BTreeMap<(String, u64), OfDay> {
        &self.0
    }
}

/// The counts of a row of daily usage and of one that is added to it, as SQL.
pub(crate) const ADDED: &str = "CASE WHEN counted.runs_by_hour IS NULL THEN excluded.runs_by_hour
          WHEN excluded.runs_by_hour IS NULL THEN counted.runs_by_hour
          ELSE (SELECT json_agg(former::bigint + more::bigint ORDER BY place)::text
                FROM ROWS FROM (json_array_elements_text(counted.runs_by_hour::json),
                                json_array_elements_text(excluded.runs_by_hour::json))
                     WITH ORDINALITY AS counts (former, more, place)) END";

/// Those of a viewer, or of a workspace of it.
pub(crate) async fn between(
    connection: &Connection,
    viewer: &Viewer,
    workspace_id: Option<&WorkspaceId>,
    (since_ms, until_ms): (EpochMs, EpochMs),
) -> Result<Vec<RunHour>, StoreError> {
    let failed = failed("reading the runs by the hour");
    let workspaces = viewer.workspace_ids.iter();
    let workspaces = workspaces.filter(|id| workspace_id.is_none_or(|wanted| wanted == *id));
    let user = workspace_id.is_none().then_some(viewer.user_id.as_str());
    let tenants: Vec<&str> = user
        .into_iter()
        .chain(workspaces.map(|id| id.as_str()))
        .collect();
    let (since, until) = (signed(since_ms.day()), signed(until_ms.day()));
    let rows = connection
        .query(
            "SELECT day, runs_by_hour FROM daily_usage
             WHERE owner_id = ANY($1) AND day BETWEEN $2 AND $3
               AND runs_by_hour IS NOT NULL",
            &[&tenants, &since, &until],
        )
        .await
        .map_err(&failed)?;
    let mut hours: BTreeMap<u64, RunHour> = BTreeMap::new();
    for row in &rows {
        let day: u64 = unsigned(row, "day")?;
        let of_day: OfDay = from_json(&get::<String>(row, "runs_by_hour")?)?;
        let counts = of_day.iter().take(HOURS).zip(of_day.iter().skip(HOURS));
        for (number, (succeeded, wrong)) in counts.enumerate() {
            let hour = day * HOURS as u64 + number as u64;
            let is_wanted = (since_ms.hour()..=until_ms.hour()).contains(&hour);
            if is_wanted && succeeded + wrong > 0 {
                let of_hour = hours.entry(hour).or_default();
                of_hour.hour = hour;
                of_hour.succeeded += succeeded;
                of_hour.failed += wrong;
            }
        }
    }
    Ok(hours.into_values().collect())
}
