//! The pages of accounts over HTTP: creating, checking and deleting one, what uses it, and the run that shows that it is good.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::{Visitor, value_of};
use crate::code::USES_ACCOUNT;

#[tokio::test]
async fn a_run_that_succeeds_shows_that_an_account_is_good() {
    let node = Node::start().await;
    let account = node.account("shop", json!({"api_key": "k"})).await;
    let props = json!({"shop": {"authProvisionId": account}});
    let source = node.deploy(USES_ACCOUNT, props).await;
    let visitor = Visitor::of(&node).await;
    let page = format!("/accounts/{account}");
    let shown = async |path: &str| visitor.get(path).await.is(200).text;
    for path in ["/accounts", &page] {
        let shown = shown(path).await;
        assert!(shown.contains("not checked"), "{path}: {shown}");
        assert!(!shown.contains("that succeeded"), "{path}: {shown}");
    }
    let sources = shown("/sources").await;
    for cell in [
        "data-label=\"App\"><bdi>shop</bdi></td>",
        "><bdi>Uses</bdi> <bdi>0.0.1</bdi></a></td>",
    ] {
        assert!(sources.contains(cell), "{cell}: {sources}");
    }
    node.run(&source, json!({})).await;
    for path in ["/accounts", &page] {
        let shown = shown(path).await;
        for part in [
            "in use",
            "used by a run of",
            ">uses</bdi>",
            "that succeeded",
        ] {
            assert!(shown.contains(part), "{path}: {part}: {shown}");
        }
    }
    node.run(&source, json!({"fails": true})).await;
    let failed = shown(&page).await;
    assert!(!failed.contains("that succeeded"), "{failed}");
    let question = shown(&format!("{page}/delete")).await;
    assert!(
        question.contains("1 source or workflow will fail"),
        "{question}"
    );
}

#[tokio::test]
async fn an_account_of_an_app_that_nobody_knows_gets_other_values() {
    let node = Node::start().await;
    let account = node
        .account("shop", json!({"api_key": "k", "region": "eu"}))
        .await;
    let visitor = Visitor::of(&node).await;
    let page = format!("/accounts/{account}/reconnect");
    let form = visitor.get(&page).await.is(200).text;
    assert!(
        form.contains("api_key") && form.contains("region"),
        "{form}"
    );
    let nothing = visitor.post(&page, &[("lines", "nonsense")]).await.is(422);
    assert!(nothing.text.contains("role=\"alert\""), "{}", nothing.text);
    let changed = visitor.post(&page, &[("lines", "api_key=l")]).await.is(303);
    assert_eq!(changed.header("location"), format!("/accounts/{account}"));
    let acts = node.get(&format!("/audit?target={account}")).await.is(200);
    assert!(acts.text.contains("account.reconnect"), "{}", acts.text);
}

#[tokio::test]
async fn accounts_are_filtered_by_app_and_health_on_their_page() {
    let node = Node::start().await;
    node.account("shop", json!({"api_key": "k"})).await;
    node.account("bank", json!({"api_key": "k"})).await;
    let visitor = Visitor::of(&node).await;
    for (query, shop, bank) in [
        ("", true, true),
        ("?app=shop", true, false),
        ("?app=bank&health=unknown", false, true),
        ("?health=refused", false, false),
    ] {
        let page = visitor.get(&format!("/accounts{query}")).await.is(200).text;
        for (app, is_there) in [("shop", shop), ("bank", bank)] {
            let group = format!("scope=\"rowgroup\" colspan=\"7\"><bdi>{app}</bdi>");
            assert_eq!(page.contains(&group), is_there, "{query}: {app}: {page}");
        }
        let nothing = page.contains("No account is like this");
        assert_eq!(nothing, !shop && !bank, "{query}: {page}");
    }
}

#[tokio::test]
async fn an_account_is_created_checked_and_deleted_with_its_consequences() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let catalog = visitor.get("/accounts/new?q=slack").await.is(200);
    assert!(
        catalog
            .text
            .contains("needs a client that the operator registers"),
        "{}",
        catalog.text
    );
    let slack = visitor.get("/accounts/new?app=slack").await.is(200);
    assert!(
        slack.text.contains("[slack.oauth2]")
            && slack.text.contains("/connect/slack/callback")
            && slack.text.contains("/apps/slack.toml</code>")
            && !slack.text.contains("DATA_DIR"),
        "{}",
        slack.text
    );
    let fields = [
        ("app", "shop"),
        ("name", "Work"),
        ("lines", "api_key=s3cret\r\nuser=me"),
    ];
    let created = visitor.post("/accounts/new", &fields).await.is(303);
    let account = created.header("location").to_owned();
    let id = account.trim_start_matches("/accounts/").to_owned();
    let code = "export default { name: 'Shop', version: '0.0.1', props: { shop: { type: 'app', app: 'shop' } }, run() {} }";
    let source = node
        .deploy(code, json!({"shop": {"authProvisionId": id}}))
        .await;
    for page in ["/accounts", &account, &format!("{account}/delete")] {
        let shown = visitor.get(page).await.is(200);
        assert!(
            shown.text.contains(source.id.as_str()) && !shown.text.contains("s3cret"),
            "{page}: {}",
            shown.text
        );
    }
    let form = visitor
        .get(&format!("/sources/{}/edit", source.id))
        .await
        .is(200);
    assert!(
        form.text.contains(&format!("value=\"{id}\" checked")),
        "{}",
        form.text
    );
    let page = visitor.get(&account).await.is(200).text;
    assert!(
        page.contains("no test for accounts of") && !page.contains("Check now"),
        "nobody can be asked: {page}"
    );
    visitor.post(&format!("{account}/check"), &[]).await.is(303);
    visitor
        .post(&format!("{account}/delete"), &[])
        .await
        .is(303);
    visitor.get(&account).await.is(404);
    let refused = visitor
        .post("/accounts/new", &[("app", "shop")])
        .await
        .is(422);
    assert!(refused.text.contains("role=\"alert\""), "{}", refused.text);
}

#[tokio::test]
async fn a_link_leads_to_an_account_and_its_page_waits() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let begun = visitor
        .post(
            "/accounts/connect",
            &[("app", "postgresql"), ("name", "Data")],
        )
        .await
        .is(200);
    assert!(
        begun.text.contains("/connect/postgresql?token="),
        "{}",
        begun.text
    );
    let (_, rest) = begun.text.split_once("data-wait=\"").unwrap();
    let (status, _) = rest.split_once('"').unwrap();
    let waiting = visitor.get(status).await.is(200);
    assert!(
        waiting.text.contains("Not connected yet"),
        "{}",
        waiting.text
    );
    visitor
        .post("/accounts/connect", &[("app", "slack")])
        .await
        .is(409);
    visitor.get("/accounts/connects/other").await.is(404);
    let fields = [("app", "nothing-like-it"), ("name", "Mine")];
    let refused = visitor.post("/accounts/connect", &fields).await.is(422);
    assert_eq!(value_of(&refused, "name"), "Mine");
}

#[tokio::test]
async fn a_field_of_an_account_that_is_a_choice_is_one_on_the_page() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let form = visitor.get("/accounts/new?app=postgresql").await.is(200);
    let option = "<option value=\"skip_verification\">skip: any certificate will do";
    assert!(form.text.contains(option), "{}", form.text);
    assert!(form.text.contains("the server has to have TLS turned on"));
    assert!(
        form.text.contains("value=\"5432\" min=\"1\" max=\"65535\""),
        "{}",
        form.text
    );
    let mut fields = vec![
        ("app", "postgresql"),
        ("field.host", "db.example"),
        ("field.port", "5432"),
        ("field.user", "me"),
        ("field.password", "s3cret"),
        ("field.database", "shop"),
        ("field.ssl_verification_mode", "none"),
    ];
    let refused = visitor.post("/accounts/new", &fields).await.is(422);
    let reason = "must be one of: full_verification, skip_verification";
    assert!(refused.text.contains(reason), "{}", refused.text);
    fields[6].1 = "skip_verification";
    fields[2].1 = "54x2";
    let refused = visitor.post("/accounts/new", &fields).await.is(422).text;
    for part in ["href=\"#field-port\"", "must be the number of a port"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    fields[2].1 = "5432";
    visitor.post("/accounts/new", &fields).await.is(303);
}
