//! From a server with the shapes that Pipedream documents: pages, limits of its rate, and fields that are not there.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use headwater_integration::{Node, Received, Receiver, Reply};
use serde_json::{Value, json};

use super::{KEY, counts, import, left, sources, thing};

const RSS: &str = r#"
export default {
  name: "Feed", key: "rss-feed", version: "1.2.3",
  props: {
    db: "$.service.db",
    http: "$.interface.http",
    timer: { type: "$.interface.timer", default: { intervalSeconds: 900 } },
    url: "string",
  },
  run() {
    this.$emit({ url: this.url });
  },
};
"#;

const SLACK: &str = r#"
export default {
  name: "Messages", version: "0.1.0",
  props: { slack: { type: "app", app: "slack" }, channel: "string" },
  run() {},
};
"#;

/// Imports a file that is beside it in the public registry.
const BESIDE: &str = r#"
import common from "../common/base.mjs";
export default { ...common, name: "Beside", key: "shop-beside", version: "0.0.1" };
"#;

fn source(number: usize) -> Value {
    json!({
        "id": format!("dc_feed{number}"),
        "component_id": "sc_rss",
        "configured_props": {
            "http": {"endpoint_url": format!("https://feed{number}.m.pipedream.net")},
            "timer": {"cron": null, "interval_seconds": 3600},
            "url": format!("https://example.com/{number}"),
        },
        "active": number != 2,
        "created_at": 1_600_000_000, "updated_at": 1_600_000_000,
        "name": format!("Feed {number}"), "name_slug": format!("feed-{number}"),
    })
}

/// The page of a list that a query asks for, five items long at most.
fn page(query: &str, items: &[Value]) -> Reply {
    let after = query
        .split('&')
        .find_map(|field| field.strip_prefix("after="));
    let start = after.map_or(0, |cursor| cursor.parse().unwrap());
    let data: Vec<_> = items.iter().skip(start).take(5).collect();
    let end = start + data.len();
    Reply::json(&json!({
        "page_info": {
            "total_count": items.len(), "count": data.len(),
            "start_cursor": start.to_string(), "end_cursor": end.to_string(),
        },
        "data": data,
    }))
}

fn component(code: &str, more: &Value) -> Reply {
    let mut data = json!({
        "code": code, "code_hash": "85c7e3d5", "created_at": 1_600_000_000, "updated_at": 1_600_000_000,
    });
    let fields = more.as_object().unwrap().clone();
    data.as_object_mut().unwrap().extend(fields);
    Reply::json(&json!({"data": data}))
}

/// Answers as Pipedream would: what it does not document is not there.
fn answer(received: &Received, receiver: &str) -> Reply {
    if received.headers.get("authorization").unwrap() != &format!("Bearer {KEY}") {
        return Reply::json(&json!({"error": "unauthorized"})).with_status(401);
    }
    let sources: Vec<_> = (0..12)
        .map(source)
        .chain([
            json!({
                "id": "dc_slack", "component_id": "sc_slack", "name": "Messages", "name_slug": "messages",
                "configured_props": {"slack": {"authProvisionId": "apn_there"}, "channel": "C1"},
            }),
            json!({"id": "dc_gone", "component_id": "sc_gone", "name": "Gone"}),
            json!({"id": "dc_bare"}),
            json!({"id": "dc_beside", "component_id": "sc_beside", "name": "Beside", "name_slug": "beside"}),
        ])
        .collect();
    let subscriptions = json!({"data": [
        {"id": "sub_1", "emitter_id": "dc_feed1", "listener_id": "wh_1", "event_name": ""},
        {"id": "sub_2", "emitter_id": "dc_feed1", "listener_id": "p_there"},
        {"emitter_id": "dc_*", "listener_id": "wh_1", "event_name": "$errors"},
    ]});
    match received.path.as_str() {
        "/v1/users/me" => Reply::json(&json!({"data": {
            "id": "u_there", "username": "ada", "email": "ada@example.com",
            "orgs": [{"id": "o_there", "name": "Engines", "orgname": "engines"}],
        }})),
        "/v1/users/me/sources/" => page(&received.query, &sources),
        "/v1/users/me/webhooks" => page(
            &received.query,
            &[
                json!({"id": "wh_1", "user_id": "u_there", "name": null, "url": receiver, "active": true}),
            ],
        ),
        "/v1/users/me/subscriptions" => Reply::json(&subscriptions),
        "/v1/components/sc_rss" => component(RSS, &json!({"id": "sc_rss", "name": "Feed"})),
        "/v1/components/sc_slack" => component(SLACK, &json!({"id": "sc_slack"})),
        "/v1/components/sc_beside" => component(
            BESIDE,
            &json!({"id": "sc_beside", "name": "Beside", "key": "shop-beside", "version": "0.0.1"}),
        ),
        _ => Reply::status(404),
    }
}

/// The server, which has too many requests every third time.
async fn pipedream(webhook: &str) -> Receiver {
    let server = Receiver::start().await;
    let (webhook, requests) = (webhook.to_owned(), Arc::new(AtomicUsize::new(0)));
    server.answer(
        move |received| match requests.fetch_add(1, Ordering::SeqCst) % 3 {
            1 => Reply::status(429).with_header("retry-after", "0"),
            _ => answer(received, &webhook),
        },
    );
    server
}

#[tokio::test]
async fn an_account_of_pipedream_comes_over_as_far_as_it_can() {
    let webhook = Receiver::start().await;
    let pipedream = pipedream(&webhook.url()).await;
    let node = Node::builder().private_network().start().await;
    let seen = import(&node, &format!("{}/v1", pipedream.url()), KEY, &[]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    let report = seen.json();
    assert_eq!(counts(&report, "source"), [12, 0, 4], "{report:#}");
    let feeds = sources(&node).await;
    let feed = |name: &str| feeds.iter().find(|feed| feed["name"] == name).unwrap();
    assert_eq!(feeds.len(), 12);
    assert_eq!(
        feed("Feed 7")["configured_props"]["url"],
        "https://example.com/7"
    );
    let hourly = json!({"cron": null, "interval_seconds": 3600});
    assert_eq!(feed("Feed 7")["configured_props"]["timer"], hourly);
    assert_eq!(
        (&feed("Feed 1")["active"], &feed("Feed 2")["active"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(
        feed("Feed 1")["component_id"],
        feed("Feed 2")["component_id"]
    );

    let slack = left(thing(&report, "source", "Messages"));
    assert_eq!(slack[0].0, "account");
    assert!(
        slack[0].1.contains("headwater accounts connect slack"),
        "{report:#}"
    );
    for name in ["Gone", "Beside", ""] {
        let source = thing(&report, "source", name);
        assert_eq!(left(source)[0].0, "rewrite", "{name}: {report:#}");
    }
    assert_eq!(counts(&report, "subscription"), [2, 0, 1], "{report:#}");
    let text = report.to_string();
    assert!(text.contains("headwater workflows import"), "{report:#}");
    assert!(text.contains("--from-workspace o_there"), "{report:#}");
    let refused = pipedream.received().len();
    assert!(refused > 12, "each list was read to its end");
}

#[tokio::test]
async fn it_goes_on_with_accounts_and_components_that_came_later() {
    let webhook = Receiver::start().await;
    let pipedream = pipedream(&webhook.url()).await;
    let node = Node::builder().private_network().start().await;
    import(&node, &pipedream.url(), KEY, &[]).await;
    let before = sources(&node).await;

    node.account("slack", json!({"oauth_access_token": "t"}))
        .await;
    // The component is in this node's registry by now, with the files that it needs.
    let whole =
        r#"export default { name: "Beside", key: "shop-beside", version: "0.0.1", run() {} };"#;
    let published = json!({"component_code": whole});
    node.post("/components/registry", published).await.is(200);
    let seen = import(&node, &pipedream.url(), KEY, &[]).await;
    let report = seen.json();
    assert_eq!(counts(&report, "source"), [2, 12, 2], "{report:#}");
    let after = sources(&node).await;
    assert_eq!(after[..before.len()], before[..]);
    assert_eq!(after.len(), 14);
}

#[tokio::test]
async fn a_service_that_fails_half_way_leaves_whole_things_behind() {
    let webhook = Receiver::start().await;
    let service = Receiver::start().await;
    let node = Node::builder().private_network().start().await;
    let url = webhook.url();
    let forbidden = url.clone();
    service.answer(move |received| match received.path.as_str() {
        "/v1/components/sc_slack" => Reply::status(503).with_header("retry-after", "0"),
        _ => answer(received, &forbidden),
    });
    let seen = import(&node, &service.url(), KEY, &[]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.contains("run the same command again"),
        "{}",
        seen.stderr
    );
    assert_eq!(
        counts(&seen.json(), "source"),
        [12, 0, 0],
        "{}",
        seen.stdout
    );

    service.answer(move |received| answer(received, &url));
    let report = import(&node, &service.url(), KEY, &[]).await.json();
    assert_eq!(counts(&report, "source"), [0, 12, 4], "{report:#}");
    assert_eq!(counts(&report, "subscription"), [0, 2, 1], "{report:#}");
}
