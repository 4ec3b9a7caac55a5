//! An order's way from a row to messages and back into a table, as a team would write it: a row of a real PostgreSQL starts
//! it, people approve it in Slack, and another service answers when it likes.

use std::time::{SystemTime, UNIX_EPOCH};

use headwater_integration::{Node, Postgres, Received, Receiver, Slack};
use serde_json::{Value, json};

use super::{Folder, PATIENCE, Workflow, path_of, step, until, until_that};

const DEFINITION: &str = include_str!("example/workflow.yaml");
const ENRICH: &str = include_str!("example/enrich/entry.js");
const RESERVE: &str = include_str!("example/reserve/entry.js");
/// Lets the minute between two polls pass in seconds.
const SPEED: u32 = 20;
/// The tries of a step whose workflow says no more than that there are further ones.
const TRIES: u32 = 9;

const TABLES: &str = "\
create table orders (id int primary key, customer_id int, status text, total numeric, lines jsonb);
create table order_state (order_id int primary key check (order_id < 100), state text, run text);";

/// The services, and the node with the deployed workflow.
struct Shop {
    postgres: Postgres,
    slack: Slack,
    stock: Receiver,
    node: Node,
    workflow: Workflow,
}

impl Shop {
    async fn open() -> Self {
        let postgres = Postgres::start().await;
        postgres.sql(TABLES);
        let channels = [
            ("C0SALES", "sales"),
            ("C0ORDERS", "orders"),
            ("C0OPS", "ops"),
        ];
        let slack = Slack::with_ids(&channels).await;
        let stock = Receiver::secure(&["stock.example"]).await;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let clock = format!("{SPEED}@{}", now.as_millis());
        let node = Node::builder().private_network().reaching(slack.server());
        let node = node.reaching(&stock).env("HEADWATER_TEST_CLOCK", &clock);
        let node = node.start().await;
        let in_postgres = node.account("postgresql", postgres.account_fields()).await;
        let in_slack = node.account("slack", Slack::account_fields()).await;
        let definition = DEFINITION
            .replace("apn_pg", &in_postgres)
            .replace("apn_slack", &in_slack);
        let folder = Folder::new("", &[])
            .with("workflow.yaml", &definition)
            .with("enrich/entry.js", ENRICH)
            .with("reserve/entry.js", RESERVE);
        let workflow = folder.deployed(&node).await;
        Self {
            postgres,
            slack,
            stock,
            node,
            workflow,
        }
    }

    /// A customer's new order.
    fn order(&self, order: u32, customer: u32, (status, total): (&str, &str), lines: &str) {
        self.postgres.sql(&format!(
            "insert into orders values ({order}, {customer}, '{status}', {total}, {lines})"
        ));
    }

    /// The run of an order, as soon as there is one.
    async fn run_of(&self, order: u32) -> String {
        let ended = format!("{}/runs?limit=100", self.workflow.path());
        let open = format!("{ended}&open=true");
        let starting = async {
            loop {
                for list in [&open, &ended] {
                    for run in self.node.get(list).await.is(200).items() {
                        let path = path_of(&run);
                        let run = self.node.get(&path).await.is(200).data();
                        if run["event"]["id"] == order {
                            return path;
                        }
                    }
                }
                tokio::task::yield_now().await;
            }
        };
        let started = tokio::time::timeout(PATIENCE, starting).await;
        started.unwrap_or_else(|_| panic!("order {order} starts a run"))
    }

    /// A run as soon as its only wait is at this place, after so many tries.
    async fn waits_at(&self, run: &str, path: &str, tries: u32) -> Value {
        let waits = |run: &Value| {
            let waits = run["waits"].as_array().unwrap();
            waits.len() == 1 && waits[0]["path"] == path && step(run, path)["attempts"] == tries
        };
        until_that(&self.node, run, waits).await
    }

    /// The messages in a channel, by their texts.
    fn texts(&self, channel: &str) -> Vec<Value> {
        let messages = self.slack.messages().into_iter();
        let here = messages.filter(|message| message["channel"] == channel);
        here.map(|message| message["text"].clone()).collect()
    }

    /// What the stock was asked about a line.
    async fn asked_about(&self, sku: &str) -> Received {
        let is_meant = |request: &&Received| request.json()["sku"] == sku;
        let asked = self.stock.until(|all| all.iter().any(|one| is_meant(&one)));
        asked.await.into_iter().find(|one| is_meant(&one)).unwrap()
    }

    async fn post(&self, url: &Value, body: Value) {
        let anybody = self.node.with_key(None);
        anybody.post(url.as_str().unwrap(), body).await.is(200);
    }
}

#[tokio::test]
async fn a_row_becomes_messages_and_a_row() {
    let shop = Shop::open().await;
    an_order_is_approved_reserved_followed_up_and_marked(&shop).await;
    a_failure_is_tried_again_and_then_told(&shop).await;
}

async fn an_order_is_approved_reserved_followed_up_and_marked(shop: &Shop) {
    shop.order(
        7,
        3,
        ("paid", "1200.50"),
        r#"'[{"sku": "A"}, {"sku": "B"}]'"#,
    );
    let large = shop.run_of(7).await;
    let shown = shop.waits_at(&large, "route.large.approve", 1).await;
    assert_eq!(step(&shown, "enrich")["exports"]["$summary"], "order 7");
    let asked = &shop.slack.messages()[0];
    let blocks: Value = serde_json::from_str(asked["blocks"].as_str().unwrap()).unwrap();
    assert_eq!(blocks[0]["text"]["text"], "Order 7: 1200.5 EUR. Ship?");

    // The same customer's next order waits for its turn, and nobody else's.
    shop.order(8, 3, ("paid", "20"), "null");
    shop.order(9, 4, ("draft", "1"), "null");
    let small = shop.run_of(8).await;
    let draft = until(&shop.node, &shop.run_of(9).await, "succeeded").await;
    assert_eq!(draft["reason"], "draft order");
    until(&shop.node, &small, "queued").await;
    shop.post(&blocks[1]["elements"][0]["url"], json!({})).await;

    two_lines_are_reserved(shop, &large).await;
    let cooling = shop.waits_at(&large, "route.large.cool_off", 1).await;
    assert_eq!(shop.texts("C0SALES")[1], "Approved: order 7");
    shop.post(&cooling["waits"][0]["resume_url"], json!({}))
        .await;
    let large = until(&shop.node, &large, "succeeded").await;
    let messages = shop.slack.messages();
    let mut messages = messages.iter();
    let follow_up = messages.find(|message| message["thread_ts"].is_string());
    let follow_up = follow_up.expect("the thread has an answer");
    assert_eq!(follow_up["text"], "Reserved 1 lines");
    let approval = &step(&large, "route.large.approve")["return_value"]["ts"];
    assert_eq!(&follow_up["thread_ts"], approval);

    let small = until(&shop.node, &small, "succeeded").await;
    assert_eq!(shop.texts("C0ORDERS"), ["Order 8: 20 EUR"]);
    let [of_large, of_small] = [&large, &small].map(|run| run["trace_id"].as_str().unwrap());
    let states = shop.postgres.sql("select * from order_state order by 1");
    assert_eq!(
        states,
        format!("7|notified|{of_large}\n8|notified|{of_small}")
    );
}

/// The stock says yes about one line, and no about the other one, which has asked again meanwhile.
async fn two_lines_are_reserved(shop: &Shop, run: &str) {
    let reserve = |line: u32| format!("route.large.fan_out.lines.each_line[{line}].reserve");
    let about_a = shop.asked_about("A").await;
    let about_b = shop.asked_about("B").await;
    let key = format!("{}/{}", run.trim_start_matches("/runs/"), reserve(0));
    assert_eq!(about_a.headers["idempotency-key"], key.as_str());
    shop.post(&about_a.json()["callback"], json!({"ok": true}))
        .await;
    // Without an answer within a minute, the step runs again. The URL stays the same.
    shop.waits_at(run, &reserve(1), 2).await;
    shop.post(&about_b.json()["callback"], json!({"ok": false}))
        .await;
    assert_eq!(shop.stock.received().len(), 2);
}

async fn a_failure_is_tried_again_and_then_told(shop: &Shop) {
    shop.order(100, 5, ("paid", "5"), "null");
    let run = shop.run_of(100).await;
    for tries in 1..TRIES {
        // While it waits for the next try, that one is counted.
        let shown = shop.waits_at(&run, "mark", tries + 1).await;
        shop.post(&shown["waits"][0]["resume_url"], json!({})).await;
    }
    let failed = until(&shop.node, &run, "failed").await;
    assert_eq!(step(&failed, "mark")["attempts"], TRIES);
    assert_eq!(shop.texts("C0ORDERS")[1], "Order 100: 5 EUR");
    assert_eq!(
        shop.texts("C0OPS"),
        [":rotating_light: Error in New orders to Slack"]
    );
}
