//! Searches of events with a name, by forms alone.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::Visitor;

const ECHO: &str = "export default { name: 'Echo', version: '0.0.1', props: { http: '$.interface.http' }, \
    run(event) { this.$emit(event.body, { summary: event.body.summary }); } }";

#[tokio::test]
async fn a_search_is_saved_followed_and_deleted() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let source = node.deploy(ECHO, json!({})).await;
    for (summary, status) in [("Refund one", "open"), ("Refund two", "closed")] {
        node.run(
            &source,
            json!({"body": {"summary": summary, "status": status}}),
        )
        .await;
    }
    let all = visitor.get("/events").await.is(200);
    assert!(!all.text.contains("Save as a view"), "{}", all.text);
    let search = "/events?q=refund&path=status%3Dopen";
    let found = visitor.get(search).await.is(200);
    assert!(
        found.text.contains("<mark>Refund</mark> one"),
        "{}",
        found.text
    );
    assert!(!found.text.contains("</mark> two"), "{}", found.text);
    assert!(found.text.contains("Save as a view"), "{}", found.text);
    // A name that is none is asked for again.
    let refused = visitor.post(search, &[("name", " ")]).await.is(422);
    assert!(
        refused.text.contains("1 to 100 characters"),
        "{}",
        refused.text
    );
    times_are_kept_as_they_are_written(&visitor, search).await;
    let saved = visitor.post(search, &[("name", "Open <refunds>")]).await;
    assert_eq!(saved.is(303).header("location"), search);
    // The name leads to the search from everywhere, and the API has the view.
    let page = visitor.get("/events").await.is(200);
    let link =
        "<a href=\"/events?q=refund&amp;path=status%3Dopen\"><bdi>Open &lt;refunds&gt;</bdi></a>";
    assert!(page.text.contains(link), "{}", page.text);
    let view = node.get("/event_views").await.is(200).items().remove(0);
    assert_eq!(view["path"], json!(["status=open"]));
    // One that was written elsewhere with several values is followed whole.
    let body = json!({"q": "refund", "path": ["status=closed", "summary=Refund one"]});
    node.put("/event_views/none", body).await.is(200);
    let page = visitor.get("/events").await.is(200);
    assert!(
        page.text
            .contains("path=status%3Dclosed&amp;path=summary%3DRefund+one"),
        "{}",
        page.text
    );
    let none = visitor
        .get("/events?q=refund&path=status%3Dclosed&path=summary%3DRefund+one")
        .await
        .is(200);
    assert!(
        none.text.contains("No kept event is like this"),
        "{}",
        none.text
    );
    // It is deleted when that was confirmed.
    let shown = visitor.get(search).await.is(200);
    let deletion = "/events/views/delete?name=Open+%3Crefunds%3E";
    assert!(shown.text.contains(deletion), "{}", shown.text);
    visitor.get(deletion).await.is(200);
    let name = [("name", "Open <refunds>")];
    visitor.post("/events/views/delete", &name).await.is(303);
    visitor.post("/events/views/delete", &name).await.is(404);
    let left = node.get("/event_views").await.is(200).items();
    assert_eq!(left.len(), 1);
}

async fn times_are_kept_as_they_are_written(visitor: &Visitor, search: &str) {
    let timed = format!("{search}&since=24h&until=2126-01-31");
    let page = visitor.get(&timed).await.is(200);
    assert!(
        page.text.contains("moves on with the clock"),
        "{}",
        page.text
    );
    let saved = visitor.post(&timed, &[("name", "Late")]).await.is(303);
    assert_eq!(saved.header("location"), timed);
    let page = visitor.get(&timed).await.is(200);
    let link = format!(
        "<a href=\"{}\" aria-current=\"true\"><bdi>Late</bdi></a>",
        timed.replace('&', "&amp;")
    );
    assert!(page.text.contains(&link), "{}", page.text);
    let wrong = format!("{search}&since=yesterday");
    let refused = visitor.post(&wrong, &[("name", "Late")]).await.is(422);
    assert!(refused.text.contains("is not a time"), "{}", refused.text);
    let late = [("name", "Late")];
    visitor.post("/events/views/delete", &late).await.is(303);
}

#[tokio::test]
async fn a_workspace_has_views_that_its_members_share() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let workspace = node.get("/workspaces").await.is(200).items().remove(0);
    let id = workspace["id"].as_str().unwrap();
    let search = format!("/events?workspace={id}&q=shared");
    let saved = visitor.post(&search, &[("name", "Ours")]).await;
    assert_eq!(saved.is(303).header("location"), search);
    let page = visitor.get(&format!("/events?workspace={id}")).await;
    assert!(page.is(200).text.contains(">Ours<"));
    let own = visitor.get("/events").await.is(200);
    assert!(!own.text.contains(">Ours<"), "{}", own.text);
}
