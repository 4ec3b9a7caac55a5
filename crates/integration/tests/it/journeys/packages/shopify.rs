//! `@pipedream/shopify`: a source that polls, one that is a webhook, and actions. GraphQL over got.

use headwater_integration::{Node, Shopify, fields};
use serde_json::{Value, json};

const NEW_PAGE: &str = "npm:@pipedream/shopify@1.0.1/sources/new-page/new-page.mjs";
const NEW_PRODUCT: &str =
    "npm:@pipedream/shopify@1.0.1/sources/new-product-created/new-product-created.mjs";
const CREATE_PAGE: &str = "npm:@pipedream/shopify@1.0.1/actions/create-page/create-page.mjs";
const SEARCH: &str = "npm:@pipedream/shopify@1.0.1/actions/search-products/search-products.mjs";

async fn start(shopify: &Shopify) -> (Node, Value) {
    let node = Node::builder().private_network().reaching(shopify.server());
    let node = node.start().await;
    let account = node.account("shopify", Shopify::account_fields()).await;
    (node, json!({"authProvisionId": account}))
}

#[tokio::test]
async fn pages_that_an_action_makes_are_emitted_once() {
    let shopify = Shopify::start(&[]).await;
    let (node, account) = start(&shopify).await;
    node.save_package(CREATE_PAGE).await;
    let make = async |title: &str| {
        let props = json!({"shopify": account, "title": title, "body": "<p>Hot.</p>"});
        node.run_action("shopify-create-page", props).await
    };
    let made = make("Green tea").await;
    assert_eq!(
        made["summary"], "Created new page with ID gid://shopify/Page/1",
        "{made}"
    );

    let source = node.deploy_package(NEW_PAGE, json!({"app": account})).await;
    let poll = async || {
        let report = node.run(&source, Value::Null).await;
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
    };
    poll().await;
    poll().await;
    make("Black tea").await;
    poll().await;
    let events = node.events(&source).await;
    assert_eq!(fields(&events, "title"), ["Green tea", "Black tea"]);
    assert_eq!(events[1]["metadata"]["summary"], "New Page: Black tea");
}

#[tokio::test]
async fn a_webhook_is_believed_when_it_is_the_shops() {
    let shopify = Shopify::start(&[]).await;
    let (node, account) = start(&shopify).await;
    let source = node
        .deploy_package(NEW_PRODUCT, json!({"app": account}))
        .await;
    let webhooks = shopify.webhooks();
    let webhook = &webhooks[0];
    assert_eq!(
        (&webhook["topic"], &webhook["callbackUrl"]),
        (&json!("PRODUCTS_CREATE"), &json!(source.endpoint()))
    );

    let product = json!({"id": 7, "title": "Teapot", "createdAt": "2026-01-02T03:04:05Z"});
    shopify
        .call_webhook(webhook, "another-shop", &product)
        .await
        .is(401);
    shopify
        .call_webhook(webhook, "tea-shop", &product)
        .await
        .is(200);
    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(events[0]["event"], product);
    assert_eq!(events[0]["metadata"]["summary"], "New Product Teapot");
    node.delete(&source.path()).await.is(204);
    assert_eq!(shopify.webhooks(), [Value::Null; 0]);
}

#[tokio::test]
async fn products_are_searched_through_all_pages() {
    let shopify = Shopify::start(&["Teapot", "Cup", "Kettle", "Tea towel"]).await;
    let (node, account) = start(&shopify).await;
    node.save_package(SEARCH).await;
    let props = json!({"shopify": account, "title": "tea", "maxResults": 10});
    let report = node.run_action("shopify-search-products", props).await;
    assert_eq!(
        report["summary"], "Found 2 products matching search criteria",
        "{report}"
    );
    let titles: Vec<_> = report["outcome"]["value"]
        .as_array()
        .unwrap()
        .iter()
        .map(|product| &product["title"])
        .collect();
    assert_eq!(titles, ["Teapot", "Tea towel"]);
}
