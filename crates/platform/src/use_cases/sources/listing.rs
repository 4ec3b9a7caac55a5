//! Lists of sources.

use headwater_model::{
    id::{SourceId, WorkspaceId},
    page::{Page, PageRequest},
};
use headwater_store::{
    ListPlace, Placed, RunnableFilter, RunnableScope, Source, SourceOrder, Wanted,
};

use super::SourceView;
use crate::{caller::Caller, error::PlatformError, platform::Platform};

impl Platform {
    /// A page of sources in creation order: those of a workspace, or all that the caller deployed.
    ///
    /// # Errors
    /// `Forbidden` when the caller is not a member of the workspace, `NotFound` when there is none.
    pub async fn sources(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        wanted: Wanted,
        page: &PageRequest<SourceId>,
    ) -> Result<Page<SourceView>, PlatformError> {
        let filter = self.runnables(caller, workspace_id, wanted).await?;
        let Page { total_count, items } = self.core.store.sources(&filter, page).await?;
        let view = |source: Source| SourceView::new(self, source);
        Ok(Page {
            total_count,
            items: items.into_iter().map(view).collect(),
        })
    }

    /// A page of the same sources in an order of choice, each with its place in it.
    ///
    /// # Errors
    /// Those of [`Platform::sources`].
    pub async fn sources_in_order(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        wanted: Wanted,
        order: SourceOrder,
        page: &PageRequest<ListPlace>,
    ) -> Result<Page<Placed<SourceView>>, PlatformError> {
        let filter = self.runnables(caller, workspace_id, wanted).await?;
        let store = &self.core.store;
        let found = store.sources_in_order(&filter, order, page).await?;
        let view = |source: Source| SourceView::new(self, source);
        Ok(Placed::map_page(found, view))
    }

    /// The sources or workflows that are listed for a caller.
    pub(crate) async fn runnables(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        wanted: Wanted,
    ) -> Result<RunnableFilter, PlatformError> {
        let scope = match workspace_id {
            Some(id) => {
                self.check_member(caller, &id).await?;
                RunnableScope::Workspace(id)
            }
            None => RunnableScope::User(caller.user_id().clone()),
        };
        Ok(RunnableFilter { scope, wanted })
    }
}
