//! The outline of a definition: its steps and blocks with what their file says of them. Literal values of secret props are
//! left out.

use std::{collections::BTreeMap, time::Duration};

use headwater_workflow::{
    definition::{
        CaseTest, Definition, DelayLength, LoopSource, Mode, Node, NodeKind, OnError, OnTimeout,
        Parallel, Step, StepCode, Template,
    },
    path::Path,
    template::{compiled_source, has_literals},
};
use serde_json::{Map, Value, json};

/// A step or block as its file has it.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeOutline {
    /// Its path.
    pub path: Path,
    /// The block that it is in, or the step whose handler it is in.
    pub parent: Option<Path>,
    /// The branch of that block; `on_error` for a handler.
    pub branch: Option<String>,
    /// Its name.
    pub namespace: String,
    /// `step`, or the block's type.
    pub kind: &'static str,
    /// The code of a step: `./path`, `key@version`; `None` if it is in the file itself.
    pub uses: Option<String>,
    /// The condition without which it is skipped.
    pub condition: Option<String>,
    /// The props of a step, or the other keys of a block.
    pub settings: Map<String, Value>,
    /// The props whose values are secret, and therefore null in the above.
    pub secrets: Vec<String>,
    /// The branches of a block.
    pub branches: Vec<BranchOutline>,
    /// Milliseconds that a try may take, if the file says so.
    pub timeout_ms: Option<u64>,
    /// Tries, if the file says so.
    pub attempts: Option<u32>,
    /// `fail`, `continue` or `steps`.
    pub on_error: &'static str,
    /// Whether it is left out.
    pub is_disabled: bool,
    /// Notes for people, Markdown.
    pub notes: Option<String>,
}

/// A branch of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchOutline {
    /// Its name.
    pub name: String,
    /// The condition under which it is taken.
    pub condition: Option<String>,
}

/// The outline of a definition; `secrets` are the secret props of each step by its namespace.
pub(super) fn of(
    definition: &Definition,
    secrets: &BTreeMap<String, Vec<String>>,
) -> Vec<NodeOutline> {
    let paths = definition.paths();
    let blocks: BTreeMap<&Path, &Node> = paths.iter().map(|(path, node)| (path, *node)).collect();
    let nodes = paths.iter();
    nodes
        .map(|(path, node)| {
            let (parent, branch) = around(path, &blocks);
            let secrets = secrets.get(node.namespace.as_str());
            NodeOutline {
                parent,
                branch,
                ..outline(path, node, secrets.map_or(&[], Vec::as_slice))
            }
        })
        .collect()
}

/// The block or step that a path is in, and the branch of it.
fn around(path: &Path, blocks: &BTreeMap<&Path, &Node>) -> (Option<Path>, Option<String>) {
    let Some(around) = path.parent() else {
        return (None, None);
    };
    if around == Path::root() {
        return (None, None);
    }
    // The steps of a loop are directly in it; those of a branch are in the branch.
    if blocks.contains_key(&around) {
        return (Some(around), None);
    }
    let branch = around.name().map(str::to_owned);
    let parent = around.parent().filter(|parent| *parent != Path::root());
    (parent, branch)
}

fn outline(path: &Path, node: &Node, secrets: &[String]) -> NodeOutline {
    let step = match &node.kind {
        NodeKind::Step(step) => Some(step),
        NodeKind::IfElse(_)
        | NodeKind::Switch(_)
        | NodeKind::Parallel(_)
        | NodeKind::Loop(_)
        | NodeKind::Delay(_)
        | NodeKind::Wait(_)
        | NodeKind::Call(_)
        | NodeKind::End(_) => None,
    };
    let (settings, secrets) = match step {
        Some(step) => props(step, secrets),
        None => (settings(&node.kind), Vec::new()),
    };
    NodeOutline {
        path: path.clone(),
        parent: None,
        branch: None,
        namespace: node.namespace.as_str().to_owned(),
        kind: node.kind.as_str(),
        uses: step.and_then(|step| uses(&step.code)),
        condition: node.condition.as_ref().map(ToString::to_string),
        settings,
        secrets,
        branches: branches(&node.kind),
        timeout_ms: node.timeout.map(ms),
        attempts: node.retry.as_ref().map(|retry| retry.attempts),
        on_error: match &node.on_error {
            OnError::Fail => "fail",
            OnError::Continue => "continue",
            OnError::Steps(_) => "steps",
        },
        is_disabled: node.is_disabled,
        notes: node.notes.clone(),
    }
}

/// The props as the file has them, and the names of those that are left out because they are secret.
fn props(step: &Step, secrets: &[String]) -> (Map<String, Value>, Vec<String>) {
    let mut left_out = Vec::new();
    let mut props = Map::new();
    for (name, compiled) in &step.props {
        let is_secret = secrets.contains(name) && has_literals(compiled);
        let value = match is_secret {
            true => {
                left_out.push(name.clone());
                Value::Null
            }
            false => compiled_source(compiled),
        };
        props.insert(name.clone(), value);
    }
    (props, left_out)
}

fn uses(code: &StepCode) -> Option<String> {
    match code {
        StepCode::File(path) => Some(format!("./{path}")),
        StepCode::Inline(_) => None,
        StepCode::Component(reference) => Some(reference.to_string()),
        StepCode::Foreign { file, .. } => Some(format!("./{file}")),
    }
}

fn branches(kind: &NodeKind) -> Vec<BranchOutline> {
    let conditions = match kind {
        NodeKind::IfElse(block) => conditions_of(&block.branches),
        NodeKind::Parallel(Parallel { branches, .. }) => conditions_of(branches),
        NodeKind::Switch(block) => {
            let cases = block.cases.iter();
            cases
                .map(|case| match &case.test {
                    CaseTest::Equals(value) => Some(format!("equals {}", value.to_source())),
                    CaseTest::If(condition) => Some(condition.to_string()),
                })
                .collect()
        }
        NodeKind::Step(_)
        | NodeKind::Loop(_)
        | NodeKind::Delay(_)
        | NodeKind::Wait(_)
        | NodeKind::Call(_)
        | NodeKind::End(_) => Vec::new(),
    };
    let branches = kind.branches().into_iter().enumerate();
    branches
        .map(|(at, (name, _))| BranchOutline {
            name: name.to_owned(),
            condition: conditions.get(at).cloned().flatten(),
        })
        .collect()
}

fn conditions_of(branches: &[headwater_workflow::definition::Branch]) -> Vec<Option<String>> {
    let branches = branches.iter();
    let conditions = branches.map(|branch| branch.condition.as_ref().map(ToString::to_string));
    conditions.collect()
}

/// The keys of a block besides its steps, as a file has them.
fn settings(kind: &NodeKind) -> Map<String, Value> {
    let value = match kind {
        NodeKind::Step(_) | NodeKind::IfElse(_) => json!({}),
        NodeKind::Switch(block) => json!({ "on": block.on.to_source() }),
        NodeKind::Parallel(block) => json!({ "mode": mode(block.mode) }),
        NodeKind::Loop(each) => {
            let (key, source) = match &each.source {
                LoopSource::Over(over) => ("over", over.to_source()),
                LoopSource::While(condition) => ("while", condition.to_string().into()),
            };
            let mut settings = json!({ "concurrency": each.concurrency, "mode": mode(each.mode) });
            settings[key] = source;
            if let Some(name) = &each.item_name {
                settings["as"] = name.clone().into();
            }
            settings
        }
        NodeKind::Delay(delay) => match &delay.length {
            DelayLength::For(span) => json!({ "for": ms(*span) }),
            DelayLength::ForValue(value) => json!({ "for": value.to_source() }),
            DelayLength::Until(moment) => json!({ "until": moment.to_source() }),
        },
        NodeKind::Wait(wait) => json!({
            "timeout": wait.timeout.map_or_else(|| json!("never"), |span| json!(ms(span))),
            "on_timeout": match wait.on_timeout {
                OnTimeout::Cancel => "cancel",
                OnTimeout::Continue => "continue",
                OnTimeout::Fail => "fail",
            },
        }),
        NodeKind::Call(call) => json!({
            "workflow": call.workflow.to_source(),
            "event": call.event.to_source(),
            "wait": call.waits,
        }),
        NodeKind::End(end) => match end.reason.as_ref().map(Template::to_source) {
            Some(reason) => json!({ "reason": reason }),
            None => json!({}),
        },
    };
    value.as_object().cloned().unwrap_or_default()
}

fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::FailFast => "fail_fast",
        Mode::Settle => "settle",
    }
}

fn ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const YAML: &str = r#"
name: Orders
steps:
- namespace: read
  uses: http-get@1.0.0
  if: "{{steps.trigger.event.ok}}"
  props: { url: "https://{{steps.trigger.event.host}}/", password: hunter2, token: "{{process.env.T}}" }
  on_error: [{ namespace: mend, code: "export default {}" }]
- namespace: route
  type: ifelse
  branches:
  - name: large
    if: { op: number_greater, a: "{{steps.read.total}}", b: 10 }
    steps:
    - namespace: each
      type: loop
      over: "{{steps.read.lines}}"
      steps: [{ namespace: reserve }]
  else: [{ namespace: pause, type: delay, for: 5m }]
"#;

    fn outlined() -> Vec<NodeOutline> {
        let files = ["reserve/entry.js", "workflow.yaml"];
        let definition = Definition::read(YAML, &files).unwrap();
        let secrets = ["password", "token"].map(str::to_owned).to_vec();
        of(&definition, &BTreeMap::from([("read".to_owned(), secrets)]))
    }

    #[test]
    fn every_step_says_where_it_is() {
        let nodes = outlined();
        let places = nodes.iter().map(|node| {
            let parent = node.parent.as_ref().map(ToString::to_string);
            let parent = parent.unwrap_or_default();
            let branch = node.branch.clone().unwrap_or_default();
            format!("{} in {parent}/{branch}", node.path)
        });
        assert_eq!(
            places.collect::<Vec<_>>(),
            [
                "read in /",
                "read.on_error.mend in read/on_error",
                "route in /",
                "route.large.each in route/large",
                "route.large.each.reserve in route.large.each/",
                "route.else.pause in route/else",
            ]
        );
    }

    #[test]
    fn settings_are_as_in_the_file_without_secrets() {
        let nodes = outlined();
        let read = &nodes[0];
        assert_eq!(read.uses.as_deref(), Some("http-get@1.0.0"));
        assert_eq!(
            read.condition.as_deref(),
            Some("{{steps.trigger.event.ok}}")
        );
        assert_eq!(
            Value::Object(read.settings.clone()),
            json!({
                "url": "https://{{steps.trigger.event.host}}/",
                "password": null,
                "token": "{{process.env.T}}",
            })
        );
        assert_eq!(read.secrets, ["password"]);
        assert_eq!((nodes[1].uses.as_deref(), read.on_error), (None, "steps"));
        let branches = nodes[2].branches.iter();
        let branches = branches.map(|branch| (branch.name.as_str(), branch.condition.as_deref()));
        assert_eq!(
            branches.collect::<Vec<_>>(),
            [
                ("large", Some("{{steps.read.total}} number_greater 10")),
                ("else", None)
            ]
        );
        assert_eq!(nodes[4].uses.as_deref(), Some("./reserve/entry.js"));
        assert_eq!(nodes[5].settings["for"], json!(300_000));
    }
}
