//! Data stores as people see them: their list, their records, and changing either.

use headwater_model::{
    data_store::{DataStoreName, InvalidDataStore, check_key, check_record},
    id::WorkspaceId,
    page::{Page, PageRequest},
};
use headwater_store::{DataStore, DataStoreRef, NewRecord, Record};
use serde_json::value::RawValue;

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    data_stores::later,
    error::PlatformError,
    platform::Platform,
};

/// A data store as a request names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedDataStore {
    /// Its name.
    pub name: String,
    /// The workspace whose it is; the caller's own without.
    pub workspace_id: Option<WorkspaceId>,
}

/// A record to write.
#[derive(Debug)]
pub struct WriteRecord {
    /// Its key.
    pub key: String,
    /// Its value.
    pub value: Box<RawValue>,
    /// The seconds after which it expires; 0: it does not.
    pub ttl: f64,
}

fn on_store(action: AuditAction, store: &DataStoreRef) -> Act {
    Act::new(action, "data_store", &store.name).of(&store.owner)
}

impl Platform {
    /// The caller's data stores, in the order of names, or those of a workspace.
    pub async fn data_stores(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        page: &PageRequest<DataStoreName>,
    ) -> Result<Page<DataStore>, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let now_ms = self.core.env.now_ms();
        Ok(self.core.store.data_stores(&owner, page, now_ms).await?)
    }

    /// The records of a data store whose keys begin with `prefix`, in the order of keys.
    ///
    /// # Errors
    /// `NotFound` for one that nothing was ever written to.
    pub async fn data_store_records(
        &self,
        caller: &Caller,
        named: &NamedDataStore,
        prefix: &str,
        page: &PageRequest<String>,
    ) -> Result<Page<Record>, PlatformError> {
        let store = self.known_data_store(caller, named).await?;
        let now_ms = self.core.env.now_ms();
        if self.core.store.data_store(&store, now_ms).await?.is_none() {
            return Err(PlatformError::not_found("data store", &named.name));
        }
        let page = self.core.store.record_page(&store, prefix, page, now_ms);
        Ok(page.await?)
    }

    /// A record of a data store.
    ///
    /// # Errors
    /// `NotFound` when there is none of that key.
    pub async fn data_store_record(
        &self,
        caller: &Caller,
        named: &NamedDataStore,
        key: &str,
    ) -> Result<Record, PlatformError> {
        let store = self.known_data_store(caller, named).await?;
        let now_ms = self.core.env.now_ms();
        let record = self.core.store.record(&store, key, now_ms).await?;
        record.ok_or_else(|| PlatformError::not_found("record", key))
    }

    /// Writes a record, as a component does, and with it the data store if it is the first.
    ///
    /// # Errors
    /// `Invalid` for a name, key, value or time to live that no record may have, `Conflict` when there is no room.
    pub async fn write_data_store_record(
        &self,
        caller: &Caller,
        named: &NamedDataStore,
        write: WriteRecord,
    ) -> Result<Record, PlatformError> {
        let name = named.name.parse();
        let name = name.map_err(|error: InvalidDataStore| PlatformError::invalid("name", error))?;
        check_key(&write.key).map_err(|error| PlatformError::invalid("key", error))?;
        let checked = check_record(&write.key, write.value.get());
        checked.map_err(|error| PlatformError::invalid("value", error))?;
        if !write.ttl.is_finite() || write.ttl < 0.0 {
            let reason =
                "`ttl` must be a number of seconds; without it, or with 0, the record stays";
            return Err(PlatformError::invalid("ttl", reason));
        }
        let owner = self.owner(caller, named.workspace_id.clone()).await?;
        let store = DataStoreRef { owner, name };
        let now_ms = self.core.env.now_ms();
        let expires_at_ms = (write.ttl > 0.0).then(|| later(now_ms, write.ttl));
        let new = NewRecord {
            key: write.key.clone(),
            value: write.value.clone(),
            expires_at_ms,
        };
        if let Some(reason) = self.data_stores.write(&store, new, now_ms).await? {
            let reason = format!("the data store `{}` takes no more: {reason}", store.name);
            return Err(PlatformError::Conflict(reason));
        }
        let act = on_store(AuditAction::DataStoreSet, &store);
        self.record(caller, act.with("key", write.key.as_str()))
            .await;
        Ok(Record {
            key: write.key,
            value: write.value,
            expires_at_ms,
            updated_at_ms: now_ms,
        })
    }

    /// Deletes a record of a data store.
    ///
    /// # Errors
    /// `NotFound` when there is none of that key.
    pub async fn delete_data_store_record(
        &self,
        caller: &Caller,
        named: &NamedDataStore,
        key: &str,
    ) -> Result<(), PlatformError> {
        let store = self.known_data_store(caller, named).await?;
        let now_ms = self.core.env.now_ms();
        match self.core.store.delete_record(&store, key, now_ms).await? {
            true => {
                let act = on_store(AuditAction::DataStoreDeleteRecord, &store);
                self.record(caller, act.with("key", key)).await;
                Ok(())
            }
            false => Err(PlatformError::not_found("record", key)),
        }
    }

    /// Deletes a data store with its records. A component that writes to it creates it again.
    ///
    /// # Errors
    /// `NotFound` for one that nothing was ever written to.
    pub async fn delete_data_store(
        &self,
        caller: &Caller,
        named: &NamedDataStore,
    ) -> Result<(), PlatformError> {
        let store = self.known_data_store(caller, named).await?;
        match self.core.store.delete_data_store(&store).await? {
            true => {
                self.record(caller, on_store(AuditAction::DataStoreDelete, &store))
                    .await;
                Ok(())
            }
            false => Err(PlatformError::not_found("data store", &named.name)),
        }
    }

    /// The data store, if there may be one of that name.
    pub(super) async fn known_data_store(
        &self,
        caller: &Caller,
        named: &NamedDataStore,
    ) -> Result<DataStoreRef, PlatformError> {
        let owner = self.owner(caller, named.workspace_id.clone()).await?;
        let not_found = |_: InvalidDataStore| PlatformError::not_found("data store", &named.name);
        let name = named.name.parse().map_err(not_found)?;
        Ok(DataStoreRef { owner, name })
    }
}
