//! One node with one thing of every kind, so that every page has something to show.

use headwater_integration::{Client, Node};
use serde_json::{Value, json};

use crate::workflows::{Folder, HTTP, until};

const CODE: &str = "export default { name: 'Ticks', version: '0.0.1', props: { http: '$.interface.http' }, \
    run() { console.log('a line'); this.$emit({ a: 1 }, { id: 'k1', summary: 'One tick' }); } }";

/// The node, and the addresses of its things.
pub(crate) struct Things {
    pub(crate) node: Node,
    /// Beginnings of routes with the beginnings of addresses, the longest first.
    addresses: Vec<(&'static str, String)>,
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

impl Things {
    pub(crate) async fn new() -> Self {
        let node = Node::builder().private_network().start().await;
        let mut addresses = of_source(&node).await;
        addresses.extend(of_workflow(&node).await);
        addresses.extend(of_account(&node).await);
        addresses.extend(of_settings(&node).await);
        let record = json!({ "value": {"b": 2} });
        let path = "/data_stores/cache/record?key=k";
        node.put(path, record).await.is(200);
        for (route, address) in [
            (
                "/data/{name}/record/delete",
                "/data/cache/record/delete?key=k",
            ),
            ("/data/{name}/record", "/data/cache/record?key=k"),
            ("/data/{name}", "/data/cache"),
        ] {
            addresses.push((route, address.to_owned()));
        }
        addresses.sort_by_key(|(route, _)| std::cmp::Reverse(route.len()));
        Self { node, addresses }
    }

    /// Texts that only the owner of the things may be shown: their ids, and names that nothing else has.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let addresses = self.addresses.iter().map(|(_, address)| address.as_str());
        let parts = addresses.flat_map(|address| address.split(['/', '?', '=', '&', ':']));
        let ids = parts.filter(|part| part.contains('_') && part.len() > 8);
        ids.chain(["One tick", "127.0.0.1:9/hook", "ada@example.com"])
    }

    /// The address of a page, by its route.
    pub(crate) fn address(&self, route: &str) -> String {
        let found = self.addresses.iter().find_map(|(beginning, address)| {
            let rest = route.strip_prefix(beginning)?;
            Some(format!("{address}{rest}"))
        });
        let address = found.unwrap_or_else(|| route.to_owned());
        assert!(!address.contains('{'), "no thing for {route}");
        address
    }
}

async fn of_source(node: &Node) -> Vec<(&'static str, String)> {
    let source = node.deploy(CODE, json!({})).await;
    let url = json!({"url": "http://127.0.0.1:9/hook", "name": "Shop"});
    let webhook = node.post("/webhooks", url).await.is(200).data();
    node.subscribe(source.id.as_str(), id(&webhook), "").await;
    let run = node.run(&source, json!({})).await;
    let event = node.events(&source).await.remove(0);
    let former = source.record["deployment_id"].as_str().unwrap().to_owned();
    let code = json!({"component_code": CODE.replace("a line", "another line")});
    node.patch(&source.path(), code).await.is(200);
    let path = format!("/sources/{}/events/{}/deliveries", source.id, id(&event));
    let delivery = first(node, &path).await;
    let component = node.save(CODE).await;
    let of_event = format!("/sources/{}/events/{}", source.id, id(&event));
    vec![
        ("/live", format!("/live?of=source:{}", source.id)),
        (
            "/sources/{id}/versions/{deployment}",
            format!("/sources/{}/versions/{former}", source.id),
        ),
        (
            "/sources/{id}/events/{event_id}/compare",
            format!("{of_event}/compare?with={}", id(&event)),
        ),
        ("/sources/{id}/events/{event_id}", of_event),
        ("/sources/{id}", format!("/sources/{}", source.id)),
        (
            "/runs/{id}",
            format!("/runs/{}", run["invocation_id"].as_str().unwrap()),
        ),
        (
            "/sources/selected",
            format!("/sources/selected?act=pause&id={}", source.id),
        ),
        (
            "/events/selected",
            format!(
                "/events/selected?act=replay&id={}@{}",
                id(&event),
                source.id
            ),
        ),
        (
            "/deliveries/selected",
            format!("/deliveries/selected?act=retry&id={}", id(&delivery)),
        ),
        ("/webhooks/{id}", format!("/webhooks/{}", id(&webhook))),
        ("/deliveries/{id}", format!("/deliveries/{}", id(&delivery))),
        (
            "/deploy/{*reference}",
            format!("/deploy/{}", id(&component)),
        ),
    ]
}

/// The first of a list, as soon as it is there.
async fn first(node: &Client, path: &str) -> Value {
    let coming = async {
        loop {
            if let Some(first) = node.get(path).await.is(200).items().into_iter().next() {
                return first;
            }
            tokio::task::yield_now().await;
        }
    };
    let came = tokio::time::timeout(std::time::Duration::from_secs(90), coming).await;
    came.unwrap_or_else(|_| panic!("nothing comes at {path}"))
}

async fn of_workflow(node: &Node) -> Vec<(&'static str, String)> {
    let emit = "$.send.emit({ a: 1 }); return 1;";
    let folder = Folder::new(HTTP, &[("first", emit)]);
    let workflow = folder.deployed(node).await;
    let state = workflow.record["state_file"].as_str().unwrap();
    folder.with(".workflow.state", state).deployed(node).await;
    let former = workflow.record["deployment_id"].as_str().unwrap();
    let run = workflow.start(node, json!("end")).await;
    until(node, &run, "succeeded").await;
    let base = workflow.path();
    let event = first(node, &format!("{base}/event_summaries")).await;
    let event = id(&event);
    let of_event = format!("{base}/events/{event}");
    let run_id = run.rsplit('/').next().unwrap();
    vec![
        (
            "/runs/selected",
            format!("/runs/selected?act=replay&id={run_id}"),
        ),
        (
            "/workflows/{id}/events/{event_id}/compare",
            format!("{of_event}/compare?with={event}"),
        ),
        ("/workflows/{id}/events/{event_id}", of_event),
        (
            "/workflows/{id}/runs/{run}/value",
            format!("{base}{run}/value?of=event"),
        ),
        ("/workflows/{id}/runs/{run}", format!("{base}{run}")),
        (
            "/workflows/{id}/deployments/{deployment}",
            format!("{base}/deployments/{former}"),
        ),
        ("/workflows/{id}", base),
    ]
}

async fn of_account(node: &Node) -> Vec<(&'static str, String)> {
    let account = node.account("shop", json!({"api_key": "k"})).await;
    let connect = json!({"app": "postgresql"});
    let connect = node.post("/accounts/connect", connect).await.is(200).data();
    vec![
        (
            "/accounts/connects/{id}",
            format!("/accounts/connects/{}", id(&connect)),
        ),
        ("/accounts/{id}", format!("/accounts/{account}")),
    ]
}

async fn of_settings(node: &Node) -> Vec<(&'static str, String)> {
    let key = json!({"name": "another"});
    let key = node.post("/keys", key).await.is(200).data();
    let other = json!({"username": "ada", "email": "ada@example.com"});
    let other = node.post("/users", other).await.is(200).data();
    let workspace = json!({"orgname": "team"});
    let workspace = node.post("/workspaces", workspace).await.is(200).data();
    let workspace = id(&workspace);
    let path = format!("/workspaces/{workspace}/members");
    node.post(&path, json!({"user_id": id(&other)}))
        .await
        .is(200);
    let link = node.post("/sign_in_links", json!({})).await.is(200).data();
    let (_, link) = link["url"]
        .as_str()
        .unwrap()
        .split_once("/signin/")
        .unwrap();
    let view = json!({"q": "order"});
    node.put("/event_views/mine", view).await.is(200);
    let variable = json!({"value": "v"});
    node.put("/variables/TOKEN", variable).await.is(200);
    // Signing in with a key begins a session, too.
    super::Visitor::of(node).await;
    let session = first(node, "/sessions").await;
    vec![
        (
            "/events/views/delete",
            "/events/views/delete?name=mine".to_owned(),
        ),
        ("/guide/{name}", "/guide/webhooks".to_owned()),
        ("/signin/{token}", format!("/signin/{link}")),
        (
            "/settings/keys/{id}",
            format!("/settings/keys/{}", id(&key)),
        ),
        (
            "/settings/sessions/{id}",
            format!("/settings/sessions/{}", id(&session)),
        ),
        (
            "/settings/members/{id}/remove",
            format!(
                "/settings/members/{}/remove?workspace={workspace}",
                id(&other)
            ),
        ),
        (
            "/settings/users/{id}",
            format!("/settings/users/{}", id(&other)),
        ),
        (
            "/settings/variables/delete",
            "/settings/variables/delete?name=TOKEN".to_owned(),
        ),
    ]
}
