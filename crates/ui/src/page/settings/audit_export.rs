//! `/settings/audit/export`: the audit records of a filter, newest first, as lines of JSON for a file.

use std::sync::Arc;

use axum::{
    extract::{Query, State},
    response::Response,
};
use bytes::Bytes;
use headwater_model::{
    id::AuditId,
    page::{PageRequest, Position},
};
use headwater_platform::{AuditFilter, AuditRecord, Caller, PlatformError};
use serde_json::json;

use super::audit::Wanted;
use crate::{
    ndjson::{self, Lines},
    problem::Problem,
    query::ROWS,
    state::Ui,
    visit::Visitor,
};

/// Sends what the filter finds.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Query(wanted): Query<Wanted>,
) -> Result<Response, Problem> {
    let export = Export {
        ui,
        caller: visitor.caller().clone(),
        filter: wanted.filter(&visitor)?,
        position: Some(Position::First),
    };
    Ok(ndjson::file("audit", export).await?)
}

/// A file that is being sent.
struct Export {
    ui: Arc<Ui>,
    caller: Caller,
    filter: AuditFilter,
    /// The place from which it goes on; `None` at its end.
    position: Option<Position<AuditId>>,
}

impl Lines for Export {
    /// The records of the next page that has some: a search looks at so many, and goes on behind them.
    async fn next(&mut self) -> Result<Option<Bytes>, PlatformError> {
        while let Some(position) = self.position.take() {
            let page = PageRequest {
                limit: ROWS,
                position,
            };
            let (found, _) = self
                .ui
                .platform
                .audit(&self.caller, &self.filter, &page)
                .await?;
            let is_full = found.items.len() >= ROWS as usize;
            let last = found.items.last().map(|record| record.id.clone());
            let next = found.searched_to.or(last.filter(|_| is_full));
            self.position = next.map(Position::After);
            let lines: String = found.items.iter().map(line).collect();
            if !lines.is_empty() {
                return Ok(Some(Bytes::from(lines)));
            }
        }
        Ok(None)
    }
}

/// A record as the API has it.
fn line(record: &AuditRecord) -> String {
    let (actor, target) = (&record.actor, &record.target);
    let line = json!({
        "id": record.id,
        "at_ms": record.at_ms,
        "action": record.action,
        "actor": {
            "via": actor.via,
            "user_id": actor.user_id,
            "username": actor.username,
            "key_id": actor.key_id,
            "key_name": actor.key_name,
            "session_id": actor.session_id,
        },
        "target": {
            "kind": target.kind,
            "id": target.id,
            "name": target.name,
            "owner_id": target.owner_id,
            "workspace_id": target.workspace_id,
        },
        "details": record.details,
        "address": record.address,
        "user_agent": record.user_agent,
    });
    format!("{line}\n")
}
