//! The rows of emitters: owner, lease, last event id and dedupe state of each, read and written together.

use std::collections::BTreeMap;

use futures::try_join;
use headwater_model::{
    dedupe,
    id::{EventId, RunnableId},
    time::EpochMs,
};
use headwater_store::{Conflict, Entity, NodeEpoch, Owner, RunnableLease, Source, StoreError};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    counted_events::{self, Change},
    living,
    owner::{self, Departure},
    row::{from_json, get, list, moment, signed, to_json, unsigned},
};

/// An emitter as a commit needs it.
pub(crate) struct Emitter {
    pub(crate) owner: Owner,
    pub(crate) last: Option<EventId>,
    holder: Option<NodeEpoch>,
    fence: u64,
}

impl Emitter {
    /// Whether the lease is the current one.
    fn is_under(&self, lease: &RunnableLease) -> bool {
        (self.holder, self.fence) == (Some(lease.epoch), lease.fence)
    }
}

/// Writes the row of a new source, leased to the epoch.
pub(crate) async fn insert(
    connection: &Connection,
    source: &Source,
    epoch: NodeEpoch,
) -> Result<RunnableLease, StoreError> {
    let lease = RunnableLease {
        runnable: source.id.clone().into(),
        epoch,
        fence: 1,
    };
    connection
        .execute("INSERT INTO emitters (emitter_id, user_id, workspace_id, lease_epoch, fence) VALUES ($1, $2, $3, $4, $5)", &[&source.id.as_str(), &source.owner.user_id.as_str(), &source.owner.workspace_id.as_ref().map(|id| id.as_str()), &signed(lease.epoch.0), &signed(lease.fence)]).await
        .map_err(failed("writing an emitter"))?;
    Ok(lease)
}

/// Writes the row of a new workflow, which nobody holds.
pub(crate) async fn insert_free(
    connection: &Connection,
    id: &str,
    owner: &Owner,
) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO emitters (emitter_id, user_id, workspace_id) VALUES ($1, $2, $3)",
            &[
                &id,
                &owner.user_id.as_str(),
                &owner.workspace_id.as_ref().map(|id| id.as_str()),
            ],
        )
        .await
        .map_err(failed("writing an emitter"))
        .map(drop)
}

/// The rows that a step locks until it has ended. What it writes may be nothing that others read, so that the database alone
/// would not see one overtake the other.
#[derive(Clone, Copy)]
enum Lock {
    /// The leases stay as they are.
    OfLeases,
    /// The rest of the rows does, too.
    OfRows,
    /// Nobody else depends on the leases.
    ToLease,
}

impl Lock {
    fn sql(self) -> &'static str {
        match self {
            Self::OfLeases => "FOR KEY SHARE",
            Self::OfRows => "FOR NO KEY UPDATE",
            Self::ToLease => "FOR UPDATE",
        }
    }
}

/// Emitters, and the epochs that have not ended of those that have leases.
pub(crate) struct Locked {
    emitters: BTreeMap<String, Emitter>,
    epochs: Vec<i64>,
}

impl Locked {
    /// The emitters of leases, to be written to.
    pub(crate) async fn of(
        connection: &Connection,
        leases: &[&RunnableLease],
    ) -> Result<Self, StoreError> {
        Self::with(connection, leases, Lock::OfRows).await
    }

    /// The emitters of leases, for a step that only depends on those: commits need not wait for it.
    pub(crate) async fn leased(
        connection: &Connection,
        leases: &[&RunnableLease],
    ) -> Result<Self, StoreError> {
        Self::with(connection, leases, Lock::OfLeases).await
    }

    async fn with(
        connection: &Connection,
        leases: &[&RunnableLease],
        lock: Lock,
    ) -> Result<Self, StoreError> {
        let ids = list(leases, |lease| lease.runnable.as_str());
        let epochs = list(leases, |lease| signed(lease.epoch.0));
        let (emitters, epochs) = try_join!(
            locked(connection, &ids, lock),
            living::begun(connection, &epochs)
        )?;
        Ok(Self { emitters, epochs })
    }

    /// The emitter of the lease, if the lease is the current one.
    pub(crate) fn under(&self, lease: &RunnableLease) -> Result<&Emitter, StoreError> {
        let emitter = self.emitters.get(lease.runnable.as_str());
        let emitter = emitter.ok_or_else(|| gone(&lease.runnable))?;
        match emitter.is_under(lease) && self.epochs.contains(&signed(lease.epoch.0)) {
            true => Ok(emitter),
            false => Err(Conflict::LeaseLost.into()),
        }
    }
}

/// The emitters with these ids, by id, locked in the order of the ids.
async fn locked(
    connection: &Connection,
    ids: &[&str],
    lock: Lock,
) -> Result<BTreeMap<String, Emitter>, StoreError> {
    let sql = format!(
        "SELECT emitter_id, user_id, workspace_id, lease_epoch, fence, last_ms, last_sequence
         FROM emitters WHERE emitter_id = ANY($1) ORDER BY emitter_id {}",
        lock.sql()
    );
    let found = connection.query(&sql, &[&ids]).await;
    let found = found.map_err(failed("reading emitters"))?;
    let found = found.iter();
    found
        .map(|row| Ok((get(row, "emitter_id")?, emitter(row)?)))
        .collect()
}

fn emitter(row: &Row) -> Result<Emitter, StoreError> {
    let holder: Option<i64> = get(row, "lease_epoch")?;
    Ok(Emitter {
        owner: owner::of(row)?,
        last: last(row)?,
        holder: holder.map(|epoch| NodeEpoch(epoch.unsigned_abs())),
        fence: unsigned(row, "fence")?,
    })
}

fn last(row: &Row) -> Result<Option<EventId>, StoreError> {
    match get::<Option<i64>>(row, "last_ms")? {
        None => Ok(None),
        Some(ms) => Ok(Some(EventId {
            ms: moment(ms),
            sequence: unsigned(row, "last_sequence")?,
        })),
    }
}

/// Makes sure that the lease is the current one, and stays it until the step has ended.
pub(crate) async fn check_held(
    connection: &Connection,
    lease: &RunnableLease,
) -> Result<(), StoreError> {
    let locked = Locked::of(connection, &[lease]).await?;
    locked.under(lease).map(drop)
}

pub(crate) fn gone(runnable: &RunnableId) -> StoreError {
    Conflict::Gone(Entity::Runnable(runnable.clone())).into()
}

/// Leases the runnable to an epoch, unless a living one holds it.
pub(crate) async fn lease(
    connection: &Connection,
    runnable: &RunnableId,
    epoch: NodeEpoch,
    now_ms: EpochMs,
) -> Result<RunnableLease, StoreError> {
    let found = locked(connection, &[runnable.as_str()], Lock::ToLease).await?;
    let emitter = found.into_values().next().ok_or_else(|| gone(runnable))?;
    let mut lease = RunnableLease {
        runnable: runnable.clone(),
        epoch,
        fence: emitter.fence,
    };
    if emitter.is_under(&lease) && !living::has_ended(connection, epoch).await? {
        return Ok(lease);
    }
    if !living::may_take(connection, epoch).await? {
        return Err(Conflict::LeaseLost.into());
    }
    if let Some(holder) = emitter.holder {
        living::declare_dead(connection, holder, now_ms).await?;
        free_invocations(connection, &lease, false).await?;
    }
    lease.fence += 1;
    connection
        .execute(
            "UPDATE emitters SET lease_epoch = $2, fence = $3 WHERE emitter_id = $1",
            &[&runnable.as_str(), &signed(epoch.0), &signed(lease.fence)],
        )
        .await
        .map_err(failed("leasing a runnable"))?;
    Ok(lease)
}

/// Gives the runnable back, if the lease is still the current one.
pub(crate) async fn release(
    connection: &Connection,
    lease: &RunnableLease,
) -> Result<(), StoreError> {
    locked(connection, &[lease.runnable.as_str()], Lock::ToLease).await?;
    let released = connection
        .execute("UPDATE emitters SET lease_epoch = NULL WHERE emitter_id = $1 AND lease_epoch = $2 AND fence = $3", &[&lease.runnable.as_str(), &signed(lease.epoch.0), &signed(lease.fence)]).await
        .map_err(failed("giving a runnable back"))?;
    match released {
        0 => Ok(()),
        _ => free_invocations(connection, lease, true).await,
    }
}

/// Frees the leased invocations of a runnable. Released ones do not count as starts.
async fn free_invocations(
    connection: &Connection,
    lease: &RunnableLease,
    is_given_back: bool,
) -> Result<(), StoreError> {
    connection
        .execute("UPDATE invocations SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + $2
             WHERE runnable_id = $1 AND lease_epoch IS NOT NULL", &[&lease.runnable.as_str(), &i64::from(is_given_back)]).await
        .map_err(failed("freeing invocations"))
        .map(drop)
}

/// The last event id of an existing emitter.
pub(crate) async fn last_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<EventId>, StoreError> {
    let found = locked(connection, &[id], Lock::OfRows).await?;
    match found.into_values().next() {
        Some(emitter) => Ok(emitter.last),
        None => Err(match id.parse() {
            Ok(runnable) => gone(&runnable),
            Err(error) => StoreError::Corrupt(format!("an emitter: {error}")),
        }),
    }
}

/// Whether the emitter has a log.
pub(crate) async fn is_there(connection: &Connection, id: &str) -> Result<bool, StoreError> {
    connection
        .exists("SELECT 1 FROM emitters WHERE emitter_id = $1", &[&id])
        .await
        .map_err(failed("looking an emitter up"))
}

/// How appended events change an emitter's row.
pub(crate) struct Moved<'a> {
    pub(crate) emitter: &'a str,
    /// The last event.
    pub(crate) last: Option<EventId>,
    /// A new dedupe state, if there is one.
    pub(crate) dedupe: Option<&'a dedupe::State>,
    pub(crate) events: Change,
}

/// Advances emitters, and counts their new events.
pub(crate) async fn move_on(
    connection: &Connection,
    moved: &[Moved<'_>],
) -> Result<(), StoreError> {
    if moved.is_empty() {
        return Ok(());
    }
    let states = moved.iter().map(|of| of.dedupe.map(to_json).transpose());
    let states: Vec<Option<String>> = states.collect::<Result<_, _>>()?;
    let counts = |class: usize| list(moved, |of| of.events.of_classes()[class]);
    connection
        .execute(
            "UPDATE emitters
             SET last_ms = moved.ms, last_sequence = moved.sequence,
                 dedupe_state = coalesce(moved.state, dedupe_state),
                 ordinary_events = ordinary_events + moved.ordinary, error_events = error_events + moved.errors,
                 log_events = log_events + moved.logs, scheduled_events = scheduled_events + moved.scheduled
             FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[],
                         $8::bigint[]) AS moved (id, ms, sequence, state, ordinary, errors, logs, scheduled)
             WHERE emitter_id = moved.id",
            &[
                &list(moved, |of| of.emitter),
                &list(moved, |of| of.last.map(|last| signed(last.ms))),
                &list(moved, |of| of.last.map(|last| signed(last.sequence))),
                &states,
                &counts(0),
                &counts(1),
                &counts(2),
                &counts(3),
            ],
        )
        .await
        .map_err(failed("moving emitters on"))?;
    let changes: Vec<_> = moved.iter().map(|of| (of.emitter, &of.events)).collect();
    counted_events::write_channels(connection, &changes).await
}

pub(crate) async fn dedupe_state(
    connection: &Connection,
    id: &str,
) -> Result<Option<dedupe::State>, StoreError> {
    let text: Option<Option<String>> = connection
        .value_opt(
            "SELECT dedupe_state FROM emitters WHERE emitter_id = $1",
            &[&id],
        )
        .await
        .map_err(failed("reading the dedupe state"))?;
    text.flatten().map(|text| from_json(&text)).transpose()
}

pub(crate) async fn forget_dedupe_state(
    connection: &Connection,
    id: &str,
) -> Result<(), StoreError> {
    connection
        .execute(
            "UPDATE emitters SET dedupe_state = NULL WHERE emitter_id = $1",
            &[&id],
        )
        .await
        .map_err(failed("resetting dedupe"))
        .map(drop)
}

/// Transfers the emitters of a user's sources in a workspace to the successor, before the sources themselves.
pub(crate) async fn pass_on(
    connection: &Connection,
    departure: Departure<'_>,
) -> Result<(), StoreError> {
    let Departure {
        workspace_id,
        user_id,
        successor,
    } = departure;
    connection
        .execute("UPDATE emitters SET user_id = $3
             WHERE emitter_id IN (SELECT id FROM sources WHERE workspace_id = $1 AND user_id = $2
                                  UNION ALL SELECT id FROM workflows WHERE workspace_id = $1 AND user_id = $2)", &[&workspace_id, &user_id, &successor]).await
        .map_err(failed("passing emitters on"))
        .map(drop)
}
