//! `/audit`, not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::{
    id::AuditId,
    page::{Page, Position},
};

use super::{ApiState, CallerExtension, PageReply};
use crate::{
    extract::{Pages, Paging, Query, cursor},
    openapi::failure,
    wire::{AuditRecord, Paged, SearchAudit},
};

/// Lists audit records
///
/// Acts with their actors, times and places, newest first: the caller's own acts, those on its things, and those on the things of
/// its workspaces; for administrators all. A request looks at 10,000 records at most: `total_count` counts no further, and
/// if `page_info.is_cut` is true, the page may be short, and its cursor leads to more. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/audit",
    operation_id = "list_audit",
    tag = "Users and workspaces",
    params(Pages, SearchAudit),
    responses((status = 200, description = "A page of records.", body = Paged<AuditRecord>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<AuditId>,
    Query(filter): Query<SearchAudit>,
) -> PageReply<AuditRecord> {
    let (found, count) = platform.audit(&caller, &filter.into(), &page).await?;
    let items = Page {
        total_count: count.count,
        items: found.items,
    };
    let shown = Paged::new(items, |record| cursor(&record.id), AuditRecord::from);
    let is_towards_newest = matches!(page.position, Position::Before(_));
    Ok(Json(match found.searched_to {
        Some(id) => shown.cut_at(cursor(&id), is_towards_newest),
        None => shown,
    }))
}
