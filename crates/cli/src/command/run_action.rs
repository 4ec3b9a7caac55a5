//! `run-action`: runs an action once and shows the result. An action that throws is a failure of this
//! command: its logs and its stack go to standard error.

use anyhow::Result;
use serde_json::{Value, json};

use super::{outcome, save};
use crate::arguments::RunActionArguments;
use crate::exit::Exit;
use crate::prop::{self, Given};
use crate::session::Session;
use crate::source::text;
use crate::table;
use crate::usage_error::UsageError;

pub(super) async fn run(session: &Session, arguments: RunActionArguments) -> Result<Exit> {
    let client = &session.client;
    // Mistakes on the command line come out before anything is saved.
    let given = Given::read(&arguments.props)?;
    let component = save::save(client, &arguments.component).await?;
    if text(&component, "type") == "source" {
        return Err(UsageError(format!(
            "{reference} is a source; deploy it with `headwater deploy {reference}` and run it with \
             `headwater run`",
            reference = arguments.component
        ))
        .into());
    }
    let props = prop::collect_for_run(client, &component, given).await?;
    let path = ["components", text(&component, "id"), "run"];
    let body = json!({"configured_props": props});
    let report = client.post_scoped(&path, body).await?;
    let file = save::file_of(&arguments.component);
    outcome::print_logs(session, &report, file.as_deref());
    session.print(&report, show)?;
    Ok(outcome::report(&report["outcome"], file.as_deref()))
}

/// The parts of an action's result in the order of interest: its summary; then the values that steps
/// after it would get.
fn show(report: &Value) -> String {
    let outcome = &report["outcome"];
    let mut rows = vec![(
        "invocation".to_owned(),
        text(report, "invocation_id").to_owned(),
    )];
    rows.push(("outcome".to_owned(), text(outcome, "status").to_owned()));
    for field in ["summary", "exit"] {
        let value = text(report, field);
        if !value.is_empty() {
            rows.push((field.to_owned(), value.to_owned()));
        }
    }
    let mut shown = table::card(rows);
    let exports = report["exports"].as_object().into_iter().flatten();
    let exports = exports.map(|(name, value)| (format!("EXPORT {name}"), value));
    let value = outcome.get("value").filter(|value| !value.is_null());
    let value = value.map(|value| ("RETURN VALUE".to_owned(), value));
    for (name, value) in exports.chain(value) {
        shown.push_str(&format!("\n\n{name}\n{value:#}"));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summary_exports_and_the_value_are_shown() {
        let report = json!({
            "invocation_id": "inv_1", "summary": "Greeted you", "exports": {"n": 3},
            "outcome": {"status": "returned", "value": {"a": [1]}}, "logs": [],
        });
        assert_eq!(
            show(&report),
            "INVOCATION   inv_1\nOUTCOME      returned\nSUMMARY      Greeted you\n\n\
             EXPORT n\n3\n\nRETURN VALUE\n{\n  \"a\": [\n    1\n  ]\n}"
        );
    }
}
