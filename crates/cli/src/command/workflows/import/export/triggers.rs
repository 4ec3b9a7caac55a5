//! Triggers of an export.

use headwater_model::id::{TriggerId, TriggerKind};
use serde_json::{Map, Value};

use super::fields::{Fields, folded};
use super::state::State;
use super::step;

/// Objects that hold the configuration of triggers other than sources.
const CONFIGURATIONS: [&str; 8] = [
    "configuration",
    "config",
    "schedule",
    "timer",
    "cron",
    "interval",
    "configured_props",
    "props",
];

pub(super) fn read(value: Value, state: &mut State) -> Vec<Value> {
    let items = match value {
        Value::Array(items) => items,
        single @ (Value::Object(_)
        | Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)) => vec![single],
    };
    let mut triggers = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let mut told = Vec::new();
        if let Some(fields) = Fields::of(item, &format!("triggers[{index}]"), &mut told) {
            triggers.push(trigger(fields, index + 1, state).into());
        }
        state.told.append(&mut told);
    }
    triggers
}

fn trigger(mut fields: Fields<'_>, number: usize, state: &mut State) -> Map<String, Value> {
    let mut trigger = Map::new();
    let id = fields.named_text(&["id", "trigger_id"]);
    let id = id.and_then(|(name, id)| match id.parse::<TriggerId>() {
        Ok(id) => Some(id),
        Err(error) => {
            fields.tell_why(&name, error);
            None
        }
    });
    if let Some(id) = &id {
        trigger.insert("id".to_owned(), id.as_str().into());
    }
    // It is called `trigger` wherever steps name it.
    fields.text(&["namespace"]);
    fields.text(&["name"]);
    let given = fields.named_text(&["trigger_type", "type", "kind"]);
    let named = given.as_ref().and_then(|(_, kind)| kind_of(kind));
    if let (Some((name, _)), None) = (&given, &named) {
        fields.tell(name);
    }
    match id.as_ref().map(TriggerId::kind).or(named) {
        Some(TriggerKind::Timer) => schedule(&mut fields, &mut trigger),
        Some(TriggerKind::Source) => source(&mut fields, number, &mut trigger, state),
        Some(TriggerKind::Http) => simple("http", &mut fields, &mut trigger),
        Some(TriggerKind::Email) => simple("email", &mut fields, &mut trigger),
        Some(TriggerKind::Events) | None => {}
    }
    fields.finish();
    trigger
}

/// The kind by the words that Pipedream has for it.
fn kind_of(word: &str) -> Option<TriggerKind> {
    Some(match folded(word).as_str() {
        "http" | "httpinterface" | "webhook" | "httprequest" => TriggerKind::Http,
        "timer" | "timerinterface" | "schedule" | "cron" | "interval" => TriggerKind::Timer,
        "email" | "emailinterface" => TriggerKind::Email,
        "source" | "component" | "deployedcomponent" | "app" => TriggerKind::Source,
        _ => return None,
    })
}

fn simple(kind: &str, fields: &mut Fields<'_>, trigger: &mut Map<String, Value>) {
    trigger.insert("type".to_owned(), kind.into());
    fields.open(&CONFIGURATIONS);
}

fn schedule(fields: &mut Fields<'_>, trigger: &mut Map<String, Value>) {
    fields.open(&CONFIGURATIONS);
    let cron = fields.text(&["cron", "cron_expression", "expression"]);
    let seconds = fields.take_with(&["interval_seconds", "seconds"], Value::as_u64);
    let timezone = fields.text(&["timezone", "time_zone", "tz"]);
    if cron.is_none() && seconds.is_none() {
        return;
    }
    trigger.insert("type".to_owned(), "schedule".into());
    match (cron, seconds) {
        (Some(cron), _) => {
            trigger.insert("cron".to_owned(), cron.into());
            trigger.extend(timezone.map(|zone| ("timezone".to_owned(), zone.into())));
        }
        (None, seconds) => {
            let seconds = seconds.map(|(_, seconds)| seconds);
            trigger.insert("interval_seconds".to_owned(), seconds.into());
        }
    }
}

fn source(
    fields: &mut Fields<'_>,
    number: usize,
    trigger: &mut Map<String, Value>,
    state: &mut State,
) {
    let mut read = step::read(fields, &format!("trigger_{number}"), state);
    let Some(uses) = read.shift_remove("uses") else {
        return;
    };
    trigger.insert("type".to_owned(), "source".into());
    trigger.insert("uses".to_owned(), uses);
    if let Some(props) = read.shift_remove("props") {
        trigger.insert("props".to_owned(), props);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn triggers_keep_their_ids_and_get_their_configuration() {
        let mut state = State::default();
        let triggers = read(
            json!([
                {"id": "hi_abcdef", "type": "HttpInterface", "namespace": "trigger", "token": "secret"},
                {"id": "ti_abcdef", "schedule": {"cron": {"cron": "0 9 * * *", "timezone": "Europe/Vienna"}}},
                {"type": "timer", "configured_props": {"intervalSeconds": 900}},
                {"id": "dc_abcdef", "component_key": "rss-new-item@1.0.0", "configured_props": {"url": "x"}},
                {"id": "dc_bcdefg"},
                {"type": "source", "code": "export default {}"},
                {"triggerId": "ti_x1", "kind": "telepathy"},
            ]),
            &mut state,
        );
        assert_eq!(
            Value::from(triggers),
            json!([
                {"id": "hi_abcdef", "type": "http"},
                {"id": "ti_abcdef", "type": "schedule", "cron": "0 9 * * *", "timezone": "Europe/Vienna"},
                {"type": "schedule", "interval_seconds": 900},
                {"id": "dc_abcdef", "type": "source", "uses": "rss-new-item@1.0.0", "props": {"url": "x"}},
                {"id": "dc_bcdefg"},
                {"type": "source", "uses": "./trigger_6/entry.js"},
                {},
            ])
        );
        assert_eq!(
            state.told,
            [
                "triggers[0].token",
                "triggers[6].triggerId: `ti_x1` is not a trigger id: expected `hi_|ti_|ei_|dc_|ev_` and 6 to 22 letters \
                 or digits, as the platform gave it",
                "triggers[6].kind"
            ]
        );
    }
}
