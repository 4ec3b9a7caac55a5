//! Looking at a folder with this node's eyes: everything that a deployment would say, and nothing of what it does.

use headwater_workflow::finding::Finding;

use super::{DeployWorkflow, code::StepCodes, folder::Folder, lacks::new_addresses};
use crate::{caller::Caller, error::PlatformError, platform::Platform};

impl Platform {
    /// Tells what the folder lacks on this node, and what is wrong with the props and accounts of its steps. Deploys
    /// nothing, and leaves sources of triggers alone.
    ///
    /// # Errors
    /// Those of [`Platform::deploy_workflow`] up to where that begins to change something.
    pub async fn check_workflow(
        &self,
        caller: &Caller,
        request: DeployWorkflow,
    ) -> Result<Vec<Finding>, PlatformError> {
        let mut folder = Folder::read(request.files)?;
        let known = match &folder.state.id {
            Some(id) => self.core.store.workflow(id).await?,
            None => None,
        };
        let owner = match known {
            Some(known) => self.visible_workflow(caller, &known.id).await?.owner,
            None => {
                let new = new_addresses(&folder);
                folder.findings.extend(new);
                self.owner(caller, request.workspace_id).await?
            }
        };
        self.check_memory(&folder.definition.settings)?;
        let codes = StepCodes {
            caller,
            owner: &owner,
            files: &folder.files,
            former: None,
            restored: None,
            lacks_accounts: request.lacks_accounts,
            is_kept: false,
        };
        // Boxed: builds take more than the stacks of callers have.
        Box::pin(self.step_components(&folder.definition, &codes, &mut folder.findings)).await?;
        folder.findings.extend(self.lacks(&folder, &owner).await?);
        Ok(folder.findings)
    }
}
