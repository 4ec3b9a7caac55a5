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
use serde::Deserialize;
use serde_json::Value;
use tokio_postgres::Row;

use crate::{
    connection::{Connection, Params, failed},
    page::{Listing, page_of},
    row::{get, json, parsed, parsed_opt, signed, unsigned},
    store::PostgresStore,
};

/// Deployments with the names of those who deployed.
const NAMED: &str = "(SELECT source_deployments.*, users.username FROM source_deployments
                      LEFT JOIN users ON users.id = source_deployments.deployed_by) AS named";

#[async_trait]
impl SourceDeployments for PostgresStore {
    async fn source_deployments(
        &self,
        id: &SourceId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<SourceDeployment>, StoreError> {
        self.read(|connection| async move {
            let listing = Listing {
                table: NAMED,
                filter: "source_id = $1".to_owned(),
                parameters: vec![Box::new(id.as_str())],
            };
            page_of(&connection, &listing, page, DeploymentId::as_str, of_row).await
        })
        .await
    }

    async fn source_deployment(
        &self,
        source_id: &SourceId,
        id: &DeploymentId,
    ) -> Result<Option<SourceDeployment>, StoreError> {
        self.read(|connection| async move {
            let failed = failed("reading a source's deployment");
            let sql = format!("SELECT * FROM {NAMED} WHERE source_id = $1 AND id = $2");
            let ids: Params<'_> = &[&source_id.as_str(), &id.as_str()];
            let found = connection.query_opt(&sql, ids).await.map_err(failed)?;
            found.as_ref().map(of_row).transpose()
        })
        .await
    }

    async fn deployed_source(&self, id: &DeploymentId) -> Result<Option<SourceId>, StoreError> {
        self.read(|connection| async move {
            let failed = failed("looking for the source of a deployment");
            let sql = "SELECT source_id FROM source_deployments WHERE id = $1";
            let found = connection.query_opt(sql, &[&id.as_str()]).await;
            let found = found.map_err(failed)?;
            found.map(|row| parsed(&row, "source_id")).transpose()
        })
        .await
    }
}

/// Writes the deployment that a settlement is, and takes the oldest away.
pub(crate) async fn write(
    connection: &Connection,
    source_id: &SourceId,
    new: &NewSourceDeployment,
    settled: &SettledSource,
) -> Result<(), StoreError> {
    const WRITE: &str = "
        INSERT INTO source_deployments (id, source_id, component_id, component_name, component_key, component_version,
                                        code_hash, configured_props, isolated, deployed_by, restores, created_at_ms)
        SELECT $1, $2, id, $4, key, $5, code_hash, $6, $7, $8, $9, $10
        FROM components WHERE id = $3";
    const TRIM: &str = "
        DELETE FROM source_deployments WHERE source_id = $1 AND position <= (
            SELECT position FROM source_deployments WHERE source_id = $1 ORDER BY position DESC LIMIT 1 OFFSET $2)";
    let spec = &settled.spec;
    let failed = failed("writing a source's deployment");
    let Described { name, version } = described(connection, spec.component_id.as_str()).await?;
    let values: Params<'_> = &[
        &new.id.as_str(),
        &source_id.as_str(),
        &spec.component_id.as_str(),
        &name,
        &version,
        &Value::Object(spec.configured_props.clone()).to_string(),
        &spec.is_isolated,
        &new.user_id.as_str(),
        &new.restores.as_ref().map(DeploymentId::as_str),
        &signed(settled.now_ms),
    ];
    connection.execute(WRITE, values).await.map_err(&failed)?;
    connection
        .execute(
            "UPDATE sources SET deployment_id = $1 WHERE id = $2",
            &[&new.id.as_str(), &source_id.as_str()],
        )
        .await
        .map_err(&failed)?;
    connection
        .execute(
            TRIM,
            &[&source_id.as_str(), &signed(SOURCE_DEPLOYMENTS_KEPT)],
        )
        .await
        .map_err(&failed)?;
    Ok(())
}

/// The part of a component's description that its deployments keep.
#[derive(Deserialize)]
struct Described {
    name: String,
    version: Option<String>,
}

async fn described(connection: &Connection, component_id: &str) -> Result<Described, StoreError> {
    let sql = "SELECT description FROM components WHERE id = $1";
    let found = connection.query_one(sql, &[&component_id]).await;
    let found = found.map_err(failed("reading a component"))?;
    json(&found, "description")
}

fn of_row(row: &Row) -> Result<SourceDeployment, StoreError> {
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
