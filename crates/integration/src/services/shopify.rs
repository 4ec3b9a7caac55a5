//! Shopify: the pages and products of one shop, and webhooks by topic.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{
    call,
    graphql::{self, Query},
};
use crate::{
    answer::Answer,
    receiver::{Received, Receiver, Reply},
};

const TOKEN: &str = "shpat_of_the_tests";
const SHOP: &str = "tea-shop";

#[derive(Default)]
struct State {
    pages: Vec<Value>,
    products: Vec<Value>,
    webhooks: Vec<Value>,
}

/// tea-shop.myshopify.com.
pub struct Shopify {
    server: Receiver,
    state: Arc<Mutex<State>>,
}

impl Shopify {
    /// A shop with these products.
    pub async fn start(products: &[&str]) -> Self {
        let server = Receiver::secure(&["tea-shop.myshopify.com"]).await;
        let product = |(index, title): (usize, &&str)| json!({"id": format!("gid://shopify/Product/{}", index + 1), "title": title});
        let state = Arc::new(Mutex::new(State {
            products: products.iter().enumerate().map(product).collect(),
            ..State::default()
        }));
        let shared = Arc::clone(&state);
        server.answer(move |request| shared.lock().unwrap().answer(request));
        Self { server, state }
    }

    /// The server.
    pub fn server(&self) -> &Receiver {
        &self.server
    }

    /// The fields of an account.
    pub fn account_fields() -> Value {
        json!({"oauth_access_token": TOKEN, "shop_id": SHOP})
    }

    /// The webhooks that are registered.
    pub fn webhooks(&self) -> Vec<Value> {
        self.state.lock().unwrap().webhooks.clone()
    }

    /// Calls a webhook on behalf of a shop.
    pub async fn call_webhook(&self, webhook: &Value, shop: &str, resource: &Value) -> Answer {
        let url = webhook["callbackUrl"].as_str().unwrap();
        let domain = format!("{shop}.myshopify.com");
        let headers = [
            ("x-shopify-topic", "products/create"),
            ("x-shopify-shop-domain", &domain[..]),
        ];
        call(url, &headers, resource).await
    }
}

impl State {
    fn answer(&mut self, request: &Received) -> Reply {
        if request.header("x-shopify-access-token") != TOKEN {
            let error = json!({"errors": "[API] Invalid API key or access token (unrecognized login or wrong password)"});
            return Reply::json(&error).with_status(401);
        }
        if !request.path.starts_with("/admin/api/") || !request.path.ends_with("/graphql.json") {
            return Reply::json(&json!({"errors": "Not Found"})).with_status(404);
        }
        let query = Query::of(request);
        let variables = &query.variables;
        let (name, value) = if query.asks_for("webhookSubscriptionCreate") {
            let mut webhook = variables["webhookSubscription"].clone();
            webhook["topic"] = variables["topic"].clone();
            webhook["id"] = json!("gid://shopify/WebhookSubscription/1");
            self.webhooks.push(webhook.clone());
            let payload = json!({"webhookSubscription": webhook, "userErrors": []});
            ("webhookSubscriptionCreate", payload)
        } else if query.asks_for("webhookSubscriptionDelete") {
            self.webhooks
                .retain(|webhook| webhook["id"] != variables["id"]);
            let payload =
                json!({"deletedWebhookSubscriptionId": variables["id"], "userErrors": []});
            ("webhookSubscriptionDelete", payload)
        } else if query.asks_for("pages") {
            let newest_first: Vec<_> = self.pages.iter().rev().cloned().collect();
            (
                "pages",
                graphql::connection(&newest_first, &variables["after"], 2),
            )
        } else if query.asks_for("products") {
            (
                "products",
                graphql::connection(&self.products, &variables["after"], 2),
            )
        } else if query.asks_for("pageCreate") {
            ("pageCreate", self.add_page(&variables["page"]))
        } else {
            return graphql::error("Field doesn't exist on type 'QueryRoot'");
        };
        let cost = json!({
            "requestedQueryCost": 10, "actualQueryCost": 10,
            "throttleStatus": {"maximumAvailable": 2000.0, "currentlyAvailable": 1990, "restoreRate": 100.0},
        });
        Reply::json(&json!({"data": {name: value}, "extensions": {"cost": cost}}))
    }

    fn add_page(&mut self, page: &Value) -> Value {
        let number = self.pages.len() + 1;
        let page = json!({
            "id": format!("gid://shopify/Page/{number}"), "title": page["title"], "body": page["body"],
            "createdAt": format!("2026-01-02T03:04:{number:02}Z"), "handle": "page",
        });
        self.pages.push(page.clone());
        json!({"page": page, "userErrors": []})
    }
}
