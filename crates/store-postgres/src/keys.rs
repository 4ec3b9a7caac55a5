//! API keys: their users and their last use.

use headwater_model::{
    hash::SecretHash,
    id::KeyId,
    page::{Page, PageRequest},
    time::EpochSeconds,
};
use headwater_store::{ApiKey, Conflict, Entity, Identity, Last, StoreError, Taken};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned, unsigned_opt},
    users, workspaces,
};

pub(crate) async fn create(connection: &Connection, key: &ApiKey) -> Result<(), StoreError> {
    if users::by_id(connection, key.user_id.as_str())
        .await?
        .is_none()
    {
        return Err(Conflict::Gone(Entity::User(key.user_id.clone())).into());
    }
    let same = "SELECT * FROM api_keys WHERE hash = $1";
    if one(connection, same, key.hash.as_str()).await?.is_some() {
        return Err(Conflict::Taken(Taken::KeyHash).into());
    }
    connection
        .execute("INSERT INTO api_keys (id, user_id, name, hash, created_at) VALUES ($1, $2, $3, $4, $5)", &[&key.id.as_str(), &key.user_id.as_str(), &key.name, &key.hash.as_str(), &signed(key.created_at)]).await
        .map_err(failed("writing a key"))
        .map(drop)
}

pub(crate) async fn identity(
    connection: &Connection,
    hash: &str,
) -> Result<Option<Identity>, StoreError> {
    let key = one(connection, "SELECT * FROM api_keys WHERE hash = $1", hash).await?;
    match key {
        Some(key) => behind(connection, key).await.map(Some),
        None => Ok(None),
    }
}

/// The identity behind the key with this id.
pub(crate) async fn identity_of(
    connection: &Connection,
    id: &str,
) -> Result<Option<Identity>, StoreError> {
    let key = by_id(connection, id).await?;
    match key {
        Some(key) => behind(connection, key).await.map(Some),
        None => Ok(None),
    }
}

async fn behind(connection: &Connection, key: ApiKey) -> Result<Identity, StoreError> {
    let id = key.user_id.as_str();
    let user = users::by_id(connection, id).await?.ok_or_else(|| {
        StoreError::Corrupt(format!("a key belongs to user {id}, who is not there"))
    })?;
    Ok(Identity {
        user,
        workspaces: workspaces::of_user(connection, id).await?,
        key,
    })
}

pub(crate) async fn by_id(connection: &Connection, id: &str) -> Result<Option<ApiKey>, StoreError> {
    one(connection, "SELECT * FROM api_keys WHERE id = $1", id).await
}

async fn one(
    connection: &Connection,
    sql: &str,
    parameter: &str,
) -> Result<Option<ApiKey>, StoreError> {
    let failed = failed("looking a key up");
    let rows = connection
        .query(sql, &[&parameter])
        .await
        .map_err(&failed)?;
    rows.first().map(key).transpose()
}

fn key(row: &Row) -> Result<ApiKey, StoreError> {
    Ok(ApiKey {
        id: parsed(row, "id")?,
        user_id: parsed(row, "user_id")?,
        name: get(row, "name")?,
        hash: SecretHash::new(get::<String>(row, "hash")?),
        created_at: unsigned(row, "created_at")?,
        last_used_at: unsigned_opt(row, "last_used_at")?,
    })
}

pub(crate) async fn page(
    connection: &Connection,
    user_id: &str,
    page: &PageRequest<KeyId>,
) -> Result<Page<ApiKey>, StoreError> {
    let listing = Listing {
        table: "api_keys",
        filter: "user_id = $1".to_owned(),
        parameters: vec![Box::new(user_id)],
    };
    page_of(connection, &listing, page, KeyId::as_str, key).await
}

pub(crate) async fn delete(
    connection: &Connection,
    id: &KeyId,
    by: &KeyId,
) -> Result<bool, StoreError> {
    let failed = failed("deleting a key");
    let is_last = connection
        .exists("SELECT 1 FROM api_keys WHERE id = $1 AND NOT EXISTS (
                 SELECT 1 FROM api_keys AS other WHERE other.user_id = api_keys.user_id AND other.id <> $1)", &[&id.as_str()]).await
        .map_err(&failed)?;
    if is_last && id == by {
        return Err(Conflict::Last(Last::Key(id.clone())).into());
    }
    let deleted = connection
        .execute("DELETE FROM api_keys WHERE id = $1", &[&id.as_str()])
        .await
        .map_err(&failed)?;
    Ok(deleted > 0)
}

pub(crate) async fn note_uses(
    connection: &Connection,
    uses: &[(KeyId, EpochSeconds)],
) -> Result<(), StoreError> {
    let (ids, used): (Vec<&str>, Vec<i64>) = uses
        .iter()
        .map(|(id, used_at)| (id.as_str(), signed(*used_at)))
        .unzip();
    connection
        .execute(
            "UPDATE api_keys SET last_used_at = used.at
             FROM unnest($1::text[], $2::bigint[]) AS used (id, at) WHERE api_keys.id = used.id",
            &[&ids, &used],
        )
        .await
        .map_err(failed("noting the use of keys"))
        .map(drop)
}
