//! Blame for harm to a worker: for its end, or for a time in which nobody could run.

use std::collections::BTreeSet;

use super::{Runs, Trouble};
use crate::worker::{
    ending::Ending,
    protocol::ComponentNumber,
    pulse::{Beat, Pulse},
};

impl Runs {
    /// The components one of which ended the worker; none if the platform did.
    pub(super) fn causes_of_end(&self) -> BTreeSet<ComponentNumber> {
        match &self.ending {
            Some(Ending::Dismissed) => BTreeSet::new(),
            Some(Ending::Limit { run, .. }) => {
                let run = self.in_flight.get(run);
                run.map(|run| run.component).into_iter().collect()
            }
            Some(Ending::Excess { .. } | Ending::Protocol(_)) | None => self.running(),
        }
    }

    /// The components that have runs.
    pub(super) fn running(&self) -> BTreeSet<ComponentNumber> {
        self.in_flight.values().map(|run| run.component).collect()
    }

    /// Whether the worker has to be asked for a sign of life. Without one for too long, the components that had runs
    /// when it was asked are to blame, unless a module is being evaluated: that happens once.
    pub(in crate::worker) fn is_to_be_pinged(&mut self, now: Beat) -> bool {
        if self.in_flight.is_empty() || self.ending.is_some() {
            self.pulse = Pulse::default();
            return false;
        }
        if let Some(last_run) = self.pulse.stopped_by(now) {
            match self.components.is_any_loading(now.at) {
                true => self.pulse.wait_from(now),
                false => {
                    let before = self.in_flight.range(..=last_run);
                    let suspects = before.map(|(_, run)| run.component).collect();
                    self.components.harmed_by(&suspects);
                }
            }
        }
        self.pulse.is_to_be_taken(now, self.last_id)
    }

    /// The component's part in harm to the worker, if it may have had one.
    pub(in crate::worker) fn trouble(&self, component: ComponentNumber) -> Option<Trouble> {
        self.components.trouble(component)
    }

    /// Has the component, if it may have held others up, take no more runs here.
    pub(in crate::worker) fn part_if_harmful(&mut self, component: ComponentNumber) {
        if self.components.len() > 1 && self.components.trouble(component).is_some() {
            self.components.close(component);
        }
    }
}
