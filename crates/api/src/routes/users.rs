//! `/users/me`: the caller and what it has.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::SourceId;

use super::{AppState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Paging, cursor},
    wire::{Paged, Source, Subscription, User},
};

/// `GET /users/me`
pub(crate) async fn me(
    State(app): AppState,
    Extension(caller): CallerExtension,
) -> DataReply<User> {
    data(app.user(&caller).await?.into())
}

/// `GET /users/me/sources/`
pub(crate) async fn sources(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<SourceId>,
) -> PageReply<Source> {
    let page = app.own_sources(&caller, &page).await?;
    Ok(Json(Paged::new(
        page,
        |view| cursor(&view.source.id),
        Source::from,
    )))
}

/// `GET /users/me/subscriptions`
pub(crate) async fn subscriptions(
    State(app): AppState,
    Extension(caller): CallerExtension,
) -> DataReply<Vec<Subscription>> {
    let subscriptions = app.subscriptions(&caller).await?;
    data(subscriptions.into_iter().map(Subscription::from).collect())
}
