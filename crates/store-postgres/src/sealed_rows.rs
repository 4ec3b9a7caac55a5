//! All sealed values: of accounts first, then of webhooks, of sources, of their deployments and of variables, each by id.

use headwater_model::prop::ConfiguredProps;
use headwater_store::{Resealed, Sealed, SealedRecord, StoreError};
use serde_json::Value;
use tokio_postgres::Row;

use crate::{
    connection::{Connection, Params, failed},
    page::{Parameter, as_params},
    row::{get, json, parsed, signed},
};

/// The table of one kind of record.
struct Table {
    select: &'static str,
    record: fn(&Row) -> Result<SealedRecord, StoreError>,
}

const TABLES: [Table; 5] = [
    Table {
        select: "SELECT id, sealed FROM accounts",
        record: |row| {
            Ok(SealedRecord::Account {
                id: parsed(row, "id")?,
                sealed: Sealed(get(row, "sealed")?),
            })
        },
    },
    Table {
        select: "SELECT id, secret, former_secret FROM webhooks",
        record: |row| {
            Ok(SealedRecord::Webhook {
                id: parsed(row, "id")?,
                secret: Sealed(get(row, "secret")?),
                former_secret: get::<Option<Vec<u8>>>(row, "former_secret")?.map(Sealed),
            })
        },
    },
    Table {
        select: "SELECT id, configured_props FROM sources",
        record: |row| {
            Ok(SealedRecord::Source {
                id: parsed(row, "id")?,
                configured_props: json(row, "configured_props")?,
            })
        },
    },
    Table {
        select: "SELECT id, configured_props FROM source_deployments",
        record: |row| {
            Ok(SealedRecord::SourceDeployment {
                id: parsed(row, "id")?,
                configured_props: json(row, "configured_props")?,
            })
        },
    },
    Table {
        select: "SELECT id, tenant, name, sealed FROM variables",
        record: |row| {
            Ok(SealedRecord::Variable {
                tenant: get(row, "tenant")?,
                name: get(row, "name")?,
                value: Sealed(get(row, "sealed")?),
            })
        },
    },
];

impl Table {
    async fn read(
        &self,
        connection: &Connection,
        which: &str,
        parameters: Params<'_>,
    ) -> Result<Vec<SealedRecord>, StoreError> {
        let failed = failed("reading sealed values");
        let rows = connection
            .query(&format!("{} {which}", self.select), parameters)
            .await
            .map_err(&failed)?;
        let mut found = Vec::new();
        for row in &rows {
            found.push((self.record)(row)?);
        }
        Ok(found)
    }
}

/// The position of a record: its table among [`TABLES`], and its id. The default is before all of them.
#[derive(Default)]
pub(crate) struct Place {
    table: usize,
    id: String,
}

impl Place {
    pub(crate) fn of(record: &SealedRecord) -> Self {
        let (table, id) = match record {
            SealedRecord::Account { id, .. } => (0, id.to_string()),
            SealedRecord::Webhook { id, .. } => (1, id.to_string()),
            SealedRecord::Source { id, .. } => (2, id.to_string()),
            SealedRecord::SourceDeployment { id, .. } => (3, id.to_string()),
            SealedRecord::Variable { tenant, name, .. } => (4, format!("{tenant} {name}")),
        };
        Self { table, id }
    }
}

/// Records after a position. A page never crosses the end of a table, so it may be shorter than `limit` though more
/// follow.
pub(crate) async fn behind(
    connection: &Connection,
    place: &Place,
    limit: u32,
) -> Result<Vec<SealedRecord>, StoreError> {
    let mut after = place.id.as_str();
    for table in &TABLES[place.table..] {
        let found = table
            .read(
                connection,
                "WHERE id > $1 ORDER BY id LIMIT $2",
                &[&after, &signed(limit)],
            )
            .await?;
        if !found.is_empty() {
            return Ok(found);
        }
        after = "";
    }
    Ok(Vec::new())
}

pub(crate) async fn write(
    connection: &Connection,
    Resealed { former, record }: &Resealed,
) -> Result<(), StoreError> {
    // Compared as they are read: text of floating point numbers need not come back as it was.
    let Place { table, id } = Place::of(record);
    let now = TABLES[table]
        .read(connection, "WHERE id = $1", &[&id])
        .await?;
    if now.first() != Some(former) {
        return Ok(());
    }
    let props = |props: &ConfiguredProps| Value::Object(props.clone()).to_string();
    let (sql, values): (_, Vec<Parameter<'_>>) = match record {
        SealedRecord::Account { sealed, .. } => (
            "UPDATE accounts SET sealed = $2 WHERE id = $1",
            vec![Box::new(&sealed.0)],
        ),
        SealedRecord::Webhook {
            secret,
            former_secret,
            ..
        } => (
            "UPDATE webhooks SET secret = $2, former_secret = $3 WHERE id = $1",
            vec![
                Box::new(&secret.0),
                Box::new(former_secret.as_ref().map(|former| &former.0)),
            ],
        ),
        SealedRecord::Source {
            configured_props, ..
        } => (
            "UPDATE sources SET configured_props = $2 WHERE id = $1",
            vec![Box::new(props(configured_props))],
        ),
        SealedRecord::SourceDeployment {
            configured_props, ..
        } => (
            "UPDATE source_deployments SET configured_props = $2 WHERE id = $1",
            vec![Box::new(props(configured_props))],
        ),
        SealedRecord::Variable { value, .. } => (
            "UPDATE variables SET sealed = $2 WHERE id = $1",
            vec![Box::new(&value.0)],
        ),
    };
    let mut parameters: Vec<Parameter<'_>> = vec![Box::new(&id)];
    parameters.extend(values);
    let written = connection.execute(sql, &as_params(&parameters)).await;
    written.map_err(failed("sealing anew")).map(drop)
}
