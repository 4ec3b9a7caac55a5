//! `triggers`.

use headwater_model::{
    id::{TriggerId, TriggerKind},
    schedule::Schedule,
    subscription::EmitterPattern,
};
use serde_json::{Map, Value, json};

use super::{fields::Fields, reader::Reader, step};
use crate::{
    definition::triggers::{
        EventsTrigger, HttpResponse, HttpTrigger, SourceTrigger, Trigger, TriggerConfig,
    },
    yaml::{Content, Entry, Position},
};

/// The types of triggers.
const TYPES: [(&str, TriggerKind); 5] = [
    ("http", TriggerKind::Http),
    ("schedule", TriggerKind::Timer),
    ("email", TriggerKind::Email),
    ("source", TriggerKind::Source),
    ("events", TriggerKind::Events),
];
const RESPONSES: [(&str, HttpResponse); 2] = [
    ("default", HttpResponse::Default),
    ("workflow", HttpResponse::Workflow),
];

const TIMEZONE: &str = "timezone";

/// Subscriptions to emitters, which older synced files have as triggers.
const SUBSCRIPTION_PREFIX: &str = "sub_";

/// The id of a trigger, as the file has it.
struct Named {
    /// None for a subscription, whose id means nothing here.
    id: Option<TriggerId>,
    kind: TriggerKind,
    position: Position,
}

pub(super) fn read(entry: &Entry, reader: &mut Reader<'_>) -> Vec<Trigger> {
    let mut triggers = Vec::<Trigger>::new();
    let mut kinds = Vec::new();
    for item in reader.list(entry) {
        let mut fields = Fields::of(item, reader);
        let named = fields.take("id").map(|entry| named(entry, reader));
        if named.is_none() && !fields.has("type") && fields.is_keyed {
            let message =
                "a trigger has a `type` (http, schedule, email, source or events), or an `id`";
            reader.problem(item.position, message);
        }
        let named = named.flatten();
        if let Some(Named {
            id: Some(id),
            position,
            ..
        }) = &named
            && triggers.iter().any(|other| other.id.as_ref() == Some(id))
        {
            let message = format!("the trigger `{id}` is there already; delete one of them");
            reader.problem(*position, message);
        }
        let Some((kind, is_typed)) = kind(&mut fields, named.as_ref(), reader) else {
            reader.record().has_unread_triggers = true;
            continue;
        };
        kinds.push(kind);
        let config = config(&mut fields, (kind, is_typed), item.position, reader);
        let idempotency_key = fields.take_added("idempotency_key", reader);
        let idempotency_key = idempotency_key.map(|entry| {
            let place = format!("triggers[{}].idempotency_key", kinds.len() - 1);
            reader.template(&entry.value, &place)
        });
        fields.finish(reader);
        reader.record().has_unread_triggers |= config.is_none();
        triggers.extend(config.map(|config| Trigger {
            id: named.and_then(|named| named.id),
            key: key(kind, &kinds),
            config,
            idempotency_key,
            position: item.position,
        }));
    }
    triggers
}

fn named(entry: &Entry, reader: &mut Reader<'_>) -> Option<Named> {
    let text = reader.text(entry)?;
    let position = entry.value.position;
    if text.starts_with(SUBSCRIPTION_PREFIX) {
        let message = format!(
            "`id`: `{text}` is a subscription, whose id means nothing here; the trigger gets a new id"
        );
        reader.warning(position, message);
        return Some(Named {
            id: None,
            kind: TriggerKind::Events,
            position,
        });
    }
    match text.parse::<TriggerId>() {
        Ok(id) => Some(Named {
            kind: id.kind(),
            id: Some(id),
            position,
        }),
        Err(error) => {
            reader.problem(position, format!("`id`: {error}"));
            None
        }
    }
}

/// The kind, from the type or from the id, and whether there is a type.
fn kind(
    fields: &mut Fields<'_>,
    named: Option<&Named>,
    reader: &mut Reader<'_>,
) -> Option<(TriggerKind, bool)> {
    let Some(entry) = fields.take_added("type", reader) else {
        return named.map(|named| (named.kind, false));
    };
    let kind = reader.choice(entry, &TYPES)?;
    if let Some(Named {
        id: Some(id),
        kind: by_id,
        position,
    }) = named
        && *by_id != kind
    {
        let message = format!("`{id}` is the id of a trigger of another type; leave out the `id`");
        reader.problem(*position, message);
    }
    Some((kind, true))
}

/// The type, and the number from the second of its type on.
fn key(kind: TriggerKind, kinds: &[TriggerKind]) -> String {
    let mut types = TYPES.iter();
    let name = types
        .find(|(_, known)| *known == kind)
        .map_or("", |(name, _)| name);
    match kinds.iter().filter(|known| **known == kind).count() {
        0 | 1 => name.to_owned(),
        number => format!("{name}_{number}"),
    }
}

fn config(
    fields: &mut Fields<'_>,
    (kind, is_typed): (TriggerKind, bool),
    position: Position,
    reader: &mut Reader<'_>,
) -> Option<TriggerConfig> {
    let needed: &[&str] = match kind {
        TriggerKind::Http | TriggerKind::Email => &[],
        TriggerKind::Timer => &["cron", "interval_seconds"],
        TriggerKind::Source => &["uses"],
        TriggerKind::Events => &["emitter"],
    };
    let is_there = needed.is_empty() || needed.iter().any(|key| fields.has(key));
    if !is_there && !is_typed {
        return Some(TriggerConfig::NotInFile);
    }
    match kind {
        TriggerKind::Http => Some(TriggerConfig::Http(http(fields, reader))),
        TriggerKind::Timer => schedule(fields, position, reader).map(TriggerConfig::Schedule),
        TriggerKind::Email => Some(TriggerConfig::Email),
        TriggerKind::Source => source(fields, reader).map(TriggerConfig::Source),
        TriggerKind::Events => events(fields, reader).map(TriggerConfig::Events),
    }
}

fn http(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> HttpTrigger {
    let respond = fields.take_added("respond", reader);
    let respond = respond.and_then(|entry| reader.choice(entry, &RESPONSES));
    let is_guarded = fields.has("auth");
    let Some(auth) = fields.take_added("auth", reader) else {
        if is_guarded {
            let message = "`auth` is empty, and everybody could start runs; write `auth: {bearer: …}`, or no `auth`";
            reader.problem(fields.position, message);
        }
        return HttpTrigger {
            respond,
            bearer: None,
        };
    };
    let mut fields = Fields::of(&auth.value, reader);
    let bearer = fields.need("bearer", reader);
    let bearer = bearer.map(|entry| {
        if entry.value.text().is_none_or(|text| text.trim().is_empty()) {
            let message = "`bearer` is a token, such as \"{{process.env.TOKEN}}\"";
            reader.problem(entry.value.position, message);
        }
        reader.template(&entry.value, "triggers.auth.bearer")
    });
    fields.finish(reader);
    HttpTrigger { respond, bearer }
}

fn schedule(
    fields: &mut Fields<'_>,
    position: Position,
    reader: &mut Reader<'_>,
) -> Option<Schedule> {
    let keys = ["cron", "interval_seconds", TIMEZONE].into_iter();
    let entries = keys.filter_map(|key| fields.take_added(key, reader));
    let entries: Vec<&Entry> = entries.collect();
    let found = |key: &str| entries.iter().find(|entry| entry.key == key);
    let (cron, interval) = (found("cron"), found("interval_seconds"));
    if let (Some(_), Some(interval)) = (cron, interval) {
        let message = "a schedule has either `cron` or `interval_seconds`; delete one of them";
        reader.problem(interval.position, message);
    }
    if let (None, Some(timezone)) = (cron, found(TIMEZONE)) {
        let message = "`timezone` has no effect without `cron`";
        reader.warning(timezone.position, message);
    }
    let values = entries.iter();
    let values = values.map(|entry| (entry.key.clone(), entry.value.to_json()));
    match Schedule::parse(&Value::Object(values.collect())) {
        Ok(schedule) => Some(schedule),
        Err(error) => {
            let entry = found(&error.field);
            let field = entry.map_or_else(String::new, |entry| format!("`{}`: ", entry.key));
            let position = entry.map_or(position, |entry| entry.value.position);
            reader.problem(position, format!("{field}{}", error.reason));
            if error.field != TIMEZONE
                && let Some(entry) = found(TIMEZONE)
            {
                timezone(entry, reader);
            }
            None
        }
    }
}

/// Tells a time zone that is not one, where something else keeps the schedule from being read.
fn timezone(entry: &Entry, reader: &mut Reader<'_>) {
    let midnight = json!({ "cron": "0 0 * * *", TIMEZONE: entry.value.to_json() });
    if let Err(error) = Schedule::parse(&midnight)
        && error.field == TIMEZONE
    {
        let message = format!("`{TIMEZONE}`: {}", error.reason);
        reader.problem(entry.value.position, message);
    }
}

fn source(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Option<SourceTrigger> {
    let entry = fields.need("uses", reader)?;
    reader.added(entry.position, "the source of a trigger");
    let text = reader.text(entry)?;
    let uses = step::used(&text, None, entry.value.position, reader);
    let mut props = Map::new();
    if let Some(entry) = fields.take("props") {
        props = match (&entry.value.content, entry.value.to_json()) {
            (Content::Map(_), Value::Object(props)) => props,
            _ => reader
                .unexpected(entry, "props by name")
                .unwrap_or_default(),
        };
    }
    Some(SourceTrigger { uses, props })
}

fn events(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Option<EventsTrigger> {
    let channel = fields.take("channel");
    let channel = channel.and_then(|entry| reader.text(entry));
    let entry = fields.need("emitter", reader)?;
    let text = reader.text(entry)?;
    match text.parse::<EmitterPattern>() {
        Ok(emitter) => Some(EventsTrigger { emitter, channel }),
        Err(error) => {
            reader.problem(entry.value.position, format!("`emitter`: {}", error.reason));
            None
        }
    }
}
