//! Data stores and their records, and the cursors of their listings.

use std::str::FromStr;

use headwater_model::page::{PageRequest, Position};
use headwater_model::{
    data_store::DataStoreName,
    id::{RunnableId, SourceId, WorkflowId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::NamedDataStore;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::{id, lenient};

/// A data store: a key-value store that components share by its name.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DataStore {
    #[schema(value_type = String)]
    name: DataStoreName,
    /// The number of its records.
    records: u64,
    /// Bytes of keys and values. Expired records count for a short while.
    bytes: u64,
    /// The time of the first write to it, in epoch milliseconds.
    #[schema(value_type = u64)]
    created_at_ms: EpochMs,
    /// The time of the last write to it, in epoch milliseconds.
    #[schema(value_type = u64)]
    updated_at_ms: EpochMs,
}

impl From<headwater_platform::DataStore> for DataStore {
    fn from(store: headwater_platform::DataStore) -> Self {
        Self {
            name: store.name,
            records: store.records,
            bytes: store.bytes,
            created_at_ms: store.created_at_ms,
            updated_at_ms: store.updated_at_ms,
        }
    }
}

/// A source or workflow that uses a data store.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DataStoreUser {
    /// The source; absent if a workflow uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    /// The workflow; absent if a source uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workflow>)]
    workflow_id: Option<WorkflowId>,
    /// The name of the source or workflow.
    name: String,
    /// The props that stand for the data store; of a workflow, `STEP.PROP`.
    props: Vec<String>,
}

impl From<headwater_platform::DataStoreUser> for DataStoreUser {
    fn from(user: headwater_platform::DataStoreUser) -> Self {
        let (source_id, workflow_id) = match user.runnable {
            RunnableId::Source(id) => (Some(id), None),
            RunnableId::Workflow(id) => (None, Some(id)),
        };
        Self {
            source_id,
            workflow_id,
            name: user.name,
            props: user.props,
        }
    }
}

/// A record of a data store.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Record {
    key: String,
    #[schema(value_type = serde_json::Value)]
    value: Box<RawValue>,
    /// The time it expires, in epoch milliseconds. Null if it does not expire.
    #[schema(required, value_type = Option<u64>)]
    expires_at_ms: Option<EpochMs>,
    /// The time of its last write, in epoch milliseconds.
    #[schema(value_type = u64)]
    updated_at_ms: EpochMs,
}

impl From<headwater_platform::Record> for Record {
    fn from(record: headwater_platform::Record) -> Self {
        Self {
            key: record.key,
            value: record.value,
            expires_at_ms: record.expires_at_ms,
            updated_at_ms: record.updated_at_ms,
        }
    }
}

/// `GET /data_stores/{name}/records`, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordsRequest {
    /// Only records whose keys begin with this text.
    prefix: Option<String>,
    /// The workspace that is meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl RecordsRequest {
    /// The data store of that name, and the beginning of keys.
    pub(crate) fn of(self, name: String) -> (NamedDataStore, String) {
        let workspace_id = self.workspace_id.or(self.org_id);
        let named = NamedDataStore { name, workspace_id };
        (named, self.prefix.unwrap_or_default())
    }
}

/// A record of a data store, by its key.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct RecordRequest {
    /// The record's key: any text.
    #[param(required, nullable = false)]
    key: Option<String>,
    /// The workspace that is meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl RecordRequest {
    /// The data store of that name, and the key.
    pub(crate) fn of(self, name: String) -> (NamedDataStore, Option<String>) {
        let workspace_id = self.workspace_id.or(self.org_id);
        (NamedDataStore { name, workspace_id }, self.key)
    }
}

/// A record to write.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"key": "order/17", "value": {"paid": true}, "ttl": 3600}))]
pub(crate) struct WriteRecord {
    /// The record's key: any text of at most 1,024 bytes.
    #[schema(required, nullable = false)]
    pub(crate) key: Option<String>,
    /// Any JSON of at most 1 MiB, null too.
    #[serde(default, deserialize_with = "lenient::given")]
    #[schema(required, value_type = serde_json::Value)]
    pub(crate) value: Option<Box<RawValue>>,
    /// The seconds after which it expires. Without it, or with 0, the record stays.
    #[serde(default, deserialize_with = "lenient::number")]
    #[schema(value_type = Option<f64>)]
    pub(crate) ttl: Option<f64>,
    /// The workspace that is meant.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl WriteRecord {
    /// The data store of that name.
    pub(crate) fn store(&self, name: String) -> NamedDataStore {
        let workspace_id = self.workspace_id.clone().or(self.org_id.clone());
        NamedDataStore { name, workspace_id }
    }
}

/// The beginning of these listings' cursors: names and keys could be base64 themselves.
const MARK: &str = "at:";

/// A place in a listing in the order of names or keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextCursor<T>(T);

impl<T: FromStr> FromStr for TextCursor<T> {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let place = text.strip_prefix(MARK).ok_or(())?;
        place.parse().map(Self).map_err(drop)
    }
}

impl<T> TextCursor<T> {
    /// The page with its bare place.
    pub(crate) fn bare(page: PageRequest<Self>) -> PageRequest<T> {
        PageRequest {
            limit: page.limit,
            position: match page.position {
                Position::First => Position::First,
                Position::After(Self(place)) => Position::After(place),
                Position::Before(Self(place)) => Position::Before(place),
            },
        }
    }
}

/// The text of the cursor of a place.
pub(crate) fn place(of: &str) -> String {
    format!("{MARK}{of}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_reads_back_and_a_bare_name_is_none() {
        let cursor: TextCursor<DataStoreName> = place("at:b").parse().unwrap();
        assert_eq!(cursor, TextCursor("at:b".parse().unwrap()));
        assert_eq!("orders".parse::<TextCursor<String>>(), Err(()));
    }
}
