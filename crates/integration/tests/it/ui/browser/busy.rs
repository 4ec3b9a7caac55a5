//! Forms that take a while: each is sent once, and says so.

use std::sync::Arc;

use headwater_integration::{Chromium, Node, Receiver, Reply};
use serde_json::json;
use tokio::sync::Notify;

/// Its hook does not end before the server answers.
const SLOW: &str = "export default { name: 'Slow', version: '0.0.1', props: { server: 'string' }, \
    hooks: { async deploy() { await fetch(`${this.server}/hook`, { method: 'POST' }); } }, run() {} }";

#[tokio::test]
async fn a_form_that_takes_a_while_is_sent_once_and_says_so() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let (begun, goes_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let held = (Arc::clone(&begun), Arc::clone(&goes_on));
    receiver.answer_later(move |_| {
        let (begun, goes_on) = (Arc::clone(&held.0), Arc::clone(&held.1));
        async move {
            begun.notify_one();
            goes_on.notified().await;
            Reply::status(200)
        }
    });
    let component = node.save(SLOW).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let form = format!("/deploy/{}", component["id"].as_str().unwrap());
    tab.open(&form).await;
    tab.write("[name='prop.server']", &receiver.url()).await;
    // The page is left for the answer: it keeps what it showed where the next one finds it.
    tab.run(
        "const form = document.querySelector('form[data-props]'); \
         const button = form.querySelector('button.primary[value=deploy]'); \
         const watch = new MutationObserver(() => { \
           if (!button.disabled) return; \
           watch.disconnect(); \
           const buttons = [...form.querySelectorAll('button')]; \
           button.click(); \
           sessionStorage.setItem('busy', JSON.stringify({ \
             label: button.textContent, disabled: buttons.every((one) => one.disabled), \
             said: document.querySelector('#status').textContent, \
             named: /progress=[0-9a-f]{32}$/.test(form.getAttribute('action')) })); \
         }); \
         watch.observe(form, { attributes: true, childList: true, subtree: true }); \
         setTimeout(() => button.click());",
    )
    .await;
    begun.notified().await;
    goes_on.notify_one();
    tab.sees_text(".flash", "slow is deployed").await;
    let busy = tab
        .evaluate("JSON.parse(sessionStorage.getItem('busy'))")
        .await;
    assert_eq!(busy["label"], "Deploying…", "{busy}");
    for fact in ["disabled", "named"] {
        assert_eq!(busy[fact], json!(true), "{fact}: {busy}");
    }
    assert!(
        busy["said"].as_str().is_some_and(|said| !said.is_empty()),
        "{busy}"
    );
    let sources = node.get("/users/me/sources").await.is(200).items();
    assert_eq!(sources.len(), 1, "pressed twice, sent once");
    assert_eq!(tab.problems().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_refused_form_can_be_sent_again_and_its_address_names_no_work() {
    let node = Node::start().await;
    let component = node.save(SLOW).await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let form = format!("/deploy/{}", component["id"].as_str().unwrap());
    tab.open(&form).await;
    // The browser would ask for the value itself.
    tab.evaluate("void document.querySelector('form[data-props]').setAttribute('novalidate', '')")
        .await;
    tab.press("button.primary[value=deploy]").await;
    tab.sees("#errors").await;
    let focused = tab.evaluate("document.activeElement.id").await;
    assert_eq!(focused, json!("errors"));
    assert_eq!(tab.evaluate("location.search").await, json!(""));
    let disabled = "document.querySelectorAll('form[data-props] button:disabled').length";
    assert_eq!(tab.evaluate(disabled).await, json!(0));
    assert_eq!(tab.problems().await, Vec::<String>::new());
}
