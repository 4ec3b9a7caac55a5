//! The pages of accounts over HTTP: what uses one, and the run that shows that it is good.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::Visitor;
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
