//! The outcome of a transaction whose `COMMIT` got no answer, because the connection was lost meanwhile.

use headwater_store::StoreError;
use tokio_postgres::SimpleQueryMessage;

use crate::connection::{Connection, failed};

/// The last statement of the beginning of a transaction that writes: its id, and the start of the server that gave it.
/// A server that has started anew may give the id again.
macro_rules! identified {
    () => {
        "SELECT pg_current_xact_id()::text, extract(epoch FROM pg_postmaster_start_time())::text"
    };
}
pub(crate) use identified;

/// A transaction that writes, as long as its server runs.
pub(crate) struct TransactionId {
    id: String,
    server: String,
}

impl TransactionId {
    /// The id in what the beginning returned, if it is one of a transaction that writes.
    pub(crate) fn of(messages: &[SimpleQueryMessage]) -> Option<Self> {
        messages.iter().find_map(|message| {
            let SimpleQueryMessage::Row(row) = message else {
                return None;
            };
            let text = |column: usize| row.try_get(column).ok().flatten().map(str::to_owned);
            Some(Self {
                id: text(0)?,
                server: text(1)?,
            })
        })
    }
}

/// The end of a transaction, as the server knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Committed,
    RolledBack,
    /// It has not ended: the server has not noticed yet that its client is gone, or awaits a standby.
    Open,
    /// Another server answers, or the same one after a crash.
    Unknown,
}

/// Asks for the end of a transaction, on another connection than its own.
pub(crate) async fn ask(
    connection: &Connection,
    of: &TransactionId,
) -> Result<Outcome, StoreError> {
    let status = "SELECT CASE WHEN extract(epoch FROM pg_postmaster_start_time())::text = $2
                              THEN pg_xact_status($1::text::xid8) END";
    let status: Option<String> = connection
        .value(status, &[&of.id, &of.server])
        .await
        .map_err(failed("looking for the end of a transaction"))?;
    Ok(match status.as_deref() {
        Some("committed") => Outcome::Committed,
        Some("aborted") => Outcome::RolledBack,
        Some("in progress") => Outcome::Open,
        _ => Outcome::Unknown,
    })
}
