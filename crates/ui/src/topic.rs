//! The things that a page follows, as `/live?of=` lists them: the rows of one emitter or of all, and changes of what its parts show.

use headwater_model::id::{EmitterId, InvocationId, SourceId, WorkflowId, WorkspaceId};
use headwater_platform::Change;

/// Topics of one page.
const TOPICS_MAX: usize = 4;

/// Something whose changes a page follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Topic {
    /// All sources.
    Sources,
    /// One source.
    Source(SourceId),
    /// All webhooks and their deliveries.
    Webhooks,
    /// All workflows and their runs.
    Workflows,
    /// One workflow and its runs.
    Workflow(WorkflowId),
    /// All runs, of sources and of workflows.
    Runs,
    /// A run of a workflow.
    Run(InvocationId),
}

impl Topic {
    /// Its name in addresses.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Sources => "changes:sources".to_owned(),
            Self::Source(id) => format!("changes:{id}"),
            Self::Webhooks => "changes:webhooks".to_owned(),
            Self::Workflows => "changes:workflows".to_owned(),
            Self::Workflow(id) => format!("changes:{id}"),
            Self::Runs => "changes:runs".to_owned(),
            Self::Run(id) => format!("changes:{id}"),
        }
    }

    fn parse(name: &str) -> Option<Self> {
        match name {
            "sources" => Some(Self::Sources),
            "webhooks" => Some(Self::Webhooks),
            "workflows" => Some(Self::Workflows),
            "runs" => Some(Self::Runs),
            id => {
                let source = id.parse().ok().map(Self::Source);
                let workflow = || id.parse().ok().map(Self::Workflow);
                source
                    .or_else(workflow)
                    .or_else(|| id.parse().ok().map(Self::Run))
            }
        }
    }

    /// Whether a change is one of this.
    pub(crate) fn covers(&self, change: &Change) -> bool {
        match (self, change) {
            (_, Change::Much)
            | (Self::Sources, Change::Source(..))
            | (Self::Webhooks, Change::Webhook(..))
            | (Self::Workflows, Change::Workflow(..) | Change::Run { .. })
            | (Self::Runs, Change::Source(..) | Change::Run { .. }) => true,
            (Self::Source(own), Change::Source(id, _)) => own == id,
            (Self::Workflow(own), Change::Workflow(id, _)) => own == id,
            (Self::Workflow(own), Change::Run { workflow_id, .. }) => own == workflow_id,
            (Self::Run(own), Change::Run { run_id, .. }) => own == run_id,
            (
                _,
                Change::Source(..)
                | Change::Workflow(..)
                | Change::Run { .. }
                | Change::Webhook(..),
            ) => false,
        }
    }
}

/// Everything that one page follows.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Topics {
    /// The emitter whose new events are rows.
    pub(crate) rows: Option<EmitterId>,
    /// The workspace whose newest events are rows, or everything that the visitor deployed.
    pub(crate) news: Option<Option<WorkspaceId>>,
    pub(crate) changes: Vec<Topic>,
    /// The name of a form's work whose progress is told.
    pub(crate) work: Option<String>,
}

impl Topics {
    /// The topics with these names, if they are some.
    pub(crate) fn parse(of: &str) -> Option<Self> {
        let mut topics = Self::default();
        for name in of.split(',') {
            match name.split_once(':')? {
                ("news", "own") if topics.has_no_rows() => topics.news = Some(None),
                ("news", id) if topics.has_no_rows() => topics.news = Some(Some(id.parse().ok()?)),
                ("source", id) if topics.has_no_rows() => {
                    topics.rows = Some(EmitterId::Source(id.parse().ok()?));
                }
                ("workflow", id) if topics.has_no_rows() => {
                    topics.rows = Some(EmitterId::Workflow(id.parse().ok()?));
                }
                ("work", name) if topics.work.is_none() => topics.work = Some(name.to_owned()),
                ("changes", name) if topics.changes.len() < TOPICS_MAX => {
                    topics.changes.push(Topic::parse(name)?);
                }
                _ => return None,
            }
        }
        Some(topics)
    }

    /// A page has one list of rows.
    fn has_no_rows(&self) -> bool {
        self.rows.is_none() && self.news.is_none()
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::{
        id::{UserId, WebhookId},
        time::EpochMs,
    };
    use headwater_platform::Owner;

    use super::*;

    #[test]
    fn topics_are_read_as_they_are_named() {
        let source = SourceId::new(EpochMs(1), 2);
        let run = InvocationId::new(EpochMs(1), 3);
        let workflow = WorkflowId::new(EpochMs(1), 5);
        let all = [
            Topic::Sources,
            Topic::Webhooks,
            Topic::Workflows,
            Topic::Runs,
            Topic::Source(source.clone()),
            Topic::Workflow(workflow),
            Topic::Run(run),
        ];
        for some in all.chunks(TOPICS_MAX) {
            let names: Vec<_> = some.iter().map(Topic::name).collect();
            let read = Topics::parse(&format!("source:{source},{}", names.join(","))).unwrap();
            assert_eq!(read.rows, Some(EmitterId::Source(source.clone())));
            assert_eq!(read.changes, some);
            assert_eq!(read.work, None);
        }
        for unreadable in [
            "",
            "sources",
            "changes:",
            "changes:x",
            "other:x",
            "source:x",
            "news:x",
            "news:own,news:own",
        ] {
            assert_eq!(Topics::parse(unreadable), None, "{unreadable}");
        }
        let followed = Topics::parse("work:name").unwrap();
        assert_eq!(followed.work.as_deref(), Some("name"));
        let workspace = WorkspaceId::new(EpochMs(1), 4);
        let news = Topics::parse(&format!("news:{workspace}")).unwrap().news;
        assert_eq!(news, Some(Some(workspace)));
        assert_eq!(Topics::parse("news:own").unwrap().news, Some(None));
        let many = [Topic::Sources.name().as_str(); 5].join(",");
        assert_eq!(Topics::parse(&many), None);
    }

    #[test]
    fn a_page_hears_of_its_own_things() {
        let [one, two] = [1, 2].map(|ms| SourceId::new(EpochMs(ms), 1));
        let owner = Owner {
            user_id: UserId::new(EpochMs(1), 1),
            workspace_id: None,
        };
        let of_source = Change::Source(one.clone(), owner.clone());
        assert!(Topic::Sources.covers(&of_source));
        assert!(Topic::Source(one).covers(&of_source));
        assert!(!Topic::Source(two.clone()).covers(&of_source));
        assert!(!Topic::Webhooks.covers(&of_source));
        let of_webhook = Change::Webhook(WebhookId::new(EpochMs(1), 1), owner);
        assert!(Topic::Webhooks.covers(&of_webhook));
        assert!(!Topic::Sources.covers(&of_webhook));
        assert!(Topic::Source(two).covers(&Change::Much));
    }
    #[test]
    fn a_run_of_a_workflow_is_heard_of_by_its_workflow_and_by_all_runs() {
        let [one, two] = [1, 2].map(|ms| WorkflowId::new(EpochMs(ms), 1));
        let owner = Owner {
            user_id: UserId::new(EpochMs(1), 1),
            workspace_id: None,
        };
        let of_run = Change::Run {
            workflow_id: one.clone(),
            run_id: InvocationId::new(EpochMs(1), 1),
            owner: owner.clone(),
        };
        let of_workflow = Change::Workflow(one.clone(), owner.clone());
        for change in [&of_run, &of_workflow] {
            assert!(Topic::Workflow(one.clone()).covers(change));
            assert!(!Topic::Workflow(two.clone()).covers(change));
            assert!(Topic::Workflows.covers(change));
            assert!(!Topic::Sources.covers(change));
        }
        assert!(Topic::Runs.covers(&of_run));
        assert!(!Topic::Runs.covers(&of_workflow));
        let of_source = Change::Source(SourceId::new(EpochMs(1), 1), owner);
        assert!(Topic::Runs.covers(&of_source));
        assert!(!Topic::Workflows.covers(&of_source));
    }
}
