//! `headwater serve --workflows DIR`: folders are deployed when the node starts and whenever they are saved.

use std::{path::Path, time::Duration};

use headwater_integration::Node;
use serde_json::{Value, json};

/// Far beyond what anything here takes.
const PATIENCE: Duration = Duration::from_secs(90);
const TELL: &str = "export default { run() { return 'told'; } };";

/// A folder of workflows.
struct Folders(tempfile::TempDir);

impl Folders {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        self.0.path().join(file)
    }

    fn save(&self, file: &str, text: &str) {
        let path = self.path(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A workflow of one step, with that name.
    fn workflow(&self, folder: &str, name: &str) {
        self.save(&format!("{folder}/tell/entry.js"), TELL);
        self.define(folder, name, "tell");
    }

    fn define(&self, folder: &str, name: &str, step: &str) {
        let definition = format!(
            "schema: workflow/2022.04\nname: {name}\ntriggers:\n- type: http\nsteps:\n- namespace: {step}\n"
        );
        self.save(&format!("{folder}/workflow.yaml"), &definition);
    }

    fn state(&self, folder: &str) -> String {
        std::fs::read_to_string(self.path(&format!("{folder}/.workflow.state"))).unwrap()
    }

    fn flag(&self) -> String {
        format!("--workflows={}", self.0.path().display())
    }

    async fn served(&self) -> Node {
        let builder = Node::builder().own_address();
        builder.flag(&self.flag()).start().await
    }
}

/// The workflows by name, as soon as they are as wanted.
async fn workflows(node: &Node, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    workflows_in(node, "/workflows", wanted).await
}

async fn workflows_in(node: &Node, path: &str, wanted: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    let mut shown = Vec::new();
    let becoming = async {
        loop {
            shown = node.get(path).await.is(200).items();
            shown.sort_by_key(|workflow| workflow["name"].to_string());
            if wanted(&shown) {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    let became = tokio::time::timeout(PATIENCE, becoming).await;
    assert!(
        became.is_ok(),
        "the workflows are {shown:#?}\n{}",
        node.output()
    );
    shown
}

/// The log of a node, once it has that text.
async fn told(node: &Node, text: &str) -> String {
    let telling = async {
        loop {
            let output = node.output();
            if output.contains(text) {
                return output;
            }
            tokio::task::yield_now().await;
        }
    };
    let told = tokio::time::timeout(PATIENCE, telling).await;
    told.unwrap_or_else(|_| panic!("no `{text}` in\n{}", node.output()))
}

fn name(workflow: &Value) -> &str {
    workflow["name"].as_str().unwrap()
}

#[tokio::test]
async fn folders_are_deployed_at_the_start_and_on_each_save_and_mistakes_are_told() {
    let folders = Folders::new();
    folders.workflow("shop/orders", "Orders");
    folders.define("mail", "Mail", "send");
    let node = folders.served().await;
    let orders = workflows(&node, |there| there.len() == 1).await.remove(0);
    assert_eq!(name(&orders), "Orders");
    let place = folders.path("mail/workflow.yaml");
    let line = format!("{}:6:3: error: send: ", place.display());
    let output = told(&node, &line).await;
    assert!(!output.contains("panicked"), "{output}");

    folders.save("mail/send/entry.js", TELL);
    workflows(&node, |there| there.len() == 2).await;
    // A folder that comes later, and a save with a mistake.
    folders.workflow("bills", "Bills");
    folders.define("shop/orders", "Renamed", "missing");
    let there = workflows(&node, |there| there.len() == 3).await;
    let place = folders.path("shop/orders/workflow.yaml");
    told(&node, &format!("{}:6:3: error: missing: ", place.display())).await;
    told(&node, "a former deployment of it stays").await;
    assert_eq!(there[2]["deployment_id"], orders["deployment_id"]);
    let url = orders["triggers"][0]["endpoint_url"].as_str().unwrap();
    let request = node.request(headwater_integration::Method::POST, url);
    node.send(request).await.is(200);

    folders.define("shop/orders", "Renamed", "tell");
    let there = workflows(&node, |there| name(&there[2]) == "Renamed").await;
    assert_eq!(there[2]["id"], orders["id"]);
    assert_eq!(there[2]["triggers"], orders["triggers"]);
}

#[tokio::test]
async fn a_restart_deploys_nothing_that_has_not_changed_and_ids_outlive_their_files() {
    let folders = Folders::new();
    folders.workflow("orders", "Orders");
    folders.workflow("bills", "Bills");
    let mut node = folders.served().await;
    let before = workflows(&node, |there| there.len() == 2).await;
    let state = told_state(&folders, "orders").await;
    node.kill_9();
    // As in an image that is unpacked anew.
    std::fs::remove_file(folders.path("orders/.workflow.state")).unwrap();
    // The last one in their order.
    folders.workflow("z-mail", "Mail");
    node.restart().await;
    let after = workflows(&node, |there| there.len() == 3).await;
    assert_eq!([&after[0], &after[2]], [&before[0], &before[1]]);
    assert_eq!(told_state(&folders, "orders").await, state);
}

/// The state file of a folder, once it is written.
async fn told_state(folders: &Folders, folder: &str) -> String {
    let path = folders.path(&format!("{folder}/.workflow.state"));
    let writing = async {
        while !path.is_file() {
            tokio::task::yield_now().await;
        }
    };
    let written = tokio::time::timeout(PATIENCE, writing).await;
    assert!(written.is_ok(), "{} is not written", path.display());
    folders.state(folder)
}

#[tokio::test]
async fn a_folder_that_is_gone_turns_its_workflow_off_and_one_that_has_moved_does_not() {
    let folders = Folders::new();
    let aside = tempfile::tempdir().unwrap();
    folders.workflow("orders", "Orders");
    folders.workflow("bills", "Bills");
    let mut node = folders.served().await;
    let before = workflows(&node, |there| there.len() == 2).await;
    let run = json!({ "event": {} });
    let path = format!("/workflows/{}/run", before[1]["id"].as_str().unwrap());
    let run = node.post(&path, run).await.is(200).data();
    told_state(&folders, "orders").await;
    told_state(&folders, "bills").await;

    rename(&folders.path("orders"), &aside.path().join("orders"));
    rename(&folders.path("bills"), &folders.path("moved"));
    let there = workflows(&node, |there| there[1]["active"] == false).await;
    assert_eq!(there[0], before[0], "the moved one is as it was");
    told(&node, "the folder `orders` is gone").await;
    let run = format!("/runs/{}", run["id"].as_str().unwrap());
    node.get(&run).await.is(200);

    // It comes back, and goes while nobody looks.
    rename(&aside.path().join("orders"), &folders.path("orders"));
    let there = workflows(&node, |there| there[1]["active"] == true).await;
    assert_eq!(there[1]["id"], before[1]["id"]);
    node.kill_9();
    rename(&folders.path("orders"), &aside.path().join("orders"));
    node.restart().await;
    workflows(&node, |there| there[1]["active"] == false).await;
}

/// Whoever reads that the node has the folder again finds its workflow on, even if the node dies at that moment.
#[tokio::test]
async fn a_folder_that_comes_back_is_on_after_a_kill_too() {
    let folders = Folders::new();
    let aside = tempfile::tempdir().unwrap();
    folders.workflow("orders", "Orders");
    let mut node = folders.served().await;
    workflows(&node, |there| there.len() == 1).await;
    told_state(&folders, "orders").await;
    rename(&folders.path("orders"), &aside.path().join("orders"));
    workflows(&node, |there| there[0]["active"] == false).await;
    let remembered = node.data_dir().join("workflow-folders.json");
    let is_gone = || {
        let remembered = std::fs::read_to_string(&remembered).unwrap();
        remembered.contains("\"gone\"")
    };
    await_that(is_gone).await;
    rename(&aside.path().join("orders"), &folders.path("orders"));
    await_that(|| !is_gone()).await;
    node.kill_9();
    node.restart().await;
    workflows(&node, |there| there[0]["active"] == true).await;
}

async fn await_that(mut holds: impl FnMut() -> bool) {
    let becoming = async {
        while !holds() {
            tokio::task::yield_now().await;
        }
    };
    let became = tokio::time::timeout(PATIENCE, becoming).await;
    became.expect("it becomes so in time");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_keeps_its_ids_and_so_does_a_deleted_workflow() {
    let folders = Folders::new();
    folders.workflow("orders", "Orders");
    // Nothing can be written in its place, whoever the node runs as.
    std::fs::create_dir(folders.path("orders/.workflow.state.unfinished")).unwrap();
    let mut node = folders.served().await;
    let before = workflows(&node, |there| there.len() == 1).await.remove(0);
    told(&node, "the ids are kept in the data folder").await;
    assert!(!folders.path("orders/.workflow.state").exists());
    node.kill_9();
    folders.define("orders", "Renamed", "tell");
    node.restart().await;
    let after = workflows(&node, |there| name(&there[0]) == "Renamed").await;
    let kept = |workflow: &Value| (workflow["id"].clone(), workflow["triggers"].clone());
    assert_eq!(after.len(), 1);
    assert_eq!(kept(&after[0]), kept(&before));

    let path = format!("/workflows/{}", before["id"].as_str().unwrap());
    node.delete(&path).await.is(204);
    folders.define("orders", "Again", "tell");
    let again = workflows(&node, |there| there.len() == 1).await;
    assert_eq!((name(&again[0]), &again[0]["id"]), ("Again", &before["id"]));
}

fn rename(from: &Path, to: &Path) {
    std::fs::rename(from, to).unwrap();
}

#[tokio::test]
async fn a_copy_with_its_id_is_refused_until_it_is_a_workflow_of_its_own() {
    let folders = Folders::new();
    folders.workflow("orders", "Orders");
    let node = folders.served().await;
    workflows(&node, |there| there.len() == 1).await;
    let state = told_state(&folders, "orders").await;
    folders.save("a-copy/.workflow.state", &state);
    folders.workflow("a-copy", "Copied");
    let refused = format!(
        "{}: it has the id of the workflow in orders",
        folders.path("a-copy/.workflow.state").display()
    );
    told(&node, &refused).await;
    std::fs::remove_file(folders.path("a-copy/.workflow.state")).unwrap();
    let there = workflows(&node, |there| there.len() == 2).await;
    assert_ne!(there[0]["id"], there[1]["id"]);
}

#[tokio::test]
async fn workflows_live_in_the_workspace_that_is_named_and_a_missing_one_is_a_usage_error() {
    let folders = Folders::new();
    folders.workflow("orders", "Orders");
    let mut node = Node::builder().own_address().start().await;
    let workspace = json!({ "orgname": "acme" });
    let workspace = node.post("/workspaces", workspace).await.is(200).data();
    node.kill_9();
    node.add_env("HEADWATER_WORKFLOWS", &folders.0.path().to_string_lossy());
    node.add_env("HEADWATER_WORKSPACE", "acme");
    node.restart().await;
    let path = format!(
        "/workflows?workspace_id={}",
        workspace["id"].as_str().unwrap()
    );
    let there = workflows_in(&node, &path, |there| there.len() == 1).await;
    assert_eq!(there[0]["owner_id"], workspace["id"]);
    let all = node.get("/workflows").await.is(200).items();
    assert_eq!(all.len(), 1, "{all:?}");

    let flag = folders.flag();
    let flags = ["serve", &flag, "--data-dir=other", "--listen=127.0.0.1:0"];
    let seen = node
        .cli_in(
            folders.0.path(),
            &[&flags[..], &["--workspace=nobody"]].concat(),
        )
        .await;
    assert_eq!(seen.code, 2, "{}", seen.stderr);
    assert!(
        seen.stderr.contains("no workspace `nobody`"),
        "{}",
        seen.stderr
    );
    let missing = [
        "--workflows=missing",
        "--data-dir=third",
        "--listen=127.0.0.1:0",
    ];
    let seen = node
        .cli_in(folders.0.path(), &[&["serve"], &missing[..]].concat())
        .await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    assert!(
        seen.stderr.contains("--workflows: cannot read"),
        "{}",
        seen.stderr
    );
}
