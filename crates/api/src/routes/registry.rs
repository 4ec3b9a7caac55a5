//! `/components/registry` and `/packages`: components for every user of the node, and where they
//! come from.

use axum::{
    Json,
    extract::{Extension, State},
};

use super::{ApiState, CallerExtension, DataReply, PageReply, data, required};
use crate::{
    extract::{Pages, Paging, Params, PathText, cursor},
    openapi::failure,
    wire::{
        Component, Data, FolderComponentResult, IndexedComponent, PackageModules, PackageRequest,
        Paged, PublishComponent, PublishFolder, PublishedComponent, SearchPackages, TextCursor,
        place,
    },
};

/// Publishes a component
///
/// For every user of the node, under its `key`; its `version` is semantic. The same version again
/// changes nothing with the same code, and is a conflict with other code. Only the user who published a
/// key can publish further versions of it. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/components/registry",
    operation_id = "publish_component",
    tag = "Components",
    request_body = PublishComponent,
    responses((status = 200, description = "The component in the registry.", body = Data<PublishedComponent>), failure::Forbidden, failure::Conflict, failure::Unprocessable),
)]
pub(crate) async fn publish(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<PublishComponent>,
) -> DataReply<PublishedComponent> {
    data(
        platform
            .publish_component(&caller, &request.into())
            .await?
            .into(),
    )
}

/// Shows a component of the registry
///
/// That of the highest version, releases before pre-releases; `key@version` is a certain one. One that was
/// published with a folder is built when it is asked for first.
#[utoipa::path(
    get,
    path = "/components/registry/{key}",
    operation_id = "show_registry_component",
    tag = "Components",
    params(("key" = String, Path, description = "The component's globally unique key.")),
    responses((status = 200, description = "The component.", body = Data<Component>), failure::NotFound, failure::Unprocessable),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    PathText(key): PathText<String>,
) -> DataReply<Component> {
    data(platform.registry_component(&key).await?.into())
}

/// Publishes many components at once
///
/// As files of a folder. Each component is in the registry at once, described by its text, and built when it is used
/// first. One that cannot be published is named with the reason, and holds up no other. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/registry/folders",
    operation_id = "publish_folder",
    tag = "Components",
    request_body = PublishFolder,
    responses((status = 200, description = "The result of each component, in the order of the request.", body = Data<Vec<FolderComponentResult>>)),
)]
pub(crate) async fn publish_folder(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<PublishFolder>,
) -> DataReply<Vec<FolderComponentResult>> {
    let published = platform.publish_folder(&caller, request.into()).await?;
    data(published.into_iter().map(Into::into).collect())
}

/// Lists the components of an npm package
///
/// The files in its `sources` and `actions` folders that look like components, with the version that
/// the package resolves to. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/packages/modules",
    operation_id = "list_package_modules",
    tag = "Components",
    params(PackageRequest),
    responses((status = 200, description = "The package's components.", body = Data<PackageModules>)),
)]
pub(crate) async fn package_modules(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<PackageRequest>,
) -> DataReply<PackageModules> {
    let specifier = required("specifier", request.specifier)?;
    data(platform.package_modules(&caller, &specifier).await?.into())
}

/// Searches the components that npm packages have
///
/// Those of an index that comes with the node, and the actions that the node brings along, in the order of their keys;
/// `indexed_on` is the day on which a package was looked at. Their newest versions are deployed by `specifier`, as `component_url`. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/packages/components",
    operation_id = "search_package_components",
    tag = "Components",
    params(Pages, SearchPackages),
    responses((status = 200, description = "A page of components.", body = Paged<IndexedComponent>)),
)]
pub(crate) async fn package_components(
    State(platform): ApiState,
    Paging(page): Paging<TextCursor<String>>,
    Params(request): Params<SearchPackages>,
) -> PageReply<IndexedComponent> {
    let found = platform.indexed_components(&request.into(), &TextCursor::bare(page));
    Ok(Json(Paged::new(
        found,
        |component| cursor(&place(component.key)),
        IndexedComponent::from,
    )))
}
