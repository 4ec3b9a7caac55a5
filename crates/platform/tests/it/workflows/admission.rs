//! The settings that bound the work of a workflow and what is kept of it: queue, idempotency keys, retention, requests
//! that ask for something special.

use std::time::Duration;

use bytes::Bytes;
use headwater_model::{
    endpoint::EndpointToken,
    id::{InvocationId, WorkflowId},
    page::PageRequest,
};
use headwater_platform::{
    DeployedWorkflow, FileLink, Ingress, IngressRequest, PlatformError, RunReplay, RunsFilter,
    Upload, UploadPlace, WorkflowRunStatus, WorkflowRunSummary,
};
use serde_json::{Value, json, value::to_raw_value};

use super::{Flow, step};
use crate::{
    component::Component,
    engine::{PATIENCE, returned_with},
    world::{World, life, memory},
};

const ONE_WAITS: &str = "settings:\n  concurrency: { limit: 1 }\n  queue: { size: 1 }\n";
const THE_NEWEST_WAITS: &str =
    "settings:\n  concurrency: { limit: 1 }\n  queue: { size: 1, overflow: oldest }\n";
const BY_ID: &str =
    "triggers:\n- type: http\n  idempotency_key: '{{steps.trigger.event.body.id}}'\n";
const BY_REQUEST: &str = "triggers:\n- type: http\n";

/// The token of a workflow's first trigger.
fn token_of(deployed: &DeployedWorkflow) -> EndpointToken {
    let url = deployed.workflow.triggers[0].endpoint_url.as_deref();
    EndpointToken::new(url.unwrap().rsplit('/').next().unwrap())
}

impl World {
    /// The runs that have ended, or those that have not, newest first.
    async fn runs_of(&self, id: &WorkflowId, is_open: bool) -> Vec<WorkflowRunSummary> {
        let page = PageRequest::first(100);
        let filter = match is_open {
            true => RunsFilter::Open,
            false => RunsFilter::Ended,
        };
        let found = self
            .platform
            .workflow_runs(&self.caller, id, filter, page)
            .await;
        found.unwrap().items
    }

    /// The runs that have ended, once there are so many.
    async fn ended_runs(&self, id: &WorkflowId, count: usize) -> Vec<WorkflowRunSummary> {
        let looking = async {
            loop {
                let ended = self.runs_of(id, false).await;
                if ended.len() >= count && self.runs_of(id, true).await.is_empty() {
                    return ended;
                }
                tokio::task::yield_now().await;
            }
        };
        let ended = tokio::time::timeout(PATIENCE, looking).await;
        ended.unwrap_or_else(|_| panic!("{count} runs end, and no other is left"))
    }

    async fn try_run(&self, id: &WorkflowId, event: Value) -> Result<InvocationId, PlatformError> {
        self.platform
            .run_workflow(&self.caller, id, Some(event))
            .await
    }
}

fn is_full<T>(refused: &Result<T, PlatformError>) -> bool {
    matches!(refused, Err(PlatformError::TooManyWaiting { retry_after_s, .. }) if *retry_after_s > 0)
}

#[tokio::test]
async fn a_full_queue_refuses_runs_until_there_is_room() {
    let world = World::new().await;
    let flow = Flow::with(ONE_WAITS, &[step("one", &[])]).id(&world).await;
    // None of them has begun when the next one comes, and that is no reason to refuse it.
    let first = world.start_run(&flow, json!(1)).await;
    let second = world.start_run(&flow, json!(2)).await;
    let refused = world.try_run(&flow, json!(3)).await;
    assert!(is_full(&refused), "{refused:?}");
    world.step("one").await.returns();
    world.succeeded(&first).await;
    let two = world.step("one").await;
    let third = world.start_run(&flow, json!(3)).await;
    let refused = world.try_run(&flow, json!(4)).await;
    assert!(is_full(&refused), "{refused:?}");
    two.returns();
    world.succeeded(&second).await;
    world.step("one").await.returns();
    world.succeeded(&third).await;
    assert_eq!(
        world.ended_runs(&flow, 3).await.len(),
        3,
        "nothing refused is stored"
    );
}

#[tokio::test]
async fn a_paused_workflow_takes_as_many_as_may_wait() {
    let world = World::new().await;
    let settings = "settings:\n  throttle: { limit: 0, per: 1m }\n  queue: { size: 2 }\n";
    let flow = Flow::with(settings, &[step("one", &[])]).id(&world).await;
    for n in 0..2 {
        world.start_run(&flow, json!(n)).await;
    }
    assert!(is_full(&world.try_run(&flow, json!(3)).await));
    let waiting = world.runs_of(&flow, true).await;
    assert_eq!(waiting.len(), 2);
    world
        .platform
        .cancel_run(&world.caller, &waiting[0].id)
        .await
        .unwrap();
    world
        .run_that(&waiting[0].id, WorkflowRunStatus::Cancelled)
        .await;
    world.start_run(&flow, json!(3)).await;
    assert!(world.engine.nothing_started());
}

#[tokio::test]
async fn the_oldest_run_that_waits_gives_way_where_that_is_wanted() {
    let world = World::new().await;
    let flow = Flow::with(THE_NEWEST_WAITS, &[step("one", &[])])
        .id(&world)
        .await;
    let first = world.start_run(&flow, json!(1)).await;
    let one = world.step("one").await;
    let second = world.start_run(&flow, json!(2)).await;
    let third = world.start_run(&flow, json!(3)).await;
    let gone = world.run_that(&second, WorkflowRunStatus::Cancelled).await;
    let reason = gone.run.error.unwrap();
    assert_eq!(reason, "the queue was full: more than 1 runs waited");
    one.returns();
    world.succeeded(&first).await;
    let one = world.step("one").await;
    assert_eq!(one.event["steps"]["trigger"]["event"], 3);
    one.returns();
    world.succeeded(&third).await;
}

#[tokio::test]
async fn events_wait_for_room_in_their_order() {
    let world = World::new().await;
    let source = world.deploy(&Component::named("shop").http()).await;
    let head = format!("triggers:\n- type: events\n  emitter: {source}\n{ONE_WAITS}");
    let flow = Flow::with(&head, &[step("one", &[])]).id(&world).await;
    let token = world.token(&source).await;
    world.request(&token, json!({})).await.unwrap();
    let run = world.engine.next().await;
    for n in 1..=5 {
        run.emit(json!(n));
    }
    run.returns();
    for n in 1..=5 {
        let one = world.step("one").await;
        assert_eq!(one.event["steps"]["trigger"]["event"], n);
        let open = world.runs_of(&flow, true).await.len();
        assert!(
            open <= 2,
            "{open} are queued or run; the others wait in the log"
        );
        one.returns();
    }
    assert_eq!(world.ended_runs(&flow, 5).await.len(), 5);
}

#[tokio::test]
async fn a_second_event_with_the_same_key_starts_nothing() {
    let world = World::new().await;
    let deployed = Flow::with(BY_ID, &[step("one", &[])]).deploy(&world).await;
    let (token, flow) = (token_of(&deployed), &deployed.workflow.workflow.id);
    let send = async |id: Value| {
        let answer = world.request(&token, json!({ "body": { "id": id } })).await;
        assert!(
            matches!(answer, Ok(Ingress::AcceptedByWorkflow)),
            "{answer:?}"
        );
    };
    for id in [json!(7), json!("7"), json!(7), json!("8")] {
        send(id).await;
    }
    let mut seen = Vec::new();
    for _ in 0..2 {
        let one = world.step("one").await;
        seen.push(one.event["steps"]["trigger"]["event"]["body"]["id"].clone());
        one.returns();
    }
    assert_eq!(
        world.ended_runs(flow, 2).await.len(),
        2,
        "the others left nothing"
    );
    seen.sort_by_key(Value::to_string);
    assert!(
        seen[0] == "8" && (seen[1] == 7 || seen[1] == "7"),
        "{seen:?}"
    );
    // Without a value, each is one of its own.
    for _ in 0..2 {
        send(Value::Null).await;
        world.step("one").await.returns();
    }
    world.ended_runs(flow, 4).await;
    world.clock.advance(7 * 24 * 60 * 60 * 1000);
    send(json!(7)).await;
    world.step("one").await.returns();
    world.ended_runs(flow, 5).await;
}

#[tokio::test]
async fn a_repeated_request_that_waits_for_its_response_is_accepted() {
    let world = World::new().await;
    let head = format!("{BY_ID}  respond: workflow\n");
    let deployed = Flow::with(&head, &[step("one", &[])]).deploy(&world).await;
    let token = token_of(&deployed);
    let event = json!({ "body": { "id": 1 } });
    let waiting = world.requesting(&token, event.clone());
    world.step("one").await.returns();
    let first = waiting.await.unwrap().unwrap();
    assert!(matches!(first, Ingress::NoWorkflowResponse(_)), "{first:?}");
    let second = world.request(&token, event).await.unwrap();
    assert!(matches!(second, Ingress::AcceptedByWorkflow), "{second:?}");
}

#[test]
fn a_key_is_kept_over_a_kill() {
    let store = memory();
    let event = json!({ "body": { "id": 1 } });
    let (flow, token) = life(async {
        let world = World::on(&store).await;
        let deployed = Flow::with(BY_ID, &[step("one", &[])]).deploy(&world).await;
        let token = token_of(&deployed);
        world.request(&token, event.clone()).await.unwrap();
        drop(world.step("one").await);
        (deployed.workflow.workflow.id, token)
    });
    life(async {
        let world = World::on(&store).await;
        world.request(&token, event.clone()).await.unwrap();
        world.step("one").await.returns();
        assert_eq!(world.ended_runs(&flow, 1).await.len(), 1);
    });
}

#[tokio::test]
async fn a_key_that_cannot_be_told_cancels_its_run_which_can_be_replayed() {
    let world = World::new().await;
    let head = "triggers:\n- type: http\n  idempotency_key: '{{nothing.of.that}}'\n";
    let deployed = Flow::with(head, &[step("one", &[])]).deploy(&world).await;
    let flow = &deployed.workflow.workflow.id;
    world
        .request(&token_of(&deployed), json!({ "body": 1 }))
        .await
        .unwrap();
    let ended = world.ended_runs(flow, 1).await.remove(0);
    assert_eq!(ended.status, WorkflowRunStatus::Cancelled);
    let reason = ended.error.unwrap();
    assert!(
        reason.starts_with("the trigger's `idempotency_key`: "),
        "{reason}"
    );
    let replay = world
        .platform
        .replay_run(&world.caller, &ended.id, &RunReplay::default())
        .await;
    world.step("one").await.returns();
    world.succeeded(&replay.unwrap().0).await;
}

/// The number of steps of an ended run that are kept, and whether its event is.
async fn kept(world: &World, run: &InvocationId) -> (usize, bool) {
    let run = world.run_of(run).await;
    (run.steps.len(), run.event.is_some())
}

#[tokio::test]
async fn ended_runs_keep_what_the_settings_say() {
    let world = World::new().await;
    for (stored, success, failure) in [
        ("all", (1, true), (1, true)),
        ("errors", (0, false), (1, true)),
        ("none", (0, false), (0, false)),
    ] {
        let settings = format!("settings:\n  data_retention: {{ store: {stored} }}\n");
        let flow = Flow::with(&settings, &[step("one", &[])]).id(&world).await;
        let run = world.start_run(&flow, json!({ "n": 1 })).await;
        let one = world.step("one").await;
        assert!(kept(&world, &run).await.1, "it has not ended");
        one.ends(returned_with(json!("x".repeat(300_000))));
        world.succeeded(&run).await;
        assert_eq!(kept(&world, &run).await, success, "{stored}");
        let run = world.start_run(&flow, json!({ "n": 2 })).await;
        world.step("one").await.throws("no");
        let failed = world.run_that(&run, WorkflowRunStatus::Failed).await;
        assert_eq!(failed.run.error.as_deref(), Some("TypeError: no"));
        assert_eq!(kept(&world, &run).await, failure, "{stored}");
    }
}

#[tokio::test]
async fn a_request_may_ask_that_nothing_of_its_run_is_kept() {
    let world = World::new().await;
    let deployed = Flow::with(BY_REQUEST, &[step("one", &[]), step("two", &[])])
        .deploy(&world)
        .await;
    let (token, flow) = (token_of(&deployed), &deployed.workflow.workflow.id);
    for flagged in ["headers", "query"] {
        let event = json!({ flagged: { "x-pd-nostore": "1" }, "body": "secret" });
        world.request(&token, event).await.unwrap();
        let one = world.step("one").await;
        assert_eq!(one.event["steps"]["trigger"]["event"]["body"], "secret");
        one.ends(returned_with(json!(1)));
        world.step("two").await.returns();
    }
    for run in world.ended_runs(flow, 2).await {
        assert_eq!(run.status, WorkflowRunStatus::Succeeded);
        assert_eq!(kept(&world, &run.id).await, (0, false));
        let replay = world
            .platform
            .replay_run(&world.caller, &run.id, &RunReplay::default())
            .await;
        let refused = replay.unwrap_err().to_string();
        assert!(refused.contains("is not kept"), "{refused}");
    }
    let event = json!({ "query": { "x-pd-notrigger": "1" } });
    let answer = world.request(&token, event).await;
    assert!(matches!(answer, Ok(Ingress::AcceptedByWorkflow)));
    assert_eq!(world.runs_of(flow, true).await.len(), 0);
}

fn with_uploads(token: &EndpointToken, event: &Value, uploads: Vec<Upload>) -> IngressRequest {
    IngressRequest {
        token: token.clone(),
        event: to_raw_value(event).unwrap(),
        uploads,
    }
}

fn upload(place: UploadPlace, text: &'static str) -> Upload {
    Upload {
        place,
        filename: "a.txt".to_owned(),
        bytes: Bytes::from_static(text.as_bytes()),
    }
}

/// The text of the file that a URL leads to; `None` when its time is over.
async fn text_at(world: &World, url: &Value) -> Option<Bytes> {
    let token = url.as_str().unwrap().rsplit('/').next().unwrap();
    match world.platform.files().open(token).await.unwrap() {
        FileLink::Found(content) => Some(content.read(0, 100).await.unwrap()),
        FileLink::Expired => None,
    }
}

#[tokio::test]
async fn files_of_requests_are_kept_for_the_steps() {
    let world = World::new().await;
    let deployed = Flow::with(BY_REQUEST, &[step("one", &[])])
        .deploy(&world)
        .await;
    let token = token_of(&deployed);
    let photo = UploadPlace::Field {
        name: "photo".to_owned(),
        index: 0,
    };
    let event = json!({ "body": { "photo": { "filename": "a.txt" }, "name": "Ada" } });
    let request = with_uploads(&token, &event, vec![upload(photo, "of a field")]);
    world.platform.ingress(request).await.unwrap();
    let one = world.step("one").await;
    let body = one.event["steps"]["trigger"]["event"]["body"].clone();
    assert_eq!(body["name"], "Ada");
    assert_eq!(
        text_at(&world, &body["photo"]["url"]).await.unwrap(),
        "of a field"
    );
    one.ends(returned_with(body));

    let whole = vec![upload(UploadPlace::RawBody, "whole")];
    let request = with_uploads(&token, &json!({}), whole);
    world.platform.ingress(request).await.unwrap();
    let one = world.step("one").await;
    let url = &one.event["steps"]["trigger"]["event"]["body"]["raw_body_url"];
    assert_eq!(text_at(&world, url).await.unwrap(), "whole");
    world.clock.advance(30 * 60 * 1000);
    assert_eq!(text_at(&world, url).await, None);
    one.returns();
}

#[tokio::test]
async fn files_of_a_refused_request_are_not_kept() {
    let world = World::with(|config| config.file_bytes_per_owner = 10).await;
    let head = format!(
        "{BY_REQUEST}settings:\n  throttle: {{ limit: 0, per: 1m }}\n  queue: {{ size: 1 }}\n"
    );
    let deployed = Flow::with(&head, &[step("one", &[])]).deploy(&world).await;
    let token = token_of(&deployed);
    world.request(&token, json!({})).await.unwrap();
    // The second has room for its file only if that of the first is gone.
    for _ in 0..2 {
        let whole = vec![upload(UploadPlace::RawBody, "6bytes")];
        let refused = world
            .platform
            .ingress(with_uploads(&token, &json!({}), whole))
            .await;
        let message = refused.unwrap_err().to_string();
        assert!(message.contains("queue.size"), "{message}");
    }
    let too_large = vec![upload(UploadPlace::RawBody, "more than ten bytes")];
    let refused = world
        .platform
        .ingress(with_uploads(&token, &json!({}), too_large))
        .await;
    assert!(is_full(&refused), "{refused:?}");
}

#[tokio::test]
async fn a_workflow_that_was_turned_off_has_no_endpoint() {
    let world = World::new().await;
    let deployed = Flow::with(BY_REQUEST, &[step("one", &[])])
        .deploy(&world)
        .await;
    let token = token_of(&deployed);
    let off = headwater_platform::UpdateWorkflow {
        active: Some(false),
    };
    let id = &deployed.workflow.workflow.id;
    world
        .platform
        .update_workflow(&world.caller, id, off)
        .await
        .unwrap();
    let refused = world.request(&token, json!({})).await;
    assert!(
        matches!(refused, Err(PlatformError::NotFound { .. })),
        "{refused:?}"
    );
}

#[tokio::test]
async fn waits_tell_by_which_methods_they_are_answered() {
    let world = World::new().await;
    for (settings, methods) in [
        ("", None),
        (
            "settings:\n  resume_methods: [POST]\n",
            Some(vec!["POST".to_owned()]),
        ),
    ] {
        let head = "- namespace: asks\n  type: wait\n".to_owned();
        let flow = Flow::with(settings, &[head]).id(&world).await;
        let run = world.start_run(&flow, json!(1)).await;
        let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
        let url = &waiting.waits[0].urls.resume;
        let token = url.rsplit('/').nth(1).unwrap();
        assert_eq!(world.platform.wait_methods(token).await.unwrap(), methods);
        world.later(&flow, Duration::from_secs(48 * 60 * 60)).await;
        world.run_that(&run, WorkflowRunStatus::Cancelled).await;
        assert_eq!(
            world.platform.wait_methods(token).await.unwrap(),
            None,
            "the run has ended"
        );
    }
    let unknown = world.platform.wait_methods("nonsense").await;
    assert!(matches!(unknown, Err(PlatformError::NotFound { .. })));
}
