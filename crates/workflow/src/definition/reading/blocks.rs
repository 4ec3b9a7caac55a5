//! Blocks without steps in them: `delay`, `wait`, `call` and `end`.

use std::time::Duration;

use serde_json::json;

use super::{fields::Fields, reader::Reader};
use crate::{
    definition::blocks::{Call, Delay, DelayLength, End, OnTimeout, Wait},
    moment,
    template::Template,
    yaml::Entry,
};

const WAIT: Duration = Duration::from_hours(24);
const ON_TIMEOUT: [(&str, OnTimeout); 3] = [
    ("cancel", OnTimeout::Cancel),
    ("continue", OnTimeout::Continue),
    ("fail", OnTimeout::Fail),
];

pub(super) fn delay(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Delay {
    let length = match (fields.take("for"), fields.take("until")) {
        (Some(entry), None) => delay_for(entry, reader),
        (None, Some(entry)) => delay_until(entry, reader),
        _ => {
            let message = "a delay has either `for`, such as `30m`, or `until`";
            reader.problem(fields.position, message);
            None
        }
    };
    Delay {
        length: length.unwrap_or(DelayLength::For(Duration::ZERO)),
    }
}

fn delay_for(entry: &Entry, reader: &mut Reader<'_>) -> Option<DelayLength> {
    let template = reader.template(&entry.value, "for");
    match template.to_literal() {
        Some(_) => {
            let span = reader.span(entry, Duration::from_millis(1))?;
            Some(DelayLength::For(span))
        }
        None => Some(DelayLength::ForValue(template)),
    }
}

fn delay_until(entry: &Entry, reader: &mut Reader<'_>) -> Option<DelayLength> {
    let template = reader.template(&entry.value, "until");
    if let Some(value) = template.to_literal()
        && moment::moment(&value).is_none()
    {
        let expected = "a date such as `2027-01-31T12:00:00Z`, epoch milliseconds, or an expression \"{{ … }}\"";
        return reader.unexpected(entry, expected);
    }
    Some(DelayLength::Until(template))
}

pub(super) fn wait(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Wait {
    let timeout = match fields.take("timeout") {
        Some(entry) if entry.value.text() == Some("never") => None,
        Some(entry) => reader.span(entry, Duration::from_millis(1)),
        None => Some(WAIT),
    };
    let on_timeout = fields.take("on_timeout");
    let on_timeout = on_timeout.and_then(|entry| reader.choice(entry, &ON_TIMEOUT));
    Wait {
        timeout,
        on_timeout: on_timeout.unwrap_or_default(),
    }
}

pub(super) fn call(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Call {
    let workflow = fields.need("workflow", reader);
    let workflow = workflow.map(|entry| reader.template(&entry.value, "workflow"));
    let event = fields.take("event");
    let event = event.map(|entry| reader.template(&entry.value, "event"));
    let waits = fields.take("wait");
    let waits = waits.and_then(|entry| reader.flag(entry));
    Call {
        workflow: workflow.unwrap_or_else(|| Template::literal(&json!(""))),
        event: event.unwrap_or_else(|| Template::literal(&json!({}))),
        waits: waits.unwrap_or(true),
    }
}

pub(super) fn end(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> End {
    let reason = fields.take("reason");
    let reason = reason.map(|entry| reader.template(&entry.value, "reason"));
    End { reason }
}
