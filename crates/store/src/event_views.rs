//! Views: searches of events that people named, of a user or of a workspace.

use async_trait::async_trait;
use headwater_model::{id::EmitterId, time::EpochSeconds};
use serde::{Deserialize, Serialize};

use crate::{error::StoreError, tenants::Owner};

/// A search of events with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventView {
    /// Its name, of which its owner has one.
    pub name: String,
    /// Words that an event's JSON or summary has, separated by spaces.
    pub words: String,
    /// Values at places of its JSON.
    pub paths: Vec<String>,
    /// The emitter; all of the owner without. It may be gone.
    pub emitter: Option<EmitterId>,
    /// One channel; the default one and all that components name, without.
    pub channel: Option<String>,
    /// The times.
    pub times: EventTimes,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// The times of a search as somebody wrote them, so that `24h` is before whenever it is searched.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTimes {
    /// The earliest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The latest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
}

/// The paths and times of a view as one JSON text: the paths alone, as of views without times.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum KeptConditions {
    /// Of a view without times.
    Paths(Vec<String>),
    /// Of one with times.
    Timed {
        /// The paths.
        paths: Vec<String>,
        /// The times.
        #[serde(flatten)]
        times: EventTimes,
    },
}

impl KeptConditions {
    /// Those of a view.
    pub fn of(view: &EventView) -> Self {
        let paths = view.paths.clone();
        match view.times == EventTimes::default() {
            true => Self::Paths(paths),
            false => Self::Timed {
                paths,
                times: view.times.clone(),
            },
        }
    }

    /// The paths and the times.
    pub fn parts(self) -> (Vec<String>, EventTimes) {
        match self {
            Self::Paths(paths) => (paths, EventTimes::default()),
            Self::Timed { paths, times } => (paths, times),
        }
    }
}

/// Views by owner: a workspace, or else a user.
#[async_trait]
pub trait EventViews {
    /// Writes a view, if the owner then has no more than `at_most`. False: there are so many others already.
    /// MUST count in the step that writes (`conformance::event_views::no_view_is_written_beyond_the_bound`). MUST replace one of the same name and owner (`conformance::event_views::a_view_is_written_by_its_name`),
    /// and MUST delete it with its owner (`conformance::event_views::views_go_with_their_owner`).
    async fn set_event_view(
        &self,
        owner: &Owner,
        view: EventView,
        at_most: u32,
    ) -> Result<bool, StoreError>;

    /// All views of an owner, by name.
    async fn event_views(&self, owner: &Owner) -> Result<Vec<EventView>, StoreError>;

    /// Deletes a view. False: there was none.
    async fn delete_event_view(&self, owner: &Owner, name: &str) -> Result<bool, StoreError>;
}
