//! Timers: the tick is queued and the timer moves on in the same transaction.

use headwater_model::{
    id::{RunnableId, SourceId},
    schedule::Schedule,
    time::EpochMs,
};
use headwater_store::{
    Progress, SettledSource, Source, StoreError, Timer, Trigger, WorkflowDeploy,
    derived_id::{self, Seed},
};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde_json::Value;

use crate::{
    connection::{ExecutePrepared as _, failed},
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
pub(crate) fn next_due(connection: &Connection) -> Result<Option<EpochMs>, StoreError> {
    let next: Option<i64> = connection
        .prepare_cached(&format!(
            "SELECT next_fire_at_ms FROM {SCHEDULED} ORDER BY next_fire_at_ms LIMIT 1"
        ))
        .and_then(|mut statement| statement.query_row((), |row| row.get(0)).optional())
        .map_err(failed("looking for timers"))?;
    Ok(next.map(moment))
}

pub(crate) fn fire(
    connection: &Connection,
    now_ms: EpochMs,
    limit: u32,
) -> Result<Progress, StoreError> {
    let due = due(connection, now_ms, limit)?;
    let mut progress = Progress {
        more: due.len() == limit as usize,
        ..Progress::default()
    };
    for timer in due {
        let queued = queue_tick(connection, &timer, now_ms)?;
        connection
            .execute_prepared(
                "UPDATE timers SET next_fire_at_ms = ? WHERE position = ?",
                params![timer.next_ms.map(signed), timer.position],
            )
            .map_err(failed("moving a timer on"))?;
        progress.done += 1;
        if queued && !progress.woken.contains(&timer.runnable) {
            progress.woken.push(timer.runnable);
        }
    }
    progress.next_due_ms = next_due(connection)?;
    Ok(progress)
}

fn due(connection: &Connection, now_ms: EpochMs, limit: u32) -> Result<Vec<Due>, StoreError> {
    let failed = failed("looking for timers");
    let mut statement = connection
        .prepare_cached(
&format!("SELECT timers.* FROM {SCHEDULED} AND next_fire_at_ms <= ? ORDER BY next_fire_at_ms LIMIT ?"),
        )
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![signed(now_ms), limit])
        .map_err(&failed)?;
    let mut due = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
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
fn queue_tick(connection: &Connection, timer: &Due, now_ms: EpochMs) -> Result<bool, StoreError> {
    let seed = Seed {
        row: timer.position,
        number: 0,
    };
    let id = derived_id::invocation(now_ms, seed);
    let trigger = name_of(&Trigger::Timer)?;
    let queued = connection
        .prepare_cached(
            "INSERT INTO invocations (id, runnable_id, trigger, timer_prop, event, hops, queued_at_ms)
             SELECT ?1, ?2, ?3, ?4, ?5, 0, ?6
             WHERE NOT EXISTS (SELECT 1 FROM invocations
                               WHERE runnable_id = ?2 AND timer_prop = ?4 AND lease_epoch IS NULL AND state IS NULL)
               AND (SELECT count(*) FROM invocations
                    WHERE runnable_id = ?2 AND timer_prop = ?4 AND state IS NULL) < 2",
        )
        .and_then(|mut statement| {
            let runnable_id = timer.runnable.as_str();
            statement.execute(params![id.as_str(), runnable_id, trigger, timer.prop, timer.event, signed(now_ms)])
        })
        .map_err(failed("queueing a tick"))?;
    Ok(queued > 0)
}

/// Writes the timers of a source that is being deployed: none is due yet.
pub(crate) fn write_unscheduled(
    connection: &Connection,
    source: &Source,
) -> Result<(), StoreError> {
    let timers = &source.spec.timers;
    timers.iter().try_for_each(|timer| {
        write(
            connection,
            source.id.as_str(),
            &timer.prop,
            &timer.schedule,
            None,
        )
    })
}

/// Replaces the timers of a source: those that are unchanged keep their phase, none is scheduled when it is inactive.
pub(crate) fn settle(
    connection: &Connection,
    settled: &SettledSource,
    former: &Source,
) -> Result<(), StoreError> {
    let failed = failed("writing timers");
    let id = former.id.as_str();
    let phases: Vec<(String, Option<i64>)> = {
        let mut statement = connection
            .prepare_cached("SELECT prop, next_fire_at_ms FROM timers WHERE runnable_id = ?")
            .map_err(&failed)?;
        let rows = statement
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?)))
            .map_err(&failed)?;
        rows.collect::<Result<_, _>>().map_err(&failed)?
    };
    connection
        .execute_prepared("DELETE FROM timers WHERE runnable_id = ?", [id])
        .map_err(&failed)?;
    for timer in &settled.spec.timers {
        let unchanged = former.spec.timers.contains(timer);
        let phase = phases
            .iter()
            .find(|(prop, _)| *prop == timer.prop)
            .and_then(|(_, next)| *next);
        let next = match (settled.active, phase) {
            (false, _) => None,
            (true, Some(next)) if unchanged => Some(next),
            (true, _) => timer.schedule.first_after(settled.now_ms).map(signed),
        };
        write(connection, id, &timer.prop, &timer.schedule, next)?;
    }
    Ok(())
}

/// Replaces the timers of a workflow: those that are unchanged keep their phase, none is scheduled when it is inactive.
pub(crate) fn settle_workflow(
    connection: &Connection,
    deploy: &WorkflowDeploy,
) -> Result<(), StoreError> {
    let failed = failed("writing timers");
    let id = deploy.deployment.workflow_id.as_str();
    let phases: Vec<(String, String, Option<i64>)> = {
        let mut statement = connection
            .prepare_cached(
                "SELECT prop, schedule, next_fire_at_ms FROM timers WHERE runnable_id = ?",
            )
            .map_err(&failed)?;
        let rows = statement
            .query_map([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .map_err(&failed)?;
        rows.collect::<Result<_, _>>().map_err(&failed)?
    };
    connection
        .execute_prepared("DELETE FROM timers WHERE runnable_id = ?", [id])
        .map_err(&failed)?;
    for timer in &deploy.timers {
        let schedule = timer.schedule.to_value().to_string();
        let mut former = phases.iter();
        let phase =
            former.find(|(prop, former, _)| *prop == timer.trigger.as_str() && *former == schedule);
        let next = match (deploy.is_active, phase) {
            (false, _) => None,
            (true, Some((_, _, Some(next)))) => Some(*next),
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
        )?;
    }
    Ok(())
}

/// Schedules all timers of a runnable from now on, or none.
pub(crate) fn schedule_all(
    connection: &Connection,
    id: &str,
    is_active: bool,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let failed = failed("writing timers");
    let timers: Vec<(i64, Schedule, bool)> = {
        let mut statement = connection
            .prepare_cached("SELECT position, schedule, next_fire_at_ms IS NOT NULL AS is_on FROM timers WHERE runnable_id = ?")
            .map_err(&failed)?;
        let mut rows = statement.query([id]).map_err(&failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
            found.push((get(row, "position")?, schedule(row)?, get(row, "is_on")?));
        }
        found
    };
    for (position, schedule, is_on) in timers {
        if is_on == is_active {
            continue;
        }
        let next = is_active.then(|| schedule.first_after(now_ms)).flatten();
        connection
            .execute_prepared(
                "UPDATE timers SET next_fire_at_ms = ? WHERE position = ?",
                params![next.map(signed), position],
            )
            .map_err(&failed)?;
    }
    Ok(())
}

fn write(
    connection: &Connection,
    id: &str,
    prop: &str,
    schedule: &Schedule,
    next_ms: Option<i64>,
) -> Result<(), StoreError> {
    let schedule = schedule.to_value().to_string();
    connection
        .execute_prepared(
            "INSERT INTO timers (runnable_id, prop, schedule, next_fire_at_ms) VALUES (?, ?, ?, ?)",
            params![id, prop, schedule, next_ms],
        )
        .map_err(failed("writing timers"))
        .map(drop)
}

/// A source's timers, in the order of its spec.
pub(crate) fn of_source(connection: &Connection, id: &SourceId) -> Result<Vec<Timer>, StoreError> {
    let failed = failed("reading timers");
    let mut statement = connection
        .prepare_cached("SELECT prop, schedule FROM timers WHERE runnable_id = ? ORDER BY position")
        .map_err(&failed)?;
    let mut rows = statement.query([id.as_str()]).map_err(&failed)?;
    let mut timers = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        timers.push(Timer {
            prop: get(row, "prop")?,
            schedule: schedule(row)?,
        });
    }
    Ok(timers)
}

/// The column `schedule`.
fn schedule(row: &Row<'_>) -> Result<Schedule, StoreError> {
    let value: Value = json(row, "schedule")?;
    Schedule::parse(&value)
        .map_err(|invalid| StoreError::Corrupt(format!("a timer's schedule: {invalid}")))
}
