//! API keys: their users and their last use.

use headwater_model::{
    hash::SecretHash,
    id::KeyId,
    page::{Page, PageRequest},
    time::EpochSeconds,
};
use headwater_store::{ApiKey, Conflict, Entity, Identity, Last, StoreError, Taken};
use rusqlite::{Connection, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned, unsigned_opt},
    users, workspaces,
};

pub(crate) fn create(connection: &Connection, key: &ApiKey) -> Result<(), StoreError> {
    if users::by_id(connection, key.user_id.as_str())?.is_none() {
        return Err(Conflict::Gone(Entity::User(key.user_id.clone())).into());
    }
    let same = "SELECT * FROM api_keys WHERE hash = ?";
    if one(connection, same, key.hash.as_str())?.is_some() {
        return Err(Conflict::Taken(Taken::KeyHash).into());
    }
    connection
        .execute_prepared(
            "INSERT INTO api_keys (id, user_id, name, hash, created_at) VALUES (?, ?, ?, ?, ?)",
            params![
                key.id.as_str(),
                key.user_id.as_str(),
                key.name,
                key.hash.as_str(),
                signed(key.created_at)
            ],
        )
        .map_err(failed("writing a key"))
        .map(drop)
}

pub(crate) fn identity(
    connection: &Connection,
    hash: &str,
) -> Result<Option<Identity>, StoreError> {
    let key = one(connection, "SELECT * FROM api_keys WHERE hash = ?", hash)?;
    key.map(|key| behind(connection, key)).transpose()
}

/// The identity behind the key with this id.
pub(crate) fn identity_of(
    connection: &Connection,
    id: &str,
) -> Result<Option<Identity>, StoreError> {
    let key = by_id(connection, id)?;
    key.map(|key| behind(connection, key)).transpose()
}

fn behind(connection: &Connection, key: ApiKey) -> Result<Identity, StoreError> {
    let id = key.user_id.as_str();
    let user = users::by_id(connection, id)?.ok_or_else(|| {
        StoreError::Corrupt(format!("a key belongs to user {id}, who is not there"))
    })?;
    Ok(Identity {
        user,
        workspaces: workspaces::of_user(connection, id)?,
        key,
    })
}

pub(crate) fn by_id(connection: &Connection, id: &str) -> Result<Option<ApiKey>, StoreError> {
    one(connection, "SELECT * FROM api_keys WHERE id = ?", id)
}

fn one(connection: &Connection, sql: &str, parameter: &str) -> Result<Option<ApiKey>, StoreError> {
    let failed = failed("looking a key up");
    let mut statement = connection.prepare_cached(sql).map_err(&failed)?;
    let mut rows = statement.query([parameter]).map_err(&failed)?;
    rows.next().map_err(&failed)?.map(key).transpose()
}

fn key(row: &Row<'_>) -> Result<ApiKey, StoreError> {
    Ok(ApiKey {
        id: parsed(row, "id")?,
        user_id: parsed(row, "user_id")?,
        name: get(row, "name")?,
        hash: SecretHash::new(get::<String>(row, "hash")?),
        created_at: unsigned(row, "created_at")?,
        last_used_at: unsigned_opt(row, "last_used_at")?,
    })
}

pub(crate) fn page(
    connection: &Connection,
    user_id: &str,
    page: &PageRequest<KeyId>,
) -> Result<Page<ApiKey>, StoreError> {
    let listing = Listing {
        table: "api_keys",
        filter: "user_id = ?1".to_owned(),
        parameters: vec![user_id],
    };
    page_of(connection, &listing, page, KeyId::as_str, key)
}

pub(crate) fn delete(connection: &Connection, id: &KeyId, by: &KeyId) -> Result<bool, StoreError> {
    let failed = failed("deleting a key");
    let is_last = connection
        .prepare_cached(
            "SELECT 1 FROM api_keys WHERE id = ?1 AND NOT EXISTS (
                 SELECT 1 FROM api_keys AS other WHERE other.user_id = api_keys.user_id AND other.id <> ?1)",
        )
        .and_then(|mut statement| statement.exists([id.as_str()]))
        .map_err(&failed)?;
    if is_last && id == by {
        return Err(Conflict::Last(Last::Key(id.clone())).into());
    }
    let deleted = connection
        .execute_prepared("DELETE FROM api_keys WHERE id = ?", [id.as_str()])
        .map_err(&failed)?;
    Ok(deleted > 0)
}

pub(crate) fn note_uses(
    connection: &Connection,
    uses: &[(KeyId, EpochSeconds)],
) -> Result<(), StoreError> {
    let failed = failed("noting the use of keys");
    let mut statement = connection
        .prepare_cached("UPDATE api_keys SET last_used_at = ? WHERE id = ?")
        .map_err(&failed)?;
    for (id, used_at) in uses {
        statement
            .execute(params![signed(*used_at), id.as_str()])
            .map_err(&failed)?;
    }
    Ok(())
}
