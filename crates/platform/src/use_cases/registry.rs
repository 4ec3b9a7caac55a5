//! The registry: publishing components for every user of the node, finding them, and listing the
//! components that a package has to publish.

use headwater_engine::PackageModules;
use headwater_model::{
    component::Description,
    error::Invalid,
    id::{ComponentId, WorkspaceId},
    package::{InvalidPackage, PackageReference},
    page::{Page, PageRequest},
    version::{InvalidVersion, ReleaseVersion},
};
use headwater_store::{
    ComponentFilter, ListedComponent, Owner, Publication, Published, SavedComponent,
};

use crate::{
    audit::AuditAction,
    caller::Caller,
    component_index::{self, IndexedComponent},
    error::PlatformError,
    platform::Platform,
    use_cases::components::{ComponentInput, on_component, package_file, unbuilt},
};

/// Longer keys are nobody's, and would not fit a URL's path well.
const KEY_CHARS: usize = 200;

/// A component in the registry.
#[derive(Debug, Clone)]
pub struct PublishedComponent {
    /// The component.
    pub component: SavedComponent,
    /// Whether it was added now; else this version was there already, with the same code.
    pub is_new: bool,
}

impl Platform {
    /// Builds a component and publishes it under its key and version (`POST /components/registry`).
    ///
    /// # Errors
    /// `Unpublishable` without a key or with a version that is not semantic, `KeyTaken` when another
    /// user has published under the key, `Conflict` when the version is published with other code.
    pub async fn publish_component(
        &self,
        caller: &Caller,
        input: &ComponentInput,
    ) -> Result<PublishedComponent, PlatformError> {
        let owner = Owner {
            user_id: caller.user_id().clone(),
            workspace_id: None,
        };
        let input = self.pinned(&owner, input).await?;
        let (component, artifact) = self.built_component(owner, &input).await?;
        let (key, version) =
            publishable(&component.description).map_err(PlatformError::Unpublishable)?;
        let publication = Publication {
            key: key.clone(),
            version: version.clone(),
            publisher: caller.user_id().clone(),
            component: component.clone(),
            artifact,
            published_at: self.core.env.now_at(),
        };
        match self.core.store.publish(publication).await? {
            Published::Added => {
                let act = on_component(AuditAction::ComponentPublish, &component);
                self.record(caller, act.of_user(caller.user_id())).await;
                Ok(PublishedComponent {
                    component,
                    is_new: true,
                })
            }
            Published::Unchanged(component) => Ok(PublishedComponent {
                component: *component,
                is_new: false,
            }),
            Published::VersionTaken => Err(PlatformError::Conflict(format!(
                "version {version} of `{key}` is published with other code; \
                 raise the component's `version` and publish it again"
            ))),
            Published::KeyTaken => Err(PlatformError::KeyTaken(key)),
        }
    }

    /// The published component of a key, or of `key@version` (`GET /components/registry/{key}`).
    ///
    /// # Errors
    /// `NotFound` when nobody has published it; those of its first build.
    pub async fn registry_component(&self, key: &str) -> Result<SavedComponent, PlatformError> {
        let found = self.published(key).await?;
        found.ok_or_else(|| PlatformError::not_found("registry component", key))
    }

    /// A page of the components that the caller may use: drafts of its own and published ones, one per
    /// key.
    pub async fn components(
        &self,
        caller: &Caller,
        filter: &ComponentFilter,
        workspace_id: Option<WorkspaceId>,
        page: &PageRequest<ComponentId>,
    ) -> Result<Page<ListedComponent>, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        Ok(self.core.store.components(&owner, filter, page).await?)
    }

    /// A page of the components that npm packages had when the node's index was written
    /// (`GET /packages/components`).
    pub fn indexed_components(
        &self,
        filter: &ComponentFilter,
        page: &PageRequest<String>,
    ) -> Page<IndexedComponent> {
        component_index::search(filter, page)
    }

    /// The components of a package, `npm:PACKAGE[@VERSION]`, with the version it resolves to
    /// (`GET /packages/modules`).
    ///
    /// # Errors
    /// `Invalid` if there is no such package, `Unreachable` when the package registry does not answer.
    pub async fn package_modules(
        &self,
        caller: &Caller,
        specifier: &str,
    ) -> Result<PackageModules, PlatformError> {
        let invalid = |reason: String| PlatformError::invalid("specifier", reason);
        let package: PackageReference = specifier
            .parse()
            .map_err(|error: InvalidPackage| invalid(error.to_string()))?;
        let turn = caller.user_id().to_string();
        let listed = self.core.engine.package_modules(&package, &turn).await;
        listed
            .map_err(unbuilt)?
            .map_err(|rejection| invalid(rejection.error.message))
    }

    /// The component published under `key` or `key@version`.
    pub(crate) async fn published(
        &self,
        text: &str,
    ) -> Result<Option<SavedComponent>, PlatformError> {
        let versioned = text
            .rsplit_once('@')
            .and_then(|(key, version)| Some((key, version.parse::<ReleaseVersion>().ok()?)));
        let (key, version) = match &versioned {
            Some((key, version)) => (*key, Some(version)),
            None => (text, None),
        };
        match self.core.store.published_component(key, version).await? {
            Some(component) => self.first_built(component).await.map(Some),
            None => Ok(None),
        }
    }

    /// The input with a package's file at the version that it resolves to now: a published component
    /// never changes.
    async fn pinned(
        &self,
        owner: &Owner,
        input: &ComponentInput,
    ) -> Result<ComponentInput, PlatformError> {
        let url = input.component_url.as_deref().unwrap_or_default();
        if input.component_code.is_some() || !url.starts_with("npm:") {
            return Ok(input.clone());
        }
        let mut package = package_file(url)?;
        if !package.is_pinned() {
            let listed = self
                .core
                .engine
                .package_modules(&package, owner.tenant())
                .await;
            package.version = listed.map_err(unbuilt)??.package.version;
        }
        Ok(ComponentInput {
            component_url: Some(package.to_string()),
            ..input.clone()
        })
    }
}

/// The key and version to publish under.
pub(crate) fn publishable(description: &Description) -> Result<(String, ReleaseVersion), Invalid> {
    let key = description.key.as_deref().unwrap_or_default();
    if key.is_empty() {
        return Err(Invalid::new(
            "key",
            "the component has no `key`; give it a unique one, such as `<app>-<what-it-does>`",
        ));
    }
    // A request for `key@version` must mean a version, and a path must hold the key.
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !matches!(c, '@' | '/');
    if key.chars().count() > KEY_CHARS || !key.chars().all(plain) || is_id(key) {
        return Err(Invalid::new(
            "key",
            format!(
                "the component's key may have at most {KEY_CHARS} characters, no blank, `@` or `/`, \
                 and must not look like an id"
            ),
        ));
    }
    let version = description.version.as_deref().unwrap_or_default();
    let version = version.parse().map_err(|error: InvalidVersion| {
        Invalid::new("version", format!("the component's version {error}"))
    })?;
    Ok((key.to_owned(), version))
}

fn is_id(text: &str) -> bool {
    text.parse::<ComponentId>().is_ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn publishable_of(key: &str, version: &str) -> Result<(String, ReleaseVersion), Invalid> {
        let description = json!({"name": "n", "key": key, "version": version});
        publishable(&serde_json::from_value(description).unwrap())
    }

    #[test]
    fn a_key_and_a_semantic_version_are_required() {
        let (key, version) = publishable_of("shop-new-order", "1.0.0-rc.1").unwrap();
        assert_eq!(
            (&*key, &*version.to_string()),
            ("shop-new-order", "1.0.0-rc.1")
        );
        for (key, version, field) in [
            ("", "1.0.0", "key"),
            ("a b", "1.0.0", "key"),
            ("a@1", "1.0.0", "key"),
            ("a/b", "1.0.0", "key"),
            ("a\n", "1.0.0", "key"),
            ("sc_0000000000000000000000", "1.0.0", "key"),
            (&"k".repeat(KEY_CHARS + 1), "1.0.0", "key"),
            ("a", "", "version"),
            ("a", "1.0", "version"),
            ("a", "latest", "version"),
        ] {
            let refused = publishable_of(key, version).unwrap_err();
            assert_eq!(refused.field, field, "{key} {version}");
        }
    }
}
