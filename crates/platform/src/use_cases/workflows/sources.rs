//! The sources that a workflow's triggers deploy: they live and end with those triggers.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    sync::Arc,
};

use headwater_model::{
    id::{SourceId, TriggerId, WorkflowId, WorkspaceId},
    page::PageRequest,
};
use headwater_workflow::definition::{
    ComponentReference, Definition, SourceTrigger, StepCode, TriggerConfig,
};

use super::folder::Folder;
use crate::{
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    use_cases::{
        components::ComponentInput,
        sources::{DeploySource, UpdateSource},
    },
    workflows::Content,
};

/// Deployments, each with all its files, that are read in one step.
const DEPLOYMENTS_AT_ONCE: u32 = 10;

/// The sources of a deployment that is under way.
#[derive(Default)]
pub(super) struct OwnedSources {
    /// By trigger.
    pub(super) by_trigger: BTreeMap<TriggerId, SourceId>,
    /// Those that this deployment created: they go if it fails.
    created: Vec<SourceId>,
    /// Those that no trigger has any more: they go once it has succeeded.
    left: Vec<SourceId>,
}

impl Platform {
    /// Deploys the sources of new triggers, and updates those that changed. If it fails, those it created are gone again.
    ///
    /// # Errors
    /// Those of deploying a source, naming the trigger.
    pub(super) async fn owned_sources(
        self: &Arc<Self>,
        caller: &Caller,
        folder: &Folder,
        ids: &[TriggerId],
        former: Option<&Content>,
        workspace_id: Option<&WorkspaceId>,
    ) -> Result<OwnedSources, PlatformError> {
        let mut owned = OwnedSources::default();
        let wanted = source_triggers(&folder.definition, ids);
        let known = former
            .map(|former| former.sources.clone())
            .unwrap_or_default();
        let former = former.map(|former| (former, former.definition()));
        for (index, id, trigger) in wanted {
            let source = match known.get(id) {
                Some(source) => {
                    let before = former.as_ref().and_then(|(content, definition)| {
                        let definition = definition.as_ref().ok()?;
                        let triggers = source_triggers(definition, &content.triggers);
                        triggers
                            .into_iter()
                            .find(|(_, known, _)| *known == id)
                            .map(|(_, _, before)| before.clone())
                    });
                    let is_same = before.as_ref() == Some(trigger) && is_registered(trigger);
                    let code = (folder, workspace_id);
                    self.kept_source(caller, source, trigger, (code, is_same))
                        .await
                }
                None => Ok(None),
            };
            let source = match source {
                Ok(Some(source)) => Ok(source),
                Ok(None) => self.new_source(caller, trigger, folder, workspace_id).await,
                Err(error) => Err(error),
            };
            match source {
                Ok(source) => {
                    if known.get(id) != Some(&source) {
                        owned.created.push(source.clone());
                    }
                    owned.by_trigger.insert(id.clone(), source);
                }
                Err(error) => {
                    self.take_back_sources(caller, &owned).await;
                    return Err(of_trigger(index, error));
                }
            }
        }
        let kept: HashSet<&SourceId> = owned.by_trigger.values().collect();
        owned.left = known
            .into_values()
            .filter(|source| !kept.contains(source))
            .collect();
        Ok(owned)
    }

    /// Deletes the sources that a deployment which failed had created.
    pub(super) async fn take_back_sources(self: &Arc<Self>, caller: &Caller, owned: &OwnedSources) {
        self.drop_sources(caller, &owned.created).await;
    }

    /// Deletes the sources that no trigger has any more.
    pub(super) async fn drop_left_sources(self: &Arc<Self>, caller: &Caller, owned: &OwnedSources) {
        self.drop_sources(caller, &owned.left).await;
    }

    async fn drop_sources(self: &Arc<Self>, caller: &Caller, sources: &[SourceId]) {
        let deleted = self.delete_sources(Some(caller), sources.iter().cloned());
        if let Err(error) = deleted.await {
            tracing::error!(%error, "a workflow's source cannot be deleted; it goes with the workflow");
        }
    }

    /// The sources of all deployments of a workflow, with those of former ones that were left behind.
    pub(super) async fn deployed_sources(
        &self,
        id: &WorkflowId,
    ) -> Result<BTreeSet<SourceId>, PlatformError> {
        let mut sources = BTreeSet::new();
        let mut next = Some(PageRequest::first(DEPLOYMENTS_AT_ONCE));
        while let Some(page) = next {
            let deployments = self.core.store.deployments(id, &page).await?.items;
            next = page.behind(&deployments, |deployment| deployment.id.clone());
            for deployment in &deployments {
                match Content::of(deployment) {
                    Ok(content) => sources.extend(content.sources.into_values()),
                    Err(error) => {
                        tracing::error!(workflow_id = %id, %error, "its sources are not known")
                    }
                }
            }
        }
        Ok(sources)
    }

    /// Deletes sources as far as they are there, with an audit record of each if somebody decides it now.
    ///
    /// # Errors
    /// Those of the last one that could not be deleted.
    pub(super) async fn delete_sources(
        self: &Arc<Self>,
        caller: Option<&Caller>,
        sources: impl IntoIterator<Item = SourceId>,
    ) -> Result<(), PlatformError> {
        let mut result = Ok(());
        for id in sources {
            let deleted = match caller {
                Some(caller) => self.delete_source(caller, &id).await,
                None => self.delete_left_source(&id).await,
            };
            match deleted {
                Ok(()) | Err(PlatformError::NotFound { .. }) => {}
                Err(error) => result = Err(error),
            }
        }
        result
    }

    async fn new_source(
        self: &Arc<Self>,
        caller: &Caller,
        trigger: &SourceTrigger,
        folder: &Folder,
        workspace_id: Option<&WorkspaceId>,
    ) -> Result<SourceId, PlatformError> {
        let request = DeploySource {
            component: self
                .code_of_source(caller, trigger, (folder, workspace_id))
                .await?,
            configured_props: trigger.props.clone().into_iter().collect(),
            workspace_id: workspace_id.cloned(),
            name: Some(format!("{} (trigger)", folder.definition.name)),
            ..DeploySource::default()
        };
        Ok(self.deploy_source(caller, request).await?.source.id)
    }

    /// The source of a trigger that has one, changed if the trigger did; `None` if somebody deleted it.
    async fn kept_source(
        self: &Arc<Self>,
        caller: &Caller,
        id: &SourceId,
        trigger: &SourceTrigger,
        (code, is_same): ((&Folder, Option<&WorkspaceId>), bool),
    ) -> Result<Option<SourceId>, PlatformError> {
        match self.visible_source(caller, id).await {
            Ok(_) if is_same => return Ok(Some(id.clone())),
            Ok(_) => {}
            Err(PlatformError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error),
        }
        let request = UpdateSource {
            component: self.code_of_source(caller, trigger, code).await?,
            configured_props: Some(trigger.props.clone().into_iter().collect()),
            ..UpdateSource::default()
        };
        self.update_source(caller, id, request).await?;
        Ok(Some(id.clone()))
    }

    async fn code_of_source(
        &self,
        caller: &Caller,
        trigger: &SourceTrigger,
        (folder, workspace_id): (&Folder, Option<&WorkspaceId>),
    ) -> Result<ComponentInput, PlatformError> {
        match &trigger.uses {
            StepCode::Inline(text) => Ok(code(text)),
            StepCode::File(path) => {
                let text = folder.files.get(path);
                let text = text.ok_or_else(|| {
                    PlatformError::invalid("uses", format!("the folder has no file `{path}`"))
                })?;
                Ok(code(text))
            }
            StepCode::Component(reference) => {
                self.registered_source(caller, reference, workspace_id)
                    .await
            }
            StepCode::Foreign { runtime, file } => {
                let reason = format!(
                    "`{file}` is for {runtime}; rewrite it in JavaScript, which is all that runs here"
                );
                Err(PlatformError::invalid("uses", reason))
            }
        }
    }

    /// A source by its key: one of this node, else one of the public packages.
    async fn registered_source(
        &self,
        caller: &Caller,
        reference: &ComponentReference,
        workspace_id: Option<&WorkspaceId>,
    ) -> Result<ComponentInput, PlatformError> {
        let here = self.component_here(caller, workspace_id, reference).await?;
        let mut input = ComponentInput {
            component_id: here.map(|component| component.id.to_string()),
            ..ComponentInput::default()
        };
        if input.component_id.is_none() && !reference.is_private {
            input.component_url = self.packaged_source(&reference.key).await;
        }
        if input.is_empty() {
            let version = reference.version.as_ref();
            let version = version.map(|version| format!("@{version}"));
            // The error that names it is that of a component which is not there.
            input.component_id = Some(format!("{}{}", reference.key, version.unwrap_or_default()));
        }
        Ok(input)
    }
}

fn source_triggers<'a>(
    definition: &'a Definition,
    ids: &'a [TriggerId],
) -> Vec<(usize, &'a TriggerId, &'a SourceTrigger)> {
    let triggers = definition.triggers.iter().zip(ids).enumerate();
    let sources = triggers.filter_map(|(index, (trigger, id))| {
        let TriggerConfig::Source(source) = &trigger.config else {
            return None;
        };
        Some((index, id, source))
    });
    sources.collect()
}

/// Whether its code is a version that never changes; a file of the folder may have.
fn is_registered(trigger: &SourceTrigger) -> bool {
    matches!(&trigger.uses, StepCode::Component(reference) if reference.version.is_some())
}

fn code(text: &str) -> ComponentInput {
    ComponentInput {
        component_code: Some(text.to_owned()),
        ..ComponentInput::default()
    }
}

/// The error of a trigger's source, naming the trigger.
fn of_trigger(index: usize, error: PlatformError) -> PlatformError {
    let place = format!("triggers[{index}]");
    error.of_part(&place, &place)
}
