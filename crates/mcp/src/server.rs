//! The server: what it says of itself, the tools that it lists and calls, and the two ways to be reached.

use std::{convert::Infallible, io, sync::Arc};

use http::{Request, Response, request::Parts};
use rmcp::{
    ErrorData, RoleServer, ServerHandler, ServiceExt as _,
    handler::server::{
        common::FromContextPart,
        tool::{ToolCallContext, ToolRouter},
    },
    model::{
        CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult,
        PaginatedRequestParams, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService,
        streamable_http_server::session::never::NeverSessionManager,
    },
};

use crate::{actions, api::Api, node::Node, settings::Settings};

const INSTRUCTIONS: &str = "\
Headwater runs components: small JavaScript modules that watch an API, a timer or an HTTP endpoint (sources) or do one \
thing (actions). A source that is deployed emits events, which are kept and handed to whoever subscribed.
To deploy a source: find its component (`list_components`, `search_packages`, `list_package`), read what it asks \
for (`describe_component`), connect the account that it needs (`list_accounts`; `connect_account` gives a link that \
the person must open), ask `list_options` for values that the app knows, then `deploy_source`. `watch_source` waits for \
the next events; `read_events` reads those that are kept. If nothing arrives, `list_runs` and `read_logs` say why.";

/// The server of one node.
#[derive(Clone)]
pub(crate) struct Server {
    node: Arc<dyn Node>,
    settings: Settings,
    tools: ToolRouter<Self>,
}

impl FromContextPart<ToolCallContext<'_, Server>> for Api {
    fn from_context_part(context: &mut ToolCallContext<'_, Server>) -> Result<Self, ErrorData> {
        Ok(context.service.api_of(&context.request_context))
    }
}

impl Server {
    pub(crate) fn new(node: Arc<dyn Node>, settings: Settings) -> Self {
        Self {
            node,
            settings,
            tools: Self::accounts()
                + Self::components()
                + Self::events()
                + Self::runs()
                + Self::sources()
                + Self::webhooks()
                + Self::workflows(),
        }
    }

    /// The API for one call.
    fn api_of(&self, context: &RequestContext<RoleServer>) -> Api {
        let from = context.extensions.get::<Parts>().cloned();
        let settings = from
            .as_ref()
            .map_or_else(|| self.settings.clone(), Settings::of);
        Api::new(Arc::clone(&self.node), from, settings)
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("headwater", env!("CARGO_PKG_VERSION")))
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = self.tools.list_all();
        tools.extend(actions::tools(&self.api_of(&context)).await?);
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.tools.has_route(&request.name) {
            let call = ToolCallContext::new(self, request, context);
            return self.tools.call(call).await;
        }
        let arguments = request.arguments.unwrap_or_default();
        actions::call(&self.api_of(&context), &request.name, arguments).await
    }
}

/// The service of `/mcp`: streamable HTTP, each request on its own. Callers are authenticated before.
pub fn http<B>(
    node: Arc<dyn Node>,
) -> impl tower::Service<
    Request<B>,
    Response = Response<impl http_body::Body<Data = bytes::Bytes, Error = Infallible>>,
    Error = Infallible,
    Future: Send,
> + Clone
+ Send
+ Sync
where
    B: http_body::Body + Send + 'static,
    B::Data: Send + 'static,
    B::Error: std::fmt::Display,
{
    let server = Server::new(node, Settings::default());
    // A key is needed for everything, and browsers send none by themselves: which name a request came by is no matter.
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .disable_allowed_hosts();
    StreamableHttpService::new(
        move || Ok(server.clone()),
        Arc::new(NeverSessionManager::default()),
        config,
    )
}

/// Serves one client on standard input and output, until it goes away.
pub async fn stdio(node: Arc<dyn Node>, settings: Settings) -> io::Result<()> {
    let server = Server::new(node, settings);
    let running = server.serve(rmcp::transport::stdio()).await;
    let running = running.map_err(io::Error::other)?;
    running.waiting().await.map_err(io::Error::other)?;
    Ok(())
}
