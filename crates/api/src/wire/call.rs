//! Calls of a component's code outside of any source (docs/api-design.md, "Extensions").

use headwater_model::{
    id::{SourceId, WorkspaceId},
    prop::{self, ConfiguredProps},
};
use headwater_platform::{CallTarget, ComponentRef, OptionsQuery};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::{PropDefinition, id, lenient};

/// The configuration of a component, complete or so far.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct CallRequest {
    /// Values by prop.
    #[serde(default, deserialize_with = "lenient::object")]
    #[schema(value_type = Option<Object>)]
    configured_props: Option<ConfiguredProps>,
    /// The workspace in which keys are resolved.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl CallRequest {
    /// The call, of the component with that key or id.
    pub(crate) fn target(self, reference: &str) -> CallTarget {
        CallTarget {
            component: ComponentRef::parse(reference),
            workspace_id: self.workspace_id.or(self.org_id),
            source_id: None,
            configured_props: self.configured_props.unwrap_or_default(),
        }
    }
}

/// The present configuration of a component, optionally for updating a source.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct PropsRequest {
    /// The source that is to be updated to this component. The values that it has are taken where
    /// `configured_props` gives none, or null for a secret; its workspace counts instead of `workspace_id`.
    #[schema(value_type = Option<id::Source>)]
    source_id: Option<SourceId>,
    #[serde(flatten)]
    call: CallRequest,
}

impl PropsRequest {
    /// The call, of the component with that key or id.
    pub(crate) fn target(self, reference: &str) -> CallTarget {
        CallTarget {
            source_id: self.source_id,
            ..self.call.target(reference)
        }
    }
}

/// A request for a page of a prop's options.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct OptionsRequest {
    /// The prop; required.
    prop: Option<String>,
    /// 0-indexed.
    #[serde(default, deserialize_with = "lenient::integer")]
    #[schema(minimum = 0)]
    page: Option<u32>,
    /// The `context` of the page before.
    prev_context: Option<Value>,
    /// The user's search text, for a prop with `useQuery`.
    query: Option<String>,
    #[serde(flatten)]
    props: PropsRequest,
}

impl OptionsRequest {
    /// The call, and which options it is for.
    pub(crate) fn into_parts(self, reference: &str) -> (CallTarget, OptionsQuery) {
        let query = OptionsQuery {
            prop: self.prop.unwrap_or_default(),
            page: self.page.unwrap_or_default(),
            prev_context: self.prev_context.filter(|context| !context.is_null()),
            query: self.query,
        };
        (self.props.target(reference), query)
    }
}

/// A page of a prop's options.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PropOptions {
    options: Vec<PropOption>,
    /// To be sent as `prev_context` for the next page; null when the component pages by number, or not at all.
    #[schema(required)]
    context: Option<Value>,
}

#[derive(Debug, Serialize, ToSchema)]
struct PropOption {
    label: String,
    /// The value for the prop.
    value: Value,
}

impl From<headwater_platform::PropOptions> for PropOptions {
    fn from(page: headwater_platform::PropOptions) -> Self {
        let option = |option: headwater_platform::PropOption| PropOption {
            label: option.label,
            value: option.value,
        };
        Self {
            options: page.options.into_iter().map(option).collect(),
            context: page.context,
        }
    }
}

/// The props of a component that is configured in some way.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ComponentProps {
    configurable_props: Vec<PropDefinition>,
}

impl From<Vec<prop::PropDefinition>> for ComponentProps {
    fn from(props: Vec<prop::PropDefinition>) -> Self {
        Self {
            configurable_props: props.into_iter().map(PropDefinition::from).collect(),
        }
    }
}
