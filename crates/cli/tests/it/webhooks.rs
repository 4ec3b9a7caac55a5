//! `webhooks`, `deliveries` and `subscriptions`: what is sent and what is shown.

use serde_json::{Value, json};

use crate::node::Node;

fn webhook(id: &str, name: &str) -> Value {
    json!({
        "id": id, "user_id": "u_1", "name": name, "description": null, "active": true,
        "url": "https://a.example/in", "created_at": 1_767_225_600, "updated_at": 1_767_225_600,
    })
}

fn two_webhooks(node: &Node) {
    let webhooks = json!([webhook("wh_1", "One"), webhook("wh_2", "Two")]);
    node.list("GET /v1/users/me/webhooks", webhooks);
}

fn sources(node: &Node) {
    let sources = json!([{"id": "dc_1", "name": "Orders", "name_slug": "orders"}]);
    node.list("GET /v1/users/me/sources", sources);
}

#[tokio::test]
async fn a_new_webhook_shows_its_secret() {
    let node = Node::start().await;
    let mut made = webhook("wh_1", "One");
    made["secret"] = "whsec_abc".into();
    node.data("POST /v1/webhooks", made);
    let url = "https://a.example/in";
    let seen = node
        .run(&["webhooks", "create", url, "--name", "One"])
        .await;
    assert_eq!(
        seen.stdout,
        "ID        wh_1\n\
         URL       https://a.example/in\n\
         ACTIVE    yes\n\
         NAME      One\n\
         SECRET    whsec_abc\n\
         CREATED   2026-01-01T00:00:00Z\n\
         UPDATED   2026-01-01T00:00:00Z\n"
    );
    assert!(seen.stderr.contains("not shown again"), "{}", seen.stderr);
    assert_eq!(
        node.received("POST /v1/webhooks")[0].body,
        json!({"url": url, "name": "One"})
    );
}

#[tokio::test]
async fn a_new_webhook_gets_the_events_of_the_sources_that_are_named() {
    let node = Node::start().await;
    sources(&node);
    let mut made = webhook("wh_1", "One");
    made["secret"] = "whsec_abc".into();
    node.data("POST /v1/webhooks", made);
    node.data("POST /v1/subscriptions", json!({"id": "sub_1"}));
    let create = ["webhooks", "create", "https://a.example/in", "--from"];
    let both = ["orders", "--from", "dc_*", "--channel", "$errors"];
    let seen = node.run(&[&create[..], &both].concat()).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    for told in ["gets the events of orders", "headwater webhooks test One"] {
        assert!(seen.stderr.contains(told), "{}", seen.stderr);
    }
    let sent = node.received("POST /v1/subscriptions").into_iter();
    assert_eq!(
        sent.map(|request| request.body).collect::<Vec<_>>(),
        ["dc_1", "dc_*"].map(|emitter| {
            json!({"emitter_id": emitter, "listener_id": "wh_1", "event_name": "$errors"})
        })
    );
    let seen = node.run(&[&create[..], &["order"]].concat()).await;
    assert_eq!(seen.code, 1);
    assert_eq!(
        node.received("POST /v1/webhooks").len(),
        1,
        "nothing is left behind"
    );
}

#[tokio::test]
async fn webhooks_are_found_by_id_or_name() {
    let node = Node::start().await;
    two_webhooks(&node);
    node.on("DELETE /v1/webhooks/wh_2", |_| (204, Value::Null));
    for called in ["wh_2", "Two"] {
        let seen = node.run(&["webhooks", "delete", called]).await;
        assert_eq!((seen.code, seen.stdout.as_str()), (0, "wh_2\n"), "{called}");
    }
    let seen = node.run(&["webhooks", "delete", "Three"]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.contains("no webhook is called Three"),
        "{}",
        seen.stderr
    );
    let seen = node.run(&["webhooks", "list"]).await;
    assert!(
        seen.stdout
            .contains("wh_1   One    yes      https://a.example/in"),
        "{}",
        seen.stdout
    );
}

#[tokio::test]
async fn a_change_sends_what_is_named() {
    let node = Node::start().await;
    let mut disabled = webhook("wh_1", "One");
    disabled["active"] = false.into();
    disabled["disabled_reason"] = "it answered 410".into();
    node.data("PATCH /v1/webhooks/wh_1", disabled.clone());
    node.data("GET /v1/webhooks/wh_1", disabled);
    for arguments in [
        &[
            "update",
            "wh_1",
            "--description",
            "",
            "--address",
            "http://b.example",
        ][..],
        &["activate", "wh_1"],
        &["deactivate", "wh_1"],
    ] {
        let seen = node.run(&[&["webhooks"], arguments].concat()).await;
        assert_eq!(seen.code, 0, "{}", seen.stderr);
    }
    let sent = node.received("PATCH /v1/webhooks/wh_1").into_iter();
    assert_eq!(
        sent.map(|request| request.body).collect::<Vec<_>>(),
        [
            json!({"url": "http://b.example", "description": ""}),
            json!({"active": true}),
            json!({"active": false}),
        ]
    );
    assert_eq!(node.run(&["webhooks", "update", "wh_1"]).await.code, 2);
    let seen = node.run(&["webhooks", "describe", "wh_1"]).await;
    assert!(
        seen.stdout.contains("DISABLED BECAUSE   it answered 410"),
        "{}",
        seen.stdout
    );
}

#[tokio::test]
async fn dead_letters_are_told_with_the_command_that_delivers_them() {
    let node = Node::start().await;
    node.data("PATCH /v1/webhooks/wh_1", webhook("wh_1", "One"));
    node.list(
        "GET /v1/deliveries",
        json!([{"id": "dlv_1", "state": "dead"}]),
    );
    for (verb, told) in [
        ("deactivate", "`headwater webhooks activate wh_1`"),
        ("activate", "it has dead letters"),
    ] {
        let seen = node.run(&["webhooks", verb, "wh_1"]).await;
        for told in [told, "`headwater webhooks replay wh_1`"] {
            assert!(seen.stderr.contains(told), "{}", seen.stderr);
        }
    }
    let asked = &node.received("GET /v1/deliveries")[0].query;
    assert_eq!((&*asked["webhook_id"], &*asked["state"]), ("wh_1", "dead"));
    let seen = node.run(&["deliveries", "list"]).await;
    assert!(
        seen.stderr.contains("headwater deliveries retry ID"),
        "{}",
        seen.stderr
    );

    node.data("POST /v1/webhooks/wh_1/replay", json!({"replayed": 1}));
    let seen = node.run(&["webhooks", "replay", "wh_1"]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    let sent = node.received("POST /v1/webhooks/wh_1/replay");
    assert_eq!(sent[0].body, json!({"since": "0", "delivered": false}));
    // Everything that was ever delivered is hardly meant.
    let all = ["webhooks", "replay", "wh_1", "--delivered"];
    assert_eq!(node.run(&all).await.code, 2);
}

#[tokio::test]
async fn a_secret_is_rotated_and_a_range_replayed() {
    let node = Node::start().await;
    let mut rotated = webhook("wh_1", "One");
    rotated["secret"] = "whsec_new".into();
    node.data("POST /v1/webhooks/wh_1/rotate_secret", rotated);
    let seen = node
        .run(&["webhooks", "rotate-secret", "wh_1", "--secret", "whsec_new"])
        .await;
    assert!(
        seen.stdout.contains("SECRET    whsec_new"),
        "{}",
        seen.stdout
    );
    node.run(&["webhooks", "rotate-secret", "wh_1"]).await;
    let sent = node.received("POST /v1/webhooks/wh_1/rotate_secret");
    assert_eq!(sent[0].body, json!({"secret": "whsec_new"}));
    assert_eq!(sent[1].body, json!({}));
    // Nobody can be asked here.
    let seen = node
        .run(&["webhooks", "rotate-secret", "wh_1", "--secret"])
        .await;
    assert_eq!(seen.code, 2, "{}", seen.stdout);
    assert!(seen.stderr.contains("--secret -"), "{}", seen.stderr);

    node.data("POST /v1/webhooks/wh_1/replay", json!({"replayed": 3}));
    let replay = ["webhooks", "replay", "wh_1", "--since", "2026-01-01"];
    let seen = node.run(&replay).await;
    assert_eq!(seen.stdout, "REPLAYED   3\n", "{}", seen.stderr);
    let all = [&replay[..], &["--until", "5", "--delivered"]].concat();
    assert_eq!(node.run(&all).await.code, 0);
    let sent = node.received("POST /v1/webhooks/wh_1/replay");
    assert_eq!(
        sent[0].body,
        json!({"since": "2026-01-01", "delivered": false})
    );
    assert_eq!(
        sent[1].body,
        json!({"since": "2026-01-01", "until": "5", "delivered": true})
    );
    let ago = ["webhooks", "replay", "wh_1", "--since", "1h"];
    assert_eq!(node.run(&ago).await.code, 0);
    let sent = &node.received("POST /v1/webhooks/wh_1/replay")[2].body;
    assert!(
        sent["since"].as_str().unwrap().parse::<u64>().is_ok(),
        "{sent}"
    );
}

fn delivery() -> Value {
    json!({
        "id": "dlv_1", "webhook_id": "wh_1", "emitter_id": "dc_1", "event_id": "17-3",
        "event_name": "", "state": "pending", "created_at_ms": 1_767_225_600_000_i64,
        "next_attempt_at_ms": 1_767_225_605_000_i64, "event": {"a": 1},
        "attempts": [
            {"at_ms": 1_767_225_600_001_i64, "cause": "event", "latency_ms": 12, "status": 503,
             "response_excerpt": "come\nback", "error": null},
            {"at_ms": 1_767_225_600_001_i64, "latency_ms": 15000, "status": null,
             "response_excerpt": null, "error": "no answer in 15 s"},
        ],
    })
}

#[tokio::test]
async fn deliveries_are_a_table_and_one_has_its_attempts() {
    let node = Node::start().await;
    node.list("GET /v1/deliveries", json!([delivery()]));
    let list = ["deliveries", "list", "wh_1", "--state", "pending"];
    let seen = node.run(&list).await;
    assert_eq!(
        seen.stdout,
        "ID      STATE     WEBHOOK   EVENT   DATA      CHANNEL   ATTEMPTS   LAST ANSWER         \
         NEXT                       DISPATCHED\n\
         dlv_1   pending   wh_1      17-3    {\"a\":1}   -         2          no answer in 15 s   \
         2026-01-01T00:00:05.000Z   2026-01-01T00:00:00.000Z\n"
    );
    let chosen = node
        .run(&["deliveries", "list", "-o", "last-answer,id"])
        .await;
    assert_eq!(
        chosen.stdout,
        "LAST ANSWER         ID\nno answer in 15 s   dlv_1\n"
    );
    let unknown = node.run(&["deliveries", "list", "-o", "age"]).await;
    assert_eq!((unknown.code, &*unknown.stdout), (2, ""));
    assert!(
        unknown.stderr.contains("its columns are id, state"),
        "{}",
        unknown.stderr
    );
    let sent = &node.received("GET /v1/deliveries")[0].query;
    assert_eq!((&*sent["state"], &*sent["limit"]), ("pending", "10"));
    assert_eq!(sent["webhook_id"], "wh_1");
    assert_eq!(
        node.run(&["deliveries", "list", "wh_1", "--state", "lost"])
            .await
            .code,
        2
    );

    node.data("GET /v1/deliveries/dlv_1", delivery());
    let seen = node.run(&["deliveries", "describe", "dlv_1"]).await;
    assert!(
        seen.stdout
            .contains("NEXT ATTEMPT   2026-01-01T00:00:05.000Z")
            && seen.stdout.contains("DATA\n{\n  \"a\": 1\n}")
            && seen.stdout.contains(
                "2026-01-01T00:00:00.001Z   event   12 ms      503                 come back"
            ),
        "{}",
        seen.stdout
    );
}

/// The attempt follows its request, and is looked for.
#[tokio::test]
async fn a_retried_delivery_is_shown_with_its_new_attempt() {
    let node = Node::start().await;
    let mut attempted = delivery();
    let attempts = attempted["attempts"].as_array_mut().unwrap();
    attempts.push(json!({"at_ms": 1, "latency_ms": 3, "status": 204, "error": null}));
    attempted["state"] = "delivered".into();
    let looks = std::sync::atomic::AtomicUsize::new(0);
    let after = attempted.clone();
    node.on("GET /v1/deliveries/dlv_1", move |_| {
        let look = looks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let seen = if look < 2 { delivery() } else { after.clone() };
        (200, json!({"data": seen}))
    });
    node.data("POST /v1/deliveries/dlv_1/retry", delivery());
    let seen = node.run(&["deliveries", "retry", "dlv_1", "--json"]).await;
    assert_eq!((seen.code, seen.json()), (0, attempted));
}

#[tokio::test]
async fn a_retry_that_fails_again_is_a_failure_and_tells_of_the_next_attempt() {
    let node = Node::start().await;
    let mut attempted = delivery();
    let attempts = attempted["attempts"].as_array_mut().unwrap();
    attempts.push(json!({"at_ms": 1, "latency_ms": 3, "status": 500, "error": null}));
    attempted["next_attempt_at_ms"] = 1_767_225_600_000_u64.into();
    node.data("GET /v1/deliveries/dlv_1", delivery());
    node.data("POST /v1/deliveries/dlv_1/retry", attempted);
    let seen = node.run(&["deliveries", "retry", "dlv_1"]).await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    assert!(
        seen.stderr
            .contains("not delivered; the next attempt: 2026-01-01T00:00:00"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn deliveries_to_all_webhooks_are_listed_by_a_filter() {
    let node = Node::start().await;
    two_webhooks(&node);
    sources(&node);
    node.list("GET /v1/deliveries", json!([]));
    let list = ["deliveries", "list"];
    assert_eq!(node.run(&list).await.code, 0);
    let filter = [
        "Two",
        "--source",
        "orders",
        "--event",
        "17-3",
        "--status",
        "5xx",
        "--since",
        "2026-01-01",
        "--until",
        "5",
        "-n",
        "3",
    ];
    let seen = node.run(&[&list[..], &filter].concat()).await;
    assert!(
        seen.stderr.contains("no such deliveries"),
        "{}",
        seen.stderr
    );
    let sent = node.received("GET /v1/deliveries");
    assert_eq!(sent[0].query.len(), 1, "{:?}", sent[0].query);
    for (field, value) in [
        ("webhook_id", "wh_2"),
        ("emitter_id", "dc_1"),
        ("event_id", "17-3"),
        ("status", "5xx"),
        ("since", "2026-01-01"),
        ("until", "5"),
        ("limit", "3"),
    ] {
        assert_eq!(sent[1].query[field], value, "{field}");
    }
}

#[tokio::test]
async fn a_search_that_was_cut_goes_on() {
    let node = Node::start().await;
    node.on("GET /v1/deliveries", |request| {
        let (is_cut, data) = match request.query.contains_key("after") {
            false => (true, json!([])),
            true => (false, json!([delivery()])),
        };
        let info = json!({"start_cursor": null, "end_cursor": "there", "is_cut": is_cut});
        (200, json!({"page_info": info, "data": data}))
    });
    let seen = node.run(&["deliveries", "list", "--status", "dns"]).await;
    assert!(seen.stdout.contains("dlv_1"), "{}", seen.stdout);
    let sent = node.received("GET /v1/deliveries");
    assert_eq!((sent.len(), &*sent[1].query["after"]), (2, "there"));
}

#[tokio::test]
async fn one_delivery_or_many_are_retried_and_discarded() {
    let node = Node::start().await;
    two_webhooks(&node);
    node.data("POST /v1/deliveries/dlv_1/discard", delivery());
    let seen = node.run(&["deliveries", "discard", "dlv_1"]).await;
    assert!(seen.stdout.contains("dlv_1"), "{}", seen.stderr);
    let counted = json!({"count": 10_000, "left_out": 0, "is_capped": true, "dry_run": true});
    node.data("POST /v1/deliveries/retry", counted);
    let retry = [
        "deliveries",
        "retry",
        "--all",
        "--status",
        "timeout",
        "--dry-run",
    ];
    let seen = node
        .run(&[&retry[..], &["--webhook", "One"]].concat())
        .await;
    assert_eq!(seen.stdout, "DELIVERIES   10000+\n");
    assert!(
        seen.stderr.contains("nothing was changed"),
        "{}",
        seen.stderr
    );
    assert_eq!(
        node.received("POST /v1/deliveries/retry")[0].body,
        json!({"webhook_id": "wh_1", "status": "timeout", "dry_run": true})
    );
    let discarded = json!({"count": 2, "left_out": 3, "is_capped": false, "dry_run": false});
    node.data("POST /v1/deliveries/discard", discarded);
    let seen = node
        .run(&["deliveries", "discard", "--all", "--state", "pending"])
        .await;
    assert_eq!(
        seen.stdout,
        "DELIVERIES   2\nLEFT OUT     3 of inactive webhooks\n"
    );
    for wrong in [
        &["retry"][..],
        &["retry", "dlv_1", "--all"],
        &["discard", "dlv_1", "--state", "dead"],
        &["discard", "dlv_1", "--dry-run"],
        &["discard", "dlv_1", "--webhook", "One"],
        &["discard", "--dry-run"],
    ] {
        let seen = node.run(&[&["deliveries"], wrong].concat()).await;
        assert_eq!(seen.code, 2, "{wrong:?}: {}", seen.stdout);
    }
}

#[tokio::test]
async fn subscriptions_are_made_between_names() {
    let node = Node::start().await;
    two_webhooks(&node);
    sources(&node);
    let made = json!({
        "id": "sub_1", "emitter_id": "dc_1", "listener_id": "wh_2", "event_name": "",
    });
    node.data("POST /v1/subscriptions", made.clone());
    node.data("GET /v1/users/me/subscriptions", json!([made]));
    let table = "ID      EMITTER   CHANNEL   LISTENER\nsub_1   dc_1      -         wh_2\n";
    for (verb, emitter, listener) in [("create", "Orders", "Two"), ("add", "dc_*", "orders")] {
        let both = ["--emitter", emitter, "--listener", listener];
        let seen = node
            .run(&[&["subscriptions", verb], &both[..]].concat())
            .await;
        assert_eq!(seen.stdout, table, "{}", seen.stderr);
    }
    let sent = node.received("POST /v1/subscriptions").into_iter();
    assert_eq!(
        sent.map(|request| request.body).collect::<Vec<_>>(),
        [
            json!({"emitter_id": "dc_1", "listener_id": "wh_2", "event_name": ""}),
            json!({"emitter_id": "dc_*", "listener_id": "dc_1", "event_name": ""}),
        ]
    );
    assert_eq!(
        node.run(&["subscriptions", "list"]).await.stdout,
        "ID      EMITTER   CHANNEL   LISTENER\nsub_1   Orders    -         Two\n"
    );
    let nobody = [
        "subscriptions",
        "create",
        "--emitter",
        "dc_1",
        "--listener",
        "nobody",
    ];
    let seen = node.run(&nobody).await;
    assert!(
        seen.stderr
            .contains("no webhook or source is called nobody"),
        "{}",
        seen.stderr
    );

    node.on("DELETE /v1/subscriptions", |_| (204, Value::Null));
    let delete = [
        "subscriptions",
        "delete",
        "--emitter",
        "dc_1",
        "--listener",
        "wh_2",
    ];
    let seen = node
        .run(&[&delete[..], &["--channel", "news"]].concat())
        .await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(
        node.received("DELETE /v1/subscriptions")[0].body,
        json!({"emitter_id": "dc_1", "listener_id": "wh_2", "event_name": "news"})
    );
}

#[tokio::test]
async fn automatic_subscriptions_name_no_emitter() {
    let node = Node::start().await;
    let made = json!({"id": "sub_1", "listener_id": "wh_1", "event_name": "$errors"});
    node.data("POST /v1/auto_subscriptions", made);
    node.on("DELETE /v1/auto_subscriptions", |_| (204, Value::Null));
    for verb in ["create", "delete"] {
        let auto = ["--auto", "--listener", "wh_1", "--channel", "$errors"];
        let seen = node
            .run(&[&["subscriptions", verb], &auto[..]].concat())
            .await;
        assert_eq!(seen.code, 0, "{}", seen.stderr);
        assert!(
            seen.stdout.contains("-         $errors   wh_1"),
            "{}",
            seen.stdout
        );
    }
    let body = json!({"listener_id": "wh_1", "event_name": "$errors"});
    assert_eq!(node.received("POST /v1/auto_subscriptions")[0].body, body);
    assert_eq!(node.received("DELETE /v1/auto_subscriptions")[0].body, body);
    for wrong in [
        &["--auto", "--listener", "wh_1"][..],
        &["--listener", "wh_1", "--channel", "$errors"],
        &[
            "--auto",
            "--emitter",
            "dc_1",
            "--listener",
            "wh_1",
            "--channel",
            "$errors",
        ],
    ] {
        let seen = node
            .run(&[&["subscriptions", "create"], wrong].concat())
            .await;
        assert_eq!(seen.code, 2, "{wrong:?}");
    }
}
