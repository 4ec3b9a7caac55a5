//! The queue of invocations: leases, claims and commits behind the trait.

use std::sync::Arc;

use async_trait::async_trait;
use headwater_model::{
    id::{InvocationId, RunnableId},
    origin::Origin,
};
use headwater_store::{
    Backlog, Claimed, Conflict, Entity, Lease, LeaseTerm, NewInvocation, NodeEpoch, Progress,
    RunCommit, RunnableLease, SourceState, StoreError, Taken, WorkLimit, WorkQueue,
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    SqliteStore, backlog,
    connection::{failed, is_taken},
    emitters,
    living::{Living, as_json},
    row::{get, name_of, named, parsed, raw, signed, trace, unsigned},
    run_commit, timers,
};

/// An invocation that may be claimed: nobody holds it, or the lease ran out.
const FREE: &str = "(lease_epoch IS NULL OR lease_expires_at_ms <= ?1)";

#[async_trait]
impl WorkQueue for SqliteStore {
    async fn enqueue(
        &self,
        invocation: NewInvocation,
        lease: Option<(RunnableLease, LeaseTerm)>,
    ) -> Result<Option<Lease>, StoreError> {
        let living = self.living.clone();
        self.write(move |connection| enqueue(connection, &living, &invocation, lease.as_ref()))
            .await
    }

    async fn claim(
        &self,
        lease: &RunnableLease,
        term: LeaseTerm,
        now_ms: u64,
        limit: WorkLimit,
    ) -> Result<Vec<Claimed>, StoreError> {
        let (living, lease) = (self.living.clone(), lease.clone());
        self.write(move |connection| {
            emitters::held(connection, &living, &lease)?;
            match term.epoch == lease.epoch {
                true => claim(connection, &lease.runnable, term, (now_ms, limit)),
                false => Err(Conflict::LeaseLost.into()),
            }
        })
        .await
    }

    async fn runnables_with_work(
        &self,
        epoch: NodeEpoch,
        now_ms: u64,
        after: Option<&RunnableId>,
        limit: u32,
    ) -> Result<Vec<RunnableId>, StoreError> {
        let after = after.map(ToString::to_string).unwrap_or_default();
        let others = self.living.besides(epoch, now_ms);
        self.read(move |connection| {
            runnables_with_work(connection, (epoch, &others), now_ms, (&after, limit))
        })
        .await
    }

    async fn backlog(&self, now_ms: u64) -> Result<Backlog, StoreError> {
        self.read(move |connection| backlog::read(connection, now_ms))
            .await
    }

    async fn extend_leases(&self, leases: &[Lease], expires_at_ms: u64) -> Result<(), StoreError> {
        let leases = leases.to_vec();
        self.write(move |connection| {
            leases.iter().try_for_each(|lease| {
                update(
                    connection,
                    lease,
                    "SET lease_expires_at_ms = ?4",
                    signed(expires_at_ms),
                )
            })
        })
        .await
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let lease = lease.clone();
        let free =
            "SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + ?4";
        self.write(move |connection| update(connection, &lease, free, 1))
            .await
    }

    async fn commit_runs(&self, commits: Arc<[RunCommit]>) -> Vec<Result<(), StoreError>> {
        let count = commits.len();
        let living = self.living.clone();
        let written = self
            .writer
            .run_parts(move |connection| run_commit::commit_all(connection, &living, &commits))
            .await;
        match written {
            Ok(results) => results,
            Err(error) => {
                let message = error.to_string();
                (0..count)
                    .map(|_| Err(StoreError::unavailable("committing runs", message.clone())))
                    .collect()
            }
        }
    }

    async fn fire_timers(&self, now_ms: u64, limit: u32) -> Result<Progress, StoreError> {
        // Looking costs no transaction; most looks find that nothing is due.
        let next_due_ms = self.read(timers::next_due).await?;
        if next_due_ms.is_none_or(|due_ms| due_ms > now_ms) {
            return Ok(Progress {
                next_due_ms,
                ..Progress::default()
            });
        }
        self.write(move |connection| timers::fire(connection, now_ms, limit))
            .await
    }
}

/// The id of an invocation that follows from stored rows: unique per pair, and time-ordered like any.
pub(crate) fn invocation_id(now_ms: u64, pair: (i64, i64)) -> InvocationId {
    InvocationId::new(now_ms, entropy_of(pair))
}

/// What stands in an id for its random bits when it follows from stored rows: 40 bits of each.
pub(crate) fn entropy_of((first, second): (i64, i64)) -> u128 {
    let half = |number: i64| u128::from(number.unsigned_abs() & 0xFF_FFFF_FFFF);
    (half(first) << 88) | (half(second) << 48)
}

fn enqueue(
    connection: &Connection,
    living: &Living,
    invocation: &NewInvocation,
    lease: Option<&(RunnableLease, LeaseTerm)>,
) -> Result<Option<Lease>, StoreError> {
    check_takes_triggers(connection, &invocation.runnable)?;
    let term = match lease {
        Some((lease, term)) if lease.runnable == invocation.runnable => {
            let is_held = is_held(connection, living, lease)? && lease.epoch == term.epoch;
            is_held.then_some(*term)
        }
        _ => None,
    };
    let id = invocation.runnable.as_str();
    let failed = failed("queueing an invocation");
    let trigger = name_of(&invocation.trigger)?;
    connection
        .prepare_cached(
            "INSERT INTO invocations (id, runnable_id, trigger, event, hops, queued_at_ms, lease_epoch,
                                      lease_expires_at_ms, attempt, request_id, traceparent)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                invocation.id.as_str(),
                id,
                trigger,
                invocation.event.get(),
                invocation.hops,
                signed(invocation.now_ms),
                term.map(|term| signed(term.epoch.0)),
                term.map(|term| signed(term.expires_at_ms)),
                u32::from(term.is_some()),
                invocation.origin.request_id(),
                invocation.origin.trace.as_ref().map(ToString::to_string),
            ])
        })
        .map_err(|error| match is_taken(&error) {
            true => Conflict::Taken(Taken::Invocation(invocation.id.clone())).into(),
            false => failed(error),
        })?;
    Ok(term.map(|term| Lease {
        invocation_id: invocation.id.clone(),
        epoch: term.epoch,
        attempt: 1,
    }))
}

fn check_takes_triggers(connection: &Connection, runnable: &RunnableId) -> Result<(), StoreError> {
    let state: Option<String> = connection
        .prepare_cached("SELECT state FROM sources WHERE id = ?")
        .and_then(|mut statement| {
            let state = statement.query_row([runnable.as_str()], |row| row.get(0));
            state.optional()
        })
        .map_err(failed("queueing an invocation"))?;
    match state.as_deref().map(named).transpose()? {
        None | Some(SourceState::Deleting) => Err(emitters::gone(runnable)),
        Some(SourceState::Inactive) => {
            Err(Conflict::Inactive(Entity::Runnable(runnable.clone())).into())
        }
        Some(SourceState::Active | SourceState::Deploying | SourceState::Updating) => Ok(()),
    }
}

fn is_held(
    connection: &Connection,
    living: &Living,
    lease: &RunnableLease,
) -> Result<bool, StoreError> {
    match emitters::held(connection, living, lease) {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

fn claim(
    connection: &Connection,
    id: &RunnableId,
    term: LeaseTerm,
    (now_ms, limit): (u64, WorkLimit),
) -> Result<Vec<Claimed>, StoreError> {
    let failed = failed("claiming invocations");
    let mut statement = connection
        .prepare_cached(&format!(
            "UPDATE invocations SET lease_epoch = ?4, lease_expires_at_ms = ?5, attempt = attempt + 1
             WHERE position IN (
                 SELECT position
                 FROM (SELECT position, sum(bytes) OVER (ORDER BY position) - bytes AS before
                       FROM (SELECT position, octet_length(event) AS bytes FROM invocations
                             WHERE runnable_id = ?2 AND {FREE} ORDER BY position LIMIT ?3))
                 WHERE before < ?6)
             RETURNING *"
        ))
        .map_err(&failed)?;
    let parameters = params![
        signed(now_ms),
        id.as_str(),
        limit.invocations,
        signed(term.epoch.0),
        signed(term.expires_at_ms),
        signed(limit.bytes)
    ];
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let mut found: Vec<(i64, Claimed)> = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push((get(row, "position")?, claimed(row, term.epoch)?));
    }
    // RETURNING promises no order.
    found.sort_by_key(|(position, _)| *position);
    Ok(found.into_iter().map(|(_, claimed)| claimed).collect())
}

fn claimed(row: &Row<'_>, epoch: NodeEpoch) -> Result<Claimed, StoreError> {
    Ok(Claimed {
        lease: Lease {
            invocation_id: parsed(row, "id")?,
            epoch,
            attempt: get(row, "attempt")?,
        },
        runnable: parsed(row, "runnable_id")?,
        trigger: named(&get::<String>(row, "trigger")?)?,
        event: raw(row, "event")?.into(),
        hops: get(row, "hops")?,
        queued_at_ms: unsigned(row, "queued_at_ms")?,
        origin: Origin {
            request_id: get::<Option<String>>(row, "request_id")?.map(Arc::from),
            trace: trace(row)?,
        },
        starts: get::<u32>(row, "attempt")?.saturating_sub(get(row, "given_back")?),
    })
}

/// Goes from runnable to runnable through the index, so that what waits behind one is not read.
fn runnables_with_work(
    connection: &Connection,
    (epoch, others): (NodeEpoch, &[NodeEpoch]),
    now_ms: u64,
    (after, limit): (&str, u32),
) -> Result<Vec<RunnableId>, StoreError> {
    let failed = failed("looking for work");
    // An invocation that a dead node holds is free as soon as its runnable is taken over.
    let mut statement = connection
        .prepare_cached(&format!(
            "WITH RECURSIVE waiting (runnable) AS (
                 SELECT min(runnable_id) FROM invocations WHERE runnable_id > ?2
                 UNION ALL
                 SELECT (SELECT min(runnable_id) FROM invocations WHERE runnable_id > runnable)
                 FROM waiting WHERE runnable IS NOT NULL)
             SELECT runnable FROM waiting CROSS JOIN sources ON sources.id = runnable
                                          CROSS JOIN emitters ON emitter_id = runnable
             WHERE state IN ('active', 'updating', 'deploying')
               AND (emitters.lease_epoch IS NULL
                    OR emitters.lease_epoch NOT IN (SELECT value FROM json_each(?4)))
               AND EXISTS (SELECT 1 FROM invocations
                           WHERE runnable_id = runnable
                             AND ({FREE} OR lease_epoch NOT IN (SELECT value FROM json_each(?5))))
             LIMIT ?3"
        ))
        .map_err(&failed)?;
    let living: Vec<NodeEpoch> = others.iter().copied().chain([epoch]).collect();
    let parameters = params![
        signed(now_ms),
        after,
        limit,
        as_json(others),
        as_json(&living)
    ];
    let mut rows = statement.query(parameters).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(parsed(row, "runnable")?);
    }
    Ok(found)
}

/// Changes an invocation if the lease still holds; `?4` is `value`.
fn update(connection: &Connection, lease: &Lease, set: &str, value: i64) -> Result<(), StoreError> {
    connection
        .prepare_cached(&format!(
            "UPDATE invocations {set} WHERE id = ?1 AND lease_epoch = ?2 AND attempt = ?3"
        ))
        .and_then(|mut statement| {
            statement.execute(params![
                lease.invocation_id.as_str(),
                signed(lease.epoch.0),
                lease.attempt,
                value
            ])
        })
        .map_err(failed("changing a lease"))
        .map(drop)
}
