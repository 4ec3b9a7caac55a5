//! The rows of workflows: their deployments, their triggers, their end.

use headwater_model::{
    endpoint::EndpointToken,
    id::{DeploymentId, WorkflowId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    Conflict, Deployment, NodeEpoch, Owner, Progress, RunnableFilter, RunnableLease, StoreError,
    Taken, Workflow, WorkflowDeploy, WorkflowEndpoint, WorkflowState,
};
use rusqlite::{Connection, Row, params};

use crate::{
    auto_subscriptions,
    connection::{ExecutePrepared as _, failed},
    counted_events, emitters,
    living::{Living, as_json},
    owner,
    page::{Listing, page_of},
    queued_events,
    row::{get, name_of, named, parsed, raw, signed, unsigned},
    run_places,
    runnable_filter::Condition,
    slugs, timers,
};

pub(crate) fn deploy(
    connection: &Connection,
    deploy: &WorkflowDeploy,
) -> Result<Workflow, StoreError> {
    let id = &deploy.deployment.workflow_id;
    let former = by_id(connection, id.as_str())?;
    let is_foreign = |former: &Workflow| former.owner.tenant() != deploy.owner.tenant();
    if former.as_ref().is_some_and(is_foreign) {
        return Err(Conflict::Taken(Taken::Workflow(id.clone())).into());
    }
    write_deployment(connection, &deploy.deployment)?;
    match &former {
        Some(_) => update(connection, deploy)?,
        None => insert(connection, deploy)?,
    }
    let owner = former.map_or_else(|| deploy.owner.clone(), |former| former.owner);
    write_endpoints(connection, id, &deploy.endpoints)?;
    timers::settle_workflow(connection, deploy)?;
    write_feeds(connection, &owner, deploy)?;
    if !deploy.is_active {
        drop_waiting(connection, id)?;
    }
    by_id(connection, id.as_str())?.ok_or_else(|| emitters::gone(&id.clone().into()))
}

fn state_of(is_active: bool) -> Result<String, StoreError> {
    name_of(&match is_active {
        true => WorkflowState::Active,
        false => WorkflowState::Inactive,
    })
}

fn insert(connection: &Connection, deploy: &WorkflowDeploy) -> Result<(), StoreError> {
    let slug = slugs::free(connection, "workflows", deploy.owner.tenant(), &deploy.slug)?;
    let id = &deploy.deployment.workflow_id;
    let now_at = signed(deploy.deployment.created_at_ms.to_seconds());
    connection
        .execute_prepared(
            "INSERT INTO workflows (id, user_id, workspace_id, name, name_slug, state, deployment_id, waiting_runs,
                                    run_days, created_at, updated_at)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                id.as_str(),
                deploy.owner.user_id.as_str(),
                deploy.owner.workspace_id.as_ref().map(|id| id.as_str()),
                deploy.name,
                slug,
                state_of(deploy.is_active)?,
                deploy.deployment.id.as_str(),
                deploy.bounds.waiting_runs,
                deploy.bounds.run_days,
                now_at,
                now_at
            ],
        )
        .map_err(failed("writing a workflow"))?;
    emitters::insert_free(connection, id.as_str(), &deploy.owner)?;
    let emitter = (id.as_str(), &deploy.owner);
    auto_subscriptions::subscribe(connection, emitter, deploy.deployment.created_at_ms)
}

fn update(connection: &Connection, deploy: &WorkflowDeploy) -> Result<(), StoreError> {
    let id = &deploy.deployment.workflow_id;
    let changed = connection
        .execute_prepared(
            "UPDATE workflows SET name = ?, state = ?, deployment_id = ?, waiting_runs = ?, run_days = ?, updated_at = ?
             WHERE id = ? AND state <> 'deleting'",
            params![
                deploy.name,
                state_of(deploy.is_active)?,
                deploy.deployment.id.as_str(),
                deploy.bounds.waiting_runs,
                deploy.bounds.run_days,
                signed(deploy.deployment.created_at_ms.to_seconds()),
                id.as_str()
            ],
        )
        .map_err(failed("writing a workflow"))?;
    match changed {
        0 => Err(emitters::gone(&id.clone().into())),
        _ => Ok(()),
    }
}

fn write_deployment(connection: &Connection, deployment: &Deployment) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO deployments (id, workflow_id, content, created_at_ms) VALUES (?, ?, ?, ?)",
            params![
                deployment.id.as_str(),
                deployment.workflow_id.as_str(),
                deployment.content.get(),
                signed(deployment.created_at_ms)
            ],
        )
        .map_err(failed("writing a deployment"))
        .map(drop)
}

fn write_endpoints(
    connection: &Connection,
    id: &WorkflowId,
    endpoints: &[WorkflowEndpoint],
) -> Result<(), StoreError> {
    let failed = failed("writing a workflow's endpoints");
    for endpoint in endpoints {
        let is_taken = connection
            .prepare_cached("SELECT 1 FROM workflow_endpoints WHERE token = ? AND workflow_id <> ?")
            .and_then(|mut statement| statement.exists([endpoint.token.as_str(), id.as_str()]))
            .map_err(&failed)?;
        if is_taken {
            return Err(Conflict::Taken(Taken::EndpointToken).into());
        }
    }
    connection
        .execute_prepared(
            "DELETE FROM workflow_endpoints WHERE workflow_id = ?",
            [id.as_str()],
        )
        .map_err(&failed)?;
    for endpoint in endpoints {
        connection
            .execute_prepared(
                "INSERT INTO workflow_endpoints (token, workflow_id, trigger_id, kind) VALUES (?, ?, ?, ?)",
                params![
                    endpoint.token.as_str(),
                    id.as_str(),
                    endpoint.trigger.as_str(),
                    name_of(&endpoint.kind)?
                ],
            )
            .map_err(&failed)?;
    }
    Ok(())
}

/// Subscriptions of the workflow's triggers: those that are there already stay, so that no event is missed.
fn write_feeds(
    connection: &Connection,
    owner: &Owner,
    deploy: &WorkflowDeploy,
) -> Result<(), StoreError> {
    let failed = failed("writing a workflow's subscriptions");
    let id = deploy.deployment.workflow_id.as_str();
    for feed in &deploy.feeds {
        connection
            .execute_prepared(
                "INSERT INTO subscriptions (id, user_id, emitter, listener, channel, since, trigger_id)
                 VALUES (?, ?, ?, ?, ?, coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0), ?)
                 ON CONFLICT (user_id, emitter, listener, channel) DO UPDATE SET trigger_id = excluded.trigger_id",
                params![
                    feed.subscription.as_str(),
                    owner.user_id.as_str(),
                    feed.emitter.to_string(),
                    id,
                    feed.channel,
                    feed.trigger.as_str()
                ],
            )
            .map_err(&failed)?;
    }
    let kept: Vec<String> = deploy.feeds.iter().map(feed_key).collect();
    let kept = serde_json::Value::from(kept).to_string();
    connection
        .execute_prepared(
            "DELETE FROM subscriptions WHERE listener = ?1 AND trigger_id IS NOT NULL
               AND emitter || ' ' || channel NOT IN (SELECT value FROM json_each(?2))",
            [id, &kept],
        )
        .map_err(&failed)
        .map(drop)
}

/// No emitter has a space in it.
fn feed_key(feed: &headwater_store::WorkflowFeed) -> String {
    format!("{} {}", feed.emitter, feed.channel)
}

/// Drops what waits for an inactive workflow but was never acknowledged to anybody.
fn drop_waiting(connection: &Connection, id: &WorkflowId) -> Result<(), StoreError> {
    let waiting = "runnable_id = ? AND lease_epoch IS NULL AND state IS NULL AND trigger IN ('timer', 'event')";
    queued_events::delete_invocations(connection, waiting, [id.as_str()])?;
    connection
        .execute_prepared(
            "DELETE FROM held_subscriptions WHERE listener = ?",
            [id.as_str()],
        )
        .map_err(failed("dropping events that wait"))
        .map(drop)
}

pub(crate) fn set_active(
    connection: &Connection,
    id: &WorkflowId,
    is_active: bool,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let changed = connection
        .execute_prepared(
            "UPDATE workflows SET state = ?, updated_at = ? WHERE id = ? AND state <> 'deleting'",
            params![
                state_of(is_active)?,
                signed(now_ms.to_seconds()),
                id.as_str()
            ],
        )
        .map_err(failed("changing a workflow's state"))?;
    if changed == 0 {
        return Ok(false);
    }
    timers::schedule_all(connection, id.as_str(), is_active, now_ms)?;
    if !is_active {
        drop_waiting(connection, id)?;
    }
    Ok(true)
}

pub(crate) fn begin_deletion(connection: &Connection, id: &WorkflowId) -> Result<bool, StoreError> {
    let changed = connection
        .execute_prepared(
            "UPDATE workflows SET state = 'deleting' WHERE id = ?",
            [id.as_str()],
        )
        .map_err(failed("deleting a workflow"))?;
    Ok(changed > 0)
}

/// Whether the lease's workflow is there; `LeaseLost` when somebody else holds it.
fn is_held(
    connection: &Connection,
    living: &Living,
    lease: &RunnableLease,
) -> Result<bool, StoreError> {
    match emitters::held(connection, living, lease) {
        Ok(_) => Ok(true),
        Err(StoreError::Conflict(Conflict::Gone(_))) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Deletes a bounded number of the rows that there may be many of.
pub(crate) fn empty(
    connection: &Connection,
    living: &Living,
    lease: &RunnableLease,
    limit: u32,
) -> Result<Progress, StoreError> {
    const EVENTS: &str =
        "position IN (SELECT position FROM events INDEXED BY events_by_id WHERE emitter_id = ?1
             AND position <= (SELECT position FROM dispatch_cursor) LIMIT ?2)";
    if !is_held(connection, living, lease)? {
        return Ok(Progress::default());
    }
    let id = lease.runnable.as_str();
    let mut left = limit as usize;
    left -= run_places::delete_some_runs(connection, id, left)?;
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
    const OF_WORKFLOW: &[&str] = &[
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
        "DELETE FROM timers WHERE runnable_id = ?",
        "DELETE FROM sends WHERE runnable_id = ?",
        "DELETE FROM run_keys WHERE workflow_id = ?",
        "DELETE FROM held_subscriptions WHERE listener = ?",
        "DELETE FROM deployments WHERE workflow_id = ?",
        "DELETE FROM workflows WHERE id = ?",
    ];
    if !is_held(connection, living, lease)? {
        return Ok(());
    }
    let id = lease.runnable.as_str();
    run_places::delete_some_runs(connection, id, usize::MAX >> 1)?;
    for sql in OF_WORKFLOW {
        connection
            .execute_prepared(sql, [id])
            .map_err(failed("deleting a workflow"))?;
    }
    Ok(())
}

pub(crate) fn by_id(connection: &Connection, id: &str) -> Result<Option<Workflow>, StoreError> {
    let failed = failed("reading a workflow");
    let mut statement = connection
        .prepare_cached("SELECT * FROM workflows WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(workflow).transpose()
}

fn workflow(row: &Row<'_>) -> Result<Workflow, StoreError> {
    Ok(Workflow {
        id: parsed(row, "id")?,
        owner: owner::of(row)?,
        name: get(row, "name")?,
        name_slug: get(row, "name_slug")?,
        state: named(&get::<String>(row, "state")?)?,
        deployment_id: parsed(row, "deployment_id")?,
        created_at: unsigned(row, "created_at")?,
        updated_at: unsigned(row, "updated_at")?,
    })
}

fn endpoint(row: &Row<'_>) -> Result<WorkflowEndpoint, StoreError> {
    Ok(WorkflowEndpoint {
        trigger: parsed(row, "trigger_id")?,
        kind: named(&get::<String>(row, "kind")?)?,
        token: EndpointToken::new(get::<String>(row, "token")?),
    })
}

pub(crate) fn by_endpoint(
    connection: &Connection,
    token: &str,
) -> Result<Option<(Workflow, WorkflowEndpoint)>, StoreError> {
    let failed = failed("reading a workflow");
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM workflow_endpoints JOIN workflows ON workflows.id = workflow_id WHERE token = ?",
        )
        .map_err(&failed)?;
    let mut rows = statement.query([token]).map_err(&failed)?;
    match rows.next().map_err(&failed)? {
        Some(row) => Ok(Some((workflow(row)?, endpoint(row)?))),
        None => Ok(None),
    }
}

pub(crate) fn endpoints(
    connection: &Connection,
    id: &str,
) -> Result<Vec<WorkflowEndpoint>, StoreError> {
    let failed = failed("reading a workflow's endpoints");
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM workflow_endpoints WHERE workflow_id = ? ORDER BY trigger_id",
        )
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(endpoint(row)?);
    }
    Ok(found)
}

pub(crate) fn page(
    connection: &Connection,
    filter: &RunnableFilter,
    page: &PageRequest<WorkflowId>,
) -> Result<Page<Workflow>, StoreError> {
    let condition = Condition::new(filter)?;
    let listing = condition.listing("workflows", "'deleting'");
    page_of(connection, &listing, page, WorkflowId::as_str, workflow)
}

fn deployment_of(row: &Row<'_>) -> Result<Deployment, StoreError> {
    Ok(Deployment {
        id: parsed(row, "id")?,
        workflow_id: parsed(row, "workflow_id")?,
        content: raw(row, "content")?,
        created_at_ms: unsigned(row, "created_at_ms")?,
    })
}

pub(crate) fn deployment(
    connection: &Connection,
    id: &str,
) -> Result<Option<Deployment>, StoreError> {
    let failed = failed("reading a deployment");
    let mut statement = connection
        .prepare_cached("SELECT * FROM deployments WHERE id = ?")
        .map_err(&failed)?;
    let mut rows = statement.query([id]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(deployment_of).transpose()
}

pub(crate) fn deployments(
    connection: &Connection,
    id: &str,
    page: &PageRequest<DeploymentId>,
) -> Result<Page<Deployment>, StoreError> {
    let listing = Listing {
        table: "deployments",
        filter: "workflow_id = ?1".to_owned(),
        parameters: vec![id],
    };
    page_of(
        connection,
        &listing,
        page,
        DeploymentId::as_str,
        deployment_of,
    )
}

/// Workflows whose deletion has begun and that none of the epochs holds.
pub(crate) fn deleting(
    connection: &Connection,
    living: &[NodeEpoch],
    limit: u32,
) -> Result<Vec<WorkflowId>, StoreError> {
    let failed = failed("looking for workflows to delete");
    let mut statement = connection
        .prepare_cached(
            "SELECT id FROM workflows WHERE state = 'deleting'
               AND EXISTS (SELECT 1 FROM emitters
                           WHERE emitter_id = id AND (lease_epoch IS NULL
                               OR lease_epoch NOT IN (SELECT value FROM json_each(?1))))
             ORDER BY id LIMIT ?2",
        )
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![as_json(living), limit])
        .map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(parsed(row, "id")?);
    }
    Ok(found)
}
