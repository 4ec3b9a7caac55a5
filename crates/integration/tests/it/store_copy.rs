//! `headwater store copy`: a node's store moves from its folder into a database and back, whole or not at all.

use std::{path::Path, sync::Arc};

use headwater_integration::{
    CLUSTER_SECRET, Database, Node, NodeBuilder, Receiver, Seen, Source, headwater_in, payloads,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::workflows::{Folder, HTTP, Workflow, step};

const WRITE_OR_READ: &str = "const file = $.files.open('reports/a b.csv');
    if (steps.trigger.event.write) {
        await (await import('node:fs/promises')).writeFile('/tmp/local', 'line\\n'.repeat(100_000));
        await file.fromFile('/tmp/local');
    }
    return (await file.toEncodedString('utf-8')).split('\\n').length;";

/// Emits the key of its account and the number of its runs.
const COUNTING: &str = r#"
export default {
  name: "Counting",
  version: "0.0.1",
  props: { db: "$.service.db", shop: { type: "app", app: "shop" } },
  run() {
    const n = (this.db.get("n") ?? 0) + 1;
    this.db.set("n", n);
    this.$emit({ n, key: this.shop.$auth.api_key });
  },
};
"#;

async fn copy(from: &str, to: &str) -> Seen {
    let folder = tempfile::tempdir().unwrap();
    let copy = ["store", "copy", "--from", from, "--to", to];
    headwater_in(folder.path(), &copy).await
}

fn shown(folder: &Path) -> &str {
    folder.to_str().unwrap()
}

/// The secret key of a folder's node.
fn key_of(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("secret-key")).unwrap()
}

fn builder() -> NodeBuilder {
    Node::builder().own_address().private_network()
}

/// The things of a node that are used before a copy and after it.
struct Used {
    receiver: Receiver,
    source: Source,
    workflow: Workflow,
    runs: u64,
}

impl Used {
    async fn on(node: &Node) -> Self {
        let receiver = Receiver::start().await;
        let account = node.account("shop", json!({"api_key": "hunter2"})).await;
        let props = json!({"shop": {"authProvisionId": account}});
        let source = node.deploy(COUNTING, props).await;
        node.webhook_for(&source.id, &receiver.url()).await;
        let folder = Folder::new(HTTP, &[("file", WRITE_OR_READ)]);
        let workflow = folder.deployed(node).await;
        workflow
            .run(node, json!({"write": true}), "succeeded")
            .await;
        Self {
            receiver,
            source,
            workflow,
            runs: 0,
        }
    }

    /// Uses all of them once more. Nothing of before is missing, and new ids are above the former ones.
    async fn use_on(&mut self, node: &Node) {
        node.run(&self.source, json!({})).await;
        self.runs += 1;
        let counted: Vec<_> = (1..=self.runs)
            .map(|n| json!({"n": n, "key": "hunter2"}))
            .collect();
        let events = node.events(&self.source).await;
        assert_eq!(payloads(&events), counted);
        let ids: Vec<_> = events.iter().map(|event| event["id"].as_str()).collect();
        assert!(ids.is_sorted(), "{ids:?}");
        let arrived = |received: &[_]| received.len() as u64 == self.runs;
        self.receiver.until(arrived).await;
        let run = self.workflow.run(node, json!({}), "succeeded").await;
        assert_eq!(step(&run, "file")["return_value"], 100_001);
    }
}

#[tokio::test]
async fn a_node_moves_into_a_database_and_back() {
    let mut first = builder().start().await;
    let mut used = Used::on(&first).await;
    used.use_on(&first).await;
    first.terminate().await;
    let database = Arc::new(Database::create());
    let key = key_of(first.data_dir());
    let up = copy(shown(first.data_dir()), &database.url()).await.ok();
    assert!(up.stdout.contains("workflows"), "{}", up.stdout);
    assert!(up.stderr.contains("secret-key"), "{}", up.stderr);

    let second = builder().database(&database);
    let mut second = second.env("HEADWATER_SECRET_KEY", &key).start().await;
    used.use_on(&second).await;
    second.terminate().await;
    assert_eq!(
        database.sql("SELECT files, bytes FROM file_usage"),
        "1|500000"
    );

    let back = tempfile::tempdir().unwrap();
    let folder = back.path().join("data");
    let down = copy(&database.url(), shown(&folder)).await.ok();
    let told = format!(
        "put the secret key of the database's nodes into {}",
        shown(&folder)
    );
    assert!(down.stderr.contains(&told), "{}", down.stderr);
    std::fs::write(folder.join("secret-key"), &key).unwrap();
    let third = builder().copy_of_folder(&folder).start().await;
    used.use_on(&third).await;
    used.use_on(&third).await;
}

/// A copy by somebody who knows the secret of the cluster.
async fn copy_of_cluster(node: &Node, to: &str) -> Seen {
    let from = node.database_url().expect("its store is a database");
    let copy = ["store", "copy", "--from", &from, "--to", to];
    let mut copy = node.command(&copy);
    copy.env("HEADWATER_CLUSTER_SECRET", CLUSTER_SECRET);
    copy.output().await.unwrap().into()
}

#[tokio::test]
async fn the_secret_keys_of_a_cluster_go_along_with_its_secret() {
    let database = Arc::new(Database::create());
    let cluster = |database| builder().of_cluster(database);
    let mut first = cluster(&database).start().await;
    first.until_it("leads").await;
    let mut used = Used::on(&first).await;
    used.use_on(&first).await;
    first.terminate().await;

    let back = tempfile::tempdir().unwrap();
    let folder = back.path().join("data");
    let refused = copy(&database.url(), shown(&folder)).await;
    assert_eq!(refused.code, 1, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("set HEADWATER_CLUSTER_SECRET"),
        "{}",
        refused.stderr
    );
    assert!(!folder.exists());
    copy_of_cluster(&first, shown(&folder)).await.ok();
    let mut alone = builder().copy_of_folder(&folder).start().await;
    used.use_on(&alone).await;
    alone.terminate().await;

    let other = Arc::new(Database::create());
    copy_of_cluster(&first, &other.url()).await.ok();
    let second = cluster(&other).start().await;
    second.until_it("leads").await;
    second.run(&used.source, json!({})).await;
    let newest = second.events(&used.source).await.pop().unwrap();
    assert_eq!(newest["event"], json!({"n": 2, "key": "hunter2"}));
}

/// Rows of every table of a node that was used, and two made-up ones where they may be.
async fn with_every_table() -> Arc<Database> {
    let database = Arc::new(Database::create());
    let mut node = builder().database(&database).start().await;
    let mut used = Used::on(&node).await;
    used.use_on(&node).await;
    node.terminate().await;
    let columns = "SELECT table_name, column_name, data_type FROM information_schema.columns
        JOIN information_schema.tables USING (table_schema, table_name)
        WHERE table_schema = 'public' AND table_type = 'BASE TABLE' ORDER BY 1, 2";
    let columns = database.sql(columns);
    let columns: Vec<Vec<&str>> = columns
        .lines()
        .map(|row| row.split('|').collect())
        .collect();
    let mut made_up = "SET session_replication_role = replica;".to_owned();
    for of_one in columns.chunk_by(|one, other| one[0] == other[0]) {
        if STAYING.contains(&of_one[0][0]) || ONE_ROW.contains(&of_one[0][0]) {
            continue;
        }
        let names: Vec<_> = of_one.iter().map(|row| format!("\"{}\"", row[1])).collect();
        for number in [1_000_000, 1_000_001] {
            let value = |kind: &str| match kind {
                // An escaped U+0000 is among the text.
                "text" => format!("'v' || {number} || chr(1) || chr(1) || 'é\"'"),
                "bytea" => format!("'\\x00ff0{}'", number % 10),
                "boolean" => (number % 2 == 0).to_string(),
                "bigint" => number.to_string(),
                "double precision" => format!("{number}.25"),
                other => panic!("a column has the new type {other}"),
            };
            let values: Vec<_> = of_one.iter().map(|row| value(row[2])).collect();
            let (table, names, values) = (of_one[0][0], names.join(", "), values.join(", "));
            made_up.push_str(&format!("INSERT INTO {table} ({names}) VALUES ({values});"));
        }
    }
    database.sql(&made_up);
    database
}

/// Tables that belong to one database alone, or whose rows are not copied as such.
const STAYING: [&str; 11] = [
    "cluster_keys",
    "cluster_marks",
    "commit_marks",
    "file_chunks",
    "file_contents",
    "file_usage",
    "files",
    "log_turn",
    "members",
    "nodes",
    "schema_version",
];
const ONE_ROW: [&str; 2] = ["dispatch_cursor", "retention"];

/// The rows of each table as the server prints them, by table.
fn contents(database: &Database) -> Vec<(String, String)> {
    let tables = database
        .sql("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename");
    let tables = tables.lines().filter(|table| !STAYING.contains(table));
    let sum = |table: &str| {
        let rows = format!("SELECT row::text FROM {table} AS row ORDER BY 1");
        (table.to_owned(), database.sql(&rows))
    };
    tables.map(sum).collect()
}

#[tokio::test]
async fn every_table_is_the_same_after_it_was_in_a_folder() {
    let database = with_every_table().await;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("data");
    copy(&database.url(), shown(&folder)).await.ok();
    let again = Arc::new(Database::create());
    let copied = copy(shown(&folder), &again.url()).await.ok();
    let (there, here) = (contents(&database), contents(&again));
    assert!(there.len() > 50);
    for (one, other) in there.iter().zip(&here) {
        assert!(!one.1.is_empty(), "{} is empty", one.0);
        assert_eq!(one, other);
    }
    let number = "SELECT last_value FROM node_epochs";
    assert_eq!(again.sql(number), database.sql(number));
    let next =
        "INSERT INTO events (emitter_id, ms, sequence, class, channel, event, hops, indexed_at_ms)
                VALUES ('x', 1, 1, 0, '', '', 0, 0) RETURNING position";
    assert_eq!(again.sql(next), "1000002");
    assert!(copied.stdout.contains("file"), "{}", copied.stdout);
    let in_json = tempfile::tempdir().unwrap();
    let target = in_json.path().join("data");
    let url = database.url();
    let copy = [
        "store",
        "copy",
        "--json",
        "--from",
        &url,
        "--to",
        shown(&target),
    ];
    let report = headwater_in(in_json.path(), &copy).await.ok().json();
    assert_eq!(report["files"], json!({"files": 1, "bytes": 500_000}));
    let users = |table: &&Value| table["name"] == "users";
    let tables = report["tables"].as_array().unwrap();
    assert_eq!(tables.iter().find(users).unwrap()["rows"], 3);
}

/// A folder of a node that has stopped, and a file in it whose content is not what was stored.
async fn with_a_damaged_file() -> (Node, std::path::PathBuf, Vec<u8>) {
    let mut node = builder().start().await;
    Used::on(&node).await;
    node.terminate().await;
    let tenants = node.data_dir().join("files/tenants");
    let tenant = std::fs::read_dir(tenants).unwrap().next().unwrap().unwrap();
    let kept = std::fs::read_dir(tenant.path().join("kept"))
        .unwrap()
        .next();
    let file = kept.unwrap().unwrap().path();
    let whole = std::fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    damaged[7] ^= 1;
    std::fs::write(&file, damaged).unwrap();
    (node, file, whole)
}

async fn refused_start(data_dir: &Path, further: &[&str]) -> String {
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--data-dir",
        shown(data_dir),
    ];
    let ended = headwater_in(data_dir, &[serve.as_slice(), further].concat()).await;
    assert_ne!(ended.code, 0);
    ended.stderr
}

#[tokio::test]
async fn no_node_starts_on_a_copy_that_was_not_finished_and_it_may_be_begun_again() {
    let (node, file, whole) = with_a_damaged_file().await;
    let database = Arc::new(Database::create());
    let (from, url) = (shown(node.data_dir()).to_owned(), database.url());
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    for to in [url.as_str(), shown(&data)] {
        let failed = copy(&from, to).await;
        assert_eq!(failed.code, 1);
        let told = failed.stderr;
        assert!(told.contains("reports/a b.csv"), "{told}");
        assert!(told.contains("is unfinished"), "{told}");
    }
    let elsewhere = TempDir::new().unwrap();
    let told = refused_start(elsewhere.path(), &["--database-url", &url]).await;
    assert!(told.contains("store copy` again"), "{told}");
    let told = refused_start(&data, &[]).await;
    assert!(told.contains("store copy` again"), "{told}");
    std::fs::write(file, whole).unwrap();

    // The next one is killed while rows are written.
    database.sql(
        "CREATE FUNCTION stay() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(600); RETURN NEW; END $$;
         CREATE TRIGGER staying BEFORE INSERT ON workflows FOR EACH ROW EXECUTE FUNCTION stay()",
    );
    let staying = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    tokio::select! {
        ended = copy(&from, &url) => panic!("it ended: {}", ended.stderr),
        () = async {
            while database.sql(staying) == "0" {
                tokio::task::yield_now().await;
            }
        } => {}
    }
    let of = "SELECT application_name FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
    assert_eq!(
        database.sql(of),
        "headwater store copy",
        "it is not taken for a node's"
    );
    let told = refused_start(elsewhere.path(), &["--database-url", &url]).await;
    assert!(told.contains("store copy` again"), "{told}");
    database.sql(
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
         WHERE wait_event = 'PgSleep' AND datname = current_database()",
    );
    database.sql("DROP FUNCTION stay CASCADE");

    copy(&from, &url).await.ok();
    copy(&from, shown(&data)).await.ok();
    assert_eq!(database.sql("SELECT count(*) FROM workflows"), "1");
    let mut moved = builder().copy_of_folder(&data).start().await;
    let key = std::fs::read_to_string(data.join("secret-key")).unwrap();
    assert_eq!(key, key_of(node.data_dir()));
    moved.terminate().await;
}

#[tokio::test]
async fn what_is_in_use_or_not_empty_is_left_alone() {
    let mut node = builder().start().await;
    let database = Arc::new(Database::create());
    let from = shown(node.data_dir()).to_owned();
    let told = async |from: &str, to: &str| {
        let refused = copy(from, to).await;
        assert_ne!(refused.code, 0, "{}", refused.stdout);
        refused.stderr
    };
    let in_use = told(&from, &database.url()).await;
    assert!(in_use.contains("stop it"), "{in_use}");
    node.terminate().await;

    let mut other = builder().database(&database).start().await;
    let not_empty = told(&from, &database.url()).await;
    assert!(not_empty.contains("rows in"), "{not_empty}");
    assert!(not_empty.contains("users (1)"), "{not_empty}");
    let folder = TempDir::new().unwrap();
    let data = folder.path().join("data");
    let in_use = told(&database.url(), shown(&data)).await;
    assert!(in_use.contains("is in use: the node"), "{in_use}");
    other.terminate().await;
    copy(&database.url(), shown(folder.path())).await.ok();

    let not_empty = told(&database.url(), &from).await;
    assert!(not_empty.contains("secret-key"), "{not_empty}");
    let not_empty = told(&from, shown(folder.path())).await;
    assert!(not_empty.contains("files is there"), "{not_empty}");
    let nothing = told(shown(&data), &database.url()).await;
    assert!(nothing.contains("no embedded store"), "{nothing}");
    let password = told(&from, "mysql://a:hunter2@db/x").await;
    assert!(password.contains("--to: "), "{password}");
    let away = told(&from, "postgres://a:hunter2@127.0.0.1:1/x").await;
    assert!(away.contains("postgres://a@127.0.0.1:1/x"), "{away}");
    for told in [password, away] {
        assert!(!told.contains("hunter2"), "{told}");
    }
}
