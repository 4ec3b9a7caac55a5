//! A definition's text for people to read: literal values of secret props, and tokens of triggers, are left out.

use std::collections::BTreeMap;

use crate::{
    template::Template,
    yaml::{Content, Entry, InvalidYaml, Position, Yaml, load},
};

/// Stands for a value that is left out.
const LEFT_OUT: &str = "(secret)";

/// The names of secret props: of steps by their namespaces, of triggers by their places in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SecretProps {
    /// Those of steps.
    pub steps: BTreeMap<String, Vec<String>>,
    /// Those of the sources of triggers.
    pub triggers: BTreeMap<usize, Vec<String>>,
}

impl SecretProps {
    /// The text without literal values of these props and without tokens of triggers. Expressions stay: they name a
    /// secret, and do not have it.
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
        // Values that an alias names twice have one place.
        places.sort_unstable();
        places.dedup();
        Ok(without(text, &places))
    }

    fn of_steps(&self, yaml: &Yaml, places: &mut Vec<(Position, Position)>) {
        match &yaml.content {
            Content::Map(entries) => {
                let namespace = member(yaml, "namespace").and_then(Yaml::text);
                let secret = namespace.and_then(|namespace| self.steps.get(namespace));
                if let (Some(secret), Some(props)) = (secret, member(yaml, "props")) {
                    literals(props, secret, places);
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

    fn of_triggers(&self, triggers: &Yaml, places: &mut Vec<(Position, Position)>) {
        let Content::List(triggers) = &triggers.content else {
            return;
        };
        for (index, trigger) in triggers.iter().enumerate() {
            if let Some(auth) = member(trigger, "auth") {
                literals(auth, &["bearer".to_owned()], places);
            }
            if let (Some(secret), Some(props)) =
                (self.triggers.get(&index), member(trigger, "props"))
            {
                literals(props, secret, places);
            }
        }
    }
}

/// Adds the places of those members that are there and have no expressions.
fn literals(of: &Yaml, names: &[String], places: &mut Vec<(Position, Position)>) {
    let literals = entries(of).iter().filter(|entry| {
        let value = &entry.value;
        let is_literal = || Template::compile(&value.to_json()).to_literal().is_some();
        names.contains(&entry.key) && !value.is_null() && is_literal()
    });
    places.extend(literals.map(|entry| (entry.value.position, entry.value.end)));
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

/// The text with one mark for each of these parts, which are in order. The space behind a part stays.
fn without(text: &str, places: &[(Position, Position)]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in places {
        let (start, end) = (offset(text, *start), offset(text, *end));
        // A part of one that is left out already.
        if start < from {
            continue;
        }
        let part = &text[start..end];
        left.push_str(&text[from..start]);
        left.push_str(LEFT_OUT);
        from = start + part.trim_end().len();
    }
    left.push_str(&text[from..]);
    left
}

/// The byte at a place.
fn offset(text: &str, at: Position) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(at.line - 1).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let column = line.char_indices().nth(at.column - 1);
    before + column.map_or(line.len(), |(byte, _)| byte)
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

    #[test]
    fn a_text_that_is_not_yaml_is_not_shown() {
        assert!(SecretProps::default().left_out_of("a: 'b").is_err());
    }
}
