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
        (never, "the run took longer than 2 s"),
        (
            once,
            "the run took longer than 2 s after it refreshed its time limit",
        ),
    ] {
        let run = folder.deployed(&node).await;
        let run = run.run(&node, json!({}), "failed").await;
        let error = &step(&run, "slow")["error"];
        assert_eq!(error["name"], "TimeoutError", "{error}");
        let told = error["message"].as_str().unwrap();
        assert!(told.ends_with(message), "{told}");
    }
}
