//! Audit records, not part of Pipedream's API.

use headwater_model::{
    id::{AuditId, KeyId, SessionId, UserId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{ActorKind, AuditFilter};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

use super::{id, lenient};

/// `GET /audit`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchAudit {
    /// Only acts of this actor: the id or the name of a user, or the id of a key or of a session.
    actor: Option<String>,
    /// Only acts of this name, such as `source.deploy`, or with this first part of it, such as `source`.
    action: Option<String>,
    /// Only acts on the thing with this id.
    target_id: Option<String>,
    /// Only acts on things in this workspace; `org_id` means the same.
    #[serde(alias = "org_id")]
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// Only acts at this time or later: epoch milliseconds, or ISO 8601 with a zone or as a date.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    since: Option<EpochMs>,
    /// Only acts at this time or before.
    #[serde(default, deserialize_with = "lenient::time_ms")]
    #[param(value_type = Option<String>)]
    until: Option<EpochMs>,
}

impl From<SearchAudit> for AuditFilter {
    fn from(request: SearchAudit) -> Self {
        let given = |text: Option<String>| text.filter(|text| !text.is_empty());
        Self {
            actor: given(request.actor),
            action: given(request.action),
            target_id: given(request.target_id),
            workspace_id: request.workspace_id,
            since_ms: request.since,
            until_ms: request.until,
        }
    }
}

/// The record of an act, with names as they were at that time.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AuditRecord {
    #[schema(value_type = id::Audit)]
    id: AuditId,
    #[schema(value_type = u64)]
    at_ms: EpochMs,
    /// The dotted name of the act, such as `source.deploy`.
    action: String,
    actor: Actor,
    target: Target,
    /// More about the act, such as the names of changed fields; never a secret.
    details: Map<String, Value>,
    /// The address that the request came from. Null if it is not known.
    #[schema(required)]
    address: Option<String>,
    /// The name that the client gave itself.
    user_agent: String,
}

/// Whose act it was.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditActor)]
struct Actor {
    via: Via,
    /// Null for nobody and for the node.
    #[schema(required, value_type = Option<id::User>)]
    user_id: Option<UserId>,
    #[schema(required)]
    username: Option<String>,
    /// The key, or that of the session. Null for links, nobody and the node.
    #[schema(required, value_type = Option<id::Key>)]
    key_id: Option<KeyId>,
    #[schema(required)]
    key_name: Option<String>,
    /// The session of a browser. Null for others.
    #[schema(required, value_type = Option<id::Session>)]
    session_id: Option<SessionId>,
}

/// The way by which an actor came: with an API key, as a browser that is signed in, by a link that the user asked for;
/// nobody who is known; or the node itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = AuditVia)]
enum Via {
    Key,
    Session,
    Link,
    Nobody,
    Node,
}

/// The thing that it was done to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditTarget)]
struct Target {
    /// Its kind, such as `source`.
    kind: String,
    /// Its id, or the name that stands for one.
    id: String,
    #[schema(required)]
    name: Option<String>,
    /// The user whose it was. Null for things of nobody or of a workspace alone.
    #[schema(required, value_type = Option<id::User>)]
    owner_id: Option<UserId>,
    /// The workspace that it was in. Null outside of workspaces.
    #[schema(required, value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
}

impl From<headwater_platform::AuditRecord> for AuditRecord {
    fn from(record: headwater_platform::AuditRecord) -> Self {
        let (actor, target) = (record.actor, record.target);
        Self {
            id: record.id,
            at_ms: record.at_ms,
            action: record.action,
            actor: Actor {
                via: match actor.via {
                    ActorKind::Key => Via::Key,
                    ActorKind::Session => Via::Session,
                    ActorKind::Link => Via::Link,
                    ActorKind::Nobody => Via::Nobody,
                    ActorKind::Node => Via::Node,
                },
                user_id: actor.user_id,
                username: actor.username,
                key_id: actor.key_id,
                key_name: actor.key_name,
                session_id: actor.session_id,
            },
            target: Target {
                kind: target.kind,
                id: target.id,
                name: target.name,
                owner_id: target.owner_id,
                workspace_id: target.workspace_id,
            },
            details: record.details,
            address: record.address,
            user_agent: record.user_agent,
        }
    }
}
