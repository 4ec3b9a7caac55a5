//! Connects: connecting an account in a browser; each step succeeds once.

use headwater_model::{id::ConnectId, time::EpochSeconds};
use headwater_store::{
    Account, Conflict, Connect, ConnectEnd, ConnectStep, Entity, Sealed, StoreError,
};
use tokio_postgres::Row;

use crate::{
    account_rows,
    connection::{Connection, failed},
    owner,
    row::{get, parsed, parsed_opt, signed, unsigned},
};

const LINKED: &str = "linked";
const AWAY: &str = "away";
const BACK: &str = "back";
const CONNECTED: &str = "connected";
const FAILED: &str = "failed";

pub(crate) async fn begin(
    connection: &Connection,
    connect: &Connect,
    token_hash: &str,
    forget_before: EpochSeconds,
) -> Result<(), StoreError> {
    let failed = failed("writing a connect");
    connection
        .execute(
            "DELETE FROM connects WHERE expires_at < $1",
            &[&signed(forget_before)],
        )
        .await
        .map_err(&failed)?;
    connection
        .execute(
            "INSERT INTO connects (id, user_id, workspace_id, app, name, account_id, sealed, step, token_hash, expires_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            &[
                &connect.id.as_str(),
                &connect.owner.user_id.as_str(),
                &connect.owner.workspace_id.as_ref().map(|id| id.as_str()),
                &connect.app,
                &connect.name,
                &connect.account_id.as_ref().map(|id| id.as_str()),
                &connect.sealed.0,
                &LINKED,
                &token_hash,
                &signed(connect.expires_at),
            ],
        )
        .await
        .map_err(&failed)
        .map(drop)
}

pub(crate) async fn by_id(
    connection: &Connection,
    id: &str,
) -> Result<Option<Connect>, StoreError> {
    one(connection, "SELECT * FROM connects WHERE id = $1", id).await
}

pub(crate) async fn by_token(
    connection: &Connection,
    hash: &str,
) -> Result<Option<Connect>, StoreError> {
    one(
        connection,
        "SELECT * FROM connects WHERE token_hash = $1",
        hash,
    )
    .await
}

pub(crate) async fn await_callback(
    connection: &Connection,
    id: &str,
    state_hash: &str,
    sealed: &Sealed,
    now_at: EpochSeconds,
) -> Result<bool, StoreError> {
    let left = connection
        .execute(
            "UPDATE connects SET step = $1, state_hash = $2, sealed = $3 WHERE id = $4 AND step = $5 AND expires_at > $6",
            &[&AWAY, &state_hash, &sealed.0, &id, &LINKED, &signed(now_at)],
        )
        .await;
    Ok(left.map_err(failed("opening a connect"))? > 0)
}

pub(crate) async fn take_callback(
    connection: &Connection,
    state_hash: &str,
    now_at: EpochSeconds,
) -> Result<Option<Connect>, StoreError> {
    let back = connection
        .execute(
            "UPDATE connects SET step = $1 WHERE state_hash = $2 AND step = $3 AND expires_at > $4",
            &[&BACK, &state_hash, &AWAY, &signed(now_at)],
        )
        .await;
    if back.map_err(failed("coming back to a connect"))? == 0 {
        return Ok(None);
    }
    one(
        connection,
        "SELECT * FROM connects WHERE state_hash = $1",
        state_hash,
    )
    .await
}

pub(crate) async fn end(
    connection: &Connection,
    id: &ConnectId,
    end: &ConnectEnd,
) -> Result<(), StoreError> {
    let account_id = match end {
        ConnectEnd::Connected(account) => Some(account.id.as_str()),
        ConnectEnd::Failed(_) => None,
    };
    let (step, failure) = match end {
        ConnectEnd::Connected(_) => (CONNECTED, None),
        ConnectEnd::Failed(reason) => (FAILED, Some(reason)),
    };
    let found = by_id(connection, id.as_str())
        .await?
        .filter(|connect| !has_ended(&connect.step));
    let connect = found.ok_or_else(|| Conflict::Ended(id.clone()))?;
    if let ConnectEnd::Connected(account) = end {
        write_account(connection, &connect, account).await?;
    }
    connection
        .execute(
            "UPDATE connects SET step = $1, failure = $2, account_id = coalesce($3, account_id), sealed = '' WHERE id = $4",
            &[&step, &failure, &account_id, &id.as_str()],
        )
        .await
        .map_err(failed("ending a connect"))
        .map(drop)
}

fn has_ended(step: &ConnectStep) -> bool {
    matches!(step, ConnectStep::Connected(_) | ConnectStep::Failed(_))
}

async fn write_account(
    connection: &Connection,
    connect: &Connect,
    account: &Account,
) -> Result<(), StoreError> {
    match &connect.account_id {
        None => account_rows::create(connection, account).await,
        Some(_) if account_rows::reconnect(connection, account).await? => Ok(()),
        Some(id) => Err(Conflict::Gone(Entity::Account(id.clone())).into()),
    }
}

async fn one(
    connection: &Connection,
    sql: &str,
    parameter: &str,
) -> Result<Option<Connect>, StoreError> {
    let failed = failed("reading a connect");
    let rows = connection
        .query(sql, &[&parameter])
        .await
        .map_err(&failed)?;
    rows.first().map(connect).transpose()
}

fn connect(row: &Row) -> Result<Connect, StoreError> {
    let step: String = get(row, "step")?;
    let step = match &*step {
        LINKED => ConnectStep::Linked,
        AWAY => ConnectStep::Away,
        BACK => ConnectStep::Back,
        CONNECTED => ConnectStep::Connected(parsed(row, "account_id")?),
        FAILED => ConnectStep::Failed(get(row, "failure")?),
        other => {
            return Err(StoreError::Corrupt(format!(
                "`{other}` is not a step of a connect"
            )));
        }
    };
    Ok(Connect {
        id: parsed(row, "id")?,
        owner: owner::of(row)?,
        app: get(row, "app")?,
        name: get(row, "name")?,
        account_id: parsed_opt(row, "account_id")?,
        sealed: Sealed(get(row, "sealed")?),
        step,
        expires_at: unsigned(row, "expires_at")?,
    })
}
