//! Pauses: `$.flow`, the URLs of waits, retries, cancelling.

use std::time::Duration;

use headwater_engine::{Flow as Pause, FlowOperation, StepMessage};
use headwater_platform::{PlatformError, WaitAction, WaitAnswer, WorkflowRunStatus};
use serde_json::{Value, json, value::RawValue};

use super::{Flow, indented, paths, returned, step};
use crate::{
    engine::{Run, returned_with},
    world::World,
};

pub(super) fn pauses(run: &Run, operation: FlowOperation, after_ms: u64, context: Option<Value>) {
    run.step(StepMessage::Flow(Pause {
        operation,
        after_ms,
        context: context.map(|context| raw(&context)),
        max_retries: Some(2),
    }));
}

pub(super) fn raw(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap()
}

pub(super) fn token(run: &Run) -> String {
    let url = run.event["urls"]["resume"].as_str().unwrap();
    url.split('/').nth_back(1).unwrap().to_owned()
}

pub(super) async fn answer(
    world: &World,
    token: &str,
    action: WaitAction,
    data: Value,
) -> WaitAnswer {
    world
        .platform
        .answer_wait(token, action, raw(&data))
        .await
        .unwrap()
}

#[tokio::test]
async fn a_delay_goes_on_with_the_next_step() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    pauses(&one, FlowOperation::Delay, 60_000, None);
    one.returns();
    let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
    assert_eq!(waiting.waits.len(), 1);
    world.later(&flow, Duration::from_secs(60)).await;
    let two = world.step("two").await;
    assert_eq!(two.event["context"]["resume"], true);
    assert_ne!(two.event["context"]["id"], json!(run));
    assert_eq!(two.event["context"]["trace_id"], json!(run));
    two.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn a_suspended_run_goes_on_with_the_data_of_its_resume_url() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    let token = token(&one);
    pauses(&one, FlowOperation::Suspend, 60_000, None);
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    let data = json!({ "body": { "approved": true } });
    assert_eq!(
        answer(&world, &token, WaitAction::Resume, data.clone()).await,
        WaitAnswer::Taken
    );
    assert_eq!(
        answer(&world, &token, WaitAction::Resume, json!(2)).await,
        WaitAnswer::Before
    );
    let two = world.step("two").await;
    assert_eq!(two.event["steps"]["one"]["$resume_data"], data);
    two.returns();
    world.succeeded(&run).await;
    assert_eq!(
        answer(&world, &token, WaitAction::Resume, json!(3)).await,
        WaitAnswer::Ended
    );
}

#[tokio::test]
async fn a_resume_before_the_step_has_ended_is_kept() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    pauses(&one, FlowOperation::Suspend, 60_000, None);
    assert_eq!(
        answer(
            &world,
            &token(&one),
            WaitAction::Resume,
            json!({ "early": 1 })
        )
        .await,
        WaitAnswer::Taken
    );
    one.returns();
    let two = world.step("two").await;
    assert_eq!(
        two.event["steps"]["one"]["$resume_data"],
        json!({ "early": 1 })
    );
    two.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn a_suspended_run_is_cancelled_by_its_url_and_by_its_timeout() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    let token = token(&one);
    pauses(&one, FlowOperation::Suspend, 60_000, None);
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    assert_eq!(
        answer(&world, &token, WaitAction::Cancel, json!(null)).await,
        WaitAnswer::Taken
    );
    world.run_that(&run, WorkflowRunStatus::Cancelled).await;
    let run = world.start_run(&flow, json!(2)).await;
    let one = world.step("one").await;
    pauses(&one, FlowOperation::Suspend, 60_000, None);
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    world.later(&flow, Duration::from_secs(60)).await;
    let run = world.run_that(&run, WorkflowRunStatus::Cancelled).await;
    assert_eq!(paths(&run), ["one"]);
}

#[tokio::test]
async fn a_step_that_reruns_keeps_its_context_and_its_url() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    let first = token(&one);
    pauses(
        &one,
        FlowOperation::Rerun,
        60_000,
        Some(json!({ "job": 7 })),
    );
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    world.later(&flow, Duration::from_secs(60)).await;
    let again = world.step("one").await;
    assert_eq!(
        again.event["context"]["run"],
        json!({ "runs": 2, "context": { "job": 7 } })
    );
    pauses(
        &again,
        FlowOperation::Rerun,
        60_000,
        Some(json!({ "job": 7 })),
    );
    again.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    let callback = json!({ "body": { "done": true } });
    assert_eq!(
        answer(&world, &first, WaitAction::Resume, callback.clone()).await,
        WaitAnswer::Taken
    );
    let last = world.step("one").await;
    assert_eq!(last.event["context"]["run"]["callback_request"], callback);
    last.ends(returned_with(json!("done")));
    world.step("two").await.returns();
    let run = world.succeeded(&run).await;
    assert_eq!(returned(&run, "one"), "done");
}

#[tokio::test]
async fn a_failed_step_is_tried_again_and_says_so() {
    let world = World::new().await;
    let retry = "retry: { attempts: 2, initial: 10s, jitter: false }";
    let flow = Flow::of(&[step("one", &[retry]), step("two", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    world.step("one").await.throws("not yet");
    let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
    assert_eq!(waiting.steps[0].error.as_ref().unwrap().message, "not yet");
    let mut exports = waiting.steps[0].exports.iter();
    let summary = exports.find(|(name, _)| name == "$summary");
    let summary = summary.unwrap().1.get().to_owned();
    assert!(summary.contains("not yet; tried again at"), "{summary}");
    world.later(&flow, Duration::from_secs(10)).await;
    let one = world.step("one").await;
    let attempt = one.event["attempt"].clone();
    assert_eq!(attempt["error"]["message"], "not yet");
    let urls = &waiting.waits[0].urls;
    assert_eq!(attempt["rerun_url"], urls.rerun);
    assert_eq!(attempt["cancel_url"], urls.cancel);
    let due = attempt["resume_ts"].as_str().unwrap();
    assert!(summary.contains(due), "{summary}");
    one.ends(returned_with(json!(1)));
    let two = world.step("two").await;
    assert_eq!(
        two.event["steps"]["one"],
        json!({ "$attempt": attempt, "$return_value": 1 })
    );
    assert_eq!(two.event["attempt"], Value::Null);
    two.returns();
    let run = world.succeeded(&run).await;
    assert_eq!(run.steps[0].attempts, 2);
}

fn wait(name: &str) -> String {
    format!("- namespace: {name}\n  type: wait\n")
}

#[tokio::test]
async fn steps_before_a_wait_know_its_urls_and_an_answer_counts_before_it_begins() {
    let world = World::new().await;
    let within = indented(&[step("inner", &[]), wait("again")].concat(), 2);
    let each = format!("- namespace: each\n  type: loop\n  over: [1]\n  steps:\n{within}");
    let flow = Flow::of(&[step("one", &[]), wait("ask"), each, step("last", &[])]);
    let flow = flow.id(&world).await;
    let resume = async |run: &Run, name: &str| {
        let url = run.event["steps"][name]["resume_url"].as_str().unwrap();
        let token = url.split('/').nth_back(1).unwrap();
        answer(&world, token, WaitAction::Resume, json!({ "of": name })).await
    };
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    assert_eq!(one.event["steps"]["again"], Value::Null, "not around it");
    assert_eq!(resume(&one, "ask").await, WaitAnswer::Taken);
    assert_eq!(resume(&one, "ask").await, WaitAnswer::Before);
    let urls = one.event["steps"]["ask"].clone();
    one.returns();
    let inner = world.step("inner").await;
    let ask = &inner.event["steps"]["ask"];
    assert_eq!(ask["$resume_data"], json!({ "of": "ask" }));
    assert_eq!(ask["resume_url"], urls["resume_url"]);
    let inner_urls = inner.event["steps"]["again"].clone();
    inner.returns();
    let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
    assert_eq!(waiting.waits[0].urls.resume, inner_urls["resume_url"]);
    let token = waiting.waits[0].urls.resume.split('/').nth_back(1).unwrap();
    answer(&world, token, WaitAction::Resume, json!(null)).await;
    world.step("last").await.returns();
    world.succeeded(&run).await;
    // Cancelled ahead, it does not come past the wait.
    let run = world.start_run(&flow, json!(2)).await;
    let one = world.step("one").await;
    let url = one.event["steps"]["ask"]["cancel_url"].as_str().unwrap();
    let token = url.split('/').nth_back(1).unwrap();
    answer(&world, token, WaitAction::Cancel, json!(null)).await;
    one.returns();
    let run = world.run_that(&run, WorkflowRunStatus::Cancelled).await;
    assert!(paths(&run).iter().all(|path| !path.starts_with("each")));
}

#[tokio::test]
async fn a_run_is_cancelled_wherever_it_is() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    let cancel = async |run| world.platform.cancel_run(&world.caller, run).await.unwrap();
    // At work: the step comes to its end, and nothing further begins.
    let run = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    cancel(&run).await;
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Cancelled).await;
    // Waiting.
    let run = world.start_run(&flow, json!(2)).await;
    let one = world.step("one").await;
    pauses(&one, FlowOperation::Delay, 60_000, None);
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    cancel(&run).await;
    let cancelled = world.run_that(&run, WorkflowRunStatus::Cancelled).await;
    assert_eq!(cancelled.run.error.as_deref(), Some("cancelled by request"));
    // Ended: harmless.
    cancel(&run).await;
}

#[tokio::test]
async fn nobody_guesses_the_url_of_a_wait() {
    let world = World::new().await;
    for token in ["", "x", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"] {
        let answered = world
            .platform
            .answer_wait(token, WaitAction::Resume, raw(&json!(1)))
            .await;
        assert!(
            matches!(answered, Err(PlatformError::NotFound { .. })),
            "{token}: {answered:?}"
        );
    }
}

fn logged(run: &headwater_platform::WorkflowRunView, path: &str) -> Vec<String> {
    let step = run.steps.iter().find(|step| step.path.to_string() == path);
    let lines = step.iter().flat_map(|step| &step.logs);
    lines.map(|line| line.message.clone()).collect()
}

/// A wait takes the run out of memory: the lines of before are in what is written after it, too.
#[tokio::test]
async fn a_step_that_waits_keeps_its_log() {
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[]), step("two", &[])])
        .id(&world)
        .await;
    for operation in [FlowOperation::Delay, FlowOperation::Suspend] {
        let run = world.start_run(&flow, json!(1)).await;
        let one = world.step("one").await;
        one.log("before the wait");
        let token = token(&one);
        pauses(&one, operation, 60_000, None);
        one.returns();
        let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
        assert_eq!(logged(&waiting, "one"), ["before the wait"]);
        match operation {
            FlowOperation::Delay => world.later(&flow, Duration::from_secs(60)).await,
            _ => {
                answer(&world, &token, WaitAction::Resume, json!(1)).await;
            }
        }
        world.step("two").await.returns();
        let run = world.succeeded(&run).await;
        assert_eq!(logged(&run, "one"), ["before the wait"]);
    }
}

#[tokio::test]
async fn a_step_keeps_the_log_and_the_error_of_each_try_and_knows_its_number() {
    let world = World::new().await;
    let retry = "retry: { attempts: 3, initial: 1s, factor: 1, jitter: false }";
    let flow = Flow::of(&[step("one", &[retry])]).id(&world).await;
    let run = world.start_run(&flow, json!(1)).await;
    for number in 1..=3 {
        let one = world.step("one").await;
        assert_eq!(one.event["context"]["run"]["runs"], number);
        one.log(&format!("line {number}"));
        if number == 3 {
            one.returns();
            break;
        }
        one.throws(&format!("error {number}"));
        world.run_that(&run, WorkflowRunStatus::Waiting).await;
        world.later(&flow, Duration::from_secs(2)).await;
    }
    let run = world.succeeded(&run).await;
    let lines = logged(&run, "one");
    let told: Vec<&str> = lines
        .iter()
        .map(|line| line.lines().next().unwrap())
        .collect();
    assert_eq!(
        told,
        [
            "line 1",
            "try 1 failed: TypeError: error 1",
            "line 2",
            "try 2 failed: TypeError: error 2",
            "line 3"
        ]
    );
}

#[tokio::test]
async fn a_workflow_whose_triggers_are_off_runs_by_hand_and_is_replayed() {
    let world = World::new().await;
    let flow = Flow::with("inactive: true\n", &[step("one", &[])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!(1)).await;
    world.step("one").await.returns();
    world.succeeded(&run).await;
    let replay = world
        .platform
        .replay_run(
            &world.caller,
            &run,
            &headwater_platform::RunReplay::default(),
        )
        .await;
    let (replay, _) = replay.unwrap();
    world.step("one").await.returns();
    world.succeeded(&replay).await;
}

/// Counts warnings of the platform.
#[derive(Clone, Default)]
struct Warnings(std::sync::Arc<std::sync::Mutex<Vec<String>>>);

impl tracing::Subscriber for Warnings {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

/// However close the end of the step, or the beginning of its wait, is to it.
#[tokio::test]
async fn cancelling_a_run_has_no_commit_refused() {
    let warnings = Warnings::default();
    let _guard = tracing::subscriber::set_default(warnings.clone());
    let world = World::new().await;
    let flow = Flow::of(&[step("one", &[])]).id(&world).await;
    for round in 0..60 {
        let run = world.start_run(&flow, json!(1)).await;
        let one = world.step("one").await;
        let cancelled = {
            let (platform, caller, run) = (
                std::sync::Arc::clone(&world.platform),
                world.caller.clone(),
                run.clone(),
            );
            tokio::spawn(async move { platform.cancel_run(&caller, &run).await })
        };
        let waits = round % 2 == 0;
        if waits {
            pauses(&one, FlowOperation::Suspend, 60_000, None);
        }
        for _ in 0..round {
            tokio::task::yield_now().await;
        }
        one.returns();
        cancelled.await.unwrap().unwrap();
        let run = world.platform.workflow_run(&world.caller, &run).await;
        assert!(!run.unwrap().run.status.is_open(), "round {round}");
    }
    assert_eq!(*warnings.0.lock().unwrap(), Vec::<String>::new());
}
