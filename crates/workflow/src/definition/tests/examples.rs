//! The whole files.

use std::time::Duration;

use serde_json::json;

use super::{ORDERS, SYNCED, node, read, step};
use crate::{
    check::additions,
    definition::{
        ComponentReference, Condition, LoopSource, Mode, NodeKind, OnError, Retry, StepCode,
        Template, TriggerConfig,
    },
};

fn component(key: &str, version: &str) -> StepCode {
    StepCode::Component(ComponentReference {
        key: key.to_owned(),
        version: Some(version.to_owned()),
        is_private: false,
        workspace: None,
    })
}

#[test]
fn the_example_of_the_reference_is_read_whole() {
    let definition = read(ORDERS);
    assert_eq!(definition.name, "New orders to Slack");
    assert!(definition.is_active);
    let paths: Vec<_> = definition
        .paths()
        .into_iter()
        .map(|(path, _)| path.to_string())
        .collect();
    assert_eq!(
        paths,
        [
            "enrich",
            "route",
            "route.large.approve",
            "route.large.fan_out",
            "route.large.fan_out.lines.each_line",
            "route.large.fan_out.lines.each_line.reserve",
            "route.large.fan_out.sales.tell_sales",
            "route.large.cool_off",
            "route.large.follow_up",
            "route.else.note",
            "mark",
            "on_error.alarm",
        ]
    );
    let enrich = node(&definition, "enrich");
    assert_eq!(enrich.timeout, Some(Duration::from_secs(20)));
    let retry = Retry {
        attempts: 5,
        initial: Duration::from_secs(2),
        factor: 3.0,
        max: Duration::from_mins(5),
        ..Retry::default()
    };
    assert_eq!(enrich.retry, Some(retry));
    assert_eq!(
        step(&definition, "enrich").code,
        StepCode::File("enrich/entry.js".to_owned())
    );
    let note = step(&definition, "route.else.note");
    assert_eq!(note.code, component("slack-send-message", "0.0.20"));
    assert_eq!(
        note.props["text"],
        json!({ "$template": [{
            "expression": "`Order ${steps.trigger.event.id}: ${steps.enrich.$return_value.total} EUR`"
        }] })
    );
    let reserve = node(
        &definition,
        "route.large.fan_out.lines.each_line[3].reserve",
    );
    assert_eq!(reserve.on_error, OnError::Continue);
}

#[test]
fn the_blocks_of_the_example_are_as_they_are_written() {
    let definition = read(ORDERS);
    let NodeKind::IfElse(route) = &node(&definition, "route").kind else {
        panic!("it is an ifelse");
    };
    let condition = Condition::expression("steps.enrich.$return_value.total >= 1000");
    assert_eq!(route.branches[0].condition, Some(condition));
    let NodeKind::Parallel(fan_out) = &node(&definition, "route.large.fan_out").kind else {
        panic!("it is a parallel");
    };
    assert_eq!(fan_out.mode, Mode::Settle);
    assert!(
        fan_out
            .branches
            .iter()
            .all(|branch| branch.condition.is_none())
    );
    let NodeKind::Loop(each) = &node(&definition, "route.large.fan_out.lines.each_line").kind
    else {
        panic!("it is a loop");
    };
    let over = Template::expression("steps.enrich.$return_value.lines");
    assert_eq!(each.source, LoopSource::Over(over));
    assert_eq!(
        (each.item_name.as_deref(), each.concurrency),
        (Some("line"), 4)
    );
    let settings = &definition.settings;
    let concurrency = settings.concurrency.as_ref().unwrap();
    assert_eq!(concurrency.limit, 1);
    assert_eq!(
        concurrency.key,
        Some(Template::expression("steps.trigger.event.customer_id"))
    );
    let throttle = settings.throttle.as_ref().unwrap();
    assert_eq!((throttle.limit, throttle.per), (50, Duration::from_mins(1)));
    assert_eq!(settings.auto_retry, Some(Retry::automatic()));
    let TriggerConfig::Source(source) = &definition.triggers[0].config else {
        panic!("it is a source");
    };
    assert_eq!(source.uses, component("postgresql-new-row", "3.0.8"));
    assert_eq!(source.props["timer"], json!({ "intervalSeconds": 60 }));
}

#[test]
fn the_additions_of_the_example_are_told_in_the_order_of_the_file() {
    let additions = additions(&read(ORDERS));
    let additions: Vec<_> = additions.iter().map(ToString::to_string).collect();
    let expected = [
        "line 6, column 3: note: Pipedream would not know `auto_retry`",
        "line 10, column 3: note: Pipedream would not know `type`",
        "line 15, column 3: note: enrich: Pipedream would not know a step without `uses`",
        "line 17, column 3: note: enrich: Pipedream would not know `timeout`",
        "line 62, column 1: note: Pipedream would not know `on_error`",
    ];
    for text in expected {
        assert!(
            additions.iter().any(|found| found == text),
            "{text}: {additions:#?}"
        );
    }
    let lines = additions
        .iter()
        .map(|text| text.split([' ', ',']).nth(1).unwrap().parse::<u32>());
    let lines: Vec<u32> = lines.map(Result::unwrap).collect();
    assert!(lines.is_sorted(), "{additions:#?}");
}

#[test]
fn a_synced_file_is_read_without_additions() {
    let definition = read(SYNCED);
    assert!(!definition.is_active);
    assert!(!definition.settings.notifies_of_errors);
    assert_eq!(definition.settings.timeout, Some(Duration::from_secs(45)));
    assert_eq!(additions(&definition), []);
    let validate = node(&definition, "validate");
    assert_eq!(validate.notes.as_deref(), Some("Older files say `note`."));
    let row = node(&definition, "add_single_row");
    assert!(row.is_disabled);
    assert_eq!(row.notes.as_deref(), Some("# Adds a row\n\nto the sheet"));
    let row = step(&definition, "add_single_row");
    assert_eq!(row.runtime.as_deref(), Some("nodejs18.x"));
    assert_eq!(row.props_cursor.as_deref(), Some("dyp_aB3dE6g"));
    assert_eq!(row.code, component("google_sheets-add-single-row", "2.1.2"));
    assert_eq!(
        step(&definition, "mine").code,
        StepCode::Component(ComponentReference {
            key: "my-step".to_owned(),
            version: Some("0.0.1".to_owned()),
            is_private: true,
            workspace: Some("somebody".to_owned()),
        })
    );
    assert_eq!(
        step(&definition, "select_offset").code,
        StepCode::Foreign {
            runtime: "python3.12".to_owned(),
            file: "select_offset/entry.py".to_owned(),
        }
    );
    let props = &step(&definition, "select_offset").props;
    assert_eq!(
        props.keys().collect::<Vec<_>>(),
        ["spotify"],
        "the editor's own keys are not props"
    );
}

#[test]
fn props_of_a_synced_file_are_compiled_as_they_are_written() {
    let definition = read(SYNCED);
    let expression = |text: &str| json!({ "$template": [{ "expression": text }] });
    let expected = json!({
        "googleSheets": { "authProvisionId": "apn_aB3dE6" },
        "dataStore": { "storeId": "ds_aB3dE6" },
        "sheetId": { "__lv": { "label": "Guestbook", "value": "1RLsXyZ" } },
        "hasHeaders": "Yes",
        "quantity": 1,
        "col_0000": expression("steps.trigger.event.body.name.replace(/<.*?>/g,'')"),
        "list": expression("steps.validate.$return_value"),
        "path": { "$template": ["/out/", { "expression": "steps.validate.$return_value.trim()" }] },
        "stamp": expression("`${(new Date()).getDate()}-${(new Date()).getMonth()+1}`"),
        "urls": ["https://example.com/rss\n"],
    });
    let props = &step(&definition, "add_single_row").props;
    assert_eq!(json!(props), expected);
    let keys: Vec<_> = props.keys().collect();
    assert_eq!(keys[..3], ["googleSheets", "dataStore", "sheetId"]);
}

#[test]
fn the_built_in_filter_is_an_end_under_its_rules() {
    let filter = |continues: &str| {
        let continues = format!("continue: {continues}");
        let text = SYNCED.replace("continue: 'false'", &continues);
        let definition = read(&text);
        let node = node(&definition, "End_if_output");
        assert!(matches!(node.kind, NodeKind::End(_)));
        node.condition.clone().unwrap().as_value().clone()
    };
    let holds = json!({ "and": [{
        "op": "text_matches",
        "a": { "$template": [{ "expression": "steps.validate.$return_value" }] },
        "b": "/output/",
    }] });
    assert_eq!(
        filter("'false'"),
        holds,
        "it ends the run when the rules hold"
    );
    assert_eq!(filter("false"), holds);
    assert_eq!(
        filter("'true'"),
        json!({ "not": holds }),
        "it ends the run unless they do"
    );
}

#[test]
fn a_file_that_is_read_again_is_the_same_definition() {
    for text in [ORDERS, SYNCED] {
        assert_eq!(read(text), read(text));
    }
    let windows = ORDERS.replace('\n', "\r\n");
    assert_eq!(read(&windows).steps, read(ORDERS).steps);
}
