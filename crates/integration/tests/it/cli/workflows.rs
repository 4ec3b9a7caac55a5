//! `headwater workflows`: a folder is created, deployed, run, replayed and deleted.

use std::path::Path;

use headwater_integration::{Method, Node, Seen};
use serde_json::json;

/// A step that fails for an event that says so, behind one that does not.
const DEFINITION: &str = "schema: workflow/2022.04
name: Orders
triggers:
- type: http
steps:
- namespace: enrich
- namespace: tell
";
const ENRICH: &str = "export default { run({ steps }) { console.log('enriching'); \
                      return { fails: steps.trigger.event.fails === true }; } };";
const TELL: &str = "export default { run({ steps }) { if (steps.enrich.$return_value.fails) \
                    throw new Error('no such channel'); return 'told'; } };";
const MENDED: &str = "export default { run({ steps }) { return 'mended'; } };";

/// A node, and the folder of a workflow.
struct Desk {
    node: Node,
    folder: tempfile::TempDir,
}

impl Desk {
    async fn new() -> Self {
        Self {
            node: Node::start().await,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// One whose folder `orders` has two steps, of which the second may fail.
    async fn with_orders() -> Self {
        let desk = Self::new().await;
        desk.save("workflow.yaml", DEFINITION);
        desk.save("enrich/entry.js", ENRICH);
        desk.save("tell/entry.js", TELL);
        desk
    }

    fn save(&self, file: &str, text: &str) {
        let path = self.folder.path().join("orders").join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    async fn workflows(&self, arguments: &[&str]) -> Seen {
        let arguments = [&["workflows"], arguments].concat();
        self.node.cli_in(self.folder.path(), &arguments).await
    }

    fn path(&self, file: &str) -> std::path::PathBuf {
        Path::new(self.folder.path()).join(file)
    }
}

#[tokio::test]
async fn a_new_folder_is_deployed_run_by_a_request_and_by_hand_replayed_and_deleted() {
    let desk = Desk::new().await;
    desk.workflows(&["init", "hello"]).await.ok();
    desk.workflows(&["check", "hello"]).await.ok();
    let seen = desk.workflows(&["deploy", "hello"]).await.ok();
    let state = std::fs::read_to_string(desk.path("hello/.workflow.state")).unwrap();
    let id = state.lines().find_map(|line| line.strip_prefix("id: "));
    let id = id.unwrap();
    assert!(seen.stdout.contains(id), "{}", seen.stdout);
    // What is printed can be called as it is.
    let call = seen.stderr.lines().find(|line| line.contains("curl "));
    let url = call.unwrap().rsplit(' ').next().unwrap();
    let request = desk.node.request(Method::POST, url);
    let request = request
        .header("content-type", "application/json")
        .body("{\"name\": \"Ada\"}");
    desk.node.send(request).await.is(200);

    let seen = desk.workflows(&["run", "hello", "--wait"]).await.ok();
    let run = seen.stdout.lines().next().unwrap();
    assert!(seen.stdout.contains("Greeted world"), "{}", seen.stdout);
    let shown = ["runs", "describe", run, "--json"];
    let shown = desk.node.cli(&shown).await.ok().json();
    assert_eq!(
        shown["steps"][0]["return_value"],
        json!({"greeting": "Hello, world!"})
    );
    let seen = desk.workflows(&["replay", run, "--wait"]).await.ok();
    let replay = seen.stdout.lines().next().unwrap();
    let shown = desk.node.cli(&["runs", "describe", replay]).await.ok();
    let told = format!("REPLAY OF    {run}");
    assert!(shown.stdout.contains(&told), "{}", shown.stdout);

    // The same workflow again, as the folder says.
    desk.workflows(&["deploy", "hello"]).await.ok();
    let listed = desk.workflows(&["list", "--json"]).await.ok().json();
    assert_eq!(listed.as_array().unwrap().len(), 1);
    desk.workflows(&["delete", "hello", "--yes"]).await.ok();
    let gone = desk.workflows(&["describe", id]).await;
    assert_eq!(gone.code, 1, "{}", gone.stdout);
}

#[tokio::test]
async fn a_run_that_fails_is_found_mended_and_replayed_from_the_step() {
    let desk = Desk::with_orders().await;
    desk.workflows(&["deploy", "orders"]).await.ok();
    let event = ["--event", "{\"fails\": true}"];
    let failing = [&["run", "Orders", "--wait"], &event[..]].concat();
    let seen = desk.workflows(&failing).await;
    assert_eq!(seen.code, 1, "{}", seen.stdout);
    let run = seen.stdout.lines().next().unwrap().to_owned();
    for told in ["enriching", "tell: Error: no such channel"] {
        assert!(seen.stderr.contains(told), "{}", seen.stderr);
    }
    let failed = ["runs", "orders", "--status", "failed"];
    let seen = desk.workflows(&failed).await.ok();
    assert!(seen.stdout.contains(&run), "{}", seen.stdout);
    let seen = desk.workflows(&["logs", &run]).await.ok();
    assert!(
        seen.stdout.contains("enrich  info   enriching"),
        "{}",
        seen.stdout
    );

    desk.save("tell/entry.js", MENDED);
    desk.workflows(&["deploy", "orders"]).await.ok();
    let from = ["replay", &run, "--from", "tell"];
    let seen = desk
        .workflows(&[&from[..], &["--dry-run"]].concat())
        .await
        .ok();
    assert!(
        seen.stdout.contains("USED AGAIN   enrich"),
        "{}",
        seen.stdout
    );
    let seen = desk
        .workflows(&[&from[..], &["--wait"]].concat())
        .await
        .ok();
    assert!(seen.stdout.contains("\"mended\""), "{}", seen.stdout);

    let all = [
        "replay",
        "--all",
        "--workflow",
        "orders",
        "--status",
        "failed",
        "--since",
        "1h",
    ];
    let seen = desk.workflows(&all).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("1 run to replay"), "{}", seen.stderr);
    let seen = desk.workflows(&[&all[..], &["--yes"]].concat()).await.ok();
    assert!(seen.stdout.contains(&run), "{}", seen.stdout);
}

#[tokio::test]
async fn a_run_that_waits_goes_on_with_the_data_that_it_is_given() {
    let desk = Desk::with_orders().await;
    desk.save(
        "enrich/entry.js",
        "export default { run({ $ }) { $.flow.suspend(); } };",
    );
    desk.save(
        "tell/entry.js",
        "export default { run({ steps }) { return [steps.enrich.$resume_data, process.env.PLACE]; } };",
    );
    let set = ["variables", "set", "PLACE", "here"];
    desk.node.cli(&set).await.ok();
    desk.workflows(&["deploy", "orders"]).await.ok();
    let run = ["workflows", "run", "orders", "--wait"];
    let mut running = desk.node.start_cli(desk.folder.path(), &run);
    running.expect("enrich waits (suspend)").await;
    let waiting = ["runs", "orders", "--status", "waiting", "--json"];
    let seen = desk.workflows(&waiting).await.ok().json();
    let id = seen[0]["id"].as_str().unwrap().to_owned();
    let resume = ["resume", &id, "--data", "{\"ok\": 1}"];
    desk.workflows(&resume).await.ok();
    assert!(running.end().await.success(), "{}", running.transcript());
    assert!(running.data().starts_with(&id), "{}", running.data());
    let seen = desk
        .node
        .cli(&["runs", "describe", &id, "--json"])
        .await
        .ok();
    assert_eq!(
        seen.json()["steps"][1]["return_value"],
        json!([{"ok": 1}, "here"])
    );
    let again = desk.workflows(&resume).await;
    assert_eq!(again.code, 1, "{}", again.stdout);

    let seen = desk.workflows(&["run", "orders"]).await.ok();
    let id = seen.stdout.trim();
    desk.workflows(&["cancel", id]).await.ok();
    crate::workflows::until(&desk.node, &format!("/runs/{id}"), "cancelled").await;
    let seen = desk
        .node
        .cli(&["runs", "describe", id, "--json"])
        .await
        .ok();
    assert_eq!(seen.json()["status"], "cancelled");
}

#[tokio::test]
async fn dev_deploys_each_save_and_shows_the_runs() {
    let desk = Desk::with_orders().await;
    desk.save("tell/entry.js", "this is no JavaScript");
    let dev = ["workflows", "dev", "orders"];
    dev_deploys_and_shows(&desk, &dev).await;
}

#[tokio::test]
async fn dev_takes_the_folder_of_a_workflow() {
    let desk = Desk::with_orders().await;
    desk.save("tell/entry.js", "this is no JavaScript");
    dev_deploys_and_shows(&desk, &["dev", "orders"]).await;
}

async fn dev_deploys_and_shows(desk: &Desk, dev: &[&str]) {
    let mut dev = desk.node.start_cli(desk.folder.path(), dev);
    dev.expect("not deployed; waiting").await;
    desk.save("tell/entry.js", TELL);
    dev.expect("live; saving").await;
    let seen = desk.workflows(&["run", "orders"]).await.ok();
    let id = seen.stdout.trim();
    let run = format!("{id}  ");
    dev.expect_all(&[&run, "enrich  info   enriching", "\"told\""])
        .await;
    desk.save("tell/entry.js", MENDED);
    dev.expect("live; saving").await;
    desk.workflows(&["run", "orders"]).await.ok();
    dev.expect("\"mended\"").await;
    desk.workflows(&["delete", "orders"]).await.ok();
    dev.expect("was deleted; the next save deploys it again")
        .await;
    desk.save("tell/entry.js", TELL);
    dev.expect_all(&["has a new URL", "live; saving"]).await;
    desk.workflows(&["run", "orders"]).await.ok();
    dev.expect("\"told\"").await;
    dev.signal("INT").await;
    assert!(dev.end().await.success(), "{}", dev.transcript());
    assert!(dev.transcript().contains("stays deployed"));
    desk.workflows(&["describe", "orders"]).await.ok();
}
