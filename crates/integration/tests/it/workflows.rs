//! Workflows over HTTP: from a folder to a run, and what becomes of runs.

mod actions;
mod admission;
mod answers;
mod complaints;
mod deploying;
mod example;
mod failures;
mod files;
mod limits;
mod secrets;
mod tenants;
mod waits;

use std::{collections::BTreeMap, time::Duration};

use headwater_integration::Client;
use serde_json::{Value, json};

/// Far beyond what anything here takes.
const PATIENCE: Duration = Duration::from_secs(90);
/// An HTTP trigger, as the file has it.
pub(crate) const HTTP: &str = "- type: http\n";

/// A folder: triggers as the file has them, and steps in their order with the bodies of their `run`.
pub(crate) struct Folder(pub(crate) BTreeMap<String, String>);

impl Folder {
    pub(crate) fn new(triggers: &str, steps: &[(&str, &str)]) -> Self {
        let names = steps
            .iter()
            .map(|(name, _)| format!("- namespace: {name}\n"));
        let names: String = names.collect();
        let definition =
            format!("schema: workflow/2022.04\nname: Orders\ntriggers:\n{triggers}steps:\n{names}");
        let mut folder = Self(BTreeMap::new()).with("workflow.yaml", &definition);
        for (name, body) in steps {
            let code =
                format!("export default {{\n  async run({{ steps, $ }}) {{ {body} }},\n}};\n");
            folder = folder.with(&format!("{name}/entry.js"), &code);
        }
        folder
    }

    /// The folder with a file more, or another text in one.
    pub(crate) fn with(mut self, path: &str, text: &str) -> Self {
        self.0.insert(path.to_owned(), text.to_owned());
        self
    }

    /// The body of a deployment.
    pub(crate) fn body(&self) -> Value {
        json!({ "files": self.0 })
    }

    pub(crate) async fn deployed(&self, node: &Client) -> Workflow {
        let deployed = node.post("/workflows", self.body()).await.is(200);
        Workflow {
            record: deployed.data(),
        }
    }
}

/// A deployed workflow as a test holds it.
pub(crate) struct Workflow {
    pub(crate) record: Value,
}

impl Workflow {
    pub(crate) fn id(&self) -> &str {
        self.record["id"].as_str().unwrap()
    }

    pub(crate) fn path(&self) -> String {
        format!("/workflows/{}", self.id())
    }

    /// The URL of its first trigger.
    pub(crate) fn endpoint(&self) -> &str {
        let url = &self.record["triggers"][0]["endpoint_url"];
        url.as_str()
            .unwrap_or_else(|| panic!("no endpoint in {}", self.record))
    }

    /// Starts a run by hand and returns its path.
    pub(crate) async fn start(&self, node: &Client, event: Value) -> String {
        let body = json!({ "event": event });
        let started = node.post(&format!("{}/run", self.path()), body).await;
        path_of(&started.is(200).data())
    }

    /// Starts a run by hand and returns it once it has ended so.
    pub(crate) async fn run(&self, node: &Client, event: Value, status: &str) -> Value {
        let run = self.start(node, event).await;
        until(node, &run, status).await
    }

    /// The runs that have ended, once there are so many.
    pub(crate) async fn ended(&self, node: &Client, count: usize) -> Vec<Value> {
        let path = format!("{}/runs?limit=100", self.path());
        let ending = async {
            loop {
                let runs = node.get(&path).await.is(200).items();
                if runs.len() >= count {
                    return runs;
                }
                tokio::task::yield_now().await;
            }
        };
        let ended = tokio::time::timeout(PATIENCE, ending).await;
        ended.unwrap_or_else(|_| panic!("{count} runs end"))
    }
}

/// The path of a run.
pub(crate) fn path_of(run: &Value) -> String {
    format!("/runs/{}", run["id"].as_str().unwrap())
}

/// A run as soon as it has that status.
pub(crate) async fn until(node: &Client, run: &str, status: &str) -> Value {
    until_that(node, run, |shown| shown["status"] == status).await
}

/// A run as soon as it is as wanted, which one that has ended cannot become any more.
pub(crate) async fn until_that(node: &Client, run: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let mut shown = Value::Null;
    let becoming = async {
        loop {
            shown = node.get(run).await.is(200).data();
            let is_wanted = wanted(&shown);
            if is_wanted || shown["ended_at_ms"].is_u64() {
                return is_wanted;
            }
            tokio::task::yield_now().await;
        }
    };
    let became = tokio::time::timeout(PATIENCE, becoming).await;
    assert_eq!(became, Ok(true), "the run is not as wanted: {shown:#}");
    shown
}

/// The only wait of a run that waits.
pub(crate) async fn waiting(node: &Client, run: &str) -> Value {
    let run = until(node, run, "waiting").await;
    assert_eq!(run["waits"].as_array().unwrap().len(), 1, "{run:#}");
    run["waits"][0].clone()
}

/// A step of a run.
#[track_caller]
pub(crate) fn step<'a>(run: &'a Value, path: &str) -> &'a Value {
    let mut steps = run["steps"].as_array().unwrap().iter();
    let step = steps.find(|step| step["path"] == path);
    step.unwrap_or_else(|| panic!("no step {path} in {run:#}"))
}

/// The paths of a run's steps.
pub(crate) fn paths(run: &Value) -> Vec<&str> {
    let steps = run["steps"].as_array().unwrap().iter();
    steps.map(|step| step["path"].as_str().unwrap()).collect()
}
