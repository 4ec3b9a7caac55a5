//! Folders of components to publish.

use std::collections::BTreeMap;

use headwater_model::id::ComponentId;
use headwater_platform::{FolderComponent, NewFolder};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::id;

/// Files, some of which are components.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "files": {
        "shop/shop.app.mjs": "export default { type: \"app\", app: \"shop\" }",
        "shop/actions/send/send.mjs": "import shop from \"../../shop.app.mjs\"; export default { key: \"shop-send\", version: \"0.0.1\", name: \"Send\", type: \"action\", props: { shop }, run() {} }",
    },
    "components": ["shop/actions/send/send.mjs"],
}))]
pub(crate) struct PublishFolder {
    /// Texts by path: the components, and the files that they import relatively.
    files: BTreeMap<String, String>,
    /// Paths of the components, each once. Each writes out its `key` and `version`.
    #[schema(max_items = 500)]
    components: Vec<String>,
    /// Version ranges of npm packages that the files import without one, by name.
    #[serde(default)]
    component_dependencies: BTreeMap<String, String>,
}

impl From<PublishFolder> for NewFolder {
    fn from(request: PublishFolder) -> Self {
        Self {
            files: request.files,
            components: request.components,
            dependencies: request.component_dependencies,
        }
    }
}

/// The result of one component.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FolderComponentResult {
    /// Path of its file.
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    /// Absent if it is not in the registry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Component>)]
    id: Option<ComponentId>,
    /// False when this version was there already, with the same code, or is not published.
    newly_published: bool,
    /// The reason why it is not published.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

impl From<FolderComponent> for FolderComponentResult {
    fn from(component: FolderComponent) -> Self {
        let (key, version) = component.stated.unzip();
        let (id, newly_published, refused) = match component.outcome {
            Ok(outcome) => (Some(outcome.id), outcome.is_new, None),
            Err(reason) => (None, false, Some(reason)),
        };
        Self {
            path: component.path,
            key,
            version,
            id,
            newly_published,
            refused,
        }
    }
}
