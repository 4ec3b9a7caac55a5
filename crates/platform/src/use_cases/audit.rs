//! Audit records: writing one after an act, and reading those that a caller may read (docs/guide/audit.md).
//!
//! Every use case that changes something for a caller ends with [`Platform::record`]. The record is written in a step of
//! its own, directly after that of the act: a node that is killed between the two has done what it does not tell.

use std::time::Duration;

use headwater_model::{id::AuditId, page::PageRequest};
use headwater_store::{
    AUDIT_SEARCHED_MAX, Actor, ActorKind, AuditFilter, AuditReader, AuditRecord, CappedCount,
    FoundAudit, Progress, StoreError,
};

use crate::{
    audit::{Act, cut},
    caller::{Caller, Remote, Via},
    error::PlatformError,
    platform::Platform,
};

/// Records of one actor, whatever their age: more than a person leaves, and less than fills a disk.
const PER_ACTOR: u32 = 100_000;
/// Records that one step of upkeep deletes.
const EXPIRED_AT_ONCE: u32 = 500;

impl Platform {
    /// Records what a caller has done. The act stays done if that fails, and the node's log tells of it instead.
    pub(crate) async fn record(&self, caller: &Caller, act: Act) {
        self.record_of(actor_of(caller), &caller.from, act).await;
    }

    /// Records what was done by somebody who is no caller.
    pub(crate) async fn record_of(&self, actor: Actor, from: &Remote, act: Act) {
        if self.core.config.retained_audit_days == 0 {
            return;
        }
        let env = &self.core.env;
        let record = AuditRecord {
            id: env.id(AuditId::new),
            at_ms: env.now_ms(),
            action: act.action.name().to_owned(),
            details: act.details(),
            target: act.target,
            address: from.address.clone(),
            user_agent: cut(&from.user_agent),
            actor,
        };
        let (action, target) = (record.action.clone(), record.target.id.clone());
        let username = record.actor.username.clone();
        if let Err(error) = self.core.store.write_audit(record, PER_ACTOR).await {
            let error = error.in_full();
            tracing::error!(
                action,
                target,
                username,
                error,
                "cannot write an audit record"
            );
        }
    }

    /// A page of records, newest first, and their number as far as it is counted: all for the administrator; for others their own acts, and those on their things
    /// and on the things of their workspaces.
    ///
    /// # Errors
    /// `Invalid` for a range that is none; `Forbidden` for a workspace of others, `NotFound` for none.
    pub async fn audit(
        &self,
        caller: &Caller,
        filter: &AuditFilter,
        page: &PageRequest<AuditId>,
    ) -> Result<(FoundAudit, CappedCount), PlatformError> {
        if let (Some(since_ms), Some(until_ms)) = (filter.since_ms, filter.until_ms)
            && until_ms < since_ms
        {
            let reason = "`until` must not be before `since`";
            return Err(PlatformError::invalid("until", reason));
        }
        let is_admin = caller.identity.user.is_admin;
        if let Some(id) = &filter.workspace_id
            && !is_admin
        {
            self.check_member(caller, id).await?;
        }
        let reader = match is_admin {
            true => AuditReader::All,
            false => AuditReader::Viewer(caller.viewer()),
        };
        let store = &self.core.store;
        let found = store.find_audit(&reader, filter, page).await?;
        let count = store.count_audit(&reader, filter, AUDIT_SEARCHED_MAX);
        Ok((found, count.await?))
    }

    /// One step of forgetting records whose days are over.
    pub(crate) async fn expire_audit(&self) -> Result<Progress, StoreError> {
        let days = u64::from(self.core.config.retained_audit_days);
        let now_ms = self.core.env.now_ms();
        let before_ms = now_ms.minus(Duration::from_hours(24 * days));
        self.core
            .store
            .expire_audit(before_ms, EXPIRED_AT_ONCE)
            .await
    }
}

/// The caller as a record names it.
pub(crate) fn actor_of(caller: &Caller) -> Actor {
    let (user, key) = (&caller.identity.user, &caller.identity.key);
    let by = |via, session_id| Actor {
        via,
        user_id: Some(user.id.clone()),
        username: Some(user.username.clone()),
        key_id: Some(key.id.clone()),
        key_name: Some(key.name.clone()),
        session_id,
    };
    match &caller.via {
        Via::Key => by(ActorKind::Key, None),
        Via::Session(id) => by(ActorKind::Session, Some(id.clone())),
        Via::Node => nameless(ActorKind::Node),
    }
}

/// An actor that is no user.
pub(crate) fn nameless(via: ActorKind) -> Actor {
    Actor {
        via,
        user_id: None,
        username: None,
        key_id: None,
        key_name: None,
        session_id: None,
    }
}
