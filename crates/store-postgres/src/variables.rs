//! Variables behind the trait, and their rows.

use async_trait::async_trait;
use headwater_store::{Sealed, StoreError, Variable, Variables};

use crate::{
    connection::{Connection, failed},
    row::{get, signed, unsigned},
    store::PostgresStore,
};

#[async_trait]
impl Variables for PostgresStore {
    async fn set_variable(&self, tenant: &str, variable: Variable) -> Result<(), StoreError> {
        let variable = &variable;
        self.write_locking(|connection| async move { set(&connection, tenant, variable).await })
            .await
    }

    async fn variables(&self, tenant: &str) -> Result<Vec<Variable>, StoreError> {
        self.read(|connection| async move { all(&connection, tenant).await })
            .await
    }

    async fn delete_variable(&self, tenant: &str, name: &str) -> Result<bool, StoreError> {
        self.write_locking(|connection| async move {
            connection
                .execute(
                    "DELETE FROM variables WHERE tenant = $1 AND name = $2",
                    &[&tenant, &name],
                )
                .await
                .map_err(failed("deleting a variable"))
                .map(|deleted| deleted > 0)
        })
        .await
    }
}

async fn set(connection: &Connection, tenant: &str, variable: &Variable) -> Result<(), StoreError> {
    connection
        .execute(
            "INSERT INTO variables (id, tenant, name, sealed, updated_at) VALUES ($1::text || ' ' || $2::text, $1, $2, $3, $4)
             ON CONFLICT (tenant, name) DO UPDATE SET sealed = $3, updated_at = $4",
            &[
                &tenant,
                &variable.name,
                &variable.value.0,
                &signed(variable.updated_at),
            ],
        )
        .await
        .map_err(failed("writing a variable"))
        .map(drop)
}

async fn all(connection: &Connection, tenant: &str) -> Result<Vec<Variable>, StoreError> {
    let failed = failed("reading variables");
    let rows = connection
        .query(
            "SELECT name, sealed, updated_at FROM variables WHERE tenant = $1 ORDER BY name",
            &[&tenant],
        )
        .await
        .map_err(&failed)?;
    let mut found = Vec::new();
    for row in &rows {
        found.push(Variable {
            name: get(row, "name")?,
            value: Sealed(get(row, "sealed")?),
            updated_at: unsigned(row, "updated_at")?,
        });
    }
    Ok(found)
}
