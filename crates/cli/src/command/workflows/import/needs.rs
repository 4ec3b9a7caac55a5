//! The work that a workflow's folder asks for before it runs here, as far as the folder itself tells.

use std::collections::{BTreeMap, BTreeSet};

use headwater_model::id::AccountId;
use headwater_model::time::EpochMs;
use headwater_workflow::check::check;
use headwater_workflow::definition::{
    ComponentReference, Definition, Draft, NodeKind, Step, StepCode, Trigger, TriggerConfig,
};
use headwater_workflow::environment::Requirements;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::workflow::findings;
use crate::workflow::folder::Folder;

/// The work, by its kind. Places are `step.prop` or `trigger.prop`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Needs {
    pub(super) name: String,
    /// Steps in a language that does not run here.
    pub(super) to_rewrite: Vec<ToRewrite>,
    /// Triggers of which the file has only the id.
    pub(super) triggers: Vec<BareTrigger>,
    pub(super) accounts: Vec<Account>,
    pub(super) data_stores: Vec<DataStore>,
    /// Components of the registry.
    pub(super) components: BTreeSet<String>,
    /// Components of a workspace.
    pub(super) private_components: Vec<PrivateComponent>,
    /// Steps whose props depend on others.
    pub(super) dynamic_props: Vec<DynamicProps>,
    pub(super) variables: BTreeSet<String>,
    /// Anything else that a check finds, as it shows it.
    pub(super) findings: Vec<Value>,
    /// Whether nothing in the folder keeps it from being deployed.
    pub(super) can_be_deployed: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct ToRewrite {
    pub(super) step: String,
    pub(super) file: String,
    pub(super) runtime: String,
}

#[derive(Debug, Serialize)]
pub(super) struct BareTrigger {
    pub(super) id: String,
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    /// The keys to add.
    pub(super) add: &'static str,
    /// Whether it does not work without them.
    pub(super) is_needed: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Account {
    pub(super) id: String,
    /// The app, as far as component or prop tell.
    pub(super) app: String,
    pub(super) used_by: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct DataStore {
    pub(super) id: String,
    pub(super) used_by: Vec<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct PrivateComponent {
    pub(super) step: String,
    pub(super) uses: String,
}

#[derive(Debug, Serialize)]
pub(super) struct DynamicProps {
    pub(super) step: String,
    pub(super) cursor: String,
}

/// Uses by id; of an account with its app.
#[derive(Default)]
struct Used {
    accounts: BTreeMap<String, (String, Vec<String>)>,
    data_stores: BTreeMap<String, Vec<String>>,
}

impl Needs {
    pub(super) fn of(folder: &Folder) -> Self {
        let found = findings::of_folder(folder, false);
        let can_be_deployed = !found.iter().any(findings::is_error);
        let mut needs = Self {
            findings: found,
            can_be_deployed,
            ..Self::default()
        };
        // Mistakes in the file are among the findings.
        let paths = folder.paths();
        if let Ok(draft) = Draft::read(folder.definition(), &paths) {
            needs.read(&draft.definition, &paths);
            let required = Requirements::of(&draft.definition, folder.texts());
            needs.variables = required.variables.into_keys().collect();
        }
        needs
    }

    fn read(&mut self, definition: &Definition, paths: &[&str]) {
        self.name.clone_from(&definition.name);
        let mut used = Used::default();
        for (path, node) in definition.paths() {
            if let NodeKind::Step(step) = &node.kind {
                self.read_step(&path.to_string(), step);
                used.read(&path.to_string(), &step.code, &step.props);
            }
        }
        for trigger in &definition.triggers {
            if let TriggerConfig::Source(source) = &trigger.config {
                used.read(&trigger.key, &source.uses, &source.props);
                if let StepCode::Component(component) = &source.uses {
                    self.components.insert(named(component));
                }
            }
            self.triggers.extend(bare(trigger));
        }
        self.take(used);
        self.drop_findings_told_otherwise(definition, paths);
    }

    fn read_step(&mut self, path: &str, step: &Step) {
        match &step.code {
            StepCode::Foreign { runtime, file } => self.to_rewrite.push(ToRewrite {
                step: path.to_owned(),
                file: file.clone(),
                runtime: runtime.clone(),
            }),
            StepCode::Component(component) if component.is_private => {
                self.private_components.push(PrivateComponent {
                    step: path.to_owned(),
                    uses: named(component),
                });
            }
            StepCode::Component(component) => {
                self.components.insert(named(component));
            }
            StepCode::File(_) | StepCode::Inline(_) => {}
        }
        if let Some(cursor) = &step.props_cursor {
            self.dynamic_props.push(DynamicProps {
                step: path.to_owned(),
                cursor: cursor.clone(),
            });
        }
    }

    fn take(&mut self, used: Used) {
        let accounts = used.accounts.into_iter();
        let accounts = accounts.map(|(id, (app, used_by))| Account { id, app, used_by });
        self.accounts = accounts.collect();
        let stores = used.data_stores.into_iter();
        self.data_stores = stores
            .map(|(id, used_by)| DataStore { id, used_by })
            .collect();
    }

    /// Leaves out the findings about steps to rewrite and triggers, which the report tells on its own.
    fn drop_findings_told_otherwise(&mut self, definition: &Definition, paths: &[&str]) {
        let triggers = definition.triggers.iter();
        let bare = triggers.filter(|trigger| trigger.config == TriggerConfig::NotInFile);
        let bare: Vec<_> = bare.map(|trigger| trigger.position).collect();
        let is_told = |finding: &headwater_workflow::finding::Finding| {
            let place = &finding.place;
            let of_trigger = |at: &headwater_workflow::yaml::Position| {
                (at.line, at.column) == (place.line, place.column)
            };
            let of_step = |step: &ToRewrite| {
                let path = place.path.as_ref().map(ToString::to_string);
                path.as_ref() == Some(&step.step)
                    && finding
                        .message
                        .starts_with(&format!("`{}` is code for", step.file))
            };
            (place.path.is_none() && bare.iter().any(of_trigger))
                || self.to_rewrite.iter().any(of_step)
        };
        let told: Vec<_> = check(definition, paths)
            .into_iter()
            .filter(is_told)
            .collect();
        let is_left = |finding: &Value| {
            !told.iter().any(|one| {
                finding["line"] == one.place.line && finding["message"] == one.message.as_str()
            })
        };
        self.findings.retain(is_left);
    }

    /// The work that nobody but a person can do, as a number.
    pub(super) fn count(&self) -> usize {
        let needed = self.triggers.iter().filter(|trigger| trigger.is_needed);
        self.to_rewrite.len()
            + needed.count()
            + self.accounts.len()
            + self.variables.len()
            + self.private_components.len()
            + self
                .findings
                .iter()
                .filter(|one| findings::is_error(one))
                .count()
    }
}

impl Used {
    fn read(&mut self, at: &str, code: &StepCode, props: &Map<String, Value>) {
        for (prop, value) in props {
            let place = format!("{at}.{prop}");
            if let Some(id) = value.get("authProvisionId").and_then(Value::as_str) {
                if is_of_node(id) {
                    continue;
                }
                let app = || app_of(code, prop);
                let entry = self.accounts.entry(id.to_owned());
                entry.or_insert_with(|| (app(), Vec::new())).1.push(place);
            } else if let Some(id) = value.get("storeId").and_then(Value::as_str) {
                self.data_stores
                    .entry(id.to_owned())
                    .or_default()
                    .push(place);
            }
        }
    }
}

/// Whether an account's id is one that a node gave, so that nothing is left to do about it. Pipedream's are shorter.
fn is_of_node(id: &str) -> bool {
    let of_node = AccountId::new(EpochMs::default(), 0);
    id.len() == of_node.as_str().len() && id.parse::<AccountId>().is_ok()
}

/// The beginning of a component's key is its app; in code of one's own the editor calls the prop like the app.
fn app_of(code: &StepCode, prop: &str) -> String {
    match code {
        StepCode::Component(component) if !component.is_private => {
            let app = component.key.split('-').next();
            app.unwrap_or(&component.key).to_owned()
        }
        StepCode::Component(_)
        | StepCode::File(_)
        | StepCode::Inline(_)
        | StepCode::Foreign { .. } => prop.to_owned(),
    }
}

fn named(component: &ComponentReference) -> String {
    let workspace = component.workspace.as_ref().map(|name| format!("@{name}/"));
    let version = component
        .version
        .as_ref()
        .map(|version| format!("@{version}"));
    let [workspace, version] = [workspace, version].map(Option::unwrap_or_default);
    format!("{workspace}{}{version}", component.key)
}

/// A trigger that does not work with the little that the file has of it, or not as it did.
fn bare(trigger: &Trigger) -> Option<BareTrigger> {
    let (kind, add) = match (&trigger.config, &trigger.id) {
        (TriggerConfig::NotInFile, _) => match trigger.key.split('_').next() {
            Some("schedule") => (
                "schedule",
                "`type: schedule`, and `cron: \"0 9 * * *\"` with `timezone`, or `interval_seconds: 900`",
            ),
            Some("source") => (
                "source",
                "`type: source`, `uses: app-source@1.2.3` and its `props`",
            ),
            _ => ("events", "`type: events` and `emitter: dc_…`"),
        },
        (TriggerConfig::Http(http), Some(_)) if http.bearer.is_none() && http.respond.is_none() => {
            (
                "http",
                "`auth: { bearer: \"{{process.env.TOKEN}}\" }` if it asked for a token; its URL is another one here",
            )
        }
        (TriggerConfig::Email, Some(_)) => ("email", "nothing; its address is another one here"),
        _ => return None,
    };
    let id = trigger.id.as_ref();
    Some(BareTrigger {
        id: id.map_or(trigger.key.as_str(), |id| id.as_str()).to_owned(),
        kind,
        add,
        is_needed: trigger.config == TriggerConfig::NotInFile,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn needs(yaml: &str, files: &[(&str, &str)]) -> Value {
        let dir = tempfile::tempdir().unwrap();
        for (path, text) in files.iter().chain([&("workflow.yaml", yaml)]) {
            let path = dir.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        serde_json::to_value(Needs::of(&Folder::read(dir.path()).unwrap())).unwrap()
    }

    const SYNCED: &str = r#"
name: A
triggers:
- id: hi_abcdef
- id: ti_abcdef
- id: dc_abcdef
- id: ei_abcdef
steps:
- namespace: old
  runtime: python3.12
  uses: ./old/entry.py
- namespace: add
  uses: google_sheets-add-single-row@2.1.2
  _props_cursor: dyp_1
  props:
    googleSheets: { authProvisionId: apn_1 }
    text: steps.old.$return_value
- namespace: own
  uses: ./own/entry.js
  props:
    slack: { authProvisionId: apn_2 }
    sheets: { authProvisionId: apn_1 }
    cache: { storeId: ds_1 }
- namespace: mine
  uses: "@me/my-step@0.0.1"
"#;

    #[test]
    fn each_kind_of_work_is_told_once() {
        let files = [("old/entry.py", "os"), ("own/entry.js", "process.env.KEY")];
        let needs = needs(SYNCED, &files);
        assert_eq!(
            needs["to_rewrite"],
            json!([{"step": "old", "file": "old/entry.py", "runtime": "python3.12"}])
        );
        let triggers = needs["triggers"].as_array().unwrap();
        let triggers: Vec<_> = triggers
            .iter()
            .map(|one| (one["id"].as_str().unwrap(), one["is_needed"] == true))
            .collect();
        assert_eq!(
            triggers,
            [
                ("hi_abcdef", false),
                ("ti_abcdef", true),
                ("dc_abcdef", true),
                ("ei_abcdef", false)
            ]
        );
        assert_eq!(
            needs["accounts"],
            json!([
                {"id": "apn_1", "app": "google_sheets", "used_by": ["add.googleSheets", "own.sheets"]},
                {"id": "apn_2", "app": "slack", "used_by": ["own.slack"]},
            ])
        );
        assert_eq!(
            needs["data_stores"],
            json!([{"id": "ds_1", "used_by": ["own.cache"]}])
        );
        assert_eq!(
            needs["private_components"],
            json!([{"step": "mine", "uses": "@me/my-step@0.0.1"}])
        );
        assert_eq!(
            needs["dynamic_props"],
            json!([{"step": "add", "cursor": "dyp_1"}])
        );
        assert_eq!(needs["variables"], json!(["KEY"]));
        assert_eq!(
            needs["components"],
            json!(["google_sheets-add-single-row@2.1.2"])
        );
        let findings = needs["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{findings:?}");
        let message = findings[0]["message"].as_str().unwrap();
        assert!(message.contains("`steps.old` is text here"), "{message}");
        assert_eq!(needs["can_be_deployed"], false);
    }

    #[test]
    fn an_account_of_a_node_is_no_work_and_mistakes_hide_none() {
        let own = AccountId::new(EpochMs(1_900_000_000_000), 7);
        let yaml = format!(
            "name: A\nsteps:\n- namespace: each\n  type: loop\n  steps:\n  - namespace: a\n    runtime: python3.12\n    \
             props: {{ b: {{ authProvisionId: {own} }}, c: {{ authProvisionId: apn_z8h1AD }} }}\n  - namespace: b\n    \
             uses: slack-send-message@0.0.1\n"
        );
        let needs = needs(&yaml, &[]);
        assert_eq!(needs["accounts"].as_array().unwrap().len(), 1, "{needs}");
        assert_eq!(needs["accounts"][0]["id"], "apn_z8h1AD");
        assert_eq!(needs["to_rewrite"][0]["step"], "each.a");
        assert_eq!(needs["components"], json!(["slack-send-message@0.0.1"]));
    }

    #[test]
    fn nothing_is_asked_of_a_workflow_that_is_whole() {
        let yaml = "name: A\ntriggers:\n- id: ti_abcdef\n  cron: 0 9 * * *\nsteps:\n- namespace: a\n  uses: ./a/entry.js\n";
        let needs = needs(yaml, &[("a/entry.js", "")]);
        assert_eq!(
            (&needs["triggers"], &needs["findings"]),
            (&json!([]), &json!([]))
        );
        assert_eq!(needs["can_be_deployed"], true);
    }
}
