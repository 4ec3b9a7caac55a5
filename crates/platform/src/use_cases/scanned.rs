//! Looking for what no index of the store finds: how many things are looked at, and pages of those that were found.

use headwater_model::{
    limits::PAGE_LIMIT_MAX,
    page::{Page, PageRequest, Position},
};
use headwater_store::{RunnableFilter, Source, Workflow};

use crate::{error::PlatformError, platform::Platform, workflows::Content};

/// Pages of things of a kind that are looked at.
pub(super) const PAGES_MAX: usize = 10;

/// A page of what was looked for among the first things of a kind.
#[derive(Debug, Clone)]
pub struct Scanned<T> {
    /// Those that were found, in the order of ids, sources before workflows.
    pub page: Page<T>,
    /// Whether all things were looked at; otherwise there may be others.
    pub is_whole: bool,
}

impl<T> Scanned<T> {
    /// A page of all that were found, which are in the order of their places.
    pub(super) fn of<I: PartialOrd>(
        found: Vec<T>,
        id: impl Fn(&T) -> &I,
        page: &PageRequest<I>,
        is_whole: bool,
    ) -> Self {
        let total_count = found.len() as u64;
        let limit = page.limit as usize;
        let items = match &page.position {
            Position::First => found.into_iter().take(limit).collect(),
            Position::After(last) => {
                let after = found.into_iter().filter(|one| id(one) > last);
                after.take(limit).collect()
            }
            Position::Before(first) => {
                let before = found.into_iter().filter(|one| id(one) < first);
                let mut before: Vec<_> = before.collect();
                before.split_off(before.len().saturating_sub(limit))
            }
        };
        let page = Page { total_count, items };
        Self { page, is_whole }
    }
}

impl Platform {
    /// The first sources of a filter, and whether they are all.
    pub(super) async fn first_sources(
        &self,
        filter: &RunnableFilter,
    ) -> Result<(Vec<Source>, bool), PlatformError> {
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        let mut sources = Vec::new();
        for _ in 0..PAGES_MAX {
            let Some(page) = next else { break };
            let items = self.core.store.sources(filter, &page).await?.items;
            next = page.behind(&items, |source| source.id.clone());
            sources.extend(items);
        }
        Ok((sources, next.is_none()))
    }

    /// The first workflows of a filter, and whether they are all.
    pub(super) async fn first_workflows(
        &self,
        filter: &RunnableFilter,
    ) -> Result<(Vec<Workflow>, bool), PlatformError> {
        let mut next = Some(PageRequest::first(PAGE_LIMIT_MAX));
        let mut workflows = Vec::new();
        for _ in 0..PAGES_MAX {
            let Some(page) = next else { break };
            let items = self.core.store.workflows(filter, &page).await?.items;
            next = page.behind(&items, |workflow| workflow.id.clone());
            workflows.extend(items);
        }
        Ok((workflows, next.is_none()))
    }

    /// The current deployment's content, if it is there.
    ///
    /// # Errors
    /// `Internal` when it cannot be read.
    pub(super) async fn content_of(
        &self,
        workflow: &Workflow,
    ) -> Result<Option<Content>, PlatformError> {
        let deployment = self.core.store.deployment(&workflow.deployment_id).await?;
        deployment
            .map(|deployment| Content::of(&deployment))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::{
        id::{RunnableId, SourceId, WorkflowId},
        time::EpochMs,
    };

    use super::*;

    #[test]
    fn found_things_are_paged_both_ways() {
        let source = |ms| RunnableId::from(SourceId::new(EpochMs(ms), 0));
        let ids = [source(1), source(2), WorkflowId::new(EpochMs(0), 0).into()];
        let page = |position| {
            let page = PageRequest { limit: 2, position };
            let scanned = Scanned::of(ids.to_vec(), |id| id, &page, true);
            assert_eq!(scanned.page.total_count, 3);
            scanned.page.items
        };
        assert_eq!(page(Position::First), ids[..2]);
        assert_eq!(page(Position::After(ids[1].clone())), ids[2..]);
        assert_eq!(page(Position::Before(ids[2].clone())), ids[..2]);
        assert_eq!(page(Position::Before(ids[1].clone())), ids[..1]);
    }
}
