//! `settings`.

use std::{ops::RangeInclusive, time::Duration};

use super::{fields::Fields, policies, reader::Reader};
use crate::{
    definition::{
        retry::Retry,
        settings::{Concurrency, Overflow, Queue, Retention, Settings, Stored, Throttle},
    },
    template::Template,
    yaml::{Content, Entry, Yaml},
};

/// Seconds; a step that takes longer waits for something, and has better means for it.
const TIMEOUTS: RangeInclusive<u32> = 1..=24 * 60 * 60;
const MEMORY_MB: RangeInclusive<u32> = 64..=102_400;
const LIMITS: RangeInclusive<u32> = 0..=1_000_000;
const SIZES: RangeInclusive<u32> = 1..=1_000_000;
const DAYS: RangeInclusive<u32> = 1..=3650;
const RESUME_METHODS: [&str; 5] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

pub(super) fn read(yaml: &Yaml, reader: &mut Reader<'_>) -> Settings {
    let mut fields = Fields::of(yaml, reader);
    let mut settings = Settings::default();
    if let Some(entry) = fields.take("error_notification") {
        settings.notifies_of_errors = reader.flag(entry).unwrap_or_default();
    }
    if let Some(entry) = fields.take("lambda_timeout") {
        let seconds = reader.whole(entry, " of seconds", &TIMEOUTS);
        settings.timeout = seconds.map(|seconds| Duration::from_secs(seconds.into()));
    }
    if let Some(entry) = fields.take_added("notify_first_error", reader) {
        settings.notifies_of_first_error = reader.flag(entry).unwrap_or_default();
    }
    if let Some(entry) = fields.take_added("lambda_memory", reader) {
        settings.memory_mb = reader.whole(entry, " of MB", &MEMORY_MB);
    }
    if let Some(entry) = fields.take_added("auto_retry", reader) {
        settings.auto_retry = auto_retry(entry, reader);
    }
    if let Some(entry) = fields.take_added("concurrency", reader) {
        settings.concurrency = Some(concurrency(entry, reader));
    }
    if let Some(entry) = fields.take_added("throttle", reader) {
        settings.throttle = Some(throttle(entry, reader));
    }
    if let Some(entry) = fields.take_added("queue", reader) {
        settings.queue = queue(entry, reader);
    }
    if let Some(entry) = fields.take_added("data_retention", reader) {
        settings.retention = retention(entry, reader);
    }
    if let Some(entry) = fields.take_added("resume_methods", reader) {
        settings.resume_methods = Some(resume_methods(entry, reader));
    }
    fields.finish(reader);
    settings
}

fn auto_retry(entry: &Entry, reader: &mut Reader<'_>) -> Option<Retry> {
    match &entry.value.content {
        Content::Bool(false) => None,
        Content::Bool(true) => Some(Retry::automatic()),
        Content::Map(_) => Some(policies::retry(&entry.value, reader)),
        _ => reader.unexpected(
            entry,
            "true, false or {attempts, initial, factor, max, jitter, on}",
        ),
    }
}

fn concurrency(entry: &Entry, reader: &mut Reader<'_>) -> Concurrency {
    let mut fields = Fields::of(&entry.value, reader);
    let limit = limit(&mut fields, reader);
    let key = key(&mut fields, "settings.concurrency.key", reader);
    fields.finish(reader);
    Concurrency { limit, key }
}

fn throttle(entry: &Entry, reader: &mut Reader<'_>) -> Throttle {
    let mut fields = Fields::of(&entry.value, reader);
    let limit = limit(&mut fields, reader);
    let per = fields.need("per", reader);
    let per = per.and_then(|entry| reader.span(entry, Duration::from_millis(1)));
    let key = key(&mut fields, "settings.throttle.key", reader);
    fields.finish(reader);
    Throttle {
        limit,
        per: per.unwrap_or_default(),
        key,
    }
}

fn limit(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> u32 {
    let entry = fields.need("limit", reader);
    let limit = entry.and_then(|entry| reader.whole(entry, "", &LIMITS));
    limit.unwrap_or_default()
}

fn key(fields: &mut Fields<'_>, place: &str, reader: &mut Reader<'_>) -> Option<Template> {
    let entry = fields.take("key")?;
    Some(reader.template(&entry.value, place))
}

fn queue(entry: &Entry, reader: &mut Reader<'_>) -> Queue {
    let mut fields = Fields::of(&entry.value, reader);
    let mut queue = Queue::default();
    if let Some(entry) = fields.take("size") {
        queue.size = reader.whole(entry, "", &SIZES).unwrap_or(queue.size);
    }
    if let Some(entry) = fields.take("overflow") {
        let choices = [("reject", Overflow::Reject), ("oldest", Overflow::Oldest)];
        queue.overflow = reader.choice(entry, &choices).unwrap_or(queue.overflow);
    }
    fields.finish(reader);
    queue
}

fn retention(entry: &Entry, reader: &mut Reader<'_>) -> Retention {
    let mut fields = Fields::of(&entry.value, reader);
    let days = fields.take("days");
    let days = days.and_then(|entry| reader.whole(entry, " of days", &DAYS));
    let choices = [
        ("all", Stored::All),
        ("errors", Stored::Errors),
        ("none", Stored::None),
    ];
    let stored = fields.take("store");
    let stored = stored.and_then(|entry| reader.choice(entry, &choices));
    fields.finish(reader);
    Retention {
        days,
        stored: stored.unwrap_or_default(),
    }
}

fn resume_methods(entry: &Entry, reader: &mut Reader<'_>) -> Vec<String> {
    let items = match &entry.value.content {
        Content::Text(_) => std::slice::from_ref(&entry.value),
        _ => reader.list(entry),
    };
    let mut methods = Vec::new();
    for item in items {
        let method = item.text().unwrap_or_default().to_ascii_uppercase();
        match RESUME_METHODS.contains(&method.as_str()) {
            true => methods.push(method),
            false => {
                let known = RESUME_METHODS.join(", ");
                let message = format!("`resume_methods` are methods that resume a wait: {known}");
                reader.problem(item.position, message);
            }
        }
    }
    if items.is_empty() {
        let message = "`resume_methods` names no method, and nothing could resume a wait; name one";
        reader.problem(entry.value.position, message);
    }
    methods
}
