//! `/data/{name}/export?prefix=`: the records of a data store, by key, as lines of JSON for a file.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use bytes::Bytes;
use headwater_model::page::{PageRequest, Position};
use headwater_platform::{Caller, NamedDataStore, PlatformError, Record};
use serde_json::json;

use super::StoreName;
use crate::{
    ndjson::{self, Lines},
    problem::Problem,
    query::ROWS,
    state::Ui,
    visit::Visitor,
};

/// Sends all records whose keys begin with a prefix.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    name: StoreName,
) -> Result<Response, Problem> {
    let named = name.named(&visitor);
    let file = named.name.clone();
    let export = Export {
        ui,
        caller: visitor.caller().clone(),
        named,
        prefix: visitor.parameter("prefix").unwrap_or_default(),
        position: Some(Position::First),
    };
    Ok(ndjson::file(&file, export).await?)
}

/// A file that is being sent.
struct Export {
    ui: Arc<Ui>,
    caller: Caller,
    named: NamedDataStore,
    prefix: String,
    /// The place from which it goes on; `None` at its end.
    position: Option<Position<String>>,
}

impl Lines for Export {
    /// A page of records, which ends early behind a few MiB of values.
    async fn next(&mut self) -> Result<Option<Bytes>, PlatformError> {
        let Some(position) = self.position.take() else {
            return Ok(None);
        };
        let page = PageRequest {
            limit: ROWS,
            position,
        };
        let records =
            self.ui
                .platform
                .data_store_records(&self.caller, &self.named, &self.prefix, &page);
        let records = match records.await {
            Ok(records) => records.items,
            // Its last record has expired or was deleted meanwhile.
            Err(PlatformError::NotFound { .. }) if !matches!(page.position, Position::First) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        };
        let last = records.last().map(|record| record.key.clone());
        self.position = last.map(Position::After);
        let lines: String = records.iter().map(line).collect();
        Ok((!lines.is_empty()).then(|| Bytes::from(lines)))
    }
}

/// A record with its value as it was written, to the digit.
fn line(record: &Record) -> String {
    let about = json!({
        "key": record.key,
        "updated_at_ms": record.updated_at_ms.0,
        "expires_at_ms": record.expires_at_ms.map(|at| at.0),
    });
    let about = about.to_string();
    let about = about.strip_suffix('}').unwrap_or(&about);
    format!("{about},\"value\":{}}}\n", record.value.get())
}
