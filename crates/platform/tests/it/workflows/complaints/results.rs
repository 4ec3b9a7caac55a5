//! Complaints 15 to 17: deployments that break runs in flight, large values that ruin them, loops whose results are out of
//! order or come several times.

use std::{sync::Arc, time::Duration};

use headwater_engine::{FlowOperation, Service};
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_platform::{
    ResultLimits, RunReplay, UpdateWorkflow, WaitAction, WaitAnswer, WorkflowRunStatus,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{
    LATER, Next, Notes, again, beside, crashes, each, emits, events, kill, next, path_of, played,
};
use crate::{
    engine::{PATIENCE, Run, returned_with},
    workflows::{
        Flow,
        flow::{answer, pauses, token},
        paths, returned, step,
    },
    world::{World, life, memory, with_faults},
};

/// Versions after the one that the run began with; none has any step of it.
const LATER_VERSIONS: usize = 3;

#[test]
fn c15_a_run_follows_its_deployment_wherever_it_stands_when_others_come() {
    for ends in 0..=5 {
        for waits in 0..=1 {
            let store = memory();
            let (first, run, ended) = life(async {
                let world = World::on(&store).await;
                let first = crashes::everything().deploy(&world).await;
                let flow = &first.workflow.workflow.id;
                let run = world.start_run(flow, json!({})).await;
                let ended = crashes::played_to(&world, flow, &run, ends, waits).await;
                (first, run, ended)
            });
            let flow = &first.workflow.workflow.id;
            life(async {
                let world = World::on(&store).await;
                for number in 0..LATER_VERSIONS {
                    let other = Flow::of(&[step(&format!("new{number}"), &[])]);
                    other.again(&first).deploy(&world).await;
                }
                // Turned off, it takes no triggers; runs that have begun go on.
                let off = UpdateWorkflow {
                    active: Some(false),
                };
                let turned = world
                    .platform
                    .update_workflow(&world.caller, flow, off)
                    .await;
                turned.unwrap();
                kill(&world).await;
            });
            life(async {
                let world = World::on(&store).await;
                let on = UpdateWorkflow { active: Some(true) };
                let turned = world
                    .platform
                    .update_workflow(&world.caller, flow, on)
                    .await;
                turned.unwrap();
                let (rest, seen) = played(&world, flow, &run).await;
                let told = format!("{ended:?}, then {rest:?}");
                assert_eq!(seen.run.status, WorkflowRunStatus::Succeeded, "{told}");
                let deployment = &first.workflow.workflow.deployment_id;
                if !ended.is_empty() {
                    assert_eq!(seen.run.deployment_id.as_ref(), Some(deployment), "{told}");
                    for path in crashes::EVERYTHING {
                        assert_eq!(returned(&seen, path), path, "{told}");
                    }
                }
                let new = world.start_run(flow, json!({})).await;
                let (steps, _) = played(&world, flow, &new).await;
                assert_eq!(steps, [format!("new{}", LATER_VERSIONS - 1)]);
            });
        }
    }
}

/// More than a place keeps beside its status.
const LARGE: usize = 400_000;
/// More than a step may return.
const TOO_LARGE: usize = 17 << 20;

#[tokio::test]
async fn c16_a_large_value_is_whole_for_everybody_who_reads_it() {
    let world = World::new().await;
    let items: Vec<String> = (0..3).map(|item| item.to_string().repeat(LARGE)).collect();
    let loops = each("items", "steps.big.$return_value", "", &[step("item", &[])]);
    let flow = Flow::of(&[step("big", &[]), loops, step("last", &[])]);
    let flow = flow.id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let big = world.step("big").await;
    big.export("named", json!(items[0]));
    big.ends(returned_with(json!(items)));
    for text in &items {
        let item = world.step("item").await;
        assert_eq!(item.event["steps"]["items"]["item"], *text);
        item.ends(returned_with(json!(text)));
    }
    let sees_all = |last: &Run| {
        let steps = &last.event["steps"];
        assert_eq!(steps["big"]["$return_value"], json!(items));
        assert_eq!(steps["big"]["named"], json!(items[0]));
        assert_eq!(steps["items"]["$return_value"], json!(items));
    };
    let last = world.step("last").await;
    sees_all(&last);
    last.throws("no");
    let failed = world.run_that(&run, WorkflowRunStatus::Failed).await;
    assert_eq!(returned(&failed, "big"), json!(items));
    assert_eq!(returned(&failed, "items[2].item"), json!(items[2]));
    // Another run has blobs of its own.
    let request = RunReplay {
        from: Some("last".to_owned()),
        is_same: true,
    };
    let again = world
        .platform
        .replay_run(&world.caller, &run, &request)
        .await;
    let last = world.step("last").await;
    sees_all(&last);
    last.returns();
    world.succeeded(&again.unwrap().0).await;
}

/// Plays a run of two steps whose results are large; that of the first is out of memory when the run ends.
async fn plays_large(world: &World, flow: &WorkflowId) -> [Value; 2] {
    let results = ["a", "b"].map(|letter| json!(letter.repeat(LARGE)));
    let first = world.step("first").await;
    first.ends(returned_with(results[0].clone()));
    let second = world.step("second").await;
    second.export("named", results[0].clone());
    let run = second.event["context"]["trace_id"].as_str().unwrap();
    let run: InvocationId = run.parse().unwrap();
    pauses(&second, FlowOperation::Delay, 1_000, None);
    second.ends(returned_with(results[1].clone()));
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    world.later(flow, Duration::from_secs(1)).await;
    results
}

#[tokio::test]
async fn c16_a_large_result_reaches_the_run_that_called() {
    let world = World::new().await;
    let called = Flow::of(&[step("first", &[]), step("second", &[])]);
    let called = called.id(&world).await;
    let call = format!("- namespace: other\n  type: call\n  workflow: {called}\n");
    let flow = Flow::of(&[call, step("after", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let [a, b] = plays_large(&world, &called).await;
    let after = world.step("after").await;
    let last = json!({ "named": a, "$return_value": b });
    assert_eq!(after.event["steps"]["other"]["$return_value"], last);
    for result_type in ["last_exports", "all_exports"] {
        let arguments = json!({ "workflow": called, "payload": {}, "result_type": result_type });
        let answer = after.serve(Service::Workflows, "trigger", &arguments);
        plays_large(&world, &called).await;
        let answer = answer.await.unwrap().unwrap().unwrap();
        let answer: Value = serde_json::from_str(answer.get()).unwrap();
        match result_type {
            "all_exports" => {
                assert_eq!(answer["first"], json!({ "$return_value": a }));
                assert_eq!(answer["second"], last);
            }
            _ => assert_eq!(answer, last),
        }
    }
    after.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn c16_a_lost_value_spoils_only_results_that_have_it() {
    let (store, disk) = with_faults();
    let world = World::on(&store).await;
    let called = Flow::of(&[step("first", &[]), step("second", &[])]);
    let called = called.id(&world).await;
    // The first step's value is lost once the second has it.
    let plays_and_loses = async |letter: &str| {
        let lost = json!(letter.repeat(LARGE));
        let first = world.step("first").await;
        first.ends(returned_with(lost.clone()));
        let second = world.step("second").await;
        let hash = hex::encode(Sha256::digest(lost.to_string()));
        disk.faults().lose_blob(&hash);
        second.ends(returned_with(json!(letter)));
    };
    let call = format!("- namespace: other\n  type: call\n  workflow: {called}\n");
    let flow = Flow::of(&[call, step("after", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    plays_and_loses("a").await;
    let after = world.step("after").await;
    let last = json!({ "$return_value": "a" });
    assert_eq!(after.event["steps"]["other"]["$return_value"], last);
    for (result_type, letter) in [("last_exports", "b"), ("all_exports", "c")] {
        let arguments = json!({ "workflow": called, "payload": {}, "result_type": result_type });
        let answer = after.serve(Service::Workflows, "trigger", &arguments);
        plays_and_loses(letter).await;
        match answer.await.unwrap() {
            Ok(answer) => {
                assert_eq!(result_type, "last_exports");
                let answer: Value = serde_json::from_str(answer.unwrap().get()).unwrap();
                assert_eq!(answer, json!({ "$return_value": letter }));
            }
            Err(error) => {
                assert_eq!(result_type, "all_exports", "{error}");
                assert!(error.contains("the store lacks a value"), "{error}");
            }
        }
    }
    after.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn c16_large_answers_that_come_early_are_whole_and_not_in_the_row_of_the_run() {
    let store = memory();
    let world = World::on(&store).await;
    let ask = "- namespace: ask\n  type: wait\n".to_owned();
    let flow = Flow::of(&[step("one", &[]), ask, step("last", &[])]);
    let flow = flow.id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let one = world.step("one").await;
    pauses(&one, FlowOperation::Suspend, 60_000, None);
    let url = one.event["steps"]["ask"]["resume_url"].as_str().unwrap();
    let ahead = url.split('/').nth_back(1).unwrap().to_owned();
    let answers = [token(&one), ahead].map(|token| {
        let data = json!({ "body": token.repeat(LARGE / token.len()) });
        (token, data)
    });
    for (token, data) in &answers {
        let taken = answer(&world, token, WaitAction::Resume, data.clone()).await;
        assert_eq!(taken, WaitAnswer::Taken);
    }
    let are_taken_in = async {
        while !store
            .resolutions(std::slice::from_ref(&run))
            .await
            .unwrap()
            .is_empty()
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, are_taken_in).await.unwrap();
    let row = store.open_run(&run).await.unwrap().unwrap().state.unwrap();
    assert!(row.get().len() < 10_000, "{} bytes", row.get().len());
    assert!(row.get().contains("\"early\""), "{row}");
    for place in store.run_places(&run).await.unwrap() {
        let bytes = place.body.get().len();
        assert!(bytes < 10_000, "{}: {bytes} bytes", place.path);
    }
    one.returns();
    let last = world.step("last").await;
    for (namespace, (_, data)) in ["one", "ask"].into_iter().zip(answers) {
        assert_eq!(last.event["steps"][namespace]["$resume_data"], data);
    }
    last.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn c16_a_large_context_of_a_rerun_is_whole() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let context = json!({ "seen": "x".repeat(LARGE) });
    let one = world.step("one").await;
    pauses(&one, FlowOperation::Rerun, 1_000, Some(context.clone()));
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    world.later(&flow, Duration::from_secs(1)).await;
    let again = world.step("one").await;
    assert_eq!(again.event["context"]["run"]["context"], context);
    again.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn c16_a_value_over_the_limit_fails_its_own_step_by_name() {
    let world = World::new().await;
    let huge = || step("huge", &["on_error: continue"]);
    let branches: [(&str, &[String]); 2] = [("fine", &[step("fine", &[])]), ("bad", &[huge()])];
    let both = beside("both", "settle", &branches);
    let flow = Flow::of(&[step("one", &[]), both, step("last", &[])]);
    let flow = flow.id(&world).await;
    for exports in [false, true] {
        let run = world.start_run(&flow, json!({})).await;
        world.step("one").await.ends(returned_with(json!("one")));
        let [fine, huge] = world.steps_beside(["fine", "huge"]).await;
        emits(&huge, &json!("never"));
        match exports {
            // Each alone would be kept.
            true => {
                huge.export("a", json!("x".repeat(TOO_LARGE / 2)));
                huge.export("b", json!("x".repeat(TOO_LARGE / 2)));
                huge.returns();
            }
            false => huge.ends(returned_with(json!("x".repeat(TOO_LARGE)))),
        }
        fine.ends(returned_with(json!("y".repeat(LARGE))));
        let last = world.step("last").await;
        let steps = &last.event["steps"];
        assert_eq!(steps["one"]["$return_value"], "one");
        let fine = &steps["both"]["$return_value"]["fine"]["$return_value"];
        assert_eq!(fine, &json!("y".repeat(LARGE)));
        last.returns();
        let seen = world.succeeded(&run).await;
        let huge = seen
            .steps
            .iter()
            .find(|step| step.namespace == "huge")
            .unwrap();
        let error = huge.error.as_ref().unwrap();
        assert_eq!(error.name, "TooMuchOutputError");
        assert!(error.message.contains("16 MiB"), "{}", error.message);
        assert_eq!((huge.exports.len(), huge.return_value.is_none()), (0, true));
    }
    assert_eq!(events(&world, &flow, None).await, [Value::Null; 0]);
}

#[tokio::test]
async fn c16_the_node_sets_how_much_a_step_and_a_run_keep_and_an_error_names_the_option() {
    let world = World::with(|config| {
        config.workflow_results = ResultLimits {
            step_mib: 1,
            run_mib: 2,
        };
    })
    .await;
    let names = ["one", "two", "three"];
    let flow = Flow::of(&names.map(|name| step(name, &[])));
    let flow = flow.id(&world).await;
    let kib = |kib: usize| returned_with(json!("x".repeat(kib * 1024)));
    let run = world.start_run(&flow, json!({})).await;
    world.step("one").await.ends(kib(1025));
    let run = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let message = &run.steps[0].error.as_ref().unwrap().message;
    assert!(
        message.contains("at most 1 MiB") && message.contains("--workflow-step-results-mib"),
        "{message}"
    );
    let run = world.start_run(&flow, json!({})).await;
    for name in names {
        world.step(name).await.ends(kib(1023));
    }
    let run = world.run_that(&run, WorkflowRunStatus::Failed).await;
    let message = &run.steps[2].error.as_ref().unwrap().message;
    assert!(
        message.contains("2 MiB together") && message.contains("--workflow-run-results-mib"),
        "{message}"
    );
}

#[tokio::test]
async fn c17_results_are_in_the_order_of_the_items_and_the_end_comes_once() {
    let world = World::new().await;
    let inner = each("inner", "[0, 1]", "", &[step("cell", &[])]);
    let outer = each("outer", "[0, 1, 2]", "  concurrency: 3\n", &[inner]);
    let flow = Flow::of(&[outer, step("done", &[])]).id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let mut cells: Vec<Run> = Vec::new();
    let mut ended = Vec::new();
    // The last items end first.
    for _ in 0..3 {
        cells.push(world.step("cell").await);
    }
    cells.sort_by_key(path_of);
    while let Some(cell) = cells.pop() {
        let path = path_of(&cell);
        ended.push(path.clone());
        cell.ends(returned_with(json!(path)));
        if path.ends_with("inner[0].cell") {
            cells.push(world.step("cell").await);
        }
    }
    let mut in_order = ended.clone();
    in_order.sort_unstable();
    assert_eq!(ended.len(), 6);
    assert_ne!(ended, in_order);
    let done = world.step("done").await;
    let rows = |outer: usize| [0, 1].map(|inner| format!("outer[{outer}].inner[{inner}].cell"));
    let expected = json!([rows(0), rows(1), rows(2)]);
    assert_eq!(done.event["steps"]["outer"]["$return_value"], expected);
    done.returns();
    let seen = world.succeeded(&run).await;
    assert_eq!(returned(&seen, "outer"), expected);
    let ends = paths(&seen).iter().filter(|path| *path == "done").count();
    assert_eq!(ends, 1);
}

#[tokio::test]
async fn c17_a_loop_over_nothing_ends_once_too() {
    let (world, notes) = (World::new().await, Notes::default());
    notes.on(&world, &["item", "done"]);
    let flow = Flow::of(&[
        each("items", "[]", "", &[step("item", &[])]),
        step("done", &[]),
    ]);
    let flow = flow.id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let seen = world.succeeded(&run).await;
    assert_eq!(notes.take(), ["done"]);
    assert_eq!(returned(&seen, "items"), json!([]));
}

/// Items wait, are tried again and are killed; the step behind the loop runs once, with all of them.
#[test]
fn c17_a_loop_over_kills_and_pauses_ends_once() {
    const ITEMS: usize = 6;
    let store = memory();
    let (flow, run) = life(async {
        let world = World::on(&store).await;
        let items: Vec<usize> = (0..ITEMS).collect();
        let retry = step("item", &["retry: { attempts: 3, initial: 1s }"]);
        let more = "  concurrency: 2\n";
        let items = each("items", &json!(items).to_string(), more, &[retry]);
        let flow = Flow::of(&[items, step("done", &[])]).id(&world).await;
        let run = world.start_run(&flow, json!({})).await;
        kill(&world).await;
        (flow, run)
    });
    let tries: Arc<parking_lot::Mutex<Vec<usize>>> = Arc::default();
    let (mut starts, mut is_done) = (0, false);
    while !is_done {
        life(async {
            let world = again(&store, &flow, starts).await;
            // A few executions, then a kill.
            for _ in 0..3 {
                let step = match next(&world, &run).await {
                    Next::Step(step) => step,
                    Next::Waits(_) => {
                        world.later(&flow, LATER).await;
                        continue;
                    }
                    Next::Ended(ended) => panic!("{ended:?}"),
                };
                if step.name == "done" {
                    let results = step.event["steps"]["items"]["$return_value"].clone();
                    let items: Vec<usize> = (0..ITEMS).collect();
                    assert_eq!(results, json!(items));
                    emits(&step, &json!("done"));
                    step.returns();
                    is_done = true;
                    break;
                }
                let item = usize::try_from(step.event["steps"]["items"]["index"].as_u64().unwrap());
                let item = item.unwrap();
                let before = tries.lock().iter().filter(|tried| **tried == item).count();
                tries.lock().push(item);
                match (item + before) % 3 {
                    1 if before < 2 => step.throws("not yet"),
                    2 if before < 2 => {
                        pauses(&step, FlowOperation::Delay, 1_000, None);
                        step.ends(returned_with(json!(item)));
                    }
                    _ => step.ends(returned_with(json!(item))),
                }
            }
            kill(&world).await;
        });
        starts += 1;
    }
    life(async {
        let world = again(&store, &flow, starts).await;
        let (rest, seen) = played(&world, &flow, &run).await;
        assert_eq!(seen.run.status, WorkflowRunStatus::Succeeded);
        // At most the last step was killed before it was written.
        assert!(rest.is_empty() || rest == ["done"], "{rest:?}");
        let said = events(&world, &flow, None).await;
        assert_eq!(said.len() + rest.len(), 1, "{said:?}, then {rest:?}");
    });
}
