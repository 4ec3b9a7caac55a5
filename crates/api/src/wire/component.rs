//! Components (docs/api-design.md, "Components").

use std::collections::BTreeMap;

use headwater_model::{
    component::ComponentType,
    hash::CodeHash,
    id::{ComponentId, WorkspaceId},
    prop,
    time::EpochSeconds,
};
use headwater_platform::{
    ComponentFilter, ComponentInput, ListedComponent, SavedComponent, locked_packages,
    prop_warnings,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{
    IntoParams, ToSchema,
    openapi::{Object, ObjectBuilder, schema::Type},
};

use super::id;

/// Code to save. One of `component_code` and `component_url` is required.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "component_code": "export default { name: \"Greeter\", version: \"0.0.1\", run() { this.$emit(1) } }",
}))]
pub(crate) struct SaveComponent {
    /// The component: a JavaScript or TypeScript module.
    component_code: Option<String>,
    /// URL to fetch the code from, `npm:PACKAGE[@VERSION]/path` and `built-in:KEY` included; with `component_code`, only
    /// kept.
    component_url: Option<String>,
    /// Version ranges of npm packages that `component_code` imports without one, by name, as
    /// `dependencies` of the nearest `package.json` has them; other packages resolve to their latest
    /// release. Not part of Pipedream's API.
    component_dependencies: Option<BTreeMap<String, String>>,
    /// The workspace that it is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl SaveComponent {
    pub(crate) fn into_parts(self) -> (ComponentInput, Option<WorkspaceId>) {
        let input = ComponentInput {
            component_id: None,
            component_code: self.component_code,
            component_url: self.component_url,
            component_dependencies: self.component_dependencies.unwrap_or_default(),
        };
        (input, self.workspace_id.or(self.org_id))
    }
}

/// A saved component: code that can be deployed.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Component {
    #[schema(value_type = id::Component)]
    id: ComponentId,
    code: String,
    /// SHA-256 of the code.
    #[schema(value_type = String)]
    code_hash: CodeHash,
    name: String,
    /// Null when the component has none.
    #[schema(required)]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(rename = "type")]
    #[schema(schema_with = component_type)]
    component_type: ComponentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// In the order that the component declares them.
    configurable_props: Vec<PropDefinition>,
    /// The hooks that a source has, of `deploy`, `activate` and `deactivate`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    hooks: Vec<&'static str>,
    /// An event as the component emits it, if it has such a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Value>)]
    sample_emit: Option<Value>,
    /// The npm packages that it was locked to when it was saved: those that it imports itself, then
    /// those that these need.
    packages: Vec<LockedPackage>,
    /// The URL that the code is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    component_url: Option<String>,
    /// Warnings about props that do not work on this node, or not as expected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(required = false)]
    warnings: Vec<String>,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
}

/// A component that was saved, or was there already.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct KeptComponent {
    #[serde(flatten)]
    component: Component,
    /// False when the owner had it already, with the same code.
    newly_saved: bool,
}

impl From<headwater_platform::KeptComponent> for KeptComponent {
    fn from(kept: headwater_platform::KeptComponent) -> Self {
        Self {
            component: kept.component.into(),
            newly_saved: kept.is_new,
        }
    }
}

/// A package at the version that the component runs.
#[derive(Debug, Serialize, ToSchema)]
struct LockedPackage {
    name: String,
    version: String,
    /// The version range of the component's imports, in its shortest form; `*` for the latest.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
}

impl From<headwater_platform::LockedPackage> for LockedPackage {
    fn from(package: headwater_platform::LockedPackage) -> Self {
        Self {
            name: package.name,
            version: package.version,
            range: package.range,
        }
    }
}

/// A prop of a component: its name, its type and everything else that the component says of it
/// (`label`, `description`, `optional`, `default`, `options`, `secret`, `app` …).
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PropDefinition {
    name: String,
    /// As written, such as `string[]` or `$.interface.http`.
    #[serde(rename = "type")]
    type_name: String,
    #[serde(flatten)]
    attributes: Map<String, Value>,
}

impl From<prop::PropDefinition> for PropDefinition {
    fn from(prop: prop::PropDefinition) -> Self {
        Self {
            name: prop.name,
            type_name: prop.type_name,
            attributes: prop.attributes,
        }
    }
}

/// Apps are refused when they are saved, so none is shown.
pub(super) fn component_type() -> Object {
    ObjectBuilder::new()
        .schema_type(Type::String)
        .enum_values(Some(["source", "action"]))
        .build()
}

impl From<SavedComponent> for Component {
    fn from(saved: SavedComponent) -> Self {
        let description = saved.description;
        Self {
            id: saved.id,
            code: saved.code,
            code_hash: saved.code_hash,
            name: description.name,
            version: description.version,
            key: description.key,
            component_type: description.component_type,
            description: description.description,
            warnings: prop_warnings(&description.props),
            configurable_props: description
                .props
                .into_iter()
                .map(PropDefinition::from)
                .collect(),
            hooks: description.hooks.names().collect(),
            sample_emit: description.sample_emit,
            packages: locked_packages(&saved.lock)
                .into_iter()
                .map(LockedPackage::from)
                .collect(),
            component_url: saved.code_url,
            created_at: saved.created_at,
            updated_at: saved.updated_at,
        }
    }
}

/// `GET /components`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListComponents {
    /// Words to search for in key, name and description. All of them must occur, in any case.
    q: Option<String>,
    /// Name slug of an app: of a prop, or the first word of the key.
    app: Option<String>,
    #[serde(rename = "type")]
    #[param(inline)]
    component_type: Option<ListedType>,
    /// The workspace whose components are listed besides the published ones.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

/// The types that components can be listed by.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum ListedType {
    Source,
    Action,
}

impl ListComponents {
    pub(crate) fn into_parts(self) -> (ComponentFilter, Option<WorkspaceId>) {
        let filter = component_filter(self.q, self.app, self.component_type);
        (filter, self.workspace_id.or(self.org_id))
    }
}

/// The components that these parameters of a search mean.
pub(super) fn component_filter(
    q: Option<String>,
    app: Option<String>,
    component_type: Option<ListedType>,
) -> ComponentFilter {
    let words = q.unwrap_or_default();
    ComponentFilter {
        words: words.split_whitespace().map(str::to_owned).collect(),
        app: app.filter(|app| !app.is_empty()),
        component_type: component_type.map(|listed| match listed {
            ListedType::Source => ComponentType::Source,
            ListedType::Action => ComponentType::Action,
        }),
        of_sources: false,
    }
}

/// A component as listings show it: without code and props.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComponentSummary {
    #[schema(value_type = id::Component)]
    id: ComponentId,
    /// SHA-256 of the code.
    #[schema(value_type = String)]
    code_hash: CodeHash,
    name: String,
    /// Null when the component has none.
    #[schema(required)]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(rename = "type")]
    #[schema(schema_with = component_type)]
    component_type: ComponentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    component_url: Option<String>,
    /// Whether it is in the registry.
    published: bool,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
}

impl From<ListedComponent> for ComponentSummary {
    fn from(listed: ListedComponent) -> Self {
        let description = listed.description;
        Self {
            id: listed.id,
            code_hash: listed.code_hash,
            name: description.name,
            version: description.version,
            key: description.key,
            component_type: description.component_type,
            description: description.description,
            component_url: listed.code_url,
            published: listed.is_published,
            created_at: listed.created_at,
            updated_at: listed.updated_at,
        }
    }
}
