//! The servers around a node do what the tests rely on.

use headwater_integration::{FeedServer, Postgres};

#[tokio::test]
async fn databases_of_one_server_are_apart() {
    let first = Postgres::start().await;
    let second = Postgres::start().await;
    first.sql("create table t (id int); insert into t values (2), (1)");
    assert_eq!(first.sql("select id from t order by id"), "1\n2");
    assert_eq!(
        second.sql("select count(*) from pg_tables where tablename = 't'"),
        "0"
    );
}

#[tokio::test]
async fn a_feed_lists_its_newest_item_first() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let feed = FeedServer::start(&["one"]).await;
    feed.publish(&["one", "two"]);
    let xml = reqwest::get(feed.url())
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(xml.find("news-two") < xml.find("news-one"), "{xml}");
}
