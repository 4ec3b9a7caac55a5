//! The progress of a deployment, as its page tells it while it goes on.

use std::sync::Arc;

use headwater_integration::{Chromium, Node, Receiver, Reply};
use serde_json::json;
use tokio::sync::Notify;

/// Tells the server that it is asked, by a request that a page may send: to an endpoint of its own node.
const TELLS: &str = "export default { name: 'Tells', version: '0.0.1', \
    props: { http: '$.interface.http', server: 'string' }, \
    async run() { await fetch(`${this.server}/seen`, { method: 'POST' }); } }";

/// Its hook does not end before the server answers.
const SLOW: &str = "export default { name: 'Slow', version: '0.0.1', props: { server: 'string', http: '$.interface.http' }, \
    hooks: { async deploy() { await fetch(`${this.server}/hook`, { method: 'POST' }); } }, run() {} }";

/// The browser waits for the page that answers a form, and runs nothing for a test meanwhile: the page itself has to say
/// what it shows. The hook goes on when it has.
#[tokio::test]
async fn a_deployment_tells_its_parts_while_it_goes_on() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let seen = Arc::new(Notify::new());
    receiver.answer_later(move |received| {
        let seen = Arc::clone(&seen);
        async move {
            match received.path.as_str() {
                "/seen" => seen.notify_one(),
                _ => seen.notified().await,
            }
            Reply::status(200)
        }
    });
    let props = json!({ "server": receiver.url() });
    let tells = node.deploy(TELLS, props).await;
    let component = node.save(SLOW).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    tab.open(&format!("/deploy/{}", component["id"].as_str().unwrap()))
        .await;
    tab.write("[name='prop.server']", &receiver.url()).await;
    let watch = "const watch = new MutationObserver(() => { \
        const shown = document.querySelector('.progress')?.innerText ?? ''; \
        if (!shown.includes('Running its hook deploy')) return; \
        watch.disconnect(); sessionStorage.setItem('shown', shown); \
        fetch(ENDPOINT, { method: 'POST' }); \
      }); watch.observe(document.body, { childList: true, subtree: true });"
        .replace("ENDPOINT", &json!(tells.endpoint()).to_string());
    tab.run(&watch).await;
    tab.press("button.primary[value=deploy]").await;
    tab.sees_text("h1", "slow").await;
    tab.sees_text(".flash", "slow is deployed").await;
    let shown = tab.evaluate("sessionStorage.getItem('shown')").await;
    let shown = shown.as_str().unwrap();
    assert!(shown.contains("Loading its values"), "{shown}");
    assert_eq!(tab.problems().await, Vec::<String>::new());
    // The page of the thing is at its own address.
    let path = tab.path().await;
    assert!(path.starts_with("/sources/dc_"), "{path}");
}
