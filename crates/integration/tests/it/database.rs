//! A node on a PostgreSQL database: nothing of it is in the data folder, and another node takes its place.

use std::sync::Arc;

use headwater_integration::{
    Database, Node, NodeBuilder, Postgres, Source, Wire, headwater_in, payloads,
};
use serde_json::{Value, json};

use crate::code::COUNTING;

/// A key that all nodes of a database share.
const SECRET_KEY: &str = "0707070707070707070707070707070707070707070707070707070707070707";

fn on(database: &Arc<Database>) -> NodeBuilder {
    let node = Node::builder().own_address().database(database);
    node.env("HEADWATER_SECRET_KEY", SECRET_KEY)
}

async fn counted(node: &Node, source: &Source) -> Vec<Value> {
    payloads(&node.events(source).await)
}

#[tokio::test]
async fn everything_is_in_the_database_and_nothing_in_the_data_folder() {
    let database = Arc::new(Database::create());
    let mut node = on(&database).start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    node.kill_9();
    node.restart().await;
    node.run(&source, json!({})).await;
    assert_eq!(counted(&node, &source).await, [1, 2]);
    assert_eq!(node.store_files(), Vec::<std::path::PathBuf>::new());
    assert_eq!(database.sql("SELECT count(*) FROM sources"), "1");
}

/// Values stay encrypted with the key that both nodes have, and the first user's key is valid at both.
#[tokio::test]
async fn another_node_stands_by_until_the_first_is_gone() {
    let database = Arc::new(Database::create());
    let mut first = on(&database).start().await;
    let source = first.deploy(COUNTING, json!({})).await;
    first
        .account("slack", json!({"oauth_access_token": "xoxb-1"}))
        .await;
    let second = on(&database).start_standing_by().await;
    first.run(&source, json!({})).await;
    first.kill_9();
    let second = second.serving().await;
    second.run(&source, json!({})).await;
    assert_eq!(counted(&second, &source).await, [1, 2]);
    second
        .get(&format!("{}/readyz", second.url()))
        .await
        .is(200);
}

#[tokio::test]
async fn a_node_that_was_silent_for_too_long_ends_once_another_has_its_place() {
    let database = Arc::new(Database::create());
    let mut first = on(&database).start().await;
    let source = first.deploy(COUNTING, json!({})).await;
    first.run(&source, json!({})).await;
    let second = on(&database).start_standing_by().await;
    first.signal("STOP");
    let second = second.serving().await;
    first.signal("CONT");
    let status = first.wait().await;
    assert!(!status.success());
    assert!(
        first.output().contains("another node has taken"),
        "{}",
        first.output()
    );
    second.run(&source, json!({})).await;
    assert_eq!(counted(&second, &source).await, [1, 2]);
}

#[tokio::test]
async fn a_node_that_stops_gives_its_place_up_at_once() {
    let database = Arc::new(Database::create());
    let mut first = on(&database).start().await;
    let second = on(&database).start_standing_by().await;
    assert!(first.terminate().await.success());
    let second = second.serving().await;
    second.get("/users/me").await.is(200);
}

#[tokio::test]
async fn an_operator_gets_a_new_key_for_a_stopped_node() {
    let database = Arc::new(Database::create());
    let mut node = on(&database).start().await;
    let url = database.url();
    let reset = ["keys", "reset", "--database-url", url.as_str()];
    let elsewhere = tempfile::tempdir().unwrap();
    let data_dir = elsewhere.path().to_str().unwrap();
    let in_use = node
        .cli(&[reset.as_slice(), &["--data-dir", data_dir]].concat())
        .await;
    assert_ne!(in_use.code, 0);
    assert!(in_use.stderr.contains("stop it first"), "{}", in_use.stderr);
    node.terminate().await;
    let made = node.cli(&reset).await.ok();
    node.restart().await;
    let with_new = node.with_key(Some(made.stdout.trim()));
    with_new.get("/users/me").await.is(200);
}

#[tokio::test]
async fn a_database_that_is_not_there_is_named_without_its_password() {
    let folder = tempfile::tempdir().unwrap();
    let url = "postgres://headwater:hunter2@127.0.0.1:1/headwater";
    let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", url];
    let ended = headwater_in(folder.path(), &serve).await;
    assert_eq!(ended.code, 1, "{}", ended.stderr);
    let told = ended.stderr;
    assert!(
        told.contains("--database-url") && !told.contains("hunter2"),
        "{told}"
    );
    for slip in [" postgres", "postgre"] {
        let url = format!("{slip}://headwater:hunter2@db/headwater?sslmode=require");
        let serve = ["serve", "--listen", "127.0.0.1:0", "--database-url", &url];
        let told = headwater_in(folder.path(), &serve).await.stderr;
        assert!(
            told.contains("begin with postgres://") && !told.contains("hunter2"),
            "{told}"
        );
    }
    let missing = Database::create().url().replace("/node_", "/no_node_");
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        &missing,
    ];
    let told = headwater_in(folder.path(), &serve).await.stderr;
    assert!(
        told.contains("(3D000)); create the database"),
        "the database's own words and what to do: {told}"
    );
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 0, "a refused start leaves no data folder");
}

#[tokio::test]
async fn a_node_goes_on_once_its_database_is_back() {
    let database = Arc::new(Database::create());
    let wire = Wire::to(&database);
    let url = wire.url();
    let node = Node::builder().env("HEADWATER_DATABASE_URL", &url);
    let node = node.start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    wire.cut();
    let refused = node.get(&source.path()).await;
    assert_eq!(refused.status, 503, "{}", refused.text);
    wire.mend();
    node.run(&source, json!({})).await;
    assert_eq!(counted(&node, &source).await, [1, 2]);
}

#[tokio::test]
async fn connections_are_encrypted_and_the_server_is_checked_where_the_url_asks_for_it() {
    let postgres = Postgres::start().await;
    let folder = tempfile::tempdir().unwrap();
    let authority = folder.path().join("authority.pem");
    std::fs::write(&authority, postgres.certificate()).unwrap();
    let checked = format!("sslmode=verify-full&sslrootcert={}", authority.display());
    let url = postgres.url(&checked);
    let node = Node::builder().env("HEADWATER_DATABASE_URL", &url);
    let mut node = node.start().await;
    let encrypted = "SELECT bool_and(ssl) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                     WHERE application_name = 'headwater'";
    assert_eq!(postgres.sql(encrypted), "t");
    node.terminate().await;

    let reset = async |parameters: &str| {
        let url = postgres.url(parameters);
        headwater_in(folder.path(), &["keys", "reset", "--database-url", &url]).await
    };
    let unknown = reset("sslmode=verify-full").await;
    assert_eq!(unknown.code, 1);
    assert!(unknown.stderr.contains("certificate"), "{}", unknown.stderr);
    reset("sslmode=require").await.ok();
}
