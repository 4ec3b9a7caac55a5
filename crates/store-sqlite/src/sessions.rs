//! Sessions of browsers behind the trait, and their rows.

use async_trait::async_trait;
use headwater_model::{
    hash::SecretHash,
    id::{SessionId, UserId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{Conflict, Entity, Identity, Session, Sessions, SignInLink, StoreError};
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::{
    connection::{ExecutePrepared as _, failed},
    keys,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned},
    store::SqliteStore,
};

#[async_trait]
impl Sessions for SqliteStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        self.write(move |connection| create(connection, &session))
            .await
    }

    async fn session(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
        idle_since_ms: EpochMs,
    ) -> Result<Option<(Session, Identity)>, StoreError> {
        let hash = hash.clone();
        self.read(move |connection| living(connection, &hash, now_ms, idle_since_ms))
            .await
    }

    async fn note_session_use(&self, id: &SessionId, now_ms: EpochMs) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |connection| {
            connection
                .execute_prepared(
                    "UPDATE sessions SET last_used_at_ms = ? WHERE id = ?",
                    params![signed(now_ms), id.as_str()],
                )
                .map_err(failed("noting the use of a session"))
                .map(drop)
        })
        .await
    }

    async fn sessions(
        &self,
        user_id: &UserId,
        page: &PageRequest<SessionId>,
    ) -> Result<Page<Session>, StoreError> {
        let (user_id, page) = (user_id.clone(), page.clone());
        self.read(move |connection| {
            let listing = Listing {
                table: "sessions",
                filter: "user_id = ?1".to_owned(),
                parameters: vec![user_id.as_str()],
            };
            page_of(connection, &listing, &page, SessionId::as_str, session)
        })
        .await
    }

    async fn end_session(&self, user_id: &UserId, id: &SessionId) -> Result<bool, StoreError> {
        let (user_id, id) = (user_id.clone(), id.clone());
        self.write(move |connection| {
            connection
                .execute_prepared(
                    "DELETE FROM sessions WHERE id = ? AND user_id = ?",
                    [id.as_str(), user_id.as_str()],
                )
                .map_err(failed("ending a session"))
                .map(|deleted| deleted > 0)
        })
        .await
    }

    async fn create_sign_in_link(
        &self,
        link: SignInLink,
        now_ms: EpochMs,
    ) -> Result<(), StoreError> {
        self.write(move |connection| create_link(connection, &link, now_ms))
            .await
    }

    async fn sign_in_link(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
    ) -> Result<Option<Identity>, StoreError> {
        let hash = hash.clone();
        self.read(
            move |connection| match key_of_link(connection, &hash, now_ms)? {
                Some(key_id) => keys::identity_of(connection, &key_id),
                None => Ok(None),
            },
        )
        .await
    }

    async fn sign_in_by_link(
        &self,
        hash: &SecretHash,
        session: Session,
    ) -> Result<bool, StoreError> {
        let hash = hash.clone();
        self.write(move |connection| use_link(connection, &hash, &session))
            .await
    }
}

fn create(connection: &Connection, session: &Session) -> Result<(), StoreError> {
    if keys::by_id(connection, session.key_id.as_str())?.is_none() {
        return Err(Conflict::Gone(Entity::Key(session.key_id.clone())).into());
    }
    let failed = failed("writing a session");
    let now_ms = signed(session.created_at_ms);
    connection
        .execute_prepared("DELETE FROM sessions WHERE expires_at_ms <= ?", [now_ms])
        .map_err(&failed)?;
    connection
        .execute_prepared(
            "INSERT INTO sessions (id, hash, user_id, key_id, created_at_ms, last_used_at_ms, expires_at_ms, address, user_agent)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            params![
                session.id.as_str(),
                session.hash.as_str(),
                session.user_id.as_str(),
                session.key_id.as_str(),
                now_ms,
                signed(session.last_used_at_ms),
                signed(session.expires_at_ms),
                session.address,
                session.user_agent,
            ],
        )
        .map_err(&failed)
        .map(drop)
}

fn living(
    connection: &Connection,
    hash: &SecretHash,
    now_ms: EpochMs,
    idle_since_ms: EpochMs,
) -> Result<Option<(Session, Identity)>, StoreError> {
    let failed = failed("looking a session up");
    let mut statement = connection
        .prepare_cached(
            "SELECT * FROM sessions WHERE hash = ? AND expires_at_ms > ? AND last_used_at_ms > ?",
        )
        .map_err(&failed)?;
    let mut rows = statement
        .query(params![
            hash.as_str(),
            signed(now_ms),
            signed(idle_since_ms)
        ])
        .map_err(&failed)?;
    let Some(row) = rows.next().map_err(&failed)? else {
        return Ok(None);
    };
    let session = session(row)?;
    let identity = keys::identity_of(connection, session.key_id.as_str())?;
    Ok(identity.map(|identity| (session, identity)))
}

fn create_link(
    connection: &Connection,
    link: &SignInLink,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    if keys::by_id(connection, link.key_id.as_str())?.is_none() {
        return Err(Conflict::Gone(Entity::Key(link.key_id.clone())).into());
    }
    let failed = failed("writing a link to sign in");
    connection
        .execute_prepared(
            "DELETE FROM sign_in_links WHERE expires_at_ms <= ?",
            [signed(now_ms)],
        )
        .map_err(&failed)?;
    connection
        .execute_prepared(
            "INSERT INTO sign_in_links (hash, key_id, expires_at_ms) VALUES (?, ?, ?)",
            params![
                link.hash.as_str(),
                link.key_id.as_str(),
                signed(link.expires_at_ms)
            ],
        )
        .map_err(&failed)
        .map(drop)
}

fn key_of_link(
    connection: &Connection,
    hash: &SecretHash,
    now_ms: EpochMs,
) -> Result<Option<String>, StoreError> {
    connection
        .prepare_cached("SELECT key_id FROM sign_in_links WHERE hash = ? AND expires_at_ms > ?")
        .and_then(|mut statement| {
            statement
                .query_row(params![hash.as_str(), signed(now_ms)], |row| row.get(0))
                .optional()
        })
        .map_err(failed("looking a link to sign in up"))
}

fn use_link(
    connection: &Connection,
    hash: &SecretHash,
    session: &Session,
) -> Result<bool, StoreError> {
    let key_id = key_of_link(connection, hash, session.created_at_ms)?;
    if key_id.as_deref() != Some(session.key_id.as_str()) {
        return Ok(false);
    }
    connection
        .execute_prepared("DELETE FROM sign_in_links WHERE hash = ?", [hash.as_str()])
        .map_err(failed("using a link to sign in up"))?;
    create(connection, session)?;
    Ok(true)
}

fn session(row: &Row<'_>) -> Result<Session, StoreError> {
    Ok(Session {
        id: parsed(row, "id")?,
        hash: SecretHash::new(get::<String>(row, "hash")?),
        user_id: parsed(row, "user_id")?,
        key_id: parsed(row, "key_id")?,
        created_at_ms: unsigned(row, "created_at_ms")?,
        last_used_at_ms: unsigned(row, "last_used_at_ms")?,
        expires_at_ms: unsigned(row, "expires_at_ms")?,
        address: get(row, "address")?,
        user_agent: get(row, "user_agent")?,
    })
}
