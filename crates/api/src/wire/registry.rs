//! Publishing components, and the components of packages.

use std::collections::BTreeMap;

use headwater_model::component::ComponentType;
use headwater_platform::{ComponentFilter, ComponentInput};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{
    Component,
    component::{ListedType, component_filter, component_type},
};

/// A component to publish. One of `component_code` and `component_url` is required.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PublishComponent {
    /// The component: a JavaScript or TypeScript module.
    component_code: Option<String>,
    /// URL to fetch the code from, `npm:PACKAGE[@VERSION]/path` included.
    component_url: Option<String>,
    /// Version ranges of npm packages that `component_code` imports without one, by name, as
    /// `dependencies` of the nearest `package.json` has them; other packages resolve to their latest
    /// release. Not part of Pipedream's API.
    component_dependencies: Option<BTreeMap<String, String>>,
}

impl From<PublishComponent> for ComponentInput {
    fn from(request: PublishComponent) -> Self {
        Self {
            component_id: None,
            component_code: request.component_code,
            component_url: request.component_url,
            component_dependencies: request.component_dependencies.unwrap_or_default(),
        }
    }
}

/// A component, and whether this request published it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PublishedComponent {
    #[serde(flatten)]
    component: Component,
    /// False when this version was there already, with the same code.
    newly_published: bool,
}

impl From<headwater_platform::PublishedComponent> for PublishedComponent {
    fn from(published: headwater_platform::PublishedComponent) -> Self {
        Self {
            component: published.component.into(),
            newly_published: published.is_new,
        }
    }
}

/// `GET /packages/modules`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct PackageRequest {
    /// `npm:PACKAGE[@VERSION]`.
    #[param(required)]
    pub(crate) specifier: Option<String>,
}

/// The components of a package.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PackageModules {
    /// The package at the version it resolved to.
    specifier: String,
    /// Paths in it: `{specifier}/{path}` is a `component_url`.
    modules: Vec<String>,
}

impl From<headwater_platform::PackageModules> for PackageModules {
    fn from(listed: headwater_platform::PackageModules) -> Self {
        Self {
            specifier: listed.package.to_string(),
            modules: listed.modules,
        }
    }
}

/// `GET /packages/components`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchPackages {
    /// Words to search for in key, name, description and package. All of them must occur, in any case.
    q: Option<String>,
    /// Name slug of an app: the first word of the key.
    app: Option<String>,
    #[serde(rename = "type")]
    #[param(inline)]
    component_type: Option<ListedType>,
}

impl From<SearchPackages> for ComponentFilter {
    fn from(request: SearchPackages) -> Self {
        component_filter(request.q, request.app, request.component_type)
    }
}

/// A component of an npm package, as it was on a day.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct IndexedComponent {
    /// Its globally unique key.
    key: &'static str,
    /// Its own version.
    version: &'static str,
    #[serde(rename = "type")]
    #[schema(schema_with = component_type)]
    component_type: ComponentType,
    name: &'static str,
    /// Empty if it has none.
    description: &'static str,
    /// Its `component_url`: the newest version of the package.
    specifier: String,
    /// The package that has it; empty for an action that the node brings along, as are the two fields below.
    package: &'static str,
    /// The version of the package that was looked at.
    package_version: &'static str,
    /// The day of that, such as `2026-01-31`.
    indexed_on: &'static str,
}

impl From<headwater_platform::IndexedComponent> for IndexedComponent {
    fn from(indexed: headwater_platform::IndexedComponent) -> Self {
        Self {
            key: indexed.key,
            version: indexed.version,
            component_type: indexed.component_type,
            name: indexed.name,
            description: indexed.description,
            specifier: indexed.specifier(),
            package: indexed.package,
            package_version: indexed.package_version,
            indexed_on: indexed.indexed_on,
        }
    }
}
