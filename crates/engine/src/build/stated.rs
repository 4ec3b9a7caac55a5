//! The facts that a component's text states of it, and the files that it may import: read without parsing or running
//! it, for components that are built later. Only building makes sure.

use std::path::{Path, PathBuf};

use headwater_model::component::ComponentType;

use super::{
    beside::places,
    script::{Token, names_component, tokens},
};

/// A component as its text describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedComponent {
    /// Its key.
    pub key: String,
    /// Its version, as written.
    pub version: String,
    /// Its name; its key if none is written out.
    pub name: String,
    /// Source or action.
    pub component_type: ComponentType,
    /// Its description, if one is written out.
    pub description: Option<String>,
}

/// The component that a text exports, if it writes out a key and a version.
pub fn stated_component(code: &str) -> Option<StatedComponent> {
    if !names_component(code) {
        return None;
    }
    let tokens = tokens(code);
    let stated =
        |property: &str| exported(&tokens, property).or_else(|| anywhere(&tokens, property));
    let key = stated("key")?;
    let of_export = |property: &str| exported(&tokens, property);
    Some(StatedComponent {
        version: stated("version")?,
        name: of_export("name").unwrap_or_else(|| key.clone()),
        component_type: match of_export("type").as_deref() {
            Some("action") => ComponentType::Action,
            _ => ComponentType::Source,
        },
        description: of_export("description"),
        key,
    })
}

/// The files that a module may mean by its relative imports: for each import the places where it may be, the first
/// that is there counts. Every text that looks like a relative path counts as one.
pub fn imported_places(importer: &Path, code: &str) -> Vec<Vec<PathBuf>> {
    let base = importer.parent().unwrap_or_else(|| Path::new(""));
    let texts = tokens(code).into_iter().filter_map(|token| match token {
        Token::Text(text) if text.starts_with("./") || text.starts_with("../") => Some(text),
        _ => None,
    });
    texts
        .map(|text| {
            let path = base.join(text);
            let imported = places(&path, false).into_iter();
            imported.chain(places(&path, true)).collect()
        })
        .collect()
}

/// The text of a property of the object that is exported, not of one within it.
fn exported(tokens: &[Token<'_>], property: &str) -> Option<String> {
    let start = tokens.windows(3).position(|window| {
        matches!(
            window,
            [_, Token::Word("export"), Token::Word("default")]
                | [
                    Token::Word("module"),
                    Token::Mark('.'),
                    Token::Word("exports")
                ]
        )
    })?;
    let mut depth = 0_usize;
    for place in start..tokens.len() {
        match &tokens[place..] {
            [Token::Mark('{'), ..] => depth += 1,
            [Token::Mark('}'), ..] => depth = depth.saturating_sub(1),
            here if depth == 1 => {
                if let Some(text) = value(here, property) {
                    return Some(text);
                }
            }
            _ => {}
        }
    }
    None
}

fn anywhere(tokens: &[Token<'_>], property: &str) -> Option<String> {
    (0..tokens.len()).find_map(|place| value(&tokens[place..], property))
}

/// The text of the property, if these tokens begin with it: a literal, or several that `+` joins.
fn value(tokens: &[Token<'_>], property: &str) -> Option<String> {
    let (first, mut rest) = match tokens {
        [
            Token::Word(name) | Token::Text(name),
            Token::Mark(':'),
            Token::Text(text),
            rest @ ..,
        ] if *name == property => (text, rest),
        _ => return None,
    };
    let mut text = unescaped(first);
    while let [Token::Mark('+'), Token::Text(next), after @ ..] = rest {
        text += &unescaped(next);
        rest = after;
    }
    Some(text)
}

/// A literal's text; of its escapes, those that descriptions have.
fn unescaped(literal: &str) -> String {
    let mut text = String::with_capacity(literal.len());
    let mut rest = literal.chars();
    while let Some(c) = rest.next() {
        text.push(match c {
            '\\' => match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(other) => other,
                None => break,
            },
            c => c,
        });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exported_object_counts_and_not_those_within_or_before_it() {
        let code = r#"
            const options = [{ key: "inner", version: "9" }];
            export default defineAction({
              ...common,
              props: { a: { name: "of a prop", description: "of a prop" } },
              key: "shop-send", name: "Send", version: "0.0.2", type: "action",
              description: "Sends \"it\". " +
                "[See](https://example.com)",
            });
        "#;
        let expected = StatedComponent {
            key: "shop-send".to_owned(),
            version: "0.0.2".to_owned(),
            name: "Send".to_owned(),
            component_type: ComponentType::Action,
            description: Some("Sends \"it\". [See](https://example.com)".to_owned()),
        };
        assert_eq!(stated_component(code), Some(expected));
        let named = "const it = { key: 'shop-new', version: '1.0.0' }; export default it;";
        let stated = stated_component(named).unwrap();
        assert_eq!((&*stated.key, &*stated.name), ("shop-new", "shop-new"));
        assert_eq!(stated.component_type, ComponentType::Source);
        assert!(stated_component("export default { key: name, version: '1' }").is_none());
    }

    #[test]
    fn each_import_has_the_places_where_it_may_be() {
        let code =
            "import a from '../../shop.app.mjs'; import b from \"./b\"; import c from 'axios';";
        let found = imported_places(Path::new("shop/sources/new/new.mjs"), code);
        let first: Vec<_> = found.iter().map(|places| places[0].clone()).collect();
        assert_eq!(
            first,
            [
                PathBuf::from("shop/shop.app.mjs"),
                PathBuf::from("shop/sources/new/b")
            ]
        );
        assert!(found[1].contains(&PathBuf::from("shop/sources/new/b.mjs")));
        assert!(imported_places(Path::new("a.mjs"), "import '../b.mjs'")[0].is_empty());
    }
}
