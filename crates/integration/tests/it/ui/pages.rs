//! Every page over HTTP: there for whoever is signed in, and not there for others.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::Visitor;

const TICKS: &str = "export default { name: 'Ticks', version: '0.0.1', props: { timer: '$.interface.timer' }, \
    run() { console.log('a line'); this.$emit({ a: [1, { b: '<b>' }] }, { id: 'k1', summary: 'One <i>tick</i>' }); } }";

#[tokio::test]
async fn pages_of_a_source_show_it() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let empty = visitor.get("/sources").await.is(200);
    assert!(
        empty.text.contains("There are no sources here yet"),
        "{}",
        empty.text
    );
    let source = node
        .deploy(TICKS, json!({"timer": {"intervalSeconds": 3600}}))
        .await;
    let base = format!("/sources/{}", source.id);
    let events = visitor.get(&base).await.is(200);
    assert!(
        events.text.contains("It has not run yet"),
        "{}",
        events.text
    );
    let ran = visitor
        .post(&format!("{base}/run"), &[("event", "")])
        .await
        .is(200);
    assert!(ran.text.contains("1 event"), "{}", ran.text);
    for (tab, shown) in [
        ("events", "One &lt;i&gt;tick&lt;/i&gt;"),
        ("logs", "a line"),
        ("runs", "by hand"),
        ("errors", "No error is kept"),
        ("config", "Component"),
        ("subscriptions", "Nobody is subscribed"),
        ("delete", "Delete the source"),
    ] {
        let page = visitor.get(&format!("{base}/{tab}")).await.is(200);
        assert!(page.text.contains(shown), "{tab}: {}", page.text);
        assert!(!page.text.contains("<i>tick"), "{tab}: {}", page.text);
    }
    let listed = visitor.get("/sources").await.is(200);
    assert!(listed.text.contains("every hour"), "{}", listed.text);
    let run = node
        .get(&format!("/sources/{}/runs", source.id))
        .await
        .items()
        .remove(0);
    let page = visitor
        .get(&format!("/runs/{}", run["id"].as_str().unwrap()))
        .await
        .is(200);
    assert!(page.text.contains("a line"), "{}", page.text);
}

#[tokio::test]
async fn a_source_is_paused_resumed_and_deleted() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let source = node.deploy(TICKS, json!({})).await;
    let base = format!("/sources/{}", source.id);
    let answer = visitor
        .post(&format!("{base}/switch"), &[("active", "false")])
        .await
        .is(303);
    assert_eq!(answer.header("location"), base);
    let paused = visitor.get(&base).await.is(200);
    assert!(
        paused.text.contains("The source is paused"),
        "{}",
        paused.text
    );
    visitor
        .post(&format!("{base}/run"), &[("event", "")])
        .await
        .is(409);
    visitor
        .post(&format!("{base}/switch"), &[("active", "true")])
        .await
        .is(303);
    let wrong = visitor
        .post(&format!("{base}/run"), &[("event", "{not json")])
        .await
        .is(400);
    assert!(
        wrong.text.contains("The event is not JSON"),
        "{}",
        wrong.text
    );
    assert!(
        wrong.text.contains("{not json"),
        "what was typed is kept: {}",
        wrong.text
    );
    visitor.post(&format!("{base}/delete"), &[]).await.is(303);
    visitor.get(&base).await.is(404);
}

#[tokio::test]
async fn a_webhook_is_created_with_a_secret_that_is_shown_once() {
    let node = Node::builder().private_network().start().await;
    let visitor = Visitor::of(&node).await;
    let source = node.deploy(TICKS, json!({})).await;
    let wrong = visitor
        .post("/webhooks/new", &[("url", "nothing"), ("name", "kept")])
        .await
        .is(200);
    assert!(
        wrong.text.contains("role=\"alert\"") && wrong.text.contains("value=\"kept\""),
        "{}",
        wrong.text
    );
    let fields = [
        ("url", "http://127.0.0.1:9/hook"),
        ("name", "Shop"),
        ("source", source.id.as_str()),
    ];
    let made = visitor.post("/webhooks/new", &fields).await.is(200);
    let earlier = format!("href=\"/sources/{}/events\"", source.id);
    assert!(made.text.contains(&earlier), "{}", made.text);
    // Its beginning is in the code that verifies requests, too.
    let secret = made.text.split("whsec_").nth(1).map(|rest| &rest[..20]);
    let secret = secret.unwrap_or_else(|| panic!("{}", made.text));
    let webhook = node
        .get("/users/me/webhooks")
        .await
        .is(200)
        .items()
        .remove(0);
    let base = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let page = visitor.get(&base).await.is(200);
    assert!(
        !page.text.contains(secret) && page.text.contains(source.id.as_str()),
        "{}",
        page.text
    );
    for path in ["/replay", "/secret", "/delete"] {
        visitor.get(&format!("{base}{path}")).await.is(200);
    }
    let rotated = visitor.post(&format!("{base}/secret"), &[]).await.is(200);
    assert!(rotated.text.contains("whsec_"), "{}", rotated.text);
    visitor
        .post(&format!("{base}/switch"), &[("active", "false")])
        .await
        .is(303);
    visitor.post(&format!("{base}/delete"), &[]).await.is(303);
    visitor.get(&base).await.is(404);
}

#[tokio::test]
async fn things_of_others_are_not_there() {
    let node = Node::builder().private_network().start().await;
    let source = node.deploy(TICKS, json!({})).await;
    let run = node.run(&source, json!({})).await;
    let webhook = node
        .post("/webhooks", json!({"url": "http://127.0.0.1:9/"}))
        .await
        .is(200)
        .data();
    let bob = node.user("bob").await;
    let key = bob
        .post("/keys", json!({"name": "browser"}))
        .await
        .is(200)
        .data();
    let visitor = Visitor::with(&node, key["key"].as_str().unwrap()).await;
    let source = format!("/sources/{}", source.id);
    let webhook = format!("/webhooks/{}", webhook["id"].as_str().unwrap());
    let run = format!("/runs/{}", run["invocation_id"].as_str().unwrap());
    for page in [
        source.clone(),
        format!("{source}/logs"),
        format!("{source}/runs"),
        format!("{source}/errors"),
        format!("{source}/config"),
        format!("{source}/subscriptions"),
        format!("{source}/run"),
        format!("{source}/delete"),
        webhook.clone(),
        format!("{webhook}/delete"),
        run,
    ] {
        visitor.get(&page).await.is(404);
    }
    for form in [
        format!("{source}/delete"),
        format!("{webhook}/delete"),
        format!("{webhook}/secret"),
    ] {
        visitor.post(&form, &[]).await.is(404);
    }
    let listed = visitor.get("/sources").await.is(200);
    assert!(!listed.text.contains(&source), "{}", listed.text);
}

#[tokio::test]
async fn lists_are_reduced_by_name_and_state_and_search_finds_names() {
    let node = Node::start().await;
    for name in ["Shop orders", "mail"] {
        let body = json!({"component_code": crate::code::EMITTER, "name": name});
        node.post("/sources", body).await.is(200);
    }
    let visitor = Visitor::of(&node).await;
    for (query, shown) in [
        ("", [true, true]),
        ("?q=SHOP", [true, false]),
        ("?state=active&q=mail", [false, true]),
        ("?state=paused", [false, false]),
        ("?state=failing", [false, false]),
    ] {
        let page = visitor.get(&format!("/sources{query}")).await.is(200);
        let has = ["Shop orders", "mail"].map(|name| page.text.contains(&format!(">{name}<")));
        assert_eq!(has, shown, "{query}");
        let explains = page.text.contains("None of the sources is like this");
        assert_eq!(explains, shown == [false, false], "{query}");
    }
    assert_is_ordered(&visitor).await;
    visitor.get("/workflows?state=failing").await.is(200);
    let found = visitor.get("/search?q=shop").await.is(200);
    assert!(found.text.contains("Shop orders"), "{}", found.text);
}

/// The list of the sources `Shop orders` and `mail` in the orders of its heads, a page of it, and an order that is none.
async fn assert_is_ordered(visitor: &Visitor) {
    let place = |page: &str, name: &str| page.find(&format!("<bdi>{name}</bdi></a></th>"));
    let page = visitor.get("/sources?sort=name&q=s").await.is(200).text;
    assert!(
        page.contains("<input type=\"hidden\" name=\"sort\" value=\"name\">"),
        "{page}"
    );
    for (query, sorted, turned, is_mail_first) in [
        ("", "Created", "?sort=-created", false),
        ("?sort=name", "Name", "?sort=-name", true),
        ("?sort=-name", "Name", "?sort=name", false),
        ("?sort=-created", "Created", "", true),
        ("?sort=-last_event", "Last event", "?sort=last_event", true),
    ] {
        let page = visitor.get(&format!("/sources{query}")).await.is(200).text;
        let [mail, shop] = ["mail", "Shop orders"].map(|name| place(&page, name).unwrap());
        assert_eq!(mail < shop, is_mail_first, "{query}");
        let direction = match query.contains('-') {
            true => "descending",
            false => "ascending",
        };
        let head = format!(
            "scope=\"col\" aria-sort=\"{direction}\"><a class=\"sort\" href=\"/sources{turned}\">{sorted}</a>"
        );
        assert!(page.contains(&head), "{head}: {page}");
        assert_eq!(page.matches("aria-sort=").count(), 1, "{query}");
    }
    let sources = "/sources?sort=name&after=dc_zzzzzzz:mail";
    let page = visitor.get(sources).await.is(200).text;
    assert!(place(&page, "mail").is_none() && place(&page, "Shop orders").is_some());
    let wrong = visitor.get("/sources?sort=colour").await.is(400).text;
    for part in ["sort", "colour", "last_event"] {
        let code = format!("<code><bdi>{part}</bdi></code>");
        assert!(wrong.contains(&code), "{part}: {wrong}");
    }
}
