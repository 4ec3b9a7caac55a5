//! From a component to a source by forms alone, as a browser without script sends them.

use headwater_integration::{Node, Source};
use serde_json::json;

use super::visitor::{Visitor, value_of};

pub(super) const BOARDS: &str = "export default { name: 'Boards', version: '0.0.1', \
    props: { url: 'string', key: { type: 'string', secret: true, optional: true }, \
      board: { type: 'string', options: ({ page, query }) => [0, 1].map((n) => ({ label: `Board ${page * 2 + n}`, value: `b${page * 2 + n}` })) }, \
      broken: { type: 'string', optional: true, options() { throw new Error('the API said no'); } }, \
      mode: { type: 'string', options: ['plain', 'fancy'], reloadProps: true }, timer: '$.interface.timer' }, \
    additionalProps() { return this.mode === 'fancy' ? { colour: { type: 'string', label: 'Colour' } } : {}; }, \
    hooks: { activate() { if (this.url === 'fail') throw new Error('activate failed'); } }, \
    run() { this.$emit({ board: this.board, colour: this.colour, key: this.key }); } }";

/// The address of the form of a component that is written in the browser.
pub(super) async fn written(visitor: &Visitor) -> String {
    let fields = [("code", BOARDS), ("action", "save")];
    let saved = visitor.post("/deploy/code", &fields).await.is(303);
    let (form, beside) = saved.header("location").split_once('?').unwrap();
    assert_eq!(beside, "with=code");
    form.to_owned()
}

/// A source of that component.
pub(super) async fn boards(node: &Node) -> Source {
    let props = json!({"url": "u", "board": "b", "mode": "plain"});
    node.deploy(BOARDS, props).await
}

#[tokio::test]
async fn options_are_loaded_by_the_part_and_what_was_typed_stays() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let form = written(&visitor).await;
    let shown = visitor
        .get(&format!("{form}?prop.url=u&prop.key=k"))
        .await
        .is(200);
    assert_eq!(value_of(&shown, "prop.url"), "u");
    assert!(!shown.text.contains("value=\"k\""), "{}", shown.text);

    let loaded = visitor
        .post(
            &form,
            &[
                ("action", "load:board"),
                ("prop.url", "typed"),
                ("prop.key", "s3cret"),
            ],
        )
        .await
        .is(200);
    assert!(loaded.text.contains(">Board 1</option>"), "{}", loaded.text);
    assert_eq!(value_of(&loaded, "prop.url"), "typed");
    assert!(!loaded.text.contains("s3cret"), "{}", loaded.text);
    let carried = value_of(&loaded, "loaded.board");
    let more = visitor
        .post(
            &form,
            &[("action", "more:board"), ("loaded.board", &carried)],
        )
        .await
        .is(200);
    assert!(
        more.text.contains(">Board 0</option>") && more.text.contains(">Board 3</option>"),
        "{}",
        more.text
    );
    let broken = visitor
        .post(&form, &[("action", "load:broken")])
        .await
        .is(422);
    assert!(broken.text.contains("the API said no"), "{}", broken.text);
}

#[tokio::test]
async fn a_component_is_filled_in_deployed_and_changed() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let form = written(&visitor).await;
    let reloaded = visitor
        .post(&form, &[("action", "reload"), ("prop.mode", "fancy")])
        .await
        .is(200);
    assert!(
        reloaded.text.contains("name=\"prop.colour\""),
        "{}",
        reloaded.text
    );
    let base = deployed(&node, &visitor, &form, &value_of(&reloaded, "additional")).await;
    changed(&node, &visitor, &base).await;
}

/// Deploys the source with the fields of its form, and returns its path.
async fn deployed(node: &Node, visitor: &Visitor, form: &str, additional: &str) -> String {
    let pick = r#"{"__lv":{"label":"Board 1","value":"b1"}}"#;
    let fields = [
        ("action", "deploy"),
        ("name", "My boards"),
        ("prop.url", "u"),
        ("prop.key", "s3cret"),
        ("prop.board", pick),
        ("prop.mode", "fancy"),
        ("prop.colour", "red"),
        ("additional", additional),
        ("kind.timer", "interval"),
        ("every.timer", "2"),
        ("unit.timer", "hours"),
    ];
    let deployed = visitor.post(form, &fields).await.is(303);
    let base = deployed.header("location").to_owned();
    let source = node.get(&base).await.is(200).data();
    assert_eq!(source["name"], "My boards");
    let values = &source["configured_props"];
    assert_eq!(values["timer"]["interval_seconds"], 7_200);
    assert_eq!(
        (&values["colour"], &values["key"]),
        (&json!("red"), &json!(null))
    );
    base
}

/// Changes the source with the same form, which has its values but for secrets.
async fn changed(node: &Node, visitor: &Visitor, base: &str) {
    let edit = visitor.get(&format!("{base}/edit")).await.is(200);
    assert!(
        edit.text.contains("selected>Board 1</option>")
            && edit.text.contains("kept if empty")
            && !edit.text.contains("s3cret"),
        "{}",
        edit.text
    );
    let fields = [
        ("action", "deploy"),
        ("name", "Renamed"),
        ("prop.url", "u2"),
        ("prop.board", "b7"),
        ("prop.mode", "plain"),
        ("kind.timer", ""),
    ];
    visitor.post(&format!("{base}/edit"), &fields).await.is(303);
    visitor
        .post(&format!("{base}/run"), &[("event", "")])
        .await
        .is(200);
    let events = node
        .get(&format!("{base}/event_summaries?expand=event"))
        .await
        .is(200);
    assert_eq!(
        events.items()[0]["event"],
        json!({"board": "b7", "key": "s3cret"})
    );
    let source = node.get(base).await.is(200).data();
    assert_eq!(source["name"], "Renamed");
    assert_eq!(source["configured_props"]["timer"]["interval_seconds"], 900);
}

#[tokio::test]
async fn what_does_not_fit_is_told_at_its_field_and_nothing_is_lost() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let form = written(&visitor).await;
    let fields = [
        ("action", "deploy"),
        ("prop.mode", "<b>plain"),
        ("kind.timer", "cron"),
        ("cron.timer", "nonsense"),
    ];
    let refused = visitor.post(&form, &fields).await.is(422);
    for expected in [
        "2 values are missing",
        "One value does not fit",
        "enter a value",
        "choose a value",
        "<a href=\"#p0\"><bdi>url</bdi></a>",
        "<a href=\"#p2\"><bdi>board</bdi></a>",
        "<a href=\"#p5\"><bdi>timer</bdi></a>",
        "value=\"nonsense\"",
        "&lt;b&gt;plain",
    ] {
        assert!(
            refused.text.contains(expected),
            "{expected}: {}",
            refused.text
        );
    }
    // A prop that the form did not know is asked for.
    let fields = [
        ("action", "deploy"),
        ("prop.url", "u"),
        ("prop.board", "b"),
        ("prop.mode", "fancy"),
    ];
    let asked = visitor.post(&form, &fields).await.is(422);
    assert!(
        asked.text.contains("name=\"prop.colour\""),
        "{}",
        asked.text
    );
    // A hook that throws leaves the form as it was, and no source.
    let fields = [
        ("action", "deploy"),
        ("prop.url", "fail"),
        ("prop.board", "b"),
        ("prop.mode", "plain"),
    ];
    let failed = visitor.post(&form, &fields).await.is(422);
    assert!(
        failed.text.contains("It was not deployed")
            && failed.text.contains("activate failed")
            && failed.text.contains("class=\"stack\""),
        "{}",
        failed.text
    );
    assert_eq!(value_of(&failed, "prop.url"), "fail");
    assert!(
        node.get("/users/me/sources")
            .await
            .is(200)
            .items()
            .is_empty()
    );
}

#[tokio::test]
async fn forms_of_others_things_are_not_there() {
    let node = Node::start().await;
    let source = boards(&node).await;
    let fields = json!({"app": "shop", "fields": {"api_key": "k"}});
    let account = node.post("/accounts", fields).await.is(200).data();
    let account = format!("/accounts/{}", account["id"].as_str().unwrap());
    let source = format!("/sources/{}", source.id);
    let bob = node.user("bob").await;
    let key = bob
        .post("/keys", json!({"name": "browser"}))
        .await
        .is(200)
        .data();
    let visitor = Visitor::with(&node, key["key"].as_str().unwrap()).await;
    for page in [
        format!("{source}/edit"),
        format!("{source}/code"),
        account.clone(),
        format!("{account}/delete"),
    ] {
        visitor.get(&page).await.is(404);
    }
    for form in [
        format!("{source}/edit"),
        format!("{account}/check"),
        format!("{account}/reconnect"),
        format!("{account}/delete"),
    ] {
        visitor.post(&form, &[]).await.is(404);
    }
    let code = [("code", BOARDS), ("action", "update")];
    visitor.post(&format!("{source}/code"), &code).await.is(404);
}

#[tokio::test]
async fn a_new_node_offers_examples_and_packages() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let page = visitor.get("/deploy").await.is(200).text;
    for link in [
        "/deploy/code?template=http",
        "/deploy?q=npm%3A%40pipedream%2Fpostgresql",
    ] {
        assert!(page.contains(link), "{link}: {page}");
    }
    let found = visitor.get("/deploy?q=nothing").await.is(200).text;
    assert!(!found.contains("template=http"), "{found}");
}

#[tokio::test]
async fn a_search_offers_components_of_packages_below_those_of_the_node() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let own = "export default { key: 'shop-postgres', name: 'Own of Postgres', version: '0.0.1', description: 'A new row', run() {} };";
    node.deploy(own, json!({})).await;
    for (words, specifier) in [
        (
            "slack+new+message",
            "npm:@pipedream/slack/sources/new-message-in-channels/new-message-in-channels.mjs",
        ),
        (
            "postgres+new+row",
            "npm:@pipedream/postgresql/sources/new-row/new-row.mjs",
        ),
    ] {
        let found = visitor
            .get(&format!("/deploy?q={words}"))
            .await
            .is(200)
            .text;
        let form = format!("<form method=\"post\" action=\"/deploy/{specifier}\"");
        assert!(found.contains(&form), "{form}: {found}");
    }
    let actions = visitor
        .get("/deploy?q=slack+send+message&kind=action")
        .await;
    let actions = actions.is(200).text;
    for part in [
        "headwater run-action npm:@pipedream/slack/actions/send-message/send-message.mjs",
        "selected>Actions<",
    ] {
        assert!(actions.contains(part), "{part}: {actions}");
    }
    assert!(!actions.contains("Set it up"), "{actions}");
    let found = visitor.get("/deploy?q=postgres+new+row").await.is(200).text;
    let [own, packaged] = ["Own of Postgres", "In npm packages"].map(|it| found.find(it));
    assert!(own.is_some() && own < packaged, "{found}");
}

#[tokio::test]
async fn drafts_that_no_source_runs_are_listed_only_when_asked_for() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    written(&visitor).await;
    let deployed = BOARDS.replace("'Boards'", "'In a source'");
    let props = json!({"url": "u", "board": "b", "mode": "plain"});
    node.deploy(&deployed, props).await;
    let drafted = |page: &str| page.contains(">Boards<");
    let shown = visitor.get("/deploy").await.is(200).text;
    assert!(
        !drafted(&shown) && shown.contains("Without 1 draft"),
        "{shown}"
    );
    let found = visitor.get("/deploy?q=boards").await.is(200).text;
    assert!(drafted(&found), "{found}");
    let all = visitor.get("/deploy?drafts=true").await.is(200).text;
    assert!(drafted(&all) && all.contains("In a source"), "{all}");
}
