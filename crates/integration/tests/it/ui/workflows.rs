//! The pages of workflows over HTTP, with their runs.

use headwater_integration::Node;
use serde_json::json;

use super::visitor::Visitor;
use crate::workflows::{Folder, HTTP, until, waiting};

const OBEDIENT: &str = "const { event } = steps.trigger; console.log('a <i>line</i>'); \
    if (event === 'wait') $.flow.suspend(); if (event === 'throw') throw new Error('told <b>to</b>'); \
    return { a: event };";

fn page_of(workflow: &str, run: &str) -> String {
    format!("{workflow}{run}")
}

#[tokio::test]
async fn a_workflow_and_its_runs_are_shown() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let none = visitor.get("/workflows").await.is(200);
    assert!(
        none.text.contains("There are no workflows"),
        "{}",
        none.text
    );
    let folder = Folder::new(HTTP, &[("first", "return 1;"), ("obey", OBEDIENT)]);
    let workflow = folder.deployed(&node).await;
    let failed = workflow.start(&node, json!("throw")).await;
    until(&node, &failed, "failed").await;
    let base = workflow.path();
    for (path, shown) in [
        ("/workflows", "Orders"),
        (&*base, "told &lt;b&gt;to&lt;/b&gt;"),
        (&format!("{base}/runs?status=error"), "failed"),
        (
            &format!("{base}/runs?status=paused"),
            "No run that is kept is waiting",
        ),
        (&format!("{base}/steps"), "./obey/entry.js"),
        (&format!("{base}/events"), "emitted nothing"),
        (&format!("{base}/errors"), "told &lt;b&gt;to&lt;/b&gt;"),
        (&format!("{base}/settings"), workflow.endpoint()),
        (&format!("{base}/delete"), "Delete the workflow"),
    ] {
        let page = visitor.get(path).await.is(200);
        assert!(page.text.contains(shown), "{path}: {}", page.text);
        assert!(!page.text.contains("<b>to"), "{path}: {}", page.text);
    }
    let page = visitor.get(&page_of(&base, &failed)).await.is(200);
    for shown in [
        "a &lt;i&gt;line&lt;/i&gt;",
        "Run again from here",
        "Return value",
        "data-part=\"run\">",
        "steps.trigger.event",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
}

#[tokio::test]
async fn a_deployment_shows_its_files_and_is_taken_up_again() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let triggers = "- type: http\n  auth: { bearer: hidden-token }\n";
    let folder = Folder::new(triggers, &[("one", "return '<i>first</i>';")]);
    let folder = folder.with("notes/old.md", "only <b>then</b>\n");
    let workflow = folder.deployed(&node).await;
    let state = workflow.record["state_file"].as_str().unwrap();
    let next = Folder::new(triggers, &[("one", "return '<i>second</i>';")])
        .with("added.md", "only now\n")
        .with(".workflow.state", state);
    let current = next.deployed(&node).await.record["deployment_id"].clone();
    let base = workflow.path();
    let of = |id: &serde_json::Value| format!("{base}/deployments/{}", id.as_str().unwrap());
    let first = of(&workflow.record["deployment_id"]);
    let settings = visitor.get(&format!("{base}/settings")).await.is(200);
    for shown in [&first, &of(&current), &format!("{first}/roll_back")] {
        assert!(settings.text.contains(shown), "{shown}: {}", settings.text);
    }
    let page = visitor.get(&first).await.is(200);
    for shown in [
        "bearer: (secret)",
        "former",
        "3 files differ",
        "not in the current one",
        "only in the current one",
        "changed",
        "The same.",
        "Roll back to it",
    ] {
        assert!(page.text.contains(shown), "{shown}: {}", page.text);
    }
    let code = visitor.get(&format!("{first}?file=one%2Fentry.js")).await;
    let code = code.is(200).text;
    let plain = code.replace("&#39;", "'").replace("&apos;", "'");
    for shown in [
        "<del>-   async run({ steps, $ }) { return '&lt;i&gt;second",
        "<ins>+   async run({ steps, $ }) { return '&lt;i&gt;first",
    ] {
        assert!(plain.contains(shown), "{shown}: {code}");
    }
    let added = visitor.get(&format!("{first}?file=added.md")).await.is(200);
    assert!(added.text.contains("does not have it"), "{}", added.text);
    let running = visitor.get(&of(&current)).await.is(200);
    assert!(
        !running.text.contains("Roll back to it"),
        "{}",
        running.text
    );
    for page in [&page.text, &code, &running.text] {
        for hidden in ["hidden-token", "<i>first", "<i>second"] {
            assert!(!page.contains(hidden), "{hidden}: {page}");
        }
    }
    for path in [
        format!("{first}?file=nothing.js"),
        format!("{base}/deployments/nonsense"),
        format!("{base}/deployments/d_0000000000000000000000/roll_back"),
    ] {
        visitor.get(&path).await.is(404);
    }
    it_is_taken_up_again(&node, &visitor, (&base, &first)).await;
}

async fn it_is_taken_up_again(node: &Node, visitor: &Visitor, (base, first): (&str, &str)) {
    let roll_back = format!("{first}/roll_back");
    let asked = visitor.get(&roll_back).await.is(200);
    assert!(asked.text.contains("Roll Orders back?"), "{}", asked.text);
    let done = visitor.post(&roll_back, &[]).await.is(303);
    assert_eq!(done.header("location"), format!("{base}/settings"));
    let settings = visitor.get(&format!("{base}/settings")).await.is(200);
    assert!(
        settings.text.contains("rolled back to"),
        "{}",
        settings.text
    );
    let now = node.get(base).await.is(200).data();
    let current = now["deployment_id"].as_str().unwrap();
    let again = format!("{base}/deployments/{current}/roll_back");
    let nothing = visitor.get(&again).await.is(200);
    assert!(nothing.text.contains("already"), "{}", nothing.text);
    assert!(!nothing.text.contains("Roll Orders back?"));
    let refused = visitor.post(&again, &[]).await.is(422);
    assert!(refused.text.contains("already"), "{}", refused.text);
}

#[tokio::test]
async fn a_run_is_started_replayed_and_begun_again_at_a_step() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let folder = Folder::new(HTTP, &[("first", "return 1;"), ("obey", OBEDIENT)]);
    let workflow = folder.deployed(&node).await;
    let base = workflow.path();
    let wrong = visitor
        .post(&format!("{base}/run"), &[("event", "{")])
        .await
        .is(422);
    assert!(wrong.text.contains("not JSON"), "{}", wrong.text);
    let started = visitor
        .post(&format!("{base}/run"), &[("event", "\"throw\"")])
        .await
        .is(303);
    let page = started.header("location").to_owned();
    let run = page.strip_prefix(&base).unwrap().to_owned();
    until(&node, &run, "failed").await;
    let question = visitor
        .get(&format!("{page}/replay?from=obey"))
        .await
        .is(200);
    assert!(
        question.text.contains("These are skipped"),
        "{}",
        question.text
    );
    let replay = visitor
        .post(
            &format!("{page}/replay"),
            &[("from", "obey"), ("deployment", "same")],
        )
        .await
        .is(303);
    let replayed = replay
        .header("location")
        .strip_prefix(&base)
        .unwrap()
        .to_owned();
    let again = until(&node, &replayed, "failed").await;
    let of = again["replay_of"].as_str().unwrap();
    assert_eq!(Some(of), run.rsplit('/').next());
    for list in [format!("{base}/runs"), "/runs?status=any".to_owned()] {
        let listed = visitor.get(&list).await.is(200).text;
        let cause = format!("replay of <a href=\"{page}\" title=\"{of}\">another run</a>");
        assert!(listed.contains(&cause), "{list}: {listed}");
    }
}

#[tokio::test]
async fn a_wait_is_answered_and_a_run_cancelled() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let workflow = Folder::new(HTTP, &[("obey", OBEDIENT)])
        .deployed(&node)
        .await;
    let base = workflow.path();
    let run = workflow.start(&node, json!("wait")).await;
    waiting(&node, &run).await;
    let page = page_of(&base, &run);
    let shown = visitor.get(&page).await.is(200);
    assert!(shown.text.contains("data-goes-on=\"\""), "{}", shown.text);
    let answer = |data: &'static str| [("path", "obey"), ("action", "resume"), ("data", data)];
    let action = format!("{page}/answer");
    visitor.post(&action, &answer("{")).await.is(422);
    visitor.post(&action, &answer("{\"yes\":1}")).await.is(303);
    let ended = until(&node, &run, "succeeded").await;
    assert_eq!(
        ended["steps"][0]["exports"]["$resume_data"],
        json!({"yes": 1})
    );
    let phases = ended["steps"][0]["phases"].as_array().unwrap();
    assert_eq!(phases[1]["wait"], "suspend");

    let other = workflow.start(&node, json!("wait")).await;
    waiting(&node, &other).await;
    let page = page_of(&base, &other);
    visitor.get(&format!("{page}/cancel")).await.is(200);
    visitor.post(&format!("{page}/cancel"), &[]).await.is(303);
    until(&node, &other, "cancelled").await;
}

#[tokio::test]
async fn a_run_is_found_below_its_own_workflow_only() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let folder = Folder::new(HTTP, &[("obey", OBEDIENT)]);
    let (one, other) = (folder.deployed(&node).await, folder.deployed(&node).await);
    let run = one.start(&node, json!("end")).await;
    until(&node, &run, "succeeded").await;
    visitor.get(&page_of(&one.path(), &run)).await.is(200);
    for part in ["", "/replay", "/cancel", "/value?of=event"] {
        let page = format!("{}{part}", page_of(&other.path(), &run));
        visitor.get(&page).await.is(404);
    }
}

#[tokio::test]
async fn a_workflow_is_paused_and_deleted() {
    let node = Node::start().await;
    let visitor = Visitor::of(&node).await;
    let workflow = Folder::new(HTTP, &[]).deployed(&node).await;
    let base = workflow.path();
    visitor
        .post(&format!("{base}/switch"), &[("active", "false")])
        .await
        .is(303);
    let paused = visitor.get(&base).await.is(200);
    assert!(
        paused.text.contains("The workflow is paused"),
        "{}",
        paused.text
    );
    visitor.post(&format!("{base}/delete"), &[]).await.is(303);
    visitor.get(&base).await.is(404);
}
