//! Limits of steps: their time, and what the settings of a workflow say about them.

use headwater_integration::Node;
use serde_json::json;

use super::{Folder, HTTP, step};

/// A workflow with one step that may take two seconds.
fn of_two_seconds(code: &str) -> Folder {
    let definition = format!(
        "schema: workflow/2022.04\nname: Timed\ntriggers:\n{HTTP}steps:\n- namespace: slow\n  timeout: 2s\n"
    );
    Folder::new(HTTP, &[("slow", code)]).with("workflow.yaml", &definition)
}

#[tokio::test]
async fn a_step_that_refreshes_its_time_limit_ends_well_and_one_that_does_not_times_out() {
    let node = Node::start().await;
    let takes_three_seconds = |each: &str| {
        format!(
            "const first = $.context.deadline, until = Date.now() + 3_000;
             let said;
             while (Date.now() < until) {{ await new Promise((go) => setTimeout(go, 20)); {each} }}
             return {{ said, deadline: $.context.deadline, is_later: $.context.deadline > first }};"
        )
    };
    let refreshes = of_two_seconds(&takes_three_seconds("said = $.flow.refreshTimeout();"));
    let refreshes = refreshes.deployed(&node).await;
    let run = refreshes.run(&node, json!({}), "succeeded").await;
    let returned = &step(&run, "slow")["return_value"];
    assert_eq!(returned["is_later"], true, "{returned}");
    let said = returned["said"].as_str().unwrap();
    assert!(said.starts_with("the step may run until 2"), "{said}");

    let never = of_two_seconds(&takes_three_seconds(""));
    let once = of_two_seconds(
        "$.flow.refreshTimeout(); await new Promise((go) => setTimeout(go, 1_000_000));",
    );
    for (folder, message) in [
        (never, "the step took longer than 2 s; raise"),
        (
            once,
            "the step took longer than 2 s after it refreshed its time limit; raise",
        ),
    ] {
        let workflow = folder.deployed(&node).await;
        let run = workflow.run(&node, json!({}), "failed").await;
        let error = &step(&run, "slow")["error"];
        assert_eq!(error["name"], "TimeoutError", "{error}");
        let told = error["message"].as_str().unwrap();
        assert!(told.contains(message), "{told}");
        assert!(told.contains("`lambda_timeout`"), "{told}");
    }
}

/// Takes 300 MB of heap.
const TAKES_300_MB: &str = "const kept = [];
    for (let n = 0; n < 8; n++) kept.push(new Array(5_000_000).fill(Math.random()));
    return kept.flatMap((part) => part.length).reduce((sum, count) => sum + count);";

/// A workflow whose settings have these lines.
fn with_settings(settings: &str, code: &str) -> Folder {
    let definition = format!(
        "schema: workflow/2022.04\nname: Large\ntriggers:\n{HTTP}steps:\n- namespace: large\nsettings:\n{settings}"
    );
    Folder::new(HTTP, &[("large", code)]).with("workflow.yaml", &definition)
}

#[tokio::test]
async fn the_heap_of_a_workflow_is_what_its_settings_say() {
    let node = Node::builder()
        .flag("--workflow-memory-max-mib=1024")
        .start()
        .await;
    let of = |mib| with_settings(&format!("  lambda_memory: {mib}\n"), TAKES_300_MB);
    let large = of(1024).deployed(&node).await;
    let usual = with_settings("  lambda_timeout: 30\n", TAKES_300_MB);
    for folder in [usual, of(256), of(128)] {
        let workflow = folder.deployed(&node).await;
        let run = workflow.run(&node, json!({}), "failed").await;
        assert_eq!(
            step(&run, "large")["error"]["name"],
            "MemoryError",
            "{run:#}"
        );
        // The others have no part in that.
        let run = large.run(&node, json!({}), "succeeded").await;
        assert_eq!(step(&run, "large")["return_value"], 40_000_000);
    }
}

#[tokio::test]
async fn a_workflow_that_wants_more_memory_than_the_node_permits_is_refused_by_name() {
    let node = Node::builder()
        .flag("--workflow-memory-max-mib=512")
        .start()
        .await;
    let wants = |mib| with_settings(&format!("  lambda_memory: {mib}\n"), "return 1;").body();
    node.post("/workflows", wants(512)).await.is(200);
    let refused = node.post("/workflows", wants(513)).await.is(400);
    let error = refused.error().to_string();
    for told in [
        "settings.lambda_memory",
        "513",
        "512",
        "--workflow-memory-max-mib",
    ] {
        assert!(error.contains(told), "{error}");
    }
}
