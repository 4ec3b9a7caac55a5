//! Data stores as people see them: their list, their records, and deleting one.

use headwater_model::{
    data_store::{DataStoreName, InvalidDataStore},
    id::WorkspaceId,
    page::{Page, PageRequest},
};
use headwater_store::{DataStore, DataStoreRef, Record};

use crate::{caller::Caller, error::PlatformError, platform::Platform};

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

    /// The records of a data store, in the order of keys.
    ///
    /// # Errors
    /// `NotFound` for one that nothing was ever written to.
    pub async fn data_store_records(
        &self,
        caller: &Caller,
        name: &str,
        workspace_id: Option<WorkspaceId>,
        page: &PageRequest<String>,
    ) -> Result<Page<Record>, PlatformError> {
        let store = self.named_data_store(caller, name, workspace_id).await?;
        let now_ms = self.core.env.now_ms();
        if self.core.store.data_store(&store, now_ms).await?.is_none() {
            return Err(PlatformError::not_found("data store", name));
        }
        Ok(self.core.store.record_page(&store, page, now_ms).await?)
    }

    /// Deletes a data store with its records. A component that writes to it creates it again.
    ///
    /// # Errors
    /// `NotFound` for one that nothing was ever written to.
    pub async fn delete_data_store(
        &self,
        caller: &Caller,
        name: &str,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<(), PlatformError> {
        let store = self.named_data_store(caller, name, workspace_id).await?;
        match self.core.store.delete_data_store(&store).await? {
            true => Ok(()),
            false => Err(PlatformError::not_found("data store", name)),
        }
    }

    async fn named_data_store(
        &self,
        caller: &Caller,
        name: &str,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<DataStoreRef, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let name = name
            .parse()
            .map_err(|_: InvalidDataStore| PlatformError::not_found("data store", name))?;
        Ok(DataStoreRef { owner, name })
    }
}
