//! The actions that the engine brings along: those that workflows use and no package has.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, LazyLock},
};

use include_dir::{Dir, include_dir};
use serde::Deserialize;

use crate::api::ComponentCode;

static FILES: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../runtime/actions");
const INDEX: &str = include_str!("../../../runtime/actions/index.json");

static ACTIONS: LazyLock<Actions> = LazyLock::new(Actions::read);

#[derive(Deserialize)]
struct Listed {
    path: String,
    #[serde(default)]
    aliases: Vec<String>,
}

struct Actions {
    /// The keys that are not other names.
    keys: Vec<String>,
    /// The file of each key.
    entries: HashMap<String, String>,
    /// All files: actions share some.
    files: Arc<BTreeMap<String, String>>,
}

impl Actions {
    fn read() -> Self {
        // The build has checked it (`every_action_has_its_file`).
        let listed: BTreeMap<String, Listed> = serde_json::from_str(INDEX).unwrap_or_default();
        let keys = listed.keys().cloned().collect();
        let mut entries = HashMap::new();
        for (key, action) in listed {
            for key in action.aliases.into_iter().chain([key]) {
                entries.insert(key, action.path.clone());
            }
        }
        let mut files = BTreeMap::new();
        collect(&FILES, &mut files);
        Self {
            keys,
            entries,
            files: Arc::new(files),
        }
    }
}

fn collect(folder: &Dir<'_>, files: &mut BTreeMap<String, String>) {
    for file in folder.files() {
        let path = file.path().to_string_lossy().into_owned();
        files.extend(file.contents_utf8().map(|text| (path, text.to_owned())));
    }
    for folder in folder.dirs() {
        collect(folder, files);
    }
}

/// The key of each action that the engine brings along, and its code without what that imports.
pub fn built_in_actions() -> impl Iterator<Item = (&'static str, &'static str)> {
    let actions = &*ACTIONS;
    actions.keys.iter().filter_map(|key| {
        let code = actions.files.get(actions.entries.get(key)?)?;
        Some((key.as_str(), code.as_str()))
    })
}

/// The code of the action with this key, if the engine brings one along.
pub fn built_in_action(key: &str) -> Option<ComponentCode> {
    Some(ComponentCode::Folder {
        entry: ACTIONS.entries.get(key)?.clone(),
        files: Arc::clone(&ACTIONS.files),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_its_file() {
        assert!(ACTIONS.entries.len() > 60);
        for (key, path) in &ACTIONS.entries {
            assert!(ACTIONS.files.contains_key(path), "{key}: {path}");
        }
    }

    #[test]
    fn an_action_is_found_under_each_of_its_keys() {
        for key in ["email-send-email-to-self", "email-email-me"] {
            let Some(ComponentCode::Folder { entry, .. }) = built_in_action(key) else {
                panic!("{key} is not built in");
            };
            assert_eq!(entry, "email/send_email_to_self.ts");
        }
        assert!(built_in_action("slack-send-message").is_none());
    }
}
