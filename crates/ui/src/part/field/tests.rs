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
        entered.set(Part::Item, "key", "s3cret");
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

/// The parts of a prop that a form may bring.
const PARTS: [Part; 13] = [
    Part::Value,
    Part::Own,
    Part::Item,
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
];

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
            for part in PARTS {
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
                    used_at_ms: None,
                }],
                stores: vec![EVIL.to_owned()],
                endpoints: vec![(EVIL.to_owned(), EVIL.to_owned())],
                kept: Vec::new(),
                now_ms: EpochMs(0),
            };
            let wrong = [Wrong {
                prop: EVIL.to_owned(),
                reason: EVIL.to_owned(),
                kind: WrongKind::Unfit,
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
        kind: WrongKind::Unfit,
    }];
    let props = [prop];
    let html = fields(&props, &entered, &wrong, &Surroundings::default()).into_string();
    for expected in [
        "value=\"seven\"",
        "aria-invalid=\"true\"",
        "aria-describedby=\"p0-wrong p0-hint\"",
        "id=\"p0-wrong\" data-fault=\"unfit\"",
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
fn errors_of_one_kind_have_one_heading() {
    let props = ["a", "b", "c", "d"].map(|name| prop(json!({"name": name, "type": "string"})));
    let wrong = |prop: &str, kind| Wrong {
        prop: prop.to_owned(),
        reason: "no".to_owned(),
        kind,
    };
    let wrong = [
        wrong("a", WrongKind::Missing),
        wrong("b", WrongKind::Unfit),
        wrong("c", WrongKind::Missing),
        wrong("d", WrongKind::Undone("It was not deployed")),
    ];
    let html = summary(&props, &wrong).into_string();
    let headings = [
        "2 values are missing",
        "One value does not fit",
        "It was not deployed",
    ];
    let found = headings.map(|heading| html.matches(heading).count());
    assert_eq!(found, [1, 1, 1], "{html}");
    assert_eq!(html.matches("<h2>").count(), 3, "{html}");
    assert_eq!(html.matches("<li>").count(), 4, "{html}");
}

#[test]
fn an_account_that_was_not_checked_is_in_use_where_a_run_succeeded_with_it() {
    let shown = |used_at_ms| {
        let around = Surroundings {
            accounts: vec![AccountChoice {
                id: "apn_1".to_owned(),
                app: "shop".to_owned(),
                name: "Work".to_owned(),
                status: HealthStatus::Unknown,
                can_be_checked: false,
                used_at_ms,
            }],
            now_ms: EpochMs(60_000),
            ..Surroundings::default()
        };
        let prop = prop(json!({"name": "shop", "type": "app", "app": "shop"}));
        shown_with(prop, &Entered::default(), &around)
    };
    let unknown = shown(None);
    assert!(
        unknown.contains("not checked") && unknown.contains("no test for this app"),
        "{unknown}"
    );
    let used = shown(Some(EpochMs(53_000)));
    assert!(
        used.contains("in use") && used.contains("7 s ago") && !used.contains("no test"),
        "{used}"
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

#[test]
fn a_list_has_lines_and_fields_for_its_items() {
    let list = |type_name: &str, lines: &str, items: &[&str]| {
        let prop = prop(json!({"name": "l", "type": type_name, "label": "Tags"}));
        let mut entered = Entered::default();
        entered.set(Part::Own, "l", lines);
        for item in items {
            entered.add(Part::Item, "l", *item);
        }
        shown_of(prop, &entered)
    };
    let html = list("string[]", "a\nb", &[]);
    for part in [
        "data-list=\"[&quot;a&quot;,&quot;b&quot;]\"",
        "data-title=\"Tags\"",
        "name=\"own.l\"",
        "name=\"item.l\"",
        "\na\nb</textarea>",
    ] {
        assert!(html.contains(part), "{part}: {html}");
    }
    // Items of fields come back whole where lines would change them.
    let html = list("string[]", "", &[" x", "[1]"]);
    assert!(
        html.contains("data-list=\"[&quot; x&quot;,&quot;[1]&quot;]\""),
        "{html}"
    );
    assert!(html.contains("\n[\n  &quot; x&quot;"), "{html}");
    let html = list("object[]", "{\"a\": 1}", &[]);
    assert!(
        !html.contains("data-list") && html.contains("data-editor"),
        "{html}"
    );
    let html = list("integer[]", "1\ntwo", &[]);
    assert!(
        html.contains("inputmode=\"numeric\"") && html.contains("1\ntwo</textarea>"),
        "{html}"
    );
}

#[test]
fn a_list_of_secrets_is_never_readable() {
    let prop = prop(json!({"name": "keys", "type": "string[]", "secret": true, "label": "Keys"}));
    let mut entered = Entered::default();
    let html = shown_of(prop.clone(), &entered);
    // One of them is for the script.
    assert_eq!(html.matches("type=\"password\"").count(), 4, "{html}");
    assert!(!html.contains("<textarea"), "{html}");
    for key in ["k1", "k2"] {
        entered.add(Part::Item, "keys", key);
    }
    let html = shown_of(prop, &entered);
    assert_eq!(html.matches("type=\"password\"").count(), 6, "{html}");
}

#[test]
fn many_options_of_a_list_are_chosen_in_one_field() {
    let shown = |count: usize| {
        let options: Vec<_> = (0..count).map(|at| format!("o{at}")).collect();
        shown_of(
            prop(json!({"name": "p", "type": "string[]", "options": options})),
            &Entered::default(),
        )
    };
    assert!(!shown(8).contains("data-chooses"));
    assert!(shown(9).contains("data-chooses=\"many\""));
}
