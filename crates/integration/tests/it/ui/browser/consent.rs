//! Consent at an app: from the form of a component, over the app's own pages in other tabs, and back to the form.

use headwater_integration::{Chromium, NODE_URL, OAuthProvider, Tab, node_with, payloads};
use serde_json::json;

const ASKS: &str = "export default { name: 'Asks', version: '0.0.1', props: { acme: { type: 'app', app: 'acme' }, \
    url: 'string' }, \
    async run() { const authorization = `Bearer ${this.acme.$auth.oauth_access_token}`; \
      const answer = await fetch(`${this.url}/me`, { headers: { authorization } }); \
      this.$emit({ status: answer.status, ...await answer.json() }); } }";

/// Signs in at the provider and consents, on its own pages.
async fn consents(tab: &Tab<'_>) {
    tab.write("[name=login]", "ann").await;
    tab.write("[name=password]", "x").await;
    tab.press("[type=submit]").await;
    tab.sees("[name=prompt][value=consent]").await;
    tab.press("[type=submit]").await;
}

#[tokio::test]
async fn a_form_goes_on_with_the_account_that_its_owner_consented_to_in_another_tab() {
    let provider = OAuthProvider::start().await;
    let node = node_with(&provider).await;
    let component = node.save(ASKS).await;
    let browser = Chromium::reaching(NODE_URL, &node).await;
    let tab = browser.signed_in(&node).await;
    let form = format!("/deploy/{}", component["id"].as_str().unwrap());
    tab.open(&form).await;
    tab.write("[name='prop.url']", provider.url()).await;
    tab.press("[data-field=acme] [data-connects]").await;
    tab.goes_to_tab(1).await;
    tab.write("#name", "Work").await;
    tab.press("main form button.primary").await;
    tab.press("a.button.primary[target=_blank]").await;
    tab.goes_to_tab(2).await;
    tab.press("form button").await;
    consents(&tab).await;
    tab.sees_text("body", "Acme is connected").await;
    assert_eq!(tab.problems().await, Vec::<String>::new());
    // The tab that waited has gone on by itself.
    tab.goes_to_tab(1).await;
    tab.sees_text("h1", "Work").await;
    tab.press("[data-closes]").await;
    tab.has_tabs(2).await;
    tab.goes_to_tab(0).await;
    tab.sees("[data-field=acme] input[type=radio]:checked:not([value=''])")
        .await;
    tab.press("form[data-props] button.primary[value='deploy']")
        .await;
    tab.sees_text("h1", "asks").await;
    assert_eq!(tab.problems().await, Vec::<String>::new());
    let sources = node.get("/users/me/sources").await.is(200).items();
    let id = sources[0]["id"].as_str().unwrap();
    let run = node.post(&format!("/sources/{id}/run"), json!({})).await;
    run.is(200);
    let list = format!("/sources/{id}/event_summaries?expand=event");
    let events = node.get(&list).await;
    let emitted = payloads(&events.is(200).items());
    assert_eq!(emitted, [json!({"status": 200, "sub": "ann"})]);
}
