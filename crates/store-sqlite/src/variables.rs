//! Variables behind the trait, and their rows.

use async_trait::async_trait;
use headwater_store::{Sealed, StoreError, Variable, Variables};
use rusqlite::{Connection, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    row::{get, signed, unsigned},
    store::SqliteStore,
};

#[async_trait]
impl Variables for SqliteStore {
    async fn set_variable(&self, tenant: &str, variable: Variable) -> Result<(), StoreError> {
        let tenant = tenant.to_owned();
        self.write(move |connection| set(connection, &tenant, &variable))
            .await
    }

    async fn variables(&self, tenant: &str) -> Result<Vec<Variable>, StoreError> {
        let tenant = tenant.to_owned();
        self.read(move |connection| all(connection, &tenant)).await
    }

    async fn delete_variable(&self, tenant: &str, name: &str) -> Result<bool, StoreError> {
        let (tenant, name) = (tenant.to_owned(), name.to_owned());
        self.write(move |connection| {
            connection
                .execute_prepared(
                    "DELETE FROM variables WHERE tenant = ? AND name = ?",
                    [&tenant, &name],
                )
                .map_err(failed("deleting a variable"))
                .map(|deleted| deleted > 0)
        })
        .await
    }
}

fn set(connection: &Connection, tenant: &str, variable: &Variable) -> Result<(), StoreError> {
    connection
        .execute_prepared(
            "INSERT INTO variables (id, tenant, name, sealed, updated_at) VALUES (?1 || ' ' || ?2, ?1, ?2, ?3, ?4)
             ON CONFLICT (tenant, name) DO UPDATE SET sealed = ?3, updated_at = ?4",
            params![
                tenant,
                variable.name,
                variable.value.0,
                signed(variable.updated_at)
            ],
        )
        .map_err(failed("writing a variable"))
        .map(drop)
}

fn all(connection: &Connection, tenant: &str) -> Result<Vec<Variable>, StoreError> {
    let failed = failed("reading variables");
    let mut statement = connection
        .prepare_cached(
            "SELECT name, sealed, updated_at FROM variables WHERE tenant = ? ORDER BY name",
        )
        .map_err(&failed)?;
    let mut rows = statement.query([tenant]).map_err(&failed)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().map_err(&failed)? {
        found.push(Variable {
            name: get(row, "name")?,
            value: Sealed(get(row, "sealed")?),
            updated_at: unsigned(row, "updated_at")?,
        });
    }
    Ok(found)
}
