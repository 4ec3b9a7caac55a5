//! Props as an assistant fills them in: a JSON Schema of them, and values back into `configured_props`.

use headwater_model::prop::{ConfiguredProps, InputType, PropDefinition, PropKind};
use serde_json::{Map, Value, json};

/// The schema of an object with a value for each prop that somebody configures.
pub(crate) fn schema(props: &[PropDefinition]) -> Map<String, Value> {
    let asked: Vec<_> = props.iter().filter(|prop| is_asked(prop)).collect();
    let properties: Map<String, Value> = asked
        .iter()
        .map(|prop| (prop.name.clone(), schema_of(prop)))
        .collect();
    let required: Vec<_> = asked
        .iter()
        .filter(|prop| prop.is_required())
        .map(|prop| prop.name.as_str())
        .collect();
    Map::from_iter([
        ("type".to_owned(), json!("object")),
        ("properties".to_owned(), Value::Object(properties)),
        ("required".to_owned(), json!(required)),
    ])
}

/// The values as the API takes them: an account is given by its id alone.
pub(crate) fn configured(props: &[PropDefinition], given: Map<String, Value>) -> ConfiguredProps {
    let wrapped = |(name, value): (String, Value)| {
        let is_app = |prop: &PropDefinition| prop.kind() == PropKind::App && prop.name == name;
        let value = match value {
            Value::String(id) if props.iter().any(is_app) => json!({ "authProvisionId": id }),
            value => value,
        };
        (name, value)
    };
    given.into_iter().map(wrapped).collect()
}

/// Whether people see the prop; the node provides the others.
fn is_asked(prop: &PropDefinition) -> bool {
    let is_configured = match prop.kind() {
        PropKind::Input
        | PropKind::App
        | PropKind::Timer
        | PropKind::DataStore
        | PropKind::HttpRequest => true,
        PropKind::Http | PropKind::Db | PropKind::Apphook | PropKind::Inert => false,
    };
    is_configured && !prop.flag("hidden") && !prop.flag("disabled")
}

fn schema_of(prop: &PropDefinition) -> Value {
    let mut schema = value_schema(prop);
    if prop.is_list() {
        schema = json!({ "type": "array", "items": schema });
    }
    let description = description(prop);
    if !description.is_empty() {
        schema["description"] = description.into();
    }
    if let Some(default) = prop.default_value() {
        schema["default"] = default.clone();
    }
    schema
}

fn value_schema(prop: &PropDefinition) -> Value {
    match prop.kind() {
        PropKind::App | PropKind::DataStore => json!({ "type": "string" }),
        PropKind::Timer => json!({
            "type": "object",
            "properties": {
                "intervalSeconds": { "type": "integer", "minimum": 1 },
                "cron": { "type": "string" },
                "timezone": { "type": "string" },
            },
        }),
        PropKind::HttpRequest => json!({ "type": "object" }),
        PropKind::Input | PropKind::Http | PropKind::Db | PropKind::Apphook | PropKind::Inert => {
            input_schema(prop)
        }
    }
}

fn input_schema(prop: &PropDefinition) -> Value {
    let mut schema = match prop.input_type() {
        Some(InputType::Integer) => json!({ "type": "integer" }),
        Some(InputType::Boolean) => json!({ "type": "boolean" }),
        Some(InputType::Object) => json!({ "type": "object" }),
        Some(InputType::String | InputType::Sql) => json!({ "type": "string" }),
        Some(InputType::Any | InputType::Unknown) | None => json!({}),
    };
    let options = prop.attributes.get("options").and_then(Value::as_array);
    let values: Vec<&Value> = options
        .into_iter()
        .flatten()
        .map(|option| option.get("value").unwrap_or(option))
        .collect();
    if !values.is_empty() {
        schema["enum"] = json!(values);
    }
    schema
}

/// The prop's own text, and what an assistant must know besides.
fn description(prop: &PropDefinition) -> String {
    let attribute = |name: &str| prop.attributes.get(name).and_then(Value::as_str);
    let mut sentences = Vec::new();
    sentences.extend(attribute("label").map(sentence));
    sentences.extend(attribute("description").map(sentence));
    match prop.kind() {
        PropKind::App => sentences.push(format!(
            "The id of an account of `{}`: see `list_accounts`, `connect_account`.",
            prop.app().unwrap_or_default()
        )),
        PropKind::DataStore => sentences.push("The name of a data store.".to_owned()),
        PropKind::Timer => sentences.push(
            "When to run: {\"intervalSeconds\": 900}, or {\"cron\": \"0 9 * * *\", \"timezone\": \"UTC\"}."
                .to_owned(),
        ),
        PropKind::Input if prop.flag("has_options") => sentences.push(
            "The app says which values there are: ask `list_options` once its account is chosen."
                .to_owned(),
        ),
        PropKind::Input
        | PropKind::Http
        | PropKind::Db
        | PropKind::HttpRequest
        | PropKind::Apphook
        | PropKind::Inert => {}
    }
    if prop.flag("reloadProps") {
        sentences.push("Further props may depend on its value: see `more_props`.".to_owned());
    }
    sentences.join(" ")
}

fn sentence(text: &str) -> String {
    let text = text.trim();
    match text.ends_with(['.', '!', '?', ':', ')']) {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn props() -> Vec<PropDefinition> {
        serde_json::from_value(json!([
            { "name": "github", "type": "app", "app": "github" },
            { "name": "db", "type": "$.service.db" },
            { "name": "timer", "type": "$.interface.timer", "default": { "intervalSeconds": 900 } },
            { "name": "repo", "type": "string", "label": "Repository", "has_options": true },
            { "name": "ids", "type": "integer[]", "optional": true },
            { "name": "kind", "type": "string", "options": ["a", { "label": "B", "value": "b" }], "default": "a" },
            { "name": "old", "type": "string", "hidden": true },
        ]))
        .unwrap()
    }

    #[test]
    fn a_schema_has_what_people_fill_in() {
        let schema = Value::Object(schema(&props()));
        let names: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["github", "timer", "repo", "ids", "kind"]);
        assert_eq!(schema["required"], json!(["github", "repo"]));
        let properties = &schema["properties"];
        assert_eq!(properties["ids"]["items"], json!({ "type": "integer" }));
        assert_eq!(properties["kind"]["enum"], json!(["a", "b"]));
        assert_eq!(properties["kind"]["default"], "a");
        let repo = properties["repo"]["description"].as_str().unwrap();
        assert!(
            repo.starts_with("Repository.") && repo.contains("list_options"),
            "{repo}"
        );
    }

    #[test]
    fn an_account_is_given_by_its_id() {
        let given = json!({ "github": "apn_1", "repo": "apn_1", "ids": [1] });
        let Value::Object(given) = given else {
            unreachable!()
        };
        assert_eq!(
            Value::Object(configured(&props(), given)),
            json!({ "github": { "authProvisionId": "apn_1" }, "repo": "apn_1", "ids": [1] })
        );
    }
}
