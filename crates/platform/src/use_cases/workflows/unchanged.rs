//! Telling whether a folder is what its workflow was last deployed from, so that nothing is built for nothing.

use std::collections::BTreeMap;

use super::folder::Folder;
use crate::{caller::Caller, error::PlatformError, platform::Platform, workflows::Content};

impl Platform {
    /// Whether the current deployment of the workflow that these files name has just these files and triggers.
    ///
    /// # Errors
    /// As far as they are about the files, those of [`Platform::deploy_workflow`].
    pub async fn is_deployed(
        &self,
        caller: &Caller,
        files: BTreeMap<String, String>,
    ) -> Result<bool, PlatformError> {
        let mut folder = Folder::read(files)?;
        let Some(id) = folder.state.id.clone() else {
            return Ok(false);
        };
        let workflow = match self.visible_workflow(caller, &id).await {
            Ok(workflow) => workflow,
            Err(PlatformError::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let deployment = self.core.store.deployment(&workflow.deployment_id).await?;
        let Some(deployment) = deployment else {
            return Ok(false);
        };
        let content = Content::of(&deployment)?;
        // A trigger whose id the files do not have would get another one, and is not the same.
        let triggers = self.trigger_ids(&folder.definition, &mut folder.state);
        Ok(content.files == folder.files && content.triggers == triggers)
    }
}
