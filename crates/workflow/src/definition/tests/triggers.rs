//! Triggers.

use headwater_model::{schedule::Schedule, subscription::EmitterPattern};
use serde_json::json;

use super::{SYNCED, problems, read, warnings, with};
use crate::definition::{
    EventsTrigger, HttpResponse, HttpTrigger, SourceTrigger, StepCode, Template, Trigger,
    TriggerConfig,
};

fn triggers(text: &str) -> Vec<Trigger> {
    with(&format!("triggers:\n{text}")).triggers
}

fn config(text: &str) -> TriggerConfig {
    let mut triggers = triggers(text);
    assert_eq!(triggers.len(), 1);
    triggers.remove(0).config
}

#[test]
fn an_http_trigger_may_say_who_answers_and_ask_for_a_token() {
    assert_eq!(
        config("- type: http"),
        TriggerConfig::Http(HttpTrigger::default())
    );
    let text = "- type: http\n  respond: workflow\n  auth: { bearer: '{{process.env.TOKEN}}' }\n";
    assert_eq!(
        config(text),
        TriggerConfig::Http(HttpTrigger {
            respond: Some(HttpResponse::Workflow),
            bearer: Some(Template::expression("process.env.TOKEN")),
        })
    );
    let TriggerConfig::Http(http) = config("- { type: http, respond: default }") else {
        panic!("it is http");
    };
    assert_eq!(http.respond, Some(HttpResponse::Default));
}

#[test]
fn a_schedule_has_an_interval_or_a_cron_expression_with_a_time_zone() {
    assert_eq!(
        config("- { type: schedule, interval_seconds: 90 }"),
        TriggerConfig::Schedule(Schedule::Interval { seconds: 90 })
    );
    assert_eq!(
        config("- { type: schedule, cron: '0 9 * * 1', timezone: Europe/Vienna }"),
        TriggerConfig::Schedule(Schedule::Cron {
            expression: "0 9 * * 1".to_owned(),
            timezone: "Europe/Vienna".to_owned(),
        })
    );
    let found = warnings("triggers:\n- { type: schedule, interval_seconds: 90, timezone: UTC }\n");
    assert!(
        found[0].contains("`timezone` has no effect without `cron`"),
        "{found:?}"
    );
}

#[test]
fn the_other_types_are_mail_sources_and_events() {
    assert_eq!(config("- type: email"), TriggerConfig::Email);
    assert_eq!(
        config("- { type: source, uses: ./feed.ts, props: { url: '{{a}}', n: 1 } }"),
        TriggerConfig::Source(SourceTrigger {
            uses: StepCode::File("feed.ts".to_owned()),
            props: json!({ "url": "{{a}}", "n": 1 })
                .as_object()
                .unwrap()
                .clone(),
        })
    );
    assert_eq!(
        config("- { type: events, emitter: 'dc_*', channel: alarms }"),
        TriggerConfig::Events(EventsTrigger {
            emitter: EmitterPattern::AllSources,
            channel: Some("alarms".to_owned()),
        })
    );
}

#[test]
fn synced_triggers_have_an_id_alone_and_some_keep_their_configuration_to_themselves() {
    let definition = read(SYNCED);
    let found: Vec<_> = definition
        .triggers
        .iter()
        .map(|trigger| {
            let id = trigger.id.as_ref().map(|id| id.as_str());
            (
                id,
                trigger.key.as_str(),
                trigger.config.as_str(),
                trigger.position.line,
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            (Some("hi_aB3dE6g"), "http", Some("http"), 8),
            (Some("ti_aB3dE6g"), "schedule", None, 9),
            (Some("ei_aB3dE6"), "email", Some("email"), 10),
            (Some("dc_aB3dE6g"), "source", None, 11),
            (None, "events", None, 12),
        ]
    );
}

#[test]
fn an_id_may_stand_beside_a_configuration() {
    let text = "- id: ti_aB3dE6g\n  cron: 0 9 * * *\n- id: dc_aB3dE6g\n  type: source\n  uses: rss-new@1.0.0\n";
    let triggers = triggers(text);
    assert!(matches!(triggers[0].config, TriggerConfig::Schedule(_)));
    assert!(matches!(triggers[1].config, TriggerConfig::Source(_)));
}

#[test]
fn triggers_of_one_type_are_told_apart_by_their_number() {
    let text = "- type: http\n- type: email\n- type: http\n- type: http\n  idempotency_key: '{{event.id}}'\n";
    let triggers = triggers(text);
    let keys: Vec<_> = triggers
        .iter()
        .map(|trigger| trigger.key.as_str())
        .collect();
    assert_eq!(keys, ["http", "email", "http_2", "http_3"]);
    assert_eq!(
        triggers[3].idempotency_key,
        Some(Template::expression("event.id"))
    );
}

/// Texts, and the beginnings or parts of what is said about them.
const MISTAKES: &[(&str, &str)] = &[
    ("- {}", "line 3, column 3: error: a trigger has a `type`"),
    (
        "- http",
        "line 3, column 3: error: expected keys with values, and there is text",
    ),
    (
        "- type: webhook",
        "line 3, column 9: error: `type` is `webhook`; expected `http` or `schedule` or",
    ),
    (
        "- id: p_aB3dE6g",
        "line 3, column 7: error: `id`: `p_aB3dE6g` is not a trigger id",
    ),
    (
        "- id: hi_aB3dE6g\n- id: hi_aB3dE6g",
        "line 4, column 7: error: the trigger `hi_aB3dE6g` is there already",
    ),
    (
        "- id: hi_aB3dE6g\n  type: email",
        "line 3, column 7: error: `hi_aB3dE6g` is the id of a trigger of another type",
    ),
    (
        "- type: http\n  respond: me",
        "line 4, column 12: error: `respond` is `me`; expected `default` or `workflow`",
    ),
    (
        "- type: http\n  auth:",
        "`auth` is empty, and everybody could start runs",
    ),
    (
        "- type: http\n  auth: {}",
        "line 4, column 9: error: `bearer` is missing here",
    ),
    (
        "- type: http\n  auth: {bearer: ' '}",
        "line 4, column 18: error: `bearer` is a token",
    ),
    (
        "- type: schedule",
        "line 3, column 3: error: give `interval_seconds` or `cron`",
    ),
    (
        "- type: schedule\n  cron: every day",
        "line 4, column 9: error: `cron`: `every day` is not a cron expression",
    ),
    (
        "- type: schedule\n  cron: 0 9 * * *\n  timezone: Wien",
        "line 5, column 13: error: `timezone`: `Wien` is not an IANA time zone",
    ),
    (
        "- type: schedule\n  interval_seconds: 0",
        "line 4, column 21: error: `interval_seconds`: expected an integer",
    ),
    (
        "- type: schedule\n  cron: 0 9 * * *\n  interval_seconds: 5",
        "line 5, column 3: error: a schedule has either",
    ),
    (
        "- type: source",
        "line 3, column 3: error: `uses` is missing here",
    ),
    (
        "- type: source\n  uses: a b",
        "line 4, column 9: error: `a b` is not a component",
    ),
    (
        "- type: source\n  uses: a@1\n  props: []",
        "line 5, column 10: error: `props` is a list; expected props by name",
    ),
    (
        "- type: events",
        "line 3, column 3: error: `emitter` is missing here",
    ),
    (
        "- type: events\n  emitter: mine",
        "line 4, column 12: error: `emitter`: `mine` is neither",
    ),
    (
        "  a: 1",
        "line 3, column 3: error: `triggers` is keys with values; expected a list",
    ),
];

#[test]
fn mistakes_in_triggers_are_told_with_their_places() {
    for (text, expected) in MISTAKES {
        let found = problems(&format!("triggers:\n{text}"));
        assert!(found[0].contains(expected), "{text}: {found:?}");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}
