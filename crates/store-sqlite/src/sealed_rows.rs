//! All sealed values: of accounts first, then of webhooks, of sources, of their deployments and of variables, each by id.

use headwater_store::{Resealed, Sealed, SealedRecord, StoreError};
use rusqlite::{Connection, Params, Row, params};
use serde_json::Value;

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, json, parsed},
};

/// The table of one kind of record.
struct Table {
    select: &'static str,
    record: fn(&Row<'_>) -> Result<SealedRecord, StoreError>,
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
    fn read(
        &self,
        connection: &Connection,
        which: &str,
        parameters: impl Params,
    ) -> Result<Vec<SealedRecord>, StoreError> {
        let failed = failed("reading sealed values");
        let mut statement = connection
            .prepare_cached(&format!("{} {which}", self.select))
            .map_err(&failed)?;
        let mut rows = statement.query(parameters).map_err(&failed)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next().map_err(&failed)? {
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
pub(crate) fn behind(
    connection: &Connection,
    place: &Place,
    limit: u32,
) -> Result<Vec<SealedRecord>, StoreError> {
    let mut after = place.id.as_str();
    for table in &TABLES[place.table..] {
        let found = table.read(
            connection,
            "WHERE id > ? ORDER BY id LIMIT ?",
            params![after, limit],
        )?;
        if !found.is_empty() {
            return Ok(found);
        }
        after = "";
    }
    Ok(Vec::new())
}

pub(crate) fn write(
    connection: &Connection,
    Resealed { former, record }: &Resealed,
) -> Result<(), StoreError> {
    // Compared as they are read: text of floating point numbers need not come back as it was.
    let Place { table, id } = Place::of(record);
    let now = TABLES[table].read(connection, "WHERE id = ?", params![id])?;
    if now.first() != Some(former) {
        return Ok(());
    }
    let write = || match record {
        SealedRecord::Account { id, sealed } => connection.execute_prepared(
            "UPDATE accounts SET sealed = ? WHERE id = ?",
            params![sealed.0, id.as_str()],
        ),
        SealedRecord::Webhook {
            id,
            secret,
            former_secret,
        } => connection.execute_prepared(
            "UPDATE webhooks SET secret = ?, former_secret = ? WHERE id = ?",
            params![
                secret.0,
                former_secret.as_ref().map(|former| &former.0),
                id.as_str()
            ],
        ),
        SealedRecord::Source {
            id,
            configured_props,
        } => connection.execute_prepared(
            "UPDATE sources SET configured_props = ? WHERE id = ?",
            params![
                Value::Object(configured_props.clone()).to_string(),
                id.as_str()
            ],
        ),
        SealedRecord::SourceDeployment {
            id,
            configured_props,
        } => connection.execute_prepared(
            "UPDATE source_deployments SET configured_props = ? WHERE id = ?",
            params![
                Value::Object(configured_props.clone()).to_string(),
                id.as_str()
            ],
        ),
        SealedRecord::Variable { value, .. } => connection.execute_prepared(
            "UPDATE variables SET sealed = ? WHERE id = ?",
            params![value.0, id],
        ),
    };
    write().map_err(failed("sealing anew")).map(drop)
}
