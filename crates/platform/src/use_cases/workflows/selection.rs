//! A page of runs with one status, found in pages of runs with any.

use headwater_model::{
    id::InvocationId,
    limits::PAGE_LIMIT_MAX,
    page::{Page, PageRequest, Position},
};

use super::runs::{WorkflowRunStatus, WorkflowRunSummary};

/// Pages that are read for one.
const LOOKS_MAX: usize = 100;

/// The page so far.
pub(super) struct Selection {
    status: Option<WorkflowRunStatus>,
    limit: usize,
    is_backwards: bool,
    looks: usize,
    /// The page to read next; nothing more is there or wanted without one.
    next: Option<PageRequest<InvocationId>>,
    pub(super) found: Page<WorkflowRunSummary>,
}

impl Selection {
    /// The page of runs with that status; without one, the page as it is.
    pub(super) fn new(status: Option<WorkflowRunStatus>, page: PageRequest<InvocationId>) -> Self {
        Self {
            status,
            limit: page.limit as usize,
            is_backwards: matches!(page.position, Position::Before(_)),
            looks: 0,
            next: Some(PageRequest {
                limit: status.map_or(page.limit, |_| PAGE_LIMIT_MAX),
                ..page
            }),
            found: Page {
                items: Vec::new(),
                total_count: 0,
            },
        }
    }

    /// The page to read and take.
    pub(super) fn next(&mut self) -> Option<PageRequest<InvocationId>> {
        self.next.take()
    }

    pub(super) fn take(&mut self, page: Page<WorkflowRunSummary>) {
        let Some(status) = self.status else {
            self.found = page;
            return;
        };
        let mut items = page.items;
        let position = match self.is_backwards {
            true => items.first().map(|run| Position::Before(run.id.clone())),
            false => items.last().map(|run| Position::After(run.id.clone())),
        };
        items.retain(|run| run.status == status);
        let found = &mut self.found;
        found.total_count = page.total_count;
        if self.is_backwards {
            items.append(&mut found.items);
            items.drain(..items.len().saturating_sub(self.limit));
            found.items = items;
        } else {
            found.items.append(&mut items);
            found.items.truncate(self.limit);
        }
        self.looks += 1;
        let is_over = found.items.len() == self.limit || self.looks == LOOKS_MAX;
        self.next = position.filter(|_| !is_over).map(|position| PageRequest {
            limit: PAGE_LIMIT_MAX,
            position,
        });
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;
    use headwater_store::RunTrigger;

    use super::*;

    fn run(number: usize) -> InvocationId {
        InvocationId::new(EpochMs(1), (number as u128) << 64)
    }

    /// 1000 runs, of which every 150th waits.
    fn read(page: &PageRequest<InvocationId>) -> Page<WorkflowRunSummary> {
        let all: Vec<_> = (0..1000).map(run).collect();
        let place = |id| all.iter().position(|other| other == id).unwrap();
        let limit = page.limit as usize;
        let shown = match &page.position {
            Position::First => 0..limit,
            Position::After(id) => place(id) + 1..place(id) + 1 + limit,
            Position::Before(id) => place(id).saturating_sub(limit)..place(id),
        };
        let items = shown.filter(|number| *number < all.len());
        let items = items.map(|number| WorkflowRunSummary {
            id: all[number].clone(),
            status: match number % 150 {
                0 => WorkflowRunStatus::Waiting,
                _ => WorkflowRunStatus::Queued,
            },
            replay_of: None,
            trigger: RunTrigger::Http,
            caused_by: None,
            deployment_id: None,
            queued_at_ms: EpochMs(1),
            started_at_ms: None,
            ended_at_ms: None,
            error: None,
        });
        Page {
            items: items.collect(),
            total_count: 1000,
        }
    }

    fn found(
        status: Option<WorkflowRunStatus>,
        limit: u32,
        position: Position<InvocationId>,
    ) -> Vec<InvocationId> {
        let mut selection = Selection::new(status, PageRequest { limit, position });
        while let Some(next) = selection.next() {
            selection.take(read(&next));
        }
        assert_eq!(selection.found.total_count, 1000);
        let items = selection.found.items.into_iter();
        items.map(|run| run.id).collect()
    }

    fn waiting(limit: u32, position: Position<InvocationId>) -> Vec<InvocationId> {
        found(Some(WorkflowRunStatus::Waiting), limit, position)
    }

    #[test]
    fn a_page_is_full_as_long_as_there_are_such_runs() {
        let first = waiting(3, Position::First);
        assert_eq!(first, [run(0), run(150), run(300)]);
        let second = waiting(3, Position::After(run(300)));
        assert_eq!(second, [run(450), run(600), run(750)]);
        assert_eq!(waiting(3, Position::After(run(750))), [run(900)]);
        assert_eq!(waiting(3, Position::After(run(900))), []);
    }

    #[test]
    fn the_page_in_front_has_the_nearest_ones() {
        let page = waiting(2, Position::Before(run(600)));
        assert_eq!(page, [run(300), run(450)]);
        assert_eq!(waiting(2, Position::Before(run(100))), [run(0)]);
    }

    #[test]
    fn without_a_status_the_page_is_as_it_was_read() {
        let page = found(None, 3, Position::After(run(7)));
        assert_eq!(page, [run(8), run(9), run(10)]);
    }
}
