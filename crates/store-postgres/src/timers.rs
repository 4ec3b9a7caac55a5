//! Timers: the tick is queued and the timer moves on in the same transaction.

use std::collections::BTreeMap;

use headwater_model::{id::RunnableId, schedule::Schedule, time::EpochMs};
use headwater_store::{
    Progress, SettledSource, Source, StoreError, Timer, Trigger, WorkflowDeploy,
    derived_id::{self, Seed},
};
use serde_json::Value;
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    row::{get, json, moment, name_of, parsed, signed, unsigned},
};

/// Timers that will fire. An inactive source's timers keep their phase for when it is active again; the joins use
/// the timers' index.
const SCHEDULED: &str = "timers LEFT JOIN sources ON sources.id = timers.runnable_id
    LEFT JOIN workflows ON workflows.id = timers.runnable_id
    WHERE next_fire_at_ms IS NOT NULL AND coalesce(sources.state, workflows.state) = 'active'";

/// A timer that is due.
struct Due {
    position: i64,
    runnable: RunnableId,
    prop: String,
    event: String,
    next_ms: Option<EpochMs>,
}

/// When the next timer is due.
pub(crate) async fn next_due(connection: &Connection) -> Result<Option<EpochMs>, StoreError> {
    let next: Option<i64> = connection
        .value_opt(
            &format!("SELECT next_fire_at_ms FROM {SCHEDULED} ORDER BY next_fire_at_ms LIMIT 1"),
            &[],
        )
        .await
        .map_err(failed("looking for timers"))?;
    Ok(next.map(moment))
}

pub(crate) async fn fire(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    let due = due(connection, now_ms, limit).await?;
    let mut progress = Progress {
        more: due.len() == limit as usize,
        ..Progress::default()
    };
    for timer in due {
        let queued = queue_tick(connection, &timer, now_ms).await?;
        connection
            .execute(
                "UPDATE timers SET next_fire_at_ms = $1 WHERE position = $2",
                &[&timer.next_ms.map(signed), &timer.position],
            )
            .await
            .map_err(failed("moving a timer on"))?;
        progress.done += 1;
        if queued && !progress.woken.contains(&timer.runnable) {
            progress.woken.push(timer.runnable);
        }
    }
    progress.next_due_ms = next_due(connection).await?;
    Ok(progress)
}

async fn due(connection: &Connection, now_ms: EpochMs, limit: u32) -> Result<Vec<Due>, StoreError> {
    let failed = failed("looking for timers");
    let rows = connection
        .query(
            &format!(
                "SELECT timers.* FROM {SCHEDULED} AND next_fire_at_ms <= $1 ORDER BY next_fire_at_ms LIMIT $2"
            ),
            &[&signed(now_ms), &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    let mut due = Vec::new();
    for row in &rows {
        let schedule = schedule(row)?;
        let due_ms = unsigned(row, "next_fire_at_ms")?;
        let runnable = parsed(row, "runnable_id")?;
        let event = match &runnable {
            RunnableId::Source(_) => schedule.tick_event(due_ms),
            RunnableId::Workflow(_) => schedule.workflow_tick_event(due_ms),
        };
        due.push(Due {
            position: get(row, "position")?,
            runnable,
            prop: get(row, "prop")?,
            event: event.to_string(),
            next_ms: schedule.next_after(due_ms, now_ms),
        });
    }
    Ok(due)
}

/// Queues the tick, unless an earlier one of the timer still waits: in the queue, or leased by a runner while another
/// one runs. A run of a workflow that has begun does not count: it may wait for days.
async fn queue_tick(
    connection: &Connection,
    timer: &Due,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let seed = Seed {
        row: timer.position,
        number: 0,
    };
    let id = derived_id::invocation(now_ms, seed);
    let trigger = name_of(&Trigger::Timer)?;
    let queued = connection
        .execute(
            "INSERT INTO invocations (id, runnable_id, trigger, timer_prop, event, hops, queued_at_ms)
             SELECT $1, $2, $3, $4, $5, 0, $6
             WHERE NOT EXISTS (SELECT 1 FROM invocations
                               WHERE runnable_id = $2 AND timer_prop = $4 AND lease_epoch IS NULL AND state IS NULL)
               AND (SELECT count(*) FROM invocations
                    WHERE runnable_id = $2 AND timer_prop = $4 AND state IS NULL) < 2",
            &[
                &id.as_str(),
                &timer.runnable.as_str(),
                &trigger,
                &timer.prop,
                &timer.event,
                &signed(now_ms),
            ],
        )
        .await
        .map_err(failed("queueing a tick"))?;
    Ok(queued > 0)
}

/// Writes the timers of a source that is being deployed: none is due yet.
pub(crate) async fn write_unscheduled(
    connection: &Connection,
    source: &Source,
) -> Result<(), StoreError> {
    let id = source.id.as_str();
    for timer in &source.spec.timers {
        write(connection, id, &timer.prop, &timer.schedule, None).await?;
    }
    Ok(())
}

/// Replaces the timers of a source: those that are unchanged keep their phase, none is scheduled when it is inactive.
pub(crate) async fn settle(
    connection: &Connection,
    settled: &SettledSource,
    former: &Source,
) -> Result<(), StoreError> {
    let id = former.id.as_str();
    let former_timers = take(connection, id).await?;
    for timer in &settled.spec.timers {
        let unchanged = former.spec.timers.contains(timer);
        let mut phases = former_timers.iter();
        let phase = phases.find(|former| former.prop == timer.prop);
        let phase = phase.and_then(|former| former.next_ms);
        let next = match (settled.active, phase) {
            (false, _) => None,
            (true, Some(next)) if unchanged => Some(next),
            (true, _) => timer.schedule.first_after(settled.now_ms).map(signed),
        };
        write(connection, id, &timer.prop, &timer.schedule, next).await?;
    }
    Ok(())
}

/// Replaces the timers of a workflow: those that are unchanged keep their phase, none is scheduled when it is inactive.
pub(crate) async fn settle_workflow(
    connection: &Connection,
    deploy: &WorkflowDeploy,
) -> Result<(), StoreError> {
    let id = deploy.deployment.workflow_id.as_str();
    let former_timers = take(connection, id).await?;
    for timer in &deploy.timers {
        let schedule = timer.schedule.to_value().to_string();
        let mut phases = former_timers.iter();
        let phase = phases
            .find(|former| former.prop == timer.trigger.as_str() && former.schedule == schedule)
            .and_then(|former| former.next_ms);
        let next = match (deploy.is_active, phase) {
            (false, _) => None,
            (true, Some(next)) => Some(next),
            (true, _) => timer
                .schedule
                .first_after(deploy.deployment.created_at_ms)
                .map(signed),
        };
        write(
            connection,
            id,
            timer.trigger.as_str(),
            &timer.schedule,
            next,
        )
        .await?;
    }
    Ok(())
}

/// A timer that another takes the place of.
struct Former {
    prop: String,
    schedule: String,
    next_ms: Option<i64>,
}

/// Deletes the timers of a runnable, and returns them.
async fn take(connection: &Connection, id: &str) -> Result<Vec<Former>, StoreError> {
    let sql = "DELETE FROM timers WHERE runnable_id = $1 RETURNING prop, schedule, next_fire_at_ms";
    let rows = connection.query(sql, &[&id]).await;
    let rows = rows.map_err(failed("writing timers"))?;
    let timers = rows.iter().map(|row| {
        Ok(Former {
            prop: get(row, "prop")?,
            schedule: get(row, "schedule")?,
            next_ms: get(row, "next_fire_at_ms")?,
        })
    });
    timers.collect()
}

/// Schedules all timers of a runnable from now on, or none.
pub(crate) async fn schedule_all(
    connection: &Connection,
    id: &str,
    is_active: bool,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let failed = failed("writing timers");
    let rows = connection
        .query(
            "SELECT position, schedule, next_fire_at_ms IS NOT NULL AS is_on FROM timers WHERE runnable_id = $1",
            &[&id],
        )
        .await
        .map_err(&failed)?;
    for row in &rows {
        let (position, schedule): (i64, _) = (get(row, "position")?, schedule(row)?);
        if get::<bool>(row, "is_on")? == is_active {
            continue;
        }
        let next = is_active.then(|| schedule.first_after(now_ms)).flatten();
        connection
            .execute(
                "UPDATE timers SET next_fire_at_ms = $1 WHERE position = $2",
                &[&next.map(signed), &position],
            )
            .await
            .map_err(&failed)?;
    }
    Ok(())
}

async fn write(
    connection: &Connection,
    id: &str,
    prop: &str,
    schedule: &Schedule,
    next_ms: Option<i64>,
) -> Result<(), StoreError> {
    let schedule = schedule.to_value().to_string();
    connection
        .execute(
            "INSERT INTO timers (runnable_id, prop, schedule, next_fire_at_ms) VALUES ($1, $2, $3, $4)",
            &[&id, &prop, &schedule, &next_ms],
        )
        .await
        .map_err(failed("writing timers"))
        .map(drop)
}

/// The timers of sources, each in the order of its spec.
pub(crate) async fn of_sources(
    connection: &Connection,
    ids: &[&str],
) -> Result<BTreeMap<String, Vec<Timer>>, StoreError> {
    let sql = "SELECT runnable_id, prop, schedule FROM timers WHERE runnable_id = ANY($1) ORDER BY position";
    let rows = connection.query(sql, &[&ids]).await;
    let rows = rows.map_err(failed("reading timers"))?;
    let mut timers: BTreeMap<String, Vec<Timer>> = BTreeMap::new();
    for row in &rows {
        let of_source = timers.entry(get(row, "runnable_id")?).or_default();
        of_source.push(Timer {
            prop: get(row, "prop")?,
            schedule: schedule(row)?,
        });
    }
    Ok(timers)
}

/// The column `schedule`.
fn schedule(row: &Row) -> Result<Schedule, StoreError> {
    let value: Value = json(row, "schedule")?;
    Schedule::parse(&value)
        .map_err(|invalid| StoreError::Corrupt(format!("a timer's schedule: {invalid}")))
}
