//! Every type of prop from fields to a value and back.

use super::*;

fn prop(definition: Value) -> PropDefinition {
    serde_json::from_value(definition).unwrap()
}

fn of_type(type_name: &str) -> PropDefinition {
    prop(json!({"name": "p", "type": type_name}))
}

fn entered(fields: &[(&str, &str)]) -> Entered {
    let owned = fields
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    Entered::new(owned.collect())
}

/// The value of `p`, or the reason why it has none.
fn value_of(prop: &PropDefinition, fields: &[(&str, &str)]) -> Result<Value, String> {
    let mut given = read_all(std::slice::from_ref(prop), &entered(fields));
    match given.wrong.pop() {
        Some(wrong) => Err(wrong.reason),
        None => Ok(given.values.remove("p").unwrap_or_default()),
    }
}

/// The fields of a form.
type Fields<'a> = &'a [(&'a str, &'a str)];

/// Checks what the fields of props of these types mean.
fn are_read(cases: &[(&str, Fields<'_>, Value)]) {
    for (type_name, fields, expected) in cases {
        assert_eq!(
            value_of(&of_type(type_name), fields),
            Ok(expected.clone()),
            "{type_name} {fields:?}"
        );
    }
}

#[test]
fn single_values_are_read_as_the_type_says() {
    are_read(&[
        ("string", &[("prop.p", "text")][..], json!("text")),
        ("string", &[("prop.p", " 7 ")], json!(" 7 ")),
        ("string", &[("prop.p", "")], json!(null)),
        (
            "string",
            &[("prop.p", "chosen"), ("own.p", "typed")],
            json!("typed"),
        ),
        ("integer", &[("prop.p", " 7 ")], json!(7)),
        ("integer", &[("prop.p", "-7")], json!(-7)),
        (
            "integer",
            &[("prop.p", "18446744073709551615")],
            json!(u64::MAX),
        ),
        ("boolean", &[("prop.p", "true")], json!(true)),
        ("boolean", &[("prop.p", "false")], json!(false)),
        ("boolean", &[], json!(null)),
        ("object", &[("prop.p", "{\"a\": [1]}")], json!({"a": [1]})),
        ("object", &[("prop.p", "[{}]")], json!("[{}]")),
        ("any", &[("prop.p", "7")], json!(7)),
        ("any", &[("prop.p", "seven")], json!("seven")),
        ("any", &[("prop.p", "\"7\"")], json!("7")),
        ("sql", &[("prop.p", "select 1")], json!("select 1")),
        (
            "sql",
            &[("prop.p", "{\"query\": \"select 1\"}")],
            json!({"query": "select 1"}),
        ),
        ("unknown", &[("prop.p", "x")], json!("x")),
    ]);
}

#[test]
fn lists_are_read_item_by_item() {
    are_read(&[
        (
            "string[]",
            &[("own.p", "a\r\n\r\n b \r\n")],
            json!(["a", "b"]),
        ),
        (
            "string[]",
            &[("prop.p", "a"), ("prop.p", "b"), ("own.p", "c")],
            json!(["a", "b", "c"]),
        ),
        ("string[]", &[("own.p", "[\"a\\nb\"]")], json!(["a\nb"])),
        ("string[]", &[("own.p", " \n")], json!(null)),
        ("integer[]", &[("own.p", "1\n2")], json!([1, 2])),
        (
            "boolean[]",
            &[("own.p", "true\nfalse")],
            json!([true, false]),
        ),
        (
            "object[]",
            &[("own.p", "{\"a\": 1}\n{}")],
            json!([{"a": 1}, {}]),
        ),
        ("any[]", &[("own.p", "1\ntwo")], json!([1, "two"])),
        (
            "app",
            &[("prop.p", "apn_1")],
            json!({"authProvisionId": "apn_1"}),
        ),
    ]);
}

#[test]
fn what_has_several_fields_is_read_from_all_of_them() {
    are_read(&[
        ("app", &[], json!(null)),
        ("data_store", &[("prop.p", " seen ")], json!("seen")),
        (
            "http_request",
            &[("url.p", " https://a.example ")],
            json!({"url": "https://a.example"}),
        ),
        (
            "http_request",
            &[
                ("prop.p", "{\"headers\": {\"x\": \"1\"}}"),
                ("url.p", "https://a"),
                ("method.p", "POST"),
            ],
            json!({"headers": {"x": "1"}, "url": "https://a", "method": "POST"}),
        ),
        (
            "http_request",
            &[("url.p", ""), ("prop.p", " ")],
            json!(null),
        ),
        (
            "$.interface.timer",
            &[
                ("kind.p", "interval"),
                ("every.p", "5"),
                ("unit.p", "minutes"),
            ],
            json!({"interval_seconds": 300}),
        ),
        (
            "$.interface.timer",
            &[
                ("kind.p", "cron"),
                ("cron.p", " 0 9 * * * "),
                ("zone.p", "Europe/Vienna"),
            ],
            json!({"cron": "0 9 * * *", "timezone": "Europe/Vienna"}),
        ),
        (
            "$.interface.timer",
            &[("kind.p", "cron"), ("cron.p", "0 9 * * *"), ("zone.p", "")],
            json!({"cron": "0 9 * * *", "timezone": "UTC"}),
        ),
        (
            "$.interface.timer",
            &[("kind.p", ""), ("every.p", "5")],
            json!(null),
        ),
        ("$.interface.http", &[("prop.p", "x")], json!(null)),
        ("$.service.db", &[("prop.p", "x")], json!(null)),
        ("$.interface.apphook", &[("prop.p", "x")], json!(null)),
        ("alert", &[("prop.p", "x")], json!(null)),
        ("dir", &[("prop.p", "x")], json!(null)),
    ]);
}

/// Checks the reasons why the fields of props of these types mean nothing.
fn are_refused(cases: &[(&str, Fields<'_>, &str)]) {
    for (type_name, fields, expected) in cases {
        let reason = value_of(&of_type(type_name), fields).expect_err(type_name);
        assert!(
            reason.contains(expected),
            "{type_name} {fields:?}: {reason}"
        );
    }
}

#[test]
fn faults_of_single_values_and_lists_are_told_in_words() {
    are_refused(&[
        (
            "integer",
            &[("prop.p", "seven")][..],
            "`seven` is not a whole number",
        ),
        (
            "integer",
            &[("prop.p", "1.5")],
            "`1.5` is not a whole number",
        ),
        (
            "integer",
            &[("prop.p", "1e3")],
            "`1e3` is not a whole number",
        ),
        ("boolean", &[("prop.p", "yes")], "`yes` is neither"),
        ("object", &[("prop.p", "{")], "is not JSON: EOF"),
        ("object", &[("prop.p", "7")], "must be a JSON object"),
        (
            "integer[]",
            &[("own.p", "1\nx")],
            "item 2: `x` is not a whole number",
        ),
        ("http_request", &[("prop.p", "[]")], "must be a JSON object"),
    ]);
    let bounded = prop(json!({"name": "p", "type": "integer", "min": 3, "max": 5}));
    for (text, expected) in [("2", "must be at least 3"), ("6", "must be at most 5")] {
        assert_eq!(
            value_of(&bounded, &[("prop.p", text)]),
            Err(expected.to_owned())
        );
    }
}

#[test]
fn faults_of_requests_and_timers_are_told_in_words() {
    are_refused(&[
        (
            "http_request",
            &[("prop.p", "{\"method\": \"GET\"}")],
            "url: is required",
        ),
        (
            "http_request",
            &[("url.p", "a.example")],
            "url: `a.example` must begin with http",
        ),
        (
            "$.interface.timer",
            &[("kind.p", "interval")],
            "give a number",
        ),
        (
            "$.interface.timer",
            &[("kind.p", "interval"), ("every.p", "0")],
            "interval_seconds: expected",
        ),
        (
            "$.interface.timer",
            &[
                ("kind.p", "interval"),
                ("every.p", "18446744073709551615"),
                ("unit.p", "days"),
            ],
            "too long",
        ),
        (
            "$.interface.timer",
            &[("kind.p", "cron")],
            "give a cron expression",
        ),
        (
            "$.interface.timer",
            &[("kind.p", "cron"), ("cron.p", "x")],
            "cron: `x` is not",
        ),
        (
            "$.interface.timer",
            &[
                ("kind.p", "cron"),
                ("cron.p", "0 9 * * *"),
                ("zone.p", "Nowhere"),
            ],
            "timezone: `Nowhere` is not",
        ),
    ]);
}

#[test]
fn values_come_back_from_the_fields_that_they_fill() {
    for (type_name, value) in [
        ("string", json!("text\nof lines")),
        ("string", json!({"__lv": {"label": "A", "value": "a"}})),
        ("integer", json!(-7)),
        ("boolean", json!(false)),
        ("object", json!({"a": {"b": [1, null]}})),
        ("object", json!("[{}]")),
        ("any", json!("7")),
        ("any", json!("seven")),
        ("any", json!("")),
        ("any", json!([1, "2"])),
        ("any", json!(" padded ")),
        ("sql", json!({"query": "select 1"})),
        ("sql", json!("select 1")),
        ("unknown", json!({"x": "y"})),
        ("string[]", json!(["a", "b"])),
        ("string[]", json!(["", " x", "two\nlines"])),
        (
            "string[]",
            json!([{"__lv": {"label": "A", "value": "a"}}, "b"]),
        ),
        ("integer[]", json!([1, 2])),
        ("boolean[]", json!([true])),
        ("object[]", json!([{"a": 1}, {"b": {"c": 2}}])),
        ("any[]", json!([1, "two", {"a": [3]}])),
        ("app", json!({"authProvisionId": "apn_1"})),
        ("data_store", json!("seen")),
        ("http_request", json!({"url": "https://a.example"})),
        (
            "http_request",
            json!({"headers": [{"name": "x", "value": "1"}], "body": {"type": "raw", "raw": "b"},
                "url": "https://a.example", "method": "POST"}),
        ),
        ("$.interface.timer", json!({"interval_seconds": 90})),
        ("$.interface.timer", json!({"interval_seconds": 86_400})),
        (
            "$.interface.timer",
            json!({"cron": "0 9 * * *", "timezone": "Europe/Vienna"}),
        ),
    ] {
        let prop = of_type(type_name);
        let mut fields = Entered::default();
        fill(&prop, &value, &mut fields);
        let given = read_all(std::slice::from_ref(&prop), &fields);
        assert_eq!(given.wrong, [], "{type_name} {value}");
        assert_eq!(given.values.get("p"), Some(&value), "{type_name}");
    }
}

#[test]
fn a_labelled_value_is_filled_in_as_a_pick() {
    let labelled = prop(json!({"name": "p", "type": "string", "withLabel": true}));
    let mut fields = Entered::default();
    fill(&labelled, &json!({"label": "A", "value": "a"}), &mut fields);
    let given = read_all(std::slice::from_ref(&labelled), &fields);
    let value = given.values.get("p").unwrap();
    assert_eq!(
        labelled.final_value(value),
        json!({"label": "A", "value": "a"})
    );
}

#[test]
fn hidden_and_disabled_props_and_fixed_timers_take_nothing() {
    for attribute in ["hidden", "disabled"] {
        let prop = prop(json!({"name": "p", "type": "string", attribute: true}));
        assert_eq!(value_of(&prop, &[("prop.p", "x")]), Ok(json!(null)));
    }
    let fixed =
        prop(json!({"name": "p", "type": "$.interface.timer", "static": {"intervalSeconds": 60}}));
    let fields = [
        ("kind.p", "interval"),
        ("every.p", "5"),
        ("unit.p", "minutes"),
    ];
    assert_eq!(value_of(&fixed, &fields), Ok(json!(null)));
}

#[test]
fn all_that_is_missing_is_told_at_once() {
    let props = [
        prop(json!({"name": "a", "type": "string"})),
        prop(json!({"name": "b", "type": "string", "optional": true})),
        prop(json!({"name": "c", "type": "app", "app": "github"})),
        prop(json!({"name": "d", "type": "string", "secret": true})),
        prop(json!({"name": "e", "type": "string", "default": "x"})),
        prop(json!({"name": "f", "type": "string", "has_options": true})),
        prop(json!({"name": "g", "type": "boolean"})),
        prop(json!({"name": "h", "type": "string", "options": ["one"], "secret": true})),
    ];
    let found = missing(
        &props,
        &ConfiguredProps::new(),
        |name| name == "d",
        str::to_uppercase,
    );
    let told: Vec<_> = found
        .iter()
        .map(|wrong| (&*wrong.prop, &*wrong.reason))
        .collect();
    let expected = [
        ("a", "enter a value"),
        ("c", "choose an account of GITHUB, or connect one"),
        ("f", "choose a value"),
        ("g", "choose a value"),
        ("h", "enter a value"),
    ];
    assert_eq!(told, expected);
    assert!(found.iter().all(|wrong| wrong.kind == WrongKind::Missing));
}
