//! One request that the node sent at once for this command, and the answer: of a test event, or of an event for a URL.

use serde_json::Value;

use crate::exit::Exit;
use crate::source::text;
use crate::table;

/// Whether it was delivered, the answer and its time.
pub(super) fn answered(sent: &Value) -> String {
    let attempt = &sent["attempt"];
    let taken = if sent["delivered"] == true {
        "yes"
    } else {
        "no"
    };
    let mut rows = vec![("delivered".to_owned(), taken.to_owned())];
    if attempt["status"].is_u64() {
        rows.push(("status".to_owned(), attempt["status"].to_string()));
    }
    for (field, label) in [("error", "error"), ("response_excerpt", "answer")] {
        let value = text(attempt, field);
        if !value.is_empty() {
            rows.push((label.to_owned(), value.to_owned()));
        }
    }
    rows.push(("took".to_owned(), format!("{} ms", attempt["latency_ms"])));
    table::card(rows)
}

/// A failure of the command unless the answer was 2xx.
pub(super) fn exit(sent: &Value) -> Exit {
    match sent["delivered"] == true {
        true => Exit::Success,
        false => Exit::Failure,
    }
}
