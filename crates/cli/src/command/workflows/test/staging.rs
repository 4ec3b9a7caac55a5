//! The folder of a workflow as a test deploys it: without the triggers and limits that are between runs, without accounts,
//! and with stand-ins for the code that does not run.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};
use headwater_engine::built_in_action;
use headwater_workflow::definition::{ComponentReference, Definition, NodeKind};
use headwater_workflow::yaml;
use serde_json::{Map, Value, json};

use super::case::Case;
use crate::workflow::folder::{DEFINITION_FILE, Folder, STATE_FILE};

/// The code of steps that are mocked: it is not called.
const STAND_IN: &str = "export default { run() {} };";
/// Settings about several runs, about telling people, and about forgetting a run that is looked at afterwards.
const LEFT_OUT: [&str; 6] = [
    "concurrency",
    "throttle",
    "queue",
    "data_retention",
    "error_notification",
    "notify_first_error",
];
/// Keys of lists of steps, and of lists of branches.
const LISTS: [&str; 6] = ["steps", "else", "default", "on_error", "branches", "cases"];

/// The files of a test's deployment, and all that is not in them.
#[derive(Debug, Default)]
pub(super) struct Staged {
    pub(super) files: BTreeMap<String, String>,
    /// Namespaces of actions that do not run, although nothing mocks them.
    pub(super) left_out: BTreeSet<String>,
    /// Accounts by namespace and prop.
    pub(super) accounts: BTreeMap<(String, String), String>,
}

/// The folder as the test deploys it.
///
/// # Errors
/// The test mocks something that cannot be mocked, or is not there.
pub(super) fn staged(folder: &Folder, definition: &Definition, case: &Case) -> Result<Staged> {
    check(definition, case)?;
    let mut files = folder.files.clone();
    files.remove(STATE_FILE);
    let mut staging = Staging {
        case,
        staged: Staged::default(),
    };
    let mut document = yaml::value(folder.definition())?;
    if let Value::Object(document) = &mut document {
        document.shift_remove("inactive");
        if let Some(Value::Object(settings)) = document.get_mut("settings") {
            settings.retain(|name, _| !LEFT_OUT.contains(&name.as_str()));
        }
        let triggers = document.shift_remove("triggers").unwrap_or_default();
        document.insert("triggers".to_owned(), staging.triggers(&triggers)?);
    }
    staging.visit_lists(&mut document);
    files.insert(DEFINITION_FILE.to_owned(), document.to_string());
    Ok(Staged {
        files,
        ..staging.staged
    })
}

fn check(definition: &Definition, case: &Case) -> Result<()> {
    for (namespace, mocks) in &case.mocks {
        let mut nodes = definition.nodes();
        let Some(node) = nodes.find(|node| node.namespace.as_str() == namespace) else {
            bail!("mocks.{namespace}: the workflow has no step `{namespace}`");
        };
        let replaces_code = mocks.iter().any(|mock| mock.replaces_code);
        match &node.kind {
            NodeKind::Step(_) | NodeKind::Call(_) => {}
            NodeKind::Wait(_) if !replaces_code => {}
            NodeKind::Wait(_) => bail!(
                "mocks.{namespace}: a block `wait` takes `resume_after` and `resume_data` only; without them it times out"
            ),
            kind @ (NodeKind::IfElse(_)
            | NodeKind::Switch(_)
            | NodeKind::Parallel(_)
            | NodeKind::Loop(_)
            | NodeKind::Delay(_)
            | NodeKind::End(_)) => bail!(
                "mocks.{namespace}: a block `{}` cannot be mocked; mock the steps in it",
                kind.as_str()
            ),
        }
    }
    let expected = &case.expect;
    if expected.response.is_some() && !case.event.is_object() {
        bail!(
            "event: {} is not that of a request; name its body: {{ body: … }}",
            case.event
        );
    }
    for namespace in expected.namespaces() {
        if !definition
            .nodes()
            .any(|node| node.namespace.as_str() == namespace)
        {
            bail!("expect: the workflow has no step `{namespace}`");
        }
    }
    Ok(())
}

struct Staging<'a> {
    case: &'a Case,
    staged: Staged,
}

impl Staging<'_> {
    /// A test begins the run itself; only a response needs a trigger.
    fn triggers(&self, triggers: &Value) -> Result<Value> {
        if self.case.expect.response.is_none() {
            return Ok(json!([]));
        }
        let mut triggers = triggers.as_array().into_iter().flatten();
        let Some(http) = triggers.find(|trigger| trigger["type"] == "http") else {
            bail!("expect.response: the workflow has no trigger of type http");
        };
        let mut kept = json!({ "type": "http" });
        if let Some(respond) = http.get("respond") {
            kept["respond"] = respond.clone();
        }
        Ok(json!([kept]))
    }

    fn visit_lists(&mut self, parent: &mut Value) {
        for key in LISTS {
            if let Some(Value::Array(list)) = parent.get_mut(key) {
                for item in list {
                    self.visit_node(item);
                    self.visit_lists(item);
                }
            }
        }
    }

    fn visit_node(&mut self, node: &mut Value) {
        let Value::Object(node) = node else { return };
        // Branches have none.
        let Some(namespace) = node
            .get("namespace")
            .and_then(Value::as_str)
            .map(str::to_owned)
        else {
            return;
        };
        let is_mocked = !self.case.code_mocks(&namespace).is_empty();
        match node.get("type").and_then(Value::as_str) {
            Some("call") if is_mocked => become_step(node),
            Some(_) => return,
            None => {}
        }
        if is_mocked || self.is_left_out(node) {
            for key in ["uses", "code", "runtime"] {
                node.shift_remove(key);
            }
            node.insert("code".to_owned(), STAND_IN.into());
            if !is_mocked {
                self.staged.left_out.insert(namespace.clone());
            }
        }
        if let Some(Value::Object(props)) = node.get_mut("props") {
            self.take_accounts(&namespace, props);
        }
    }

    /// An action of the registry does nothing without its app, so that it runs only where the test has a network.
    fn is_left_out(&self, node: &Map<String, Value>) -> bool {
        let uses = node.get("uses").and_then(Value::as_str);
        let Some(uses) = uses.filter(|uses| !uses.starts_with(['.', '/', '\\'])) else {
            return false;
        };
        match uses.parse::<ComponentReference>() {
            Ok(reference) if reference.is_private => true,
            Ok(reference) => self.case.http.is_none() && built_in_action(&reference.key).is_none(),
            Err(_) => false,
        }
    }

    fn take_accounts(&mut self, namespace: &str, props: &mut Map<String, Value>) {
        props.retain(|name, value| {
            let Some(account) = value.get("authProvisionId").and_then(Value::as_str) else {
                return true;
            };
            let place = (namespace.to_owned(), name.clone());
            self.staged.accounts.insert(place, account.to_owned());
            false
        });
    }
}

/// A block `call` that is mocked is a step with the same fields as props.
fn become_step(node: &mut Map<String, Value>) {
    node.shift_remove("type");
    let mut props = Map::new();
    for key in ["workflow", "event", "wait"] {
        props.extend(node.shift_remove(key).map(|value| (key.to_owned(), value)));
    }
    node.insert("props".to_owned(), Value::Object(props));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(definition: &str) -> Folder {
        Folder {
            dir: "orders".into(),
            files: BTreeMap::from([(DEFINITION_FILE.to_owned(), definition.to_owned())]),
            left_out: Vec::new(),
        }
    }

    fn staged_with(definition: &str, test: &str) -> Result<(Value, Staged)> {
        let folder = folder(definition);
        let read = Definition::read(definition, &[]).unwrap();
        let staged = staged(&folder, &read, &Case::parse("a", test)?)?;
        let document = serde_json::from_str(&staged.files[DEFINITION_FILE]).unwrap();
        Ok((document, staged))
    }

    const YAML: &str = "\
name: A
inactive: true
settings: { throttle: { limit: 0, per: 1m }, lambda_timeout: 60 }
triggers: [{ type: schedule, cron: 0 * * * * }]
steps:
- namespace: pick
  type: ifelse
  branches:
  - name: yes
    if: \"{{true}}\"
    steps:
    - namespace: tell
      uses: slack-send-message@0.0.20
      props: { slack: { authProvisionId: apn_1 }, text: hello }
    - namespace: other
      type: call
      workflow: p_1
      event: \"{{steps.tell}}\"
- namespace: stop
  uses: filter-continue-based-on-condition
";

    #[test]
    fn actions_without_a_network_and_mocked_calls_are_stood_in_for() {
        let (document, staged) = staged_with(YAML, "mocks: { other: { returns: 1 } }").unwrap();
        assert_eq!(document["triggers"], json!([]));
        assert_eq!(document["settings"], json!({ "lambda_timeout": 60 }));
        assert!(document.get("inactive").is_none());
        let steps = &document["steps"][0]["branches"][0]["steps"];
        assert_eq!(steps[0]["code"], STAND_IN);
        assert_eq!(steps[0]["props"], json!({ "text": "hello" }));
        assert_eq!(steps[1]["code"], STAND_IN);
        assert_eq!(
            steps[1]["props"],
            json!({ "workflow": "p_1", "event": "{{steps.tell}}" })
        );
        assert_eq!(
            document["steps"][1]["uses"],
            "filter-continue-based-on-condition"
        );
        assert_eq!(staged.left_out, BTreeSet::from(["tell".to_owned()]));
        assert_eq!(
            staged.accounts[&("tell".to_owned(), "slack".to_owned())],
            "apn_1"
        );
        let (document, _) = staged_with(YAML, "http: []").unwrap();
        let tell = &document["steps"][0]["branches"][0]["steps"][0];
        assert_eq!(tell["uses"], "slack-send-message@0.0.20");
    }

    #[test]
    fn a_test_of_something_that_is_not_there_is_refused() {
        for (test, told) in [
            ("mocks: { nobody: { returns: 1 } }", "nobody"),
            ("mocks: { pick: { returns: 1 } }", "ifelse"),
            ("expect: { calls: { nobody: 1 } }", "nobody"),
            ("expect: { response: { status: 200 } }", "expect.response"),
        ] {
            let error = staged_with(YAML, test).unwrap_err().to_string();
            assert!(error.contains(told), "{test}: {error}");
        }
    }
}
