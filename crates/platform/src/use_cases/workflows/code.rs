//! The code of steps: files of the folder, text in the definition, and actions of a registry. Sources of triggers are found
//! in the same places.
//!
//! A key is looked up on this node first, then among the actions that the node brings along, then in the public
//! packages (docs/guide/workflows.md, "Steps").

use std::{collections::BTreeMap, sync::Arc};

use futures::{FutureExt as _, StreamExt as _, TryStreamExt as _, stream};
use headwater_engine::{BuildRequest, ComponentCode, built_in_action};
use headwater_model::{
    id::{ComponentId, WorkspaceId},
    prop::ConfiguredProps,
};
use headwater_store::{ArtifactBytes, Owner, SavedComponent};
use headwater_workflow::{
    definition::{ComponentReference, Definition, NodeKind, Step, StepCode},
    finding::{Finding, Severity},
    template::compiled_literal,
};

use crate::{
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    props::apps,
    use_cases::{
        components::{ComponentInput, ComponentRef, unbuilt},
        workflows::step_props::{Leniency, Remarks, checked, no_app},
    },
    workflows::Content,
};

/// Steps whose code is built at once.
const BUILDS: usize = 4;
/// The scope of the public packages.
const SCOPE: &str = "@pipedream";

/// The code of the steps of a deployment.
pub(super) struct StepCodes<'a> {
    pub(super) caller: &'a Caller,
    pub(super) owner: &'a Owner,
    pub(super) files: &'a Arc<BTreeMap<String, String>>,
    /// The content of the current deployment, whose components are used again if nothing changed.
    pub(super) former: Option<&'a Content>,
    /// The content of the deployment that is taken up again, whose steps run what they ran then.
    pub(super) restored: Option<&'a Content>,
    /// Whether steps do without accounts.
    pub(super) lacks_accounts: bool,
    /// Whether new components are saved; they are not where they are only looked at.
    pub(super) is_kept: bool,
}

/// Told of a step whose code is built anew although its deployment is taken up again.
const GONE: &str =
    "the code and packages that the step had are not kept any more; those of now are taken";

/// The component of a step, and a remark about it.
type Found = (SavedComponent, Option<ArtifactBytes>, Option<String>);

impl Platform {
    /// The saved components of all steps, by namespace. Adds what there is to say about them.
    ///
    /// # Errors
    /// Those of builds, naming the step; `Invalid` for an action that nobody has, `InvalidProps` for an account that the
    /// caller may not use.
    pub(super) async fn step_components(
        &self,
        definition: &Definition,
        codes: &StepCodes<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<BTreeMap<String, ComponentId>, PlatformError> {
        // Those that are switched off need no code that can run.
        let nodes = definition
            .paths()
            .into_iter()
            .filter(|(_, node)| !node.is_disabled);
        let steps = nodes.filter_map(|(path, node)| {
            let NodeKind::Step(step) = &node.kind else {
                return None;
            };
            Some((path, node.namespace.to_string(), step))
        });
        let built = steps.map(|(path, namespace, step)| {
            let built = async move {
                let component = self.step_component(codes, &namespace, step).await;
                let (id, remarks) = component.map_err(|error| of_step(&namespace, error))?;
                Ok::<_, PlatformError>((path, namespace, id, remarks))
            };
            built.boxed()
        });
        // Collected and boxed: otherwise the compiler does not see that the whole can go from thread to thread.
        let built: Vec<_> = built.collect();
        let built: Vec<_> = stream::iter(built).buffered(BUILDS).try_collect().await?;
        let mut components = BTreeMap::new();
        for (path, namespace, id, remarks) in built {
            findings.extend(remarks.into_iter().map(|(severity, message)| Finding {
                severity,
                place: definition.found_at(&path),
                message,
            }));
            components.insert(namespace, id);
        }
        Ok(components)
    }

    async fn step_component(
        &self,
        codes: &StepCodes<'_>,
        namespace: &str,
        step: &Step,
    ) -> Result<(ComponentId, Remarks), PlatformError> {
        let restored = self.restored_step(codes, namespace).await?;
        let is_restored = restored.is_some();
        let (component, artifact, remark) = match restored {
            Some(component) => (component, None, None),
            None => {
                let (component, artifact, remark) = self.found_step(codes, namespace, step).await?;
                let was_kept = codes
                    .restored
                    .is_some_and(|restored| restored.steps.contains_key(namespace));
                let gone = was_kept.then(|| GONE.to_owned());
                (component, artifact, remark.or(gone))
            }
        };
        let leniency = Leniency {
            lacks_accounts: codes.lacks_accounts,
            // It was accepted then.
            is_other_version: remark.is_some() || is_restored,
        };
        let mut remarks: Remarks = remark
            .map(|remark| (Severity::Note, remark))
            .into_iter()
            .collect();
        let catalog = &self.core.config.apps;
        remarks.extend(checked(&component, step, catalog, leniency)?);
        remarks.extend(self.step_accounts(codes, &component, step).await?);
        if matches!(step.code, StepCode::Component(_)) {
            remarks.extend(self.lacks_a_way_out(&component));
        }
        let Some(artifact) = artifact.filter(|_| codes.is_kept) else {
            return Ok((component.id, remarks));
        };
        if let Some(same) = self.unchanged(codes.former, namespace, &component).await? {
            return Ok((same, remarks));
        }
        let id = component.id.clone();
        let store = &self.core.store;
        store.save_step_component(component, artifact).await?;
        Ok((id, remarks))
    }

    /// The component that the step had in the deployment that is taken up again, with the packages of then.
    async fn restored_step(
        &self,
        codes: &StepCodes<'_>,
        namespace: &str,
    ) -> Result<Option<SavedComponent>, PlatformError> {
        let id = codes
            .restored
            .and_then(|restored| restored.steps.get(namespace));
        match id {
            Some(id) => Ok(self.core.store.component(id).await?),
            None => Ok(None),
        }
    }

    async fn found_step(
        &self,
        codes: &StepCodes<'_>,
        namespace: &str,
        step: &Step,
    ) -> Result<Found, PlatformError> {
        match &step.code {
            StepCode::File(path) => {
                let code = ComponentCode::Folder {
                    entry: path.clone(),
                    files: Arc::clone(codes.files),
                };
                self.built_step(codes.owner, code).await
            }
            StepCode::Inline(text) => {
                // Errors and stacks name it by this path; the ending is that of its language.
                let entry = format!("steps/{namespace}");
                let code = ComponentCode::Folder {
                    files: Arc::new(BTreeMap::from([(entry.clone(), text.clone())])),
                    entry,
                };
                self.built_step(codes.owner, code).await
            }
            StepCode::Component(reference) => self.action(codes, reference).await,
            StepCode::Foreign { runtime, file } => {
                let reason = format!(
                    "`{file}` is for {runtime}; rewrite it in JavaScript, which is all that runs here"
                );
                Err(PlatformError::invalid("uses", reason))
            }
        }
    }

    /// Checks the accounts that the file names. Those of apps that the node does not know may be missing, as on Pipedream,
    /// which knows them: that is told.
    async fn step_accounts(
        &self,
        codes: &StepCodes<'_>,
        component: &SavedComponent,
        step: &Step,
    ) -> Result<Remarks, PlatformError> {
        let values = step.props.iter();
        let values =
            values.filter_map(|(name, value)| Some((name.clone(), compiled_literal(value)?)));
        let mut values: ConfiguredProps = values.collect();
        let apps = apps(&component.description.props);
        let mut remarks = Remarks::new();
        for (prop, app) in &apps {
            let id = values
                .get(prop)
                .and_then(|value| value["authProvisionId"].as_str());
            let (Some(id), None) = (id, self.core.config.apps.get(app)) else {
                continue;
            };
            let account = match id.parse() {
                Ok(id) => self.visible_account(codes.caller, &id).await.map(drop),
                Err(_) => Err(PlatformError::not_found("account", id)),
            };
            match account {
                Ok(()) => {}
                Err(PlatformError::NotFound { .. }) => {
                    let why = no_app(Some(app), prop);
                    let message = format!(
                        "props.{prop}: there is no account `{id}`, so the step fails when it runs; {why}"
                    );
                    remarks.push((Severity::Warning, message));
                    values.remove(prop);
                }
                Err(error) => return Err(error),
            }
        }
        self.check_accounts(codes.caller, &apps, &values).await?;
        Ok(remarks)
    }

    async fn built_step(&self, owner: &Owner, code: ComponentCode) -> Result<Found, PlatformError> {
        let request = BuildRequest {
            owner: owner.tenant().to_owned(),
            is_step: true,
            ..code.into()
        };
        let build = self.core.engine.build(request).await.map_err(unbuilt)??;
        let (mut component, artifact) = self.component_from(owner.clone(), None, build);
        // The component is the workflow's alone: under a key it would hide others.
        component.description.key = None;
        Ok((component, Some(artifact), None))
    }

    /// The component of the current deployment, if it is the same.
    async fn unchanged(
        &self,
        former: Option<&Content>,
        namespace: &str,
        component: &SavedComponent,
    ) -> Result<Option<ComponentId>, PlatformError> {
        let Some(id) = former.and_then(|former| former.steps.get(namespace)) else {
            return Ok(None);
        };
        let former = self.core.store.component(id).await?;
        let same = former.filter(|former| {
            former.artifact_hash == component.artifact_hash
                && former.code_hash == component.code_hash
        });
        Ok(same.map(|same| same.id))
    }

    async fn action(
        &self,
        codes: &StepCodes<'_>,
        reference: &ComponentReference,
    ) -> Result<Found, PlatformError> {
        let workspace_id = codes.owner.workspace_id.as_ref();
        let here = self.component_here(codes.caller, workspace_id, reference);
        if let Some(saved) = here.await? {
            return Ok((saved, None, None));
        }
        if reference.is_private {
            return Err(Box::pin(self.no_action(codes, reference)).await);
        }
        let found = match built_in_action(&reference.key) {
            Some(code) => Some(self.built_step(codes.owner, code).await?),
            None => self.packaged_action(codes.owner, &reference.key).await?,
        };
        let Some((component, artifact, _)) = found else {
            return Err(Box::pin(self.no_action(codes, reference)).await);
        };
        let runs = component.description.version.as_deref();
        let remark = match (&reference.version, runs) {
            (Some(wanted), Some(runs)) if wanted != runs => Some(format!(
                "`{}` runs in version {runs}, the one that can be had, instead of {wanted}",
                reference.key
            )),
            _ => None,
        };
        Ok((component, artifact, remark))
    }

    /// The error for an action that nobody has: the versions that there are, and where others are to be had.
    async fn no_action(
        &self,
        codes: &StepCodes<'_>,
        reference: &ComponentReference,
    ) -> PlatformError {
        let workspace_id = codes.owner.workspace_id.as_ref();
        let any_version = ComponentReference {
            version: None,
            ..reference.clone()
        };
        let here = self.component_here(codes.caller, workspace_id, &any_version);
        let here = here.await.ok().flatten();
        let here = here.and_then(|component| component.description.version);
        let next = match (here, reference.is_private) {
            (Some(version), _) => format!(
                "the node has `{}@{version}`; name that version, or publish this one (`headwater publish`)",
                reference.key
            ),
            (None, true) => "publish its code (`headwater publish FILE|DIR`)".to_owned(),
            (None, false) => {
                let (app, _) = reference
                    .key
                    .split_once('-')
                    .unwrap_or((&reference.key, ""));
                format!(
                    "the npm package {SCOPE}/{app} has no such action, if there is one: publish yours (`headwater publish \
                     FILE|DIR`), or those of a clone of https://github.com/PipedreamHQ/pipedream (`headwater publish \
                     pipedream/components/{app}`)"
                )
            }
        };
        let shown = shown(reference);
        PlatformError::invalid("uses", format!("there is no component `{shown}`; {next}"))
    }

    /// A component that somebody saved or published on this node.
    pub(super) async fn component_here(
        &self,
        caller: &Caller,
        workspace_id: Option<&WorkspaceId>,
        reference: &ComponentReference,
    ) -> Result<Option<SavedComponent>, PlatformError> {
        let key = &reference.key;
        let mut wanted = vec![key.clone()];
        if let Some(version) = &reference.version {
            wanted.insert(0, format!("{key}@{version}"));
        }
        for key in wanted {
            let found = self
                .component(caller, &ComponentRef::Key(key), workspace_id.cloned())
                .await;
            match found {
                Ok(component) if is_wanted(&component, reference) => return Ok(Some(component)),
                Ok(_) | Err(PlatformError::NotFound { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// An action of a public package: its key is that of its app, a dash, and the name of its folder.
    async fn packaged_action(
        &self,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<Found>, PlatformError> {
        let Some((app, name)) = key.split_once('-') else {
            return Ok(None);
        };
        let package = format!("{SCOPE}/{app}");
        let usual = format!("actions/{name}/{name}.mjs");
        if let Some(found) = self.packaged_at(owner, key, (&package, &usual)).await? {
            return Ok(Some(found));
        }
        match self.listed_module(&package, ("actions/", name)).await {
            Some(listed) => self.packaged_at(owner, key, (&package, &listed)).await,
            None => Ok(None),
        }
    }

    /// The component of that key, if it is the one in this file of a package.
    async fn packaged_at(
        &self,
        owner: &Owner,
        key: &str,
        (package, path): (&str, &str),
    ) -> Result<Option<Found>, PlatformError> {
        let input = ComponentInput {
            component_url: Some(format!("npm:{package}/{path}")),
            ..ComponentInput::default()
        };
        match self.built_component(owner.clone(), &input).await {
            Ok((mut component, artifact)) if component.description.key.as_deref() == Some(key) => {
                component.description.key = None;
                Ok(Some((component, Some(artifact), None)))
            }
            Ok(_) | Err(PlatformError::Component { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A source of a public package, as a URL of code.
    pub(super) async fn packaged_source(&self, key: &str) -> Option<String> {
        let (app, name) = key.split_once('-')?;
        let package = format!("{SCOPE}/{app}");
        let path = self.listed_module(&package, ("sources/", name)).await?;
        Some(format!("npm:{package}/{path}"))
    }

    /// The path of the component of that name in a folder of a package, as the package lists it.
    async fn listed_module(&self, package: &str, (folder, name): (&str, &str)) -> Option<String> {
        let package = format!("npm:{package}").parse().ok()?;
        let listed = self
            .core
            .engine
            .package_modules(&package, "")
            .await
            .ok()?
            .ok()?;
        let is_named = |path: &String| {
            let file = path.rsplit('/').next().unwrap_or(path);
            file.rsplit_once('.').is_some_and(|(stem, _)| stem == name) && path.contains(folder)
        };
        listed.modules.into_iter().find(is_named)
    }
}

fn is_wanted(component: &SavedComponent, reference: &ComponentReference) -> bool {
    reference.version.is_none() || reference.version == component.description.version
}

fn shown(reference: &ComponentReference) -> String {
    let version = reference
        .version
        .as_ref()
        .map(|version| format!("@{version}"));
    let workspace = reference
        .workspace
        .as_ref()
        .map(|workspace| format!("@{workspace}/"));
    [workspace, Some(reference.key.clone()), version]
        .into_iter()
        .flatten()
        .collect()
}

/// The error of a step's code, naming the step.
fn of_step(namespace: &str, mut error: PlatformError) -> PlatformError {
    // The file has them as `props`.
    if let PlatformError::InvalidProps(invalid) = &mut error
        && let Some(prop) = invalid.field.strip_prefix("configured_")
    {
        invalid.field = prop.to_owned();
    }
    error.of_part(
        &format!("steps.{namespace}"),
        &format!("step `{namespace}`"),
    )
}
