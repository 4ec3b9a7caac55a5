//! The outcome of a transaction whose `COMMIT` got no answer, because the connection was lost meanwhile.

use headwater_store::StoreError;
use tokio_postgres::SimpleQueryMessage;

use crate::{
    connection::{Connection, failed},
    marks::Mark,
    row::get,
};

/// The life of a server, as SQL. One that has started anew, or recovered from the crash of one of its processes, may give the
/// id of a transaction again that it had not written down: a crash begins its statistics anew.
macro_rules! life {
    () => {
        "concat_ws(' ', extract(epoch FROM pg_postmaster_start_time()), (SELECT stats_reset FROM pg_stat_wal))"
    };
}

/// The last statement of the beginning of a transaction that writes: its id, the life of the server that gave it, and the
/// process that serves it.
macro_rules! identified {
    () => {
        concat!(
            "SELECT pg_current_xact_id()::text, ",
            crate::outcome::life!(),
            ", ",
            crate::pooling::backend!()
        )
    };
}
pub(crate) use {identified, life};

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
    mark: Option<&Mark>,
) -> Result<Outcome, StoreError> {
    let ended = concat!(
        "SELECT pg_is_in_recovery() OR EXISTS (SELECT 1 FROM pg_stat_activity WHERE backend_xid = $1::text::xid8::xid)
             AS is_open, CASE WHEN ",
        life!(),
        " = $2 THEN pg_xact_status($1::text::xid8) END AS status"
    );
    let failed = failed("looking for the end of a transaction");
    let row = connection.query_one(ended, &[&of.id, &of.server]).await;
    let row = row.map_err(&failed)?;
    // Another server decides once it has everything that the former one wrote and it got; the same one, if only its statistics
    // begin anew, once the transaction has ended.
    let is_open: bool = get(&row, "is_open")?;
    let status: Option<String> = get(&row, "status")?;
    Ok(match (status.as_deref(), mark) {
        (Some("committed"), _) => Outcome::Committed,
        (Some("aborted"), _) => Outcome::RolledBack,
        (Some("in progress"), _) => Outcome::Open,
        (_, Some(_)) if is_open => Outcome::Open,
        (_, Some(mark)) => match mark.is_left(connection).await? {
            true => Outcome::Committed,
            false => Outcome::RolledBack,
        },
        (_, None) => Outcome::Unknown,
    })
}
