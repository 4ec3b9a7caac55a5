//! Components: found, described, and actions run.

use http::Method;
use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::without;
use crate::{
    actions,
    api::{self, Api},
    props,
    reply::{Refusal, Reply, Shown},
    server::Server,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListComponents {
    /// Words that the key, name or description has.
    query: Option<String>,
    /// The name slug of an app whose components to list, such as `github`.
    app: Option<String>,
    /// `source` or `action`.
    r#type: Option<String>,
    /// `page_info.end_cursor` of the page before.
    after: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListPackage {
    /// The package: `npm:PACKAGE` or `npm:PACKAGE@VERSION`, such as `npm:@pipedream/slack`.
    package: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchPackages {
    /// Words, all of which the key, name, description or package has.
    query: Option<String>,
    /// The first word of the key: an app, such as `gitlab`.
    app: Option<String>,
    /// `source` or `action`.
    r#type: Option<String>,
    /// `page_info.end_cursor` of the page before.
    after: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DescribeComponent {
    /// Its key, id, `key@version`, a URL of its code, or a file of an npm package as `npm:PACKAGE/path`.
    component: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListOptions {
    /// The component, as for `describe_component`.
    component: String,
    /// The prop whose values to ask for.
    prop: String,
    /// The values of the props before it, the account above all.
    #[serde(default)]
    props: Map<String, Value>,
    /// A text to search for, where the prop can be searched.
    query: Option<String>,
    /// The page, from 0, where options come in pages.
    page: Option<u32>,
    /// `context` of the page before, where that has one.
    context: Option<Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct PublishComponent {
    /// The component's file in its package: `npm:PACKAGE/path`; or a URL of its code.
    component: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WithProps {
    /// The component, as for `describe_component`.
    component: String,
    /// Values by prop, as the schema of `describe_component` says.
    #[serde(default)]
    props: Map<String, Value>,
}

#[tool_router(router = components, vis = "pub(crate)")]
impl Server {
    /// Lists the components that the node has: published ones, which are deployed by their key, and saved ones.
    #[tool(annotations(
        title = "List components",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn list_components(
        &self,
        api: Api,
        Parameters(asked): Parameters<ListComponents>,
    ) -> Reply {
        let query = [
            ("q", asked.query),
            ("app", asked.app),
            ("type", asked.r#type),
            ("after", asked.after),
            ("limit", Some("50".to_owned())),
        ];
        api.list(&["components"], &query).await.map(Shown)
    }

    /// Lists the components in an npm package. Each can be described, deployed or run as `npm:PACKAGE/path`.
    #[tool(annotations(title = "List a package", read_only_hint = true))]
    async fn list_package(&self, api: Api, Parameters(asked): Parameters<ListPackage>) -> Reply {
        let query = [("specifier", Some(asked.package))];
        api.get(&["packages", "modules"], &query).await.map(Shown)
    }

    /// Searches the components that npm packages have, besides those that the node has. Each can be described, deployed or
    /// run by its `specifier`.
    #[tool(annotations(
        title = "Search packages",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn search_packages(
        &self,
        api: Api,
        Parameters(asked): Parameters<SearchPackages>,
    ) -> Reply {
        let query = [
            ("q", asked.query),
            ("app", asked.app),
            ("type", asked.r#type),
            ("after", asked.after),
            ("limit", Some("50".to_owned())),
        ];
        api.list(&["packages", "components"], &query)
            .await
            .map(Shown)
    }

    /// Describes a component: what it does, and a JSON Schema of the props to give. One that the node does not have yet
    /// is saved there first: name it by the `id` of the answer from then on, so that it is saved once.
    #[tool(annotations(
        title = "Describe a component",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = true
    ))]
    async fn describe_component(
        &self,
        api: Api,
        Parameters(asked): Parameters<DescribeComponent>,
    ) -> Reply {
        let component = api.component(&asked.component).await?;
        let props = props::schema(&api::props(&component)?);
        let mut shown = without(component, &["code", "configurable_props", "packages"]);
        shown["props_schema"] = Value::Object(props);
        Ok(Shown(shown))
    }

    /// Asks the app which values a prop may have, such as the repositories that an account sees.
    #[tool(annotations(title = "List the options of a prop", read_only_hint = true))]
    async fn list_options(&self, api: Api, Parameters(asked): Parameters<ListOptions>) -> Reply {
        let component = api.component(&asked.component).await?;
        let props = api::props(&component)?;
        let body = json!({
            "prop": asked.prop,
            "configured_props": props::configured(&props, asked.props),
            "query": asked.query,
            "page": asked.page,
            "prev_context": asked.context,
        });
        let path = ["components", id(&component)?, "options"];
        api.create(&path, body).await.map(Shown)
    }

    /// Computes the schema of the props again once a prop is set on which others depend.
    #[tool(annotations(title = "More props", read_only_hint = true))]
    async fn more_props(&self, api: Api, Parameters(asked): Parameters<WithProps>) -> Reply {
        let component = api.component(&asked.component).await?;
        let known = api::props(&component)?;
        let body = json!({ "configured_props": props::configured(&known, asked.props) });
        let path = ["components", id(&component)?, "props"];
        let computed = api.create(&path, body).await?;
        let props = api::props(&computed)?;
        Ok(Shown(json!({ "props_schema": props::schema(&props) })))
    }

    /// Runs an action once, and returns what it returns. This does what the action does, such as sending a message.
    #[tool(annotations(
        title = "Run an action",
        read_only_hint = false,
        open_world_hint = true
    ))]
    async fn run_action(&self, api: Api, Parameters(asked): Parameters<WithProps>) -> Reply {
        actions::run(&api, &asked.component, asked.props).await
    }

    /// Publishes a component, so that `list_components` finds it and it is deployed by its key.
    #[tool(annotations(
        title = "Publish a component",
        read_only_hint = false,
        destructive_hint = false,
        idempotent_hint = true
    ))]
    async fn publish_component(
        &self,
        api: Api,
        Parameters(asked): Parameters<PublishComponent>,
    ) -> Reply {
        let body = json!({ "component_url": asked.component });
        let path = ["components", "registry"];
        let published = api.send(Method::POST, &path, body).await?;
        Ok(Shown(without(published, &["code", "packages"])))
    }
}

fn id(component: &Value) -> Result<&str, Refusal> {
    component["id"]
        .as_str()
        .ok_or_else(|| Refusal::new("the node's answer has no component in it"))
}
