//! Sessions of browsers behind the trait, and their rows.

use async_trait::async_trait;
use headwater_model::{
    hash::SecretHash,
    id::{SessionId, UserId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{Conflict, Entity, Identity, Session, Sessions, SignInLink, StoreError};
use tokio_postgres::Row;

use crate::{
    connection::{Connection, failed},
    keys,
    page::{Listing, page_of},
    row::{get, parsed, signed, unsigned},
    store::PostgresStore,
};

#[async_trait]
impl Sessions for PostgresStore {
    async fn create_session(&self, session: Session) -> Result<(), StoreError> {
        let session = &session;
        self.write(|connection| async move { create(&connection, session).await })
            .await
    }

    async fn session(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
        idle_since_ms: EpochMs,
    ) -> Result<Option<(Session, Identity)>, StoreError> {
        self.read(
            |connection| async move { living(&connection, hash, now_ms, idle_since_ms).await },
        )
        .await
    }

    async fn note_session_use(&self, id: &SessionId, now_ms: EpochMs) -> Result<(), StoreError> {
        self.write_locking(|connection| async move {
            connection
                .execute(
                    "UPDATE sessions SET last_used_at_ms = $1 WHERE id = $2",
                    &[&signed(now_ms), &id.as_str()],
                )
                .await
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
        self.read(|connection| async move {
            let listing = Listing {
                table: "sessions",
                filter: "user_id = $1".to_owned(),
                parameters: vec![Box::new(user_id.as_str())],
            };
            page_of(&connection, &listing, page, SessionId::as_str, session).await
        })
        .await
    }

    async fn end_session(&self, user_id: &UserId, id: &SessionId) -> Result<bool, StoreError> {
        self.write_locking(|connection| async move {
            connection
                .execute(
                    "DELETE FROM sessions WHERE id = $1 AND user_id = $2",
                    &[&id.as_str(), &user_id.as_str()],
                )
                .await
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
        let link = &link;
        self.write(|connection| async move { create_link(&connection, link, now_ms).await })
            .await
    }

    async fn sign_in_link(
        &self,
        hash: &SecretHash,
        now_ms: EpochMs,
    ) -> Result<Option<Identity>, StoreError> {
        self.read(|connection| async move {
            match key_of_link(&connection, hash, now_ms).await? {
                Some(key_id) => keys::identity_of(&connection, &key_id).await,
                None => Ok(None),
            }
        })
        .await
    }

    async fn sign_in_by_link(
        &self,
        hash: &SecretHash,
        session: Session,
    ) -> Result<bool, StoreError> {
        let session = &session;
        self.write(|connection| async move { use_link(&connection, hash, session).await })
            .await
    }
}

async fn create(connection: &Connection, session: &Session) -> Result<(), StoreError> {
    if keys::by_id(connection, session.key_id.as_str())
        .await?
        .is_none()
    {
        return Err(Conflict::Gone(Entity::Key(session.key_id.clone())).into());
    }
    let failed = failed("writing a session");
    let now_ms = signed(session.created_at_ms);
    connection
        .execute("DELETE FROM sessions WHERE expires_at_ms <= $1", &[&now_ms])
        .await
        .map_err(&failed)?;
    connection
        .execute(
            "INSERT INTO sessions (id, hash, user_id, key_id, created_at_ms, last_used_at_ms, expires_at_ms, address, user_agent)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
            &[
                &session.id.as_str(),
                &session.hash.as_str(),
                &session.user_id.as_str(),
                &session.key_id.as_str(),
                &now_ms,
                &signed(session.last_used_at_ms),
                &signed(session.expires_at_ms),
                &session.address,
                &session.user_agent,
            ],
        )
        .await
        .map_err(&failed)
        .map(drop)
}

async fn living(
    connection: &Connection,
    hash: &SecretHash,
    now_ms: EpochMs,
    idle_since_ms: EpochMs,
) -> Result<Option<(Session, Identity)>, StoreError> {
    let failed = failed("looking a session up");
    let rows = connection
        .query(
            "SELECT * FROM sessions WHERE hash = $1 AND expires_at_ms > $2 AND last_used_at_ms > $3",
            &[&hash.as_str(), &signed(now_ms), &signed(idle_since_ms)],
        )
        .await
        .map_err(&failed)?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let session = session(row)?;
    let identity = keys::identity_of(connection, session.key_id.as_str()).await?;
    Ok(identity.map(|identity| (session, identity)))
}

async fn create_link(
    connection: &Connection,
    link: &SignInLink,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    if keys::by_id(connection, link.key_id.as_str())
        .await?
        .is_none()
    {
        return Err(Conflict::Gone(Entity::Key(link.key_id.clone())).into());
    }
    let failed = failed("writing a link to sign in");
    connection
        .execute(
            "DELETE FROM sign_in_links WHERE expires_at_ms <= $1",
            &[&signed(now_ms)],
        )
        .await
        .map_err(&failed)?;
    connection
        .execute(
            "INSERT INTO sign_in_links (hash, key_id, expires_at_ms) VALUES ($1, $2, $3)",
            &[
                &link.hash.as_str(),
                &link.key_id.as_str(),
                &signed(link.expires_at_ms),
            ],
        )
        .await
        .map_err(&failed)
        .map(drop)
}

async fn key_of_link(
    connection: &Connection,
    hash: &SecretHash,
    now_ms: EpochMs,
) -> Result<Option<String>, StoreError> {
    connection
        .value_opt(
            "SELECT key_id FROM sign_in_links WHERE hash = $1 AND expires_at_ms > $2",
            &[&hash.as_str(), &signed(now_ms)],
        )
        .await
        .map_err(failed("looking a link to sign in up"))
}

async fn use_link(
    connection: &Connection,
    hash: &SecretHash,
    session: &Session,
) -> Result<bool, StoreError> {
    let key_id = key_of_link(connection, hash, session.created_at_ms).await?;
    if key_id.as_deref() != Some(session.key_id.as_str()) {
        return Ok(false);
    }
    connection
        .execute(
            "DELETE FROM sign_in_links WHERE hash = $1",
            &[&hash.as_str()],
        )
        .await
        .map_err(failed("using a link to sign in up"))?;
    create(connection, session).await?;
    Ok(true)
}

fn session(row: &Row) -> Result<Session, StoreError> {
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
