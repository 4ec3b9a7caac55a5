//! Sources and their states.

use std::collections::BTreeMap;

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
use serde_json::Value;
use tokio_postgres::Row;

use crate::{
    auto_subscriptions, components,
    connection::{Connection, failed},
    counted_events, emitters,
    event_row::last_event,
    living,
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

pub(crate) async fn begin_deploy(
    connection: &Connection,
    new: &NewSource,
    epoch: NodeEpoch,
) -> Result<(Source, RunnableLease), StoreError> {
    if !living::may_take(connection, epoch).await? {
        return Err(Conflict::LeaseLost.into());
    }
    components::check_there(connection, &new.spec.component_id).await?;
    let slug = slugs::free(connection, "sources", new.owner.tenant(), &new.slug).await?;
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
    insert(connection, &source).await?;
    let lease = emitters::insert(connection, &source, epoch).await?;
    write_endpoints(connection, &source.id, &source.spec.endpoints).await?;
    timers::write_unscheduled(connection, &source).await?;
    let emitter = (source.id.as_str(), &source.owner);
    auto_subscriptions::subscribe(connection, emitter, source.created_at.to_ms()).await?;
    Ok((source, lease))
}

async fn insert(connection: &Connection, source: &Source) -> Result<(), StoreError> {
    let (state, spec) = (name_of(&source.state)?, &source.spec);
    let dedupe = spec.dedupe.as_ref().map(name_of).transpose()?;
    let dynamic_props = to_json(&spec.dynamic_props)?;
    connection
        .execute(
            "INSERT INTO sources (id, user_id, workspace_id, name, name_slug, state, component_id, artifact_hash,
                                  configured_props, dynamic_props, dedupe, isolated, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
            &[
                &source.id.as_str(),
                &source.owner.user_id.as_str(),
                &source.owner.workspace_id.as_ref().map(|id| id.as_str()),
                &spec.name,
                &source.name_slug,
                &state,
                &spec.component_id.as_str(),
                &spec.artifact_hash.as_str(),
                &Value::Object(spec.configured_props.clone()).to_string(),
                &dynamic_props,
                &dedupe,
                &spec.is_isolated,
                &signed(source.created_at),
                &signed(source.updated_at),
            ],
        )
        .await
        .map_err(failed("writing a source"))
        .map(drop)
}

pub(crate) async fn write_endpoints(
    connection: &Connection,
    id: &SourceId,
    endpoints: &[Endpoint],
) -> Result<(), StoreError> {
    let failed = failed("writing endpoints");
    for endpoint in endpoints {
        let taken = connection
            .exists(
                "SELECT 1 FROM endpoints WHERE token = $1 AND source_id <> $2",
                &[&endpoint.token.as_str(), &id.as_str()],
            )
            .await
            .map_err(&failed)?;
        if taken {
            return Err(Conflict::Taken(Taken::EndpointToken).into());
        }
    }
    let former = "DELETE FROM endpoints WHERE source_id = $1";
    let deleted = connection.execute(former, &[&id.as_str()]).await;
    deleted.map_err(&failed)?;
    for endpoint in endpoints {
        connection
            .execute(
                "INSERT INTO endpoints (source_id, prop, token) VALUES ($1, $2, $3)",
                &[&id.as_str(), &endpoint.prop, &endpoint.token.as_str()],
            )
            .await
            .map_err(&failed)?;
    }
    Ok(())
}

pub(crate) async fn set_state(
    connection: &Connection,
    lease: &RunnableLease,
    state: SourceState,
) -> Result<(), StoreError> {
    let id = held(connection, lease).await?;
    let changed = connection
        .execute(
            "UPDATE sources SET state = $1 WHERE id = $2",
            &[&name_of(&state)?, &id.as_str()],
        )
        .await
        .map_err(failed("changing a source's state"))?;
    if changed == 0 { Err(gone(id)) } else { Ok(()) }
}

pub(crate) async fn rename(
    connection: &Connection,
    id: &SourceId,
    name: &str,
    now_at: EpochSeconds,
) -> Result<(), StoreError> {
    let changed = connection
        .execute(
            "UPDATE sources SET name = $1, updated_at = $2 WHERE id = $3",
            &[&name, &signed(now_at), &id.as_str()],
        )
        .await
        .map_err(failed("renaming a source"))?;
    if changed == 0 { Err(gone(id)) } else { Ok(()) }
}

/// The source that a lease is of, if it is the current one.
pub(crate) async fn held<'a>(
    connection: &Connection,
    lease: &'a RunnableLease,
) -> Result<&'a SourceId, StoreError> {
    emitters::check_held(connection, lease).await?;
    match &lease.runnable {
        RunnableId::Source(id) => Ok(id),
        RunnableId::Workflow(_) => Err(Conflict::LeaseLost.into()),
    }
}

/// The same; `None` if the source is deleted.
async fn held_or_gone<'a>(
    connection: &Connection,
    lease: &'a RunnableLease,
) -> Result<Option<&'a SourceId>, StoreError> {
    match held(connection, lease).await {
        Err(StoreError::Conflict(Conflict::Gone(_))) => Ok(None),
        held => held.map(Some),
    }
}

pub(crate) fn gone(id: &SourceId) -> StoreError {
    Conflict::source_gone(id).into()
}

/// Deletes a bounded number of the rows that there may be many of.
pub(crate) async fn empty(
    connection: &Connection,
    lease: &RunnableLease,
    limit: u32,
) -> Result<Progress, StoreError> {
    const RUNS: &str = "DELETE FROM runs WHERE id = ANY (ARRAY(SELECT id FROM runs WHERE runnable_id = $1 LIMIT $2))";
    let Some(id) = held_or_gone(connection, lease).await? else {
        return Ok(Progress::default());
    };
    let id = id.as_str();
    let mut left = u64::from(limit);
    left -= queued_events::delete_invocations(
        connection,
        queued_events::OF_RUNNABLE,
        &[&id, &signed(limit)],
    )
    .await?;
    left -= connection
        .execute(RUNS, &[&id, &signed(left)])
        .await
        .map_err(failed("emptying a source"))?;
    left -= counted_events::delete(
        connection,
        counted_events::DISPATCHED,
        &[&id, &signed(left)],
    )
    .await?;
    Ok(Progress {
        done: u64::from(limit) - left,
        more: left == 0,
        ..Progress::default()
    })
}

pub(crate) async fn delete(
    connection: &Connection,
    lease: &RunnableLease,
) -> Result<(), StoreError> {
    const OF_SOURCE: &[&str] = &[
        "DELETE FROM runs WHERE runnable_id = $1",
        "DELETE FROM untrimmed_runs WHERE runnable_id = $1",
        "DELETE FROM events WHERE emitter_id = $1",
        "DELETE FROM channel_events WHERE emitter_id = $1",
        "DELETE FROM untrimmed WHERE emitter_id = $1",
        "DELETE FROM deletions WHERE emitter_id = $1",
        "DELETE FROM key_values WHERE runnable_id = $1",
        "DELETE FROM emitters WHERE emitter_id = $1",
        "DELETE FROM daily_usage WHERE owner_id = $1",
        "DELETE FROM subscriptions WHERE emitter = $1",
        "DELETE FROM subscriptions WHERE listener = $1",
        "DELETE FROM auto_subscriptions WHERE listener = $1",
        "DELETE FROM endpoints WHERE source_id = $1",
        "DELETE FROM timers WHERE runnable_id = $1",
        "DELETE FROM source_deployments WHERE source_id = $1",
        "DELETE FROM sources WHERE id = $1",
    ];
    let Some(id) = held_or_gone(connection, lease).await? else {
        return Ok(());
    };
    queued_events::delete_invocations(connection, "runnable_id = $1", &[&id.as_str()]).await?;
    for sql in OF_SOURCE {
        connection
            .execute(sql, &[&id.as_str()])
            .await
            .map_err(failed("deleting a source"))?;
    }
    Ok(())
}

pub(crate) async fn by_id(connection: &Connection, id: &str) -> Result<Option<Source>, StoreError> {
    one(connection, "SELECT * FROM sources WHERE id = $1", id).await
}

pub(crate) async fn by_endpoint(
    connection: &Connection,
    token: &str,
) -> Result<Option<Source>, StoreError> {
    one(
        connection,
        "SELECT * FROM sources WHERE id = (SELECT source_id FROM endpoints WHERE token = $1)",
        token,
    )
    .await
}

async fn one(
    connection: &Connection,
    sql: &str,
    parameter: &str,
) -> Result<Option<Source>, StoreError> {
    let failed = failed("reading a source");
    let rows = connection
        .query(sql, &[&parameter])
        .await
        .map_err(&failed)?;
    Ok(read_all(connection, &rows).await?.pop())
}

/// The sources of these rows.
async fn read_all(connection: &Connection, rows: &[Row]) -> Result<Vec<Source>, StoreError> {
    let mut sources = rows.iter().map(source).collect::<Result<Vec<_>, _>>()?;
    complete(connection, &mut sources).await?;
    Ok(sources)
}

/// A source without its endpoints and timers.
fn source(row: &Row) -> Result<Source, StoreError> {
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
            endpoints: Vec::new(),
            timers: Vec::new(),
            dedupe: dedupe.as_deref().map(named).transpose()?,
            is_isolated: get(row, "isolated")?,
        },
        deployment_id: parsed_opt(row, "deployment_id")?,
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
        id: parsed(row, "id")?,
    })
}

/// Adds the endpoints and the timers, each in the order of the spec.
async fn complete(connection: &Connection, sources: &mut [Source]) -> Result<(), StoreError> {
    let failed = failed("reading endpoints");
    let ids: Vec<&str> = sources.iter().map(|source| source.id.as_str()).collect();
    let rows = connection
        .query(
            "SELECT source_id, prop, token FROM endpoints WHERE source_id = ANY($1) ORDER BY position",
            &[&ids],
        )
        .await
        .map_err(&failed)?;
    let mut timers = timers::of_sources(connection, &ids).await?;
    let mut endpoints: BTreeMap<String, Vec<Endpoint>> = BTreeMap::new();
    for row in &rows {
        let of_source = endpoints.entry(get(row, "source_id")?).or_default();
        of_source.push(Endpoint {
            prop: get(row, "prop")?,
            token: EndpointToken::new(get::<String>(row, "token")?),
        });
    }
    for source in sources {
        let id = source.id.as_str();
        source.spec.endpoints = endpoints.remove(id).unwrap_or_default();
        source.spec.timers = timers.remove(id).unwrap_or_default();
    }
    Ok(())
}

pub(crate) async fn page(
    connection: &Connection,
    filter: &RunnableFilter,
    page: &PageRequest<SourceId>,
) -> Result<Page<Source>, StoreError> {
    let condition = Condition::new(filter);
    let listing = condition.listing("sources", HIDDEN);
    let mut found = page_of(connection, &listing, page, SourceId::as_str, source).await?;
    complete(connection, &mut found.items).await?;
    Ok(found)
}

pub(crate) async fn page_in_order(
    connection: &Connection,
    filter: &RunnableFilter,
    order: SourceOrder,
    page: &PageRequest<ListPlace>,
) -> Result<Page<Placed<Source>>, StoreError> {
    let condition = Condition::new(filter);
    let listing = condition.listing("sources", HIDDEN);
    let last_event = format!(
        "coalesce((SELECT lpad(events.indexed_at_ms::text, 15, '0') {}), '')",
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
    let found = placed_page_of(connection, &listing, &order, page, source).await?;
    let (places, mut sources): (Vec<_>, Vec<_>) = found
        .items
        .into_iter()
        .map(|placed| (placed.place, placed.item))
        .unzip();
    complete(connection, &mut sources).await?;
    let items = places.into_iter().zip(sources);
    Ok(Page {
        total_count: found.total_count,
        items: items.map(|(place, item)| Placed { place, item }).collect(),
    })
}

/// Sources that none of the epochs holds.
pub(crate) async fn unsettled(
    connection: &Connection,
    living: &[i64],
    after: &str,
    limit: u32,
) -> Result<Vec<Source>, StoreError> {
    let failed = failed("looking for unsettled sources");
    let rows = connection
        .query(
            "SELECT * FROM sources WHERE state IN ('deploying', 'updating', 'deleting') AND id > $3
               AND EXISTS (SELECT 1 FROM emitters
                           WHERE emitter_id = sources.id AND (lease_epoch IS NULL
                               OR lease_epoch <> ALL($1)))
             ORDER BY id LIMIT $2",
            &[&living, &signed(limit), &after],
        )
        .await
        .map_err(&failed)?;
    read_all(connection, &rows).await
}
