//! Records of acts: who changed what, when and from where. They tell of things, and outlast them.

use async_trait::async_trait;
use headwater_model::{
    id::{AuditId, KeyId, SessionId, UserId, WorkspaceId},
    page::PageRequest,
    time::EpochMs,
};
use serde_json::{Map, Value};

use crate::{delivery_search::CappedCount, error::StoreError, progress::Progress, tenants::Viewer};

/// Records that one search looks at.
pub const AUDIT_SEARCHED_MAX: u32 = 10_000;

/// The record of one act.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditRecord {
    /// Its id, in the order of time.
    pub id: AuditId,
    /// When it was done.
    pub at_ms: EpochMs,
    /// Whose act it was.
    pub actor: Actor,
    /// Its dotted name, such as `source.deploy`.
    pub action: String,
    /// The thing that it was done to.
    pub target: AuditTarget,
    /// More about it, without secrets.
    pub details: Map<String, Value>,
    /// The address that the request came from, if that is known.
    pub address: Option<String>,
    /// The name that the client gave itself.
    pub user_agent: String,
}

/// Whose act it was, as it was called at that time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The way by which it came.
    pub via: ActorKind,
    /// The user; nobody for those who were not let in, and for the node itself.
    pub user_id: Option<UserId>,
    /// The user's name.
    pub username: Option<String>,
    /// The key that it came with, or that its session was begun with.
    pub key_id: Option<KeyId>,
    /// The name of that key.
    pub key_name: Option<String>,
    /// Its session.
    pub session_id: Option<SessionId>,
}

/// The way by which an actor came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActorKind {
    /// With an API key.
    Key,
    /// As a browser that is signed in.
    Session,
    /// By a link that the user asked for.
    Link,
    /// Nobody who is known.
    Nobody,
    /// The node itself.
    Node,
}

/// The thing that an act was done to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditTarget {
    /// Its kind, such as `source`.
    pub kind: String,
    /// Its id, or the name that stands for one.
    pub id: String,
    /// Its name at that time.
    pub name: Option<String>,
    /// The user whose it was.
    pub owner_id: Option<UserId>,
    /// The workspace that it was in.
    pub workspace_id: Option<WorkspaceId>,
}

/// Those who read records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuditReader {
    /// Somebody who reads all.
    All,
    /// Somebody who reads its own acts, and those on its things and on the things in its workspaces.
    Viewer(Viewer),
}

/// Records to find; a field that is `None` does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The actor: the id or the name of a user, or the id of a key or session.
    pub actor: Option<String>,
    /// The action, or the part of its name before a dot: `source` is all of sources.
    pub action: Option<String>,
    /// The id of the thing.
    pub target_id: Option<String>,
    /// The workspace that the thing was in.
    pub workspace_id: Option<WorkspaceId>,
    /// The earliest, epoch milliseconds.
    pub since_ms: Option<EpochMs>,
    /// The latest, epoch milliseconds.
    pub until_ms: Option<EpochMs>,
}

/// A page of records.
#[derive(Debug, Clone, Default)]
pub struct FoundAudit {
    /// Newest first.
    pub items: Vec<AuditRecord>,
    /// The place at which the search stopped because it had looked at [`AUDIT_SEARCHED_MAX`]: the next page begins behind
    /// it, in the direction of the search.
    pub searched_to: Option<AuditId>,
}

/// Records of acts.
///
/// Ids, names and owners in them are those of the time of the act, and lead nowhere once what they tell of is gone.
#[async_trait]
pub trait Audit {
    /// Writes a record (`conformance::audit::a_record_reads_back_as_it_was_written`). MUST keep `kept_max` of an actor at
    /// most, the newest, and those of other actors besides
    /// (`conformance::audit::an_actor_has_a_bounded_number_of_records`). MUST keep it when a user or a workspace that it
    /// tells of is deleted (`conformance::audit::records_outlast_those_they_tell_of`).
    async fn write_audit(&self, record: AuditRecord, kept_max: u32) -> Result<(), StoreError>;

    /// A page of the records that the filter describes, newest first.
    /// MUST NOT find those that the reader may not read
    /// (`conformance::audit::a_reader_finds_its_own_acts_and_those_on_what_it_sees`).
    /// MUST find those of the filter alone (`conformance::audit::records_are_found_by_each_field_of_the_filter`), and page
    /// both ways, each record once (`conformance::audit::audit_records_are_paged_both_ways`).
    /// MUST look at [`AUDIT_SEARCHED_MAX`] at most, and say where it stopped
    /// (`conformance::audit::a_search_of_records_is_bounded_and_goes_on_where_it_stopped`).
    async fn find_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        page: &PageRequest<AuditId>,
    ) -> Result<FoundAudit, StoreError>;

    /// The number of those records. MUST look at `limit` of them at most, each once, and say so when there are more
    /// (`conformance::audit::records_are_counted_up_to_a_bound`).
    async fn count_audit(
        &self,
        reader: &AuditReader,
        filter: &AuditFilter,
        limit: u32,
    ) -> Result<CappedCount, StoreError>;

    /// Deletes up to `limit` records that are older than `before_ms`, oldest first.
    /// MUST leave the others (`conformance::audit::old_records_expire_in_steps`).
    async fn expire_audit(&self, before_ms: EpochMs, limit: u32) -> Result<Progress, StoreError>;
}
