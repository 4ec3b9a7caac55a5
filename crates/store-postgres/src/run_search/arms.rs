//! The stretches of indexes in which runs of a viewer's sources and workflows are found, each in the order of ids.
//!
//! Records have two for each source or workflow. Invocations have no index of one in that order, which each of them would
//! have to keep: the open runs are read in the order in which they are due, and sorted. Where there are too many of them,
//! those of all tenants are read in the order of their ids: those of others count as looked at, and match no filter.

use std::collections::{BTreeMap, BTreeSet};

use headwater_model::{id::InvocationId, time::EpochMs};
use headwater_store::{
    CappedCount, RUNS_SEARCHED_MAX, RunSearchFilter, RunStates, StoreError, Viewer,
};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, Params, failed},
    row::{get, name_of, signed},
    walk::{Arms, Direction},
};

/// Ids have 48 bits of milliseconds.
const MS_MAX: u64 = (1 << 48) - 2;

/// A run that was looked at.
#[derive(Debug, Clone)]
pub(super) struct Looked {
    pub(super) id: String,
    pub(super) is_open: bool,
    /// Whether it is of a source or workflow of the scope.
    pub(super) is_visible: bool,
    /// Whether the filter describes it.
    pub(super) matches: bool,
}

/// A filter with the sources and workflows of its viewer.
pub(super) struct Scope {
    /// Their names by their ids.
    pub(super) names: BTreeMap<String, String>,
    /// Their ids.
    ids: Vec<String>,
    /// Ids between these two alone.
    pub(super) after: String,
    pub(super) before: String,
    trigger: Option<String>,
    min_ms: Option<i64>,
    words: Option<String>,
    origin: Option<String>,
    now_ms: EpochMs,
}

/// An arm.
enum Arm {
    /// The records of a source or workflow, of those that failed or of the others.
    Ended { runnable: String, failed: bool },
    /// Runs that have not ended, by id.
    Open(Vec<Looked>),
    /// Those of all tenants that have not ended, where the viewer's are too many to be sorted.
    ManyOpen,
}

/// Whether a row is of the request or trace `$8`; a `traceparent` has the trace's 32 digits behind its version.
const ORIGIN_MATCHES: &str = "($8::text IS NULL OR coalesce(request_id, '') = $8
    OR coalesce(substr(traceparent, 4, 32), '') = lower($8))";

/// Whether a row of invocations is described by a filter, whose fields are `$4` to `$6` and `$8`.
fn open_matches() -> String {
    format!(
        "($4::text IS NULL OR trigger = $4) AND ($5::bigint IS NULL OR queued_at_ms <= $5) AND $6::text IS NULL
         AND {ORIGIN_MATCHES}"
    )
}

/// The arms of a walk.
pub(super) struct RunArms<'a> {
    scope: &'a Scope,
    /// The condition on the outcome, if only some are meant.
    outcomes: Option<String>,
    arms: Vec<Arm>,
}

impl Scope {
    pub(super) async fn of(
        connection: &Connection,
        viewer: &Viewer,
        filter: &RunSearchFilter,
        now_ms: EpochMs,
    ) -> Result<Self, StoreError> {
        let since = filter.since_ms.unwrap_or_default().0.min(MS_MAX);
        let until = filter.until_ms.map_or(MS_MAX, |until| until.0.min(MS_MAX));
        let at = |ms: u64| InvocationId::new(EpochMs(ms), 0).to_string();
        let names = names(connection, viewer, filter).await?;
        Ok(Self {
            ids: names.keys().cloned().collect(),
            names,
            after: at(since),
            before: at(until + 1),
            trigger: filter.trigger.as_ref().map(name_of).transpose()?,
            min_ms: filter.min_ms.map(signed),
            words: filter
                .words
                .as_ref()
                .map(|words| words.to_ascii_lowercase()),
            origin: filter.origin.clone(),
            now_ms,
        })
    }

    /// The arms of runs in these states, or in any.
    pub(super) async fn arms(
        &self,
        connection: &Connection,
        states: Option<&RunStates>,
        (after, before): (&str, &str),
    ) -> Result<RunArms<'_>, StoreError> {
        let mut arms = Vec::new();
        if states.is_none_or(|states| states.open) {
            let (mut open, are_more) = self.open(connection, RUNS_SEARCHED_MAX as usize).await?;
            open.retain(|looked| *looked.id > *after && *looked.id < *before);
            open.sort_by(|one, other| one.id.cmp(&other.id));
            arms.push(match are_more {
                true => Arm::ManyOpen,
                false => Arm::Open(open),
            });
        }
        for failed in [false, true] {
            let is_wanted = |states: &RunStates| {
                let mut outcomes = states.outcomes.iter();
                outcomes.any(|outcome| outcome.is_failure() == failed)
            };
            if states.is_none_or(is_wanted) {
                arms.extend(self.names.keys().map(|runnable| Arm::Ended {
                    runnable: runnable.clone(),
                    failed,
                }));
            }
        }
        let outcomes = states.map(condition);
        Ok(RunArms {
            scope: self,
            outcomes,
            arms,
        })
    }

    /// Runs that have not ended, up to `limit`, and whether there are more.
    async fn open(
        &self,
        connection: &Connection,
        limit: usize,
    ) -> Result<(Vec<Looked>, bool), StoreError> {
        let failed = failed("searching runs");
        let sql = format!(
            "SELECT id, id > $2 AND id < $3 AND {} AS matches
             FROM invocations WHERE runnable_id = $1
             ORDER BY due_at_ms, position LIMIT $7",
            open_matches()
        );
        let queued_before = self.queued_before();
        let mut open = Vec::new();
        for runnable in self.names.keys() {
            let left = i64::try_from(limit - open.len()).unwrap_or(i64::MAX);
            // One more than may be looked at shows whether these are all.
            let limit_beyond = left.saturating_add(1);
            let parameters: Params<'_> = &[
                runnable,
                &self.after,
                &self.before,
                &self.trigger,
                &queued_before,
                &self.words,
                &limit_beyond,
                &self.origin,
            ];
            let rows = connection.query(&sql, parameters).await.map_err(&failed)?;
            for row in &rows {
                if open.len() == limit {
                    return Ok((open, true));
                }
                open.push(looked(row, true)?);
            }
        }
        Ok((open, false))
    }

    /// The latest moment at which an open run of the filter was queued.
    fn queued_before(&self) -> Option<i64> {
        self.min_ms.map(|ms| signed(self.now_ms).saturating_sub(ms))
    }

    /// Up to `limit` runs of all tenants that have not ended, in the order of their ids.
    async fn many_open(
        &self,
        connection: &Connection,
        (after, before): (&str, &str),
        direction: Direction,
        limit: i64,
    ) -> Result<Vec<Looked>, StoreError> {
        let queued_before = self.queued_before();
        let parameters: Params<'_> = &[
            &self.ids,
            &after,
            &before,
            &self.trigger,
            &queued_before,
            &self.words,
            &limit,
            &self.origin,
        ];
        read(connection, &many_open_sql(direction), parameters, looked_at).await
    }

    pub(super) async fn count_open(
        &self,
        connection: &Connection,
        limit: usize,
    ) -> Result<CappedCount, StoreError> {
        let (open, is_capped) = self.open(connection, limit).await?;
        Ok(CappedCount {
            count: open.iter().filter(|looked| looked.matches).count() as u64,
            is_capped,
        })
    }

    /// Counts runs that have ended, arm by arm: the order does not matter.
    pub(super) async fn count(
        &self,
        connection: &Connection,
        states: &RunStates,
        limit: usize,
    ) -> Result<CappedCount, StoreError> {
        let between = (&*self.after, &*self.before);
        let arms = self.arms(connection, Some(states), between).await?;
        let (mut counted, mut left) = (CappedCount::default(), limit);
        for place in 0..arms.count() {
            let looked = arms
                .look(connection, place, between, Direction::Newest, left + 1)
                .await?;
            let within = looked.len().min(left);
            let matching = looked[..within].iter().filter(|one| one.matches);
            counted.count += matching.count() as u64;
            if looked.len() > left {
                counted.is_capped = true;
                break;
            }
            left -= within;
        }
        Ok(counted)
    }
}

/// Invocations between `$2` and `$3`, by the index of ids; only those of sources and workflows in the list `$1` match.
fn many_open_sql(direction: Direction) -> String {
    format!(
        "SELECT id, {} AS matches, runnable_id = ANY($1) AS is_visible
         FROM invocations WHERE id > $2 AND id < $3 ORDER BY id {} LIMIT $7",
        open_matches(),
        direction.order()
    )
}

async fn read(
    connection: &Connection,
    sql: &str,
    parameters: Params<'_>,
    looked: impl Fn(&Row) -> Result<Looked, StoreError>,
) -> Result<Vec<Looked>, StoreError> {
    let failed = failed("searching runs");
    let rows = connection.query(sql, parameters).await.map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(looked(row)?);
    }
    Ok(found)
}

/// A row of all tenants' runs, which matches if it is of the scope.
fn looked_at(row: &Row) -> Result<Looked, StoreError> {
    let looked = looked(row, true)?;
    let is_visible = get(row, "is_visible")?;
    Ok(Looked {
        is_visible,
        matches: is_visible && looked.matches,
        ..looked
    })
}

fn looked(row: &Row, is_open: bool) -> Result<Looked, StoreError> {
    Ok(Looked {
        id: get(row, "id")?,
        is_open,
        is_visible: true,
        matches: get(row, "matches")?,
    })
}

/// The condition on a record's outcome.
fn condition(states: &RunStates) -> String {
    // Each once and in one order, however they were asked for: the statement is prepared once.
    let names = states.outcomes.iter().map(|outcome| outcome.name());
    let names: BTreeSet<_> = names.map(|name| format!("'{name}'")).collect();
    let names: Vec<_> = names.into_iter().collect();
    format!("outcome IN ({})", names.join(", "))
}

impl RunArms<'_> {
    /// Records of a source or workflow `$1` between `$2` and `$3`.
    fn sql(&self, failed: bool, direction: Direction) -> String {
        format!(
            "SELECT id, {} AND ($4::text IS NULL OR trigger = $4)
                    AND ($5::bigint IS NULL OR ended_at_ms - started_at_ms >= $5)
                    AND ($6::text IS NULL OR strpos(lower(coalesce(error, '')), $6) > 0)
                    AND {ORIGIN_MATCHES} AS matches
             FROM runs WHERE runnable_id = $1 AND failed = {failed} AND id > $2 AND id < $3 ORDER BY id {} LIMIT $7",
            self.outcomes.as_deref().unwrap_or("TRUE"),
            direction.order()
        )
    }
}

impl Arms for RunArms<'_> {
    type Row = Looked;

    fn id(row: &Looked) -> &str {
        &row.id
    }

    fn count(&self) -> usize {
        self.arms.len()
    }

    async fn look(
        &self,
        connection: &Connection,
        place: usize,
        (after, before): (&str, &str),
        direction: Direction,
        limit: usize,
    ) -> Result<Vec<Looked>, StoreError> {
        let row_limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let scope = self.scope;
        let (runnable, failed) = match &self.arms[place] {
            Arm::Ended { runnable, failed } => (runnable, *failed),
            Arm::ManyOpen => {
                return scope
                    .many_open(connection, (after, before), direction, row_limit)
                    .await;
            }
            Arm::Open(open) => {
                let from = open.partition_point(|looked| *looked.id <= *after);
                let to = open.partition_point(|looked| *looked.id < *before);
                let between = open[from..to].iter();
                return Ok(match direction {
                    Direction::Newest => between.rev().take(limit).cloned().collect(),
                    Direction::Oldest => between.take(limit).cloned().collect(),
                });
            }
        };
        let parameters: Params<'_> = &[
            runnable,
            &after,
            &before,
            &scope.trigger,
            &scope.min_ms,
            &scope.words,
            &row_limit,
            &scope.origin,
        ];
        let sql = self.sql(failed, direction);
        read(connection, &sql, parameters, |row| looked(row, false)).await
    }
}

/// The sources and workflows of a filter that the viewer may see, with their names.
async fn names(
    connection: &Connection,
    viewer: &Viewer,
    filter: &RunSearchFilter,
) -> Result<BTreeMap<String, String>, StoreError> {
    let failed = failed("looking for sources and workflows");
    let workspaces: Vec<&str> = viewer.workspace_ids.iter().map(|id| id.as_str()).collect();
    let workspace = match &filter.workspace_id {
        Some(_) => "workspace_id = $3",
        None => "$3::text IS NULL",
    };
    let one = match &filter.runnable {
        Some(_) => "id = $4",
        None => "$4::text IS NULL",
    };
    let of = |table: &str| {
        format!(
            "SELECT id, name FROM {table}
             WHERE (user_id = $1 OR workspace_id = ANY($2)) AND {workspace} AND {one}
               AND state <> 'deleting'"
        )
    };
    let sql = format!("{} UNION ALL {}", of("sources"), of("workflows"));
    let workspace_id = filter.workspace_id.as_ref().map(|id| id.as_str());
    let runnable = filter.runnable.as_ref().map(|id| id.as_str());
    let parameters: Params<'_> = &[
        &viewer.user_id.as_str(),
        &workspaces,
        &workspace_id,
        &runnable,
    ];
    let rows = connection.query(&sql, parameters).await.map_err(failed)?;
    let names = rows
        .iter()
        .map(|row| Ok((get(row, "id")?, get(row, "name")?)));
    names.collect()
}
