//! Payloads that are hidden in a browser: on no page is anything of them seen, also not of what comes meanwhile.

use headwater_integration::{Chromium, Node, Receiver, Reply};
use serde_json::{Value, json};

use crate::{
    ui::visitor::Visitor,
    workflows::{Folder, HTTP, until},
};

const ECHO: &str = "export default { name: 'Echo', version: '0.0.1', props: { seen: { type: 'data_store', optional: true } }, \
    run(event) { console.log('plainly here'); \
      this.$emit({ at: 'plainly here', more: event.more }, { id: event.key, summary: 'plainly here' }); } }";
/// The word that stands for a payload.
const PAYLOAD: &str = "plainly here";

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

/// One node with payloads wherever there are some, and the pages that show them.
async fn with_payloads() -> (Node, Vec<String>) {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    receiver.answer(|_| Reply::json(&json!({"told": PAYLOAD})).with_status(500));
    let source = node.deploy(ECHO, json!({})).await;
    let webhook = node.webhook_for(&source.id, &receiver.url()).await;
    let run = node.run(&source, json!({"key": "k1"})).await;
    let tried = |all: &[Value]| all.iter().any(|one| one["attempts"][0]["status"] == 500);
    let delivery = node.deliveries_until(&webhook, tried).await.remove(0);
    let event = node.events(&source).await.remove(0);
    node.run(&source, json!({"key": "k0", "more": PAYLOAD}))
        .await;
    let other = node.events(&source).await.pop().unwrap();
    assert_ne!(id(&other), id(&event));
    let step = "console.log('plainly here'); $.export('$summary', 'plainly here'); return ['plainly here'];";
    let workflow = Folder::new(HTTP, &[("only", step)]).deployed(&node).await;
    let of_workflow = workflow.start(&node, json!({"at": PAYLOAD})).await;
    until(&node, &of_workflow, "succeeded").await;
    let record = json!({"value": [PAYLOAD]});
    node.put("/data_stores/cache/record?key=k", record)
        .await
        .is(200);
    let base = format!("/sources/{}", source.id);
    let of_event = format!("{base}/events/{}", id(&event));
    let workflow = format!("{}{of_workflow}", workflow.path());
    let pages = vec![
        "/".to_owned(),
        "/sources".to_owned(),
        "/events?q=plainly".to_owned(),
        "/deliveries".to_owned(),
        format!("/deliveries/{}", id(&delivery)),
        format!("/deliveries/selected?act=retry&id={}", id(&delivery)),
        "/data/cache".to_owned(),
        "/data/cache/record?key=k".to_owned(),
        format!("{of_event}/compare?with={}", id(&other)),
        format!("{of_event}?at=%2Fat"),
        of_event,
        format!("{base}/logs"),
        format!("{base}/run?event=%22plainly+here%22"),
        format!("/runs/{}", run["invocation_id"].as_str().unwrap()),
        format!("{workflow}/value?of=event"),
        format!("{workflow}/value?of=event&at=%2Fat"),
        workflow,
        base,
    ];
    (node, pages)
}

#[tokio::test]
async fn hidden_payloads_are_seen_on_no_page() {
    let (node, pages) = with_payloads().await;
    let browser = Chromium::start().await;
    let tab = browser.signed_in(&node).await;
    let mut faults = Vec::new();
    for page in &pages {
        tab.open(page).await;
        let open =
            "void document.querySelectorAll('main details').forEach((one) => { one.open = true; })";
        tab.evaluate(open).await;
        // The words of a search are the person's own.
        if !tab.text().await.contains(PAYLOAD) {
            faults.push(format!("{page} is no page of a payload"));
        }
    }
    tab.open("/").await;
    tab.press(".person summary").await;
    tab.press("button[name=hides]").await;
    tab.sees_text(".masking", "are hidden in this browser")
        .await;
    for page in &pages {
        tab.open(page).await;
        let open =
            "void document.querySelectorAll('main details').forEach((one) => { one.open = true; })";
        tab.evaluate(open).await;
        let fields = "[...document.querySelectorAll('textarea')].filter((one) => one.checkVisibility()).map((one) => one.value).join()";
        let fields = tab.evaluate(fields).await;
        let title = tab.evaluate("document.title").await;
        let seen = format!("{} {fields} {title}", tab.text().await);
        if seen.contains(PAYLOAD) {
            faults.push(format!("{page} shows it: {seen}"));
        }
        let barriers = tab.barriers().await.into_iter();
        faults.extend(barriers.map(|barrier| format!("{page}: {barrier}")));
    }
    // The last page is live.
    tab.sees_text("[data-live-state]", "Live").await;
    let source = pages.last().unwrap().replace("/sources/", "");
    let run = format!("/sources/{source}/run");
    node.post(&run, json!({"event": {"key": "k2"}}))
        .await
        .is(200);
    tab.sees("[data-rows] tr:nth-child(3)").await;
    assert!(!tab.text().await.contains(PAYLOAD));
    tab.press(".masking button").await;
    tab.sees_text("[data-rows] tr:nth-child(3)", PAYLOAD).await;
    assert_eq!(tab.path().await, format!("/sources/{source}"));
    assert_eq!(tab.problems().await, Vec::<String>::new());
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn hiding_ends_with_the_session() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let choice = [("hides", "true"), ("next", "/sources")];
    let hidden = visitor.post("/masking", &choice).await.is(303);
    assert_eq!(hidden.header("location"), "/sources");
    let set = hidden.header("set-cookie");
    assert!(
        set.contains("HttpOnly") && !set.contains("Max-Age=0"),
        "{set}"
    );
    let name = set.split('=').next().unwrap();
    let masked = Visitor {
        cookie: format!("{}; {name}=on", visitor.cookie),
        client: visitor.client.clone(),
    };
    let page = masked.get("/").await.is(200).text;
    assert!(page.contains("data-masked"), "{page}");
    let page = visitor.get("/").await.is(200).text;
    assert!(!page.contains("data-masked"), "another browser: {page}");
    let ended = masked.post("/signout", &[]).await.is(303);
    let cookies = ended.headers.get_all("set-cookie").iter();
    let mut cookies = cookies.map(|line| line.to_str().unwrap());
    let removed = cookies.find(|line| line.starts_with(name)).unwrap();
    assert!(removed.contains("Max-Age=0"), "{removed}");
}
