//! The places at which a run is at work, as far as the store tells.

use std::collections::BTreeSet;

use headwater_model::id::InvocationId;
use headwater_workflow::{path::Path, run::Resolution};

use super::runs::FoundRun;
use crate::{
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    workflows::{Head, place_of},
};

impl Platform {
    /// The places whose code or expressions are being executed, or are about to be: those that a node which took up the
    /// run now would order. They may have begun without being stored, as those at the start and after a pause. None of a
    /// run that has ended, or waits.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such run.
    pub async fn workflow_run_at_work(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<BTreeSet<Path>, PlatformError> {
        let FoundRun::Open(open, workflow) = self.found_run(caller, id).await? else {
            return Ok(BTreeSet::new());
        };
        let head = Head::read(open.state.as_deref()).unwrap_or_default();
        let deployment = head.deployment_id.clone();
        let deployment = deployment.unwrap_or(workflow.deployment_id);
        let mut places = Vec::new();
        for written in self.core.store.run_places(id).await? {
            let (path, place) = place_of(&written)?;
            places.push((path, place, written));
        }
        let Some(mut tree) = self.tree_of(Some(&deployment), &head, &places).await? else {
            return Ok(BTreeSet::new());
        };
        let now_ms = self.core.env.now_ms();
        for answer in self
            .core
            .store
            .resolutions(std::slice::from_ref(id))
            .await?
        {
            let path = answer.wait.path.parse::<Path>();
            let resolution = serde_json::from_str::<Resolution>(answer.resolution.get());
            if let (Ok(path), Ok(resolution)) = (path, resolution) {
                tree.resolve(&path, answer.wait.generation, resolution, now_ms);
            }
        }
        tree.wake(now_ms);
        let (orders, _) = tree.advance(now_ms);
        Ok(orders.into_iter().map(|order| order.path).collect())
    }
}
