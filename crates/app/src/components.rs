//! Saving and finding components (spec "Components").

use bytes::Bytes;
use headwater_engine::{ComponentCode, EngineError};
use headwater_model::id::{ComponentId, WorkspaceId};
use headwater_store::{ArtifactBytes, Owner, SavedComponent, Store};
use sha2::{Digest, Sha256};
use url::Url;

use crate::{access::Caller, app::App, error::AppError};

/// The `component_*` fields of a request, as they came.
#[derive(Debug, Clone, Default)]
pub struct ComponentInput {
    /// A saved component; takes precedence.
    pub component_id: Option<String>,
    /// The code.
    pub component_code: Option<String>,
    /// Where the code is; only metadata when one of the others is given.
    pub component_url: Option<String>,
}

/// Path parameter `{key|id}`.
#[derive(Debug, Clone)]
pub enum ComponentRef {
    /// `sc_…`.
    Id(ComponentId),
    /// A component's `key`.
    Key(String),
}

impl ComponentRef {
    /// An id if it is one, else a key.
    pub fn parse(text: &str) -> Self {
        text.parse()
            .map_or_else(|_| Self::Key(text.to_owned()), Self::Id)
    }
}

impl ComponentInput {
    /// Whether none of the fields is given.
    pub fn is_empty(&self) -> bool {
        self.component_id.is_none() && self.component_code.is_none() && self.component_url.is_none()
    }

    fn code(&self) -> Result<ComponentCode, AppError> {
        match (&self.component_code, &self.component_url) {
            (Some(code), _) if code.trim().is_empty() => {
                Err(AppError::invalid("component_code", "is empty"))
            }
            (Some(code), _) => Ok(ComponentCode::Text(code.clone())),
            (None, Some(url)) => module_url(url).map(ComponentCode::Url),
            (None, None) => Err(AppError::invalid(
                "component_code",
                "give `component_code` or `component_url`",
            )),
        }
    }
}

/// While building, what cannot be reached is the package registry, which the caller can do something about.
fn unbuilt(error: EngineError) -> AppError {
    match error {
        EngineError::Unavailable { .. } => AppError::Unreachable(error.to_string()),
        error => error.into(),
    }
}

/// An artifact's bytes, for a worker that is to run it.
pub(crate) async fn artifact(store: &dyn Store, hash: &str) -> Result<Bytes, EngineError> {
    let unavailable = |reason: String| EngineError::Unavailable {
        context: "loading the component".to_owned(),
        reason,
    };
    let bytes = store
        .artifact(hash)
        .await
        .map_err(|error| unavailable(error.to_string()))?;
    bytes.ok_or_else(|| {
        unavailable(format!(
            "artifact {hash} is not in the store; save the component again"
        ))
    })
}

fn module_url(text: &str) -> Result<Url, AppError> {
    let url = Url::parse(text)
        .map_err(|error| AppError::invalid("component_url", format!("`{text}`: {error}")))?;
    match url.scheme() {
        "http" | "https" => Ok(url),
        other => Err(AppError::invalid(
            "component_url",
            format!("must be an http or https URL, not {other}:"),
        )),
    }
}

impl App {
    /// Builds a component and saves it (`POST /components`).
    ///
    /// # Errors
    /// `Invalid` without code, `Component` when the code cannot be resolved or evaluated.
    pub async fn save_component(
        &self,
        caller: &Caller,
        input: &ComponentInput,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<SavedComponent, AppError> {
        let owner = caller.owner(workspace_id)?;
        self.build_component(owner, input).await
    }

    /// A component that the caller may see, by id or by key within its namespace.
    pub async fn component(
        &self,
        caller: &Caller,
        reference: &ComponentRef,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<SavedComponent, AppError> {
        let found = match reference {
            ComponentRef::Id(id) => self.store.component(id).await?,
            ComponentRef::Key(key) => {
                self.store
                    .component_by_key(&caller.owner(workspace_id)?, key)
                    .await?
            }
        };
        let shown = match reference {
            ComponentRef::Id(id) => id.to_string(),
            ComponentRef::Key(key) => key.clone(),
        };
        found
            .filter(|component| caller.may_see(&component.owner))
            .ok_or_else(|| AppError::not_found("component", shown))
    }

    /// The saved component that `component_*` fields name, built and saved now if they give code.
    pub(crate) async fn resolve_component(
        &self,
        caller: &Caller,
        owner: &Owner,
        input: &ComponentInput,
    ) -> Result<SavedComponent, AppError> {
        let Some(id) = &input.component_id else {
            return self.build_component(owner.clone(), input).await;
        };
        let id: ComponentId = id
            .parse()
            .map_err(|error| AppError::invalid("component_id", error))?;
        self.component(caller, &ComponentRef::Id(id), None).await
    }

    async fn build_component(
        &self,
        owner: Owner,
        input: &ComponentInput,
    ) -> Result<SavedComponent, AppError> {
        let build = self.engine.build(input.code()?).await.map_err(unbuilt)??;
        let now_at = self.env.now_at();
        let component = SavedComponent {
            id: self.env.id(ComponentId::new),
            owner,
            code_hash: hex::encode(Sha256::digest(build.code.as_bytes())),
            code: build.code,
            code_url: input.component_url.clone(),
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
        self.store
            .save_component(component.clone(), artifact)
            .await?;
        Ok(component)
    }
}
