//! The pages of a source's versions over HTTP, and rolling back from them.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::Visitor;

fn code(version: &str) -> String {
    format!(
        "export default {{\n  name: 'Versioned', version: '{version}',\n  props: {{ plain: 'string', \
         token: {{ type: 'string', secret: true }}, http: '$.interface.http' }},\n  hooks: {{ activate() {{ \
         if (this.plain === 'fails') throw new Error('no <b>activation</b>'); }} }},\n  run() {{ \
         this.$emit('<i>{version}</i>'); }},\n}};\n"
    )
}

#[tokio::test]
async fn versions_are_listed_compared_and_taken_up_again() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let props = json!({"plain": "one", "token": "hunter2"});
    let source = node.deploy(&code("1.0.0"), props).await;
    let body = json!({"component_code": code("2.0.0"), "configured_props": {"plain": "two", "token": "other"}});
    let updated = node.put(&source.path(), body).await.is(200).data();
    let list = format!("/sources/{}/versions", source.id);
    let first = source.record["deployment_id"].as_str().unwrap();
    let second = updated["deployment_id"].as_str().unwrap();
    let page = visitor.get(&list).await.is(200);
    for shown in [
        first,
        second,
        "Versioned",
        "1.0.0",
        "2.0.0",
        "running",
        "Roll back",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let page = visitor.get(&format!("{list}/{first}")).await.is(200);
    for shown in [
        "<del>-   run() { this.$emit(&#39;&lt;i&gt;2.0.0",
        "<ins>+ plain: one\n</ins>",
        "token: (secret)",
        "Roll back to it",
    ] {
        let text = page.text.replace("&apos;", "&#39;").replace('\'', "&#39;");
        assert!(text.contains(shown), "{shown}: {}", page.text);
    }
    for hidden in ["hunter2", "$sealed", "<i>2.0.0"] {
        assert!(!page.text.contains(hidden), "{hidden}: {}", page.text);
    }
    let running = visitor.get(&format!("{list}/{second}")).await.is(200);
    assert!(
        !running.text.contains("Roll back to it"),
        "{}",
        running.text
    );

    let roll_back = format!("{list}/{first}/roll_back");
    let asked = visitor.get(&roll_back).await.is(200);
    assert!(
        asked.text.contains("Roll versioned back?"),
        "{}",
        asked.text
    );
    let done = visitor.post(&roll_back, &[]).await.is(303);
    assert_eq!(done.header("location"), list);
    let now = node.get(&source.path()).await.is(200).data();
    assert_eq!(now["component_id"], source.record["component_id"]);
    let page = visitor.get(&list).await.is(200);
    assert!(page.text.contains("rolled back to"), "{}", page.text);
    let refresh = format!("{list}/refresh");
    assert!(page.text.contains(&refresh), "{}", page.text);
    visitor.post(&refresh, &[]).await.is(303);
    let like = format!("like={}", source.id);
    assert!(page.text.contains(&like), "{}", page.text);
    let component = now["component_id"].as_str().unwrap();
    let copy = visitor.get(&format!("/deploy/{component}?{like}")).await;
    let copy = copy.is(200).text;
    assert!(
        copy.contains("value=\"one\"") && copy.contains("versioned copy"),
        "{copy}"
    );
    assert!(!copy.contains("hunter2"), "{copy}");
}

#[tokio::test]
async fn a_roll_back_that_fails_says_why_and_keeps_the_version() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let props = json!({"plain": "one", "token": "t"});
    let source = node.deploy(&code("1.0.0"), props).await;
    let paused = json!({"active": false, "configured_props": {"plain": "fails"}});
    let failing = node.patch(&source.path(), paused).await.is(200).data();
    let again = json!({"active": true, "configured_props": {"plain": "two"}});
    let present = node.patch(&source.path(), again).await.is(200).data();
    let of = |id: &str| format!("/sources/{}/versions/{id}/roll_back", source.id);
    let failed = visitor
        .post(&of(failing["deployment_id"].as_str().unwrap()), &[])
        .await
        .is(422);
    let text = &failed.text;
    assert!(text.contains("It was not rolled back"), "{text}");
    assert!(text.contains("no &lt;b&gt;activation&lt;/b&gt;"), "{text}");
    let running = present["deployment_id"].as_str().unwrap();
    let refused = visitor.post(&of(running), &[]).await.is(422);
    assert!(refused.text.contains("already"), "{}", refused.text);
    let now = node.get(&source.path()).await.is(200).data();
    assert_eq!(now["deployment_id"], present["deployment_id"]);
}

#[tokio::test]
async fn versions_of_another_tenant_are_not_there() {
    let node = Node::start().await;
    let props = json!({"plain": "one", "token": "t"});
    let source = node.deploy(&code("1.0.0"), props).await;
    let body = json!({"component_code": code("2.0.0")});
    node.put(&source.path(), body).await.is(200);
    let bob = json!({"username": "bob", "email": "bob@example.com"});
    let bob = node.post("/users", bob).await.is(200).data();
    let bob = Visitor::with(&node, bob["api_key"].as_str().unwrap()).await;
    let list = format!("/sources/{}/versions", source.id);
    let first = source.record["deployment_id"].as_str().unwrap();
    for path in [
        list.clone(),
        format!("{list}/{first}"),
        format!("{list}/{first}/roll_back"),
    ] {
        bob.get(&path).await.is(404);
    }
    bob.post(&format!("{list}/{first}/roll_back"), &[])
        .await
        .is(404);
    let mine = Visitor::of(&node).await;
    mine.get(&format!("{list}/d_0000000000000000000000"))
        .await
        .is(404);
    mine.get(&format!("{list}/nonsense")).await.is(404);
}

#[tokio::test]
async fn a_run_is_done_again_on_the_code_of_now_or_tried_on_that_of_then() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let props = json!({"plain": "one", "token": "t"});
    let source = node.deploy(&code("1.0.0"), props).await;
    let run = node.run(&source, json!({})).await;
    let shown = format!("/runs/{}", run["invocation_id"].as_str().unwrap());
    let again = format!("{shown}/again");
    let page = visitor.get(&shown).await.is(200).text;
    assert!(page.contains(&format!("href=\"{again}\"")), "{page}");
    let same = visitor.get(&again).await.is(200).text;
    assert!(same.contains("nothing was deployed since"), "{same}");
    assert!(!same.contains("Try the code of then"), "{same}");
    let body = json!({"component_code": code("2.0.0")});
    node.put(&source.path(), body).await.is(200);
    let asked = visitor.get(&again).await.is(200).text;
    for part in [
        "Run on the code of now (<bdi>2.0.0</bdi>)",
        "Try the code of then (<bdi>1.0.0</bdi>)",
        "A run keeps no event",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let then = [("event", "{}"), ("version", "then")];
    let tried = visitor.post(&again, &then).await.is(200).text;
    for part in [
        "Tried on the code of then",
        "&lt;i&gt;1.0.0",
        "Its events went nowhere",
    ] {
        assert!(tried.contains(part), "{part}: {tried}");
    }
    let refused = visitor
        .post(&again, &[("event", "{"), ("version", "now")])
        .await;
    let refused = refused.is(422).text;
    assert!(refused.contains("The event is not JSON"), "{refused}");
    let now = [("event", "{}"), ("version", "now")];
    let done = visitor.post(&again, &now).await.is(303);
    let new = done.header("location");
    assert!(new.starts_with("/runs/inv_") && new != shown, "{new}");
    visitor.get(new).await.is(200);
    let events = format!("/sources/{}/events", source.id);
    let events = visitor.get(&events).await.is(200).text;
    assert!(events.contains("&lt;i&gt;2.0.0"), "{events}");
}
