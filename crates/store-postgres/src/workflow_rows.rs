//! The rows of workflows: their deployments, their triggers, their end.

use headwater_model::{
    endpoint::EndpointToken,
    id::{DeploymentId, WorkflowId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    Conflict, Deployment, Owner, Progress, RunnableFilter, RunnableLease, StoreError, Taken,
    Workflow, WorkflowDeploy, WorkflowEndpoint, WorkflowState,
};
use tokio_postgres::Row;

use crate::{
    auto_subscriptions,
    connection::{Connection, failed},
    counted_events, emitters, owner,
    page::{Listing, page_of},
    positions::LAST,
    queued_events,
    row::{get, name_of, named, parsed, raw, signed, unsigned},
    run_places,
    runnable_filter::Condition,
    slugs, timers,
};

pub(crate) async fn deploy(
    connection: &Connection,
    deploy: &WorkflowDeploy,
) -> Result<Workflow, StoreError> {
    let id = &deploy.deployment.workflow_id;
    let former = by_id(connection, id.as_str()).await?;
    let is_foreign = |former: &Workflow| former.owner.tenant() != deploy.owner.tenant();
    if former.as_ref().is_some_and(is_foreign) {
        return Err(Conflict::Taken(Taken::Workflow(id.clone())).into());
    }
    write_deployment(connection, &deploy.deployment).await?;
    match &former {
        Some(_) => update(connection, deploy).await?,
        None => insert(connection, deploy).await?,
    }
    let owner = former.map_or_else(|| deploy.owner.clone(), |former| former.owner);
    write_endpoints(connection, id, &deploy.endpoints).await?;
    timers::settle_workflow(connection, deploy).await?;
    write_feeds(connection, &owner, deploy).await?;
    if !deploy.is_active {
        drop_waiting(connection, id).await?;
    }
    by_id(connection, id.as_str())
        .await?
        .ok_or_else(|| emitters::gone(&id.clone().into()))
}

fn state_of(is_active: bool) -> Result<String, StoreError> {
    name_of(&match is_active {
        true => WorkflowState::Active,
        false => WorkflowState::Inactive,
    })
}

async fn insert(connection: &Connection, deploy: &WorkflowDeploy) -> Result<(), StoreError> {
    let slug = slugs::free(connection, "workflows", deploy.owner.tenant(), &deploy.slug).await?;
    let id = &deploy.deployment.workflow_id;
    let now_at = signed(deploy.deployment.created_at_ms.to_seconds());
    connection
        .execute(
            "INSERT INTO workflows (id, user_id, workspace_id, name, name_slug, state, deployment_id, waiting_runs,
                                    run_days, created_at, updated_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            &[
                &id.as_str(),
                &deploy.owner.user_id.as_str(),
                &deploy.owner.workspace_id.as_ref().map(|id| id.as_str()),
                &deploy.name,
                &slug,
                &state_of(deploy.is_active)?,
                &deploy.deployment.id.as_str(),
                &deploy.bounds.waiting_runs.map(signed),
                &deploy.bounds.run_days.map(signed),
                &now_at,
                &now_at,
            ],
        )
        .await
        .map_err(failed("writing a workflow"))?;
    emitters::insert_free(connection, id.as_str(), &deploy.owner).await?;
    let emitter = (id.as_str(), &deploy.owner);
    auto_subscriptions::subscribe(connection, emitter, deploy.deployment.created_at_ms).await
}

async fn update(connection: &Connection, deploy: &WorkflowDeploy) -> Result<(), StoreError> {
    let id = &deploy.deployment.workflow_id;
    let changed = connection
        .execute(
            "UPDATE workflows SET name = $1, state = $2, deployment_id = $3, waiting_runs = $4, run_days = $5, updated_at = $6
             WHERE id = $7 AND state <> 'deleting'",
            &[
                &deploy.name,
                &state_of(deploy.is_active)?,
                &deploy.deployment.id.as_str(),
                &deploy.bounds.waiting_runs.map(signed),
                &deploy.bounds.run_days.map(signed),
                &signed(deploy.deployment.created_at_ms.to_seconds()),
                &id.as_str(),
            ],
        )
        .await
        .map_err(failed("writing a workflow"))?;
    match changed {
        0 => Err(emitters::gone(&id.clone().into())),
        _ => Ok(()),
    }
}

async fn write_deployment(
    connection: &Connection,
    deployment: &Deployment,
) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO deployments (id, workflow_id, content, created_at_ms) VALUES ($1, $2, $3, $4)",
            &[
                &deployment.id.as_str(),
                &deployment.workflow_id.as_str(),
                &deployment.content.get(),
                &signed(deployment.created_at_ms),
            ],
        )
        .await
        .map_err(failed("writing a deployment"))
        .map(drop)
}

async fn write_endpoints(
    connection: &Connection,
    id: &WorkflowId,
    endpoints: &[WorkflowEndpoint],
) -> Result<(), StoreError> {
    let failed = failed("writing a workflow's endpoints");
    for endpoint in endpoints {
        let is_taken = connection
            .exists(
                "SELECT 1 FROM workflow_endpoints WHERE token = $1 AND workflow_id <> $2",
                &[&endpoint.token.as_str(), &id.as_str()],
            )
            .await
            .map_err(&failed)?;
        if is_taken {
            return Err(Conflict::Taken(Taken::EndpointToken).into());
        }
    }
    connection
        .execute(
            "DELETE FROM workflow_endpoints WHERE workflow_id = $1",
            &[&id.as_str()],
        )
        .await
        .map_err(&failed)?;
    for endpoint in endpoints {
        connection
            .execute(
                "INSERT INTO workflow_endpoints (token, workflow_id, trigger_id, kind) VALUES ($1, $2, $3, $4)",
                &[
                    &endpoint.token.as_str(),
                    &id.as_str(),
                    &endpoint.trigger.as_str(),
                    &name_of(&endpoint.kind)?,
                ],
            )
            .await
            .map_err(&failed)?;
    }
    Ok(())
}

/// Subscriptions of the workflow's triggers: those that are there already stay, so that no event is missed.
async fn write_feeds(
    connection: &Connection,
    owner: &Owner,
    deploy: &WorkflowDeploy,
) -> Result<(), StoreError> {
    let failed = failed("writing a workflow's subscriptions");
    let id = deploy.deployment.workflow_id.as_str();
    for feed in &deploy.feeds {
        connection
            .execute(
                &format!("INSERT INTO subscriptions (id, user_id, emitter, listener, channel, since, trigger_id)
                 VALUES ($1, $2, $3, $4, $5, {LAST}, $6)
                 ON CONFLICT (user_id, emitter, listener, hash_of(channel)) DO UPDATE SET trigger_id = excluded.trigger_id"),
                &[
                    &feed.subscription.as_str(),
                    &owner.user_id.as_str(),
                    &feed.emitter.to_string(),
                    &id,
                    &feed.channel,
                    &feed.trigger.as_str(),
                ],
            )
            .await
            .map_err(&failed)?;
    }
    let kept: Vec<String> = deploy.feeds.iter().map(feed_key).collect();
    connection
        .execute(
            "DELETE FROM subscriptions WHERE listener = $1 AND trigger_id IS NOT NULL
               AND emitter || ' ' || channel <> ALL($2)",
            &[&id, &kept],
        )
        .await
        .map_err(&failed)
        .map(drop)
}

/// No emitter has a space in it.
fn feed_key(feed: &headwater_store::WorkflowFeed) -> String {
    format!("{} {}", feed.emitter, feed.channel)
}

/// Drops what waits for an inactive workflow but was never acknowledged to anybody.
async fn drop_waiting(connection: &Connection, id: &WorkflowId) -> Result<(), StoreError> {
    let waiting = "runnable_id = $1 AND lease_epoch IS NULL AND state IS NULL AND trigger IN ('timer', 'event')";
    queued_events::delete_invocations(connection, waiting, &[&id.as_str()]).await?;
    connection
        .execute(
            "DELETE FROM held_subscriptions WHERE listener = $1",
            &[&id.as_str()],
        )
        .await
        .map_err(failed("dropping events that wait"))
        .map(drop)
}

pub(crate) async fn set_active(
    connection: &Connection,
    id: &WorkflowId,
    is_active: bool,
    now_ms: EpochMs,
) -> Result<bool, StoreError> {
    let changed = connection
        .execute(
            "UPDATE workflows SET state = $1, updated_at = $2 WHERE id = $3 AND state <> 'deleting'",
            &[
                &state_of(is_active)?,
                &signed(now_ms.to_seconds()),
                &id.as_str(),
            ],
        )
        .await
        .map_err(failed("changing a workflow's state"))?;
    if changed == 0 {
        return Ok(false);
    }
    timers::schedule_all(connection, id.as_str(), is_active, now_ms).await?;
    if !is_active {
        drop_waiting(connection, id).await?;
    }
    Ok(true)
}

pub(crate) async fn begin_deletion(
    connection: &Connection,
    id: &WorkflowId,
) -> Result<bool, StoreError> {
    let changed = connection
        .execute(
            "UPDATE workflows SET state = 'deleting' WHERE id = $1",
            &[&id.as_str()],
        )
        .await
        .map_err(failed("deleting a workflow"))?;
    Ok(changed > 0)
}

/// Whether the lease's workflow is there; `LeaseLost` when somebody else holds it.
async fn is_held(connection: &Connection, lease: &RunnableLease) -> Result<bool, StoreError> {
    match emitters::check_held(connection, lease).await {
        Ok(()) => Ok(true),
        Err(StoreError::Conflict(Conflict::Gone(_))) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Deletes a bounded number of the rows that there may be many of.
pub(crate) async fn empty(
    connection: &Connection,
    lease: &RunnableLease,
    limit: u32,
) -> Result<Progress, StoreError> {
    if !is_held(connection, lease).await? {
        return Ok(Progress::default());
    }
    let id = lease.runnable.as_str();
    let mut left = u64::from(limit);
    left -= run_places::delete_some_runs(connection, id, left).await?;
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
    const OF_WORKFLOW: &[&str] = &[
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
        "DELETE FROM timers WHERE runnable_id = $1",
        "DELETE FROM sends WHERE runnable_id = $1",
        "DELETE FROM run_keys WHERE workflow_id = $1",
        "DELETE FROM held_subscriptions WHERE listener = $1",
        "DELETE FROM deployments WHERE workflow_id = $1",
        "DELETE FROM workflows WHERE id = $1",
    ];
    if !is_held(connection, lease).await? {
        return Ok(());
    }
    let id = lease.runnable.as_str();
    run_places::delete_some_runs(connection, id, u64::MAX).await?;
    for sql in OF_WORKFLOW {
        connection
            .execute(sql, &[&id])
            .await
            .map_err(failed("deleting a workflow"))?;
    }
    Ok(())
}

pub(crate) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<Workflow>, StoreError> {
    let failed = failed("reading a workflow");
    let rows = connection
        .query("SELECT * FROM workflows WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    rows.first().map(workflow).transpose()
}

fn workflow(row: &Row) -> Result<Workflow, StoreError> {
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

fn endpoint(row: &Row) -> Result<WorkflowEndpoint, StoreError> {
    Ok(WorkflowEndpoint {
        trigger: parsed(row, "trigger_id")?,
        kind: named(&get::<String>(row, "kind")?)?,
        token: EndpointToken::new(get::<String>(row, "token")?),
    })
}

pub(crate) async fn by_endpoint(
    connection: &Connection,
    token: &str,
) -> Result<Option<(Workflow, WorkflowEndpoint)>, StoreError> {
    let failed = failed("reading a workflow");
    let rows = connection
        .query(
            "SELECT * FROM workflow_endpoints JOIN workflows ON workflows.id = workflow_id WHERE token = $1",
            &[&token],
        )
        .await
        .map_err(&failed)?;
    match rows.first() {
        Some(row) => Ok(Some((workflow(row)?, endpoint(row)?))),
        None => Ok(None),
    }
}

pub(crate) async fn endpoints(
    connection: &Connection,
    id: &str,
) -> Result<Vec<WorkflowEndpoint>, StoreError> {
    let failed = failed("reading a workflow's endpoints");
    let rows = connection
        .query(
            "SELECT * FROM workflow_endpoints WHERE workflow_id = $1 ORDER BY trigger_id",
            &[&id],
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(endpoint(row)?);
    }
    Ok(found)
}

pub(crate) async fn page(
    connection: &Connection,
    filter: &RunnableFilter,
    page: &PageRequest<WorkflowId>,
) -> Result<Page<Workflow>, StoreError> {
    let condition = Condition::new(filter);
    let listing = condition.listing("workflows", "'deleting'");
    page_of(connection, &listing, page, WorkflowId::as_str, workflow).await
}

fn deployment_of(row: &Row) -> Result<Deployment, StoreError> {
    Ok(Deployment {
        id: parsed(row, "id")?,
        workflow_id: parsed(row, "workflow_id")?,
        content: raw(row, "content")?,
        created_at_ms: unsigned(row, "created_at_ms")?,
    })
}

pub(crate) async fn deployment(
    connection: &Connection,
    id: &str,
) -> Result<Option<Deployment>, StoreError> {
    let failed = failed("reading a deployment");
    let rows = connection
        .query("SELECT * FROM deployments WHERE id = $1", &[&id])
        .await
        .map_err(&failed)?;
    rows.first().map(deployment_of).transpose()
}

pub(crate) async fn deployments(
    connection: &Connection,
    id: &str,
    page: &PageRequest<DeploymentId>,
) -> Result<Page<Deployment>, StoreError> {
    let listing = Listing {
        table: "deployments",
        filter: "workflow_id = $1".to_owned(),
        parameters: vec![Box::new(id)],
    };
    page_of(
        connection,
        &listing,
        page,
        DeploymentId::as_str,
        deployment_of,
    )
    .await
}

/// Workflows whose deletion has begun and that none of the epochs holds.
pub(crate) async fn deleting(
    connection: &Connection,
    living: &[i64],
    limit: u32,
) -> Result<Vec<WorkflowId>, StoreError> {
    let failed = failed("looking for workflows to delete");
    let rows = connection
        .query(
            "SELECT id FROM workflows WHERE state = 'deleting'
               AND EXISTS (SELECT 1 FROM emitters
                           WHERE emitter_id = id AND (lease_epoch IS NULL
                               OR lease_epoch <> ALL($1)))
             ORDER BY id LIMIT $2",
            &[&living, &signed(limit)],
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(parsed(row, "id")?);
    }
    Ok(found)
}
