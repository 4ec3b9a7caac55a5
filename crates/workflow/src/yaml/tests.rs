//! Documents as values, and as errors with their places.

use serde_json::{Value, json};

use super::*;

fn json(text: &str) -> Value {
    load(text).unwrap().to_json()
}

fn error(text: &str) -> String {
    load(text).unwrap_err().to_string()
}

#[test]
fn a_document_keeps_its_values_and_the_order_of_its_keys() {
    let text = "# comment\n---\nname: 'Yes'\non: on\nz: [1, 2.5, ~]\na: { b: \"x\\ty\" }\nc: |\n  one\n   two\nd:\n- e\n";
    let value = json(text);
    assert_eq!(
        value,
        json!({
            "name": "Yes", "on": "on", "z": [1, 2.5, null], "a": { "b": "x\ty" }, "c": "one\n two\n", "d": ["e"]
        })
    );
    let keys: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["name", "on", "z", "a", "c", "d"]);
}

#[test]
fn nothing_is_null() {
    for text in ["", "# only a comment\n", "---\n", "~"] {
        assert_eq!(json(text), Value::Null, "{text}");
    }
}

#[test]
fn values_know_their_places() {
    let yaml = load("a:\n  bü: [x,\n    y]\n").unwrap();
    let Content::Map(entries) = yaml.content else {
        panic!("it has keys");
    };
    let Content::Map(inner) = &entries[0].value.content else {
        panic!("it has keys");
    };
    assert_eq!(inner[0].position, Position { line: 2, column: 3 });
    let Content::List(items) = &inner[0].value.content else {
        panic!("it is a list");
    };
    let places: Vec<_> = items.iter().map(|item| item.position.to_string()).collect();
    assert_eq!(places, ["line 2, column 8", "line 3, column 5"]);
}

#[test]
fn a_key_that_is_given_twice_is_refused_with_both_places() {
    assert_eq!(
        error("name: a\nsteps: []\nname: b\n"),
        "line 3, column 1: `name` is there already in line 1, column 1; keep one of them"
    );
    assert!(error("{1: a, '1': b}").contains("`1` is there already"));
}

#[test]
fn aliases_stand_for_their_values_within_bounds() {
    assert_eq!(
        json("a: &x {b: 1}\nc: *x\n"),
        json!({ "a": { "b": 1 }, "c": { "b": 1 } })
    );
    assert_eq!(json("a: &k key\n*k : 1\n"), json!({ "a": "key", "key": 1 }));
    assert!(error("a: &x [*x]").contains("within the value that it names"));
    assert!(error("a: *x").starts_with("line 1, column 4: "));
    let mut laughs = String::from("a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n");
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        laughs.push_str(&format!("a{level}: &a{level} [{aliases}]\n"));
    }
    assert!(error(&laughs).contains("aliases expand to too many"));
    let long = format!(
        "a: &x {}\nb: [{}]\n",
        "x".repeat(100_000),
        vec!["*x"; 1000].join(", ")
    );
    assert!(error(&long).contains("aliases expand to too many"));
}

#[test]
fn depth_and_size_are_bounded() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(load(&nested(100)).is_ok());
    assert!(error(&nested(101)).contains("nested more than 100 deep"));
    let blocks: String = (0..101)
        .map(|depth| format!("{}a:\n", " ".repeat(depth)))
        .collect();
    assert!(error(&blocks).contains("nested more than 100 deep"));
    assert!(load(&nested(100_000)).is_err());
    assert!(error(&"a".repeat(5 * 1024 * 1024)).contains("at most"));
    assert!(error(&format!("[{}]", "a,".repeat(200_001))).contains("too many values"));
}

#[test]
fn faults_are_told_with_their_places() {
    for (text, place) in [
        ("a: [b\nc: d", "line 2"),
        ("a: 'b", "line 1"),
        ("a: b: c", "line 1"),
        ("a: 1\n b: 2", "line 2"),
        ("a: !custom b", "line 1, column 12: the tag `!custom`"),
        ("a: !!int b", "line 1, column 10: the tag `!!int`"),
        ("? [a]\n: b", "line 1, column 3: a list"),
        ("a: {{steps.b}}", "line 1, column 5: a list"),
        ("a: 1\n---\nb: 2\n", "line 2, column 1: a second document"),
        (
            "a: 1\n<<<<<<< HEAD\nb: 2\n",
            "line 2, column 1: a conflict of a merge",
        ),
    ] {
        let error = error(text);
        assert!(error.starts_with(place), "{text}: {error}");
    }
    assert!(
        load("a: |\n  <<<<<<< HEAD\n").is_ok(),
        "text may name marks"
    );
}

#[test]
fn tags_of_the_core_schema_say_the_type() {
    assert_eq!(
        json("a: !!str 5\nb: ! 5\nc: !!seq [1]\nd: !!map {e: 1}\n"),
        json!({ "a": "5", "b": "5", "c": [1], "d": { "e": 1 } })
    );
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([a-c]|: |- |\\n|  |[\\[\\]{},&*!|>'\"#%@`~?é\t]|---|<<){0,60}") {
        let _ = load(&text);
    }
}
