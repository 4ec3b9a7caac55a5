//! Publishing components, and the components of packages.

use std::collections::BTreeMap;

use headwater_platform::ComponentInput;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::Component;

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
