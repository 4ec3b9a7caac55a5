//! Mistakes of a file as a whole.

use super::{ORDERS, problems};
use crate::definition::{Definition, InvalidDefinition};

fn refused(text: &str) -> InvalidDefinition {
    Definition::read(text, &[]).expect_err("it has a mistake")
}

#[test]
fn a_file_without_a_name_is_refused() {
    for text in ["", "# nothing\n", "steps: []\n", "name:\n"] {
        let expected =
            "line 1, column 1: error: the workflow has no name; begin the file with `name: …`";
        assert_eq!(refused(text).to_string(), expected, "{text}");
    }
    let error = refused("name: ' '\n").to_string();
    assert_eq!(
        error,
        "line 1, column 7: error: `name` is empty; give the workflow a name"
    );
    let error = refused("- name\n").to_string();
    assert!(
        error
            .starts_with("line 1, column 1: error: expected keys with values, and there is a list"),
        "{error}"
    );
}

#[test]
fn a_file_that_is_not_yaml_is_refused_with_the_place() {
    for (text, place) in [
        (
            "name: a\nsteps: [",
            "line 2, column 8: error: this is not YAML (",
        ),
        (
            "name: a\nname: b\n",
            "line 2, column 1: error: `name` is there already in line 1, column 1",
        ),
        (
            "name: a\nsteps:\n- namespace: b\n  props:\n    x: 1\n    x: 2\n",
            "line 6, column 5: error: `x` is there already in line 5, column 5",
        ),
        (
            "name: a\n<<<<<<< HEAD\nsteps: []\n",
            "line 2, column 1: error: a conflict of a merge",
        ),
        (
            "name: {{steps.a}}\n",
            "line 1, column 8: error: a list, or keys with values, cannot be a key; write a text, and `{{ }}` in quotes",
        ),
    ] {
        let error = refused(text).to_string();
        assert!(error.starts_with(place), "{text}: {error}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_in_the_order_of_the_file() {
    let found = problems(
        "on_error: [{ namespace: x y }]
settings: { lambda_timeout: never }
steps:
- { namespace: a, timeout: soon, if: maybe }
- { namespace: b, type: delay }
",
    );
    let places = found.iter().map(|text| text.split(": ").next().unwrap());
    assert_eq!(
        places.collect::<Vec<_>>(),
        [
            "line 2, column 25",
            "line 3, column 29",
            "line 5, column 28",
            "line 5, column 38",
            "line 6, column 3"
        ]
    );
}

#[test]
fn another_schema_is_told_and_read_all_the_same() {
    let text = ORDERS.replace("workflow/2022.04", "workflow/2030.01");
    let definition = Definition::read(&text, &[]).unwrap();
    let found = crate::check::check(&definition, &[]);
    let found = found
        .iter()
        .find(|finding| finding.message.contains("schema"))
        .unwrap();
    assert_eq!(
        found.to_string(),
        "line 1, column 9: warning: the schema is not `workflow/2022.04`; the file is read as if it were"
    );
}
