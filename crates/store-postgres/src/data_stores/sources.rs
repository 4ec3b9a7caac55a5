//! The sources that use a data store: those of its owner whose props stand for it.

use headwater_model::prop::{ConfiguredProps, PropDefinition, merge};
use headwater_store::{DataStoreRef, DataStoreSource, StoreError};
use serde::Deserialize;
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    row::{get, json, parsed},
};

/// The part of a component's description that tells its props.
#[derive(Deserialize)]
struct Described {
    #[serde(default)]
    props: Vec<PropDefinition>,
}

pub(super) async fn of(
    connection: &Connection,
    store: &DataStoreRef,
) -> Result<Vec<DataStoreSource>, StoreError> {
    let failed = failed("looking for the sources of a data store");
    let owner = match &store.owner.workspace_id {
        Some(_) => "sources.workspace_id = $1",
        None => "sources.user_id = $1 AND sources.workspace_id IS NULL",
    };
    // Descriptions are read as rules have them, but only where they may have such a prop.
    let sql = format!(
        "SELECT sources.id AS id, sources.name AS name, configured_props, dynamic_props, description
         FROM sources JOIN components ON components.id = sources.component_id
         WHERE {owner} AND state <> 'deleting'
           AND (strpos(description, '\"data_store\"') > 0 OR strpos(dynamic_props, '\"data_store\"') > 0)
         ORDER BY sources.id"
    );
    let tenant = store.owner.tenant();
    let rows = connection.query(&sql, &[&tenant]).await.map_err(failed)?;
    let mut found = Vec::new();
    for row in &rows {
        let props = props(row, store.name.as_str())?;
        if !props.is_empty() {
            found.push(DataStoreSource {
                id: parsed(row, "id")?,
                name: get(row, "name")?,
                props,
            });
        }
    }
    Ok(found)
}

/// The props of a source that stand for the data store of this name.
fn props(row: &Row, name: &str) -> Result<Vec<String>, StoreError> {
    let configured: ConfiguredProps = json(row, "configured_props")?;
    let described: Described = json(row, "description")?;
    let additional: Vec<PropDefinition> = json(row, "dynamic_props")?;
    let props = merge(&described.props, &additional).into_iter();
    let bound = props.filter(|prop| prop.data_store(&configured) == Some(name));
    Ok(bound.map(|prop| prop.name).collect())
}
