//! Sources and their states.

use headwater_model::{
    endpoint::EndpointToken,
    hash::ArtifactHash,
    id::{RunnableId, SourceId},
    page::{Page, PageRequest},
    time::EpochSeconds,
};
use headwater_store::{
    Conflict, Endpoint, ListPlace, NewSource, NodeEpoch, Placed, Progress, RunnableFilter,
    RunnableLease, Source, SourceKey, SourceOrder, SourceSpec, SourceState, StoreError, Taken,
};
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use crate::{
    auto_subscriptions, components,
    connection::{ExecutePrepared as _, failed},
    counted_events, emitters,
    event_row::last_event,
    living::{Living, as_json},
    ordered::{Order, placed_page_of},
    owner,
    page::page_of,
    queued_events,
    row::{get, json, name_of, named, parsed, parsed_opt, signed, to_json, unsigned},
    runnable_filter::Condition,
    slugs, timers,
};

/// The states in which sources are not listed.
const HIDDEN: &str = "'deploying', 'deleting'";

pub(crate) fn begin_deploy(
    connection: &Connection,
    living: &Living,
    new: &NewSource,
    epoch: NodeEpoch,
) -> Result<(Source, RunnableLease), StoreError> {
    if !living.may_take(epoch) {
        return Err(Conflict::LeaseLost.into());
    }
    components::check_there(connection, &new.spec.component_id)?;
    let slug = slugs::free(connection, "sources", new.owner.tenant(), &new.slug)?;
    let mut spec = new.spec.clone();
    if spec.name.is_empty() {
        spec.name.clone_from(&slug);
    }
    let source = Source {
        id: new.id.clone(),
        owner: new.owner.clone(),
        name_slug: slug,
        state: SourceState::Deploying,
        spec,
        deployment_id: None,
        created_at: new.now_at,
        updated_at: new.now_at,
    };
    insert(connection, &source)?;
    let lease = emitters::insert(connection, &source, epoch)?;
    write_endpoints(connection, &source.id, &source.spec.endpoints)?;
    timers::write_unscheduled(connection, &source)?;
    let emitter = (source.id.as_str(), &source.owner);
    auto_subscriptions::subscribe(connection, emitter, source.created_at.to_ms())?;
    Ok((source, lease))
}

fn insert(connection: &Connection, source: &Source) -> Result<(), StoreError> {
    let (state, spec) = (name_of(&source.state)?, &source.spec);
    let dedupe = spec.dedupe.as_ref().map(name_of).transpose()?;
    let dynamic_props = to_json(&spec.dynamic_props)?;
    let write = || -> rusqlite::Result<()> {
        connection.execute_prepared(
            "INSERT INTO sources (id, user_id, workspace_id, name, name_slug, state, component_id, artifact_hash,
                                  configured_props, dynamic_props, dedupe, isolated, created_at, updated_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                source.id.as_str(),
                source.owner.user_id.as_str(),
                source.owner.workspace_id.as_ref().map(|id| id.as_str()),
                spec.name,
                source.name_slug,
                state,
                spec.component_id.as_str(),
                spec.artifact_hash.as_str(),
                Value::Object(spec.configured_props.clone()).to_string(),
                dynamic_props,
                dedupe,
                spec.is_isolated,
                signed(source.created_at),
                signed(source.updated_at),
            ],
        )?;
        Ok(())
    };
    write().map_err(failed("writing a source"))
}

pub(crate) fn write_endpoints(
    connection: &Connection,
    id: &SourceId,
    endpoints: &[Endpoint],
) -> Result<(), StoreError> {
    let write = || -> rusqlite::Result<()> {
        connection.execute_prepared("DELETE FROM endpoints WHERE source_id = ?", [id.as_str()])?;
        for endpoint in endpoints {
            connection.execute_prepared(
                "INSERT INTO endpoints (source_id, prop, token) VALUES (?, ?, ?)",
                [id.as_str(), &endpoint.prop, endpoint.token.as_str()],
            )?;
        }
        Ok(())
    };
    for endpoint in endpoints {
        let taken = connection
            .prepare_cached("SELECT 1 FROM endpoints WHERE token = ? AND source_id <> ?")
            .and_then(|mut statement| statement.exists([endpoint.token.as_str(), id.as_str()]))
            .map_err(failed("writing endpoints"))?;
        if taken {
            return Err(Conflict::Taken(Taken::EndpointToken).into());
        }
    }
    write().map_err(failed("writing endpoints"))
}

pub(crate) fn set_state(
    connection: &Connection,
    living: &Living,
    lease: &RunnableLease,
    state: SourceState,
) -> Result<(), StoreError> {
    let id = held(connection, living, lease)?;
    let changed = connection
        .execute_prepared(
            "UPDATE sources SET state = ? WHERE id = ?",
            [&name_of(&state)?, id.as_str()],
        )
        .map_err(failed("changing a source's state"))?;
    if changed == 0 { Err(gone(id)) } else { Ok(()) }
}

pub(crate) fn rename(
    connection: &Connection,
    id: &SourceId,
    name: &str,
    now_at: EpochSeconds,
) -> Result<(), StoreError> {
    let changed = connection
        .execute_prepared(
            "UPDATE sources SET name = ?, updated_at = ? WHERE id = ?",
            params![name, signed(now_at), id.as_str()],
        )
        .map_err(failed("renaming a source"))?;
    if changed == 0 { Err(gone(id)) } else { Ok(()) }
}

/// The source that a lease is of, if it is the current one.
pub(crate) fn held<'a>(
    connection: &Connection,
    living: &Living,
    lease: &'a RunnableLease,
) -> Result<&'a SourceId, StoreError> {
    emitters::held(connection, living, lease)?;
    match &lease.runnable {
        RunnableId::Source(id) => Ok(id),
        RunnableId::Workflow(_) => Err(Conflict::LeaseLost.into()),
    }
}

/// The same; `None` if the source is deleted.
fn held_or_gone<'a>(
    connection: &Connection,
    living: &Living,
    lease: &'a RunnableLease,
) -> Result<Option<&'a SourceId>, StoreError> {
    match held(connection, living, lease) {
        Err(StoreError::Conflict(Conflict::Gone(_))) => Ok(None),
        held => held.map(Some),
    }
}

pub(crate) fn gone(id: &SourceId) -> StoreError {
    Conflict::source_gone(id).into()
}

/// Deletes a bounded number of the rows that there may be many of.
pub(crate) fn empty(
    connection: &Connection,
    living: &Living,
    lease: &RunnableLease,
    limit: u32,
) -> Result<Progress, StoreError> {
    const RUNS: &str =
        "DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE runnable_id = ?1 LIMIT ?2)";
    const EVENTS: &str =
        "position IN (SELECT position FROM events INDEXED BY events_by_id WHERE emitter_id = ?1
             AND position <= (SELECT position FROM dispatch_cursor) LIMIT ?2)";
    let Some(id) = held_or_gone(connection, living, lease)? else {
        return Ok(Progress::default());
    };
    let id = id.as_str();
    let mut left = limit as usize;
    let invocations = "position IN (SELECT position FROM invocations WHERE runnable_id = ?1 ORDER BY position LIMIT ?2)";
    left -= queued_events::delete_invocations(connection, invocations, params![id, limit])?;
    left -= connection
        .execute_prepared(RUNS, params![id, left as i64])
        .map_err(failed("emptying a source"))?;
    left -= counted_events::delete(connection, EVENTS, params![id, left as i64])?;
    Ok(Progress {
        done: u64::from(limit) - left as u64,
        more: left == 0,
        ..Progress::default()
    })
}

pub(crate) fn delete(
    connection: &Connection,
    living: &Living,
    lease: &RunnableLease,
) -> Result<(), StoreError> {
    const OF_SOURCE: &[&str] = &[
        "DELETE FROM runs WHERE runnable_id = ?",
        "DELETE FROM untrimmed_runs WHERE runnable_id = ?",
        "DELETE FROM events WHERE emitter_id = ?",
        "DELETE FROM channel_events WHERE emitter_id = ?",
        "DELETE FROM untrimmed WHERE emitter_id = ?",
        "DELETE FROM deletions WHERE emitter_id = ?",
        "DELETE FROM key_values WHERE runnable_id = ?",
        "DELETE FROM emitters WHERE emitter_id = ?",
        "DELETE FROM daily_usage WHERE owner_id = ?",
        "DELETE FROM subscriptions WHERE emitter = ?",
        "DELETE FROM subscriptions WHERE listener = ?",
        "DELETE FROM auto_subscriptions WHERE listener = ?",
        "DELETE FROM endpoints WHERE source_id = ?",
        "DELETE FROM timers WHERE runnable_id = ?",
        "DELETE FROM source_deployments WHERE source_id = ?",
        "DELETE FROM sources WHERE id = ?",
    ];
    let Some(id) = held_or_gone(connection, living, lease)? else {
        return Ok(());
    };
    queued_events::delete_invocations(connection, "runnable_id = ?", [id.as_str()])?;
    for sql in OF_SOURCE {
        connection
            .execute_prepared(sql, [id.as_str()])
            .map_err(failed("deleting a source"))?;
    }
    Ok(())
}

pub(crate) fn by_id(connection: &Connection, id: &str) -> Result<Option<Source>, StoreError> {
    one(connection, "SELECT * FROM sources WHERE id = ?", id)
}

pub(crate) fn by_endpoint(
    connection: &Connection,
    token: &str,
) -> Result<Option<Source>, StoreError> {
    one(
        connection,
        "SELECT * FROM sources WHERE id = (SELECT source_id FROM endpoints WHERE token = ?)",
        token,
    )
}

fn one(connection: &Connection, sql: &str, parameter: &str) -> Result<Option<Source>, StoreError> {
    let failed = failed("reading a source");
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([parameter]).map_err(&failed)?;
    rows.next()
        .map_err(&failed)?
        .map(|row| source(connection, row))
        .transpose()
}

fn source(connection: &Connection, row: &Row<'_>) -> Result<Source, StoreError> {
    let id: SourceId = parsed(row, "id")?;
    let dedupe: Option<String> = get(row, "dedupe")?;
    Ok(Source {
        owner: owner::of(row)?,
        name_slug: get(row, "name_slug")?,
        state: named(&get::<String>(row, "state")?)?,
        spec: SourceSpec {
            component_id: parsed(row, "component_id")?,
            artifact_hash: ArtifactHash::new(get::<String>(row, "artifact_hash")?),
            name: get(row, "name")?,
            configured_props: json(row, "configured_props")?,
            dynamic_props: json(row, "dynamic_props")?,
            endpoints: endpoints(connection, &id)?,
            timers: timers::of_source(connection, &id)?,
            dedupe: dedupe.as_deref().map(named).transpose()?,
            is_isolated: get(row, "isolated")?,
        },
        deployment_id: parsed_opt(row, "deployment_id")?,
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
        id,
    })
}

fn endpoints(connection: &Connection, id: &SourceId) -> Result<Vec<Endpoint>, StoreError> {
    let failed = failed("reading endpoints");
    let mut statement = connection
        .prepare_cached("SELECT prop, token FROM endpoints WHERE source_id = ? ORDER BY position")
        .map_err(&failed)?;
    let rows = statement
        .query_map([id.as_str()], |row| {
            Ok(Endpoint {
                prop: row.get(0)?,
                token: EndpointToken::new(row.get::<_, String>(1)?),
            })
        })
        .map_err(&failed)?;
    rows.collect::<Result<_, _>>().map_err(&failed)
}

pub(crate) fn page(
    connection: &Connection,
    filter: &RunnableFilter,
    page: &PageRequest<SourceId>,
) -> Result<Page<Source>, StoreError> {
    let condition = Condition::new(filter)?;
    let listing = condition.listing("sources", HIDDEN);
    page_of(connection, &listing, page, SourceId::as_str, |row| {
        source(connection, row)
    })
}

pub(crate) fn page_in_order(
    connection: &Connection,
    filter: &RunnableFilter,
    order: SourceOrder,
    page: &PageRequest<ListPlace>,
) -> Result<Page<Placed<Source>>, StoreError> {
    let condition = Condition::new(filter)?;
    let listing = condition.listing("sources", HIDDEN);
    let last_event = format!(
        "coalesce((SELECT printf('%015d', events.indexed_at_ms) {}), '')",
        last_event("sources.id")
    );
    let order = Order {
        key: match order.by {
            SourceKey::Created => None,
            SourceKey::Name => Some("lower_case(name)"),
            SourceKey::LastEvent => Some(&last_event),
        },
        parameters: Vec::new(),
        is_descending: order.is_descending,
    };
    placed_page_of(connection, &listing, &order, page, |row| {
        source(connection, row)
    })
}

/// Sources that none of the epochs holds.
pub(crate) fn unsettled(
    connection: &Connection,
    living: &[NodeEpoch],
    after: &str,
    limit: u32,
) -> Result<Vec<Source>, StoreError> {
    let failed = failed("looking for unsettled sources");
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM sources WHERE state IN ('deploying', 'updating', 'deleting') AND id > ?3
               AND EXISTS (SELECT 1 FROM emitters
                           WHERE emitter_id = id AND (lease_epoch IS NULL
                               OR lease_epoch NOT IN (SELECT value FROM json_each(?1))))
             ORDER BY id LIMIT ?2",
        )
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![as_json(living), limit, after])
        .map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(source(connection, row)?);
    }
    Ok(found)
}
