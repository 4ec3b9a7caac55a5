//! The end of a deployment or an update: everything becomes visible together.

use headwater_model::dedupe::Strategy;
use headwater_store::{SettledSource, Source, SourceState, StoreError};
use serde_json::Value;

use crate::{
    components,
    connection::{Connection, failed},
    emitters, queued_events,
    row::{name_of, signed, to_json},
    run_commit, source_deployments,
    sources::{self, by_id, gone, write_endpoints},
    timers,
};

pub(crate) async fn settle(
    connection: &Connection,
    settled: &SettledSource,
) -> Result<Source, StoreError> {
    let source_id = sources::held(connection, &settled.lease).await?;
    let id = source_id.as_str();
    let former = by_id(connection, id)
        .await?
        .ok_or_else(|| gone(source_id))?;
    let spec = &settled.spec;
    components::check_there(connection, &spec.component_id).await?;
    let dedupe = spec.dedupe.as_ref().map(name_of).transpose()?;
    let state = if settled.active {
        SourceState::Active
    } else {
        SourceState::Inactive
    };
    let state_name = name_of(&state)?;
    let dynamic_props = to_json(&spec.dynamic_props)?;
    let written = connection
        .execute(
            "UPDATE sources SET name = $2, state = $3, component_id = $4, artifact_hash = $5, configured_props = $6,
                            dedupe = $7, updated_at = $8, dynamic_props = $9, isolated = $10
         WHERE id = $1",
            &[
                &id,
                &spec.name,
                &state_name,
                &spec.component_id.as_str(),
                &spec.artifact_hash.as_str(),
                &Value::Object(spec.configured_props.clone()).to_string(),
                &dedupe,
                &signed(settled.now_ms.to_seconds()),
                &dynamic_props,
                &spec.is_isolated,
            ],
        )
        .await;
    written.map_err(failed("settling a source"))?;
    if !settled.active {
        let waiting = "runnable_id = $1 AND lease_epoch IS NULL AND state IS NULL AND trigger IN ('timer', 'event')";
        queued_events::delete_invocations(connection, waiting, &[&id]).await?;
    }
    if let Some(new) = &settled.deployment {
        source_deployments::write(connection, source_id, new, settled).await?;
    }
    reset_dedupe(connection, id, spec.dedupe).await?;
    write_endpoints(connection, source_id, &spec.endpoints).await?;
    timers::settle(connection, settled, &former).await?;
    run_commit::commit_together(connection, &settled.commits).await?;
    by_id(connection, id).await?.ok_or_else(|| gone(source_id))
}

/// The state of another strategy is of no use to the new one.
async fn reset_dedupe(
    connection: &Connection,
    id: &str,
    strategy: Option<Strategy>,
) -> Result<(), StoreError> {
    let state = emitters::dedupe_state(connection, id).await?;
    if state.is_none_or(|state| Some(state.strategy()) == strategy) {
        return Ok(());
    }
    emitters::forget_dedupe_state(connection, id).await
}
