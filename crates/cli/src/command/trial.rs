//! `try`: runs a source's code once without deploying it, and shows the events that it emitted. Code that throws is a
//! failure of this command: its logs and its stack go to standard error.

use anyhow::Result;
use serde_json::{Value, json};

use super::{outcome, save};
use crate::arguments::TryArguments;
use crate::at_file;
use crate::exit::Exit;
use crate::prop::{self, Given};
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: TryArguments) -> Result<Exit> {
    let client = &session.client;
    // Mistakes on the command line come out before anything is saved.
    let given = Given::read(&arguments.props)?;
    let event = match &arguments.event {
        Some(event) => at_file::read_json(event, "--event", "the event")?,
        None => Value::Null,
    };
    let component = save::save(client, &arguments.component).await?;
    if text(&component, "type") == "action" {
        return Err(UsageError(format!(
            "{reference} is an action; run it with `headwater run-action {reference}`",
            reference = arguments.component
        ))
        .into());
    }
    let props = prop::collect(client, &component, given, None).await?;
    let path = ["components", text(&component, "id"), "try"];
    let mut body = json!({"configured_props": props});
    if !event.is_null() {
        body["event"] = event;
    }
    let report = client.post_scoped(&path, body).await?;
    let file = save::file_of(&arguments.component);
    outcome::print_logs(session, &report, file.as_deref());
    session.print(&report, show)?;
    Ok(outcome::report(&report["outcome"], file.as_deref()))
}

/// The outcome, and every event with its value.
pub(super) fn show(report: &Value) -> String {
    let rows = [
        ("invocation", text(report, "invocation_id").to_owned()),
        ("outcome", text(&report["outcome"], "status").to_owned()),
        ("emitted", report["emitted"].to_string()),
    ];
    let rows = rows.map(|(name, value)| (name.to_owned(), value));
    let mut shown = table::card(rows.to_vec());
    for event in report["events"].as_array().into_iter().flatten() {
        let channel = match text(event, "name") {
            "" => String::new(),
            name => format!(" on {name}"),
        };
        let summary = text(event, "summary");
        let line = format!("EVENT{channel} {summary}");
        shown.push_str(&format!("\n\n{}\n{:#}", line.trim_end(), event["event"]));
    }
    if !report["response"].is_null() {
        let response = &report["response"];
        let (status, body) = (&response["status"], text(response, "body"));
        shown.push_str(&format!("\n\nRESPONSE {status}\n{body}"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_and_the_response_are_shown() {
        let report = json!({
            "invocation_id": "inv_1", "outcome": {"status": "returned"}, "emitted": 2, "logs": [],
            "events": [{"event": {"a": 1}, "name": "", "summary": "One"}, {"event": 2, "name": "other"}],
            "response": {"status": 201, "headers": [], "body": "made"},
        });
        assert_eq!(
            show(&report),
            "INVOCATION   inv_1\nOUTCOME      returned\nEMITTED      2\n\nEVENT One\n{\n  \"a\": 1\n}\n\n\
             EVENT on other\n2\n\nRESPONSE 201\nmade"
        );
    }
}
