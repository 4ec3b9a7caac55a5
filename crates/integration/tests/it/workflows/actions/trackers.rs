//! Actions with large clients: issues in GitLab and Linear, and a page in Notion.

use headwater_integration::{Gitlab, Linear, Node, Notion};
use serde_json::json;

use super::{folder, summary};

#[tokio::test]
async fn an_order_becomes_two_issues_and_a_page() {
    let gitlab = Gitlab::start(&["team/tea"]).await;
    let linear = Linear::start(false).await;
    let notion = Notion::start(&["shopping"]).await;
    let node = Node::builder().private_network().reaching(gitlab.server());
    let node = node.reaching(linear.server()).reaching(notion.server());
    let node = node.start().await;
    let in_gitlab = node.account("gitlab", Gitlab::account_fields()).await;
    let in_linear = node.account("linear_app", Linear::account_fields()).await;
    let in_notion = node.account("notion", Notion::account_fields()).await;
    let steps = format!(
        r#"- namespace: gitlab
  uses: gitlab-create-issue@0.2.2
  props:
    gitlab: {{ authProvisionId: {in_gitlab} }}
    projectId: "{{{{event.project}}}}"
    title: "Buy {{{{event.what}}}}"
    labels: [kitchen, "{{{{event.when}}}}"]
- namespace: linear
  uses: linear_app-create-issue@0.4.15
  props:
    linearApp: {{ authProvisionId: {in_linear} }}
    teamId: {{ __lv: {{ label: kitchen, value: team-kitchen }} }}
    title: "{{{{steps.gitlab.$return_value.title}}}}"
- namespace: notion
  uses: notion-create-page@0.3.1
  _props_cursor: dyp_MeUXlgy
  props:
    notion: {{ authProvisionId: {in_notion} }}
    parent: page-of-the-shop
    title: "{{{{steps.gitlab.$return_value.title}}}}"
    metaTypes: [icon]
    icon: "🍵"
    pageContent: |
      # {{{{event.what}}}}

      Issue {{{{steps.gitlab.$return_value.iid}}}}
"#
    );
    let workflow = folder(&steps).deployed(&node).await;
    let event = json!({"project": "1", "what": "salt", "when": "soon"});
    let run = workflow.run(&node, event, "succeeded").await;
    assert_eq!(summary(&run, "gitlab"), "Created issue Buy salt");
    assert_eq!(summary(&run, "linear"), "Created issue issue-1");
    assert_eq!(summary(&run, "notion"), "Created page successfully");
    let [page] = &notion.pages()[..] else {
        panic!("one page is made");
    };
    assert_eq!(page["parent"]["page_id"], "page-of-the-shop", "{page:#}");
    assert_eq!(page["icon"]["emoji"], "🍵");
    let title = &page["properties"]["title"]["title"][0]["text"]["content"];
    assert_eq!(title, "Buy salt");
    let text = &page["children"][1]["paragraph"]["rich_text"][0]["text"]["content"];
    assert_eq!(text, "Issue 1", "{page:#}");
}
