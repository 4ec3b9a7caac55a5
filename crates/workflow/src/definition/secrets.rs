//! A definition's text for people to read: literal values of secret props, and tokens of triggers, are left out.

use std::{collections::BTreeMap, ops::Range};

use crate::{
    template::Template,
    yaml::{Content, Entry, InvalidYaml, Yaml, load},
};

/// Stands for a value that is left out.
const LEFT_OUT: &str = "(secret)";
const UNKNOWN: &str = "the places of its secret values are unknown, so that it is not shown";

/// The names of secret props: of steps by their namespaces, of triggers by their places in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretProps {
    /// Those of steps.
    pub steps: BTreeMap<String, Vec<String>>,
    /// Those of the sources of triggers.
    pub triggers: BTreeMap<usize, Vec<String>>,
}

impl SecretProps {
    /// The text without the values of these props and without tokens of triggers. In props of steps and in tokens,
    /// expressions stay where nothing stands beside them: they name a secret, and do not have it. In props of triggers there
    /// are none.
    ///
    /// # Errors
    /// The first fault of a text that is not YAML.
    pub fn left_out_of(&self, text: &str) -> Result<String, InvalidYaml> {
        let mut places = Vec::new();
        let yaml = load(text)?;
        self.of_steps(&yaml, &mut places);
        if let Some(triggers) = member(&yaml, "triggers") {
            self.of_triggers(triggers, &mut places);
        }
        places.sort_unstable_by_key(|place| place.start);
        let shown = without(text, &places);
        shown.ok_or_else(|| InvalidYaml::new(yaml.position, UNKNOWN))
    }

    fn of_steps(&self, yaml: &Yaml, places: &mut Vec<Range<usize>>) {
        match &yaml.content {
            Content::Map(entries) => {
                let namespace = member(yaml, "namespace").and_then(Yaml::text);
                let secret = namespace.and_then(|namespace| self.steps.get(namespace));
                if let (Some(secret), Some(props)) = (secret, member(yaml, "props")) {
                    values(props, secret, has_literals, places);
                }
                for entry in entries {
                    self.of_steps(&entry.value, places);
                }
            }
            Content::List(items) => {
                for item in items {
                    self.of_steps(item, places);
                }
            }
            Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => {}
        }
    }

    fn of_triggers(&self, triggers: &Yaml, places: &mut Vec<Range<usize>>) {
        let Content::List(triggers) = &triggers.content else {
            return;
        };
        for (index, trigger) in triggers.iter().enumerate() {
            if let Some(auth) = member(trigger, "auth") {
                values(auth, &["bearer".to_owned()], has_literals, places);
            }
            if let (Some(secret), Some(props)) =
                (self.triggers.get(&index), member(trigger, "props"))
            {
                values(props, secret, |_| true, places);
            }
        }
    }
}

/// Adds the places of those members that are there and are to be left out.
fn values(
    of: &Yaml,
    names: &[String],
    is_left_out: impl Fn(&Yaml) -> bool,
    places: &mut Vec<Range<usize>>,
) {
    let values = entries(of).iter().filter(|entry| {
        let value = &entry.value;
        names.contains(&entry.key) && !value.is_null() && is_left_out(value)
    });
    places.extend(values.map(|entry| entry.value.bytes.clone()));
}

fn has_literals(value: &Yaml) -> bool {
    Template::compile(&value.to_json()).has_literals()
}

fn entries(yaml: &Yaml) -> &[Entry] {
    match &yaml.content {
        Content::Map(entries) => entries,
        Content::Null
        | Content::Bool(_)
        | Content::Number(_)
        | Content::Text(_)
        | Content::List(_) => &[],
    }
}

fn member<'y>(yaml: &'y Yaml, key: &str) -> Option<&'y Yaml> {
    let found = entries(yaml).iter().find(|entry| entry.key == key);
    found.map(|entry| &entry.value)
}

/// The text with one mark for each of these places, which are in order; `None` if it has no such place. The space at the
/// end of a place stays.
fn without(text: &str, places: &[Range<usize>]) -> Option<String> {
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for place in places {
        let part = text.get(place.clone())?;
        // A part of one that is left out already, or the same one, by an alias.
        if place.start < from {
            continue;
        }
        left.push_str(text.get(from..place.start)?);
        left.push_str(LEFT_OUT);
        from = place.start + part.trim_end().len();
    }
    left.push_str(text.get(from..)?);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = r#"name: Orders # kept
triggers:
- type: http
  auth: { bearer: "sé\"same" } # open
- type: http
  auth:
    bearer: "{{process.env.TOKEN}}"
- type: source
  uses: rss@1
  props: { url: https://example.com, key: 'it''s hidden-1', after: 1 }
steps:
- namespace: route
  type: ifelse
  branches:
  - name: large
    steps:
    - namespace: send
      props:
        who: Ada
        password: hidden-2   # why
        pem: |
          hidden-3
            hidden-4

        folded: >-
          hidden-5
        nested:
          a: hidden-6
          b: [hidden-7]
        ask: "{{process.env.PASSWORD}}"
        empty:
        other: &x hidden-8
- namespace: free
  props: { password: kept }
on_error:
- namespace: tell
  props: { "password": hidden-9, text: *x }
"#;

    #[test]
    fn secret_literals_and_tokens_are_left_out_and_all_else_stays() {
        let names = [
            "password", "pem", "folded", "nested", "ask", "empty", "other",
        ];
        let names: Vec<String> = names.map(str::to_owned).into();
        let secrets = SecretProps {
            steps: BTreeMap::from([
                ("send".to_owned(), names.clone()),
                ("tell".to_owned(), names),
            ]),
            triggers: BTreeMap::from([(2, vec!["key".to_owned()])]),
        };
        let shown = secrets.left_out_of(YAML).unwrap();
        let expected = r#"name: Orders # kept
triggers:
- type: http
  auth: { bearer: (secret) } # open
- type: http
  auth:
    bearer: "{{process.env.TOKEN}}"
- type: source
  uses: rss@1
  props: { url: https://example.com, key: (secret), after: 1 }
steps:
- namespace: route
  type: ifelse
  branches:
  - name: large
    steps:
    - namespace: send
      props:
        who: Ada
        password: (secret)   # why
        pem: |
          (secret)

        folded: >-
          (secret)
        nested:
          (secret)
        ask: "{{process.env.PASSWORD}}"
        empty:
        other: &x (secret)
- namespace: free
  props: { password: kept }
on_error:
- namespace: tell
  props: { "password": (secret), text: *x }
"#;
        assert_eq!(shown, expected);
    }

    fn shown(text: &str) -> String {
        let names = vec!["key".to_owned()];
        let secrets = SecretProps {
            steps: BTreeMap::from([("send".to_owned(), names.clone())]),
            triggers: BTreeMap::from([(0, names)]),
        };
        secrets.left_out_of(text).unwrap()
    }

    #[test]
    fn ends_of_lines_and_marks_of_order_do_not_move_what_is_left_out() {
        for start in ["", "\u{feff}", "# é\r# more\r\n", "\r\n\r"] {
            let text = format!(
                "{start}steps:\r\n- namespace: send\r\n  props: {{ key: hidden-1, after: 1 }}\r\n- namespace: send\n  props:\n    key: |\n    after: 2\n"
            );
            let shown = shown(&text);
            assert!(shown.contains("key: (secret), after: 1 }"), "{shown:?}");
            assert!(!shown.contains("hidden"), "{shown:?}");
            assert!(shown.ends_with("after: 2\n"), "{shown:?}");
        }
    }

    #[test]
    fn secrets_beside_expressions_are_left_out() {
        let step = "steps:\n- namespace: send\n  props:\n    key: ";
        let trigger = "triggers:\n- type: source\n  props:\n    key: ";
        for (text, expected) in [
            (format!("{step}'{{{{a}}}}'\n"), "'{{a}}'\n"),
            (format!("{step}'sk-live{{{{a}}}}'\n"), "(secret)\n"),
            (format!("{step}{{ a: '{{{{b}}}}', c: sk }}\n"), "(secret)\n"),
            (format!("{trigger}'{{{{a}}}}'\n"), "(secret)\n"),
            (format!("{trigger}ab{{{{cd\n"), "(secret)\n"),
        ] {
            let shown = shown(&text);
            let (_, value) = shown.split_once("key: ").unwrap();
            assert_eq!(value, expected, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_yaml_is_not_shown() {
        assert!(SecretProps::default().left_out_of("a: 'b").is_err());
    }
}
