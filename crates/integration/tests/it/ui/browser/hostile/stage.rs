//! A node whose every field has the corpus in it, and the pages that show the fields.

use headwater_integration::{Node, Receiver, Reply, Source};
use serde_json::{Value, json};

use super::corpus::{NAME, TEXTS, all, long, seen};
use crate::workflows::{Folder, HTTP, until};

/// A page, and texts that it has to show.
pub(super) struct Shown {
    pub(super) path: String,
    pub(super) texts: Vec<String>,
}

fn shown(path: impl Into<String>, texts: &[String]) -> Shown {
    Shown {
        path: path.into(),
        texts: texts.to_vec(),
    }
}

fn each() -> Vec<String> {
    TEXTS.iter().map(|text| seen(text)).collect()
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

fn query(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// A component whose every text is of the corpus, and which hands on what it is triggered with.
fn code() -> String {
    let (name, all) = (json!(NAME), json!(all()));
    let options: Vec<_> = TEXTS
        .iter()
        .map(|text| json!({"label": text, "value": text}))
        .collect();
    let options = json!(options);
    format!(
        "export default {{ name: {name}, version: '0.0.1', description: {all}, props: {{ \
           http: '$.interface.http', \
           note: {{ type: 'alert', alertType: 'warning', content: {all} }}, \
           text: {{ type: 'string', label: {name}, description: {all}, default: {all}, optional: true }}, \
           list: {{ type: 'string[]', label: {name}, options: {options}, optional: true }}, \
           pick: {{ type: 'string', label: {all}, options: {options}, optional: true }}, \
           seen: {{ type: 'data_store', label: {name}, optional: true }}, \
           shop: {{ type: 'app', app: 'shop', label: {name}, optional: true }}, \
           __proto__x: {{ type: 'string', optional: true }} }}, \
         run(event) {{ \
           for (const line of event.lines ?? []) {{ console.log(line); console.error(line); }} \
           for (const text of event.texts ?? []) this.$emit(JSON.parse(event.value), {{ summary: text, id: text }}); \
           for (const text of event.texts ?? []) this.$emit(text, {{ name: 'hostile', summary: text }}); \
           if (event.big) this.$emit(event.big, {{ summary: 'big' }}); \
           if (event.deep) this.$emit(JSON.parse(event.deep), {{ summary: 'deep' }}); \
           if (event.fails) {{ const error = new Error(event.fails); error.name = {name}; \
             error.stack = event.fails + '\\n    at ' + event.fails; throw error; }} }} }}"
    )
}

/// An object whose names and values are the corpus, with names that JavaScript would take for something else.
fn value() -> String {
    let fields = TEXTS.map(|text| format!("{}:{}", json!(text), json!(text)));
    let nested = TEXTS.map(|text| json!(text).to_string());
    let long = json!(long());
    format!(
        "{{{},\"nested\":[{}],{long}:{long}}}",
        fields.join(","),
        nested.join(",")
    )
}

/// A component whose trial shows nothing but the corpus: what it emits, logs and throws.
pub(super) fn trial() -> (String, Vec<String>) {
    let (name, all, texts) = (json!(NAME), json!(all()), json!(TEXTS));
    let code = format!(
        "export default {{ name: {name}, version: '0.0.1', run() {{ \
           for (const text of {texts}) {{ console.log(text); this.$emit({{ [text]: text }}, {{ summary: text, name: 'hostile' }}); }} \
           const error = new Error({all}); error.name = {name}; error.stack = {all} + '\\n    at ' + {all}; throw error; }} }}"
    );
    (code, [each(), vec![seen(NAME)]].concat())
}

pub(super) async fn pages(node: &Node, receiver: &Receiver) -> Vec<Shown> {
    let props = json!({"text": all(), "seen": NAME});
    let source = node.deploy(&code(), props).await;
    let renamed = json!({ "name": NAME });
    node.put(&source.path(), renamed).await.is(200);
    let mut pages = of_webhook(node, receiver, &source).await;
    pages.extend(of_source(node, &source).await);
    pages.extend(of_large_events(node, &source).await);
    pages.extend(of_component(node).await);
    pages.extend(of_account(node).await);
    pages.extend(of_data(node).await);
    pages.extend(of_settings(node).await);
    pages.extend(of_workflow(node).await);
    pages.extend(of_addresses(&source));
    pages
}

async fn of_source(node: &Node, source: &Source) -> Vec<Shown> {
    let event = json!({ "lines": TEXTS, "texts": TEXTS, "value": value() });
    let run = node.run(source, event).await;
    node.run(source, json!({ "fails": all() })).await;
    let failed = node
        .get(&format!("{}/runs", source.path()))
        .await
        .is(200)
        .items()
        .remove(0);
    let events = node.events(source).await;
    let base = format!("/sources/{}", source.id);
    let name = seen(NAME);
    let run = format!("/runs/{}", run["invocation_id"].as_str().unwrap());
    let event = format!("{base}/events/{}", id(&events[0]));
    vec![
        shown(&base, &each()),
        shown(format!("{base}/logs"), &each()),
        shown(format!("{base}/runs"), std::slice::from_ref(&name)),
        shown(format!("{base}/errors"), &[seen(&all())]),
        shown(format!("{base}/config"), std::slice::from_ref(&name)),
        shown(format!("{base}/edit"), &each()),
        shown(format!("{base}/code"), std::slice::from_ref(&name)),
        shown(format!("{base}/subscriptions"), std::slice::from_ref(&name)),
        shown(format!("{base}/run"), std::slice::from_ref(&name)),
        shown(format!("{base}/delete"), std::slice::from_ref(&name)),
        shown(event.clone(), &each()),
        shown(
            format!(
                "/events/selected?act=replay&id={}@{}",
                id(&events[0]),
                source.id
            ),
            std::slice::from_ref(&name),
        ),
        shown(
            format!("{event}?at=/{}", query("__proto__")),
            &["__proto__".to_owned()],
        ),
        shown(
            format!("{event}?at=/{}", query(NAME)),
            std::slice::from_ref(&name),
        ),
        shown(run, &each()),
        shown(format!("/runs/{}", id(&failed)), &[seen(&all())]),
        shown(
            format!("/sources/selected?act=delete&id={}", source.id),
            std::slice::from_ref(&name),
        ),
        shown(
            format!("/sources/selected?act={0}&id={0}", query(NAME)),
            &[],
        ),
        shown(format!("/runs?status={0}&origin={0}", query(NAME)), &[]),
        shown("/", std::slice::from_ref(&name)),
        shown("/sources", std::slice::from_ref(&name)),
        shown("/events", &[seen(TEXTS[0])]),
        shown(format!("/events?q={}", query("window")), &[seen(TEXTS[0])]),
        shown(
            format!("/events?q={0}&path={0}&channel={0}", query(NAME)),
            &[],
        ),
        shown(format!("/search?q={}", query("onclick")), &[name]),
    ]
}

async fn of_large_events(node: &Node, source: &Source) -> Vec<Shown> {
    // Twice as deep, as deep as events may be.
    let deep = (0..59).fold(
        json!(TEXTS[0]),
        |inner, _| json!({ "constructor": [inner] }),
    );
    let deep = deep.to_string();
    let big: Vec<_> = (0..1_000)
        .map(|at| json!({ "text": format!("{at}{}", "<b>".repeat(3_400)) }))
        .collect();
    let event = json!({ "big": big, "deep": deep });
    node.run(source, event).await;
    let events = node.events(source).await;
    let of = |summary: &str| {
        let mut events = events.iter();
        let event = events.find(|event| event["metadata"]["summary"] == summary);
        format!(
            "/sources/{}/events/{}",
            source.id,
            id(event.unwrap_or_else(|| panic!("no event {summary}")))
        )
    };
    vec![
        shown(of("big"), &["0<b><b>".to_owned()]),
        shown(
            format!("{}?at=/999/text", of("big")),
            &["999<b><b>".to_owned()],
        ),
        shown(of("deep"), &[seen(TEXTS[0])]),
    ]
}

async fn of_webhook(node: &Node, receiver: &Receiver, source: &Source) -> Vec<Shown> {
    let answer = seen(&all());
    receiver.answer(|_| {
        let reply = Reply {
            body: all(),
            ..Reply::status(500)
        };
        reply.with_header("x-hostile", "<img src=x onerror=window.__xss=1>")
    });
    let webhook =
        json!({"url": format!("{}/<b>?q='\"", receiver.url()), "name": NAME, "description": all()});
    let webhook = node.post("/webhooks", webhook).await.is(200).data();
    node.subscribe(source.id.as_str(), id(&webhook), "").await;
    let event = json!({ "texts": [TEXTS[0]], "value": value() });
    node.run(source, event).await;
    let tried = |all: &[Value]| {
        all.iter().any(|one| {
            one["attempts"]
                .as_array()
                .is_some_and(|tries| !tries.is_empty())
        })
    };
    let delivery = node.deliveries_until(id(&webhook), tried).await.remove(0);
    let base = format!("/webhooks/{}", id(&webhook));
    let name = seen(NAME);
    vec![
        shown("/webhooks", std::slice::from_ref(&name)),
        shown(&base, std::slice::from_ref(&name)),
        shown(format!("{base}/secret"), std::slice::from_ref(&name)),
        shown(format!("{base}/replay"), std::slice::from_ref(&name)),
        shown(format!("{base}/delete"), std::slice::from_ref(&name)),
        shown(
            format!("/deliveries?q={}&status={}", query(NAME), query(NAME)),
            &[],
        ),
        shown("/deliveries", &[]),
        shown(
            format!("/deliveries/selected?act=discard&id={}", id(&delivery)),
            &[seen(TEXTS[0])],
        ),
        shown(
            format!("/deliveries/selected?act={0}&id={0}", query(NAME)),
            &[],
        ),
        shown(
            format!("/deliveries/{}", id(&delivery)),
            &[
                answer,
                "x-hostile".to_owned(),
                "<img src=x onerror=window.__xss=1>".to_owned(),
                name,
            ],
        ),
    ]
}

async fn of_component(node: &Node) -> Vec<Shown> {
    let component = node.save(&code()).await;
    let texts = [each(), vec![seen(NAME)]].concat();
    let form = format!("/deploy/{}", id(&component));
    let given = format!("{form}?prop.text={}&name={0}", query(&all()));
    vec![
        shown("/deploy", &[seen(NAME)]),
        shown(format!("/deploy?q={}", query(NAME)), &[]),
        shown(form, &texts),
        shown(given, &texts),
        shown(format!("/deploy/{}", query(NAME)), &[]),
        shown(format!("/deploy/code?template={}", query(NAME)), &[]),
    ]
}

async fn of_account(node: &Node) -> Vec<Shown> {
    let account = json!({"app": "shop", "name": NAME, "fields": {"api_key": "k"}});
    let account = node.post("/accounts", account).await.is(200).data();
    let base = format!("/accounts/{}", id(&account));
    // An app of a long name, and one whose name is of markup: accounts are listed by app.
    for (app, name) in [("shop", long()), (&long(), long()), (TEXTS[0], long())] {
        let other = json!({"app": app, "name": name, "fields": {"api_key": "k"}});
        node.post("/accounts", other).await.is(200);
    }
    let name = seen(NAME);
    vec![
        shown("/accounts", std::slice::from_ref(&name)),
        shown(&base, std::slice::from_ref(&name)),
        shown(format!("{base}/delete"), &[name]),
        shown(format!("/accounts/new?q={0}&app={0}", query(NAME)), &[]),
    ]
}

async fn of_data(node: &Node) -> Vec<Shown> {
    let store = query(NAME).replace('+', "%20");
    for key in TEXTS.into_iter().chain([&*long()]) {
        let path = format!("/data_stores/{store}/record?key={}", query(key));
        let record: Value = serde_json::from_str(&value()).unwrap();
        node.put(&path, json!({ "value": record })).await.is(200);
    }
    let name = seen(NAME);
    let record = format!("/data/{store}/record?key={}", query(TEXTS[1]));
    vec![
        shown("/data", std::slice::from_ref(&name)),
        // With the source that uses it, by its name.
        shown(
            format!("/data/{store}"),
            &[each(), vec![name.clone()]].concat(),
        ),
        shown(format!("/data/{store}?prefix={}", query(NAME)), &[]),
        shown(record, &each()),
        shown(
            format!("/data/{store}/record/delete?key={}", query(TEXTS[1])),
            &[seen(TEXTS[1])],
        ),
        shown(format!("/data/{store}/delete"), &[name]),
    ]
}

async fn of_settings(node: &Node) -> Vec<Shown> {
    let key = node.post("/keys", json!({ "name": NAME })).await;
    let key = key.is(200).data();
    let agent = "<img src=x onerror=window.__xss=1>";
    let request = node
        .with_key(None)
        .request(headwater_integration::Method::POST, "//signin")
        .header("sec-fetch-site", "same-origin")
        .header("user-agent", agent);
    let fields = [("key", node.api_key()), ("next", "/")];
    let request = crate::ui::visitor::with_fields(request, &fields);
    node.send(request).await.is(303);
    let value = json!({ "value": all() });
    node.put("/variables/TOKEN", value).await.is(200);
    let name = seen(NAME);
    vec![
        shown("/settings/keys", std::slice::from_ref(&name)),
        shown(format!("/settings/keys/{}/revoke", id(&key)), &[name]),
        shown("/settings/sessions", &[agent.to_owned()]),
        shown(format!("/settings/variables?name={}", query(NAME)), &[]),
        shown("/settings/variables", &["TOKEN".to_owned()]),
        shown("/settings/usage", &[]),
        shown("/settings/audit?action=key", &[seen(NAME)]),
        shown(
            "/settings/audit?action=session.sign_in",
            &[agent.to_owned()],
        ),
        shown(
            format!(
                "/settings/audit?action={0}&actor={0}&target={0}",
                query(NAME)
            ),
            &[],
        ),
        shown(format!("/settings/keys?key={}", query(NAME)), &[]),
        shown(format!("/settings/members?workspace={}", query(NAME)), &[]),
    ]
}

async fn of_workflow(node: &Node) -> Vec<Shown> {
    let body = format!(
        "const value = JSON.parse({}); console.log({all}); $.export('it', value); $.export({}, 1); \
         if (steps.trigger.event === 'throw') throw new Error({all}); return value;",
        json!(value()),
        json!("__proto__x"),
        all = json!(all()),
    );
    let folder = Folder::new(HTTP, &[("first", &body)]);
    let definition = folder.0["workflow.yaml"].replace("Orders", &json!(NAME).to_string());
    let folder = folder.with("workflow.yaml", &definition);
    let workflow = folder.deployed(node).await;
    let event = serde_json::from_str::<Value>(&value()).unwrap();
    let ended = workflow.start(node, event).await;
    until(node, &ended, "succeeded").await;
    let failed = workflow.start(node, json!("throw")).await;
    until(node, &failed, "failed").await;
    let base = workflow.path();
    let name = seen(NAME);
    vec![
        shown("/workflows", std::slice::from_ref(&name)),
        shown(&base, std::slice::from_ref(&name)),
        shown(format!("{base}/steps"), std::slice::from_ref(&name)),
        shown(format!("{base}/events"), std::slice::from_ref(&name)),
        shown(format!("{base}/errors"), &[seen(&all())]),
        shown(format!("{base}/settings"), std::slice::from_ref(&name)),
        shown(format!("{base}/run"), std::slice::from_ref(&name)),
        shown(
            format!("/runs/selected?act=replay&id={}", &failed["/runs/".len()..]),
            &[failed["/runs/".len()..].to_owned()],
        ),
        shown(format!("/runs/selected?act={0}&id={0}", query(NAME)), &[]),
        shown(format!("{base}/delete"), &[name]),
        shown(format!("{base}{ended}"), &each()),
        shown(
            format!("{base}{ended}/value?of={}&step=0", query("$return_value")),
            &each(),
        ),
        shown(format!("{base}{failed}"), &[seen(&all())]),
        shown(format!("{base}{failed}/replay"), &[]),
    ]
}

/// Addresses that are themselves of the corpus.
fn of_addresses(source: &Source) -> Vec<Shown> {
    let text = query(NAME).replace('+', "%20");
    let long = long();
    let mut paths = vec![
        format!("/sources/{}/run?event={}", source.id, query(&all())),
        format!("/sources?q={0}&app={0}&state={0}&sort={0}", query(NAME)),
        format!("/search?q={}", query(NAME)),
        format!("/search?q={long}"),
        format!("/?workspace={}", query(NAME)),
    ];
    for section in [
        "sources",
        "runs",
        "webhooks",
        "deliveries",
        "workflows",
        "accounts",
        "data",
    ] {
        paths.push(format!("/{section}/{text}"));
        paths.push(format!("/{section}/{long}"));
    }
    let texts = Vec::new();
    paths.into_iter().map(|path| shown(path, &texts)).collect()
}
