//! Warnings about a component's props: told when it is saved and when it is deployed, and no reason to refuse it.

use headwater_model::prop::{PropDefinition, PropKind};

/// Warnings about props that do not work on this node, or not as expected
/// (docs/guide/writing-a-component.md).
pub fn prop_warnings(props: &[PropDefinition]) -> Vec<String> {
    props.iter().filter_map(warning).collect()
}

fn warning(prop: &PropDefinition) -> Option<String> {
    let (name, type_name) = (&prop.name, &prop.type_name);
    match prop.kind() {
        // An app's own events go to where the app is registered.
        PropKind::Apphook => Some(apphook_warning(name)),
        _ if prop.has_known_type() => unusual_secret(prop),
        PropKind::Inert => Some(format!(
            "prop `{name}`: the node provides nothing for the type `{type_name}`; check its spelling"
        )),
        PropKind::Input
        | PropKind::App
        | PropKind::Http
        | PropKind::Timer
        | PropKind::Db
        | PropKind::DataStore
        | PropKind::HttpRequest => Some(format!(
            "prop `{name}`: the node does not know the type `{type_name}` and accepts any value; check its spelling"
        )),
    }
}

/// A value that must not be seen is text at Pipedream; others are kept secret here alike.
fn unusual_secret(prop: &PropDefinition) -> Option<String> {
    let (name, type_name) = (&prop.name, &prop.type_name);
    let is_unusual = prop.is_secret() && type_name != "string" && type_name != "string[]";
    is_unusual.then(|| {
        format!(
            "prop `{name}`: `secret` is meant for the type `string`, not for `{type_name}`; its value \
             is kept secret anyway"
        )
    })
}

fn apphook_warning(name: &str) -> String {
    format!(
        "prop `{name}`: events that the app sends to Pipedream's own servers do not reach this node \
         and start no run; the source runs on its timers and endpoints if it has any, on events of \
         sources that it subscribes to, and by hand"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::{PropDefinition, prop_warnings};

    #[test]
    fn only_what_is_unusual_is_warned_of() {
        let prop = |name: &str, type_name: &str, is_secret: bool| PropDefinition {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            attributes: Map::from_iter(is_secret.then(|| ("secret".to_owned(), json!(true)))),
        };
        let props = [
            prop("text", "string", true),
            prop("number", "integer", true),
            prop("misspelt", "sting", false),
            prop("unknown", "$.service.nothing", false),
            prop("hook", "$.interface.apphook", false),
            prop("http", "$.interface.http", false),
        ];
        let warnings = prop_warnings(&props);
        let named: Vec<_> = warnings
            .iter()
            .map(|warning| warning.split('`').nth(1).unwrap())
            .collect();
        assert_eq!(named, ["number", "misspelt", "unknown", "hook"]);
    }
}
