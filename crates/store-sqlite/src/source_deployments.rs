//! The deployments of sources.

use async_trait::async_trait;
use headwater_model::{
    hash::CodeHash,
    id::{DeploymentId, SourceId},
    page::{Page, PageRequest},
};
use headwater_store::{
    DeployedComponent, NewSourceDeployment, SOURCE_DEPLOYMENTS_KEPT, SettledSource,
    SourceDeployment, SourceDeployments, StoreError,
};
use rusqlite::{Connection, Row, params};
use serde_json::Value;

use crate::{
    connection::{ExecutePrepared as _, failed},
    page::{Listing, page_of},
    row::{get, json, parsed, parsed_opt, signed, unsigned},
    store::SqliteStore,
};

/// Deployments with the names of those who deployed.
const NAMED: &str = "(SELECT source_deployments.*, users.username FROM source_deployments
                      LEFT JOIN users ON users.id = source_deployments.deployed_by)";

#[async_trait]
impl SourceDeployments for SqliteStore {
    async fn source_deployments(
        &self,
        id: &SourceId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<SourceDeployment>, StoreError> {
        let (id, page) = (id.clone(), page.clone());
        self.read(move |connection| {
            let listing = Listing {
                table: NAMED,
                filter: "source_id = ?1".to_owned(),
                parameters: vec![id.as_str()],
            };
            page_of(connection, &listing, &page, DeploymentId::as_str, of_row)
        })
        .await
    }

    async fn source_deployment(
        &self,
        source_id: &SourceId,
        id: &DeploymentId,
    ) -> Result<Option<SourceDeployment>, StoreError> {
        let (source_id, id) = (source_id.clone(), id.clone());
        self.read(move |connection| {
            let failed = failed("reading a source's deployment");
            let sql = format!("SELECT * FROM {NAMED} WHERE source_id = ? AND id = ?");
            let mut statement = connection.prepare_cached(&sql).map_err(&failed)?;
            let found = statement.query([source_id.as_str(), id.as_str()]);
            let mut rows = found.map_err(&failed)?;
            rows.next().map_err(&failed)?.map(of_row).transpose()
        })
        .await
    }

    async fn deployed_source(&self, id: &DeploymentId) -> Result<Option<SourceId>, StoreError> {
        let id = id.clone();
        self.read(move |connection| {
            let failed = failed("looking for the source of a deployment");
            let mut statement = connection
                .prepare_cached("SELECT source_id FROM source_deployments WHERE id = ?")
                .map_err(&failed)?;
            let mut rows = statement.query([id.as_str()]).map_err(&failed)?;
            let row = rows.next().map_err(&failed)?;
            row.map(|row| parsed(row, "source_id")).transpose()
        })
        .await
    }
}

/// Writes the deployment that a settlement is, and takes the oldest away.
pub(crate) fn write(
    connection: &Connection,
    source_id: &SourceId,
    new: &NewSourceDeployment,
    settled: &SettledSource,
) -> Result<(), StoreError> {
    const WRITE: &str = "
        INSERT INTO source_deployments (id, source_id, component_id, component_name, component_key, component_version,
                                        code_hash, configured_props, isolated, deployed_by, restores, created_at_ms)
        SELECT ?1, ?2, id, json_extract(description, '$.name'), key, json_extract(description, '$.version'), code_hash,
               ?4, ?5, ?6, ?7, ?8
        FROM components WHERE id = ?3";
    const TRIM: &str = "
        DELETE FROM source_deployments WHERE source_id = ?1 AND position <= (
            SELECT position FROM source_deployments WHERE source_id = ?1 ORDER BY position DESC LIMIT 1 OFFSET ?2)";
    let spec = &settled.spec;
    let failed = failed("writing a source's deployment");
    let values = params![
        new.id.as_str(),
        source_id.as_str(),
        spec.component_id.as_str(),
        Value::Object(spec.configured_props.clone()).to_string(),
        spec.is_isolated,
        new.user_id.as_str(),
        new.restores.as_ref().map(DeploymentId::as_str),
        signed(settled.now_ms),
    ];
    connection
        .execute_prepared(WRITE, values)
        .map_err(&failed)?;
    connection
        .execute_prepared(
            "UPDATE sources SET deployment_id = ? WHERE id = ?",
            [new.id.as_str(), source_id.as_str()],
        )
        .map_err(&failed)?;
    connection
        .execute_prepared(TRIM, params![source_id.as_str(), SOURCE_DEPLOYMENTS_KEPT])
        .map_err(&failed)?;
    Ok(())
}

fn of_row(row: &Row<'_>) -> Result<SourceDeployment, StoreError> {
    Ok(SourceDeployment {
        id: parsed(row, "id")?,
        source_id: parsed(row, "source_id")?,
        component: DeployedComponent {
            id: parsed(row, "component_id")?,
            name: get(row, "component_name")?,
            key: get(row, "component_key")?,
            version: get(row, "component_version")?,
            code_hash: CodeHash::new(get::<String>(row, "code_hash")?),
        },
        configured_props: json(row, "configured_props")?,
        is_isolated: get(row, "isolated")?,
        created_at_ms: unsigned(row, "created_at_ms")?,
        deployed_by: parsed_opt(row, "deployed_by")?,
        deployed_by_name: get(row, "username")?,
        restores: parsed_opt(row, "restores")?,
    })
}
