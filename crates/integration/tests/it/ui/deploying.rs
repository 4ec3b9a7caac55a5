//! From a component to a source by forms alone, as a browser without script sends them, and accounts on the way.

use headwater_integration::{Answer, Node};
use serde_json::json;

use super::visitor::Visitor;

const BOARDS: &str = "export default { name: 'Boards', version: '0.0.1', \
    props: { url: 'string', key: { type: 'string', secret: true, optional: true }, \
      board: { type: 'string', options: ({ page, query }) => [0, 1].map((n) => ({ label: `Board ${page * 2 + n}`, value: `b${page * 2 + n}` })) }, \
      broken: { type: 'string', optional: true, options() { throw new Error('the API said no'); } }, \
      mode: { type: 'string', options: ['plain', 'fancy'], reloadProps: true }, timer: '$.interface.timer' }, \
    additionalProps() { return this.mode === 'fancy' ? { colour: { type: 'string', label: 'Colour' } } : {}; }, \
    hooks: { activate() { if (this.url === 'fail') throw new Error('activate failed'); } }, \
    run() { this.$emit({ board: this.board, colour: this.colour, key: this.key }); } }";

/// The attribute of the first element with this name.
pub(super) fn value_of(page: &Answer, name: &str) -> String {
    let (_, rest) = page.text.split_once(&format!("name=\"{name}\"")).unwrap();
    let (_, rest) = rest.split_once("value=\"").unwrap();
    let (value, _) = rest.split_once('"').unwrap();
    value.replace("&quot;", "\"").replace("&amp;", "&")
}

/// The address of the form of a component that is written in the browser.
async fn written(visitor: &Visitor) -> String {
    let fields = [("code", BOARDS), ("action", "save")];
    let saved = visitor.post("/deploy/code", &fields).await.is(303);
    let (form, beside) = saved.header("location").split_once('?').unwrap();
    assert_eq!(beside, "with=code");
    form.to_owned()
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
    let source = node
        .deploy(BOARDS, json!({"url": "u", "board": "b", "mode": "plain"}))
        .await;
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

#[tokio::test]
async fn an_account_is_created_checked_and_deleted_with_its_consequences() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let catalog = visitor.get("/accounts/new?q=slack").await.is(200);
    assert!(
        catalog
            .text
            .contains("needs a client that the operator registers"),
        "{}",
        catalog.text
    );
    let slack = visitor.get("/accounts/new?app=slack").await.is(200);
    assert!(
        slack.text.contains("[slack.oauth2]")
            && slack.text.contains("/connect/slack/callback")
            && slack.text.contains("/apps/slack.toml</code>")
            && !slack.text.contains("DATA_DIR"),
        "{}",
        slack.text
    );
    let fields = [
        ("app", "shop"),
        ("name", "Work"),
        ("lines", "api_key=s3cret\r\nuser=me"),
    ];
    let created = visitor.post("/accounts/new", &fields).await.is(303);
    let account = created.header("location").to_owned();
    let id = account.trim_start_matches("/accounts/").to_owned();
    let code = "export default { name: 'Shop', version: '0.0.1', props: { shop: { type: 'app', app: 'shop' } }, run() {} }";
    let source = node
        .deploy(code, json!({"shop": {"authProvisionId": id}}))
        .await;
    for page in ["/accounts", &account, &format!("{account}/delete")] {
        let shown = visitor.get(page).await.is(200);
        assert!(
            shown.text.contains(source.id.as_str()) && !shown.text.contains("s3cret"),
            "{page}: {}",
            shown.text
        );
    }
    let form = visitor
        .get(&format!("/sources/{}/edit", source.id))
        .await
        .is(200);
    assert!(
        form.text.contains(&format!("value=\"{id}\" checked")),
        "{}",
        form.text
    );
    let page = visitor.get(&account).await.is(200).text;
    assert!(
        page.contains("no test for accounts of") && !page.contains("Check now"),
        "nobody can be asked: {page}"
    );
    visitor.post(&format!("{account}/check"), &[]).await.is(303);
    visitor
        .post(&format!("{account}/delete"), &[])
        .await
        .is(303);
    visitor.get(&account).await.is(404);
    let refused = visitor
        .post("/accounts/new", &[("app", "shop")])
        .await
        .is(422);
    assert!(refused.text.contains("role=\"alert\""), "{}", refused.text);
}

#[tokio::test]
async fn a_link_leads_to_an_account_and_its_page_waits() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let begun = visitor
        .post(
            "/accounts/connect",
            &[("app", "postgresql"), ("name", "Data")],
        )
        .await
        .is(200);
    assert!(
        begun.text.contains("/connect/postgresql?token="),
        "{}",
        begun.text
    );
    let (_, rest) = begun.text.split_once("data-wait=\"").unwrap();
    let (status, _) = rest.split_once('"').unwrap();
    let waiting = visitor.get(status).await.is(200);
    assert!(
        waiting.text.contains("Not connected yet"),
        "{}",
        waiting.text
    );
    visitor
        .post("/accounts/connect", &[("app", "slack")])
        .await
        .is(409);
    visitor.get("/accounts/connects/other").await.is(404);
    let fields = [("app", "nothing-like-it"), ("name", "Mine")];
    let refused = visitor.post("/accounts/connect", &fields).await.is(422);
    assert_eq!(value_of(&refused, "name"), "Mine");
}

#[tokio::test]
async fn forms_of_others_things_are_not_there() {
    let node = Node::start().await;
    let source = node
        .deploy(BOARDS, json!({"url": "u", "board": "b", "mode": "plain"}))
        .await;
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
async fn a_field_of_an_account_that_is_a_choice_is_one_on_the_page() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let form = visitor.get("/accounts/new?app=postgresql").await.is(200);
    let option = "<option value=\"skip_verification\">skip: any certificate will do";
    assert!(form.text.contains(option), "{}", form.text);
    assert!(form.text.contains("the server has to have TLS turned on"));
    assert!(
        form.text.contains("value=\"5432\" min=\"1\" max=\"65535\""),
        "{}",
        form.text
    );
    let mut fields = vec![
        ("app", "postgresql"),
        ("field.host", "db.example"),
        ("field.port", "5432"),
        ("field.user", "me"),
        ("field.password", "s3cret"),
        ("field.database", "shop"),
        ("field.ssl_verification_mode", "none"),
    ];
    let refused = visitor.post("/accounts/new", &fields).await.is(422);
    let reason = "must be one of: full_verification, skip_verification";
    assert!(refused.text.contains(reason), "{}", refused.text);
    fields[6].1 = "skip_verification";
    fields[2].1 = "54x2";
    let refused = visitor.post("/accounts/new", &fields).await.is(422).text;
    for part in ["href=\"#field-port\"", "must be the number of a port"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
    fields[2].1 = "5432";
    visitor.post("/accounts/new", &fields).await.is(303);
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
