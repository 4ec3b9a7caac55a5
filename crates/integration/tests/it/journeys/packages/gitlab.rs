//! `@pipedream/gitlab`: a webhook that the source registers and removes itself, and an action.
//! HTTP through axios.

use headwater_integration::{Gitlab, Node};
use serde_json::{Value, json};

const NEW_ISSUE: &str = "npm:@pipedream/gitlab@0.5.6/sources/new-issue/new-issue.mjs";
const CREATE_ISSUE: &str = "npm:@pipedream/gitlab@0.5.6/actions/create-issue/create-issue.mjs";

fn issue(id: u32, title: &str, previously_updated: Option<&str>) -> Value {
    json!({
        "object_kind": "issue",
        "user": {"name": "Ada", "username": "ada"},
        "object_attributes": {"id": id, "iid": id - 100, "title": title, "created_at": "2026-01-02T03:04:05Z"},
        "changes": {"updated_at": {"previous": previously_updated, "current": "2026-01-02T03:04:05Z"}},
    })
}

async fn start(gitlab: &Gitlab) -> Node {
    let node = Node::builder().private_network().reaching(gitlab.server());
    node.start().await
}

#[tokio::test]
async fn a_source_registers_its_hook_is_called_and_removes_it() {
    let gitlab = Gitlab::start(&["team/tea"]).await;
    let node = start(&gitlab).await;
    let account = node.account("gitlab", Gitlab::account_fields()).await;
    let props = json!({"gitlab": {"authProvisionId": account}, "projectId": 1});
    let source = node.deploy_package(NEW_ISSUE, props).await;

    let hooks = gitlab.hooks();
    let [hook] = hooks.as_slice() else {
        panic!("one hook is registered: {hooks:?}");
    };
    assert_eq!(hook["url"], source.endpoint());
    assert_eq!(
        (&hook["issues_events"], &hook["project"]),
        (&json!(true), &json!("1"))
    );
    let token = hook["token"].as_str().unwrap();

    let opened = issue(101, "No tea left", None);
    gitlab.call_hook(hook, "guessed", &opened).await.is(404);
    gitlab.call_hook(hook, token, &opened).await.is(200);
    gitlab.call_hook(hook, token, &opened).await.is(200);
    let edited = issue(101, "No tea", Some("2026-01-01T00:00:00Z"));
    gitlab.call_hook(hook, token, &edited).await.is(200);
    gitlab
        .call_hook(hook, token, &issue(102, "Nor milk", None))
        .await
        .is(200);

    let events = node.events_until(&source, |events| events.len() > 1).await;
    let titles: Vec<_> = events
        .iter()
        .map(|event| &event["event"]["object_attributes"]["title"])
        .collect();
    assert_eq!(titles, ["No tea left", "Nor milk"]);
    let metadata = &events[0]["metadata"];
    assert_eq!(metadata["id"], 101);
    assert_eq!(
        metadata["summary"],
        "New issue by Ada (ada): #1 No tea left"
    );
    assert_eq!(node.channel(&source, "$errors").await, [Value::Null; 0]);

    node.delete(&source.path()).await.is(204);
    assert_eq!(gitlab.hooks(), [Value::Null; 0]);
}

#[tokio::test]
async fn projects_are_listed_page_by_page_and_an_issue_is_made_in_one() {
    let gitlab = Gitlab::start(&["team/tea", "team/milk", "team/salt"]).await;
    let node = start(&gitlab).await;
    let account = node.account("gitlab", Gitlab::account_fields()).await;
    node.save_package(CREATE_ISSUE).await;
    let configured = json!({"gitlab": {"authProvisionId": account}});
    let page = async |page: u32| {
        let question = json!({"prop": "projectId", "configured_props": configured, "page": page});
        let options = node.options("gitlab-create-issue", question).await["options"].take();
        (fields_of(&options, "label"), fields_of(&options, "value"))
    };
    assert_eq!(
        page(0).await,
        (json!(["team/tea", "team/milk"]), json!([1, 2]))
    );
    assert_eq!(page(1).await, (json!(["team/salt"]), json!([3])));
    assert_eq!(page(2).await, (json!([]), json!([])));

    let props = json!({
        "gitlab": {"authProvisionId": account}, "projectId": 3, "title": "Buy salt", "labels": ["kitchen", "soon"],
    });
    let report = node.run_action("gitlab-create-issue", props).await;
    assert_eq!(report["summary"], "Created issue Buy salt");
    let made = json!({"title": "Buy salt", "labels": "kitchen,soon", "iid": 1, "project_id": "3"});
    assert_eq!(report["outcome"]["value"], made);
}

fn fields_of(list: &Value, name: &str) -> Value {
    let items = list.as_array().unwrap().iter();
    items.map(|item| item[name].clone()).collect()
}

#[tokio::test]
async fn a_refused_credential_is_the_components_error_and_nothing_is_deployed() {
    let gitlab = Gitlab::start(&["team/tea"]).await;
    let node = start(&gitlab).await;
    let account = node
        .account("gitlab", json!({"oauth_access_token": "revoked"}))
        .await;
    let props = json!({"gitlab": {"authProvisionId": account}, "projectId": 1});
    let error = node
        .try_deploy_package(NEW_ISSUE, props)
        .await
        .is(422)
        .error();
    assert!(
        error["message"].as_str().unwrap().contains("401"),
        "{error}"
    );
    assert_eq!(gitlab.hooks(), [Value::Null; 0]);
    assert_eq!(node.get("/users/me/sources").await.is(200).items().len(), 0);
}
