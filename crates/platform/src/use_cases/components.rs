//! Saving and finding components (docs/api-design.md, "Components"). Publishing them is `registry`'s
//! business.

use std::{collections::BTreeMap, fmt};

use headwater_engine::{
    Build, BuildRequest, ComponentCode, EngineError, built_in_action, locked_packages,
};
use headwater_model::{
    hash::CodeHash,
    id::{ComponentId, WorkspaceId},
    package::{InvalidPackage, PackageReference},
};
use headwater_store::{ArtifactBytes, Owner, SavedComponent};
use sha2::{Digest, Sha256};
use url::Url;

use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    component_index::BUILT_IN_SCHEME,
    error::PlatformError,
    platform::Platform,
    progress,
};

/// Packages that a request may declare.
const DEPENDENCIES_MAX: usize = 1_000;
/// A longer text is not a range.
const RANGE_BYTES: usize = 256;

/// The `component_*` fields of a request, as they came.
#[derive(Debug, Clone, Default)]
pub struct ComponentInput {
    /// A saved or published component, by id or key; takes precedence.
    pub component_id: Option<String>,
    /// The code.
    pub component_code: Option<String>,
    /// The URL of the code; only metadata if one of the others is given.
    pub component_url: Option<String>,
    /// Version ranges of packages that the code imports without one, as `dependencies` of a `package.json` has them.
    pub component_dependencies: BTreeMap<String, String>,
}

/// A component, and whether it was there before.
#[derive(Debug, Clone)]
pub struct KeptComponent {
    /// The component.
    pub component: SavedComponent,
    /// Whether it was saved now; else the owner had the same already.
    pub is_new: bool,
}

/// Path parameter `{key|id}`.
#[derive(Debug, Clone)]
pub enum ComponentRef {
    /// `sc_…`.
    Id(ComponentId),
    /// A component's `key`, or `key@version` of a published one.
    Key(String),
}

impl ComponentRef {
    /// An id if it is one, else a key.
    pub fn parse(text: &str) -> Self {
        text.parse()
            .map_or_else(|_| Self::Key(text.to_owned()), Self::Id)
    }
}

impl fmt::Display for ComponentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Key(key) => key.fmt(f),
        }
    }
}

impl ComponentInput {
    /// Whether none of the fields is given.
    pub fn is_empty(&self) -> bool {
        self.component_id.is_none() && self.component_code.is_none() && self.component_url.is_none()
    }

    /// The ranges, which go into imports and manifests of the build.
    pub(crate) fn ranges(&self) -> Result<BTreeMap<String, String>, PlatformError> {
        let refused = |reason: String| PlatformError::invalid("component_dependencies", reason);
        if self.component_dependencies.len() > DEPENDENCIES_MAX {
            return Err(refused(format!("has more than {DEPENDENCIES_MAX} entries")));
        }
        for (name, range) in &self.component_dependencies {
            let is_plain = |c: char| {
                c.is_ascii_graphic() && !matches!(c, '/' | '\\' | ':' | '"' | '\'' | '#' | '?')
            };
            let is_range =
                range.len() <= RANGE_BYTES && range.chars().all(|c| c == ' ' || is_plain(c));
            let is_name = format!("npm:{name}")
                .parse::<PackageReference>()
                .is_ok_and(|package| package.version.is_none() && package.path.is_none());
            if !is_name || !is_range {
                return Err(refused(format!(
                    "`{name}`: `{range}` is not a package of the registry with a range of its versions, \
                     such as \"axios\": \"^1.7.0\""
                )));
            }
        }
        Ok(self.component_dependencies.clone())
    }

    fn code(&self) -> Result<ComponentCode, PlatformError> {
        match (&self.component_code, &self.component_url) {
            (Some(code), _) if code.trim().is_empty() => {
                Err(PlatformError::invalid("component_code", "is empty"))
            }
            (Some(code), _) => Ok(ComponentCode::Text(code.clone())),
            (None, Some(url)) => module_at(url),
            (None, None) => Err(PlatformError::invalid(
                "component_code",
                "give `component_code` or `component_url`",
            )),
        }
    }
}

/// The ranges that a saved component's packages were declared with, which its lock names beside those that the
/// code itself does.
fn declared_ranges(lock: &str) -> BTreeMap<String, String> {
    let packages = locked_packages(lock).into_iter();
    let mut ranges: BTreeMap<String, String> = BTreeMap::new();
    let mut latest = Vec::new();
    for (name, range) in packages.filter_map(|package| Some((package.name, package.range?))) {
        match range.as_str() {
            "latest" | "*" => latest.push(name),
            _ => {
                ranges.insert(name, range);
            }
        }
    }
    // Then the range is one that an import of the code names, and another import names none.
    ranges.retain(|name, _| !latest.contains(name));
    ranges
}

/// While building, the package registry is the unreachable part, and the caller can do something about
/// it.
pub(crate) fn unbuilt(error: EngineError) -> PlatformError {
    match error {
        EngineError::Unavailable { .. } => PlatformError::Unreachable(error.to_string()),
        EngineError::Spawn(_)
        | EngineError::WorkerLost(_)
        | EngineError::Busy(_)
        | EngineError::Protocol(_) => error.into(),
    }
}

/// The module of a URL, or of a package as a component that is the package's.
fn module_at(text: &str) -> Result<ComponentCode, PlatformError> {
    let invalid = |reason: String| PlatformError::invalid("component_url", reason);
    let url = Url::parse(text).map_err(|error| invalid(format!("`{text}`: {error}")))?;
    match url.scheme() {
        "http" | "https" => Ok(ComponentCode::Url(url)),
        "npm" => Ok(ComponentCode::Text(package_file(text)?.component_code())),
        BUILT_IN_SCHEME => built_in_action(url.path())
            .ok_or_else(|| invalid(format!("`{text}`: the node brings no such action along"))),
        other => Err(invalid(format!(
            "must be an http, https or npm URL, not {other}:"
        ))),
    }
}

/// A file of a package: `npm:PACKAGE[@VERSION]/path`.
pub(crate) fn package_file(text: &str) -> Result<PackageReference, PlatformError> {
    let invalid = |reason: String| PlatformError::invalid("component_url", reason);
    let package: PackageReference = text
        .parse()
        .map_err(|error: InvalidPackage| invalid(error.to_string()))?;
    match package.path {
        Some(_) => Ok(package),
        None => Err(invalid(format!(
            "`{text}` is a package; add the path of a file in it \
             (`GET /packages/modules?specifier={text}` lists its components)"
        ))),
    }
}

/// An act on a saved component.
pub(super) fn on_component(action: AuditAction, component: &SavedComponent) -> Act {
    let described = &component.description;
    let act = Act::new(action, "component", &component.id);
    let act = act.with_some("version", described.version.as_deref());
    act.named(described.key.as_deref().unwrap_or(&described.name))
}

impl Platform {
    /// Builds a component and saves it, unless the owner has the same already (`POST /components`).
    ///
    /// # Errors
    /// `Invalid` without code, `Component` when the code cannot be resolved or evaluated.
    pub async fn save_component(
        &self,
        caller: &Caller,
        input: &ComponentInput,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<KeptComponent, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        let kept = self.build_component(owner, input).await?;
        let act = on_component(AuditAction::ComponentSave, &kept.component);
        self.record(caller, act.of(&kept.component.owner)).await;
        Ok(kept)
    }

    /// Deletes a component that nothing uses (`DELETE /components/{id}`).
    ///
    /// # Errors
    /// `NotFound` when the caller has none of that id, `Conflict` when it is published, or a source or workflow has it.
    pub async fn delete_component(
        &self,
        caller: &Caller,
        id: &ComponentId,
    ) -> Result<(), PlatformError> {
        let found = self.core.store.component(id).await?;
        let Some(component) = found.filter(|found| caller.may_see(&found.owner)) else {
            return Err(PlatformError::not_found("component", id));
        };
        if !self.core.store.delete_component(id).await? {
            return Err(PlatformError::Conflict(format!(
                "component `{id}` is published, or a source or workflow has it or had it, so it stays"
            )));
        }
        let act = on_component(AuditAction::ComponentDelete, &component);
        self.record(caller, act.of(&component.owner)).await;
        Ok(())
    }

    /// Takes a component away again that was saved for something that was refused.
    pub(crate) async fn drop_component(&self, kept: &KeptComponent) {
        let id = &kept.component.id;
        if kept.is_new
            && let Err(error) = self.core.store.delete_component(id).await
        {
            tracing::warn!(component_id = %id, %error, "the component of a refused deployment stays");
        }
    }

    /// A component that the caller may use, by id or by key. A key means the newest of that key in the
    /// caller's namespace, unless that one is published; then, or if there is none, the published one
    /// that wins. `key@version` is a published version.
    pub async fn component(
        &self,
        caller: &Caller,
        reference: &ComponentRef,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<SavedComponent, PlatformError> {
        let found = match reference {
            ComponentRef::Id(id) => self.component_by_id(caller, id).await?,
            ComponentRef::Key(key) => {
                let owner = self.owner(caller, workspace_id).await?;
                match self.draft(caller, &owner, key).await? {
                    Some(draft) => Some(draft),
                    None => self.published(key).await?,
                }
            }
        };
        found.ok_or_else(|| PlatformError::not_found("component", reference))
    }

    async fn component_by_id(
        &self,
        caller: &Caller,
        id: &ComponentId,
    ) -> Result<Option<SavedComponent>, PlatformError> {
        let Some(component) = self.core.store.component(id).await? else {
            return Ok(None);
        };
        let usable = caller.may_see(&component.owner) || self.core.store.is_published(id).await?;
        match usable {
            true => self.first_built(component).await.map(Some),
            false => Ok(None),
        }
    }

    /// The newest component of this key in the owner's namespace, if it is not in the registry.
    async fn draft(
        &self,
        caller: &Caller,
        owner: &Owner,
        key: &str,
    ) -> Result<Option<SavedComponent>, PlatformError> {
        let newest = self.core.store.component_by_key(owner, key).await?;
        match newest.filter(|component| caller.may_see(&component.owner)) {
            Some(component) if !self.core.store.is_published(&component.id).await? => {
                Ok(Some(component))
            }
            _ => Ok(None),
        }
    }

    /// The saved component that `component_*` fields name, built and saved now if they give code that is not there yet.
    pub(crate) async fn resolve_component(
        &self,
        caller: &Caller,
        owner: &Owner,
        input: &ComponentInput,
    ) -> Result<KeptComponent, PlatformError> {
        if input.is_empty() {
            return Err(PlatformError::invalid(
                "component_id",
                "give `component_id`, `component_code` or `component_url`",
            ));
        }
        let Some(id_or_key) = &input.component_id else {
            return self.build_component(owner.clone(), input).await;
        };
        let reference = ComponentRef::parse(id_or_key);
        let found = self.component(caller, &reference, owner.workspace_id.clone());
        Ok(KeptComponent {
            component: found.await?,
            is_new: false,
        })
    }

    async fn build_component(
        &self,
        owner: Owner,
        input: &ComponentInput,
    ) -> Result<KeptComponent, PlatformError> {
        let (component, artifact) = self.built_component(owner, input).await?;
        self.kept(component, artifact).await
    }

    async fn kept(
        &self,
        component: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<KeptComponent, PlatformError> {
        let id = component.id.clone();
        let component = self.core.store.save_component(component, artifact).await?;
        Ok(KeptComponent {
            is_new: component.id == id,
            component,
        })
    }

    /// A component and its artifact, not saved yet.
    pub(crate) async fn built_component(
        &self,
        owner: Owner,
        input: &ComponentInput,
    ) -> Result<(SavedComponent, ArtifactBytes), PlatformError> {
        let request = BuildRequest {
            code: input.code()?,
            ranges: input.ranges()?,
            owner: owner.tenant().to_owned(),
            is_step: false,
            observer: progress::of_build(),
        };
        let build = self.core.engine.build(request).await.map_err(unbuilt)??;
        Ok(self.component_from(owner, input.component_url.clone(), build))
    }

    /// The component with the latest packages that its code allows: itself if it has those, else one that is built from
    /// the same code and saved for the owner.
    ///
    /// # Errors
    /// `Component` when the code does not build with these packages.
    pub(crate) async fn refreshed_component(
        &self,
        owner: &Owner,
        component: SavedComponent,
    ) -> Result<KeptComponent, PlatformError> {
        self.core.engine.forget_registry_answers();
        let build = self.same_code_built(&component).await?;
        if build.artifact.hash == component.artifact_hash {
            return Ok(KeptComponent {
                component,
                is_new: false,
            });
        }
        let url = component.code_url.clone();
        let (mut refreshed, artifact) = self.component_from(owner.clone(), url, build);
        // The copy is the source's alone: under its key it would hide later versions of the component.
        refreshed.description.key = None;
        self.kept(refreshed, artifact).await
    }

    /// Modules beside the code are found from its URL only, which may have other code by now.
    async fn same_code_built(&self, component: &SavedComponent) -> Result<Build, PlatformError> {
        let request = |code| BuildRequest {
            code,
            ranges: declared_ranges(&component.lock),
            owner: component.owner.tenant().to_owned(),
            is_step: false,
            observer: progress::of_build(),
        };
        if let Some(Ok(code @ ComponentCode::Url(_))) = component.code_url.as_deref().map(module_at)
            && let Ok(build) = self
                .core
                .engine
                .build(request(code))
                .await
                .map_err(unbuilt)?
            && build.code == component.code
        {
            return Ok(build);
        }
        if let Some(build) = self.folder_request(component).await? {
            return Ok(self.core.engine.build(build).await.map_err(unbuilt)??);
        }
        let code = ComponentCode::Text(component.code.clone());
        Ok(self
            .core
            .engine
            .build(request(code))
            .await
            .map_err(unbuilt)??)
    }

    pub(crate) fn component_from(
        &self,
        owner: Owner,
        code_url: Option<String>,
        mut build: Build,
    ) -> (SavedComponent, ArtifactBytes) {
        let now_at = self.core.env.now_at();
        self.core.config.apps.free(&mut build.description.props);
        let component = SavedComponent {
            id: self.core.env.id(ComponentId::new),
            owner,
            code_hash: CodeHash::new(hex::encode(Sha256::digest(build.code.as_bytes()))),
            code: build.code,
            code_url,
            artifact_hash: build.artifact.hash.clone(),
            lock: build.lock,
            description: build.description,
            created_at: now_at,
            updated_at: now_at,
        };
        let artifact = ArtifactBytes {
            hash: build.artifact.hash,
            bytes: build.artifact.bytes,
        };
        (component, artifact)
    }
}

#[cfg(test)]
mod tests {
    use super::declared_ranges;

    #[test]
    fn ranges_outlive_the_request_in_the_lock() {
        let lock = r#"{"specifiers": {"npm:a@1": "1.0.0", "npm:b@latest": "2.0.0", "npm:c@^1.2": "1.4.0", "npm:c@latest": "3.0.0"}}"#;
        let ranges: Vec<_> = declared_ranges(lock).into_iter().collect();
        assert_eq!(ranges, [("a".to_owned(), "1".to_owned())]);
        assert!(declared_ranges("{}").is_empty());
    }
}
