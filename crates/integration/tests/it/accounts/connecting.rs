//! From a link to an account, and every way that does not lead there.

use headwater_integration::{
    Browser, Decision, NODE_URL, Node, OAuthProvider, Receiver, Reply, node_with,
};
use serde_json::{Value, json};

use super::{World, link, status, url, whoami};

#[tokio::test]
async fn consent_leads_to_an_account_that_components_use() {
    let world = World::connected().await;
    let account = world.account().await;
    assert_eq!(
        (&account["app"], &account["name"]),
        (&json!("acme"), &json!("work"))
    );
    assert_eq!(account["health"]["status"], "healthy", "{account}");
    assert!(account["health"]["expires_at"].is_u64(), "{account}");
    let source = world.deploy().await;
    assert_eq!(world.run(&source).await, [whoami()]);
    assert_eq!(world.renewals().await, 0);
}

#[tokio::test]
async fn tokens_are_nowhere_but_with_the_component() {
    let world = World::connected().await;
    let source = world.deploy().await;
    world.provider.end_access().await;
    world.run(&source).await;
    let mut secrets = world.provider.tokens().await;
    assert_eq!(secrets.len(), 4, "both tokens were renewed");
    secrets.insert(OAuthProvider::CLIENT_SECRET.to_owned());
    let node = &world.node;
    let mut seen = node.output();
    for path in ["/accounts", "/apps?q=acme", &source.path()] {
        seen.push_str(&node.get(path).await.text);
    }
    for file in node.store_files() {
        seen.push_str(&String::from_utf8_lossy(&std::fs::read(file).unwrap()));
    }
    assert!(
        seen.contains(&world.account),
        "the search finds what is there"
    );
    for secret in secrets {
        assert!(!seen.contains(&secret), "{secret}");
    }
}

#[tokio::test]
async fn who_does_not_consent_connects_nothing() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let link = link(&node).await;
    let mut browser = Browser::new(&node);
    let back = browser.decide(url(&link), Decision::Deny).await;
    assert!(back.contains("error=access_denied"), "{back}");
    let page = browser.open(&back).await.answer.is(422);
    assert!(
        page.text.contains("You declined access at Acme"),
        "{}",
        page.text
    );
    let status = status(&node, &link).await;
    assert_eq!(status["status"], "failed", "{status}");
    assert_eq!(node.get("/accounts").await.items(), [Value::Null; 0]);
}

#[tokio::test]
async fn a_callback_counts_once_and_a_link_opens_once() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let link = link(&node).await;
    let mut browser = Browser::new(&node);
    let back = browser.decide(url(&link), Decision::Consent).await;
    // Before and after its end.
    let again = browser.open_only(url(&link)).await.is(400);
    assert!(
        again.text.contains("This link is not valid"),
        "{}",
        again.text
    );
    browser.open(&back).await.answer.is(200);
    let replayed = browser.open(&back).await.answer.is(400);
    assert!(
        replayed.text.contains("Nothing was connected"),
        "{}",
        replayed.text
    );
    browser.open_only(url(&link)).await.is(400);
    assert_eq!(node.get("/accounts").await.items().len(), 1);
    assert_eq!(
        provider.seen().await["grants"],
        json!(["authorization_code"])
    );
    assert_eq!(status(&node, &link).await["status"], "connected");
}

#[tokio::test]
async fn a_state_that_nobody_left_with_is_of_no_use() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let link = link(&node).await;
    let mut browser = Browser::new(&node);
    let back = browser.decide(url(&link), Decision::Consent).await;
    let (before, state) = back.split_once("state=").unwrap();
    let (_, after) = state.split_once('&').unwrap();
    for wrong in [
        format!("{before}state=wrong&{after}"),
        format!("{before}{after}"),
        format!("{NODE_URL}/connect/acme/callback"),
    ] {
        let page = browser.open(&wrong).await.answer.is(400);
        assert!(
            page.text.contains("does not belong to a connection"),
            "{}",
            page.text
        );
    }
    assert_eq!(
        provider.seen().await["grants"],
        json!([]),
        "no code was given away"
    );
    // A browser with the state goes on.
    browser.open(&back).await.answer.is(200);
}

#[tokio::test]
async fn another_browser_cannot_bring_the_code() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let link = link(&node).await;
    let back = Browser::new(&node)
        .decide(url(&link), Decision::Consent)
        .await;
    let page = Browser::new(&node).open(&back).await.answer.is(422);
    assert!(
        page.text.contains("started in another browser"),
        "{}",
        page.text
    );
    assert_eq!(provider.seen().await["grants"], json!([]));
    assert_eq!(status(&node, &link).await["status"], "failed");
}

#[tokio::test]
async fn an_answer_counts_only_at_the_callback_of_its_app() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let link = link(&node).await;
    let mut browser = Browser::new(&node);
    let back = browser.decide(url(&link), Decision::Consent).await;
    let other = back.replace("/connect/acme/", "/connect/github/");
    let page = browser.open(&other).await.answer.is(422);
    assert!(page.text.contains("`github` answered"), "{}", page.text);
    assert_eq!(provider.seen().await["grants"], json!([]));
}

#[tokio::test]
async fn a_provider_that_gives_no_token_is_named_with_what_to_do() {
    let provider = OAuthProvider::start().await;
    let node = Node::builder()
        .file("apps/acme.toml", &provider.definition())
        .flag("--public-url")
        .flag(NODE_URL)
        .env("ACME_SECRET", "wrong")
        .start()
        .await;
    let first = link(&node).await;
    let mut browser = Browser::new(&node);
    let back = browser.decide(url(&first), Decision::Consent).await;
    let page = browser.open(&back).await.answer.is(422);
    assert!(page.text.contains("invalid_client"), "{}", page.text);
    assert!(page.text.contains("client_secret"), "{}", page.text);

    provider.set("broken", "true").await;
    let second = link(&node).await;
    let back = browser.decide(url(&second), Decision::Consent).await;
    let page = browser.open(&back).await.answer.is(422);
    assert!(page.text.contains("503"), "{}", page.text);
    let reason = status(&node, &second).await["reason"].clone();
    assert!(
        reason.as_str().unwrap().contains("Try again later"),
        "{reason}"
    );
}

#[tokio::test]
async fn connecting_again_keeps_the_account() {
    let mut world = World::connected().await;
    let source = world.deploy().await;
    world.provider.end_access().await;
    world.provider.end_refresh().await;
    world.node.run(&source, json!({})).await;
    assert_eq!(world.account().await["health"]["status"], "refused");
    let path = format!("/accounts/{}/connect", world.account);
    let link = world.node.post(&path, json!({})).await.is(200).data();
    world.browser.consent(url(&link)).await.is(200);
    let status = status(&world.node, &link).await;
    assert_eq!(status["account_id"], *world.account);
    assert_eq!(world.node.get("/accounts").await.items().len(), 1);
    assert_eq!(world.account().await["health"]["status"], "healthy");
    assert_eq!(world.run(&source).await, [whoami()]);
}

#[tokio::test]
async fn a_form_asks_for_what_the_app_wants_and_the_app_is_asked_whether_that_is_good() {
    let receiver = Receiver::start().await;
    receiver.answer(|request| match request.headers["x-key"] == "good" {
        true => Reply::status(200),
        false => Reply::status(401),
    });
    let apps = format!(
        "[acme]\nname = \"Acme <&>\"\nauth = \"fields\"\nfields = [{{ name = \"key\", label = \"Key\", secret = true }}, \
         {{ name = \"region\", optional = true }}]\n[acme.probe]\nurl = \"{}\"\nheaders = {{ X-Key = \"{{key}}\" }}\n",
        receiver.url()
    );
    let node = Node::builder().file("apps/own.toml", &apps).start().await;
    let body = json!({"app": "acme", "fields": {"region": "\"><b>"}});
    let link = node.post("/accounts/connect", body).await.is(200).data();
    let mut browser = Browser::new(&node);
    let form = browser.open_only(url(&link)).await.is(200);
    assert!(
        form.text.contains("Connect Acme &lt;&amp;&gt;"),
        "{}",
        form.text
    );
    assert!(form.text.contains("&quot;&gt;&lt;b&gt;"), "{}", form.text);
    assert!(form.text.contains("type=\"password\""), "{}", form.text);
    for (header, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
        ("x-frame-options", "DENY"),
        ("x-content-type-options", "nosniff"),
    ] {
        assert_eq!(form.header(header), value);
    }
    // A missing, unknown or refused field is asked for again, and the link stays valid.
    for (fields, problem) in [
        (&[("key", "")][..], "Key: is required"),
        (&[("key", "good"), ("other", "x")], "other: is not a field"),
        (&[("key", "bad")], "did not accept this"),
    ] {
        let page = browser.send(url(&link), fields).await.answer.is(422);
        assert!(page.text.contains(problem), "{problem}: {}", page.text);
        assert!(!page.text.contains("value=\"bad\""), "{}", page.text);
    }
    let page = browser
        .send(url(&link), &[("key", "good")])
        .await
        .answer
        .is(200);
    assert!(page.text.contains("is connected"), "{}", page.text);
    browser
        .send(url(&link), &[("key", "good")])
        .await
        .answer
        .is(400);
    let accounts = node.get("/accounts").await.items();
    assert_eq!(accounts.len(), 1);
    assert_eq!(accounts[0]["health"]["status"], "healthy");
}

#[tokio::test]
async fn a_preview_of_a_link_does_not_use_it_up() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let link = link(&node).await;
    for _ in 0..2 {
        let page = Browser::new(&node).open_only(url(&link)).await.is(200);
        assert!(
            page.text.contains("<button>Continue to Acme"),
            "{}",
            page.text
        );
        assert!(!page.headers.contains_key("set-cookie"));
    }
    Browser::new(&node).consent(url(&link)).await.is(200);
    assert_eq!(status(&node, &link).await["status"], "connected");
}

#[tokio::test]
async fn a_link_is_of_its_app_and_looking_does_not_use_it_up() {
    let node = Node::start().await;
    let link = node
        .post("/accounts/connect", json!({"app": "apify"}))
        .await
        .is(200)
        .data();
    let mut browser = Browser::new(&node);
    let other = url(&link).replace("/connect/apify", "/connect/stripe");
    browser.open_only(&other).await.is(400);
    browser
        .open_only(&format!("{}/connect/apify?token=guess", node.url()))
        .await
        .is(400);
    browser
        .open_only(&format!("{}/connect/apify", node.url()))
        .await
        .is(400);
    for _ in 0..2 {
        browser.open_only(url(&link)).await.is(200);
    }
    let token = url(&link).split_once("token=").unwrap().1;
    assert!(!node.output().contains(token));
}
