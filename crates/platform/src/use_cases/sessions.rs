//! Browsers that are signed in: beginning a session with a key or by a link that is good once, listing and ending
//! them. Cookies and links are shown once; only their hashes are kept (docs/guide/web-ui.md, "Signing in").

use std::time::Duration;

use headwater_model::{
    hash::SecretHash,
    id::SessionId,
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{ActorKind, ApiKey, Identity, Session, SignInLink};

use crate::{
    audit::{Act, AuditAction},
    caller::{Caller, Remote, Via, key_hash},
    error::PlatformError,
    platform::Platform,
    use_cases::audit::{actor_of, nameless},
};

/// A session ends when nobody used it for so long.
const IDLE: Duration = Duration::from_secs(7 * 24 * 3_600);
/// A session ends so long after its beginning.
const LIFE: Duration = Duration::from_secs(30 * 24 * 3_600);
/// A link is good for so long.
const LINK: Duration = Duration::from_secs(600);
/// The use of a session is written at most this often.
const NOTED_EVERY: Duration = Duration::from_secs(60);
/// The maximum length of the name that a browser gives itself, in characters.
const USER_AGENT_MAX: usize = 300;

/// A session that has just begun.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// The stored record of it.
    pub session: Session,
    /// The cookie's value; nobody sees it again.
    pub secret: String,
}

/// A link that has just been created.
#[derive(Debug, Clone)]
pub struct NewSignInLink {
    /// The address to open in a browser.
    pub url: String,
    /// Epoch milliseconds: from then on it opens nothing.
    pub expires_at_ms: EpochMs,
}

/// A browser that is signed in.
#[derive(Debug, Clone)]
pub struct SignedIn {
    /// Its user.
    pub caller: Caller,
    /// Its session.
    pub session: Session,
}

impl Platform {
    /// Begins a session with an API key.
    ///
    /// # Errors
    /// `Unauthenticated` when nobody has the key, `SignInThrottled` after too many failures.
    pub async fn sign_in(&self, key: &str, browser: Remote) -> Result<NewSession, PlatformError> {
        let now_ms = self.core.env.now_ms();
        let address = browser.address.clone().unwrap_or_default();
        self.sign_in_throttle.check(&address, now_ms)?;
        let identity = self.core.store.identity(&key_hash(key.trim())).await?;
        let Some(identity) = identity else {
            self.sign_in_throttle.note_failure(&address);
            // As many at most as the throttle hears.
            let act = Act::new(AuditAction::SessionRefuse, "session", "");
            self.record_of(nameless(ActorKind::Nobody), &browser, act)
                .await;
            return Err(PlatformError::Unauthenticated);
        };
        let new = self.new_session(&identity.key, browser.clone());
        self.core.store.create_session(new.session.clone()).await?;
        self.key_uses.note(&identity.key, now_ms.to_seconds());
        self.record_sign_in(identity, &new.session, browser, "key")
            .await;
        Ok(new)
    }

    /// The user behind a session's cookie; nothing if the session has ended.
    ///
    /// # Errors
    /// `RateLimited` when its key is used too often.
    pub async fn signed_in(&self, secret: &str) -> Result<Option<SignedIn>, PlatformError> {
        let now_ms = self.core.env.now_ms();
        let hash = key_hash(secret);
        let store = &self.core.store;
        let found = store.session(&hash, now_ms, now_ms.minus(IDLE)).await?;
        let Some((session, identity)) = found else {
            return Ok(None);
        };
        self.rate_limits.take(&identity.key.id, now_ms)?;
        if now_ms.abs_diff(session.last_used_at_ms) >= NOTED_EVERY {
            store.note_session_use(&session.id, now_ms).await?;
        }
        self.key_uses.note(&identity.key, now_ms.to_seconds());
        let caller = Caller {
            via: Via::Session(session.id.clone()),
            ..Caller::with_key(identity)
        };
        Ok(Some(SignedIn { caller, session }))
    }

    /// The caller's sessions in creation order.
    pub async fn sessions(
        &self,
        caller: &Caller,
        page: &PageRequest<SessionId>,
    ) -> Result<Page<Session>, PlatformError> {
        Ok(self.core.store.sessions(caller.user_id(), page).await?)
    }

    /// Ends a session of the caller: its cookie opens nothing from now on.
    ///
    /// # Errors
    /// `NotFound` for one of another user.
    pub async fn end_session(&self, caller: &Caller, id: &SessionId) -> Result<(), PlatformError> {
        match self.core.store.end_session(caller.user_id(), id).await? {
            true => {
                let is_own = caller.via == Via::Session(id.clone());
                let action = match is_own {
                    true => AuditAction::SessionSignOut,
                    false => AuditAction::SessionRevoke,
                };
                let act = Act::new(action, "session", id);
                self.record(caller, act.of_user(caller.user_id())).await;
                Ok(())
            }
            false => Err(PlatformError::not_found("session", id)),
        }
    }

    /// Makes a link that signs one browser in as the caller, once.
    pub async fn create_sign_in_link(
        &self,
        caller: &Caller,
    ) -> Result<NewSignInLink, PlatformError> {
        let now_ms = self.core.env.now_ms();
        let token = self.core.env.token();
        let link = SignInLink {
            hash: key_hash(&token),
            key_id: caller.key_id().clone(),
            expires_at_ms: now_ms + LINK,
        };
        let expires_at_ms = link.expires_at_ms;
        self.core.store.create_sign_in_link(link, now_ms).await?;
        let act = Act::new(AuditAction::SessionLink, "user", caller.user_id());
        let act = act.of_user(caller.user_id());
        self.record(caller, act.named(&caller.identity.user.username))
            .await;
        let url = format!("{}/signin/{token}", self.core.config.public_url);
        Ok(NewSignInLink { url, expires_at_ms })
    }

    /// The name of the user that a link would sign in; nothing if it has ended or was used.
    ///
    /// # Errors
    /// `SignInThrottled` after too many failures.
    pub async fn sign_in_link_user(
        &self,
        token: &str,
        browser: &Remote,
    ) -> Result<Option<String>, PlatformError> {
        let identity = self.behind_link(&key_hash(token), browser).await?;
        Ok(identity.map(|identity| identity.user.username))
    }

    /// Begins a session by a link, and uses it up. Nothing: it has ended or was used.
    ///
    /// # Errors
    /// `SignInThrottled` after too many failures.
    pub async fn sign_in_by_link(
        &self,
        token: &str,
        browser: Remote,
    ) -> Result<Option<NewSession>, PlatformError> {
        let hash = key_hash(token);
        let Some(identity) = self.behind_link(&hash, &browser).await? else {
            return Ok(None);
        };
        let new = self.new_session(&identity.key, browser.clone());
        let is_first = self
            .core
            .store
            .sign_in_by_link(&hash, new.session.clone())
            .await?;
        if !is_first {
            return Ok(None);
        }
        self.record_sign_in(identity, &new.session, browser, "link")
            .await;
        Ok(Some(new))
    }

    async fn record_sign_in(&self, identity: Identity, session: &Session, from: Remote, by: &str) {
        let caller = Caller {
            via: Via::Session(session.id.clone()),
            from,
            ..Caller::with_key(identity)
        };
        let act = Act::new(AuditAction::SessionSignIn, "session", &session.id);
        let act = act.of_user(caller.user_id()).with("by", by);
        self.record_of(actor_of(&caller), &caller.from, act).await;
    }

    /// The identity that a link stands for. Links that nobody has count with keys that nobody has.
    async fn behind_link(
        &self,
        hash: &SecretHash,
        browser: &Remote,
    ) -> Result<Option<Identity>, PlatformError> {
        let now_ms = self.core.env.now_ms();
        let address = browser.address.clone().unwrap_or_default();
        self.sign_in_throttle.check(&address, now_ms)?;
        let identity = self.core.store.sign_in_link(hash, now_ms).await?;
        if identity.is_none() {
            self.sign_in_throttle.note_failure(&address);
        }
        Ok(identity)
    }

    fn new_session(&self, key: &ApiKey, browser: Remote) -> NewSession {
        let env = &self.core.env;
        let now_ms = env.now_ms();
        // Two tokens: 320 random bits.
        let secret = format!("{}{}", env.token(), env.token());
        let session = Session {
            id: env.id(SessionId::new),
            hash: key_hash(&secret),
            user_id: key.user_id.clone(),
            key_id: key.id.clone(),
            created_at_ms: now_ms,
            last_used_at_ms: now_ms,
            expires_at_ms: now_ms + LIFE,
            address: browser.address,
            user_agent: browser.user_agent.chars().take(USER_AGENT_MAX).collect(),
        };
        NewSession { session, secret }
    }
}
