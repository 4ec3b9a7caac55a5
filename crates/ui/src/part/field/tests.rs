//! Fields show what they are given as text, and secrets never.

use std::collections::BTreeMap;

use headwater_model::time::EpochMs;
use headwater_platform::HealthStatus;
use serde_json::{Value, json};

use super::*;
use crate::form::{Part, fill};

fn prop(definition: Value) -> PropDefinition {
    serde_json::from_value(definition).unwrap()
}

fn shown_with(prop: PropDefinition, entered: &Entered, around: &Surroundings) -> String {
    fields(&[prop], entered, &[], around).into_string()
}

fn shown_of(prop: PropDefinition, entered: &Entered) -> String {
    shown_with(prop, entered, &Surroundings::default())
}

#[test]
fn a_secret_is_never_part_of_a_page() {
    for type_name in ["string", "string[]", "integer", "object"] {
        let prop =
            prop(json!({"name": "key", "type": type_name, "secret": true, "default": "s3cret"}));
        let mut entered = Entered::default();
        entered.set(Part::Value, "key", "s3cret");
        entered.set(Part::Own, "key", "s3cret");
        let html = shown_of(prop.clone(), &entered);
        assert!(
            !html.contains("s3cret") && html.contains("enter it again"),
            "{html}"
        );
        let around = Surroundings {
            kept: vec!["key".to_owned()],
            ..Surroundings::default()
        };
        assert!(shown_with(prop, &Entered::default(), &around).contains("kept if empty"));
    }
}

#[test]
fn text_of_components_and_of_people_is_never_markup() {
    const EVIL: &str = "\"><script>alert(1)</script>";
    for type_name in [
        "string",
        "string[]",
        "integer",
        "boolean",
        "object",
        "any",
        "sql",
        "app",
        "alert",
        "dir",
        "data_store",
        "http_request",
        "$.interface.timer",
        "$.interface.http",
        "$.interface.apphook",
        "$.service.x",
        "unknown",
    ] {
        for options in [json!(null), json!([EVIL, {"label": EVIL, "value": EVIL}])] {
            let definition = json!({
                "name": EVIL, "type": type_name, "label": EVIL, "description": EVIL, "content": EVIL,
                "app": EVIL, "options": options, "alertType": EVIL, "reloadProps": true, "has_options": true,
            });
            let prop = prop(definition);
            let mut entered = Entered::default();
            for part in [
                Part::Value,
                Part::Own,
                Part::Kind,
                Part::Every,
                Part::Unit,
                Part::Cron,
                Part::Zone,
                Part::Url,
                Part::Method,
                Part::Loaded,
                Part::Basis,
                Part::Query,
            ] {
                entered.set(part, EVIL, EVIL);
            }
            let around = Surroundings {
                form: EVIL.to_owned(),
                apps: BTreeMap::from([(EVIL.to_owned(), EVIL.to_owned())]),
                accounts: vec![AccountChoice {
                    id: EVIL.to_owned(),
                    app: EVIL.to_owned(),
                    name: EVIL.to_owned(),
                    status: HealthStatus::Unknown,
                    can_be_checked: true,
                }],
                stores: vec![EVIL.to_owned()],
                endpoints: vec![(EVIL.to_owned(), EVIL.to_owned())],
                kept: Vec::new(),
                now_ms: EpochMs(0),
            };
            let wrong = [Wrong {
                prop: EVIL.to_owned(),
                reason: EVIL.to_owned(),
            }];
            let props = [prop];
            let html = fields(&props, &entered, &wrong, &around).into_string()
                + &summary(&props, &wrong).into_string();
            assert!(!html.contains("<script"), "{type_name}: {html}");
        }
    }
}

#[test]
fn a_wrong_value_stays_and_is_tied_to_its_reason() {
    let prop = prop(json!({"name": "count", "type": "integer", "label": "Count"}));
    let mut entered = Entered::default();
    entered.set(Part::Value, "count", "seven");
    let wrong = [Wrong {
        prop: "count".to_owned(),
        reason: "is not a number".to_owned(),
    }];
    let props = [prop];
    let html = fields(&props, &entered, &wrong, &Surroundings::default()).into_string();
    for expected in [
        "value=\"seven\"",
        "aria-invalid=\"true\"",
        "aria-describedby=\"p0-wrong p0-hint\"",
        "id=\"p0-wrong\"",
        "<label for=\"p0\">",
    ] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    let html = summary(&props, &wrong).into_string();
    assert!(
        html.contains("<a href=\"#p0\"><bdi>Count</bdi></a>: <bdi>is not a number"),
        "{html}"
    );
}

#[test]
fn a_picked_option_is_shown_with_its_label_before_options_are_loaded() {
    let prop = prop(json!({"name": "board", "type": "string", "has_options": true}));
    let mut entered = Entered::default();
    let html = shown_of(prop.clone(), &entered);
    assert!(
        html.contains("<input id=\"p0\"") && html.contains("value=\"load:board\""),
        "{html}"
    );
    fill(
        &prop,
        &json!({"__lv": {"label": "Roadmap", "value": "b1"}}),
        &mut entered,
    );
    let html = shown_of(prop, &entered);
    assert!(html.contains("selected>Roadmap</option>"), "{html}");
}

#[test]
fn the_next_times_of_a_timer_are_told() {
    let prop = prop(json!({"name": "timer", "type": "$.interface.timer"}));
    let mut entered = Entered::default();
    let html = shown_of(prop.clone(), &entered);
    assert!(html.contains("every 15 minutes: the next times"), "{html}");
    fill(
        &prop,
        &json!({"cron": "0 9 * * *", "timezone": "UTC"}),
        &mut entered,
    );
    let html = shown_of(prop.clone(), &entered);
    assert_eq!(html.matches("<li>").count(), 5, "{html}");
    entered.set(Part::Cron, "timer", "nonsense");
    assert!(!shown_of(prop, &entered).contains("the next times"));
}

#[test]
fn hidden_and_disabled_props_have_no_field() {
    for attribute in ["hidden", "disabled"] {
        let prop = prop(json!({"name": "p", "type": "string", attribute: true}));
        assert_eq!(shown_of(prop, &Entered::default()), "");
    }
}
