//! Code written in the browser: mistakes at their places, trials, and other code for a source.

use headwater_integration::Node;
use serde_json::json;

use super::{
    deploying::{BOARDS, boards, written},
    visitor::{Visitor, value_of},
};

#[tokio::test]
async fn a_syntax_error_is_shown_at_its_place() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let wrong = "export default {\n  name: 'x',\n  run() { this.$emit(; },\n};";
    for action in ["save", "try"] {
        let fields = [("code", wrong), ("action", action)];
        let refused = visitor.post("/deploy/code", &fields).await.is(422).text;
        for part in [
            "<pre",
            "data-fault-line=\"3\"",
            "Line 3, column 22",
            "3 |   run() { this.$emit(; },\n  |                      ^",
        ] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
    }
}

#[tokio::test]
async fn code_that_does_not_build_stays_and_says_why() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let wrong = "export default { name: 'x',\n// </textarea><b>\n";
    let refused = visitor
        .post("/deploy/code", &[("code", wrong), ("action", "save")])
        .await
        .is(422);
    assert!(
        refused.text.contains("It was not saved")
            && refused.text.contains("&lt;/textarea&gt;&lt;b&gt;"),
        "{}",
        refused.text
    );
    let source = boards(&node).await;
    let base = format!("/sources/{}", source.id);
    let code = visitor.get(&format!("{base}/code")).await.is(200);
    assert!(
        code.text.contains("name: &#39;Boards&#39;") || code.text.contains("name: 'Boards'"),
        "{}",
        code.text
    );
    let other = BOARDS.replace("colour: this.colour", "fresh: true");
    visitor
        .post(
            &format!("{base}/code"),
            &[("code", &other), ("action", "update")],
        )
        .await
        .is(303);
    visitor
        .post(&format!("{base}/run"), &[("event", "")])
        .await
        .is(200);
    let events = node
        .get(&format!("{base}/event_summaries?expand=event"))
        .await
        .is(200);
    assert_eq!(events.items()[0]["event"]["fresh"], true);
    // Code with a prop that has no value yet leads to the form.
    let needy = BOARDS.replace("url: 'string'", "url: 'string', must: 'string'");
    let refused = visitor
        .post(
            &format!("{base}/code"),
            &[("code", &needy), ("action", "update")],
        )
        .await
        .is(422);
    assert!(
        refused.text.contains("The value of must is required"),
        "{}",
        refused.text
    );
    let saved = visitor
        .post(
            &format!("{base}/code"),
            &[("code", &needy), ("action", "save")],
        )
        .await
        .is(303);
    let edit = visitor.get(saved.header("location")).await.is(200);
    assert!(edit.text.contains("name=\"prop.must\""), "{}", edit.text);
    assert_eq!(value_of(&edit, "prop.url"), "u");
}

async fn assert_needy_code_is_tried(visitor: &Visitor) {
    // Code whose props need values is asked for them, beside the code that it is.
    let needy = "export default { name: 'N', version: '0.0.1', props: { url: 'string', any: { type: 'any', optional: true } }, \
        run(event) { this.$emit([this.url, event.n, this.any]); } };";
    let fields = [("code", needy), ("action", "try"), ("event", "{\"n\": 7}")];
    let asked = visitor.post("/deploy/code", &fields).await.is(422).text;
    for part in [
        "One value is missing",
        "{&quot;n&quot;: 7}",
        "name=\"code\"",
        "with=code",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let (_, rest) = asked
        .split_once("method=\"post\" action=\"/deploy/")
        .unwrap();
    let (form, _) = rest.split_once('"').unwrap();
    let form = format!("/deploy/{}", form.replace("&amp;", "&"));
    // The code that was changed meanwhile is the code that is tried.
    let changed = needy.replace("event.n", "event.n * 2");
    let sends = async |any: &str| {
        let fields = [
            ("action", "try"),
            ("code", &*changed),
            ("prop.url", "u"),
            ("prop.any", any),
            ("event", "{\"n\": 7}"),
        ];
        visitor.post(&form, &fields).await
    };
    let tried = sends("text").await.is(200).text;
    assert!(
        tried.contains("[&quot;u&quot;,14,&quot;text&quot;]"),
        "{tried}"
    );
    let refused = sends("{a: 1").await.is(422).text;
    assert!(
        refused.contains("begins like JSON and is not JSON"),
        "{refused}"
    );
    let fields = [
        ("action", "deploy"),
        ("prop.url", "u"),
        ("code", "export default {"),
    ];
    let unsaved = visitor.post(&form, &fields).await.is(422).text;
    for part in [
        "It was not saved",
        "value=\"u\"",
        "export default {</textarea>",
    ] {
        assert!(unsaved.contains(part), "{part}: {unsaved}");
    }
}

#[tokio::test]
async fn code_is_tried_with_its_values_and_nothing_is_deployed() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let form = written(&visitor).await;
    let values = [
        ("action", "try"),
        ("prop.url", "u"),
        ("prop.key", "s3cret"),
        ("own.board", "b7"),
        ("prop.board", "b7"),
        ("prop.mode", "plain"),
        ("kind.timer", "interval"),
        ("every.timer", "5"),
        ("unit.timer", "minutes"),
    ];
    let tried = visitor.post(&form, &values).await.is(200);
    for part in ["Tried, not deployed", "It emitted 1 event", "b7"] {
        assert!(tried.text.contains(part), "{part}: {}", tried.text);
    }
    assert_eq!(value_of(&tried, "prop.url"), "u", "the form is as it was");
    let lacking = visitor.post(&form, &[("action", "try")]).await.is(422);
    assert!(!lacking.text.contains("Tried"), "{}", lacking.text);

    let code = |body: &str| {
        format!("export default {{ name: 'T', version: '0.0.1', run() {{ {body} }} }};")
    };
    let tries = async |body: &str| {
        let fields = [("code", &*code(body)), ("action", "try")];
        visitor.post("/deploy/code", &fields).await.is(200).text
    };
    let tried = tries("console.log('<i>in'); this.$emit({ a: '<b>bold' });").await;
    for part in ["&lt;i&gt;in", "&lt;b&gt;bold", "It emitted 1 event", ">ok<"] {
        assert!(tried.contains(part), "{part}: {tried}");
    }
    assert_needy_code_is_tried(&visitor).await;
    let tried = tries("throw new RangeError('too far');").await;
    for part in ["RangeError", "too far", ">failed<", "It emitted 0 events"] {
        assert!(tried.contains(part), "{part}: {tried}");
    }
    assert_eq!(node.get("/users/me/sources").await.is(200).items().len(), 0);
}

#[tokio::test]
async fn other_code_of_a_source_is_tried_and_the_source_goes_on() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let code = "export default { name: 'T', version: '0.0.1', props: { url: 'string' }, run() { this.$emit(this.url); } };";
    let source = node.deploy(code, json!({"url": "kept"})).await;
    let other = code.replace("this.$emit(this.url)", "this.$emit('other ' + this.url)");
    let page = format!("/sources/{}/code", source.id);
    let fields = [("code", &*other), ("action", "try")];
    let tried = visitor.post(&page, &fields).await.is(200).text;
    assert!(tried.contains("other kept"), "{tried}");
    let shown = visitor.get(&page).await.is(200).text;
    assert!(
        !shown.contains("&#39;other &#39;") && !shown.contains("'other '"),
        "{shown}"
    );
    assert!(node.events(&source).await.is_empty());

    let fields = [("code", &*other), ("action", "diff")];
    let changes = visitor.post(&page, &fields).await.is(200).text;
    for part in ["<del>- ", "<ins>+ ", "1 line added, 1 line removed"] {
        assert!(changes.contains(part), "{part}: {changes}");
    }
    let fields = [("code", code), ("action", "diff")];
    let none = visitor.post(&page, &fields).await.is(200).text;
    assert!(none.contains("There are none."), "{none}");

    // An event of the log is tried as it is, or edited.
    node.run(&source, json!({})).await;
    let event = node.events(&source).await.remove(0);
    let address = format!("{page}?event_id={}", event["id"].as_str().unwrap());
    let named = visitor.get(&address).await.is(200).text;
    assert!(named.contains("&quot;kept&quot;"), "{named}");
    let told = code.replace(
        "run() { this.$emit(this.url)",
        "run(event) { this.$emit(event)",
    );
    let tries = async |event: &str| {
        let fields = [("code", &*told), ("action", "try"), ("event", event)];
        visitor.post(&page, &fields).await
    };
    let tried = tries("{\"edited\": 7}").await.is(200).text;
    assert!(
        tried.contains("It emitted 1 event") && tried.contains("edited"),
        "{tried}"
    );
    let refused = tries("{edited").await.is(422).text;
    assert!(
        refused.contains("is not JSON") && refused.contains("{edited"),
        "{refused}"
    );

    // Code that needs another value is asked for it beside the code.
    let needy = other.replace("url: 'string'", "url: 'string', must: 'string'");
    let fields = [("code", &*needy), ("action", "try")];
    let asked = visitor.post(&page, &fields).await.is(422).text;
    for part in [
        "name=\"prop.must\"",
        "name=\"code\"",
        "is required",
        "value=\"kept\"",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
}
