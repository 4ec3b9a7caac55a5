//! Several nodes on one database: one leads, the others pass requests on and take over.

use std::{net::IpAddr, sync::Arc, time::Duration};

use headwater_integration::{
    CLUSTER_SECRET, Database, Node, NodeBuilder, Source, headwater_in, payloads,
};
use serde_json::{Value, json};

use crate::code::{COUNTING, INBOX, answering};

/// A secret key that all nodes are given.
const SECRET_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

fn on(database: &Arc<Database>) -> NodeBuilder {
    Node::builder().of_cluster(database)
}

/// A node that leads, and one that follows it.
async fn pair(database: &Arc<Database>) -> (Node, Node) {
    let first = on(database).start().await;
    first.until_it("leads").await;
    let second = on(database).start().await;
    second.until_it("follows").await;
    (first, second)
}

/// The source's endpoint at that node.
fn endpoint(node: &Node, source: &Source) -> String {
    let url = url::Url::parse(source.endpoint()).unwrap();
    format!("{}{}", node.url(), url.path())
}

async fn counted(node: &Node, source: &Source) -> Vec<Value> {
    payloads(&node.events(source).await)
}

#[tokio::test]
async fn every_node_answers_as_the_one_that_leads_does() {
    let database = Arc::new(Database::create());
    let (_first, second) = pair(&database).await;
    let counting = second.deploy(COUNTING, json!({})).await;
    let mut stream = second
        .follow(&format!("{}/sse", counting.path()), None)
        .await;
    second.run(&counting, json!({})).await;
    assert_eq!(stream.next().await.unwrap().data["event"], 1);
    let answering = second.deploy(&answering("1.2.3"), json!({})).await;
    let answered = second.get(&endpoint(&second, &answering)).await.is(200);
    assert_eq!(answered.text, "1.2.3");
    let page = second
        .get(&format!("{}/signin", second.url()))
        .await
        .is(200);
    assert!(page.text.contains("<html"), "{}", page.text);
    second
        .get(&format!("{}/healthz", second.url()))
        .await
        .is(200);
    let ready = second
        .get(&format!("{}/readyz", second.url()))
        .await
        .is(200);
    assert_eq!(ready.json()["part"], "follows");
    let metrics = second
        .get(&format!("{}/metrics", second.url()))
        .await
        .is(200);
    assert!(
        metrics.text.contains("headwater_leading 0"),
        "{}",
        metrics.text
    );
}

/// A body that is passed on piece by piece, and one that is passed on whole.
#[tokio::test]
async fn events_that_arrive_at_another_node_have_their_body_and_their_client() {
    let database = Arc::new(Database::create());
    let (_first, second) = pair(&database).await;
    let inbox = second.deploy(INBOX, json!({})).await;
    let client: IpAddr = "127.0.0.77".parse().unwrap();
    let http = reqwest::Client::builder()
        .local_address(client)
        .build()
        .unwrap();
    for size in [10, 300_000] {
        let sent = http
            .post(endpoint(&second, &inbox))
            .header("headwater-client", "203.0.113.9:1")
            .header("headwater-cluster", "00")
            .body("x".repeat(size))
            .send()
            .await
            .unwrap();
        assert_eq!(sent.status(), 200);
    }
    let events = second
        .events_until(&inbox, |events| events.len() == 2)
        .await;
    for (event, size) in payloads(&events).iter().zip([10, 300_000]) {
        assert_eq!(event["client_ip"], "127.0.0.77");
        assert_eq!(event["body"].as_str().unwrap().len(), size);
        let headers = event["headers"].as_object().unwrap();
        assert!(
            !headers.keys().any(|name| name.starts_with("headwater-")),
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn requests_wait_until_another_node_has_taken_over_from_one_that_was_killed() {
    let database = Arc::new(Database::create());
    let (mut first, second) = pair(&database).await;
    let source = second.deploy(COUNTING, json!({})).await;
    second
        .account("slack", json!({"oauth_access_token": "xoxb-1"}))
        .await;
    second.run(&source, json!({})).await;
    first.kill_9();
    second.run(&source, json!({})).await;
    assert_eq!(counted(&second, &source).await, [1, 2]);
    assert_eq!(second.seen().await["part"], "leads");
    let ready = second
        .get(&format!("{}/readyz", second.url()))
        .await
        .is(200);
    assert_eq!(ready.json()["checks"]["secret_key"]["status"], "ok");

    first.restart().await;
    first.until_it("follows").await;
    first.run(&source, json!({})).await;
    assert_eq!(counted(&first, &source).await, [1, 2, 3]);
}

#[tokio::test]
async fn a_drained_node_gives_its_work_up_and_is_passed_by() {
    let database = Arc::new(Database::create());
    let (mut first, second) = pair(&database).await;
    let source = first.deploy(COUNTING, json!({})).await;
    first.run(&source, json!({})).await;
    let id = first.id();
    let drained = first.cli(&["nodes", "drain", &id]).await.ok();
    assert_eq!(drained.stdout.trim(), id);
    first.output_with("drained: runs have up to 5 s to end");
    assert_eq!(second.seen().await["part"], "leads");
    first.get(&format!("{}/readyz", first.url())).await.is(503);
    first.run(&source, json!({})).await;
    assert_eq!(counted(&second, &source).await, [1, 2]);
    let listed = second.cli(&["nodes"]).await.ok();
    assert!(
        listed.stdout.contains("follows, drains"),
        "{}",
        listed.stdout
    );

    second.cli(&["nodes", "undrain", &first.url()]).await.ok();
    assert_eq!(first.seen().await["draining"], false);
    let acts = second.get("/audit?action=node").await.is(200).items();
    let acts: Vec<_> = acts.iter().map(|act| &act["action"]).collect();
    assert_eq!(acts, ["node.undrain", "node.drain"]);
    assert!(first.terminate().await.success());
    assert_eq!(second.nodes().await.len(), 1);
    second.run(&source, json!({})).await;
}

/// The other one lives, and says so in the database; the way to it is wrong.
#[tokio::test]
async fn a_node_that_cannot_reach_the_one_that_leads_is_not_ready() {
    let database = Arc::new(Database::create());
    let first = on(&database)
        .env("HEADWATER_NODE_ADDRESS", "http://192.0.2.1:9")
        .start()
        .await;
    first.until_it("leads").await;
    let second = on(&database).start().await;
    let ready = format!("{}/readyz", second.url());
    let answer = loop {
        let answer = second.get(&ready).await;
        if answer.status == 503 {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!(answer.json()["status"], "cut off");
    let told = second.output_with("cannot reach the node that leads");
    assert!(told.contains("--node-address"), "{told}");
}

#[tokio::test]
async fn a_node_that_stops_leaves_its_work_to_another_at_once() {
    let database = Arc::new(Database::create());
    let (mut first, second) = pair(&database).await;
    let source = first.deploy(COUNTING, json!({})).await;
    first.run(&source, json!({})).await;
    assert!(first.terminate().await.success());
    second.run(&source, json!({})).await;
    assert_eq!(counted(&second, &source).await, [1, 2]);
}

#[tokio::test]
async fn a_node_that_was_silent_for_too_long_follows_the_one_that_took_over() {
    let database = Arc::new(Database::create());
    let (first, second) = pair(&database).await;
    let source = first.deploy(COUNTING, json!({})).await;
    first.run(&source, json!({})).await;
    first.signal("STOP");
    second.until_it("leads").await;
    second.run(&source, json!({})).await;
    first.signal("CONT");
    first.output_with("silent for too long");
    first.run(&source, json!({})).await;
    assert_eq!(counted(&second, &source).await, [1, 2, 3]);
    assert_eq!(second.seen().await["part"], "leads");
}

/// Runs each once.
async fn run_all(node: &Node, sources: &[Source]) {
    for source in sources {
        node.run(source, json!({})).await;
    }
}

#[tokio::test]
async fn components_run_on_every_node_and_go_on_elsewhere_when_theirs_is_lost_or_drained() {
    let database = Arc::new(Database::create());
    let (first, mut second) = pair(&database).await;
    let mut sources = Vec::new();
    for _ in 0..6 {
        sources.push(first.deploy(COUNTING, json!({})).await);
    }
    let mut times = 0;
    for ends in ["killed", "drained"] {
        while second.seen().await["owned"] == 0 {
            run_all(&first, &sources).await;
            times += 1;
        }
        if ends == "killed" {
            second.kill_9();
        } else {
            second.cli(&["nodes", "drain", &second.id()]).await.ok();
            assert_eq!(second.seen().await["owned"], 0);
        }
        run_all(&first, &sources).await;
        times += 1;
        if ends == "killed" {
            second.restart().await;
            second.until_it("follows").await;
        }
    }
    let first_seen = first.seen().await;
    assert_eq!(
        (&first_seen["part"], &first_seen["owned"]),
        (&json!("leads"), &json!(6))
    );
    for source in &sources {
        assert_eq!(
            counted(&first, source).await,
            (1..=times).collect::<Vec<_>>()
        );
    }
}

#[tokio::test]
async fn nodes_speak_https_with_each_other() {
    let database = Arc::new(Database::create());
    let (builder, _certificate) = Node::builder().of_encrypted_cluster(&database);
    let first = builder.start().await;
    first.until_it("leads").await;
    let (builder, _certificate) = Node::builder().of_encrypted_cluster(&database);
    let second = builder.start().await;
    second.until_it("follows").await;
    let sources = [(); 6].map(|()| second.deploy(COUNTING, json!({})));
    let sources = futures::future::join_all(sources).await;
    while second.seen().await["owned"] == 0 {
        run_all(&second, &sources).await;
    }
    assert!(
        second.seen().await["address"]
            .as_str()
            .unwrap()
            .starts_with("https://")
    );
}

/// A word that a client sends is passed on like any other header, and no node takes it for that of a node.
#[tokio::test]
async fn nobody_but_a_node_gets_the_workers_of_another() {
    let database = Arc::new(Database::create());
    let (first, second) = pair(&database).await;
    let http = reqwest::Client::new();
    for word in ["00", &"ab".repeat(32)] {
        let asked = http
            .post(second.url())
            .header("headwater-workers", word)
            .header("headwater-leader", first.id())
            .header("headwater-version", env!("CARGO_PKG_VERSION"))
            .send()
            .await
            .unwrap();
        assert!(asked.headers().get("headwater-processors").is_none());
        assert!(asked.status().is_client_error(), "{}", asked.status());
    }
}

#[tokio::test]
async fn a_new_secret_key_is_the_key_of_all_nodes() {
    let database = Arc::new(Database::create());
    let (mut first, second) = pair(&database).await;
    let account = json!({"oauth_access_token": "xoxb-1"});
    first.account("slack", account).await;
    first.post("/secret_key/rotate", json!({})).await.is(200);
    first
        .account("slack", json!({"oauth_access_token": "xoxb-2"}))
        .await;
    first.kill_9();
    second.until_it("leads").await;
    let ready = second
        .get(&format!("{}/readyz", second.url()))
        .await
        .is(200);
    assert_eq!(ready.json()["checks"]["secret_key"]["status"], "ok");
    assert!(
        !database
            .sql("SELECT encode(sealed, 'escape') FROM cluster_keys")
            .is_empty()
    );
    for node in [&first, &second] {
        assert!(!node.data_dir().join("secret-key").exists());
    }
}

#[tokio::test]
async fn a_dump_of_the_database_and_the_secret_are_a_backup() {
    let database = Arc::new(Database::create());
    let mut node = on(&database).start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    let account = node.account("shop", json!({"api_key": "hunter2"})).await;
    let account = format!("/accounts/{account}?include_credentials=1");
    let kept = node.get(&account).await.is(200).data();
    let restored = Arc::new(database.restored_from_dump());
    node.run(&source, json!({})).await;
    node.terminate().await;

    let node = on(&restored).start().await;
    assert_eq!(counted(&node, &source).await, [1]);
    node.run(&source, json!({})).await;
    assert_eq!(counted(&node, &source).await, [1, 2]);
    let ready = node.get("//readyz").await.is(200);
    assert_eq!(ready.json()["checks"]["secret_key"]["status"], "ok");
    assert_eq!(node.get(&account).await.is(200).data(), kept);
}

#[tokio::test]
async fn a_node_with_another_secret_does_not_join() {
    let database = Arc::new(Database::create());
    let node = on(&database).start().await;
    node.until_it("leads").await;
    let url = database.url();
    let start = async |more: &[&str]| {
        let folder = tempfile::tempdir().unwrap();
        let serve = ["serve", "--listen=127.0.0.1:0", "--database-url", &url];
        let ended = headwater_in(folder.path(), &[&serve, more].concat()).await;
        let left = std::fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 0, "{}", ended.stderr);
        ended
    };
    let other = "another-secret-of-32-characters-or-more";
    let address = "--node-address=127.0.0.1:9";
    let refused = start(&["--cluster-secret", other, address]).await;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--cluster-secret: does not open"),
        "{}",
        refused.stderr
    );
    for (more, told) in [
        (
            vec!["--cluster-secret", CLUSTER_SECRET],
            "--node-address: must be given with --cluster-secret",
        ),
        (
            vec![address],
            "--cluster-secret: must be given with --node-address",
        ),
        (
            vec!["--cluster-secret", "short", address],
            "--cluster-secret: must have",
        ),
        (
            vec![
                "--cluster-secret",
                CLUSTER_SECRET,
                "--node-address=https://127.0.0.1:9",
            ],
            "--tls-cert: must be given with --node-address https://",
        ),
        (
            vec![
                "--cluster-secret",
                CLUSTER_SECRET,
                "--node-address=0.0.0.0:1",
            ],
            "--node-address: must name one machine",
        ),
    ] {
        let refused = start(&more).await;
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains(told), "{}", refused.stderr);
    }
}

#[tokio::test]
async fn a_node_alone_does_not_take_the_keys_of_a_cluster_for_lost() {
    let database = Arc::new(Database::create());
    let mut node = on(&database).start().await;
    node.until_it("leads").await;
    assert!(node.terminate().await.success());
    let folder = tempfile::tempdir().unwrap();
    let url = database.url();
    let serve = ["serve", "--listen=127.0.0.1:0", "--database-url", &url];
    let refused = headwater_in(folder.path(), &serve).await;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("give --cluster-secret"),
        "{}",
        refused.stderr
    );
}

/// A node that could not take over is not counted on, whatever the reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_without_room_takes_nothing_over() {
    let database = Arc::new(Database::create());
    let Some(small) = on(&database).small_disk(160) else {
        eprintln!("skipped: this process may not mount a file system");
        return;
    };
    let first = on(&database).start().await;
    first.until_it("leads").await;
    let second = small.start().await;
    second.until_it("follows").await;
    let filler = second.data_dir().join("filler");
    let mut file = std::fs::File::create(&filler).unwrap();
    while std::io::Write::write_all(&mut file, &[0; 4096]).is_ok() {}
    second.until(|seen| seen["can_lead"] == false).await;
    let drain = ["nodes", "drain", &first.id()];
    let refused = first.cli(&drain).await;
    assert!(
        refused.stderr.contains("no other node could take over"),
        "{}",
        refused.stderr
    );
    let listed = first.cli(&["nodes"]).await.ok();
    assert!(listed.stdout.contains("cannot lead"), "{}", listed.stdout);
    second.output_with("make room on its disk");
    drop(file);
    std::fs::remove_file(filler).unwrap();
    second.until(|seen| seen["can_lead"] == true).await;
    first.cli(&drain).await.ok();
    assert_eq!(second.seen().await["part"], "leads");
}

/// A cluster whose secret keys are not in its database, on which a newer version has led.
#[tokio::test]
async fn nodes_that_do_not_fit_are_refused_or_only_follow() {
    let database = Arc::new(Database::create());
    let keyed = || on(&database).env("HEADWATER_SECRET_KEY", SECRET_KEY);
    let mut first = keyed().start().await;
    first.until_it("leads").await;
    let second = keyed().start().await;
    second.until_it("follows").await;
    let source = second.deploy(COUNTING, json!({})).await;
    let refused = |secret: &'static str| {
        let (url, folder) = (database.url(), tempfile::tempdir().unwrap());
        async move {
            let serve = [
                "serve",
                "--listen=127.0.0.1:0",
                "--node-address=127.0.0.1:9",
            ];
            let given = ["--database-url", &url, "--cluster-secret", secret];
            headwater_in(folder.path(), &[&serve[..], &given].concat()).await
        }
    };
    let other = refused("another-secret-of-32-characters-or-more").await;
    assert!(
        other
            .stderr
            .contains("--cluster-secret: is not the one of the node"),
        "{}",
        other.stderr
    );

    database.sql("UPDATE schema_version SET version = version + 1");
    let older = refused(CLUSTER_SECRET).await;
    assert!(
        older.stderr.contains("start a newer headwater"),
        "{}",
        older.stderr
    );
    second.until(|seen| seen["can_lead"] == false).await;
    second.run(&source, json!({})).await;
    let drained = second.cli(&["nodes", "drain", &first.id()]).await;
    assert_eq!(drained.code, 1, "{}", drained.stderr);
    first.kill_9();
    second.output_with("cannot take over");
    database.sql("UPDATE schema_version SET version = version - 1");
    second.run(&source, json!({})).await;
    assert_eq!(counted(&second, &source).await, [1, 2]);
}
