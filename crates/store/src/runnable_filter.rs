//! The choice of sources or of workflows that a list shows.

use headwater_model::id::{UserId, WorkspaceId};

/// Sources or workflows to list, in creation order: sources that are neither deploying nor deleting, workflows that are not
/// being deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunnableFilter {
    /// Whose they are.
    pub scope: RunnableScope,
    /// Which of them.
    pub wanted: Wanted,
}

/// The part of a list of sources or workflows that is wanted; by default, all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wanted {
    /// Parts of the name, in any case; all of them.
    pub words: Vec<String>,
    /// The one state; `None`: any.
    pub standing: Option<Standing>,
    /// Sources with such a trigger; `None`: any, and workflows.
    pub trigger: Option<SourceTrigger>,
    /// Sources of components that have a prop of this app, or a key that begins with its slug and a hyphen.
    pub app: Option<String>,
    /// Sources of components with this key.
    pub component: Option<String>,
}

impl Wanted {
    /// Whether it is about something that only sources have: then no workflow is wanted.
    pub fn is_of_sources(&self) -> bool {
        self.trigger.is_some() || self.app.is_some() || self.component.is_some()
    }
}

/// A trigger that sources have by their props.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceTrigger {
    /// A timer.
    Timer,
    /// An HTTP endpoint.
    Http,
    /// Neither: they run by events of others, or by hand.
    Neither,
}

/// The owner of listed sources or workflows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunnableScope {
    /// All that the user deployed.
    User(UserId),
    /// All that live in the workspace.
    Workspace(WorkspaceId),
}

/// A state of sources and of workflows that a list can be reduced to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// They run on their triggers.
    Active,
    /// They do not.
    Paused,
    /// Their newest run that is kept has failed, whether or not they run on their triggers.
    Failing,
    /// They run on their triggers, and their newest run that is kept has not failed.
    Ok,
}

impl RunnableFilter {
    /// All that the user deployed.
    pub fn user(id: UserId) -> Self {
        RunnableScope::User(id).into()
    }

    /// All that live in the workspace.
    pub fn workspace(id: WorkspaceId) -> Self {
        RunnableScope::Workspace(id).into()
    }
}

impl From<RunnableScope> for RunnableFilter {
    fn from(scope: RunnableScope) -> Self {
        Self {
            scope,
            wanted: Wanted::default(),
        }
    }
}
