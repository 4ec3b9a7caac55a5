//! Tokens renewed before their end, after it, and when the provider takes them no more; and given back.

use headwater_integration::Decision;
use serde_json::{Value, json};

use super::{World, link, url, whoami};
use crate::ui::Visitor;

#[tokio::test]
async fn a_token_that_has_ended_is_renewed_before_the_run() {
    let world = World::connected().await;
    let source = world.deploy().await;
    // The next token is good for a run.
    world.provider.set("accessTtl", "5").await;
    world.provider.end_access().await;
    assert_eq!(world.run(&source).await.len(), 1);
    world.provider.access_ended().await;
    world.provider.set("accessTtl", "3600").await;
    assert_eq!(world.run(&source).await, [whoami(), whoami()]);
    assert_eq!(world.renewals().await, 2);
    let seen = world.provider.seen().await;
    assert_eq!(
        seen["failures"],
        json!([]),
        "the rotated token was never used again"
    );
    assert_eq!(seen["refresh"].as_array().unwrap().len(), 3);
    assert_eq!(seen["alive"]["refresh"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_that_meets_a_401_is_made_once_more_with_another_token() {
    let world = World::connected().await;
    let source = world.deploy().await;
    assert_eq!(world.run(&source).await.len(), 1);
    world.provider.end_access().await;
    let report = world.node.run(&source, json!({})).await;
    assert_eq!(report["outcome"]["status"], "returned", "{report}");
    assert_eq!(world.emitted(&source).await, [whoami(), whoami()]);
    assert_eq!(world.renewals().await, 1);
}

#[tokio::test]
async fn a_run_that_has_emitted_is_not_made_again_but_the_next_has_another_token() {
    let world = World::connected().await;
    let source = world.deploy().await;
    world.provider.end_access().await;
    let early = json!({"early": 1});
    let report = world.node.run(&source, early.clone()).await;
    assert_eq!(report["outcome"]["error"]["status"], 401, "{report}");
    assert_eq!(world.run(&source).await, [early, whoami()]);
    assert_eq!(world.renewals().await, 1);
}

#[tokio::test]
async fn what_the_provider_renews_no_more_fails_runs_with_what_to_do() {
    let world = World::connected().await;
    let source = world.deploy().await;
    world.provider.end_access().await;
    world.provider.end_refresh().await;
    for _ in 0..2 {
        let report = world.node.run(&source, json!({})).await;
        let message = report["outcome"]["error"]["message"].as_str().unwrap();
        let advice = format!("headwater accounts reconnect {}", world.account);
        assert!(message.contains(&advice), "{message}");
        assert!(message.contains("invalid_grant"), "{message}");
    }
    let account = world.account().await;
    assert_eq!(account["health"]["status"], "refused", "{account}");
    let visitor = Visitor::of(&world.node).await;
    let page = visitor.get(&format!("/sources/{}/runs", source.id)).await;
    let link = format!("<a href=\"/accounts/{}\"", world.account);
    assert!(page.is(200).text.contains(&link), "{link}");
    let events = visitor.get(&format!("/sources/{}/events", source.id)).await;
    let events = events.is(200).text;
    assert!(events.contains("is not accepted any more"), "{events}");
    // The provider was asked once, not for every run.
    assert_eq!(
        world.provider.seen().await["failures"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert_eq!(world.emitted(&source).await, [Value::Null; 0]);
}

#[tokio::test]
async fn everybody_who_waits_shares_one_renewal() {
    let world = World::connected().await;
    let mut sources = Vec::new();
    for _ in 0..4 {
        sources.push(world.deploy().await);
    }
    world.provider.end_access().await;
    let runs = sources
        .iter()
        .map(|source| world.node.run(source, json!({})));
    for report in futures::future::join_all(runs).await {
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
    }
    assert_eq!(world.renewals().await, 1);
    assert_eq!(world.provider.seen().await["failures"], json!([]));
}

#[tokio::test]
async fn while_the_provider_does_not_answer_nothing_is_lost() {
    let world = World::connected().await;
    let source = world.deploy().await;
    world.provider.set("accessTtl", "1").await;
    world.provider.end_access().await;
    world.run(&source).await;
    world.provider.access_ended().await;
    world.provider.set("broken", "true").await;
    let answer = world.try_run(&source).await;
    assert_ne!(answer.status, 200, "{}", answer.text);
    let account = world.account().await;
    assert_eq!(account["health"]["status"], "unknown", "{account}");
    assert!(
        account["health"]["reason"]
            .as_str()
            .unwrap()
            .contains("503"),
        "{account}"
    );

    world.provider.set("broken", "false").await;
    assert_eq!(world.check().await["health"]["status"], "healthy");
    world.node.run(&source, json!({})).await;
    let emitted = world.emitted(&source).await;
    assert!(
        emitted.len() >= 2 && emitted.iter().all(|event| *event == whoami()),
        "{emitted:?}"
    );
}

#[tokio::test]
async fn a_renewed_token_is_there_after_a_crash() {
    let mut world = World::connected().await;
    let source = world.deploy().await;
    world.provider.end_access().await;
    world.run(&source).await;
    world.node.kill_9();
    world.node.restart().await;
    assert_eq!(world.run(&source).await.len(), 2);
    world.provider.end_access().await;
    assert_eq!(world.run(&source).await.len(), 3);
    let seen = world.provider.seen().await;
    assert_eq!(
        seen["failures"],
        json!([]),
        "the rotated token was never used again"
    );
}

#[tokio::test]
async fn checking_renews_what_has_ended_and_notices_what_was_withdrawn() {
    let world = World::connected().await;
    assert_eq!(world.check().await["health"]["status"], "healthy");
    assert_eq!(world.renewals().await, 0);
    world.provider.end_access().await;
    assert_eq!(world.check().await["health"]["status"], "healthy");
    assert_eq!(world.renewals().await, 1);
    world.provider.end_access().await;
    world.provider.end_refresh().await;
    assert_eq!(world.check().await["health"]["status"], "refused");
}

#[tokio::test]
async fn options_are_computed_with_a_token_that_is_good() {
    let world = World::connected().await;
    let code = r#"
export default {
  name: "Pick", version: "0.0.1", type: "action",
  props: {
    acme: { type: "app", app: "acme" },
    url: "string",
    who: {
      type: "string",
      async options() {
        const headers = { authorization: `Bearer ${this.acme.$auth.oauth_access_token}` };
        const response = await fetch(`${this.url}/me`, { headers });
        if (response.ok) return [(await response.json()).sub];
        throw Object.assign(new Error("no"), { response: { status: response.status } });
      },
    },
  },
  run() {},
};
"#;
    let component = world.node.save(code).await;
    world.provider.end_access().await;
    let body = json!({"prop": "who", "configured_props": {
        "acme": {"authProvisionId": world.account}, "url": world.provider.url(),
    }});
    let path = format!("/components/{}/options", component["id"].as_str().unwrap());
    let options = world.node.post(&path, body).await.is(200);
    assert!(options.text.contains("ann"), "{}", options.text);
    assert_eq!(world.renewals().await, 1);
}

#[tokio::test]
async fn deleting_gives_the_tokens_back() {
    let world = World::connected().await;
    let path = format!("/accounts/{}", world.account);
    let deleted = world.node.delete(&path).await.is(200).data();
    assert_eq!(deleted["revocation"], "revoked", "{deleted}");
    let seen = world.provider.seen().await;
    assert_eq!(seen["revoked"], 2);
    assert_eq!(seen["alive"], json!({"access": [], "refresh": []}));
    world.node.get(&path).await.is(404);
}

#[tokio::test]
async fn an_account_that_is_deleted_while_it_is_connected_again_stays_deleted() {
    let mut world = World::connected().await;
    let path = format!("/accounts/{}/connect", world.account);
    let again = world.node.post(&path, json!({})).await.is(200).data();
    let back = world.browser.decide(url(&again), Decision::Consent).await;
    world
        .node
        .delete(&format!("/accounts/{}", world.account))
        .await
        .is(200);
    // Deleting gave the consent back, with which the code went.
    let page = world.browser.open(&back).await.answer.is(422);
    assert!(page.text.contains("new link"), "{}", page.text);
    assert_eq!(world.node.get("/accounts").await.items(), [Value::Null; 0]);
    // A new one is possible still.
    let link = link(&world.node).await;
    world.browser.consent(url(&link)).await.is(200);
}
