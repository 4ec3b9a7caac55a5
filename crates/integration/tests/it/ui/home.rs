//! The home over HTTP: the first steps, what fails, and the workspace that was chosen.

use headwater_integration::{Answer, Method, Node};
use serde_json::json;

use super::visitor::{Visitor, cookie_of};
use crate::workflows::{Folder, HTTP, until};

const ORDERS: &str = "export default { name: 'Orders', version: '0.0.1', props: { http: '$.interface.http' }, \
    run(event) { if (event.fails) throw new Error('the API is away'); this.$emit(event, { summary: 'An order' }); } }";

#[tokio::test]
async fn the_first_steps_stay_until_all_are_done_and_what_fails_is_told() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let home = async || visitor.get("/").await.is(200).text;
    let done = |page: &str| page.matches("</svg>done</span>").count();
    let page = home().await;
    assert!(page.contains("Three steps to the first event"), "{page}");
    assert_eq!(done(&page), 0, "{page}");
    assert!(!page.contains("Nothing fails"), "{page}");
    let source = node.deploy(ORDERS, json!({})).await;
    let page = home().await;
    assert_eq!(done(&page), 1, "{page}");
    let request = format!("curl -s {}", source.endpoint());
    assert!(page.contains(&request), "{page}");
    assert!(page.contains("Nothing fails"), "{page}");
    node.run(&source, json!({"fails": true})).await;
    let page = home().await;
    assert_eq!(done(&page), 2, "{page}");
    assert!(page.contains("the API is away"), "{page}");
    assert!(!page.contains("Nothing fails"), "{page}");
    node.run(&source, json!({})).await;
    let page = home().await;
    assert!(!page.contains("Three steps"), "{page}");
    assert!(page.contains("Nothing fails"), "{page}");

    // A workflow that fails is told, too, and one that was the only thing is not forgotten.
    let folder = Folder::new(HTTP, &[("first", "throw new Error('no stock');")]);
    let workflow = folder.deployed(&node).await;
    let run = workflow.start(&node, json!({})).await;
    until(&node, &run, "failed").await;
    let page = home().await;
    assert!(page.contains("no stock"), "{page}");
    assert!(page.contains("1 workflow"), "{page}");
}

#[tokio::test]
async fn a_workspace_stays_chosen_until_it_is_left() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let id = workspace["id"].as_str().unwrap();
    // As a person opens a page; scripts ask for anything.
    let open = async |path: &str, cookies: &str| -> Answer {
        let request = visitor.client.request(Method::GET, &format!("/{path}"));
        let cookie = format!("{}; {cookies}", visitor.cookie);
        let request = request.header("cookie", cookie);
        visitor
            .client
            .send(request.header("accept", "text/html"))
            .await
    };
    let chosen = open(&format!("/?workspace={id}"), "").await.is(200);
    assert!(
        chosen.text.contains("Show everything of mine"),
        "{}",
        chosen.text
    );
    let set = chosen.header("set-cookie").to_owned();
    assert!(
        set.contains("-workspace=") && set.contains("; HttpOnly; SameSite=Lax"),
        "{set}"
    );
    let cookie = cookie_of(&chosen);
    let led = open("/runs?status=any", &cookie).await.is(303);
    let expected = format!("/runs?status=any&workspace={id}");
    assert_eq!(led.header("location"), expected);
    let page = open(&expected, &cookie).await.is(200);
    assert_eq!(page.header("set-cookie"), "", "it is known already");
    let request = visitor.client.request(Method::GET, "//runs");
    let both = format!("{}; {cookie}", visitor.cookie);
    visitor
        .client
        .send(request.header("cookie", both))
        .await
        .is(200);
    let left = open("/runs?workspace=", &cookie).await.is(200);
    assert!(left.header("set-cookie").contains("Max-Age=0"));
    assert!(!left.text.contains("Show everything of mine"));
    // Nobody is led to what they are no member of, nor is it remembered.
    let (_, own) = id.split_once('_').unwrap();
    let other = cookie.replace(own, &"0".repeat(own.len()));
    assert_ne!(other, cookie);
    open("/runs", &other).await.is(200);
}
