//! One workflow of an export: its JSON as the folder that Pipedream would have synced.

use headwater_model::id::WorkflowId;
use headwater_workflow::state_file::StateFile;
use serde_json::{Map, Value};

use super::super::incoming::Incoming;
use super::fields::Fields;
use super::state::State;
use super::{control, triggers, yaml};
use crate::workflow::folder::{DEFINITION_FILE, STATE_FILE};

const SCHEMA: &str = "workflow/2022.04";
/// Settings with the same names and meanings here.
const SETTINGS: [(&str, &[&str]); 5] = [
    (
        "error_notification",
        &["error_notification", "notify_on_error"],
    ),
    ("lambda_timeout", &["lambda_timeout", "timeout"]),
    ("lambda_memory", &["lambda_memory", "memory"]),
    ("auto_retry", &["auto_retry"]),
    ("notify_first_error", &["notify_first_error"]),
];
const TRIGGERS: [&str; 2] = ["triggers", "trigger"];
const STEPS: [&str; 3] = ["steps", "actions", "nodes"];

/// The workflow of a file, and its id.
pub(super) fn read(path: &str, bytes: Vec<u8>) -> (Incoming, Option<String>) {
    let converted = serde_json::from_slice::<Value>(&bytes)
        .map_err(|error| format!("{path} is not JSON: {error}; export the project again"))
        .and_then(|value| convert(path, value));
    let parent = path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let stem = path
        .rsplit('/')
        .next()
        .and_then(|name| name.strip_suffix(".json"));
    let (name, id, state) = match converted {
        Ok(converted) => converted,
        Err(reason) => return (failed(path, reason), None),
    };
    let slug = match slug(&name) {
        slug if slug.is_empty() => self::slug(stem.unwrap_or_default()),
        slug => slug,
    };
    let own = match &id {
        Some(id) => format!("{slug}-{id}"),
        None => slug,
    };
    let own = own.trim_start_matches('-');
    let folder = match parent {
        "" => own.to_owned(),
        parent => format!("{parent}/{own}"),
    };
    let incoming = Incoming {
        original: Some((format!("{folder}.json"), bytes)),
        folder,
        files: Ok(state.files),
        not_understood: state.told,
        left_out: Vec::new(),
    };
    (incoming, id.map(|id| id.to_string()))
}

fn failed(path: &str, reason: String) -> Incoming {
    Incoming {
        folder: path.strip_suffix(".json").unwrap_or(path).to_owned(),
        files: Err(reason),
        original: None,
        not_understood: Vec::new(),
        left_out: Vec::new(),
    }
}

type Converted = (String, Option<WorkflowId>, State);

fn convert(path: &str, value: Value) -> Result<Converted, String> {
    let Value::Object(map) = value else {
        return Err(format!(
            "{path} is not a workflow: expected an object with triggers and steps"
        ));
    };
    let (mut state, mut told) = (State::default(), Vec::new());
    let mut fields = Fields::new(map, "", &mut told);
    fields.open(&["workflow", "definition", "data", "graph"]);
    let id = fields.named_text(&["id", "workflow_id", "hid"]);
    let id = id.and_then(|(name, id)| match id.parse::<WorkflowId>() {
        Ok(id) => Some(id),
        Err(error) => {
            fields.tell_why(&name, error);
            None
        }
    });
    let name = fields.text(&["name", "workflow_name", "title"]);
    let triggers = fields.value(&TRIGGERS);
    let steps = fields.take_with(&STEPS, |value| Some(value.clone()));
    if triggers.is_none() && steps.is_none() {
        return Err(format!(
            "{path} is not a workflow: it has neither triggers nor steps"
        ));
    }
    let is_off = fields.flag(&["inactive", "disabled"]) == Some(true)
        || [fields.flag(&["active"]), fields.flag(&["enabled"])].contains(&Some(false));
    let settings = settings(&mut fields);
    fields.finish();
    let triggers = triggers.map(|value| triggers::read(value, &mut state));
    let steps = steps.map(|(key, value)| control::steps(value, &key, &mut state));
    state.told.splice(0..0, told);
    let name = name.unwrap_or_else(|| "Imported workflow".to_owned());
    let mut definition = Map::new();
    definition.insert("schema".to_owned(), SCHEMA.into());
    definition.insert("name".to_owned(), name.as_str().into());
    // Nobody knows yet if a workflow does the same without the fields that were not understood.
    if is_off || !state.told.is_empty() {
        definition.insert("inactive".to_owned(), true.into());
    }
    if !settings.is_empty() {
        definition.insert("settings".to_owned(), settings.into());
    }
    definition.insert("triggers".to_owned(), triggers.unwrap_or_default().into());
    definition.insert("steps".to_owned(), steps.unwrap_or_default().into());
    let text = yaml::document(&definition);
    state
        .files
        .insert(DEFINITION_FILE.to_owned(), text.into_bytes());
    if let Some(id) = &id {
        let mut ids = StateFile::default();
        ids.id = Some(id.clone());
        state
            .files
            .insert(STATE_FILE.to_owned(), ids.to_string().into_bytes());
    }
    Ok((name, id, state))
}

fn settings(fields: &mut Fields<'_>) -> Map<String, Value> {
    let mut settings = Map::new();
    let Some(object) = fields.object(&["settings", "configuration", "config"]) else {
        return settings;
    };
    let place = fields.place("settings");
    let mut inner = Fields::new(object, &place, fields.told());
    for (name, names) in SETTINGS {
        let read = |value: &Value| (value.is_boolean() || value.is_u64()).then(|| value.clone());
        if let Some((_, value)) = inner.take_with(names, read) {
            settings.insert(name.to_owned(), value);
        }
    }
    inner.finish();
    settings
}

fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    let slug = words.collect::<Vec<_>>().join("-");
    slug.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use headwater_workflow::definition::Definition;
    use serde_json::json;

    use super::*;

    fn text(incoming: &Incoming, path: &str) -> String {
        let files = incoming.files.as_ref().unwrap();
        String::from_utf8(files[path].clone()).unwrap()
    }

    #[test]
    fn a_workflow_becomes_the_folder_that_pipedream_would_have_synced() {
        let value = json!({
            "id": "p_yKCwGWl", "name": "Add Guestbook Entry", "active": true, "created_at": 1,
            "settings": {"lambda_timeout": 45, "error_notification": true},
            "triggers": [{"id": "hi_mJH1wmn", "type": "http"}],
            "steps": [
                {"namespace": "validate", "runtime": "nodejs20.x", "code": "export default 1\n"},
                {"namespace": "add_row", "component": {"key": "google_sheets-add-single-row", "version": "2.1.2"},
                 "configured_props": {"googleSheets": {"authProvisionId": "apn_1"}, "yes": "Yes"}},
            ],
        });
        let bytes = value.to_string().into_bytes();
        let (incoming, id) = read("Sales/Add Guestbook Entry.json", bytes.clone());
        assert_eq!(incoming.folder, "Sales/add-guestbook-entry-p_yKCwGWl");
        assert_eq!(id.as_deref(), Some("p_yKCwGWl"));
        let original = ("Sales/add-guestbook-entry-p_yKCwGWl.json".to_owned(), bytes);
        assert_eq!(incoming.original, Some(original));
        assert_eq!(incoming.not_understood, [""; 0]);
        assert_eq!(
            text(&incoming, DEFINITION_FILE),
            "schema: workflow/2022.04\nname: Add Guestbook Entry\nsettings:\n  error_notification: true\n  \
             lambda_timeout: 45\ntriggers:\n- id: hi_mJH1wmn\n  type: http\nsteps:\n- namespace: validate\n  \
             runtime: nodejs20.x\n  uses: \"./validate/entry.js\"\n- namespace: add_row\n  uses: \
             google_sheets-add-single-row@2.1.2\n  props:\n    googleSheets:\n      authProvisionId: apn_1\n    \
             \"yes\": \"Yes\"\n"
        );
        assert_eq!(text(&incoming, "validate/entry.js"), "export default 1\n");
        assert!(text(&incoming, STATE_FILE).ends_with("id: p_yKCwGWl\n"));
    }

    #[test]
    fn a_workflow_with_anything_that_was_not_understood_is_off() {
        let value = json!({
            "workflow": {"workflowId": "other", "name": "A", "steps": {"one": {"code": "1", "edges": [2]}}},
            "controlFlow": {"a": "b"},
        });
        let (incoming, id) = read("a.json", value.to_string().into_bytes());
        assert_eq!((incoming.folder.as_str(), id), ("a", None));
        assert_eq!(
            incoming.not_understood,
            [
                "workflowId: `other` is not a workflow id: expected `p_` and 6 to 22 letters or digits, as the platform \
                 gave it",
                "controlFlow",
                "steps.one.edges"
            ]
        );
        let yaml = text(&incoming, DEFINITION_FILE);
        let files = incoming.files.as_ref().unwrap();
        let paths: Vec<_> = files.keys().map(String::as_str).collect();
        let definition = Definition::read(&yaml, &paths).unwrap();
        assert!(!definition.is_active, "{yaml}");
        assert_eq!(definition.steps.len(), 1);
    }

    #[test]
    fn other_json_is_no_workflow() {
        for (bytes, told) in [
            ("{", "not JSON"),
            ("[]", "not a workflow"),
            ("{\"name\": \"A\"}", "neither"),
        ] {
            let (incoming, _) = read("a/b.json", bytes.into());
            let reason = incoming.files.unwrap_err();
            assert!(
                reason.contains("a/b.json") && reason.contains(told),
                "{reason}"
            );
            assert_eq!(incoming.folder, "a/b");
        }
    }
}
