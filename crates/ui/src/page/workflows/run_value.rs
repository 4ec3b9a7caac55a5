//! `/workflows/{id}/runs/{run}/value?of=&step=&at=`: one value of a run, or a part of it.

use std::sync::Arc;

use axum::extract::State;
use headwater_platform::WorkflowRunView;
use maud::html;
use serde_json::{Value, value::RawValue};

use super::{RunPath, run_steps::tree};
use crate::{
    part::{payload, text},
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Shows a value.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor, path: RunPath) -> PageReply {
    let view = path.view(&ui, &visitor).await?;
    let of = visitor.parameter("of").unwrap_or_default();
    let at = visitor.parameter("at").unwrap_or_default();
    let step = visitor.parameter("step");
    let gone = || Problem::not_found("value", &of);
    let (name, raw) = found(&view, step.as_deref(), &of).ok_or_else(gone)?;
    let whole: Value = serde_json::from_str(raw.get()).map_err(|_| gone())?;
    let value = whole.pointer(&at).ok_or_else(gone)?;
    let base = path.base();
    let address = visitor.with(&[("at", None), ("from", None)]);
    let body = html! {
        p.crumbs { a href=(base) { "Run" } @if !at.is_empty() { " / " a href=(address) { (text::line(&name)) } } }
        h1 { (text::line(&name)) @if !at.is_empty() { " " span.note { (text::value(&at)) } } }
        @match value {
            // A text is shown whole here, with its lines.
            Value::String(text) => { (payload::block(html! { pre tabindex="0" { (text::value(text)) } })) }
            value => { (tree(value, &name, (&at, visitor.first_child()), &address)) }
        }
        p.note { (text::bytes(value_bytes(value))) " of JSON" }
    };
    let page = Page::of(Section::Workflows, name, body);
    Ok(page.command(format!("headwater runs describe {} --json", path.run)))
}

/// The value, and its name in code.
fn found<'a>(
    view: &'a WorkflowRunView,
    step: Option<&str>,
    of: &str,
) -> Option<(String, &'a RawValue)> {
    let Some(step) = step else {
        let event = view.event.as_deref().filter(|_| of == "event")?;
        return Some(("steps.trigger.event".to_owned(), event));
    };
    let step = view.steps.get(step.parse::<usize>().ok()?)?;
    let name = format!("steps.{}.{of}", step.namespace);
    if of == "$return_value" {
        return Some((name, step.return_value.as_deref()?));
    }
    let (_, value) = step.exports.iter().find(|(export, _)| export == of)?;
    Some((name, value))
}

fn value_bytes(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |text| text.len())
}
