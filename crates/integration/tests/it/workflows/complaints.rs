//! The twentieth of the complaints that users of workflow engines have filed over the years: a workflow that cannot be
//! developed locally, tested, or kept in git. The others are among the tests of the platform (`workflows::complaints`).

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use headwater_integration::{Node, headwater_in};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Comments, an unusual order of keys and a key that nobody knows, which a deployment leaves as they are.
const DEFINITION: &str = "# Orders of the shop.
name: Orders
schema: workflow/2022.04
x-team: shop
triggers:
- type: http
steps:
- namespace: total   # cents
  uses: ./total/entry.ts
- type: ifelse
  namespace: route
  branches:
  - name: large
    if: '{{steps.total.$return_value > 1000}}'
    steps:
    - namespace: ask
      props: { text: 'Ship {{event.lines.length}} lines?' }
  else:
  - namespace: each
    type: loop
    over: '{{event.lines}}'
    steps:
    - namespace: line
      code: 'export default { run({ steps }) { return steps.each.item.price * 2; } };'
";
const STATE: &str = ".workflow.state";
const FILES: [(&str, &str); 4] = [
    ("workflow.yaml", DEFINITION),
    (
        "lib/sum.ts",
        "export const sum = (of: number[]): number => of.reduce((a, b) => a + b, 0);\n",
    ),
    (
        "total/entry.ts",
        "import { sum } from '../lib/sum.ts';\nexport default { run({ steps }) { return sum(steps.trigger.event.lines.map((line) => line.price)); } };\n",
    ),
    (
        "ask/entry.js",
        "export default { props: { text: 'string' }, run() { return this.text; } };\n",
    ),
];

/// A working copy of the folder.
struct Copy(TempDir);

impl Copy {
    fn new() -> Self {
        let copy = Self(tempfile::tempdir().unwrap());
        for (path, text) in FILES {
            copy.save(path, text);
        }
        copy
    }

    fn save(&self, path: &str, text: &str) {
        let path = self.folder().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn folder(&self) -> PathBuf {
        self.0.path().join("orders")
    }

    /// The same files somewhere else, as somebody has them who fetches them.
    fn fetched(&self) -> Self {
        let copy = Self(tempfile::tempdir().unwrap());
        for (path, text) in self.files() {
            copy.save(&path, &text);
        }
        copy
    }

    fn files(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        read(&self.folder(), "", &mut files);
        files
    }

    async fn does(&self, node: &Node, arguments: &[&str]) -> Value {
        let arguments = [&["workflows"], arguments, &["--json"]].concat();
        let seen = node.cli_in(self.0.path(), &arguments).await.ok();
        serde_json::from_str(&seen.stdout).unwrap_or_default()
    }

    /// The steps of a run, without their times.
    async fn steps(&self, node: &Node, event: &Value) -> Value {
        let event = event.to_string();
        let run = ["run", "orders", "--wait", "--event", &event];
        let run = self.does(node, &run).await;
        assert_eq!(run["status"], "succeeded", "{run:#}");
        let steps = run["steps"].as_array().unwrap().iter();
        let shown = steps.map(|step| {
            let of = |name: &str| step[name].clone();
            json!([of("path"), of("status"), of("attempts"), of("return_value")])
        });
        shown.collect()
    }
}

fn read(folder: &Path, before: &str, files: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = format!("{before}{}", path.file_name().unwrap().to_str().unwrap());
        match path.is_dir() {
            true => read(&path, &format!("{name}/"), files),
            false => {
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
}

fn small() -> Value {
    json!({ "lines": [{ "price": 100 }, { "price": 200 }] })
}

fn large() -> Value {
    json!({ "lines": [{ "price": 1000 }, { "price": 1 }] })
}

#[tokio::test]
async fn c20_the_folder_is_the_whole_workflow_on_any_node() {
    let (node, other) = (Node::start().await, Node::start().await);
    let copy = Copy::new();
    copy.does(&node, &["check", "orders"]).await;
    assert_eq!(copy.files().len(), FILES.len(), "checking writes nothing");
    let deployed = copy.does(&node, &["deploy", "orders"]).await;
    let mut files = copy.files();
    let state = files.remove(STATE).expect("the folder keeps its ids");
    assert!(state.contains(deployed["id"].as_str().unwrap()), "{state}");
    let given = FILES.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(
        files,
        BTreeMap::from(given),
        "everything else is left as it was"
    );

    // Somebody else fetches it, and deploys it to another node.
    let fetched = copy.fetched();
    let again = fetched.does(&other, &["deploy", "orders"]).await;
    assert_eq!(again["id"], deployed["id"]);
    assert_eq!(fetched.files(), copy.files(), "there is nothing to commit");
    for event in [small(), large()] {
        let steps = copy.steps(&node, &event).await;
        assert_eq!(fetched.steps(&other, &event).await, steps);
    }
    let expected = json!([
        ["total", "succeeded", 1, 300],
        ["route", "succeeded", 1, { "$return_value": [200, 400] }],
        ["route.else.each", "succeeded", 1, [200, 400]],
        ["route.else.each[0].line", "succeeded", 1, 200],
        ["route.else.each[1].line", "succeeded", 1, 400],
    ]);
    assert_eq!(copy.steps(&node, &small()).await, expected);

    // What was fetched is the same workflow on the first node, too, and not another one.
    fetched.does(&node, &["deploy", "orders"]).await;
    let listed = copy.does(&node, &["list"]).await;
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
}

#[tokio::test]
async fn c20_a_workflow_in_development_runs_as_a_deployed_one() {
    let (node, desk) = (Node::start().await, Node::start().await);
    let copy = Copy::new();
    copy.does(&node, &["deploy", "orders"]).await;
    let developed = copy.fetched();
    let arguments = ["workflows", "dev", "orders"];
    let mut dev = desk.start_cli(developed.0.path(), &arguments);
    dev.expect("live; ").await;
    for event in [small(), large()] {
        let steps = copy.steps(&node, &event).await;
        assert_eq!(developed.steps(&desk, &event).await, steps);
    }
    assert_eq!(developed.files(), copy.files());
    // A saved file is the workflow at once, and still nothing but the folder.
    developed.save("lib/sum.ts", "export const sum = (): number => 7;\n");
    dev.expect("live; ").await;
    let mended = developed.steps(&desk, &large()).await;
    assert_eq!(mended[0], json!(["total", "succeeded", 1, 7]));
    developed.does(&node, &["deploy", "orders"]).await;
    assert_eq!(developed.steps(&node, &large()).await, mended);
    dev.signal("INT").await;
    dev.end().await;
}

/// A test of the folder passes with the results that the deployed workflow had, and fails with others.
#[tokio::test]
async fn c20_a_test_of_the_folder_sees_what_the_node_does() {
    let node = Node::start().await;
    let copy = Copy::new();
    copy.does(&node, &["deploy", "orders"]).await;
    for (name, event) in [("small", small()), ("large", large())] {
        let steps = copy.steps(&node, &event).await;
        let total = steps[0][3].as_u64().unwrap();
        for (returned, code) in [(total, 0), (total + 1, 1)] {
            let test = json!({
                "event": event,
                "expect": { "status": "succeeded", "returns": { "total": returned } },
            });
            copy.save(&format!("tests/{name}.yaml"), &test.to_string());
            let arguments = [
                "workflows",
                "test",
                "orders",
                "--crash",
                "--only",
                name,
                "--json",
            ];
            let seen = headwater_in(copy.0.path(), &arguments).await;
            assert_eq!(seen.code, code, "{}{}", seen.stdout, seen.stderr);
        }
    }
}
