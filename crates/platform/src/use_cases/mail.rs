//! Mail to workflows: each address leads to one trigger (docs/guide/workflows.md, "Triggers").

use std::sync::Arc;

use async_trait::async_trait;
use headwater_mail::{
    event::{Options, Parsed, parse},
    receive::{Mailboxes, Received, Refused, mailbox_name},
};
use headwater_model::{endpoint::EndpointToken, id::InvocationId};
use headwater_store::{EndpointKind, Trigger, Workflow, WorkflowEndpoint, WorkflowState};
use serde_json::value::to_raw_value;

use crate::{error::PlatformError, platform::Platform, workflows::NewRun};

/// The name of a message's file.
const MESSAGE_FILE: &str = "message.eml";

/// The mailboxes of a node.
pub struct WorkflowMail {
    platform: Arc<Platform>,
    /// The name that the server gives itself.
    host_name: String,
}

impl WorkflowMail {
    /// The mailboxes of this platform's workflows.
    pub fn new(platform: Arc<Platform>, host_name: String) -> Self {
        Self {
            platform,
            host_name,
        }
    }

    async fn find(&self, address: &str) -> Result<Option<(Workflow, WorkflowEndpoint)>, Refused> {
        let token = EndpointToken::new(mailbox_name(address));
        let found = self.platform.core.store.workflow_by_endpoint(&token).await;
        let found = found.map_err(|error| later(&PlatformError::from(error)))?;
        Ok(found.filter(|(workflow, endpoint)| {
            workflow.state == WorkflowState::Active && endpoint.kind == EndpointKind::Email
        }))
    }

    async fn queue(
        &self,
        workflow: Workflow,
        trigger: WorkflowEndpoint,
        received: &Received,
    ) -> Result<(), PlatformError> {
        let platform = &self.platform;
        let id = platform.core.env.id(InvocationId::new);
        let options = Options::new(id.as_str(), &self.host_name, platform.core.env.now_ms().0);
        let mut parsed = parse(received, &options);
        self.keep_files(&workflow, &mut parsed, &options).await?;
        let event = to_raw_value(&parsed.event)
            .map_err(|error| PlatformError::Internal(error.to_string()))?;
        let user_id = &workflow.owner.user_id;
        platform.quotas.take_invocation(user_id).await?;
        let new = NewRun {
            workflow: workflow.id.clone(),
            owner: workflow.owner.clone(),
            trigger: Trigger::Email,
            via: Some(trigger.trigger.to_string()),
            event,
            head: None,
            hops: 0,
        };
        let queued = platform.workflows.queue(new).await;
        queued.inspect_err(|_| platform.quotas.give_invocation_back(user_id))?;
        Ok(())
    }

    /// Keeps attachments, and a message that is not wholly in its event, where steps can fetch them.
    async fn keep_files(
        &self,
        workflow: &Workflow,
        parsed: &mut Parsed,
        options: &Options,
    ) -> Result<(), PlatformError> {
        let files = self.platform.files();
        for index in 0..parsed.attachments.len() {
            let attachment = &parsed.attachments[index];
            let kept = files.put_for_event(
                &workflow.owner,
                &attachment.filename,
                attachment.bytes.clone(),
            );
            parsed.set_attachment_url(index, &kept.await?);
        }
        if parsed.raw.len() > options.text_bytes_max {
            let kept = files.put_for_event(&workflow.owner, MESSAGE_FILE, parsed.raw.clone());
            parsed.set_raw_url(&kept.await?);
        }
        Ok(())
    }
}

#[async_trait]
impl Mailboxes for WorkflowMail {
    async fn knows(&self, address: &str) -> Result<bool, Refused> {
        Ok(self.find(address).await?.is_some())
    }

    async fn deliver(&self, received: Received) -> Result<(), Refused> {
        for address in &received.recipients {
            // Between the two questions the workflow may have been turned off.
            let Some((workflow, trigger)) = self.find(address).await? else {
                continue;
            };
            self.queue(workflow, trigger, &received)
                .await
                .map_err(|error| later(&error))?;
        }
        Ok(())
    }
}

fn later(error: &PlatformError) -> Refused {
    tracing::warn!(%error, "a mail cannot be taken now");
    Refused::Temporarily("the message cannot be taken now; try again later".to_owned())
}
